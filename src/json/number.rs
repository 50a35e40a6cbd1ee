//! A JSON number that keeps the text it was written as.
//!
//! Not for arithmetic: numbers are carried, compared and written, nothing else.

use std::borrow::Cow;
use std::cmp::Ordering;

/// A number of a JSON text, exact to the digit.
#[derive(Debug, Clone)]
pub struct Number(Repr);

/// Integers that are written the one usual way need no text of their own.
#[derive(Debug, Clone)]
enum Repr {
    Unsigned(u64),
    Negative(i64),
    Text(Box<str>),
}

impl Number {
    /// Takes the text of a number, which the caller has checked against the grammar of JSON.
    pub(crate) fn from_checked_text(text: &str) -> Number {
        let usual = !text.contains(['.', 'e', 'E']) && text != "-0";
        if usual && let Ok(value) = text.parse::<u64>() {
            return Number(Repr::Unsigned(value));
        }
        if usual && let Ok(value) = text.parse::<i64>() {
            return Number(Repr::Negative(value));
        }
        Number(Repr::Text(text.into()))
    }

    /// The number as it was written.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Repr::Unsigned(value) => Cow::Owned(value.to_string()),
            Repr::Negative(value) => Cow::Owned(value.to_string()),
            Repr::Text(text) => Cow::Borrowed(text),
        }
    }

    /// The number as the program sends it: an exponent is `e` and a sign, `-0` is `0`, all else as written.
    ///
    /// Where the rule comes from: the table "Numbers and nesting" of `docs/shapes.md`.
    pub fn wire_text(&self) -> Cow<'_, str> {
        let text = self.text();
        if text == "-0" {
            return Cow::Borrowed("0");
        }
        let Some(at) = text.find(['e', 'E']) else { return text };
        let (mantissa, exponent) = text.split_at(at);
        let exponent = exponent.trim_start_matches(['e', 'E']);
        let sign = if exponent.starts_with('-') { '-' } else { '+' };
        Cow::Owned(format!("{mantissa}e{sign}{}", exponent.trim_start_matches(['+', '-'])))
    }

    /// The value, where it is an integer from 0 to 18446744073709551615; `-0` is one, `1.0` is not.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Unsigned(value) => Some(*value),
            Repr::Text(text) if **text == *"-0" => Some(0),
            Repr::Negative(_) | Repr::Text(_) => None,
        }
    }

    /// Whether this is an integer (no point, no exponent) that fits 64 bits neither signed nor unsigned.
    pub fn is_oversized_integer(&self) -> bool {
        match &self.0 {
            Repr::Unsigned(_) | Repr::Negative(_) => false,
            Repr::Text(text) => !text.contains(['.', 'e', 'E']) && **text != *"-0",
        }
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        Number(Repr::Unsigned(value))
    }
}

/// As exact decimals: `1.0`, `1` and `10e-1` are equal; so are `0`, `-0` and `0e9`.
impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (&self.0, &other.0) {
            (Repr::Unsigned(a), Repr::Unsigned(b)) => a == b,
            (Repr::Negative(a), Repr::Negative(b)) => a == b,
            (Repr::Unsigned(_), Repr::Negative(_)) | (Repr::Negative(_), Repr::Unsigned(_)) => false,
            _ => {
                let (a, b) = (self.text(), other.text());
                a == b || Decimal::of(&a) == Decimal::of(&b)
            }
        }
    }
}

impl Eq for Number {}

/// `0.digits × 10^exponent`, digits without zeros at either end; zero has no digits, sign or exponent.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: Exponent,
}

/// Exponents of any length occur in hostile input; those over 18 digits are compared as text. (Two numbers that
/// differ only by carrying a point across such an exponent count as different.)
#[derive(Debug, PartialEq, Eq)]
enum Exponent {
    Small(i128),
    Huge { negative: bool, digits: String, shift: i128 },
}

impl Decimal {
    fn of(text: &str) -> Decimal {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let leading_zeros = all.len() - significant.len();
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Decimal { negative: false, digits, exponent: Exponent::Small(0) };
        }
        let shift = whole.len() as i128 - leading_zeros as i128;
        Decimal { negative, digits, exponent: Exponent::of(exponent, shift) }
    }
}

impl Exponent {
    fn of(text: &str, shift: i128) -> Exponent {
        let negative = text.starts_with('-');
        let digits = text.trim_start_matches(['+', '-']).trim_start_matches('0');
        match digits.len().cmp(&18) {
            Ordering::Greater => Exponent::Huge { negative, digits: digits.to_owned(), shift },
            _ => {
                let value = digits.parse::<i128>().unwrap_or(0);
                Exponent::Small(shift + if negative { -value } else { value })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    fn number(text: &str) -> Number {
        Number::from_checked_text(text)
    }

    #[test]
    fn the_wire_text_is_what_the_program_sent() {
        let sent = [
            ("1.0", "1.0"),
            ("1.50", "1.50"),
            ("-0.0", "-0.0"),
            ("1e5", "1e+5"),
            ("1E5", "1e+5"),
            ("1e+5", "1e+5"),
            ("1.0e2", "1.0e+2"),
            ("12e3", "12e+3"),
            ("1e0", "1e+0"),
            ("-0", "0"),
            ("1E-7", "1e-7"),
            ("-1e400", "-1e+400"),
            ("9007199254740993.0", "9007199254740993.0"),
            ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
        ];
        for (written, expected) in sent {
            assert_eq!(number(written).wire_text(), expected);
            assert_eq!(number(written).text(), written);
        }
    }

    #[test]
    fn equality_is_that_of_exact_decimals() {
        let equal =
            [("1", "1.0"), ("1", "10e-1"), ("0", "-0.0"), ("0", "0e99"), ("1e400", "10e399"), ("100", "1e2")];
        for (a, b) in equal {
            assert_eq!(number(a), number(b), "{a} {b}");
        }
        let different =
            [("1", "-1"), ("9007199254740993", "9007199254740992.0"), ("1e400", "1e401"), ("1", "0")];
        for (a, b) in different {
            assert_ne!(number(a), number(b), "{a} {b}");
        }
    }

    #[test]
    fn an_exponent_of_any_length_is_compared_without_overflow() {
        let huge = format!("1e{}", "9".repeat(1000));
        assert_eq!(number(&huge), number(&huge));
        assert_eq!(number(&format!("0e{}", "9".repeat(1000))), number("0"));
        assert_ne!(number(&huge), number(&format!("1e-{}", "9".repeat(1000))));
    }
}
