//! What a stream loses, as the client is told: one comment just before the
//! ending, or none.

use serde_json::{Value, json};
use toolwire::ledger::loss_list;
use toolwire::pipe::Pipe;
use toolwire::{Code, Entry, LossPolicy, Options, Protocol};

use super::{COMMENT_LIMIT, commented_pipe, pipe, recorded, through};

/// The comment changes nothing else, stands where it must, and says what the
/// ledger says.
#[test]
fn a_comment_before_the_ending_says_what_was_lost() {
    let (mut with, mut without) = (0, 0);
    for stream in recorded() {
        for to in Protocol::ALL {
            let request = stream.request(to);
            let told = format!("{} to {to}", stream.name());
            let chunks = [stream.bytes.as_slice()];
            let (plain, ledger) = through(pipe(stream.from, to, request.as_deref()), chunks);
            let commented = commented_pipe(stream.from, to, request.as_deref());
            let (out, same) = through(commented, chunks);
            assert_eq!(ledger, same, "{told}");
            if to == stream.from {
                assert_eq!(out, plain, "{told}");
                continue;
            }
            assert_eq!(misplaced_comment(to, &out, &ledger), None, "{told}");
            match loss_list(&[], &ledger, COMMENT_LIMIT) {
                None => without += 1,
                Some(_) => with += 1,
            }
            let text = String::from_utf8(out).unwrap();
            let rest: String =
                text.split_inclusive('\n').filter(|line| !line.starts_with(':')).collect();
            assert_eq!(rest.as_bytes(), plain, "{told}");
        }
    }
    assert!(with > 50 && without > 50, "{with} streams with losses, {without} without");
}

/// What is wrong with the comment of a stream that was translated, if anything.
pub(super) fn misplaced_comment(to: Protocol, out: &[u8], ledger: &[Entry]) -> Option<String> {
    let text = std::str::from_utf8(out).ok()?;
    let comments: Vec<&str> = text.split('\n').filter(|line| line.starts_with(':')).collect();
    let expected =
        loss_list(&[], ledger, COMMENT_LIMIT).map(|list| format!(": toolwire-loss {list}"));
    if comments != Vec::from_iter(expected.as_deref()) {
        return Some(format!("the comments are {comments:?} and not {expected:?}"));
    }
    let comment = expected?;
    let (before, behind) = text.split_once(&comment)?;
    if !before.is_empty() && !before.ends_with("\n\n") {
        return Some("the comment is inside an event".to_owned());
    }
    let is_ending = |event: &str| ending_marks(to).iter().any(|mark| event.starts_with(mark));
    if before.split("\n\n").any(is_ending) {
        return Some("the comment is behind the ending".to_owned());
    }
    // An error before anything else has a beginning of its own.
    let behind = behind.strip_prefix('\n')?;
    let made = before.is_empty() && behind.starts_with("event: response.created\n");
    (!made && !is_ending(behind)).then(|| format!("the comment is not before the ending: {behind}"))
}

/// How the events begin that end a stream.
fn ending_marks(protocol: Protocol) -> &'static [&'static str] {
    match protocol {
        Protocol::Chat => &["data: [DONE]", "data: {\"error\":"],
        Protocol::Responses => &[
            "event: error\n",
            "event: response.completed\n",
            "event: response.incomplete\n",
            "event: response.failed\n",
            "event: response.cancelled\n",
        ],
        Protocol::Messages => &["event: message_stop\n", "event: error\n"],
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

/// The lines of a Responses stream toward Chat.
fn ledger_of(events: &[Value]) -> Vec<Entry> {
    let mut pipe = Pipe::new(Protocol::Responses, Protocol::Chat, &Options::new()).unwrap();
    let mut out = Vec::new();
    for event in events {
        let kind = event["type"].as_str().unwrap();
        pipe.push(format!("event: {kind}\ndata: {event}\n\n").as_bytes(), &mut out);
    }
    pipe.take_ledger()
}

fn created() -> Value {
    json!({"type": "response.created", "response": {"id": "resp_1", "object": "response",
        "created_at": 1, "status": "in_progress", "model": "m", "output": []}})
}

fn search(index: usize) -> [Value; 2] {
    let item = json!({"type": "web_search_call", "id": format!("ws_{index}"),
        "status": "completed", "action": {"type": "search", "query": "rust"}});
    let kinds = ["response.output_item.added", "response.output_item.done"];
    kinds.map(|kind| json!({"type": kind, "output_index": index, "item": item}))
}

#[test]
fn two_hosted_items_are_two_lines() {
    let mut events = vec![created()];
    events.extend(search(0));
    events.extend(search(1));
    let ledger = ledger_of(&events);
    let hosted: Vec<&str> = ledger
        .iter()
        .filter(|entry| entry.code == Code::HostedHistory)
        .map(|entry| entry.path.as_str())
        .collect();
    assert_eq!(hosted.len(), 2, "{ledger:?}");
    let list = loss_list(&[], &ledger, COMMENT_LIMIT).unwrap();
    assert_eq!(list.matches("hosted_history").count(), 1, "{list}");
    assert!(list.contains("\"/*/item\""), "{list}");
}

/// An upstream that invents a field for every event gets a list that ends.
#[test]
fn very_many_places_are_counted() {
    let mut events = vec![created()];
    for number in 0..2_000 {
        events.push(json!({"type": "response.output_text.delta", "item_id": "m",
            "output_index": number, "content_index": 0, "delta": "a", "logprobs": []}));
        let [_, done] = search(number);
        events.push(done);
    }
    let ledger = ledger_of(&events);
    assert!(ledger.len() <= 257, "{}", ledger.len());
    let Some(Code::More(count)) = ledger.last().map(|entry| &entry.code) else {
        panic!("{:?}", ledger.last())
    };
    assert!(ledger.len() - 1 + count >= 2_000, "{count}");
    let list = loss_list(&[], &ledger, COMMENT_LIMIT).unwrap();
    assert!(list.ends_with(&format!("\"\";code=more;count={count}")), "{list}");
}

/// What was taken in between is in the comment all the same, and nothing is
/// taken twice.
#[test]
fn the_comment_has_what_was_taken_before() {
    let stream = recorded().into_iter().find(|one| one.name() == "messages-web-search").unwrap();
    let mut pipe = commented_pipe(stream.from, Protocol::Chat, None);
    let (mut out, mut taken) = (Vec::new(), Vec::new());
    for chunk in stream.bytes.chunks(100) {
        pipe.push(chunk, &mut out);
        taken.extend(pipe.take_ledger());
    }
    assert!(!taken.is_empty());
    assert_eq!(misplaced_comment(Protocol::Chat, &out, &taken), None);
}

#[test]
fn what_is_ignored_is_not_in_a_comment() {
    for stream in recorded() {
        for to in Protocol::ALL {
            let options = Options::new().on_loss(LossPolicy::Ignore);
            let silent = Pipe::new(stream.from, to, &options).unwrap();
            let chunks = [stream.bytes.as_slice()];
            let (out, ledger) = through(silent.with_loss_comment(COMMENT_LIMIT), chunks);
            let (plain, _) = through(pipe(stream.from, to, None), chunks);
            assert_eq!((out, ledger), (plain, Vec::new()), "{} to {to}", stream.name());
        }
    }
}
