//! Every error message that a person can get, as text: one snapshot a room. Each says what is wrong and where, and what to do
//! unless that is plain; none shows a text of the input beyond a shortened, escaped name.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use callpair::case::{SavedCase, Store};
use callpair::fuzzing::{Target, decode, encode};
use callpair::history::ToolOutputLimit;
use callpair::item::{Modalities, ResponseItem};
use callpair::json::Json;
use callpair::rollout::{Caps, Rollout};
use callpair::source::{self, Dialect};
use callpair::subject::Profile;
use callpair::verify::{Seed, Shard};
use common::callpair;
use insta::assert_snapshot;
use std::fmt::Display;
use std::fs;
use std::io::Cursor;

/// A situation and the message that it gives, a pair a paragraph.
fn told<'a>(messages: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut text = String::new();
    for (situation, message) in messages {
        let message = message.trim_end().replace('\n', "\n  ");
        text.push_str(&format!("{situation}\n  {message}\n"));
    }
    text
}

fn refused<T, E: Display>(result: Result<T, E>) -> String {
    match result {
        Ok(_) => panic!("it was taken"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn json_says_at_which_byte_it_is_none_and_why() {
    let deep = "[".repeat(128);
    let texts = [
        ("nothing", ""),
        ("a torn object", "{\"a\":"),
        ("a word that is none", "[nul]"),
        ("no colon", "{\"a\" 1}"),
        ("more behind a value", "{} {}"),
        ("128 levels", &deep),
        ("half of a surrogate pair", "\"\\ud800\""),
        ("an escape that is none", "\"\\x\""),
        ("a raw control character", "\"\u{1b}\""),
        ("a number with a leading zero", "01"),
    ];
    assert_snapshot!("json", told(texts.map(|(situation, text)| (situation, refused(Json::parse(text))))));
}

#[test]
fn an_item_that_does_not_load_says_which_field_and_what_would_fit() {
    let items = [
        ("not an object", "7"),
        ("no type", "{}"),
        ("a type that is no string", r#"{"type":1}"#),
        ("no call id", r#"{"type":"function_call","name":"ls","arguments":"{}"}"#),
        (
            "arguments that are an object",
            r#"{"type":"function_call","name":"ls","arguments":{},"call_id":"a"}"#,
        ),
        ("an unknown part", r#"{"type":"message","role":"user","content":[{"type":"\u001b[31m"}]}"#),
        (
            "a detail that is none",
            r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"x","detail":"medium"}]}"#,
        ),
        (
            "an integer beyond 64 bits",
            r#"{"type":"tool_search_call","execution":"client","arguments":99999999999999999999}"#,
        ),
    ];
    let load = |text: &str| refused(ResponseItem::load(Json::parse(text).unwrap()));
    assert_snapshot!("item", told(items.map(|(situation, text)| (situation, load(text)))));
}

#[test]
fn a_case_that_cannot_be_read_says_which_step_and_which_item() {
    let texts = [
        ("no JSON", "{\"schema\""),
        ("another schema", r#"{"schema":"callpair.case/2","steps":[]}"#),
        ("no schema", r#"{"steps":[]}"#),
        ("no steps", r#"{"schema":"callpair.case/1"}"#),
        ("a step with two members", r#"{"schema":"callpair.case/1","steps":[{"resume":true,"fork":true}]}"#),
        (
            "a step that is not known",
            r#"{"schema":"callpair.case/1","steps":[{"resume":true},{"rewind":1}]}"#,
        ),
        ("resume that is not true", r#"{"schema":"callpair.case/1","steps":[{"resume":1}]}"#),
        ("a rollback of minus one", r#"{"schema":"callpair.case/1","steps":[{"rollback":-1}]}"#),
        ("a modality that is none", r#"{"schema":"callpair.case/1","steps":[{"project":["text","smell"]}]}"#),
        ("no text among the modalities", r#"{"schema":"callpair.case/1","steps":[{"project":["image"]}]}"#),
        ("modalities that are no list", r#"{"schema":"callpair.case/1","steps":[{"project":"text"}]}"#),
        ("no list of items", r#"{"schema":"callpair.case/1","steps":[{"record":{}}]}"#),
        (
            "an item that does not load",
            r#"{"schema":"callpair.case/1","steps":[{"record":[{"type":"ghost_snapshot"},{"type":"function_call"}]}]}"#,
        ),
    ];
    let mut messages: Vec<(&str, String)> =
        texts.iter().map(|(situation, text)| (*situation, refused(SavedCase::parse(text)))).collect();
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("torn.case.json");
    fs::write(&name, "{").unwrap();
    let said = refused(Store::new(folder.path()).load());
    messages.push((
        "a folder of saved cases with a torn one",
        said.replace(&*name.to_string_lossy(), "FOLDER/torn.case.json"),
    ));
    assert_snapshot!("case", told(messages));
}

#[test]
fn a_file_that_gives_no_history_says_what_it_is_and_what_to_do() {
    let read = |bytes: &[u8]| refused(source::read(&mut Cursor::new(bytes), None, Caps::default()));
    let inputs: [(&str, &[u8]); 13] = [
        ("empty", b" \n"),
        ("some text", b"hello"),
        ("a torn list", b"[{\"type\":\"message\""),
        ("a list of numbers", b"[0,0]"),
        ("messages without a type", br#"[{"role":"user","content":"hi"}]"#),
        ("chat messages", br#"{"messages":[{"role":"tool"}]}"#),
        ("Gemini contents", br#"{"contents":[]}"#),
        ("a saved case", br#"{"schema":"callpair.case/1","steps":[]}"#),
        ("rollout lines in a list", br#"[{"timestamp":"t","type":"session_meta","payload":{}}]"#),
        ("two bodies", b"{\"input\":[]}\n{\"input\":[]}"),
        ("an input that is a number", br#"{"input":7}"#),
        ("UTF-16", b"\xff\xfe[\0]\0"),
        ("a list with a byte that is none", b"[{\"type\":\"message\",\"role\":\"\xff\",\"content\":[]}]"),
    ];
    assert_snapshot!("source", told(inputs.map(|(situation, bytes)| (situation, read(bytes)))));
}

#[test]
fn a_rollout_beyond_a_cap_names_the_cap_and_lines_that_do_not_load_say_why() {
    const META: &str = r#"{"timestamp":"t","type":"session_meta","payload":{}}"#;
    let usual = Caps::default;
    let capped = |caps: Caps| refused(Rollout::read(&mut Cursor::new(format!("{META}\n{META}\n")), caps));
    let mut messages = vec![
        ("a line over the cap", capped(Caps { line_bytes: 10, ..usual() })),
        ("a file over the cap", capped(Caps { total_bytes: 60, ..usual() })),
        ("lines over the cap", capped(Caps { lines: 1, ..usual() })),
        ("memory over the cap", capped(Caps { loaded_bytes: 1, ..usual() })),
        ("a torn archive", refused(Rollout::from_bytes(b"\x28\xb5\x2f\xfd\x24"))),
    ];
    let lines: [(&str, &[u8]); 5] = [
        ("a torn line", b"{\"timest"),
        ("a line that is a list", b"[]"),
        ("a line of an unknown type", br#"{"timestamp":"t","type":"\u001b[2J","payload":{}}"#),
        (
            "an item that does not load",
            br#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call"}}"#,
        ),
        ("a line that is no text", b"\xff"),
    ];
    for (situation, line) in lines {
        let rollout = Rollout::from_bytes(line).unwrap();
        messages.push((situation, rollout.skipped[0].value.to_string()));
    }
    for (situation, file) in [
        ("no line", ""),
        ("no session_meta", "{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{\"message\":\"\"}}\n"),
    ] {
        let refusal = Rollout::from_bytes(file.as_bytes()).unwrap().refusal();
        messages
            .push((situation, refusal.map_or_else(|| "resumes".to_owned(), |refusal| refusal.to_string())));
    }
    assert_snapshot!("rollout", told(messages));
}

#[test]
fn an_input_of_a_fuzz_target_that_is_no_case_says_so() {
    let long = SavedCase::parse(&format!(
        r#"{{"schema":"callpair.case/1","steps":[{}]}}"#,
        vec![r#"{"resume":true}"#; 101].join(",")
    ));
    let messages = [
        ("a target that takes files", refused(decode(Target::Json, b"x"))),
        ("a saved case that is none", refused(decode(Target::Script, b"\xff{}"))),
        ("a saved case that is no text", refused(decode(Target::Script, b"\xff\xff"))),
        ("101 steps", refused(encode(Target::Script, &long.unwrap().case))),
        ("a target that is none", refused("nonsense".parse::<Target>())),
    ];
    assert_snapshot!("fuzzing", told(messages));
}

#[test]
fn values_of_flags_that_are_none_say_what_to_write() {
    let messages = [
        ("a seed of another generator", refused("g999-0000000000000007".parse::<Seed>())),
        ("a seed that is none", refused("seven".parse::<Seed>())),
        ("a shard that is none", refused("3/2".parse::<Shard>())),
        ("a profile that is none", refused("claude".parse::<Profile>())),
        ("a dialect that is none", refused("latin".parse::<Dialect>())),
        ("modalities that are none", refused("smell".parse::<Modalities>())),
        ("modalities without text", refused("image".parse::<Modalities>())),
        ("a limit that is none", refused("lines:7".parse::<ToolOutputLimit>())),
    ];
    assert_snapshot!("values", told(messages));
}

/// What stderr says of command lines that are of no use; each ends with 2, or with 3 where a subject does not start.
#[cfg(unix)]
#[test]
fn a_command_line_that_is_of_no_use_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    file("case.json", br#"{"schema":"callpair.case/1","steps":[{"record":[{"type":"function_call","name":"","arguments":"","call_id":"a"}]}]}"#);
    file("torn.json", br#"{"schema":"callpair.case/1","#);
    file("bytes", b"\xff{}");
    file("text", b"hello");
    file("known-id.txt", b"# mine\nno/such because\n");
    file("known-reason.txt", b"pairing/function-call\n");
    fs::create_dir(folder.path().join("empty")).unwrap();
    let lines = [
        "replay no/such/file",
        "replay torn.json",
        "replay text",
        "replay empty",
        "replay --artifact script bytes",
        "replay --artifact script --only pairing case.json",
        "replay --artifact rollout --subject bank case.json",
        "minimize --artifact rollout text",
        "minimize --invariant no/such case.json",
        "verify --subject nobody",
        "verify --subject bank/no/such",
        "verify --subject bank/crash/abort-on-tool-search",
        "verify --allow-refusals",
        "verify --known no-file.txt",
        "verify --known known-id.txt",
        "verify --known known-reason.txt",
        "verify --from empty",
        "verify --only no/such",
        "verify --timeout 5",
        "check empty",
        "check no/such/file",
        "project empty",
        "project case.json",
        "explain no/such",
        "case decode bytes --target script",
        "case encode case.json --target json",
        "man no/such/folder",
        "completions nosh",
    ];
    let said = lines.map(|line| {
        let outcome = callpair(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
        (line, outcome.stderr)
    });
    assert_snapshot!("command_line", told(said));
}
