//! Calls and results of whole conversations, in every protocol, through the
//! tracker; and the answers that streams amount to.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use arbtest::arbtest;
use serde_json::Value;
use toolwire::Protocol;
use toolwire::calls::{self, Input, StreamedAnswer, ToolCall, ToolOutput};
use toolwire::tracker::{CallState, Tracker, answer_all};
use toolwire::translate::{self, Options};

use crate::PROTOCOLS;
use crate::documents::{documents, streams};
use crate::streams::accumulate::accumulate;

/// An answer with parallel calls, in a protocol.
fn answer(protocol: Protocol, ids: &[String]) -> Vec<u8> {
    let calls: Vec<String> = ids
        .iter()
        .map(|id| {
            format!(
                r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{\"n\":1.0}}"}}}}"#
            )
        })
        .collect();
    let chat = format!(
        r#"{{"id":"a","model":"m","choices":[{{"index":0,"finish_reason":"tool_calls","message":
           {{"role":"assistant","content":"Let me see.","tool_calls":[{}]}}}}]}}"#,
        calls.join(",")
    );
    in_protocol(translate::response, protocol, chat)
}

/// A request that asks something, in a protocol.
fn request(protocol: Protocol) -> Vec<u8> {
    let chat = r#"{"model":"m","messages":[{"role":"user","content":"Go"}],
        "tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}"#;
    in_protocol(translate::request, protocol, chat.to_owned())
}

fn in_protocol(
    kind: fn(
        Protocol,
        Protocol,
        &[u8],
        &Options<'_>,
    ) -> Result<translate::Translated, translate::Error>,
    protocol: Protocol,
    chat: String,
) -> Vec<u8> {
    if protocol == Protocol::Chat {
        return chat.into();
    }
    kind(Protocol::Chat, protocol, chat.as_bytes(), &Options::new()).unwrap().body
}

/// Whatever order and subset of results arrives, with results of nobody's call
/// among them: the next request is valid for its protocol, answers every call
/// exactly once, and nothing has to be repaired on its way to any other.
#[test]
fn every_call_is_answered_exactly_once_whatever_arrives() {
    arbtest(|u| {
        let protocol = *u.choose(&PROTOCOLS)?;
        let count = u.int_in_range(1..=6)?;
        let ids: Vec<String> = (0..count).map(|n| format!("call_{n}")).collect();
        let answer = answer(protocol, &ids);
        let calls = calls::parse(protocol, &answer).unwrap();
        let mut came = Vec::new();
        for _ in 0..u.int_in_range(0..=9)? {
            let id = if u.ratio(1, 8)? { "nobody" } else { &calls[u.choose_index(count)?].id };
            let failed = u.arbitrary()?;
            let text = "done";
            came.push(if failed {
                ToolOutput::error(id, text)
            } else {
                ToolOutput::text(id, text)
            });
        }
        let answered = answer_all(&calls, came);
        let next = calls::next_request(protocol, &request(protocol), &answer, &answered.outputs);
        let next = next.unwrap();
        serde_json::from_slice::<Value>(&next).unwrap();

        let tracker = Tracker::of_request(protocol, &next, Duration::ZERO).unwrap();
        assert_eq!(tracker.calls().len(), count);
        assert!(tracker.calls().iter().all(|call| call.results == 1 && call.is_answered()));
        assert_eq!(tracker.orphans(), []);
        for target in PROTOCOLS.into_iter().filter(|target| *target != protocol) {
            let sent = translate::request(protocol, target, &next, &Options::new()).unwrap();
            let repairs = ["missing_result", "orphan_result", "duplicate_result", "result_moved"];
            let repaired =
                sent.ledger.iter().any(|entry| repairs.contains(&entry.code.to_string().as_str()));
            assert!(!repaired, "{protocol} to {target}: {:?}", sent.ledger);
        }
        Ok(())
    });
}

/// The tracker finds exactly what the encoders repair.
#[test]
fn what_the_tracker_misses_is_what_encoders_repair() {
    let mut repaired = 0;
    for (folder, protocol, body) in documents("requests") {
        let Ok(tracker) = Tracker::of_request(protocol, &body, Duration::ZERO) else { continue };
        for target in PROTOCOLS.into_iter().filter(|target| *target != protocol) {
            let Ok(sent) = translate::request(protocol, target, &body, &Options::new()) else {
                continue;
            };
            let count = |code: &str| {
                sent.ledger.iter().filter(|entry| entry.code.to_string() == code).count()
            };
            let unanswered = tracker.calls().iter().filter(|call| !call.is_answered()).count();
            let found = (unanswered, tracker.orphans().len());
            let told = (count("missing_result"), count("orphan_result"));
            repaired += told.0 + told.1;
            assert_eq!(found, told, "{} to {target}", folder.display());
        }
    }
    assert!(repaired > 10, "only {repaired} repairs");
}

