//! Our reader of JSON accepts what serde_json accepts and reads the same values, but for three differences that are listed here
//! as tests of their own: numbers beyond `f64`, and the two private keys of serde_json.

#![allow(clippy::expect_used)]

use callpair::json::{Json, MAX_DEPTH, Numbers};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::FileFailurePersistence;
use serde_json::Value;

/// Fails where the two readers disagree on a text.
fn assert_agree(text: &str) -> Result<(), TestCaseError> {
    match (Json::parse(text), serde_json::from_str::<Value>(text)) {
        (Ok(ours), Ok(theirs)) => prop_assert!(same(&ours, &theirs), "{text:?}: {ours} is not {theirs}"),
        (Err(_), Err(_)) => {}
        (Ok(_), Err(error)) => {
            // The value may be gone from ours, under a key that came again.
            let beyond_f64 = error.to_string().starts_with("number out of range");
            prop_assert!(beyond_f64, "{text:?} is read by us alone; serde_json: {error}");
        }
        (Err(error), Ok(_)) => prop_assert!(false, "{text:?} is read by serde_json alone; ours: {error}"),
    }
    Ok(())
}

fn same(ours: &Json, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Json::Null, Value::Null) => true,
        (Json::Bool(ours), Value::Bool(theirs)) => ours == theirs,
        (Json::String(ours), Value::String(theirs)) => ours == theirs,
        (Json::Number(ours), Value::Number(theirs)) => same_number(&ours.text(), theirs),
        (Json::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
        }
        (Json::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|(key, ours)| theirs.get(key).is_some_and(|theirs| same(ours, theirs)))
        }
        _ => false,
    }
}

/// Integers of 64 bits exactly; others as `f64`, in which serde_json may be off in the last bits, as it does not round exactly
/// without a feature of its own.
fn same_number(text: &str, theirs: &serde_json::Number) -> bool {
    if theirs.is_u64() || theirs.is_i64() {
        return text == theirs.to_string();
    }
    let (Ok(ours), Some(theirs)) = (text.parse::<f64>(), theirs.as_f64()) else { return false };
    (ours - theirs).abs() <= ours.abs() * 1e-14 + f64::MIN_POSITIVE
}

fn blanks() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just(""), 1 => Just(" "), 1 => Just("\t\r\n ")]
}

/// Numbers of all forms, good and bad.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => "-?(0|[1-9][0-9]{0,21})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
        10 => any::<i64>().prop_map(|n| n.to_string()),
        5 => any::<u64>().prop_map(|n| n.to_string()),
        5 => any::<f64>().prop_map(|n| format!("{n:e}")),
        5 => prop::sample::select(vec![
            "-0", "0.0", "18446744073709551615", "18446744073709551616", "-9223372036854775808",
            "-9223372036854775809", "1e308", "1e309", "-1e400", "1e-400", "5e-324", "0e999999999999",
        ]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["01", "+1", ".5", "1.", "1e", "-", "NaN", "Infinity", "0x1", "1_0"])
            .prop_map(str::to_owned),
    ]
}

/// Strings of plain characters, escapes, pairs and halves of pairs, with their quotes.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        30 => "[a-c ]{1,3}",
        10 => any::<char>().prop_map(|c| if c < ' ' || c == '"' || c == '\\' { 'é' } else { c }).prop_map(String::from),
        15 => prop::sample::select(vec![
            r"\n", r"\t", r"\r", r"\b", r"\f", r"\/", r"\\", r#"\""#, r"\u0041", r"\u00E9", r"\u2028", r"\u0000",
            r"\ud83d\ude00",
        ]).prop_map(str::to_owned),
        1 => prop::sample::select(vec![r"\ud800", r"\udc00", r"\ud800\u0041", r"\x", r"\u12", "\u{1}", "\u{7f}"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// Few keys, one of them in two spellings, so that keys come twice.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec![r#""a""#, r#""\u0061""#, r#""b""#, r#""""#]).prop_map(str::to_owned),
        1 => string(),
    ]
}

