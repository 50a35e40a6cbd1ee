//! The target `json`: our reader of JSON against serde_json's.

use crate::json::{Json, Numbers};
use serde_json::Value;

/// Both readers accept the same texts and read the same values, and what is written is read again.
///
/// Two differences are meant and pass: we keep numbers beyond `f64`, and we read the two private keys of serde_json as the
/// program does, or as keys like others.
///
/// # Errors
/// How the readers differ, without the text.
///
/// ```
/// assert_eq!(callpair::fuzzing::json(br#"{"a":[1.50,1e400]}"#), Ok(()));
/// ```
pub fn json(bytes: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    let ours = Json::parse(text);
    if let Err(how) = agree(&ours, serde_json::from_str(text))
        && !has_private_key(text)
    {
        return Err(how);
    }
    let Ok(value) = ours else { return Ok(()) };
    for numbers in [Numbers::AsWritten, Numbers::Wire] {
        let once = written(&value, numbers);
        let again = Json::parse(&once)
            .map_err(|error| format!("what was written ({numbers:?}) is no JSON: {error}"))?;
        if again != value {
            return Err(format!("what was written ({numbers:?}) is read as another value"));
        }
        if written(&again, numbers) != once {
            return Err(format!("what was written ({numbers:?}) is not written the same again"));
        }
    }
    Ok(())
}

fn written(value: &Json, numbers: Numbers) -> String {
    let mut out = Vec::new();
    value.write(&mut out, numbers);
    String::from_utf8_lossy(&out).into_owned()
}

fn agree<E>(ours: &Result<Json, E>, theirs: Result<Value, serde_json::Error>) -> Result<(), String>
where
    E: std::fmt::Display,
{
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) if same(ours, &theirs) => Ok(()),
        (Ok(_), Ok(_)) => Err("the two readers read different values".to_owned()),
        (Err(_), Err(_)) => Ok(()),
        // The value may be gone from ours, under a key that came again.
        (Ok(_), Err(error)) if error.to_string().starts_with("number out of range") => Ok(()),
        (Ok(_), Err(error)) => Err(format!("read by us alone; serde_json: {error}")),
        (Err(error), Ok(_)) => Err(format!("read by serde_json alone; ours: {error}")),
    }
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

/// Integers of 64 bits exactly; others as `f64`, in which serde_json may be off in the last bits, as it does not round
/// exactly without a feature of its own.
fn same_number(text: &str, theirs: &serde_json::Number) -> bool {
    if theirs.is_u64() || theirs.is_i64() {
        return text == theirs.to_string();
    }
    let (Ok(ours), Some(theirs)) = (text.parse::<f64>(), theirs.as_f64()) else { return false };
    (ours - theirs).abs() <= ours.abs() * 1e-14 + f64::MIN_POSITIVE
}

/// Whether a private key of serde_json stands in the text, escaped or not. Only asked where the readers differ.
fn has_private_key(text: &str) -> bool {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once("\\u") {
        plain.push_str(before);
        let code = escape.split_at_checked(4).and_then(|(digits, after)| {
            let code = u32::from_str_radix(digits, 16).ok()?;
            Some((char::from_u32(code)?, after))
        });
        rest = code.map_or(escape, |(_, after)| after);
        plain.extend(code.map(|(character, _)| character));
    }
    plain.push_str(rest);
    plain.contains("$serde_json::private::")
}
