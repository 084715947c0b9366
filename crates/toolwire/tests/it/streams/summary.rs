//! What a stream says of itself is the same whether its bytes pass or are
//! translated.

use std::ops::ControlFlow;

use toolwire::Protocol;
use toolwire::model::{ErrorKind, Retry};
use toolwire::pipe::ResponseSummary;
use toolwire::translate::{Options, PreparedRequest};
use toolwire::wire::sse::{Frame, Frames};

use super::{pipe, recorded};

#[test]
fn a_stream_that_passes_is_summed_up_like_one_that_is_translated() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for stream in recorded() {
        let told = stream.folder.display();
        let summary = |to| {
            let mut pipe = pipe(stream.from, to, None);
            let mut out = Vec::new();
            pipe.push(&stream.bytes, &mut out);
            pipe.finish(&mut out);
            let summary = pipe.summary();
            let usage = summary.usage.as_ref().map(|usage| (usage.input, usage.output));
            summary.complete.then_some((summary.stop, summary.calls, usage, summary.has_content))
        };
        let passed = summary(stream.from);
        for to in Protocol::ALL.into_iter().filter(|to| *to != stream.from) {
            let translated = summary(to);
            if let (Some(passed), Some(translated)) = (passed, translated) {
                compared += 1;
                if passed != translated || passed.0.is_none() {
                    wrong.push(format!("{told} to {to}: {passed:?} {translated:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 100, "{compared}");
}

/// The bytes of an answer that its vendor broke off pass within Chat, and what is logged of
/// it says that it failed.
#[test]
fn an_answer_that_was_broken_off_passes_and_is_summed_up_as_an_error() {
    for word in ["insufficient_system_resource", "abort", "error"] {
        let stream = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"I will\"}},\
             \"finish_reason\":null}}]}}\n\n\
             data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{word}\"}}]}}\n\n\
             data: [DONE]\n\n"
        );
        let mut pipe = pipe(Protocol::Chat, Protocol::Chat, None);
        let mut out = Vec::new();
        pipe.push(stream.as_bytes(), &mut out);
        pipe.finish(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), stream);
        assert!(pipe.summary().error.is_some() && !pipe.summary().complete, "{word}");

        let answer = format!(
            r#"{{"choices":[{{"index":0,"message":{{"role":"assistant","content":"I will"}},"finish_reason":"{word}"}}]}}"#
        );
        let request = br#"{"messages":[]}"#;
        let options = Options::new();
        let prepared = PreparedRequest::new(Protocol::Chat, Protocol::Chat, request).unwrap();
        let translator = prepared.response_translator(&options);
        let passed = translator.translate(answer.as_bytes()).unwrap();
        assert_eq!(passed.body, answer.as_bytes());
        assert_eq!(passed.summary.error.map(|error| error.retry), Some(Retry::Later), "{word}");
    }
}

/// The delta of a role is no answer.
#[test]
fn a_stream_that_says_nothing_is_cut_off() {
    let stream = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n\
                  data: [DONE]\n\n";
    for to in [Protocol::Responses, Protocol::Messages] {
        let mut pipe = pipe(Protocol::Chat, to, None);
        let mut out = Vec::new();
        pipe.push(stream.as_bytes(), &mut out);
        pipe.finish(&mut out);
        let kind = pipe.summary().error.as_ref().map(|error| error.kind);
        assert_eq!(kind, Some(ErrorKind::Truncated), "{to}");
    }
}

/// A request whose answer has begun must not be sent to another upstream, so this is known
/// with the same event whether the bytes pass or are translated.
#[test]
fn an_answer_that_passes_begins_like_one_that_is_translated() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for stream in recorded() {
        let begins = |to| {
            let mut pipe = pipe(stream.from, to, None);
            let mut events = 0;
            let mut begun = None;
            let mut each = |frame: Frame<'_>| {
                pipe.push(frame.raw, &mut Vec::new());
                let ResponseSummary { has_content, error, .. } = pipe.summary();
                begun = begun.or((*has_content && error.is_none()).then_some(events));
                events += 1;
                ControlFlow::Continue(())
            };
            let mut frames = Frames::new(stream.bytes.len() + 1);
            frames.push(&stream.bytes, &mut each).ok()?;
            frames.finish(&mut each).ok()?;
            begun
        };
        let passed = begins(stream.from);
        for to in Protocol::ALL.into_iter().filter(|to| *to != stream.from) {
            compared += 1;
            let translated = begins(to);
            if passed != translated {
                let told = stream.folder.display();
                wrong.push(format!("{told} to {to}: {passed:?} {translated:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 100, "{compared}");
}

/// An error directly behind what opens a stream is no part of an answer, also if the upstream
/// has kept the connection alive before it. A server tool at work is one, although what it does
/// comes only when it is done.
#[test]
fn an_error_is_no_content_and_a_server_tool_is() {
    let messages = [
        r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Busy."}}"#,
    ];
    let responses = [
        r#"{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}}"#,
        r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"web_search_call","id":"ws","status":"in_progress"}}"#,
        r#"{"type":"response.failed","sequence_number":2,"response":{"id":"r","object":"response","created_at":1,"status":"failed","model":"m","output":[],"error":{"code":"server_error","message":"No."}}}"#,
    ];
    let searching = r#"{"type":"response.web_search_call.searching","sequence_number":1,"output_index":0,"item_id":"ws"}"#;
    let idle = [
        r#"{"type":"keepalive","sequence_number":1}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"response.keepalive"}"#,
        r#"{"type":"response.heartbeat"}"#,
        r#"{"type":"response.metadata","metadata":{}}"#,
    ];
    let [opening, tool, error] = messages;
    check_begun(Protocol::Messages, &[opening, error], false);
    check_begun(Protocol::Messages, &[opening, r#"{"type":"ping"}"#, error], false);
    check_begun(Protocol::Messages, &[opening, tool, error], true);
    let [opening, tool, error] = responses;
    check_begun(Protocol::Responses, &[opening, error], false);
    check_begun(Protocol::Responses, &[opening, tool, error], true);
    check_begun(Protocol::Responses, &[opening, searching, error], true);
    for idle in idle {
        check_begun(Protocol::Responses, &[opening, idle, error], false);
        check_begun(Protocol::Responses, &[opening, idle, tool, error], true);
    }
}

/// Checks whether an answer that fails has begun before, with and without names of events.
fn check_begun(from: Protocol, events: &[&str], has_content: bool) {
    for (to, named) in Protocol::ALL.into_iter().flat_map(|to| [(to, false), (to, true)]) {
        let mut pipe = pipe(from, to, None);
        for data in events {
            let kind = data.split('"').nth(3).filter(|_| named);
            let name = kind.map_or_else(String::new, |kind| format!("event: {kind}\n"));
            pipe.push(format!("{name}data: {data}\n\n").as_bytes(), &mut Vec::new());
        }
        let summary = pipe.summary();
        let told = format!("{from} to {to}, {named}: {events:?}");
        assert!(summary.error.is_some(), "{told}");
        assert_eq!(summary.has_content, has_content, "{told}");
    }
}
