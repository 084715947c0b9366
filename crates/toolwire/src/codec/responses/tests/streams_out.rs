//! What events are written as. Every stream is held to what the client's
//! helpers rely on, and to what the same answer is when it comes whole.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::CODEC;
use super::super::stream_out::ResponsesStreamWriter;
use super::streams_in::read_sse;
use crate::codec::StreamWriter;
use crate::fold::Fold;
use crate::ledger::{Code, Ledger};
use crate::model::{
    ApiError, Arguments, Call, CallForm, CallHead, ErrorKind, Event, Head, HostedClass, HostedItem,
    Issuer, Item, NativeKind, Opaque, Part, Piece, Protocol, ResponseContext, Role, Sealed, Start,
    Stop, Tail, Turn, Usage,
};
use crate::wire::{At, Extra, Pos, Raw, Str};

fn start(origin: Protocol) -> Event<'static> {
    Event::Start(Start {
        origin,
        id: Some(Str::plain("up_1")),
        model: Some(Str::plain("m")),
        created: Some(At::made(7)),
    })
}

fn text_block(block: usize) -> Event<'static> {
    Event::Open { block, head: Head::Text(Part::default()) }
}

fn refusal_block(block: usize) -> Event<'static> {
    Event::Open { block, head: Head::Refusal(Part::default()) }
}

fn reasoning_block(block: usize) -> Event<'static> {
    Event::Open { block, head: Head::Reasoning { id: None } }
}

