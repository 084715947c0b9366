//! `toolwire serve`, from its first line to its last.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::command::toolwire;
use crate::configuration::Folder;

/// A gateway that is stopped at the end of its test.
pub(crate) struct Serving {
    child: Child,
    /// What it said when it had started.
    pub(crate) hello: String,
    pub(crate) address: SocketAddr,
    errors: Receiver<String>,
}

impl Serving {
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::start_with(flags, &[])
    }

    pub(crate) fn start_with(flags: &[&str], variables: &[(&str, &Path)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        command.args(flags);
        Self::start_command(command, variables)
    }

    /// Starts it with a command that ends in `toolwire serve`.
    pub(crate) fn start_command(mut command: Command, variables: &[(&str, &Path)]) -> Self {
        let mut child = command
            .env_remove("OPENAI_API_KEY")
            .env_remove("ANTHROPIC_API_KEY")
            .env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"))
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut hello = String::new();
        while !hello.ends_with("Ctrl-C stops it.\n") {
            assert!(out.read_line(&mut hello).unwrap() > 0, "it ended: {hello}");
        }
        let first = hello.lines().next().unwrap();
        let address = first.rsplit_once("http://").unwrap().1.parse().unwrap();
        let (sender, errors) = channel();
        let err = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in err.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, hello, address, errors }
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a JSON body and gives the JSON that comes back.
    pub(crate) fn post(&self, path: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let (host, length) = (self.address, body.len());
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect(&answer);
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(body).expect(body)
    }

    /// Waits for a line on standard error.
    fn wait_for(&self, part: &str) -> String {
        let mut said = String::new();
        let end = Instant::now() + Duration::from_secs(20);
        while let Ok(line) = self.errors.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            said.push_str(&line);
            said.push('\n');
            if line.contains(part) {
                return said;
            }
        }
        panic!("no line with {part:?} in\n{said}");
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    fn end(mut self) -> ExitStatus {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it did not stop");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_it_prints_can_be_tried() {
    let started = Instant::now();
    let serving = Serving::start(&["serve", "--listen", "127.0.0.1:0"]);
    // It takes a few milliseconds; the machine may be busy with other tests.
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_ne!(serving.address.port(), 0);
    let (_, command) = serving.hello.split_once("-d '").unwrap();
    let (body, _) = command.split_once("'\n").unwrap();
    let answer = serving.post("/v1/chat/completions", body);
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call, &json!({"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}));
}

/// Whoever reads what is kept must not be told of a store that is not there.
#[test]
fn a_default_store_that_cannot_be_opened() {
    let folder = Folder::new("no-store");
    let state = folder.write("state", "no folder");
    let variables = [("XDG_STATE_HOME", state.as_path())];
    let serving = Serving::start_with(&["serve", "--listen", "127.0.0.1:0"], &variables);
    let words = serving.hello.split_whitespace().collect::<Vec<_>>().join(" ");
    let place = state.join("toolwire/toolwire.db");
    let reason = format!("cannot open {}: Not a directory", place.display());
    let expected = format!("Nothing is kept, because the store cannot be opened: {reason}");
    assert!(words.contains(&expected), "{}", serving.hello);
    assert!(!words.contains("is kept in"), "{}", serving.hello);
    serving.wait_for(&format!("so nothing is kept: {reason}"));
}

#[cfg(unix)]
#[test]
fn signals_stop_it() {
    for name in ["-INT", "-TERM"] {
        let serving = Serving::start(&["serve", "--listen", "127.0.0.1:0"]);
        serving.signal(name);
        if name == "-INT" {
            serving.wait_for("Press Ctrl-C again");
        }
        assert_eq!(serving.end().code(), Some(0), "{name}");
    }
}

/// Neither a client that does not read nor a log that nobody reads keeps it from
/// ending, and who sends the second signal does not wait for the grace.
#[cfg(unix)]
#[test]
fn a_second_signal_is_now() {
    let upstream = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = Folder::new("second-signal");
    let config = format!(
        "[[upstream]]\nname = \"slow\"\nprotocol = \"chat\"\nbase_url = \"http://{}\"\nmodels = [\"*\"]\n",
        upstream.local_addr().unwrap()
    );
    let path = folder.write("toolwire.toml", &config);
    for second in ["-TERM", "-INT"] {
        let flags = ["serve", "--config", path.to_str().unwrap(), "--listen", "127.0.0.1:0"];
        let serving = Serving::start(&flags);
        let mut open = TcpStream::connect(serving.address).unwrap();
        let body = r#"{"model":"m","stream":true,"messages":[]}"#;
        write!(
            open,
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let (_held, _) = upstream.accept().unwrap();
        serving.signal("-TERM");
        std::thread::sleep(Duration::from_millis(200));
        let mut answer = String::new();
        let began = Instant::now();
        serving.signal(second);
        open.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
        assert_eq!(serving.end().code(), Some(0));
        // The grace is five minutes.
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    }
}

#[test]
fn a_port_that_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let ran = toolwire(&format!("serve --listen {address}"), "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    let expected = format!(
        "error: cannot listen on {address}: another program is using this port, perhaps \
         another toolwire\nUse any free port: toolwire serve --listen 127.0.0.1:0\n"
    );
    assert_eq!(ran.err, expected);
}

#[test]
fn an_address_that_others_reach_needs_a_key() {
    let ran = toolwire("serve --listen 0.0.0.0:0", "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.starts_with("error: anyone who can reach 0.0.0.0:0"), "{}", ran.err);
    assert!(ran.err.contains("Listen on 127.0.0.1"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_changed_file_is_put_in_force() {
    let folder = Folder::new("serving");
    let good = "[[upstream]]\nname = \"demo\"\ndemo = true\n";
    let path = folder.write("toolwire.toml", good);
    let name = path.to_str().unwrap();
    let serving = Serving::start(&["serve", "--config", name, "--listen", "127.0.0.1:0"]);
    assert!(
        serving.hello.contains(&format!("from {name}, which is reloaded")),
        "{}",
        serving.hello
    );

    fs::write(&path, "[[upstream]]\nname = \"demo\"\ndemo = maybe\n").unwrap();
    serving.signal("-HUP");
    let said = serving.wait_for("keeps its previous configuration");
    assert!(said.contains("toolwire.toml:3:8"), "{said}");
    let ask = r#"{"model":"demo","messages":[{"role":"user","content":"Hello"}]}"#;
    assert_eq!(serving.post("/v1/chat/completions", ask)["model"], "demo");

    // Without a signal it takes a few seconds.
    fs::write(&path, format!("{good}models = [\"tiny\"]\n")).unwrap();
    serving.wait_for(&format!("Reloaded {name}."));
}
