//! One line of a subject's stdout becomes an answer, or the breach of the protocol that it is.

use super::escaped::shown;
use super::raw;
use crate::case::{Failure, FailureKind};
use crate::json::{Json, JsonError, JsonProblem, Object};
use crate::subject::protocol::{METHOD_MISSING, Method, REFUSED};

/// Lists and objects around an item in an answer: the message, its result, the list.
const WRAPPERS: u8 = 3;

/// Characters of an error's message that are shown.
const MESSAGE_CHARS: usize = 500;

/// Characters of a line that is no message that are shown: enough to know a log line by.
const NOISE_CHARS: usize = 80;

/// What a subject answered.
#[derive(Debug)]
pub(super) enum Reply {
    /// The result.
    Result {
        /// Its members.
        members: Object,
        /// The text of its member `items`, for a projection.
        items_text: Option<String>,
    },
    /// An error.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
}

/// Reads a line as the answer to a request.
///
/// # Errors
/// The sentence that says what is wrong with the line.
pub(super) fn read(line: &[u8], id: u64, method: Method) -> Result<Reply, String> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return Err(format!("a line on stdout is not UTF-8 at byte {}", error.valid_up_to())),
    };
    let mut message = message(text)?;
    if let Some(own) = message.get("method") {
        let name = own.as_str().unwrap_or("(no name)");
        return Err(format!(
            "a request of its own on stdout (\"{}\"): a subject only answers",
            shown(name, 40)
        ));
    }
    match message.get("jsonrpc") {
        Some(Json::String(version)) if version == "2.0" => {}
        _ => return Err("an answer without \"jsonrpc\":\"2.0\"".to_owned()),
    }
    let error = message.take("error").filter(|error| *error != Json::Null);
    // By JSON-RPC an error has no id where the request could not be read.
    let may_lack_id = error.is_some() && message.get("id").is_none_or(|id| *id == Json::Null);
    if !may_lack_id {
        check_id(message.get("id"), id)?;
    }
    match (message.take("result"), error) {
        (None | Some(Json::Null), Some(error)) => read_error(&error),
        (Some(_), Some(_)) => Err("an answer with a result and an error at once".to_owned()),
        (Some(Json::Object(members)), None) => {
            let items_text = match method {
                Method::Project => raw::member(text, &["result", "items"]).map(str::to_owned),
                _ => None,
            };
            Ok(Reply::Result { members, items_text })
        }
        (Some(other), None) => Err(format!("result: expected an object, found {}", other.describe())),
        (None, None) => Err("an answer with neither a result nor an error".to_owned()),
    }
}

/// The failure that an error is.
pub(super) fn failure(code: i64, message: &str) -> Failure {
    let (kind, what) = match code {
        METHOD_MISSING => (FailureKind::MethodMissing, "the method is not there"),
        REFUSED => (FailureKind::Refused, "the history is refused"),
        _ => (FailureKind::Crashed, "it answered with an error"),
    };
    let message = shown(message, MESSAGE_CHARS);
    Failure::new(kind, format!("{what} (code {code}, \"{message}\")"))
}

fn message(text: &str) -> Result<Object, String> {
    let content = text.trim_matches([' ', '\t', '\r']);
    if content.is_empty() {
        return Err("an empty line on stdout".to_owned());
    }
    match Json::parse_wrapped(text, WRAPPERS) {
        Ok(Json::Object(message)) => Ok(message),
        Ok(Json::Array(_)) => {
            Err("a list on stdout where a message is due: batches are not allowed".to_owned())
        }
        Ok(_) => Err(noise(content)),
        Err(JsonError { offset, problem: JsonProblem::Trailing }) if content.starts_with(['{', '[']) => {
            match text.get(offset..).unwrap_or_default().starts_with(['{', '[']) {
                true => Err(format!("two JSON documents on one line (the second from byte {offset} on)")),
                false => Err(format!("more text behind a message on its line, from byte {offset} on")),
            }
        }
        // What begins like a message may hold a user's content, which is not shown.
        Err(error) if content.starts_with('{') => Err(format!("a line on stdout is {error}")),
        Err(_) => Err(noise(content)),
    }
}

fn noise(content: &str) -> String {
    let shown = shown(content, NOISE_CHARS);
    format!("noise on stdout, a line that is no message (logs belong on stderr): {shown}")
}

fn check_id(found: Option<&Json>, expected: u64) -> Result<(), String> {
    let wrong = match found {
        None => "an answer without an id".to_owned(),
        Some(id) => match id.as_u64() {
            Some(id) if id == expected => return Ok(()),
            Some(id) if id < expected => format!("an answer to nothing: request {id} was answered before"),
            Some(id) => format!("an answer with the wrong id {id}"),
            None => format!("an answer with the wrong id: {}", id.describe()),
        },
    };
    Err(format!("{wrong}; the answer to request {expected} is due"))
}