fn call_block(block: usize, id: Option<&'static str>, form: CallForm) -> Event<'static> {
    Event::Open {
        block,
        head: Head::Call(CallHead {
            id: id.map(Str::plain),
            name: Str::plain("f"),
            namespace: None,
            form,
            caller: None,
            extra: Vec::new(),
        }),
    }
}

fn say(block: usize, text: &'static str) -> Event<'static> {
    Event::Delta { block, piece: Piece::Text { text: Str::plain(text), logprobs: None } }
}

fn argue(block: usize, text: &'static str) -> Event<'static> {
    Event::Delta { block, piece: Piece::Arguments(Str::plain(text)) }
}

fn sum_up(block: usize, part: usize, text: &'static str) -> Event<'static> {
    Event::Delta { block, piece: Piece::Summary { part, text: Str::plain(text) } }
}

fn think(block: usize, part: usize, text: &'static str) -> Event<'static> {
    Event::Delta { block, piece: Piece::Reasoning { part, text: Str::plain(text) } }
}

fn close(block: usize) -> Event<'static> {
    Event::Close { block, tail: Tail::default() }
}

fn stop(stop: Stop<'static>) -> [Event<'static>; 3] {
    let usage = Usage { input: 3, output: 4, ..Usage::default() };
    [Event::Usage(usage), Event::Stop { stop: At::made(stop), extra: Vec::new() }, Event::End]
}

fn whole(item: Item<'static>) -> Event<'static> {
    Event::Whole(Turn::new(Pos::NONE, Role::Assistant, vec![item]))
}

struct Written {
    sse: String,
    events: Vec<Value>,
    fold: Fold,
    ledger: Ledger,
}

fn write(events: &[Event<'_>]) -> Written {
    let mut writer = ResponsesStreamWriter::new(ResponseContext::default());
    let mut out = Vec::new();
    let mut ledger = Ledger::default();
    let mut fold = Fold::default();
    for event in events {
        fold.event(event);
        writer.write(event, &mut out, &mut ledger);
        if let Event::End = event {
            writer.write_end(&mut out);
        }
    }
    let sse = String::from_utf8(out).unwrap();
    let mut events = Vec::new();
    for event in sse.split_terminator("\n\n") {
        if event == "data: [DONE]" {
            continue;
        }
        let (name, data) = event.split_once('\n').unwrap();
        let value: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: ").unwrap(), value["type"]);
        assert_eq!(value["sequence_number"], events.len(), "{event}");
        events.push(value);
    }
    Written { sse, events, fold, ledger }
}

/// Holds a stream to what every one must keep, and gives the kinds of its
/// events, each once where it is repeated.
#[track_caller]
fn check(origin: Protocol, answer: &[Event<'static>], end: &[Event<'static>]) -> Written {
    let events: Vec<_> = [start(origin)]
        .into_iter()
        .chain(answer.iter().cloned())
        .chain(end.iter().cloned())
        .collect();
    let written = write(&events);
    let last = written.events.last().unwrap();
    let items = accumulate(&written.events);
    assert_eq!(last["response"]["output"], Value::Array(items), "{}", written.sse);
    assert!(written.sse.ends_with("}\n\ndata: [DONE]\n\n"));
    let mut out = Vec::new();
    (CODEC.encode_response)(&written.fold.response(), None, &mut out, &mut Ledger::default());
    let unary: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(last["response"], unary, "{}", written.sse);
    // What was written is read back as what it was written from.
    let again = read_sse(&written.sse);
    assert!(again.text.ends_with("end\n"), "{}", again.text);
    // The client of another protocol is told that an item is not complete.
    let mut lost = again.ledger.entries("").into_iter();
    assert!(lost.all(|entry| entry.code == Code::Status), "{}", written.sse);
    written
}

/// What a client's helper makes of a stream: every item that is done, in
/// order. It goes wrong where a helper would.
#[track_caller]
fn accumulate(events: &[Value]) -> Vec<Value> {
    let mut items: BTreeMap<u64, Value> = BTreeMap::new();
    let mut done: BTreeMap<u64, Value> = BTreeMap::new();
    let mut response = Value::Null;
    for event in events {
        let kind = event["type"].as_str().unwrap();
        let place = event["output_index"].as_u64();
        if let (Some(place), Some(id)) = (place, event["item_id"].as_str()) {
            assert_eq!(items[&place]["id"], id, "{event}");
            assert!(!done.contains_key(&place), "{event}");
        }
        let item = place.and_then(|place| items.get_mut(&place));
        let content = |key: &str| event[key].as_u64().unwrap() as usize;
        match kind {
            "response.created" => response = event["response"]["id"].clone(),
            "response.in_progress" | "response.completed" | "response.incomplete" => {
                assert_eq!(event["response"]["id"], response);
            }
            "response.output_item.added" => {
                let place = place.unwrap();
                assert_eq!(place, items.len() as u64);
                let status = event["item"].get("status");
                assert!(status.is_none_or(|status| status == "in_progress"), "{event}");
                items.insert(place, event["item"].clone());
            }
            "response.output_item.done" => {
                let item = item.unwrap();
                let whole = &event["item"];
                for key in ["id", "type", "call_id", "name", "arguments", "input"] {
                    assert_eq!(item.get(key), whole.get(key), "{event}");
                }
                for key in ["content", "summary"] {
                    let texts = |item: &Value| -> Vec<Value> {
                        let list = item.get(key).and_then(Value::as_array).cloned();
                        let list = list.unwrap_or_default();
                        list.iter().map(|part| json!([part["text"], part["refusal"]])).collect()
                    };
                    assert_eq!(texts(item), texts(whole), "{event}");
                }
                done.insert(place.unwrap(), whole.clone());
            }
            "response.content_part.added" => {
                let item = item.unwrap();
                if item.get("content").is_none() {
                    item["content"] = json!([]);
                }
                let parts = item["content"].as_array_mut().unwrap();
                assert_eq!(parts.len(), content("content_index"));
                parts.push(event["part"].clone());
            }
            "response.content_part.done" => {
                let part = &mut item.unwrap()["content"][content("content_index")];
                assert_eq!(part["text"], event["part"]["text"]);
                assert_eq!(part["refusal"], event["part"]["refusal"]);
                assert_eq!(part["annotations"], event["part"]["annotations"]);
            }
            "response.output_text.delta" => {
                assert!(event["logprobs"].is_array());
                grow(&mut item.unwrap()["content"][content("content_index")]["text"], event);
            }
            "response.output_text.annotation.added" => {
                let part = &mut item.unwrap()["content"][content("content_index")];
                let notes = part["annotations"].as_array_mut().unwrap();
                assert_eq!(notes.len(), content("annotation_index"));
                notes.push(event["annotation"].clone());
            }
            "response.output_text.done" => {
                let part = &item.unwrap()["content"][content("content_index")];
                assert_eq!(part["text"], event["text"]);
                assert!(event["logprobs"].is_array());
            }
            "response.refusal.delta" => {
                grow(&mut item.unwrap()["content"][content("content_index")]["refusal"], event);
            }
            "response.refusal.done" => {
                let part = &item.unwrap()["content"][content("content_index")];
                assert_eq!(part["refusal"], event["refusal"]);
            }
            "response.reasoning_text.delta" => {
                grow(&mut item.unwrap()["content"][content("content_index")]["text"], event);
            }
            "response.reasoning_text.done" => {
                let part = &item.unwrap()["content"][content("content_index")];
                assert_eq!(part["text"], event["text"]);
            }
            "response.reasoning_summary_part.added" => {
                let parts = item.unwrap()["summary"].as_array_mut().unwrap();
                assert_eq!(parts.len(), content("summary_index"));
                parts.push(event["part"].clone());
            }
            "response.reasoning_summary_text.delta" => {
                grow(&mut item.unwrap()["summary"][content("summary_index")]["text"], event);
            }
            "response.reasoning_summary_text.done" => {
                let part = &item.unwrap()["summary"][content("summary_index")];
                assert_eq!(part["text"], event["text"]);
            }
            "response.reasoning_summary_part.done" => {
                let part = &item.unwrap()["summary"][content("summary_index")];
                assert_eq!(*part, event["part"]);
            }
            "response.function_call_arguments.delta" => {
                grow(&mut item.unwrap()["arguments"], event)
            }
            "response.function_call_arguments.done" => {
                let item = item.unwrap();
                assert_eq!(item["arguments"], event["arguments"]);
                assert_eq!(item["name"], event["name"]);
            }
            "response.custom_tool_call_input.delta" => grow(&mut item.unwrap()["input"], event),
            "response.custom_tool_call_input.done" => {
                assert_eq!(item.unwrap()["input"], event["input"]);
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(items.len(), done.len());
    done.into_values().collect()
}

fn grow(text: &mut Value, event: &Value) {
    let more = event["delta"].as_str().unwrap();
    assert!(!more.is_empty(), "{event}");
    *text = json!(format!("{}{more}", text.as_str().unwrap()));
}

fn kinds(written: &Written) -> Vec<&str> {
    let kind = |event: &'_ Value| event["type"].as_str().map(str::len);
    let mut kinds: Vec<&str> = Vec::new();
    for event in &written.events {
        assert!(kind(event).is_some());
        let name = event["type"].as_str().unwrap();
        kinds.push(name.strip_prefix("response.").unwrap_or(name));
    }
    kinds.dedup();
    kinds
}

const ORIGINS: [Protocol; 2] = [Protocol::Chat, Protocol::Messages];

#[test]
fn text() {
    for origin in ORIGINS {
        let written = check(
            origin,
            &[text_block(0), say(0, "Hi \"you\""), say(0, "\n"), say(0, ""), close(0)],
            &stop(Stop::EndTurn),
        );
        let expected = [
            "created", "in_progress", "output_item.added", "content_part.added",
            "output_text.delta", "output_text.done", "content_part.done", "output_item.done",
            "completed",
        ];
        assert_eq!(kinds(&written), expected);
        let created = &written.events[0]["response"];
        assert_eq!(created["status"], "in_progress");
        assert_eq!(created["output"], json!([]));
        assert_eq!(created["usage"], Value::Null);
        assert_eq!(created["tools"], json!([]));
        assert_eq!(created["created_at"], 7);
    }
}

#[test]
fn the_bytes_of_a_call() {
    let written = check(
        Protocol::Chat,
        &[
            call_block(0, Some("call_1"), CallForm::Json),
            argue(0, "{\"a\""),
            argue(0, ":1}"),
            close(0),
        ],
        &stop(Stop::ToolCalls),
    );
    let lines: Vec<&str> = written.sse.split_terminator("\n\n").collect();
    assert_eq!(
        lines[2..8],
        [
            r#"event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"type":"function_call","id":"fc_ID","call_id":"call_1","status":"in_progress","name":"f","arguments":""}}"#,
            r#"event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":3,"item_id":"fc_ID","output_index":0,"delta":"{\"a\""}"#,
            r#"event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":4,"item_id":"fc_ID","output_index":0,"delta":":1}"}"#,
            r#"event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","sequence_number":5,"item_id":"fc_ID","output_index":0,"name":"f","arguments":"{\"a\":1}"}"#,
            r#"event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":6,"output_index":0,"item":{"type":"function_call","id":"fc_ID","call_id":"call_1","status":"completed","name":"f","arguments":"{\"a\":1}"}}"#,
        ]
        .map(|line| line.replace("fc_ID", written.events[3]["item_id"].as_str().unwrap()))
        .iter()
        .map(String::as_str)
        .chain([lines[7]])
        .collect::<Vec<_>>()
    );
}

#[test]
fn text_calls_and_text_again() {
    for origin in ORIGINS {
        let written = check(
            origin,
            &[
                text_block(0),
                say(0, "First."),
                close(0),
                call_block(1, Some("call_1"), CallForm::Json),
                call_block(2, Some("call_2"), CallForm::Freeform),
                argue(1, "{"),
                argue(2, "***"),
                argue(1, "}"),
                argue(2, " End"),
                close(1),
                close(2),
                Event::Open {
                    block: 3,
                    head: Head::Text(Part { message: 1, phase: None, extra: Vec::new() }),
                },
                say(3, "Then."),
                close(3),
            ],
            &stop(Stop::ToolCalls),
        );
        let output = &written.events.last().unwrap()["response"]["output"];
        let types: Vec<_> =
            output.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["message", "function_call", "custom_tool_call", "message"]);
        // The first message is done when the call begins, and the first call
        // when it closes, though the second is still open.
        let kinds = kinds(&written);
        let at = |name: &str| kinds.iter().position(|kind| *kind == name).unwrap();
        assert!(at("output_item.done") < at("function_call_arguments.delta"));
    }
}

#[test]
fn consecutive_texts_are_parts_of_one_message() {
    for origin in [Protocol::Chat, Protocol::Messages] {
        // An empty text says nothing on its own, but is a part beside others.
        let written = check(
            origin,
            &[
                text_block(0),
                close(0),
                text_block(1),
                say(1, "Hi"),
                close(1),
                refusal_block(2),
                say(2, "No"),
                close(2),
            ],
            &stop(Stop::Refusal { category: None, explanation: None }),
        );
        let output = &written.events.last().unwrap()["response"]["output"];
        assert_eq!(output.as_array().unwrap().len(), 1);
        assert_eq!(output[0]["content"].as_array().unwrap().len(), 3);
        let silent = check(origin, &[text_block(0), say(0, ""), close(0)], &stop(Stop::EndTurn));
        assert_eq!(silent.events.last().unwrap()["response"]["output"], json!([]));
        assert!(!silent.ledger.is_empty());
        let parts = [
            text_block(0),
            close(0),
            call_block(1, Some("c"), CallForm::Json),
            argue(1, "{}"),
            close(1),
        ];
        let written = check(origin, &parts, &stop(Stop::ToolCalls));
        assert_eq!(written.events[2]["item"]["type"], "function_call");
    }
}

#[test]
fn reasoning() {
    for origin in ORIGINS {
        let sealed = Sealed {
            issuer: if origin == Protocol::Messages { Issuer::Anthropic } else { Issuer::OpenAi },
            item_id: None,
            blob: Some(Str::plain("sig")),
            redacted: false,
        };
        let seal = Tail { sealed: Some(sealed), extra: Vec::new() };
        let written = check(
            origin,
            &[
                reasoning_block(0),
                sum_up(0, 0, "One"),
                sum_up(0, 0, " more"),
                sum_up(0, 1, "Two"),
                think(0, 0, "Hm"),
                Event::Close { block: 0, tail: seal.clone() },
                reasoning_block(1),
                Event::Close { block: 1, tail: seal },
                text_block(2),
                say(2, "Hi"),
                close(2),
            ],
            &stop(Stop::EndTurn),
        );
        let expected = [
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "content_part.added",
            "reasoning_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "reasoning_text.done",
            "content_part.done",
            "output_item.done",
            "output_item.added",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "completed",
        ];
        assert_eq!(kinds(&written), expected);
        let output = &written.events.last().unwrap()["response"]["output"];
        assert!(output[0]["encrypted_content"].is_string());
    }
}

#[test]
fn a_call_that_sends_no_arguments() {
    let parts = [call_block(0, None, CallForm::Json), close(0)];
    let events: Vec<_> =
        [start(Protocol::Messages)].into_iter().chain(parts).chain(stop(Stop::ToolCalls)).collect();
    let written = write(&events);
    let items = accumulate(&written.events);
    assert_eq!(items[0]["arguments"], "{}");
    assert!(items[0]["call_id"].as_str().unwrap().starts_with("call_"));
    assert_eq!(written.events.last().unwrap()["response"]["output"], Value::Array(items));
}

#[test]
fn what_comes_whole() {
    let shell = Call {
        at: Pos::NONE,
        id: Some(Str::plain("call_1")),
        name: Str::plain("local_shell"),
        namespace: None,
        arguments: Arguments::Native(
            NativeKind::LocalShell,
            Raw::made(r#"{"type":"exec","command":["ls"],"env":{}}"#),
        ),
        caller: None,
        cache: None,
        extra: Vec::new(),
    };
    let search = HostedItem { class: HostedClass::WebSearch, raw: Raw::made(r#"{"type":"x"}"#) };
    let opaque = Opaque { kind: None, raw: Raw::made(r#"{"type":"y"}"#).at(Pos::START) };
    let written = check(
        Protocol::Messages,
        &[
            text_block(0),
            say(0, "One"),
            close(0),
            whole(Item::Opaque(opaque)),
            text_block(1),
            say(1, "Two"),
            close(1),
            whole(Item::Hosted(search)),
            whole(Item::Call(shell)),
        ],
        &stop(Stop::MaxTokens),
    );
    let output = &written.events.last().unwrap()["response"]["output"];
    assert_eq!(output[0]["content"].as_array().unwrap().len(), 2);
    assert_eq!(output[0]["status"], "completed");
    assert_eq!(output[1]["type"], "local_shell_call");
    assert_eq!(output[1]["status"], "incomplete");
    let codes: Vec<_> =
        written.ledger.entries("").into_iter().map(|line| line.code.to_string()).collect();
    assert_eq!(codes, ["unknown_item", "hosted_history"]);
}

#[test]
fn answers_that_are_cut() {
    let parts = [
        call_block(0, Some("a"), CallForm::Json),
        argue(0, "{}"),
        close(0),
        call_block(1, Some("b"), CallForm::Json),
        argue(1, "{\"x"),
        close(1),
    ];
    for (reason, word) in [
        (Stop::MaxTokens, json!("max_output_tokens")),
        (Stop::ContentFilter, json!("content_filter")),
    ] {
        let written = check(Protocol::Chat, &parts, &stop(reason));
        let last = written.events.last().unwrap();
        assert_eq!(last["type"], "response.incomplete");
        assert_eq!(last["response"]["incomplete_details"]["reason"], word);
        assert_eq!(last["response"]["output"][0]["status"], "completed");
        assert_eq!(last["response"]["output"][1]["status"], "incomplete");
    }
}

#[test]
fn a_refusal_that_the_vendor_explains() {
    let refusal = Stop::Refusal {
        category: Some(Str::plain("cyber")),
        explanation: Some(Str::plain("We don't.")),
    };
    for parts in [vec![], vec![text_block(0), say(0, "So"), close(0)]] {
        let events: Vec<_> = [start(Protocol::Messages)]
            .into_iter()
            .chain(parts)
            .chain(stop(refusal.clone()))
            .collect();
        let written = write(&events);
        let last = &written.events.last().unwrap()["response"];
        assert_eq!(last["output"], Value::Array(accumulate(&written.events)));
        let mut out = Vec::new();
        let fold = &written.fold;
        (CODEC.encode_response)(&fold.response(), None, &mut out, &mut Ledger::default());
        assert_eq!(*last, serde_json::from_slice::<Value>(&out).unwrap());
    }
}

#[test]
fn citations_and_members_without_a_place() {
    let cite =
        |raw: &'static str| Event::Delta { block: 0, piece: Piece::Citation(Raw::made(raw)) };
    let url =
        r#"{"type":"web_search_result_location","url":"https://a.b","title":"T","cited_text":"c"}"#;
    let extra = || vec![Extra { key: Str::plain("odd"), value: Raw::made("1") }];
    let written = check(
        Protocol::Messages,
        &[
            Event::Open {
                block: 0,
                head: Head::Text(Part { message: 0, phase: None, extra: extra() }),
            },
            cite(url),
            say(0, "Hi"),
            cite(r#"{"type":"char_location","cited_text":"c"}"#),
            Event::Close { block: 0, tail: Tail { sealed: None, extra: extra() } },
            Event::About { tier: Some(Str::plain("batch")), extra: extra() },
        ],
        &stop(Stop::EndTurn),
    );
    assert!(kinds(&written).contains(&"output_text.annotation.added"));
    let codes: Vec<Code> = written.ledger.entries("").into_iter().map(|line| line.code).collect();
    let odd = || Code::Only("odd".to_owned());
    assert_eq!(codes, [odd(), Code::Citations, Code::Citations, odd(), odd(), Code::Tier]);
}

#[test]
fn errors() {
    let error = Event::Error(ApiError::new(ErrorKind::Overloaded, "Busy."));
    let first = write(std::slice::from_ref(&error));
    assert_eq!(kinds(&first), ["created", "error", "failed"]);
    assert!(!first.sse.contains("[DONE]"));
    let written = write(&[
        start(Protocol::Messages),
        text_block(0),
        say(0, "Hi"),
        close(0),
        call_block(1, Some("a"), CallForm::Json),
        argue(1, "{\"x"),
        error.clone(),
        Event::End,
        error,
    ]);
    let [.., event, failed] = written.events.as_slice() else { panic!() };
    assert_eq!(event["code"], "server_is_overloaded");
    assert_eq!(event["message"], "Busy.");
    assert_eq!(event["param"], Value::Null);
    assert_eq!(failed["type"], "response.failed");
    assert_eq!(failed["response"]["id"], written.events[0]["response"]["id"]);
    assert_eq!(failed["response"]["status"], "failed");
    assert_eq!(failed["response"]["error"]["code"], "server_is_overloaded");
    // The call is not whole, so it is not there.
    assert_eq!(failed["response"]["output"].as_array().unwrap().len(), 1);
    assert!(!written.sse.contains("function_call_arguments.done"));
    assert!(!written.sse.contains("[DONE]"));
}

#[test]
fn a_stream_that_somebody_else_began() {
    let mut writer = ResponsesStreamWriter::new(ResponseContext::default());
    let Event::Start(start) = start(Protocol::Responses) else { panic!() };
    writer.resume(&start, 5);
    let mut out = Vec::new();
    let error = Event::Error(ApiError::new(ErrorKind::Truncated, "Cut."));
    writer.write(&error, &mut out, &mut Ledger::default());
    let sse = String::from_utf8(out).unwrap();
    assert!(sse.contains(r#"{"type":"error","sequence_number":5,"#), "{sse}");
    assert!(sse.contains(r#""sequence_number":6,"response":{"id":"up_1","#), "{sse}");
}
