//! A model server on loopback, for subjects that are whole programs and want a Responses API to talk to.
//!
//! It accepts `POST …/responses` under any base path, tells sessions apart by `prompt_cache_key`, keeps the bodies of
//! those it was told to [`watch`](ModelServer::watch), and answers each with a stream that completes at once. It is no model
//! and no general HTTP server: what else a program asks for is answered harmlessly, and nothing beyond 127.0.0.1 is
//! served or spoken to.

mod http;
mod stream;

use crate::json::Json;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// How many connections are served at a time; further ones are closed at once.
const MAX_CONNECTIONS: usize = 256;

/// How many bodies are kept of a session until they are taken. Further ones are answered and counted, not kept.
const MAX_KEPT: usize = 16;

/// What a session's model says: the items of its answer, made of the body of the request.
type Script = Box<dyn FnMut(&Json) -> Vec<Json> + Send>;

/// What a watched session asked.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The first bodies, in the order of their coming.
    pub bodies: Vec<Json>,
    /// How many requests came in all.
    pub requests: usize,
}

struct Session {
    asked: Asked,
    script: Script,
}

#[derive(Default)]
struct Shared {
    closing: AtomicBool,
    sessions: Mutex<HashMap<String, Session>>,
    /// One handle of each open connection, by a number of our own, so that they can be closed.
    connections: Mutex<HashMap<u64, TcpStream>>,
}

/// The server. It runs until it is dropped; then every connection is closed.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts serving on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// Where no port can be had or no thread be started.
    pub fn start() -> io::Result<ModelServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let ours = Arc::clone(&shared);
        let accepting =
            thread::Builder::new().name("model-server".into()).spawn(move || accept(&listener, &ours))?;
        Ok(ModelServer { address, shared, accepting: Some(accepting) })
    }

    /// What a provider is configured with: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Keeps, from now on, what the session `key` asks, and answers it with one short message.
    pub fn watch(&self, key: &str) {
        self.watch_scripted(key, |_| vec![stream::message("ok")]);
    }

    /// Keeps, from now on, what the session `key` asks, and answers with the items that `script` makes of a request's body.
    /// The script must not call the server.
    pub fn watch_scripted(&self, key: &str, script: impl FnMut(&Json) -> Vec<Json> + Send + 'static) {
        let session = Session { asked: Asked::default(), script: Box::new(script) };
        lock(&self.shared.sessions).insert(key.to_owned(), session);
    }

    /// Ends the watch, and gives what the session asked meanwhile. Empty where it was not watched.
    pub fn take(&self, key: &str) -> Asked {
        lock(&self.shared.sessions).remove(key).map(|session| session.asked).unwrap_or_default()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // Wakes the thread that waits in `accept`. Where that fails, there is no listener to wake.
        let woken = TcpStream::connect(self.address).is_ok();
        for connection in lock(&self.shared.connections).values() {
            // It may be closed already.
            let _ = connection.shutdown(Shutdown::Both);
        }
        if let (true, Some(accepting)) = (woken, self.accepting.take()) {
            let _ = accepting.join();
        }
    }
}

impl fmt::Debug for ModelServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A script that panicked leaves the map whole: nothing is half done under these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for (number, connection) in (0_u64..).zip(listener.incoming()) {
        if shared.closing.load(Ordering::SeqCst) {
            return;
        }
        let Ok(connection) = connection else { continue };
        let Ok(handle) = connection.try_clone() else { continue };
        {
            let mut connections = lock(&shared.connections);
            if connections.len() >= MAX_CONNECTIONS {
                continue;
            }
            connections.insert(number, handle);
        }
        let ours = Arc::clone(shared);
        let started = thread::Builder::new().name("model-connection".into()).spawn(move || {
            // The other side went away: there is nobody left to tell.
            let _ = serve(&connection, &ours);
            lock(&ours.connections).remove(&number);
        });
        if started.is_err() {
            lock(&shared.connections).remove(&number);
        }
    }
}

/// Serves one connection until the other side closes it, or says something that is no HTTP.
fn serve(connection: &TcpStream, shared: &Shared) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection);
    let mut writer = connection;
    while !shared.closing.load(Ordering::SeqCst) {
        match http::read_request(&mut reader)? {
            http::Received::Request(request) => http::write(&mut writer, &answer(&request, shared))?,
            http::Received::Refused(response) => return http::write(&mut writer, &response),
            http::Received::Closed => return Ok(()),
        }
    }
    Ok(())
}

