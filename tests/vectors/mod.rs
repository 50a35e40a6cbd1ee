//! Reads the vectors of `tests/conformance/` and makes rollouts of them.

#![allow(dead_code, reason = "every test binary uses a part of this")]
#![allow(clippy::expect_used, reason = "the vectors are part of the repository")]

use callpair::history::ToolOutputLimit;
use callpair::item::Modalities;
use callpair::json::Json;
use callpair::projection::{Projection, project};
use callpair::rollout::{PictureCache, Rollout, line_text, resume};

/// The limit with which the vectors were recorded.
pub(crate) const LIMIT: Option<ToolOutputLimit> = Some(ToolOutputLimit::Bytes(10_000));

const SESSION_META: &str = r#"{"id":"11111111-1111-7111-8111-111111111111","timestamp":"t","cwd":"/w","originator":"test","cli_version":"0.144.6"}"#;

/// The vectors of one file.
pub(crate) fn vectors(file: &str) -> Vec<Json> {
    let path = format!("{}/tests/conformance/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the vectors are part of the repository");
    text.split('\n')
        .filter(|line| !line.is_empty())
        .map(|line| Json::parse_wrapped(line, 1).expect("a vector is JSON"))
        .collect()
}

/// The text under `key`, or none.
pub(crate) fn text<'a>(vector: &'a Json, key: &str) -> &'a str {
    vector.get(key).and_then(Json::as_str).unwrap_or_default()
}

/// The list under `key`, or none.
pub(crate) fn list<'a>(vector: &'a Json, key: &str) -> &'a [Json] {
    vector.get(key).and_then(Json::as_array).unwrap_or_default()
}

/// The modalities of the vector's model.
pub(crate) fn modalities(vector: &Json) -> Modalities {
    let names = list(vector, "modalities").iter().filter_map(Json::as_str);
    Modalities::from_names(names).expect("the vectors name known modalities")
}

/// A line that says whose session it is.
pub(crate) fn session_meta_line() -> String {
    line_text("t", "session_meta", &Json::parse(SESSION_META).expect("the constant is JSON"))
}

/// A rollout of a session_meta line and these items.
pub(crate) fn rollout_of(history: &[Json]) -> String {
    let items = history.iter().map(|item| line_text("t", "response_item", item));
    std::iter::once(session_meta_line()).chain(items).map(|line| line + "\n").collect()
}

/// What a rollout becomes in a request.
pub(crate) fn projection(rollout: &[u8], modalities: Modalities) -> Result<Projection, String> {
    let rollout = Rollout::from_bytes(rollout).map_err(|error| error.to_string())?;
    if let Some(refusal) = rollout.refusal() {
        return Err(refusal.to_string());
    }
    let resumed = resume(&rollout.lines, LIMIT, &mut PictureCache::new());
    Ok(project(&resumed.history, modalities))
}

/// The rollout of a vector of `rollout_lines.jsonl`, byte for byte.
pub(crate) fn rollout_bytes(vector: &Json) -> Vec<u8> {
    use base64::Engine as _;
    let decode = |line: &Json| {
        let text = line.as_str().expect("a line is text");
        base64::engine::general_purpose::STANDARD.decode(text).expect("a line is base64")
    };
    let lines: Vec<Vec<u8>> = match vector.get("lines_base64") {
        Some(lines) => lines.as_array().expect("a list of lines").iter().map(decode).collect(),
        None => list(vector, "lines")
            .iter()
            .filter_map(Json::as_str)
            .map(|line| line.as_bytes().to_vec())
            .collect(),
    };
    let mut bytes = lines.join(&b'\n');
    if vector.get("final_newline") == Some(&Json::Bool(true)) {
        bytes.push(b'\n');
    }
    bytes
}
