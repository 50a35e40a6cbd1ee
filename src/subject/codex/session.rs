//! A rollout made fit to stand beside others in one program: its session gets an id of its own.
//!
//! The program knows a thread by the id in the first `session_meta` line, and a file whose thread it has loaded already is
//! not read again. So that id is replaced in the session_meta lines; nothing else of the file is touched.

use crate::json::Json;
use crate::rollout::RolloutLine;
use uuid::Uuid;

/// What the first `session_meta` line that loads says.
struct Named {
    /// The id as it is written there.
    id: String,
    provider: Option<String>,
}

/// A rollout with a session id of its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Freshened {
    /// The bytes to be written.
    pub(super) rollout: Vec<u8>,
    /// The provider that the file names, if it does.
    pub(super) provider: Option<String>,
}

/// Replaces the session's id by `id`, in every session_meta line that has it. A file without one comes back as it is.
pub(super) fn freshen(rollout: &[u8], id: Uuid) -> Freshened {
    let lines = || rollout.split_inclusive(|byte| *byte == b'\n');
    let Some(named) = lines().find_map(session_meta) else {
        return Freshened { rollout: rollout.to_vec(), provider: None };
    };
    let fresh = id.to_string();
    let mut out = Vec::with_capacity(rollout.len());
    for line in lines() {
        match session_meta(line) {
            Some(meta) if meta.id == named.id => {
                replace(line, named.id.as_bytes(), fresh.as_bytes(), &mut out)
            }
            _ => out.extend_from_slice(line),
        }
    }
    Freshened { rollout: out, provider: named.provider }
}

fn session_meta(line: &[u8]) -> Option<Named> {
    // Spares the parsing of long lines that cannot be one.
    if !line.windows(12).any(|window| window == b"session_meta") {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    let Ok(RolloutLine::SessionMeta(_)) = RolloutLine::load(text) else { return None };
    let json = Json::parse(text).ok()?;
    let payload = json.get("payload")?;
    let text = |key: &str| payload.get(key).and_then(Json::as_str).map(str::to_owned);
    Some(Named { id: text("id")?, provider: text("model_provider") })
}

fn replace(line: &[u8], old: &[u8], new: &[u8], out: &mut Vec<u8>) {
    let mut rest = line;
    // The id of a line that loads is a UUID, so it is not empty.
    while let Some(at) = rest.windows(old.len().max(1)).position(|window| window == old) {
        let (before, after) = rest.split_at(at);
        out.extend_from_slice(before);
        out.extend_from_slice(new);
        rest = after.get(old.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "11111111-1111-7111-8111-111111111111";
    const TWO: &str = "22222222-2222-7222-8222-222222222222";

    fn meta(id: &str) -> String {
        format!(
            r#"{{"timestamp":"t","type":"session_meta","payload":{{"id":"{id}","session_id":"{id}","timestamp":"t","cwd":"/w","originator":"o","cli_version":"v","model_provider":"p"}}}}"#
        )
    }

    fn fresh() -> Uuid {
        Uuid::from_u128(0x0123_4567_89ab_7def_8123_4567_89ab_cdef)
    }

    #[test]
    fn the_id_of_the_first_session_is_replaced_in_session_meta_lines_alone() {
        let item = format!(
            r#"{{"timestamp":"t","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{ONE} session_meta"}}]}}}}"#
        );
        let file = |first: &str| [meta(first), item.clone(), meta(TWO), meta(first)].join("\r\n");
        let freshened = freshen(file(ONE).as_bytes(), fresh());
        assert_eq!(String::from_utf8_lossy(&freshened.rollout), file(&fresh().to_string()));
        assert_eq!(freshened.provider.as_deref(), Some("p"));
    }

    #[test]
    fn a_file_without_a_good_session_meta_stays_as_it_is() {
        for file in [&b""[..], b"\xff\n", meta("x").as_bytes(), &meta(ONE).as_bytes()[..60]] {
            assert_eq!(freshen(file, fresh()), Freshened { rollout: file.to_vec(), provider: None });
        }
    }
}
