//! A model that says what it was told to say, in any protocol.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use toolwire::{Options, Pipe, Protocol, translate};

/// A model that gives its answers in order, and keeps the requests.
pub(crate) struct ScriptedModel {
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<Value>>>,
    _server: JoinSet<()>,
}

impl ScriptedModel {
    /// Starts a model with answers that are written in Chat.
    pub(crate) async fn start(protocol: Protocol, answers: Vec<Value>) -> Self {
        Self::paced(protocol, answers, Duration::ZERO).await
    }

    /// The same, and the last event of a stream is late.
    pub(crate) async fn paced(protocol: Protocol, answers: Vec<Value>, late: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let mut server = JoinSet::new();
        let seen = Arc::clone(&requests);
        server.spawn(async move {
            let mut answers = answers.into_iter();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                let streamed = request["stream"] == true;
                seen.lock().unwrap().push(request);
                let answer = answers.next().expect("a request that nobody expected");
                if let Some(status) = answer["status"].as_u64() {
                    let body = answer["body"].to_string();
                    send_head(&mut stream, status, "application/json", body.len()).await;
                    stream.write_all(body.as_bytes()).await.unwrap();
                    continue;
                }
                respond(&mut stream, protocol, &answer, streamed, late).await;
            }
        });
        Self { address, requests, _server: server }
    }

    /// The requests that have come.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

async fn respond(
    stream: &mut TcpStream,
    protocol: Protocol,
    answer: &Value,
    streamed: bool,
    late: Duration,
) {
    let answer = answer.to_string();
    if !streamed {
        let body = match protocol {
            Protocol::Chat => answer.into_bytes(),
            other @ (Protocol::Responses | Protocol::Messages | _) => {
                let options = Options::new();
                translate::response(Protocol::Chat, other, answer.as_bytes(), &options)
                    .unwrap()
                    .body
            }
        };
        send_head(stream, 200, "application/json", body.len()).await;
        stream.write_all(&body).await.unwrap();
        return;
    }
    let mut events = Vec::new();
    let mut pipe = Pipe::new(Protocol::Chat, protocol, &Options::new()).unwrap();
    pipe.whole(answer.as_bytes(), &mut events);
    send_head(stream, 200, "text/event-stream", events.len()).await;
    let text = String::from_utf8(events).unwrap();
    let mut events = text.split_inclusive("\n\n").peekable();
    while let Some(event) = events.next() {
        if events.peek().is_none() {
            tokio::time::sleep(late).await;
        }
        stream.write_all(event.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
    }
}

async fn send_head(stream: &mut TcpStream, status: u64, kind: &str, length: usize) {
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
}

async fn read_request(stream: &mut TcpStream) -> Value {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let length = stream.read(&mut chunk).await.unwrap();
        assert!(length > 0, "the request is not whole");
        bytes.extend_from_slice(&chunk[..length]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&bytes[..end]).unwrap().to_lowercase();
        let (_, length) = head.split_once("content-length: ").unwrap();
        let length: usize = length.lines().next().unwrap().parse().unwrap();
        if bytes.len() >= end + 4 + length {
            return serde_json::from_slice(&bytes[end + 4..]).unwrap();
        }
    }
}
