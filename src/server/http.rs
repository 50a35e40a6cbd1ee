//! As much of HTTP/1.1 as a client on loopback needs: a request with a length, a response with a length, keep-alive.
//!
//! Not a general parser: chunked and compressed bodies are refused by name, so that whoever configures the client knows
//! what to switch off.

use std::io::{self, BufRead, Read, Write};

/// The longest request line and headers together, in bytes.
const MAX_HEAD: u64 = 64 << 10;

/// The longest body, in bytes. A history with its pictures comes to some tens of megabytes.
const MAX_BODY: u64 = 256 << 20;

/// A whole request.
pub(super) struct Request {
    pub(super) method: String,
    /// As it was sent, with its query.
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// What came on a connection.
pub(super) enum Received {
    Request(Request),
    /// Nothing that can be answered as asked; the connection is closed after this.
    Refused(Response),
    Closed,
}

/// A response to be written whole.
pub(super) struct Response {
    status: u16,
    content_type: &'static str,
    body: Vec<u8>,
}

impl Response {
    pub(super) fn json(status: u16, body: &str) -> Response {
        Response { status, content_type: "application/json", body: body.as_bytes().to_vec() }
    }

    /// `message` is a text of ours without quotes.
    pub(super) fn error(status: u16, message: &'static str) -> Response {
        Response::json(status, &format!(r#"{{"error":{{"message":"{message}"}}}}"#))
    }

    pub(super) fn event_stream(body: Vec<u8>) -> Response {
        Response { status: 200, content_type: "text/event-stream", body }
    }
}

/// Reads one request.
///
/// # Errors
/// Where the connection breaks in the middle of one.
pub(super) fn read_request(reader: &mut impl BufRead) -> io::Result<Received> {
    let mut head = reader.by_ref().take(MAX_HEAD);
    let Some(request_line) = read_line(&mut head)? else { return Ok(Received::Closed) };
    let mut words = request_line.split(' ');
    let (Some(method), Some(path), Some("HTTP/1.1" | "HTTP/1.0")) =
        (words.next(), words.next(), words.next())
    else {
        return Ok(Received::Refused(Response::error(400, "this is no HTTP/1.1 request")));
    };
    let mut length = 0;
    loop {
        let Some(line) = read_line(&mut head)? else {
            return Ok(Received::Refused(Response::error(431, "the headers are cut or over 64 KiB")));
        };
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match (name.to_ascii_lowercase().as_str(), value.trim()) {
            ("content-length", value) => match value.parse::<u64>() {
                Ok(value) if value <= MAX_BODY => length = value,
                _ => return Ok(Received::Refused(Response::error(413, "the body is over 256 MiB"))),
            },
            ("transfer-encoding", _) => {
                return Ok(Received::Refused(Response::error(411, "send a body with its length")));
            }
            ("content-encoding", value) if !value.eq_ignore_ascii_case("identity") => {
                return Ok(Received::Refused(Response::error(415, "send a body without compression")));
            }
            _ => {}
        }
    }
    let mut body = Vec::new();
    if reader.by_ref().take(length).read_to_end(&mut body)? as u64 != length {
        return Ok(Received::Closed);
    }
    Ok(Received::Request(Request { method: method.to_owned(), path: path.to_owned(), body }))
}

/// A line without its end; `None` where the input ended before the line did.
fn read_line(head: &mut io::Take<impl BufRead>) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    head.read_until(b'\n', &mut line)?;
    Ok(line.strip_suffix(b"\n").map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        String::from_utf8_lossy(line).into_owned()
    }))
}

/// Writes a response in one piece.
pub(super) fn write(writer: &mut impl Write, response: &Response) -> io::Result<()> {
    let reason = if response.status == 200 { "OK" } else { "Refused" };
    let mut bytes = format!(
        "HTTP/1.1 {} {reason}\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
        response.status,
        response.content_type,
        response.body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(&response.body);
    writer.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &str) -> Option<u16> {
        match read_request(&mut request.as_bytes()).expect("memory can be read") {
            Received::Request(_) => Some(200),
            Received::Refused(response) => Some(response.status),
            Received::Closed => None,
        }
    }

    #[test]
    fn a_request_is_read_with_its_body_and_no_further() {
        let mut input = &b"POST /a HTTP/1.1\r\nCONTENT-LENGTH:  3\r\n\r\nabcGET"[..];
        let Ok(Received::Request(request)) = read_request(&mut input) else { panic!("it is a request") };
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/a"));
        assert_eq!((request.body.as_slice(), input), (&b"abc"[..], &b"GET"[..]));
    }

    #[test]
    fn what_cannot_be_served_is_refused_with_its_own_status() {
        assert_eq!(status("noise\r\n\r\n"), Some(400));
        assert_eq!(status("GET / HTTP/2\r\n\r\n"), Some(400));
        assert_eq!(status("GET / HTTP/1.1\r\nhost: h"), Some(431));
        assert_eq!(status(&format!("GET / HTTP/1.1\r\na: {}\r\n\r\n", "x".repeat(70_000))), Some(431));
        assert_eq!(status("POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n"), Some(413));
        assert_eq!(status("POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n"), Some(413));
        assert_eq!(status("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"), Some(411));
        assert_eq!(status("POST / HTTP/1.1\r\ncontent-encoding: zstd\r\n\r\n"), Some(415));
    }

    #[test]
    fn an_end_in_the_middle_of_a_request_is_a_closed_connection() {
        assert_eq!(status(""), None);
        assert_eq!(status("POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nab"), None);
    }
}