fn answer(request: &http::Request, shared: &Shared) -> http::Response {
    let path = request.path.split(['?', '#']).next().unwrap_or_default();
    match request.method.as_str() {
        "POST" if path.ends_with("/responses") => answer_model(&request.body, shared),
        "GET" if path.ends_with("/models") => http::Response::json(200, r#"{"models":[],"data":[]}"#),
        _ => http::Response::error(404, "this server answers POST …/responses and GET …/models only"),
    }
}

fn answer_model(body: &[u8], shared: &Shared) -> http::Response {
    // The body and its `input` stand around items that may be as deep as a line of a rollout.
    let parsed = std::str::from_utf8(body).ok().and_then(|text| Json::parse_wrapped(text, 2).ok());
    let Some(body) = parsed else {
        return http::Response::error(400, "the body is no JSON");
    };
    let key = body.get("prompt_cache_key").and_then(Json::as_str).unwrap_or_default();
    let mut sessions = lock(&shared.sessions);
    let items = match sessions.get_mut(key) {
        Some(session) => {
            let items = (session.script)(&body);
            session.asked.requests += 1;
            if session.asked.bodies.len() < MAX_KEPT {
                session.asked.bodies.push(body);
            }
            items
        }
        None => vec![stream::message("ok")],
    };
    drop(sessions);
    http::Response::event_stream(stream::completed(&items))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    fn exchange(connection: &mut TcpStream, request: &str) -> String {
        connection.write_all(request.as_bytes()).expect("the server reads");
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            connection.read_exact(&mut byte).expect("the server answers");
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("a head is text");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.expect("a length").parse().expect("a number")];
        connection.read_exact(&mut body).expect("the body follows");
        head + &String::from_utf8(body).expect("a body is text")
    }

    fn post(path: &str, body: &str) -> String {
        format!("POST {path} HTTP/1.1\r\nhost: h\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn sessions_on_one_connection_are_told_apart_by_their_key() {
        let server = ModelServer::start().expect("a port is free");
        let mut connection = TcpStream::connect(server.address).expect("the server listens");
        server.watch("a");
        server.watch_scripted("b", |body| vec![body.get("say").cloned().unwrap_or_default()]);
        exchange(&mut connection, &post("/v1/responses", r#"{"prompt_cache_key":"a","input":[1]}"#));
        let said = exchange(
            &mut connection,
            &post("/x/responses?q", r#"{"prompt_cache_key":"b","say":{"k":1.50}}"#),
        );
        assert!(said.contains(r#""item":{"k":1.50}"#), "{said}");
        let other = exchange(&mut connection, &post("/responses", r#"{"prompt_cache_key":"c"}"#));
        assert!(other.contains("event: response.completed"), "{other}");
        let asked = server.take("a");
        assert_eq!(asked.requests, 1);
        assert_eq!(asked.bodies[0].get("input").map(ToString::to_string).as_deref(), Some("[1]"));
        assert_eq!(server.take("a").requests, 0, "what was taken is gone");
        assert_eq!(server.take("c").requests, 0, "nobody watched it");
    }

    #[test]
    fn what_else_is_asked_does_no_harm() {
        let server = ModelServer::start().expect("a port is free");
        let mut connection = TcpStream::connect(server.address).expect("the server listens");
        let models = exchange(&mut connection, "GET /v1/models?client_version=1 HTTP/1.1\r\n\r\n");
        assert!(models.starts_with("HTTP/1.1 200 ") && models.ends_with("]}"), "{models}");
        let other = exchange(&mut connection, &post("/v1/elsewhere", "{}"));
        assert!(other.starts_with("HTTP/1.1 404 "), "{other}");
        let broken = exchange(&mut connection, &post("/v1/responses", "{"));
        assert!(broken.starts_with("HTTP/1.1 400 "), "{broken}");
    }

    #[test]
    fn only_the_first_bodies_are_kept() {
        let server = ModelServer::start().expect("a port is free");
        let mut connection = TcpStream::connect(server.address).expect("the server listens");
        server.watch("a");
        for _ in 0..MAX_KEPT + 3 {
            exchange(&mut connection, &post("/v1/responses", r#"{"prompt_cache_key":"a"}"#));
        }
        let asked = server.take("a");
        assert_eq!((asked.bodies.len(), asked.requests), (MAX_KEPT, MAX_KEPT + 3));
    }

    #[test]
    fn a_dropped_server_closes_its_connections() {
        let server = ModelServer::start().expect("a port is free");
        let mut connection = TcpStream::connect(server.address).expect("the server listens");
        exchange(&mut connection, "GET /models HTTP/1.1\r\n\r\n");
        drop(server);
        let mut rest = Vec::new();
        assert_eq!(connection.read_to_end(&mut rest).unwrap_or_default(), 0);
    }
}
