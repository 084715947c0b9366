//! A scripted upstream: HTTP/1.1 by hand, so that a test controls every byte and
//! every pause.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;
use toolwire::Protocol;

/// What a server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Does nothing for a while.
    Wait(Duration),
    /// Waits until the test opens the gate.
    Until(Gate),
    /// Waits until the peer disconnects.
    Hang,
    /// Closes the connection.
    Close,
    /// Sends the same bytes until the peer disconnects.
    Flood(Vec<u8>),
}

/// What a server waits for. Once it is open it stays open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(watch::Sender<bool>);

impl Gate {
    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }

    async fn opened(&self) {
        self.0.subscribe().wait_for(|is_open| *is_open).await.unwrap();
    }
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl ReceivedRequest {
    /// A header, if it was there.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A scripted server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) protocol: Protocol,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    left: watch::Receiver<Vec<Instant>>,
}

type Script = dyn Fn(usize, &ReceivedRequest) -> Vec<Step> + Send + Sync;

impl Server {
    /// A server that does the same with every request.
    pub(crate) async fn new(protocol: Protocol, steps: Vec<Step>) -> Self {
        Self::scripted(protocol, move |_, _| steps.clone()).await
    }

    /// A server whose steps depend on the number of the request, from 0, and on
    /// the request.
    pub(crate) async fn scripted(
        protocol: Protocol,
        script: impl Fn(usize, &ReceivedRequest) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (sender, left) = watch::channel(Vec::new());
        let script: Arc<Script> = Arc::new(script);
        let all = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(
                    stream,
                    Arc::clone(&script),
                    Arc::clone(&all),
                    sender.clone(),
                ));
            }
        });
        Self { address, protocol, seen, left }
    }

    /// A server that runs elsewhere.
    pub(crate) fn nowhere(protocol: Protocol, address: SocketAddr) -> Self {
        let (_, left) = watch::channel(Vec::new());
        Self { address, protocol, seen: Arc::default(), left }
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }

    /// How many requests there were so far.
    pub(crate) fn seen_count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// The only request.
    pub(crate) fn only(&self) -> ReceivedRequest {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }

    /// Waits until that many requests have arrived.
    pub(crate) async fn until_seen(&self, count: usize) {
        let by = Instant::now() + Duration::from_secs(5);
        while self.seen_count() < count {
            assert!(Instant::now() < by, "no request came");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// When the peer disconnected in the middle of a response, for the nth time.
    pub(crate) async fn left(&self, nth: usize) -> Instant {
        self.left_within(nth, Duration::from_secs(5)).await
    }

    /// The same, if it may take longer.
    pub(crate) async fn left_within(&self, nth: usize, time: Duration) -> Instant {
        let mut left = self.left.clone();
        let wait = left.wait_for(|left| left.len() >= nth);
        tokio::time::timeout(time, wait).await.expect("the peer stays").unwrap()[nth - 1]
    }

    /// How often the peer disconnected in the middle of a response.
    pub(crate) fn times_left(&self) -> usize {
        self.left.borrow().len()
    }
}

async fn connection(
    mut stream: TcpStream,
    script: Arc<Script>,
    all: Arc<Mutex<Vec<ReceivedRequest>>>,
    left: watch::Sender<Vec<Instant>>,
) {
    let mut buffer = Vec::new();
    while let Some(seen) = read(&mut stream, &mut buffer).await {
        let number = {
            let mut all = all.lock().unwrap();
            all.push(seen.clone());
            all.len() - 1
        };
        for step in script(number, &seen) {
            match step {
                Step::Send(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        left.send_modify(|left| left.push(Instant::now()));
                        return;
                    }
                }
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::Until(gate) => gate.opened().await,
                Step::Hang => {
                    let mut byte = [0];
                    while !matches!(stream.read(&mut byte).await, Ok(0) | Err(_)) {}
                    left.send_modify(|left| left.push(Instant::now()));
                    return;
                }
                Step::Close => return,
                Step::Flood(bytes) => {
                    while stream.write_all(&bytes).await.is_ok() {}
                    left.send_modify(|left| left.push(Instant::now()));
                    return;
                }
            }
        }
    }
}

async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<ReceivedRequest> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(buffer[..end].to_vec()).unwrap();
            let path = head.split(' ').nth(1).unwrap().to_owned();
            let mut seen = ReceivedRequest { path, head, body: String::new() };
            let length: usize =
                seen.header("content-length").map_or(0, |length| length.parse().unwrap());
            if buffer.len() >= end + 4 + length {
                seen.body = String::from_utf8(buffer[end + 4..end + 4 + length].to_vec()).unwrap();
                buffer.drain(..end + 4 + length);
                return Some(seen);
            }
        }
        let mut piece = [0; 16 * 1024];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => buffer.extend_from_slice(&piece[..count]),
        }
    }
}

/// A whole response.
pub(crate) fn whole(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref();
    let mut bytes = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    vec![Step::Send(bytes)]
}

/// The head of a stream.
pub(crate) fn stream_head(headers: &str) -> Step {
    Step::Send(
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{headers}transfer-encoding: chunked\r\n\r\n"
        )
        .into_bytes(),
    )
}

/// A chunk of a stream.
pub(crate) fn chunk(bytes: impl AsRef<[u8]>) -> Step {
    let bytes = bytes.as_ref();
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    Step::Send(chunk)
}

/// The end of a stream.
pub(crate) fn stream_end() -> Step {
    Step::Send(b"0\r\n\r\n".to_vec())
}

/// A whole stream, one chunk for each event.
pub(crate) fn stream(events: &[String]) -> Vec<Step> {
    let mut steps = vec![stream_head("")];
    steps.extend(events.iter().map(chunk));
    steps.push(stream_end());
    steps
}
