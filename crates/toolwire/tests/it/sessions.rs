//! Conversations of which clients send only what is new.

use std::time::Duration;

use arbitrary::Unstructured;
use serde_json::{Value, json};
use toolwire::calls::{self, StreamedAnswer};
use toolwire::ledger::Entry;
use toolwire::pipe::Pipe;
use toolwire::protocol::PathMatch;
use toolwire::session;
use toolwire::tracker::Tracker;
use toolwire::translate::{Error, Options, PreparedRequest, RequestHead, Translated};
use toolwire::{Code, LossPolicy, Protocol, codec, translate};

use crate::documents::{documents, streams};

const CLIENTS: [Protocol; 2] = [Protocol::Chat, Protocol::Messages];

/// Translates a request behind the messages of a session.
fn continued(
    from: Protocol,
    to: Protocol,
    request: &[u8],
    earlier: &[(Protocol, String)],
    options: &Options<'_>,
) -> Result<Translated, Error> {
    let read = session::read_request(from, request)?.unwrap();
    let mut whole = Vec::new();
    read.write_whole(earlier.iter().map(|(_, message)| message.as_bytes()), &mut whole);
    let head = RequestHead::read(from, &PathMatch::default(), &whole)?;
    let origins: Vec<Protocol> = earlier.iter().map(|(origin, _)| *origin).collect();
    PreparedRequest::with_session(from, to, &head, &whole, &origins)?.translate(options)
}

fn str(body: &[u8]) -> &str {
    std::str::from_utf8(body).unwrap()
}

/// The messages of a request, as they are spelled.
fn messages(protocol: Protocol, request: &[u8]) -> Vec<String> {
    let read = session::read_request(protocol, request).unwrap().unwrap();
    read.messages.iter().map(|message| message.text.text().to_owned()).collect()
}

/// The request with other messages.
fn with_messages(request: &[u8], messages: &[String]) -> Vec<u8> {
    let mut request: Value = serde_json::from_slice(request).unwrap();
    let messages = messages.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    request["messages"] = Value::Array(messages);
    serde_json::to_vec(&request).unwrap()
}

/// A line about the whole list of messages, as one about the session or the
/// client's own list.
fn renamed(entry: &Entry, earlier: usize) -> Entry {
    let mut renamed = entry.clone();
    let mut steps: Vec<String> = entry.path.split('/').map(str::to_owned).collect();
    if steps.len() > 2 && steps[1] == "messages" {
        let index: usize = steps[2].parse().unwrap();
        if index < earlier {
            steps[1] = "session".to_owned();
        } else {
            steps[2] = (index - earlier).to_string();
        }
        renamed.path = steps.join("/");
    }
    renamed
}

fn requests() -> Vec<(String, Protocol, Vec<u8>)> {
    let found = documents("requests").into_iter().filter(|(_, protocol, body)| {
        CLIENTS.contains(protocol) && serde_json::from_slice::<Value>(body).is_ok()
    });
    found.map(|(folder, from, body)| (folder.display().to_string(), from, body)).collect()
}

