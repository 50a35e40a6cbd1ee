//! Serves a subject of this process over stdin and stdout, by `docs/protocol.md`: the helper for projectors in Rust.

use super::protocol::{METHOD_MISSING, Method, PROTOCOL, REFUSED};
use super::{Capabilities, Profile, Subject};
use crate::case::{Failure, FailureKind, Items};
use crate::history::ToolOutputLimit;
use crate::item::{Modalities, ResponseItem};
use crate::json::{Json, Numbers, ObjectWriter, write_list, write_string};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;

/// Lists and objects around an item in a request: the message, its params, the list.
const WRAPPERS: u8 = 3;

/// The longest request that is read, in bytes.
const LONGEST_LINE: u64 = 1 << 30;

/// Codes of JSON-RPC for a line that is no request, for params that cannot be read, and for a failure.
const NO_JSON: i64 = -32700;
const NO_REQUEST: i64 = -32600;
const BAD_PARAMS: i64 = -32602;
const FAILED: i64 = -32000;

/// Answers requests until `shutdown` or the end of the input.
///
/// Whether the subject is asked with a history or keeps its own is told by its [`Capabilities::stateful`].
///
/// ```
/// # use callpair::{item::Modalities, subject::{Capabilities, Stateless, serve}};
/// let mut subject = Stateless::new(Capabilities::stateless("mine"), |history, _| history.clone());
/// let request = r#"{"jsonrpc":"2.0","id":1,"method":"project","params":{"history":[],"modalities":["text"]}}"#;
/// let mut answer = Vec::new();
/// serve(&mut subject, request.as_bytes(), &mut answer)?;
/// assert_eq!(answer, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"items\":[],\"history_after\":[]}}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Where the input cannot be read or the output not be written; a request that is wrong gets an error for an answer.
pub fn serve(subject: &mut dyn Subject, input: impl Read, mut output: impl Write) -> io::Result<()> {
    let capabilities = subject.capabilities();
    let mut input = BufReader::with_capacity(1 << 16, input);
    let (mut line, mut answers) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return output.flush();
        }
        if read as u64 == LONGEST_LINE {
            let limit = format!("a request is longer than {LONGEST_LINE} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, limit));
        }
        let last = answer_line(subject, &capabilities, &line, &mut answers);
        // What is pipelined is answered in one go.
        if last || !input.buffer().contains(&b'\n') {
            output.write_all(&answers)?;
            output.flush()?;
            answers.clear();
        }
        if last {
            return Ok(());
        }
    }
}

/// An error of JSON-RPC: its code and message.
type RpcError = (i64, String);

/// Writes the answer to a line; `true` where it was the last.
fn answer_line(
    subject: &mut dyn Subject,
    capabilities: &Capabilities,
    line: &[u8],
    out: &mut Vec<u8>,
) -> bool {
    let request = std::str::from_utf8(line).ok().and_then(|text| Json::parse_wrapped(text, WRAPPERS).ok());
    let id = request.as_ref().and_then(|request| request.get("id")).cloned().unwrap_or_default();
    let mut result = Vec::new();
    let (method, answered) = match &request {
        None => (None, Err((NO_JSON, "the line is not JSON".to_owned()))),
        Some(request) => answer(subject, capabilities, request, &mut result),
    };
    let mut writer = ObjectWriter::open(out);
    writer.string("jsonrpc", "2.0");
    id.write(writer.key("id"), Numbers::AsWritten);
    match answered {
        Ok(()) => writer.key("result").extend_from_slice(&result),
        Err((code, message)) => {
            let mut error = ObjectWriter::open(writer.key("error"));
            error.key("code").extend_from_slice(code.to_string().as_bytes());
            error.string("message", &message);
            error.close();
        }
    }
    writer.close();
    out.push(b'\n');
    method == Some(Method::Shutdown)
}

