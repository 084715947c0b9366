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

/// A stream whose bytes pass is said to be complete only if it would be where it is translated.
#[test]
fn a_stream_that_passes_fails_like_one_that_is_translated() {
    let recorded = recorded().into_iter().filter(|stream| !PASSING.contains(&&*stream.name()));
    let recorded = recorded.map(|stream| (stream.name(), stream.from, stream.bytes));
    let made = BAD_ENDS.map(|(stream, _)| (stream.to_owned(), Protocol::Chat, stream.into()));
    let mut failed = 0;
    let mut wrong = Vec::new();
    for (name, from, bytes) in recorded.chain(made) {
        let outcome = |to| {
            let mut pipe = pipe(from, to, None);
            let mut out = Vec::new();
            pipe.push(&bytes, &mut out);
            pipe.finish(&mut out);
            let ResponseSummary { error, complete, .. } = pipe.summary();
            (*complete, error.as_ref().map(|error| error.kind))
        };
        let passed = outcome(from);
        for to in Protocol::ALL.into_iter().filter(|to| *to != from) {
            let translated = outcome(to);
            failed += usize::from(!translated.0);
            if passed != translated {
                wrong.push(format!("{name} to {to}: {passed:?} {translated:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(failed > 50, "{failed}");
}

/// Streams that end with a marker and have no good end.
const BAD_ENDS: [(&str, ErrorKind); 5] = [
    (
        "data: {\"id\":\"c\",\"choices\":[],\"base_resp\":{\"status_code\":1008,\"status_msg\":\"insufficient balance\"}}\n\n\
         data: [DONE]\n\n",
        ErrorKind::Quota,
    ),
    // The delta of a role is no answer.
    (
        "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n\
         data: [DONE]\n\n",
        ErrorKind::Truncated,
    ),
    (
        "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
         data: [DONE]\n\n",
        ErrorKind::Truncated,
    ),
    // Only another answer has an end.
    (
        "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n\
         data: {\"id\":\"c\",\"choices\":[{\"index\":1,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
         data: [DONE]\n\n",
        ErrorKind::Truncated,
    ),
    (
        "data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"role\":\"assistant\"}},{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n\
         data: [DONE]\n\n",
        ErrorKind::Truncated,
    ),
];

/// What such a stream says passes as it came, and whoever reads the summary is told.
#[test]
fn a_bad_end_that_passes_is_summed_up_as_an_error() {
    for (stream, kind) in BAD_ENDS {
        let mut pipe = pipe(Protocol::Chat, Protocol::Chat, None);
        let mut out = Vec::new();
        pipe.push(stream.as_bytes(), &mut out);
        pipe.finish(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), stream);
        let ResponseSummary { error, complete, passes_failure, stop, .. } = pipe.summary();
        assert_eq!(error.as_ref().map(|error| error.kind), Some(kind), "{stream}");
        assert!(!complete && *passes_failure, "{stream}");
        assert_ne!(*stop, Some("end_turn"), "{stream}");
    }
}

/// Streams that pass as complete and fail where they are translated, because nobody looks
/// at the arguments of calls that pass.
const PASSING: [&str; 5] = [
    "chat-done-without-finish-in-call",
    "chat-index-of-either-call",
    "chat-unknown-finish-in-call",
    "messages-second-message-start-in-call",
    "responses-completed-in-argument",
];

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