#[test]
fn several_turns_in_every_protocol() {
    for protocol in PROTOCOLS {
        let mut tracker = Tracker::new();
        for turn in 0..3_u64 {
            let ids = [format!("a{turn}"), format!("b{turn}")];
            let now = Duration::from_secs(turn);
            let made = tracker.answer(protocol, &answer(protocol, &ids), now).unwrap();
            assert_eq!(tracker.pending().count(), 2);
            for call in &made[turn.min(1) as usize..] {
                tracker.result(&ToolOutput::text(&call.id, "done"), now);
            }
        }
        tracker.end_turn();
        let missing: Vec<usize> =
            tracker.in_state(CallState::Missing).map(|call| call.turn).collect();
        assert_eq!(missing, [1, 2], "{protocol}");
    }
}

/// Feeds a stream in pieces of a size, and gives its calls and its answer.
fn streamed(
    protocol: Protocol,
    bytes: &[u8],
    size: usize,
) -> Result<(Vec<ToolCall>, Vec<u8>), calls::Error> {
    let mut answer = StreamedAnswer::new(protocol);
    let mut calls = Vec::new();
    for piece in bytes.chunks(size) {
        calls.extend(answer.push(piece)?.calls);
    }
    let (last, response) = answer.finish()?;
    calls.extend(last.calls);
    Ok((calls, response))
}

/// A stream has the calls that its whole answer has, however it is cut; and the
/// answer is the one that the vendor's SDKs would have put together.
#[test]
fn a_stream_has_the_calls_of_its_answer() {
    let mut seen = 0;
    let mut compared = 0;
    let mut odd = 0;
    let mut wrong = Vec::new();
    for stream in streams() {
        let protocol = stream.from;
        let whole = streamed(protocol, &stream.bytes, usize::MAX);
        let pieces = streamed(protocol, &stream.bytes, 7);
        assert_eq!(whole, pieces, "{}", stream.name());
        let Ok((mut calls, response)) = whole else { continue };
        serde_json::from_slice::<Value>(&response).unwrap();
        let mut parsed = calls::parse(protocol, &response).unwrap();
        // What was cut has an object in its place where the protocol wants one,
        // and no arguments at all are an empty one.
        for call in calls.iter_mut().chain(&mut parsed) {
            let is_json = |json: &str| serde_json::from_str::<Value>(json).is_ok();
            if call.arguments().is_some_and(|json| !is_json(json)) {
                call.input = Input::Arguments("{}".to_owned());
            }
        }
        let by_id = |call: &ToolCall| (call.id.clone(), call.name.clone());
        calls.sort_by_key(by_id);
        parsed.sort_by_key(by_id);
        if calls != parsed {
            wrong.push(format!("{}\n  {calls:?}\n  {parsed:?}", stream.name()));
        }
        seen += calls.len();
        if !Protocol::ALL.contains(&protocol) {
            continue;
        }
        let ours = || content(protocol, &serde_json::from_slice(&response).unwrap());
        if let Some((_, expected)) = ODD.iter().find(|(name, _)| stream.folder.ends_with(name)) {
            odd += 1;
            assert_eq!(
                ours(),
                serde_json::from_str::<Value>(expected).unwrap(),
                "{}",
                stream.name()
            );
            continue;
        }
        let oracle = || accumulate(protocol, &stream.bytes);
        if let Ok(oracle) = std::panic::catch_unwind(AssertUnwindSafe(oracle)) {
            compared += 1;
            let (ours, theirs) = (ours(), content(protocol, &oracle));
            if !has_all(&ours, &theirs) {
                wrong.push(format!("{}\n  ours   {ours}\n  theirs {theirs}", stream.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 20 && compared > 50, "only {seen} calls and {compared} answers");
    assert_eq!(odd, ODD.len());
}

/// Streams that the vendors' SDKs put together wrongly, with what the model said
/// in them.
const ODD: [(&str, &str); 9] = [
    // Pieces of a call with another index than its beginning: an SDK goes by the index.
    (
        "chat-index-ahead-of-its-call",
        r#"{"role":"assistant","tool_calls":[{"id":"call_a","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}},{"id":"call_b","type":"function","function":{"name":"write","arguments":"{\"b\":2}"}}]}"#,
    ),
    (
        "chat-index-behind-its-call",
        r#"{"role":"assistant","tool_calls":[{"id":"call_a","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}}]}"#,
    ),
    (
        "chat-index-one-behind-two-calls",
        r#"{"role":"assistant","tool_calls":[{"id":"call_a","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}},{"id":"call_b","type":"function","function":{"name":"write","arguments":"{\"b\":2}"}}]}"#,
    ),
    // Calls without ids, all with index 0: an SDK makes one call of them.
    (
        "chat-gemini-missing-ids",
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"call_MNt64ZbKghux1QjYnFU3uFFZ","type":"function","extra_content":{"google":{"thought_signature":"CpcHAdHtim"}},"function":{"name":"get_weather","arguments":"{\"location\":\"Graz\"}"}},{"id":"call_6XUbvF1qXDHvxAcGfkY15atZ","type":"function","function":{"name":"get_weather","arguments":"{\"location\":\"Wien\"}"}}]}"#,
    ),
    (
        "chat-vendor-every-index-zero",
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"call_a","type":"function","function":{"name":"read","arguments":"{\"p\":1}"}},{"id":"call_b","type":"function","function":{"name":"read","arguments":"{\"p\":2}"}}]}"#,
    ),
    // No index at all.
    (
        "chat-vllm-missing-index",
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"chatcmpl-tool-a","type":"function","function":{"name":"read","arguments":"{\"p\":1}"}},{"id":"chatcmpl-tool-b","type":"function","function":{"name":"read","arguments":"{\"p\":2}"}}]}"#,
    ),
    // Arguments that were cut. Messages wants an object in their place, or it
    // refuses the conversation that has them.
    (
        "messages-freeform-call-cut",
        r#"[{"type":"tool_use","id":"toolu_01FreeformCut000000000","name":"apply_patch","input":{}}]"#,
    ),
    (
        "messages-max-tokens-in-call",
        r#"[{"type":"text","text":"I write the file."},{"type":"tool_use","id":"toolu_01MaxTokens0000000000","name":"write_file","input":{}}]"#,
    ),
    // The last event, which an SDK takes for the whole answer, leaves out what
    // the events before it said.
    (
        "responses-only-items-done",
        r#"[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Let me look.","annotations":[]}]},{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"city\":\"Paris\"}","call_id":"call_1","name":"get_weather"}]"#,
    ),
];

