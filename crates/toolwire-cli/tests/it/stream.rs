//! `toolwire translate --kind stream`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::toolwire;

fn vector(name: &str, file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/streams");
    std::fs::read_to_string(root.join(name).join(file)).unwrap()
}

#[test]
fn the_protocol_is_told_by_the_first_event() {
    for (name, from) in
        [("chat-call", "chat"), ("responses-call", "responses"), ("messages-call", "messages")]
    {
        let input = vector(name, &format!("in.{from}.sse"));
        for to in ["chat", "responses", "messages"] {
            if to == from {
                continue;
            }
            let ran = toolwire(&format!("translate --kind stream --to {to}"), &input);
            assert_eq!(ran.code, Some(0), "{name} to {to}: {}", ran.err);
            let named =
                toolwire(&format!("translate --kind stream --from {from} --to {to}"), &input);
            assert_eq!(ran.out, named.out, "{name} to {to}");
        }
    }
}

#[test]
fn a_cut_stream_is_a_failure_and_says_so_in_the_stream() {
    let input = vector("messages-cut-in-argument", "in.messages.sse");
    let ran = toolwire("translate --kind stream --to chat", input);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("ended with an error"), "{}", ran.err);
    let last = ran.out.trim_end().lines().last().unwrap().to_owned();
    assert!(last.starts_with("data: {\"error\":"), "{last}");
    assert!(!ran.out.contains("[DONE]"));
}

#[test]
fn losses_are_in_the_stream_if_that_is_wanted() {
    let input = vector("messages-web-search", "in.messages.sse");
    let plain = toolwire("translate --kind stream --to chat", &input);
    assert!(!plain.err.is_empty() && !plain.out.contains("toolwire-loss"), "{}", plain.err);
    let ran = toolwire("translate --kind stream --to chat --loss-comment", &input);
    let (before, behind) = ran.out.split_once(": toolwire-loss ").unwrap();
    assert!(behind.ends_with(";side=response\ndata: [DONE]\n\n"), "{behind}");
    assert_eq!(format!("{before}data: [DONE]\n\n"), plain.out);
    assert_eq!(ran.err, plain.err);
    let whole = toolwire("translate --from chat --kind request --to chat --loss-comment", "{}");
    assert!(whole.code == Some(2) && whole.err.contains("--loss-comment"), "{}", whole.err);
}

#[test]
fn an_event_is_given_as_soon_as_it_has_come() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["translate", "--kind", "stream", "--to", "chat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let input = vector("messages-text", "in.messages.sse");
    let (before, after) = input.split_at(input.find("event: content_block_stop").unwrap());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(before.as_bytes()).unwrap();
    stdin.flush().unwrap();
    // The input is still open, so what comes now does not wait for its end.
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("data: {"), "{line}");
    stdin.write_all(after.as_bytes()).unwrap();
    drop(stdin);
    let rest: Vec<String> = out.lines().map(Result::unwrap).collect();
    assert!(rest.iter().any(|line| line == "data: [DONE]"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_recording_keeps_the_timing_and_changes_nothing() {
    let folder = std::env::temp_dir().join(format!("toolwire-record-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("recorded.sse");
    let input = vector("chat-call", "in.chat.sse");
    let flags = format!("translate --kind stream --to messages --record {}", file.display());
    let ran = toolwire(&flags, &input);
    let recorded = std::fs::read_to_string(&file).unwrap();
    let again = toolwire("translate --kind stream --to messages", &recorded);
    assert_eq!(ran.out, again.out);

    let slow = input.replacen("\n\n", "\n\n: +300ms\n", 1);
    let start = Instant::now();
    let paced = toolwire("translate --kind stream --to messages --pace", slow);
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert_eq!(ran.out, paced.out);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn flags_that_do_not_go_with_a_stream() {
    for (flags, said) in [
        (
            "translate --kind stream --to chat --model m",
            "--model cannot be used with --kind stream",
        ),
        (
            "translate --kind request --from chat --to messages --pace",
            "--pace requires --kind stream",
        ),
        ("translate --kind stream --to chat", "standard input is empty"),
    ] {
        let ran = toolwire(flags, if flags.contains("request") { "{}" } else { "" });
        assert_ne!(ran.code, Some(0), "{flags}");
        assert!(ran.err.contains(said), "{flags}: {}", ran.err);
    }
}
