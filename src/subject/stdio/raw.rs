//! Finds where a member stands in a JSON text, so that its own bytes can be kept.
//!
//! Only for a text that [`Json`] has read: nothing is checked here.

use crate::json::Json;

/// The text of the member at the end of a path of keys. Of a key that comes twice the last counts, as for [`Json`].
pub(super) fn member<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(text, |object, key| member_of(object, key))
}

fn member_of<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let mut rest = object.trim_start().strip_prefix('{')?.trim_start();
    let mut found = None;
    while rest.starts_with('"') {
        let (name, behind) = rest.split_at_checked(value_len(rest))?;
        let value = behind.trim_start().strip_prefix(':')?.trim_start();
        let (value, behind) = value.split_at_checked(value_len(value))?;
        if is_key(name, key) {
            found = Some(value);
        }
        let behind = behind.trim_start();
        rest = behind.strip_prefix(',').unwrap_or(behind).trim_start();
    }
    found
}

/// Whether a string with its quotes and escapes is this key.
fn is_key(written: &str, key: &str) -> bool {
    match written.contains('\\') {
        true => Json::parse(written).is_ok_and(|name| name.as_str() == Some(key)),
        false => written.trim_matches('"') == key,
    }
}

/// The length of the value that the text begins with, in bytes.
fn value_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += string_len(bytes.get(at..).unwrap_or_default());
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            // The end of what stands around a number or a word.
            b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return at,
            b'}' | b']' if depth == 1 => return at + 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The length of the string that the bytes begin with, quotes included.
fn string_len(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(rest) = bytes.get(at..) {
        match rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
            Some(plain) if rest.get(plain) == Some(&b'"') => return at + plain + 1,
            // A backslash and what it escapes.
            Some(plain) => at += plain + 2,
            None => break,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::member;

    #[test]
    fn a_member_is_found_with_its_own_bytes() {
        let text = r#" { "a" : "}\"]," , "b":[1, {"c":"]"} ],"d":{"e" : -1.50e3 },"f":true}"#;
        assert_eq!(member(text, &["a"]), Some(r#""}\"],""#));
        assert_eq!(member(text, &["b"]), Some(r#"[1, {"c":"]"} ]"#));
        assert_eq!(member(text, &["d", "e"]), Some("-1.50e3"));
        assert_eq!(member(text, &["f"]), Some("true"));
        assert_eq!(member(text, &["c"]), None);
        assert_eq!(member("{}", &["a"]), None);
    }

    #[test]
    fn the_last_of_a_doubled_key_counts_however_it_is_written() {
        assert_eq!(member(r#"{"items":1,"\u0069tems":2,"item":3}"#, &["items"]), Some("2"));
        assert_eq!(member(r#"{"r":{"a":1},"r":{"b":2}}"#, &["r", "b"]), Some("2"));
    }
}