fn read_error(error: &Json) -> Result<Reply, String> {
    let object =
        error.as_object().ok_or_else(|| format!("error: expected an object, found {}", error.describe()))?;
    let code = match object.get("code") {
        Some(Json::Number(code)) => code.text().parse::<i64>().ok(),
        _ => None,
    };
    let code = code.ok_or("error.code: an integer is required")?;
    let message = match object.get("message") {
        Some(Json::String(message)) => message.clone(),
        None | Some(Json::Null) => String::new(),
        Some(other) => return Err(format!("error.message: expected a string, found {}", other.describe())),
    };
    Ok(Reply::Error { code, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breach(line: &str) -> String {
        read(line.as_bytes(), 5, Method::Project).expect_err("the line is a breach")
    }

    #[test]
    fn an_answer_is_read_with_the_text_of_its_items() {
        let line = r#" {"id":5,"result":{"note":"\"items\":[0]","items":[ {"a":1.0} ]},"jsonrpc":"2.0","error":null} "#;
        match read(line.as_bytes(), 5, Method::Project) {
            Ok(Reply::Result { members, items_text }) => {
                assert_eq!(items_text.as_deref(), Some(r#"[ {"a":1.0} ]"#));
                assert_eq!(members.len(), 2);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_breach_has_a_message_of_its_own() {
        let breaches = [
            ("", "an empty line on stdout"),
            (
                "loading model\u{7} …",
                "noise on stdout, a line that is no message (logs belong on stderr): loading model\\u{7} …",
            ),
            ("42", "noise on stdout, a line that is no message (logs belong on stderr): 42"),
            (
                "{\"jsonrpc\":",
                "a line on stdout is not JSON at byte 11: the text ends in the middle of a value",
            ),
            ("{}{}", "two JSON documents on one line (the second from byte 2 on)"),
            ("{} ok", "more text behind a message on its line, from byte 3 on"),
            ("[]", "a list on stdout where a message is due: batches are not allowed"),
            (
                r#"{"jsonrpc":"2.0","method":"log"}"#,
                "a request of its own on stdout (\"log\"): a subject only answers",
            ),
            (r#"{"id":5,"result":{}}"#, "an answer without \"jsonrpc\":\"2.0\""),
            (r#"{"jsonrpc":"2.0","result":{}}"#, "an answer without an id; the answer to request 5 is due"),
            (
                r#"{"jsonrpc":"2.0","id":6,"result":{}}"#,
                "an answer with the wrong id 6; the answer to request 5 is due",
            ),
            (
                r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
                "an answer to nothing: request 4 was answered before; the answer to request 5 is due",
            ),
            (
                r#"{"jsonrpc":"2.0","id":"5","result":{}}"#,
                "an answer with the wrong id: a string; the answer to request 5 is due",
            ),
            (r#"{"jsonrpc":"2.0","id":5}"#, "an answer with neither a result nor an error"),
            (r#"{"jsonrpc":"2.0","id":5,"result":[]}"#, "result: expected an object, found a list"),
            (r#"{"jsonrpc":"2.0","id":5,"result":null}"#, "result: expected an object, found null"),
            (
                r#"{"jsonrpc":"2.0","id":5,"result":{},"error":{}}"#,
                "an answer with a result and an error at once",
            ),
            (r#"{"jsonrpc":"2.0","id":5,"error":"no"}"#, "error: expected an object, found a string"),
            (r#"{"jsonrpc":"2.0","id":5,"error":{"code":1.5}}"#, "error.code: an integer is required"),
            (
                r#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":[]}}"#,
                "error.message: expected a string, found a list",
            ),
        ];
        for (line, expected) in breaches {
            assert_eq!(breach(line), expected);
        }
        let invalid = read(b"{\"a\xff\"}", 5, Method::Reset).expect_err("the line is a breach");
        assert_eq!(invalid, "a line on stdout is not UTF-8 at byte 3");
    }

    #[test]
    fn an_error_is_told_by_its_code() {
        for (code, kind) in [
            (-32601, FailureKind::MethodMissing),
            (-32001, FailureKind::Refused),
            (-32603, FailureKind::Crashed),
            (1, FailureKind::Crashed),
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":5,"error":{{"code":{code},"message":"a\u001b"}}}}"#);
            match read(line.as_bytes(), 5, Method::Project) {
                Ok(Reply::Error { code, message }) => {
                    let failure = failure(code, &message);
                    assert_eq!(failure.kind, kind);
                    assert!(failure.message.ends_with("\"a\\u{1b}\")"), "{failure}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn an_error_without_an_id_belongs_to_the_request_that_is_due() {
        let line = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#;
        assert!(matches!(read(line, 5, Method::Reset), Ok(Reply::Error { code: -32700, .. })));
    }
}
