//! Tells the projection of a history from what the program added for the turn that made it show.
//!
//! Not by counting: how many messages a turn begins with depends on the version, the settings and the history. What the
//! program adds it also records; so the end of the request that equals the items which the rollout gained up to the turn's
//! own user message is the new turn.

use super::home::BASE_INSTRUCTIONS;
use crate::json::Json;

/// Not content of an item, and not sent to every provider.
const NOT_COMPARED: &str = "internal_chat_message_metadata_passthrough";

/// The text of the turn's user message; the case's own name keeps it apart from everything in the history.
pub(super) fn user_text(name: &str) -> String {
    format!("callpair: the next turn of {name}")
}

/// The items of the request without the new turn, and without the base instructions that newer versions send first.
///
/// `gained` are the bytes by which the rollout grew, `user_text` is the text of the turn's user message.
///
/// # Errors
/// In words, where the request does not end as the rollout says.
pub(super) fn without_new_turn(
    mut input: Vec<Json>,
    gained: &[u8],
    user_text: &str,
) -> Result<Vec<Json>, String> {
    let mut added: Vec<Json> = recorded_items(gained);
    let Some(last) = added.iter().position(|item| has_single_text(item, "user", user_text)) else {
        return Err("the rollout did not gain the turn's user message".into());
    };
    added.truncate(last + 1);
    let Some(kept) = input.len().checked_sub(added.len()) else {
        return Err(format!("the request has {} items, the new turn {}", input.len(), added.len()));
    };
    let tail = input.split_off(kept);
    let same = |(sent, recorded): (Json, Json)| without_metadata(sent) == without_metadata(recorded);
    let length = added.len();
    if !tail.into_iter().zip(added).all(same) {
        return Err(format!("the last {length} items of the request are not those that the rollout gained"));
    }
    if input.first().is_some_and(|item| has_single_text(item, "developer", BASE_INSTRUCTIONS)) {
        input.remove(0);
    }
    Ok(input)
}

/// Whether the turn of this rollout is over: the program records that last.
pub(super) fn turn_is_over(gained: &[u8]) -> bool {
    lines(gained).any(|line| {
        let event = line.get("payload").and_then(|payload| payload.get("type")).and_then(Json::as_str);
        line.get("type").and_then(Json::as_str) == Some("event_msg") && event == Some("task_complete")
    })
}

/// The items in the lines of a rollout, or of a part that begins with a whole line.
pub(super) fn recorded_items(gained: &[u8]) -> Vec<Json> {
    lines(gained)
        .filter(|line| line.get("type").and_then(Json::as_str) == Some("response_item"))
        .filter_map(|line| match line {
            Json::Object(mut line) => line.take("payload"),
            _ => None,
        })
        .collect()
}

/// The lines that load. Where the rollout had no line end, the first gained line begins in the middle of one of the file's,
/// but it is whole in itself.
fn lines(gained: &[u8]) -> impl Iterator<Item = Json> {
    let text = |line| std::str::from_utf8(line).ok();
    gained.split(|byte| *byte == b'\n').filter_map(text).filter_map(|line| Json::parse(line).ok())
}

fn has_single_text(item: &Json, role: &str, text: &str) -> bool {
    let Some([part]) = item.get("content").and_then(Json::as_array) else { return false };
    item.get("role").and_then(Json::as_str) == Some(role)
        && part.get("text").and_then(Json::as_str) == Some(text)
}

fn without_metadata(item: Json) -> Json {
    match item {
        Json::Object(mut object) => {
            object.take(NOT_COMPARED);
            Json::Object(object)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str, text: &str) -> Json {
        let item = format!(
            r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#
        );
        Json::parse(&item).expect("JSON")
    }

    fn recorded(items: &[Json]) -> Vec<u8> {
        let line = |item| format!(r#"{{"timestamp":"t","type":"response_item","payload":{item}}}"#) + "\n";
        items.iter().map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn the_new_turn_is_as_long_as_the_rollout_says() {
        let (old, context, next) = (message("user", "old"), message("developer", "c"), message("user", "n"));
        let answer = message("assistant", "ok");
        for added in [vec![next.clone()], vec![context.clone(), next.clone()]] {
            let input = [vec![old.clone()], added.clone()].concat();
            let gained = recorded(&[added, vec![answer.clone()]].concat());
            assert_eq!(without_new_turn(input, &gained, "n"), Ok(vec![old.clone()]));
        }
    }

    #[test]
    fn base_instructions_are_no_part_of_the_projection_where_they_come_first() {
        let (base, next) = (message("developer", BASE_INSTRUCTIONS), message("user", "n"));
        let input = vec![base.clone(), base.clone(), next.clone()];
        assert_eq!(without_new_turn(input, &recorded(&[next]), "n"), Ok(vec![base]));
    }

    #[test]
    fn a_request_that_does_not_end_as_recorded_is_an_error() {
        let (old, next) = (message("user", "old"), message("user", "n"));
        let gained = recorded(std::slice::from_ref(&next));
        assert!(without_new_turn(vec![next.clone(), old.clone()], &gained, "n").is_err());
        assert!(without_new_turn(vec![], &gained, "n").is_err());
        assert!(without_new_turn(vec![next.clone()], &recorded(&[old]), "n").is_err());
        assert!(without_new_turn(vec![next], b"", "n").is_err());
    }

    #[test]
    fn a_turn_is_over_when_its_event_is_recorded() {
        assert!(turn_is_over(b"{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\"}}\n"));
        assert!(!turn_is_over(b"{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_com"));
        assert!(!turn_is_over(b"{\"type\":\"response_item\",\"payload\":{\"type\":\"task_complete\"}}\n"));
    }
}
