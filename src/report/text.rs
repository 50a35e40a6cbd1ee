//! Small things that several reports write alike: numbers, times, shares, and texts that others chose.

use std::time::Duration;

/// A number with its thousands apart: `2,000`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 case`, `2,000 cases`.
pub fn counted(count: impl TryInto<u64>, what: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    if count == 1 { format!("1 {what}") } else { format!("{} {what}s", grouped(count)) }
}

/// A time in the unit that fits: `812 ms`, `3.1 s`, `2 min 5 s`.
pub(super) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{} ms", time.as_millis()),
        1..60 => format!("{:.1} s", time.as_secs_f64()),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// A share in per cent: `41.2 %`. None of none is none.
pub(super) fn share(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    per_mille(u64::try_from(tenths).unwrap_or(u64::MAX))
}

/// `5.0 %` of 50.
pub(super) fn per_mille(tenths: u64) -> String {
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// A text without anything that a terminal or a browser would obey: line ends stay, everything else that does not print
/// (control characters, marks that turn the direction of writing) is written as an escape.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        let stands = c == '\n' || c == '"' || c == '\'' || c == '\\';
        let escaped = c.escape_debug();
        if stands || escaped.len() == 1 { plain.push(c) } else { plain.extend(escaped) }
    }
    plain
}

/// JSON without anything that a terminal would obey, and still the same JSON: what does not print can only stand in its
/// strings, and is written there as `\u` and four digits.
pub(super) fn plain_json(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    for c in json.chars() {
        let stands = c == '"' || c == '\'' || c == '\\';
        if stands || c.escape_debug().len() == 1 {
            plain.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                plain.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_thousands_apart() {
        let texts = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1_u64, "case"), "1 case");
        assert_eq!(counted(2000_usize, "case"), "2,000 cases");
    }

    #[test]
    fn a_share_is_cut_and_never_rounded_up_over_a_floor() {
        assert_eq!(share(1, 3), "33.3 %");
        assert_eq!(share(49_999, 1_000_000), "4.9 %");
        assert_eq!(share(0, 0), "0.0 %");
        assert_eq!(share(u64::MAX, u64::MAX), "100.0 %");
    }

    #[test]
    fn a_time_is_written_in_the_unit_that_fits() {
        let texts = [812, 3_140, 125_000].map(|millis| duration(Duration::from_millis(millis)));
        assert_eq!(texts, ["812 ms", "3.1 s", "2 min 5 s"]);
    }

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_the_rest_stays() {
        assert_eq!(plain("a \"b\" 'c' \\ é 日\nd"), "a \"b\" 'c' \\ é 日\nd");
        assert_eq!(plain("\u{1b}[31m\t\r\u{7f}\u{9b}\u{202e}"), "\\u{1b}[31m\\t\\r\\u{7f}\\u{9b}\\u{202e}");
    }

    #[test]
    fn plain_json_is_the_same_json() {
        let json = "{\"a\\n\":\"\u{7f}\u{9b}\u{202e}\u{e0001}é\"}";
        assert_eq!(plain_json(json), "{\"a\\n\":\"\\u007f\\u009b\\u202e\\udb40\\udc01é\"}");
        let [a, b] = [json, &plain_json(json)].map(|text| crate::json::Json::parse(text).expect("JSON"));
        assert_eq!(a, b);
    }
}
