//! How many files a gateway may have open, and what it does when it may open no more.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::configuration::Folder;
use crate::serving::Serving;

#[test]
fn the_limit_is_raised_as_far_as_it_may_be() {
    let mut command = Command::new("sh");
    let script = r#"ulimit -S -n 100; exec "$0" serve --listen 127.0.0.1:0"#;
    command.args(["-c", script, env!("CARGO_BIN_EXE_toolwire")]);
    let serving = Serving::start_command(command, &[]);
    let limits = fs::read_to_string(format!("/proc/{}/limits", serving.id())).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let numbers: Vec<&str> = line.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers[0], numbers[1], "{line}");
    assert_ne!(numbers[0], "100", "this test needs a higher hard limit");
}

/// The upstream is not to blame, whoever else uses up the descriptors.
#[test]
fn without_a_free_descriptor_no_upstream_is_to_blame() {
    let (idle, closed) = upstream();
    let (asked, _) = upstream();
    let folder = Folder::new("open-files");
    let config = |name: &str, address: SocketAddr| {
        format!(
            "[[upstream]]\nname = \"{name}\"\nprotocol = \"chat\"\nbase_url = \"http://{address}/v1\"\nmodels = [\"{name}\"]\n"
        )
    };
    let config = config("idle", idle) + &config("asked", asked);
    let path = folder.write("toolwire.toml", &config);
    let serving =
        Serving::start(&["serve", "--config", path.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
    let mut client = BufReader::new(TcpStream::connect(serving.address).unwrap());
    let (head, body) = ask(&mut client, CHAT, "idle");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}{body}");

    let process = Pid::from_raw(i32::try_from(serving.id()).unwrap());
    let before = getrlimit(Resource::Nofile);
    let none = Rlimit { current: Some(0), ..before };
    prlimit(process, Resource::Nofile, none).unwrap();
    for path in [CHAT, "/v1/embeddings"].repeat(6) {
        let (head, body) = ask(&mut client, path, "asked");
        assert!(head.starts_with("HTTP/1.1 503") && head.contains("retry-after: 1\r\n"), "{head}");
        assert!(body.contains("cannot be asked: the gateway's machine has no free"), "{body}");
    }
    // A connection that nobody uses makes room.
    closed.recv_timeout(Duration::from_secs(20)).expect("it stays open");
    prlimit(process, Resource::Nofile, before).unwrap();
    let (head, body) = ask(&mut client, CHAT, "asked");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}{body}");
    let (_, page) = send(&mut client, "GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert!(page.contains("toolwire_ejections_total{upstream=\"asked\"} 0"), "{page}");
}

/// An upstream that gives everybody the same answer, and tells when a connection is closed
/// on which it did.
fn upstream() -> (SocketAddr, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, closed) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let sender = sender.clone();
            std::thread::spawn(move || answer_all(stream.unwrap(), &sender));
        }
    });
    (address, closed)
}

fn answer_all(stream: TcpStream, closed: &Sender<()>) {
    let mut stream = BufReader::new(stream);
    while let Some((head, _)) = read(&mut stream) {
        if head.starts_with("GET") {
            // Whoever asks for its models leaves no connection behind.
            let head = "HTTP/1.1 404 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
            return stream.get_mut().write_all(head.as_bytes()).unwrap();
        }
        let length = ANSWER.len();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{ANSWER}");
        stream.get_mut().write_all(head.as_bytes()).unwrap();
    }
    let _ = closed.send(());
}

fn ask(client: &mut BufReader<TcpStream>, path: &str, model: &str) -> (String, String) {
    let body = format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"Hi"}}]}}"#);
    let length = body.len();
    let head = "host: localhost\r\ncontent-type: application/json";
    send(
        client,
        &format!("POST {path} HTTP/1.1\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}"),
    )
}

fn send(client: &mut BufReader<TcpStream>, request: &str) -> (String, String) {
    client.get_mut().write_all(request.as_bytes()).unwrap();
    read(client).expect("the gateway closed the connection")
}

/// Reads a head and a body with a length, unless the connection ends.
fn read(stream: &mut BufReader<TcpStream>) -> Option<(String, String)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).unwrap()))
}

const CHAT: &str = "/v1/chat/completions";

const ANSWER: &str = r#"{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}"#;
