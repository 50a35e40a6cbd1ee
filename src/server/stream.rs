//! The server-sent events of a response that completes at once.
//!
//! The fewest events that the program accepts (seen on releases 0.144.6 and 0.171.0): created, each item done, completed.

use crate::json::{Json, Numbers, ObjectWriter, write_string};

/// An assistant's message of one text.
pub(super) fn message(text: &str) -> Json {
    let mut quoted = Vec::new();
    write_string(text, &mut quoted);
    let quoted = String::from_utf8_lossy(&quoted);
    let item = format!(
        r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{quoted}}}]}}"#
    );
    Json::parse(&item).unwrap_or_default()
}

/// The whole stream of a response that consists of `items`.
pub(super) fn completed(items: &[Json]) -> Vec<u8> {
    let mut out = Vec::new();
    event(&mut out, "response.created", |data| {
        data.key("response").extend_from_slice(br#"{"id":"resp_1"}"#);
    });
    for (index, item) in items.iter().enumerate() {
        event(&mut out, "response.output_item.done", |data| {
            data.key("output_index").extend_from_slice(index.to_string().as_bytes());
            item.write(data.key("item"), Numbers::AsWritten);
        });
    }
    event(&mut out, "response.completed", |data| {
        data.key("response").extend_from_slice(
            br#"{"id":"resp_1","usage":{"input_tokens":1,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":2}}"#,
        );
    });
    out
}

fn event(out: &mut Vec<u8>, name: &str, members: impl FnOnce(&mut ObjectWriter<'_>)) {
    out.extend_from_slice(format!("event: {name}\ndata: ").as_bytes());
    let mut data = ObjectWriter::open(out);
    data.string("type", name);
    members(&mut data);
    data.close();
    out.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_one_line_of_json_under_its_name() {
        let stream = String::from_utf8(completed(&[message("a\n\"b\""), message("c")])).expect("text");
        let events: Vec<&str> = stream.split_terminator("\n\n").collect();
        assert_eq!(events.len(), 4);
        for event in events {
            let (name, data) = event.split_once('\n').expect("two lines");
            let data = data.strip_prefix("data: ").and_then(|data| Json::parse(data).ok()).expect("JSON");
            assert_eq!(name.strip_prefix("event: "), data.get("type").and_then(Json::as_str));
        }
    }
}
