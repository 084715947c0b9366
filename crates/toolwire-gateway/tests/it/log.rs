//! The log line of each request.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolwire::Protocol;
use toolwire_gateway::config::{Config, LogFormat, Secret};
use toolwire_gateway::{Gateway, Setup, serve};

use crate::upstream::{Server, Step, chunk, stream, stream_head, whole};
use crate::{at, client, config, fixtures};

#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// Everything so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    pub(crate) async fn wait(&self, count: usize) -> Vec<String> {
        for _ in 0..500 {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            if lines.len() >= count {
                assert_eq!(lines.len(), count, "{lines:?}");
                return lines;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("no {count} lines in {:?}", String::from_utf8(self.0.lock().unwrap().clone()));
    }
}

pub(crate) async fn logging(mut config: Config, format: LogFormat) -> (Gateway, Lines) {
    let lines = Lines::default();
    config.log = format;
    let setup = Setup { source: None, log: Box::new(lines.clone()) };
    (serve(config, setup).await.unwrap(), lines)
}

#[tokio::test]
async fn in_json() {
    for streams in [false, true] {
        let from = Protocol::Messages;
        let steps = if streams {
            stream(&fixtures::events(from))
        } else {
            whole(200, "", fixtures::answer(from))
        };
        let server = Server::new(from, steps).await;
        let (gateway, lines) = logging(config(vec![at(&server)]), LogFormat::Json).await;
        let question =
            fixtures::question(Protocol::Chat, streams).replacen('{', r#"{"seed":7,"#, 1);
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        let line: serde_json::Value = serde_json::from_str(&lines.wait(1).await[0]).unwrap();
        assert_eq!(line["id"], got.header("x-request-id").unwrap());
        assert_eq!(line["status"], 200);
        assert_eq!(line["ending"], "answered");
        assert_eq!(line["model"], "m");
        assert_eq!(line["client"], "chat");
        assert_eq!(line["upstream"], "messages");
        assert_eq!(line["upstream_protocol"], "messages");
        assert_eq!(line["bytes_in"], question.len());
        assert_eq!(line["bytes_out"], got.body.len());
        assert_eq!(line["input_tokens"], 11);
        assert_eq!(line["output_tokens"], 7);
        assert_eq!(line["calls"], 1);
        let losses = line["losses"].as_array().unwrap();
        let levels: Vec<_> = losses.iter().map(|loss| (&loss["path"], &loss["level"])).collect();
        let (lesser, null) = (serde_json::json!("info"), serde_json::Value::Null);
        assert_eq!(levels, [(&"/max_tokens".into(), &lesser), (&"/seed".into(), &null)]);
        assert!(line["own_us"].as_u64().unwrap() <= line["total_us"].as_u64().unwrap());
        assert!(line["upstream_us"].as_u64().unwrap() <= line["total_us"].as_u64().unwrap());
    }
}

#[tokio::test]
async fn holds_no_content_and_no_secret() {
    for style in [LogFormat::Json, LogFormat::Text] {
        let server = Server::scripted(Protocol::Chat, |number, _| match number {
            0 => whole(200, "", fixtures::answer(Protocol::Chat)),
            1 => whole(400, "", fixtures::error(Protocol::Chat, "invalid_request_error", "Paris!")),
            2 => whole(200, "", "Paris"),
            _last => stream(&fixtures::events(Protocol::Chat)),
        })
        .await;
        let mut config = config(vec![at(&server)]);
        config.keys = vec![Secret::new("gateway-key".to_owned())];
        let (gateway, lines) = logging(config, style).await;
        let to = gateway.address();
        let key = "x-api-key: gateway-key";
        for number in 0..4 {
            let question = fixtures::question(Protocol::Messages, number == 3);
            client::post(to, "/v1/messages", &[key], &question).await;
        }
        client::post(to, "/v1/messages", &["x-api-key: wrong-key"], "{}").await;
        client::get(to, "/v1/Paris?x=Paris", &[key]).await;
        client::post(to, "/v1/messages", &[key], r#"{"model":"a\u001b[31m\nb"}"#).await;
        let all = lines.wait(7).await.join("\n");
        for secret in ["Paris", "get_weather", "-key", "\u{1b}", "Weather"] {
            assert!(!all.contains(secret), "{secret} in {all}");
        }
    }
}

#[tokio::test]
async fn names_clients_that_left() {
    let mut steps = vec![stream_head("")];
    steps.extend(fixtures::events(Protocol::Messages).iter().take(3).map(chunk));
    steps.push(Step::Hang);
    let server = Server::new(Protocol::Messages, steps).await;
    let (gateway, lines) = logging(config(vec![at(&server)]), LogFormat::Text).await;
    let question = fixtures::question(Protocol::Chat, true);
    let mut open = client::open(gateway.address(), "/v1/chat/completions", &[], &question).await;
    client::until(&mut open, "Let me look.").await;
    drop(open);
    let line = lines.wait(1).await.remove(0);
    assert!(line.contains(" 200 left "), "{line}");
    assert!(line.contains("chat→messages via messages"), "{line}");
}

/// Agents close the connection when they have the last event. If it is long, the
/// gateway has not yet written the end of the body then. Not every client is so
/// quick, so there are many.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_clients_that_left_after_the_last_event_as_answered() {
    const CLIENTS: usize = 300;
    let from = Protocol::Responses;
    let mut events = fixtures::events(from);
    let last = events.last_mut().unwrap();
    let instructions = 100_000;
    let long = format!("\"instructions\":\"{}\",\"output\":", "x".repeat(instructions));
    *last = last.replace("\"output\":", &long);
    // The end of the last event, perhaps with the end of the body behind it.
    let ended = |got: &[u8]| got[got.len() - 12..].windows(4).any(|end| end == b"\n\n\r\n");
    let server = Server::new(from, stream(&events)).await;
    let (gateway, lines) = logging(config(vec![at(&server)]), LogFormat::Text).await;
    let address = gateway.address();
    let question = fixtures::question(from, true);
    let clients = std::thread::spawn(move || {
        let length = question.len();
        let request = format!(
            "POST /v1/responses HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{question}"
        );
        for _ in 0..CLIENTS {
            let mut client = std::net::TcpStream::connect(address).unwrap();
            client.write_all(request.as_bytes()).unwrap();
            client.set_nonblocking(true).unwrap();
            let (mut got, mut buffer) = (Vec::new(), vec![0; 256 * 1024]);
            // It spins, so that it leaves as soon as it can.
            while got.len() < instructions || !ended(&got) {
                match client.read(&mut buffer) {
                    Ok(count) => got.extend_from_slice(&buffer[..count]),
                    Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
                }
            }
        }
    });
    tokio::task::spawn_blocking(|| clients.join()).await.unwrap().unwrap();
    for line in lines.wait(CLIENTS).await {
        assert!(line.contains(" 200 answered "), "{line}");
    }
}

/// Everything that a terminal or a log viewer acts on.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\r\n2026 forged\u{85}\u{9b}31m\u{2028}\u{2029}\u{202e}\u{2066}\u{7f}\0";

/// Such a request reaches nothing that could log it otherwise.
#[tokio::test]
async fn knows_requests_whose_head_is_malformed() {
    let (gateway, lines) = logging(config(Vec::new()), LogFormat::Json).await;
    for (number, head) in
        ["GET / HTTP/1.1\r\nhost: a\r\nx: \u{1}\r\n\r\n", "P\r\n\r\n"].iter().enumerate()
    {
        let got = client::raw(gateway.address(), head.as_bytes()).await;
        assert_eq!(got.status, 400, "{got:?}");
        let line = lines.wait(number + 1).await.pop().unwrap();
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["event"], "malformed_request", "{line}");
        assert!(line["message"].as_str().unwrap().contains("127.0.0.1"), "{line}");
    }
}

