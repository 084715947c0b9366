//! The tool loop closes: what a model said comes back to it as it was.
//!
//! An answer goes down to a client of another protocol, the client sends it
//! back with the results of its calls, and the request goes up again. The
//! upstream must find its own reasoning, calls and text, byte for byte.

use std::path::Path;

use serde_json::Value;
use toolwire::calls::{self, Input, ToolCall, ToolOutput};
use toolwire::model::{Arguments, Issuer, Item, NativeKind, Role, Turn};
use toolwire::translate::{self, Error, Options};
use toolwire::{Code, Profile, Protocol, codec};

use crate::PROTOCOLS;
use crate::documents::documents;
use crate::json::pretty;

#[test]
fn what_a_model_said_comes_back_to_it() {
    let mut closed = 0;
    let mut wrong = Vec::new();
    for (folder, upstream, answer) in documents("responses") {
        if is_made_for_a_client(&folder, upstream, &answer) {
            continue;
        }
        for client in PROTOCOLS.into_iter().filter(|client| *client != upstream) {
            let asked = std::fs::read(folder.join(format!("request.{client}.json")));
            // Tools that only the upstream's protocol has come back as
            // themselves only if the client declared what stands for them.
            if asked.is_err() && has_special_calls(upstream, &answer) {
                continue;
            }
            // Deprecated calls have no id of their own to come back, and calls
            // that share one get others.
            let ids = ["chat-legacy-function-call", "chat-repeated-call-ids"];
            if ids.iter().any(|name| folder.ends_with(name)) {
                continue;
            }
            let asked = asked.unwrap_or_else(|_| plain_request(client));
            match round(client, upstream, &asked, &answer) {
                Ok(None) => {}
                // The request may have had a history before.
                Ok(Some((said, heard))) if heard.ends_with(&said) => closed += 1,
                Ok(Some((said, heard))) => {
                    wrong.push(format!(
                        "{} through {client}\n  said  {said:?}\n  heard {heard:?}",
                        folder.display()
                    ));
                }
                Err(what) => wrong.push(format!("{} through {client}: {what}", folder.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(closed > 30, "only {closed} loops");
}

/// An upstream may name its calls as a client's protocol does not allow. The
/// client gets ids that it can take, and the upstream finds its own again.
#[test]
fn an_upstream_finds_its_own_ids() {
    let mut replaced = 0;
    for upstream in PROTOCOLS {
        let mut profile = Profile::of(upstream);
        profile.ids.word = false;
        let up = Options::new().profile(profile);
        for client in PROTOCOLS.into_iter().filter(|client| *client != upstream) {
            for id in ["functions.x:0", "a b", "a\"b\\c", "\u{e9}", "tw_", "call_1", "tw_Zm9v"] {
                let told = format!("{id:?} of {upstream} through {client}");
                let asked = plain_request(client);
                let down = translate::response(
                    upstream,
                    client,
                    &one_call(upstream, id),
                    &Options::new().request(&asked),
                );
                let down = down.unwrap().body;
                let made = calls::parse(client, &down).unwrap();
                let outputs: Vec<_> =
                    made.iter().map(|call| ToolOutput::text(&call.id, "done")).collect();
                replaced += made.iter().filter(|call| call.id != id).count();
                let next = calls::next_request(client, &asked, &down, &outputs).unwrap();
                let body = translate::request(client, upstream, &next, &up).unwrap().body;
                let body: Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(count(&body, id), 2, "{told}: {body}");
            }
        }
    }
    assert!(replaced > 10, "{replaced}");
}

/// A relay has models of many vendors behind one address. Those of Kimi get the ids that
/// they made, and all others ids that the strictest of them takes.
#[test]
fn a_model_that_reads_its_ids_gets_them_back() {
    let id = "functions.x:0";
    for (model, back) in [("moonshotai/kimi-k2.5", id), ("acme/large", "tw_ZnVuY3Rpb25zLng6MA")] {
        let asked = String::from_utf8(plain_request(Protocol::Messages)).unwrap();
        let asked = asked.replace("\"m\"", &format!("{model:?}"));
        let answer = one_call(Protocol::Chat, id);
        let down = translate::response(
            Protocol::Chat,
            Protocol::Messages,
            &answer,
            &Options::new().request(asked.as_bytes()),
        );
        let down = down.unwrap().body;
        let made = calls::parse(Protocol::Messages, &down).unwrap();
        let outputs = [ToolOutput::text(&made[0].id, "done")];
        let next =
            calls::next_request(Protocol::Messages, asked.as_bytes(), &down, &outputs).unwrap();
        let up = translate::request(Protocol::Messages, Protocol::Chat, &next, &Options::new());
        let up: Value = serde_json::from_slice(&up.unwrap().body).unwrap();
        assert_eq!(count(&up, back), 2, "{model}: {up}");
    }
}

/// An answer of a protocol that makes one call with that id.
fn one_call(protocol: Protocol, id: &str) -> Vec<u8> {
    let chat = br#"{"id":"a","model":"m","choices":[{"index":0,"message":{"role":"assistant",
        "content":null,"tool_calls":[{"id":"call_ID","type":"function",
        "function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    let answer = if protocol == Protocol::Chat {
        chat.to_vec()
    } else {
        translate::response(Protocol::Chat, protocol, chat, &Options::new()).unwrap().body
    };
    let literal = Value::from(id).to_string();
    String::from_utf8(answer).unwrap().replace("\"call_ID\"", &literal).into()
}

/// How often a text stands in a document as a value.
fn count(value: &Value, text: &str) -> usize {
    match value {
        Value::Array(list) => list.iter().map(|value| count(value, text)).sum(),
        Value::Object(map) => map.values().map(|value| count(value, text)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            usize::from(value == text)
        }
    }
}

/// The answers of a protocol without vectors were translated for a client of it.
/// Some have what no upstream says: envelopes around what another vendor sealed,
/// and names that tools have toward another upstream.
fn is_made_for_a_client(folder: &Path, upstream: Protocol, answer: &[u8]) -> bool {
    let has_request = |client| folder.join(format!("request.{client}.json")).exists();
    let has_envelope = answer.windows(5).any(|bytes| bytes == b"\"tw1.");
    !Protocol::ALL.contains(&upstream) && (has_envelope || PROTOCOLS.into_iter().any(has_request))
}

type Transcript = Vec<String>;

/// What the model said and what it hears of it in the next request. `None` if
/// the answer makes no calls, so that nothing goes back.
fn round(
    client: Protocol,
    upstream: Protocol,
    asked: &[u8],
    answer: &[u8],
) -> Result<Option<(Transcript, Transcript)>, String> {
    let options = Options::default();
    let down = match translate::response(upstream, client, answer, &options.clone().request(asked))
    {
        Ok(down) => down,
        // Failed answers are errors to the client, not answers.
        Err(Error::Refused { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let made = match calls::parse(client, &down.body) {
        Ok(made) => made,
        // Clients of Responses get them as answers that say so.
        Err(calls::Error::Answer(_)) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if made.is_empty() {
        return Ok(None);
    }
    let answered = |call: &ToolCall| match call.input {
        Input::Action(NativeKind::ToolSearch, _) => ToolOutput::json(&call.id, "[]"),
        Input::Arguments(_) | Input::Freeform(_) | Input::Action(_, _) | _ => {
            ToolOutput::text(&call.id, "done")
        }
    };
    let outputs: Vec<ToolOutput> = made.iter().map(answered).collect();
    let next = calls::next_request(client, asked, &down.body, &outputs)
        .map_err(|error| error.to_string())?;
    let up =
        translate::request(client, upstream, &next, &options).map_err(|error| error.to_string())?;
    // Chat has one place for text and one for calls, and says so; what was cut
    // off is closed toward Messages, and says so too.
    let excuses = [Code::Interleaving, Code::MessageBoundary, Code::ArgumentsTruncated];
    if down.ledger.iter().chain(&up.ledger).any(|entry| excuses.contains(&entry.code)) {
        return Ok(None);
    }
    let up = String::from_utf8(up.body).unwrap();
    let heard = codec(upstream).decode_request(&up).map_err(|error| format!("{error}: {up}"))?;
    let answer = std::str::from_utf8(answer).unwrap();
    let response = (codec(upstream).decode_response)(answer).unwrap();
    let said =
        response.candidates.first().map_or(Vec::new(), |candidate| transcript(&candidate.turns));
    Ok(Some((said, transcript(&heard.turns))))
}

/// What a model said, in order: sealed reasoning, text, calls.
fn transcript(turns: &[Turn<'_>]) -> Transcript {
    let mut said = Vec::new();
    for item in
        turns.iter().filter(|turn| turn.role == Role::Assistant).flat_map(|turn| &turn.items)
    {
        match item {
            Item::Reasoning(reasoning) => {
                // Only what is sealed must come back; the rest is for show.
                if let Some(sealed) = &reasoning.sealed
                    && !matches!(sealed.issuer, Issuer::Vendor(_))
                {
                    said.push(format!("reasons {:?} {sealed:?}", reasoning.summary));
                }
            }
            Item::Text(text) if !text.text.is_blank() => said.push(format!("says {:?}", text.text)),
            Item::Call(call) => {
                let arguments = match &call.arguments {
                    Arguments::Text(text) if text.is_empty() => "{}".to_owned(),
                    Arguments::Text(text) => compact(&text.decode()),
                    Arguments::Json(raw) => compact(raw.text()),
                    Arguments::Freeform(text) => format!("freeform {:?}", text),
                    Arguments::Native(kind, raw) => format!("{kind:?} {}", raw.text()),
                };
                said.push(format!(
                    "calls {:?} {:?} {:?} {arguments}",
                    call.id, call.namespace, call.name
                ));
            }
            Item::Text(_)
            | Item::Image(_)
            | Item::Document(_)
            | Item::Audio(_)
            | Item::SearchResult(_)
            | Item::Refusal(_)
            | Item::Result(_)
            | Item::Hosted(_)
            | Item::Tools(_)
            | Item::ToolReference(_)
            | Item::Json(_)
            | Item::Opaque(_) => {}
        }
    }
    said
}

fn has_special_calls(upstream: Protocol, answer: &[u8]) -> bool {
    let made = calls::parse(upstream, answer).unwrap_or_default();
    made.iter().any(|call| call.namespace.is_some() || !matches!(call.input, Input::Arguments(_)))
}

/// Native tools are taken apart and put together, which may move whitespace.
fn compact(json: &str) -> String {
    pretty(json).split_whitespace().collect()
}

fn plain_request(protocol: Protocol) -> Vec<u8> {
    match protocol {
        Protocol::Chat => r#"{"model":"m","messages":[{"role":"user","content":"go"}]}"#,
        Protocol::Responses => r#"{"model":"m","input":[{"role":"user","content":"go"}]}"#,
        Protocol::Messages => {
            r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}]}"#
        }
        other => {
            let chat = plain_request(Protocol::Chat);
            return translate::request(Protocol::Chat, other, &chat, &Options::new()).unwrap().body;
        }
    }
    .into()
}
