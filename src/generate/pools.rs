//! Small pools of ids and texts, so that what is drawn collides on purpose.

use crate::item::{CallId, ItemId};
use crate::json::Json;
use std::sync::LazyLock;

/// Plain call ids.
pub(super) static CALL_IDS: LazyLock<Vec<CallId>> =
    LazyLock::new(|| ["a", "b", "c", "call_1", "call_2", "d", "e", "f"].map(CallId::from).to_vec());

/// Call ids that belong to one call each; the place is the call's number.
pub(super) static FRESH_CALL_IDS: LazyLock<Vec<CallId>> =
    LazyLock::new(|| (0..512).map(|n| CallId::from(format!("fresh_{n}"))).collect());

/// Families of call ids of which any two are nearly the same.
pub(super) static NEAR_COLLISIONS: LazyLock<Vec<Vec<CallId>>> = LazyLock::new(|| {
    let long = "x".repeat(70);
    let families = [
        // Case.
        vec!["call_a".to_owned(), "call_A".to_owned(), "CALL_A".to_owned()],
        // Blanks, which a trim would take off.
        vec!["a".to_owned(), " a".to_owned(), "a ".to_owned(), "a\n".to_owned(), "\u{a0}a".to_owned()],
        // Composed and decomposed accents, and the letter without.
        vec!["\u{e9}".to_owned(), "e\u{301}".to_owned(), "e".to_owned()],
        // Long common prefixes, on either side of 64 characters.
        vec![format!("{long}1"), format!("{long}2"), long.clone(), long.chars().take(64).collect()],
        // One a prefix or a suffix of the other.
        vec!["call_1".to_owned(), "call_10".to_owned(), "call_".to_owned(), "1".to_owned()],
        // Numbers that read alike.
        vec!["1".to_owned(), "01".to_owned(), "1.0".to_owned(), "+1".to_owned()],
        // A separator that a joined key would lose.
        vec!["a:b".to_owned(), "a".to_owned(), "b".to_owned(), "a|b".to_owned()],
        // Nothing, and next to nothing.
        vec![String::new(), " ".to_owned(), "null".to_owned(), "\u{0}".to_owned()],
    ];
    families.map(|family| family.into_iter().map(CallId::from).collect()).to_vec()
});

/// Item ids that belong to one item each; the place is the item's number.
pub(super) static OWN_ITEM_IDS: LazyLock<Vec<ItemId>> =
    LazyLock::new(|| (0..512).map(|n| ItemId::from(format!("item_{n}"))).collect());

/// Item ids that several items share.
pub(super) static SHARED_ITEM_IDS: LazyLock<Vec<ItemId>> =
    LazyLock::new(|| ["fc_1", "", "fc_1 ", "x:y", "\u{e9}"].map(ItemId::from).to_vec());

/// Texts that nobody trips over.
pub(super) const TEXTS: [&str; 5] = ["", "x", "ok", "hello", "aborted"];

/// Texts that somebody trips over.
pub(super) const ODD_TEXTS: [&str; 8] =
    ["\u{0}", "a\nb", "日本語", "\u{2028}", " ", "\"\\", "e\u{301}", "data:image/png;base64,AA=="];

/// JSON without numbers, or with small integers.
pub(super) static PLAIN_JSON: LazyLock<Vec<Json>> = LazyLock::new(|| {
    parsed(&[
        "{}",
        r#"{"q":"x"}"#,
        "null",
        "[]",
        r#"{"b":1,"a":[true,null,"é"]}"#,
        "\"text\"",
        "9007199254740991",
    ])
});

/// JSON whose numbers lose a digit in a float, or their form.
pub(super) static EXACT_JSON: LazyLock<Vec<Json>> = LazyLock::new(|| {
    parsed(&[
        "1.0",
        "1e400",
        "[9007199254740993.0,0.1000000000000000055511151231257827]",
        "18446744073709551615",
        r#"{"n":-0.0}"#,
    ])
});

fn parsed(texts: &[&str]) -> Vec<Json> {
    texts.iter().map(|text| Json::parse(text).unwrap_or_default()).collect()
}

/// A picture of one pixel.
pub(super) const PNG: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Pictures that are sent as they are, to a model that takes any.
pub(super) const SENDABLE_PICTURES: [&str; 3] = [PNG, "file:///x.png", ""];

/// Pictures that loading replaces by a text: remote, no base64, no picture.
pub(super) const UNSENDABLE_PICTURES: [&str; 3] =
    ["https://example.com/x.png", "data:image/png,x", "data:image/png;base64,AAAA"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_a_family_differ() {
        for family in NEAR_COLLISIONS.iter() {
            let distinct: std::collections::HashSet<_> = family.iter().collect();
            assert_eq!(distinct.len(), family.len(), "{family:?}");
        }
    }

    #[test]
    fn the_pictures_are_what_they_are_called() {
        use crate::rollout::{PictureVerdict, examine};
        for url in SENDABLE_PICTURES {
            assert_eq!(examine(url, false, false), PictureVerdict::Unchanged, "{url}");
        }
        for url in UNSENDABLE_PICTURES {
            assert!(matches!(examine(url, false, false), PictureVerdict::Refused(_)), "{url}");
        }
    }

    #[test]
    fn the_json_of_the_pools_is_json() {
        assert!(PLAIN_JSON.iter().chain(EXACT_JSON.iter()).filter(|json| **json == Json::Null).count() == 1);
    }
}