/// Proves that a client cannot write a line of its own into the log, nor control
/// codes, whatever it puts into a key of its request, the name of a model or of a
/// beta, and that no line is longer than 4 KiB (R-11, T-39).
#[tokio::test]
async fn cannot_be_forged() {
    let from = Protocol::Messages;
    for format in [LogFormat::Text, LogFormat::Json] {
        let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
        let (gateway, lines) = logging(config(vec![at(&server)]), format).await;
        let to = gateway.address();
        let long = HOSTILE.repeat(200);
        let mut count = 0;
        for text in [HOSTILE, &long] {
            let escaped = serde_json::to_string(text).unwrap();
            let question = fixtures::question(Protocol::Chat, false);
            let key = question.replacen('{', &format!("{{{escaped}:1,"), 1);
            let keys: String =
                (0..50).map(|number| format!("\"{number}{}:1,", &escaped[1..])).collect();
            let many = question.replacen('{', &format!("{{{keys}"), 1);
            let model = question.replace("\"m\"", &escaped);
            for body in [key, many, model] {
                let beta = format!("openai-beta: {}", "evil\u{9b}beta\u{85},".repeat(500));
                client::post(to, "/v1/chat/completions", &[&beta], &body).await;
                count += 1;
            }
        }
        let all = lines.wait(count).await;
        for line in &all {
            assert!(line.len() < 4096, "{} {line:.200}", line.len());
            let is_code = |c: char| {
                c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c) || c == '\u{2066}'
            };
            assert!(!line.chars().any(is_code), "{line:?}");
            if format == LogFormat::Json {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(line["client"], "chat");
            } else {
                let (time, rest) = line.split_once(' ').unwrap();
                assert!(rest.starts_with("req_"), "{line}");
                assert!(
                    time.len() == 20 && time.ends_with('Z') && time.starts_with("20"),
                    "{line}"
                );
            }
        }
    }
}