/// Wherever a conversation is split into what the gateway keeps and what the
/// client sends, the upstream gets what it would have got of the whole.
#[test]
fn a_session_is_the_request_that_the_client_did_not_have_to_send() {
    let mut compared = 0;
    for (name, from, body) in requests() {
        let Ok(Some(read)) = session::read_request(from, &body) else { continue };
        let leading = read.messages.iter().filter(|message| message.is_instruction).count();
        let all = messages(from, &body);
        // The same spelling on both sides, whatever serde_json makes of it.
        let body = with_messages(&body, &all);
        let all = messages(from, &body);
        let is_whole = Tracker::of_request(from, &body, Duration::ZERO).is_ok_and(|t| t.is_whole());
        let renamed_model = Options::new().model("another-model");
        let ways = [Options::new(), renamed_model];
        let pairs = Protocol::ALL.into_iter().flat_map(|to| ways.iter().map(move |way| (to, way)));
        for (to, options) in pairs {
            let wanted = translate::request(from, to, &body, options);
            if from == to && !is_whole {
                continue;
            }
            for split in leading..=all.len() {
                let (earlier, own) = all.split_at(split);
                // Instructions in front of a request are those of all of it.
                let first: Option<Value> = own.first().map(|m| serde_json::from_str(m).unwrap());
                let role = first.and_then(|first| first["role"].as_str().map(str::to_owned));
                if matches!(role.as_deref(), Some("system" | "developer")) {
                    continue;
                }
                let earlier: Vec<_> = earlier.iter().map(|text| (from, text.clone())).collect();
                let own = with_messages(&body, own);
                let got = continued(from, to, &own, &earlier, options);
                let path = |entries: &[Entry]| -> Vec<Entry> {
                    entries.iter().map(|entry| renamed(entry, split)).collect()
                };
                match (&wanted, got) {
                    (Ok(wanted), Ok(got)) => {
                        let value = |body: &[u8]| serde_json::from_slice::<Value>(body).unwrap();
                        let place = format!("{name} {from} {to} {split}");
                        // Results that do not follow their calls are put in order.
                        let moved = got.ledger.iter().any(|e| e.code == Code::ResultMoved);
                        if from == to && moved {
                            continue;
                        }
                        assert_eq!(value(&got.body), value(&wanted.body), "{place}");
                        assert_eq!(got.ledger, path(&wanted.ledger), "{place}");
                        compared += 1;
                    }
                    (Err(Error::Refused { entries: wanted }), Err(Error::Refused { entries })) => {
                        assert_eq!(entries, path(wanted), "{name} {from} {to} {split}");
                    }
                    (Err(_), Err(_)) => {}
                    (wanted, got) => panic!("{name} {from} {to} {split}: {wanted:?} {got:?}"),
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

/// A conversation that goes on in another protocol keeps its calls: who made
/// them, under which id, and with which arguments.
#[test]
fn calls_survive_a_change_of_protocol() {
    let mut found = 0;
    for (name, from, body) in requests() {
        let Ok(before) = Tracker::of_request(from, &body, Duration::ZERO) else { continue };
        if before.calls().is_empty() || !before.is_whole() {
            continue;
        }
        let earlier: Vec<_> =
            messages(from, &body).into_iter().map(|message| (from, message)).collect();
        for client in CLIENTS {
            let own = json!({"model": "m", "max_tokens": 9,
                "messages": [{"role": "user", "content": "Go on."}]});
            let own = own.to_string();
            let got = continued(client, from, own.as_bytes(), &earlier, &Options::new());
            let Ok(got) = got else { panic!("{name} {from} {client}: {got:?}") };
            let after = Tracker::of_request(from, &got.body, Duration::ZERO).unwrap();
            let place = format!("{name} {from} {client}: {}", str(&got.body));
            let ids = |tracker: &Tracker| -> Vec<String> {
                tracker.calls().iter().map(|call| call.id.clone()).collect()
            };
            // The deprecated functions have names in place of ids.
            let has_ids = !str(&body).contains("\"function_call\"");
            if has_ids && !got.ledger.iter().any(|entry| entry.code == Code::CallId) {
                assert_eq!(ids(&after), ids(&before), "{place}");
            }
            assert!(after.is_whole(), "{place}");
            found += 1;
        }
    }
    assert!(found > 40, "{found}");
}

/// Sealed reasoning goes back to its vendor as it came, whichever client asks
/// and whichever client had got it.
#[test]
fn sealed_reasoning_survives_a_change_of_protocol() {
    let answer = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [
            {"type": "thinking", "thinking": "Hm \u{1f914}", "signature": "c2VhbA=="},
            {"type": "redacted_thinking", "data": "cmVk"},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 1.0}}]});
    let answer = answer.to_string();
    for first in CLIENTS {
        let options = Options::new();
        let seen = translate::response(Protocol::Messages, first, answer.as_bytes(), &options);
        let seen = String::from_utf8(seen.unwrap().body).unwrap();
        let mut earlier = vec![(first, r#"{"role":"user","content":"Hi"}"#.to_owned())];
        let items = (codec(first).answer_items)(&seen).unwrap();
        earlier.extend(items.into_iter().map(|item| (first, item)));
        for second in CLIENTS {
            let result = if second == Protocol::Chat {
                json!({"role": "tool", "tool_call_id": "toolu_1", "content": "1"})
            } else {
                json!({"role": "user", "content": [{"type": "tool_result",
                    "tool_use_id": "toolu_1", "content": "1"}]})
            };
            let body = json!({"model": "m", "max_tokens": 2048, "messages": [result]}).to_string();
            let got = continued(second, Protocol::Messages, body.as_bytes(), &earlier, &options);
            let got: Value = serde_json::from_slice(&got.unwrap().body).unwrap();
            assert!(got.get("session").is_none(), "{got}");
            assert_eq!(
                got["messages"][1]["content"],
                json!([{"type": "thinking", "thinking": "Hm \u{1f914}", "signature": "c2VhbA=="},
                    {"type": "redacted_thinking", "data": "cmVk"},
                    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 1.0}}]),
                "{first} {second}"
            );
            assert_eq!(got["messages"][2]["content"][0]["tool_use_id"], "toolu_1");
        }
    }
}

/// A call without a result is answered for the client, also toward an upstream
/// of its own protocol, and a result that comes late takes the place.
#[test]
fn a_partial_tool_sequence_is_repaired_and_reported() {
    let call = |id: &str| {
        json!({"id": id, "type": "function",
            "function": {"name": "f", "arguments": "{}"}})
    };
    let earlier = [
        json!({"role": "user", "content": "Hi"}),
        json!({"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]}),
    ];
    let mut earlier: Vec<_> = earlier.iter().map(|m| (Protocol::Chat, m.to_string())).collect();
    let body = br#"{"model":"m","x_own":[1.0],"tools":[{"type":"function","function":{"name":"f"}}],
        "messages":[{"role":"tool","tool_call_id":"b","content":"2"},{"role":"user","content":"And?"}]}"#;
    for to in Protocol::ALL {
        let got = continued(Protocol::Chat, to, body, &earlier, &Options::new()).unwrap();
        let lost: Vec<_> =
            got.ledger.iter().filter(|entry| entry.code == Code::MissingResult).collect();
        assert_eq!(lost.len(), 1, "{to}: {:?}", got.ledger);
        assert_eq!(lost[0].path, "/session/1/tool_calls/0", "{to}");
        let sent = String::from_utf8(got.body).unwrap();
        assert!(sent.contains("no result supplied"), "{to}: {sent}");
        if to == Protocol::Chat {
            assert!(sent.contains(r#""x_own":[1.0]"#) && sent.contains(r#""tools":[{"#), "{sent}");
            assert!(!sent.contains("session"), "{sent}");
        }
        let refusing = Options::new().on_loss(LossPolicy::Refuse);
        let refused = continued(Protocol::Chat, to, body, &earlier, &refusing);
        assert!(matches!(refused, Err(Error::Refused { .. })), "{to}");
    }
    let more = [
        json!({"role": "tool", "tool_call_id": "b", "content": "2"}),
        json!({"role": "assistant", "content": "One is missing."}),
    ];
    earlier.extend(more.iter().map(|message| (Protocol::Chat, message.to_string())));
    let body = br#"{"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":"late"}]}"#;
    let got = continued(Protocol::Chat, Protocol::Chat, body, &earlier, &Options::new()).unwrap();
    let sent: Value = serde_json::from_slice(&got.body).unwrap();
    let roles: Vec<_> = sent["messages"].as_array().unwrap().iter().map(|m| &m["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant"], "{sent}");
}

/// Results that nobody waits for are reported, also toward an upstream of the
/// client's own protocol, which would refuse them.
#[test]
fn results_too_many() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let result =
        |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let earlier = [
        json!({"role": "user", "content": "Hi"}),
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        result("a", "first"),
    ];
    let earlier: Vec<_> = earlier.iter().map(|m| (Protocol::Chat, m.to_string())).collect();
    for (extra, code) in [("a", Code::DuplicateResult), ("x", Code::OrphanResult)] {
        let body = json!({"model": "m", "messages": [result(extra, "second")]}).to_string();
        for to in Protocol::ALL {
            let got =
                continued(Protocol::Chat, to, body.as_bytes(), &earlier, &Options::new()).unwrap();
            let codes: Vec<_> = got.ledger.iter().map(|entry| &entry.code).collect();
            assert!(codes.contains(&&code), "{to} {extra}: {:?}", got.ledger);
            assert!(str(&got.body).contains("second"), "{to} {extra}: {}", str(&got.body));
        }
    }
}

/// Messages wants all results in one message, however many requests brought
/// them.
#[test]
fn results_of_several_requests_are_one_message() {
    let result = |id: &str| {
        json!({"role": "user", "content": [{"type": "tool_result",
            "tool_use_id": id, "content": "1"}]})
    };
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
    let earlier = [
        json!({"role": "user", "content": "Hi"}),
        json!({"role": "assistant", "content": [call("a"), call("b")]}),
        result("b"),
    ];
    let earlier: Vec<_> = earlier.iter().map(|m| (Protocol::Messages, m.to_string())).collect();
    let body = json!({"model": "m", "max_tokens": 9, "messages": [result("a")]}).to_string();
    let to = Protocol::Messages;
    let got = continued(to, to, body.as_bytes(), &earlier, &Options::new()).unwrap();
    let sent: Value = serde_json::from_slice(&got.body).unwrap();
    assert_eq!(sent["messages"].as_array().unwrap().len(), 3, "{sent}");
    let blocks = sent["messages"][2]["content"].as_array().unwrap();
    let ids: Vec<_> = blocks.iter().map(|block| &block["tool_use_id"]).collect();
    assert_eq!(ids, ["b", "a"], "{sent}");
    assert!(got.ledger.iter().all(|entry| !entry.is_loss()), "{:?}", got.ledger);
}

/// One contribution to a conversation, which every protocol can express.
enum Contribution {
    User(String),
    /// A text, and calls by their number.
    Model(String, Vec<usize>),
    Results(Vec<usize>),
}

impl Contribution {
    /// A conversation in which the model calls tools and the user answers, in
    /// any order.
    fn conversation(u: &mut Unstructured<'_>) -> arbitrary::Result<Vec<Self>> {
        let mut said = Vec::new();
        let mut calls = 0;
        for round in 0..u.int_in_range(1..=5)? {
            said.push(Self::User(format!("question {round} \u{e9}\"")));
            for _ in 0..u.int_in_range(0..=2)? {
                let mut own: Vec<usize> = (0..u.int_in_range(1..=3)?).map(|n| calls + n).collect();
                calls += own.len();
                let text = if u.arbitrary()? { "Let me see." } else { "" };
                said.push(Self::Model(text.to_owned(), own.clone()));
                let turn = u.int_in_range(0..=own.len() - 1)?;
                own.rotate_left(turn);
                said.push(Self::Results(own));
            }
            said.push(Self::Model(format!("answer {round}"), Vec::new()));
        }
        said.push(Self::User("last".to_owned()));
        Ok(said)
    }

    fn messages(&self, protocol: Protocol) -> Vec<String> {
        let is_chat = protocol == Protocol::Chat;
        let messages = match self {
            Self::User(text) => vec![json!({"role": "user", "content": text})],
            Self::Model(text, calls) if is_chat => {
                let call = |n| {
                    json!({"id": format!("c{n}"), "type": "function",
                        "function": {"name": "f", "arguments": format!("{{\"n\":{n}}}")}})
                };
                let calls: Vec<_> = calls.iter().map(call).collect();
                let mut message = json!({"role": "assistant", "content": text});
                if !calls.is_empty() {
                    message["tool_calls"] = json!(calls);
                    if text.is_empty() {
                        message["content"] = Value::Null;
                    }
                }
                vec![message]
            }
            Self::Model(text, calls) => {
                let text = Some(text).filter(|text| !text.is_empty());
                let text = text.map(|text| json!({"type": "text", "text": text}));
                let call = |n| {
                    json!({"type": "tool_use", "id": format!("c{n}"),
                        "name": "f", "input": {"n": n}})
                };
                let blocks: Vec<_> = text.into_iter().chain(calls.iter().map(call)).collect();
                vec![json!({"role": "assistant", "content": blocks})]
            }
            Self::Results(calls) if is_chat => {
                let result = |n| {
                    json!({"role": "tool", "tool_call_id": format!("c{n}"),
                        "content": format!("result {n}")})
                };
                calls.iter().map(result).collect()
            }
            Self::Results(calls) => {
                let block = |n| {
                    json!({"type": "tool_result", "tool_use_id": format!("c{n}"),
                        "content": format!("result {n}")})
                };
                let blocks: Vec<_> = calls.iter().map(block).collect();
                vec![json!({"role": "user", "content": blocks})]
            }
        };
        messages.iter().map(Value::to_string).collect()
    }
}

/// It does not matter which client has said what: the upstream gets the same.
#[test]
fn any_mixture_of_protocols_is_one_conversation() {
    arbtest::arbtest(|u| {
        let said = Contribution::conversation(u)?;
        let (last, earlier) = said.split_last().unwrap();
        let client = *u.choose(&CLIENTS)?;
        let body = json!({"model": "m", "max_tokens": 9}).to_string();
        let body = with_messages(body.as_bytes(), &last.messages(client));
        let mut mixed = Vec::new();
        for one in earlier {
            let protocol = *u.choose(&CLIENTS)?;
            mixed.extend(one.messages(protocol).into_iter().map(|text| (protocol, text)));
        }
        let pure = |one: &Contribution| one.messages(client).into_iter().map(|text| (client, text));
        let pure: Vec<_> = earlier.iter().flat_map(pure).collect();
        for to in Protocol::ALL {
            // Where bytes pass, the same may be spelled in two ways, which another
            // protocol does not show.
            let seen = if to == client { Protocol::Responses } else { to };
            let sent = |earlier: &[(Protocol, String)]| -> Value {
                let options = Options::new();
                let sent = continued(client, to, &body, earlier, &options).unwrap();
                assert!(sent.ledger.iter().all(|entry| entry.code != Code::MissingResult));
                let body = if seen == to {
                    sent.body
                } else {
                    translate::request(to, seen, &sent.body, &options).unwrap().body
                };
                serde_json::from_slice(&body).unwrap()
            };
            assert_eq!(sent(&mixed), sent(&pure), "{client} {to}: {mixed:?}");
        }
        Ok(())
    });
}

/// Instructions of a request come first, and are not those of the session.
#[test]
fn instructions_come_first() {
    let earlier = [(Protocol::Chat, r#"{"role":"user","content":"Hi"}"#.to_owned())];
    let body =
        br#"{"model":"m","session_id":"s","messages":[{"role":"system","content":"Be brief."},
        {"role":"user","content":"Again"}]}"#;
    let read = session::read_request(Protocol::Chat, body).unwrap().unwrap();
    assert!(read.has_instructions);
    let flags: Vec<_> = read.messages.iter().map(|message| message.is_instruction).collect();
    assert_eq!(flags, [true, false]);
    for to in Protocol::ALL {
        let got = continued(Protocol::Chat, to, body, &earlier, &Options::new()).unwrap();
        let sent = String::from_utf8(got.body).unwrap();
        assert!(!sent.contains("session"), "{sent}");
        if to == Protocol::Chat {
            let places = ["Be brief.", "\"Hi\"", "Again"].map(|text| sent.find(text).unwrap());
            assert!(places.is_sorted(), "{sent}");
        }
    }
    let body = br#"{"model":"m","system":"Be brief.","messages":[]}"#;
    let read = session::read_request(Protocol::Messages, body).unwrap().unwrap();
    assert!(read.has_instructions);
}

/// What is kept of a stream has the calls that the client read in it.
#[test]
fn the_answer_of_a_stream() {
    let mut found = 0;
    for stream in streams() {
        for client in CLIENTS {
            let mut pipe =
                Pipe::new(stream.from, client, &Options::new()).unwrap().with_held_ending();
            let mut out = Vec::new();
            pipe.push(&stream.bytes, &mut out);
            pipe.finish(&mut out);
            let Some(held) = pipe.held_answer() else { continue };
            let held = held.text;
            pipe.release_ending(&mut out);
            let mut read = StreamedAnswer::new(client);
            let Ok(arrived) = read.push(&out) else { continue };
            let Ok((rest, response)) = read.finish() else { continue };
            let kept = calls::parse(client, held.as_bytes()).unwrap();
            let seen: Vec<_> = arrived.calls.into_iter().chain(rest.calls).collect();
            let place = stream.folder.display();
            if held.as_bytes() != response {
                assert_eq!(kept, seen, "{place} {client}");
            }
            assert!(!(codec(client).answer_items)(&held).unwrap().is_empty(), "{place} {client}");
            found += 1;
        }
    }
    assert!(found > 50, "{found}");
}
