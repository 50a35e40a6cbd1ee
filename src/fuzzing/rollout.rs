//! The target `rollout`: any bytes as the durable record of a session.

use crate::check::{Settings, check};
use crate::history::ToolOutputLimit;
use crate::item::{ItemList, Modalities};
use crate::json::Json;
use crate::projection::project;
use crate::rollout::{Caps, PictureCache, Rollout, RolloutLine, appended, line_text, resume};
use crate::source::{self, Source};
use std::io::Cursor;

/// Small, so that outputs are cut in short files too.
const LIMIT: ToolOutputLimit = ToolOutputLimit::Bytes(100);

/// A file that is no rollout, or a broken one, is read, resumed, projected and checked without a panic; the command's way and
/// the library's lead to one request; and what the writer writes behind it is read again, with all that stood there before.
///
/// # Errors
/// What is broken, without the text.
///
/// ```
/// let torn = br#"{"timestamp":"t","type":"compacted","payload":{"message":"x"}}
/// {"timesta"#;
/// assert_eq!(callpair::fuzzing::rollout(torn), Ok(()));
/// ```
pub fn rollout(bytes: &[u8]) -> Result<(), String> {
    // A cap that is exceeded and a broken archive are errors of reading, as they should be.
    let Ok(rollout) = Rollout::from_bytes(bytes) else { return Ok(()) };
    lines_are_in_order(&rollout)?;
    let resumed = resume(&rollout.lines, Some(LIMIT), &mut PictureCache::new());
    if resumed.history.len() != resumed.origins.len() {
        return Err("not every item of the history has an origin".to_owned());
    }
    for modalities in Modalities::ALL {
        projects(&resumed.history, modalities)?;
    }
    both_ways_agree(bytes, &resumed.history)?;
    if rollout.compressed {
        return Ok(());
    }
    lines_come_back(bytes, &rollout)?;
    append_keeps_what_stands(bytes, &rollout)
}

fn lines_are_in_order(rollout: &Rollout) -> Result<(), String> {
    let loaded: Vec<usize> = rollout.lines.iter().map(|line| line.line).collect();
    let skipped: Vec<usize> = rollout.skipped.iter().map(|line| line.line).collect();
    let in_order = |lines: &[usize]| lines.is_sorted_by(|a, b| a < b);
    let within = |lines: &[usize]| lines.iter().all(|line| (1..=rollout.physical_lines).contains(line));
    if !in_order(&loaded) || !in_order(&skipped) || !within(&loaded) || !within(&skipped) {
        return Err("lines are out of order, or beyond the end of the file".to_owned());
    }
    if loaded.iter().any(|line| skipped.binary_search(line).is_ok()) {
        return Err("a line is both loaded and skipped".to_owned());
    }
    Ok(())
}

fn projects(history: &ItemList, modalities: Modalities) -> Result<(), String> {
    let projection = project(history, modalities);
    let items = projection.to_items();
    let wire = Json::parse_wrapped(&projection.to_wire(), 1);
    let sent = wire.as_ref().map_err(|error| format!("the request is no JSON: {error}"))?;
    if items.len() != projection.len() || sent.as_array().map(<[Json]>::len) != Some(items.len()) {
        return Err("the request does not hold as many items as it says".to_owned());
    }
    let again = project(&items.into_iter().collect(), modalities);
    if !again.plan().edits().is_empty() {
        return Err("what was repaired needs repairs".to_owned());
    }
    Ok(())
}

/// The command tells files by a sketch of their lines; the loader decides.
fn both_ways_agree(bytes: &[u8], history: &ItemList) -> Result<(), String> {
    let Ok(source) = source::read(&mut Cursor::new(bytes), None, Caps::default()) else { return Ok(()) };
    let is_rollout = matches!(source, Source::Rollout(_));
    let modalities = Modalities::Text;
    let checked = check(source, Settings { modalities, limit: LIMIT });
    if checked.findings().count() != checked.tally().total() {
        return Err("the findings are not as many as their tally".to_owned());
    }
    if is_rollout && checked.projection().base() != history {
        return Err("`check` reads another history than `resume`".to_owned());
    }
    Ok(())
}

/// Lines that load, written by the writer's own text, load as the same.
fn lines_come_back(bytes: &[u8], rollout: &Rollout) -> Result<(), String> {
    let physical: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let mut file = String::new();
    for line in &rollout.lines {
        let text = physical.get(line.line - 1).and_then(|text| std::str::from_utf8(text).ok());
        let json = text.and_then(|text| Json::parse(text).ok());
        let Some(json) = json else { return Err(format!("line {} loads, but is no JSON", line.line)) };
        let word = |key| json.get(key).and_then(Json::as_str).unwrap_or_default();
        let payload = json.get("payload").cloned().unwrap_or_default();
        file.push_str(&appended(&line_text(word("timestamp"), word("type"), &payload), false));
    }
    let again = Rollout::from_bytes(file.as_bytes())
        .map_err(|error| format!("what was written cannot be read: {error}"))?;
    let all_loaded = again.skipped.is_empty() && again.lines.len() == again.physical_lines;
    if !all_loaded || !values(&again).eq(values(rollout)) {
        return Err("what was written is not read as the same lines".to_owned());
    }
    Ok(())
}

/// A line that is appended takes nothing along, wherever the file was torn.
fn append_keeps_what_stands(bytes: &[u8], before: &Rollout) -> Result<(), String> {
    let line = line_text("t", "inter_agent_communication_metadata", &Json::Null);
    let file = [bytes, appended(&line, before.unfinished).as_bytes()].concat();
    // What stands in front may be at a cap already.
    let Ok(after) = Rollout::from_bytes(&file) else { return Ok(()) };
    let wanted = values(before).chain([&RolloutLine::InterAgentMetadata]);
    if after.compressed || !values(&after).eq(wanted) || after.skipped != before.skipped {
        return Err("a line that was appended changed how what stood there is read".to_owned());
    }
    Ok(())
}

fn values(rollout: &Rollout) -> impl Iterator<Item = &RolloutLine> {
    rollout.lines.iter().map(|line| &line.value)
}