fn answer(
    subject: &mut dyn Subject,
    capabilities: &Capabilities,
    request: &Json,
    out: &mut Vec<u8>,
) -> (Option<Method>, Result<(), RpcError>) {
    let Some(name) = request.get("method").and_then(Json::as_str) else {
        return (None, Err((NO_REQUEST, "a request has a method".to_owned())));
    };
    let Some(method) = Method::of_name(name) else {
        return (None, Err((METHOD_MISSING, format!("no such method: {name:?}"))));
    };
    let none = Json::default();
    let params = request.get("params").unwrap_or(&none);
    let mut writer = ObjectWriter::open(out);
    let answered = match method {
        Method::Initialize => {
            write_capabilities(capabilities, &mut writer);
            Ok(())
        }
        Method::Shutdown => Ok(()),
        Method::Project => project(subject, capabilities.stateful, params, &mut writer),
        Method::Snapshot => {
            subject.snapshot().map(|items| write_items(&items, writer.key("items"))).map_err(rpc)
        }
        Method::Reset => subject.reset().map_err(rpc),
        Method::Record => items(params, "items").and_then(|items| subject.record(&items).map_err(rpc)),
        Method::Replace => items(params, "items").and_then(|items| subject.replace(&items).map_err(rpc)),
        Method::Resume => subject.resume().map_err(rpc),
        Method::Rollback => turns(params).and_then(|turns| subject.rollback(turns).map_err(rpc)),
        Method::Fork => subject.fork().map_err(rpc),
    };
    writer.close();
    (Some(method), answered)
}

fn project(
    subject: &mut dyn Subject,
    stateful: bool,
    params: &Json,
    writer: &mut ObjectWriter<'_>,
) -> Result<(), RpcError> {
    let modalities = modalities(params)?;
    if !stateful {
        let history = items(params, "history")?;
        subject.replace(&history).map_err(rpc)?;
    }
    let projected = subject.project(modalities).map_err(rpc)?;
    write_items(&projected.items, writer.key("items"));
    let after = match projected.history_after {
        None if !stateful => Some(subject.snapshot().map_err(rpc)?),
        told => told,
    };
    if let Some(after) = after {
        write_items(&after, writer.key("history_after"));
    }
    Ok(())
}

fn rpc(failure: Failure) -> RpcError {
    let code = match failure.kind {
        FailureKind::Refused => REFUSED,
        FailureKind::MethodMissing => METHOD_MISSING,
        FailureKind::Crashed | FailureKind::Hung | FailureKind::Protocol | FailureKind::Differs => FAILED,
    };
    (code, failure.message)
}

fn items(params: &Json, key: &str) -> Result<Items, RpcError> {
    let list = params.get(key).and_then(Json::as_array);
    let list = list.ok_or_else(|| (BAD_PARAMS, format!("{key}: a list of items is required")))?;
    let load = |(index, item): (usize, &Json)| match ResponseItem::load(item.clone()) {
        Ok(item) => Ok(Arc::new(item)),
        Err(error) => Err((BAD_PARAMS, format!("{key}[{index}]: {error}"))),
    };
    list.iter().enumerate().map(load).collect()
}

fn modalities(params: &Json) -> Result<Modalities, RpcError> {
    let names = params.get("modalities").and_then(Json::as_array).unwrap_or_default();
    let names: Vec<&str> = names.iter().filter_map(Json::as_str).collect();
    Modalities::from_names(names).map_err(|error| (BAD_PARAMS, format!("modalities: {error}")))
}

fn turns(params: &Json) -> Result<u32, RpcError> {
    let turns = params.get("turns").and_then(Json::as_u64).and_then(|turns| u32::try_from(turns).ok());
    turns.ok_or_else(|| (BAD_PARAMS, "turns: an integer from 0 to 4294967295 is required".to_owned()))
}

fn write_capabilities(capabilities: &Capabilities, writer: &mut ObjectWriter<'_>) {
    let Capabilities { name, version, stateful, resume, rollback, fork, modalities, kinds, .. } =
        capabilities;
    let flag = |flag: bool| if flag { "true" } else { "false" };
    writer.key("protocol").extend_from_slice(PROTOCOL.to_string().as_bytes());
    writer.string("name", name);
    writer.string("version", version);
    writer.key("stateful").extend_from_slice(flag(*stateful).as_bytes());
    writer.key("resume").extend_from_slice(flag(*resume).as_bytes());
    let takes_images = modalities.iter().any(|modalities| modalities.accepts_images());
    let modalities = if takes_images { Modalities::TextAndImage } else { Modalities::Text };
    write_list(writer.key("modalities"), modalities.names(), |name, out| write_string(name, out));
    let profile = match capabilities.profile {
        Profile::Codex => "codex",
        Profile::Responses => "responses",
    };
    writer.string("profile", profile);
    let steps: Vec<&str> = [("rollback", *rollback), ("fork", *fork)]
        .into_iter()
        .filter_map(|(step, has)| has.then_some(step))
        .collect();
    write_list(writer.key("steps"), &steps, |step, out| write_string(step, out));
    if let Some(kinds) = kinds {
        write_list(writer.key("kinds"), kinds, |kind, out| write_string(kind.as_str(), out));
    }
    if capabilities.exact_numbers {
        writer.string("numbers", "exact");
    }
    if let Some(limit) = capabilities.truncation {
        let (mode, limit) = match limit {
            ToolOutputLimit::Bytes(limit) => ("bytes", limit),
            ToolOutputLimit::Tokens(limit) => ("tokens", limit),
        };
        let mut truncation = ObjectWriter::open(writer.key("truncation"));
        truncation.string("mode", mode);
        truncation.key("limit").extend_from_slice(limit.to_string().as_bytes());
        truncation.close();
    }
}