/// Whether a value has everything that another has. The oracle says nothing of
/// members that it does not know how to put together.
fn has_all(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (_, Value::Null) => true,
        (Value::Object(ours), Value::Object(theirs)) => {
            theirs.iter().all(|(key, value)| has_all(ours.get(key).unwrap_or(&Value::Null), value))
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(ours, theirs)| has_all(ours, theirs))
        }
        (ours, theirs) => ours == theirs,
    }
}

/// What the model said in an answer.
fn content(protocol: Protocol, answer: &Value) -> Value {
    match protocol {
        Protocol::Chat => answer["choices"][0]["message"].clone(),
        Protocol::Responses => answer["output"].clone(),
        Protocol::Messages => answer["content"].clone(),
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

/// A call can begin before the stream has ended, once its arguments are whole.
#[test]
fn a_call_is_ready_before_its_stream_ends() {
    for protocol in Protocol::ALL {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/streams");
        let name = format!("{folder}/{protocol}-parallel-calls/in.{protocol}.sse");
        let Ok(bytes) = std::fs::read(&name) else { continue };
        let mut answer = StreamedAnswer::new(protocol);
        let early = bytes.iter().position(|byte| {
            let arrived = answer.push(std::slice::from_ref(byte)).unwrap();
            !arrived.calls.is_empty()
        });
        let early = early.unwrap_or_else(|| panic!("no call in {name}"));
        assert!(early < bytes.len() * 9 / 10, "{name}: at {early} of {}", bytes.len());
        assert!(!answer.is_complete());
    }
}

#[test]
fn a_stream_that_was_cut_has_no_answer() {
    for stream in streams().into_iter().take(40) {
        if streamed(stream.from, &stream.bytes, usize::MAX).is_err() {
            continue;
        }
        let cut = &stream.bytes[..stream.bytes.len() / 2];
        let error = streamed(stream.from, cut, usize::MAX).unwrap_err();
        assert!(matches!(error, calls::Error::Answer(_)), "{}: {error}", stream.name());
    }
}