/// JSON texts, most of them good.
fn json_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned);
    let leaf = prop_oneof![2 => word, 3 => number(), 3 => string()];
    let value = leaf.prop_recursive(5, 60, 6, |inner| {
        let element = (blanks(), inner.clone(), blanks()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let member = (blanks(), key(), blanks(), inner, blanks())
            .prop_map(|(a, key, b, value, c)| format!("{a}{key}{b}:{value}{c}"));
        prop_oneof![
            prop::collection::vec(element, 0..6).prop_map(|elements| format!("[{}]", elements.join(","))),
            // Over 16 members another way of finding doubled keys is taken.
            prop::collection::vec(member, 0..24).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    });
    (blanks(), value, blanks()).prop_map(|(a, value, b)| format!("{a}{value}{b}"))
}

/// A change of a few bytes.
#[derive(Debug, Clone)]
enum Mutation {
    Put(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Double(Index, Index),
    Truncate(Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let byte = prop_oneof![
        3 => prop::sample::select(br#"{}[]",:\0123456789.eE+-u dDtfn/"#.to_vec()),
        1 => any::<u8>(),
    ];
    let at = any::<Index>;
    prop_oneof![
        (at(), byte.clone()).prop_map(|(at, byte)| Mutation::Put(at, byte)),
        (at(), byte).prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        at().prop_map(Mutation::Remove),
        (at(), at()).prop_map(|(from, to)| Mutation::Double(from, to)),
        at().prop_map(Mutation::Truncate),
    ]
}

/// Bytes that are no text any more become replacement characters: both readers take text.
fn mutated(text: &str, mutations: &[Mutation]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for mutation in mutations {
        let place = |at: &Index| at.index(bytes.len().max(1)).min(bytes.len());
        match mutation {
            Mutation::Put(at, byte) => {
                let at = place(at);
                bytes.splice(at..bytes.len().min(at + 1), [*byte]);
            }
            Mutation::Insert(at, byte) => bytes.insert(place(at), *byte),
            Mutation::Remove(at) => {
                let at = place(at);
                bytes.splice(at..bytes.len().min(at + 1), []);
            }
            Mutation::Double(from, to) => {
                let (from, to) = (place(from), place(to));
                let piece = bytes[from.min(to)..from.max(to)].to_vec();
                bytes.splice(to..to, piece);
            }
            Mutation::Truncate(at) => bytes.truncate(at.index(bytes.len() + 1)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/json_agrees_with_serde_json.txt",
        ))),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn both_readers_agree_on_texts_that_are_nearly_json(text in json_text()) {
        assert_agree(&text)?;
    }

    #[test]
    fn both_readers_agree_on_texts_that_were_damaged(
        text in json_text(),
        mutations in prop::collection::vec(mutation(), 1..4),
    ) {
        assert_agree(&mutated(&text, &mutations))?;
    }

    #[test]
    fn what_is_written_is_read_as_the_same_value_and_written_the_same(text in json_text()) {
        let Ok(value) = Json::parse(&text) else { return Ok(()) };
        let written = value.to_string();
        let again = Json::parse(&written).expect("what we write is JSON");
        prop_assert_eq!(&again, &value);
        prop_assert_eq!(again.to_string(), written);
    }

    #[test]
    fn the_wire_style_is_stable_and_means_the_same(text in json_text()) {
        let Ok(value) = Json::parse(&text) else { return Ok(()) };
        let wire = |value: &Json| {
            let mut out = Vec::new();
            value.write(&mut out, Numbers::Wire);
            String::from_utf8(out).expect("JSON is text")
        };
        let once = wire(&value);
        let again = Json::parse(&once).expect("what we write is JSON");
        prop_assert_eq!(&again, &value);
        prop_assert_eq!(wire(&again), once);
    }
}

/// A generator of which the readers refuse nearly all shows little; one of which they accept all, no more.
#[test]
fn a_good_part_of_the_generated_texts_is_json_and_a_good_part_is_not() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut accepted = 0;
    for _ in 0..1_000 {
        let text = json_text().new_tree(&mut runner).expect("a text").current();
        accepted += usize::from(Json::parse(&text).is_ok());
    }
    assert!((400..900).contains(&accepted), "{accepted} of 1000");
}

#[test]
fn both_readers_end_at_the_same_depth() {
    for depth in [1, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 1_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            let (ours, theirs) = (Json::parse(&text).is_ok(), serde_json::from_str::<Value>(&text).is_ok());
            assert_eq!((ours, theirs), (depth <= MAX_DEPTH, depth <= MAX_DEPTH), "{open} {depth}");
        }
    }
}

// The differences.

#[test]
fn a_number_beyond_f64_is_read_by_us_alone() {
    for text in ["1e309", "-1e400", "[1e999999999999]", &"9".repeat(400)] {
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
        assert_eq!(Json::parse(text).expect("ours").to_string(), text);
    }
}

#[test]
fn the_private_key_for_numbers_is_read_by_us_as_the_program_reads_it() {
    let text = r#"{"$serde_json::private::Number":"1.0"}"#;
    assert_eq!(Json::parse(text).expect("ours").to_string(), "1.0");
    assert!(serde_json::from_str::<Value>(text).expect("theirs").is_object());
}

#[test]
fn the_private_key_for_raw_values_is_a_key_like_others_to_us() {
    let text = r#"{"$serde_json::private::RawValue":"[1]"}"#;
    assert_eq!(Json::parse(text).expect("ours").to_string(), text);
    assert!(serde_json::from_str::<Value>(text).expect("theirs").is_array());
}