fn write_items(items: &[Arc<ResponseItem>], out: &mut Vec<u8>) {
    write_list(out, items, |item, out| item.write_recorded(out));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Reference, Stateless};

    fn answers(subject: &mut dyn Subject, requests: &[&str]) -> Vec<String> {
        let mut out = Vec::new();
        serve(subject, requests.join("\n").as_bytes(), &mut out).expect("memory can be read and written");
        String::from_utf8(out).expect("answers are text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_capabilities_of_the_reference_are_told() {
        let told = answers(&mut Reference::new(), &[r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#]);
        let version = env!("CARGO_PKG_VERSION");
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocol":1,"name":"reference","version":"{version}","stateful":true,"resume":true,"modalities":["text","image"],"profile":"codex","steps":["rollback","fork"],"numbers":"exact","truncation":{{"mode":"bytes","limit":100}}}}}}"#
        );
        assert_eq!(told, [expected]);
    }

    #[test]
    fn a_live_history_is_kept_from_request_to_request() {
        let call = r#"{"type":"custom_tool_call","call_id":"a","name":"n","input":""}"#;
        let record = format!(r#"{{"id":1,"method":"record","params":{{"items":[{call}]}}}}"#);
        let requests = [
            record.as_str(),
            r#"{"id":2,"method":"project","params":{"modalities":["text"]}}"#,
            r#"{"id":3,"method":"resume"}"#,
            r#"{"id":4,"method":"snapshot"}"#,
            r#"{"id":5,"method":"reset"}"#,
            r#"{"id":6,"method":"snapshot"}"#,
            r#"{"id":7,"method":"shutdown"}"#,
            r#"{"id":8,"method":"reset"}"#,
        ];
        let output = r#"{"type":"custom_tool_call_output","call_id":"a","output":"aborted"}"#;
        let expected = [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"items":[{call},{output}]}}}}"#),
            r#"{"jsonrpc":"2.0","id":3,"result":{}}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0","id":4,"result":{{"items":[{call}]}}}}"#),
            r#"{"jsonrpc":"2.0","id":5,"result":{}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":6,"result":{"items":[]}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.to_owned(),
        ];
        assert_eq!(answers(&mut Reference::new(), &requests), expected);
    }

    #[test]
    fn what_a_function_leaves_in_its_argument_is_told() {
        let mut subject = Stateless::new(Capabilities::stateless("s"), |history, _| std::mem::take(history));
        let project =
            r#"{"id":1,"method":"project","params":{"history":[{"type":"x"}],"modalities":["text"]}}"#;
        let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"items":[{"type":"x"}],"history_after":[]}}"#;
        assert_eq!(answers(&mut subject, &[project]), [expected]);
    }

    #[test]
    fn a_wrong_request_gets_an_error_and_the_next_one_its_answer() {
        let cases = [
            ("nonsense", r#""id":null,"error":{"code":-32700,"message":"the line is not JSON"}"#),
            (r#"{"id":2}"#, r#""id":2,"error":{"code":-32600,"message":"a request has a method"}"#),
            (
                r#"{"id":3,"method":"dance"}"#,
                r#""id":3,"error":{"code":-32601,"message":"no such method: \"dance\""}"#,
            ),
            (
                r#"{"id":4,"method":"record","params":{"items":[{"type":"message"}]}}"#,
                r#""id":4,"error":{"code":-32602,"message":"items[0]: role: is required and missing"}"#,
            ),
            (r#"{"id":5,"method":"resume"}"#, r#""id":5,"error":{"code":-32601,"message":"resume"}"#),
            (r#"{"id":6,"method":"reset"}"#, r#""id":6,"result":{}"#),
        ];
        let mut subject = Stateless::new(Capabilities::stateless("s"), |history, _| history.clone());
        let told = answers(&mut subject, &cases.map(|(request, _)| request));
        assert_eq!(told, cases.map(|(_, answer)| format!(r#"{{"jsonrpc":"2.0",{answer}}}"#)));
    }
}
