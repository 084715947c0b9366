//! Events as chunks for a client.

use super::super::CODEC;
use super::stream::notes;
use crate::ledger::Ledger;
use crate::model::{
    ApiError, Arguments, Call, CallForm, CallHead, ErrorKind, Event, Head, Issuer, Item,
    NativeKind, Part, Piece, Protocol, Reasoning, ResponseContext, Role, Sealed, Start, Stop, Tail,
    Turn, Usage,
};
use crate::wire::envelope::Envelope;
use crate::wire::{At, Pos, Raw, Str};

/// What a client gets: every chunk without what all have in common, and the
/// ledger.
fn written(context: ResponseContext, events: &[Event<'_>]) -> Vec<String> {
    let (out, ledger) = bytes(context, events);
    let mut lines = Vec::new();
    for event in out.split_terminator("\n\n") {
        let data = event.strip_prefix("data: ").unwrap();
        let short = data.strip_prefix(COMMON).unwrap_or(data);
        if data != "[DONE]" {
            serde_json::from_str::<serde_json::Value>(data).unwrap();
        }
        lines.push(short.strip_suffix(r#","finish_reason":null}]}"#).unwrap_or(short).to_owned());
    }
    lines.extend(notes(&ledger));
    lines
}

fn bytes(context: ResponseContext, events: &[Event<'_>]) -> (String, Ledger) {
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    let mut writer = (CODEC.stream_writer)(context);
    for event in events {
        writer.write(event, &mut out, &mut ledger);
        if let Event::End = event {
            writer.write_end(&mut out);
        }
    }
    (String::from_utf8(out).unwrap(), ledger)
}

const COMMON: &str = r#"{"id":"chatcmpl-rw58zt9YPi4VcclssyGkRZ1f","object":"chat.completion.chunk","created":7,"model":"m","choices":[{"index":0,"delta":"#;

fn check(events: Vec<Event<'_>>, expected: &[&str]) {
    check_for(ResponseContext::default(), events, expected);
}

/// The events of a whole answer, without its start.
fn check_for(context: ResponseContext, mut events: Vec<Event<'_>>, expected: &[&str]) {
    events.insert(0, start(Protocol::Messages));
    let lines = written(context, &events);
    assert_eq!(lines, expected);
}

fn start<'a>(origin: Protocol) -> Event<'a> {
    Event::Start(Start {
        origin,
        id: Some(Str::plain("msg_1")),
        model: Some(Str::plain("m")),
        created: Some(At::made(7)),
    })
}

fn open<'a>(block: usize, head: Head<'a>) -> Event<'a> {
    Event::Open { block, head }
}

fn text<'a>(block: usize, text: &'a str) -> Event<'a> {
    Event::Delta { block, piece: Piece::Text { text: Str::plain(text), logprobs: None } }
}

fn arguments<'a>(block: usize, text: &'a str) -> Event<'a> {
    Event::Delta { block, piece: Piece::Arguments(Str::plain(text)) }
}

fn thought<'a>(block: usize, part: usize, text: &'a str) -> Event<'a> {
    Event::Delta { block, piece: Piece::Summary { part, text: Str::plain(text) } }
}

fn close<'a>(block: usize) -> Event<'a> {
    Event::Close { block, tail: Tail::default() }
}

fn call<'a>(id: Option<&'a str>, name: &'a str, form: CallForm) -> Head<'a> {
    Head::Call(CallHead {
        id: id.map(Str::plain),
        name: Str::plain(name),
        namespace: None,
        form,
        caller: None,
        extra: Vec::new(),
    })
}

fn stop<'a>(stop: Stop<'a>) -> Event<'a> {
    Event::Stop { stop: At::made(stop), extra: Vec::new() }
}

fn speaks<'a>() -> Head<'a> {
    Head::Text(Part::default())
}

#[test]
fn text_only() {
    check(
        vec![
            open(0, speaks()),
            text(0, "Hi \"you\""),
            text(0, ""),
            close(0),
            stop(Stop::EndTurn),
            Event::End,
        ],
        &[
            r#"{"role":"assistant","content":""}"#,
            r#"{"content":"Hi \"you\""}"#,
            r#"{},"finish_reason":"stop"}]}"#,
            "[DONE]",
        ],
    );
}

#[test]
fn usage_comes_last_and_only_if_asked_for() {
    let counted = Usage { input: 3, output: 2, ..Usage::default() };
    let events = |first: u64| {
        let usage = Usage { input: first, ..counted.clone() };
        vec![
            Event::Usage(usage),
            open(0, speaks()),
            close(0),
            stop(Stop::EndTurn),
            Event::Usage(counted.clone()),
            Event::End,
        ]
    };
    let asked = ResponseContext { stream_usage: true, ..ResponseContext::default() };
    let top = COMMON.strip_suffix(r#"[{"index":0,"delta":"#).unwrap();
    check_for(
        asked.clone(),
        events(1),
        &[
            r#"{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
            r#"{},"finish_reason":"stop"}],"usage":null}"#,
            &format!(
                r#"{top}[],"usage":{{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}}}"#
            ),
            "[DONE]",
        ],
    );
    let told =
        [r#"{"role":"assistant","content":""}"#, r#"{},"finish_reason":"stop"}]}"#, "[DONE]"];
    check(events(1), &told);
    check_for(
        asked,
        vec![stop(Stop::EndTurn), Event::End],
        &[
            r#"{"role":"assistant","content":null},"finish_reason":null}],"usage":null}"#,
            r#"{},"finish_reason":"stop"}],"usage":null}"#,
            "[DONE]",
            "dropped usage_missing (info)",
        ],
    );
}

#[test]
fn calls_are_numbered_among_themselves() {
    check(
        vec![
            open(0, speaks()),
            close(0),
            open(1, call(Some("a"), "f", CallForm::Json)),
            open(2, call(None, "g", CallForm::Json)),
            arguments(2, "{\"x\":"),
            arguments(1, ""),
            arguments(2, "1}"),
            close(1),
            close(2),
            stop(Stop::ToolCalls),
            Event::End,
        ],
        &[
            r#"{"role":"assistant","content":""}"#,
            r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":1,"id":"call_a6KLilBubl2F9dBYzuKpRu6f","type":"function","function":{"name":"g","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":1,"function":{"arguments":"{\"x\":"}}]}"#,
            r#"{"tool_calls":[{"index":1,"function":{"arguments":"1}"}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}"#,
            r#"{},"finish_reason":"tool_calls"}]}"#,
            "[DONE]",
        ],
    );
}

#[test]
fn a_cut_call_does_not_look_whole() {
    check(
        vec![
            open(0, call(Some("a"), "f", CallForm::Json)),
            arguments(0, "{"),
            close(0),
            stop(Stop::MaxTokens),
            Event::End,
        ],
        &[
            r#"{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#,
            r#"{},"finish_reason":"length"}]}"#,
            "[DONE]",
        ],
    );
}

#[test]
fn freeform_calls_are_custom_and_native_ones_functions() {
    let native = Call {
        at: Pos::START,
        id: Some(Str::plain("b")),
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
    check(
        vec![
            open(0, call(Some("a"), "patch", CallForm::Freeform)),
            arguments(0, "*** Begin\n"),
            close(0),
            Event::Whole(Turn::new(Pos::START, Role::Assistant, vec![Item::Call(native)])),
            stop(Stop::ToolCalls),
            Event::End,
        ],
        &[
            r#"{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"patch","input":""}}]}"#,
            r#"{"tool_calls":[{"index":0,"custom":{"input":"*** Begin\n"}}]}"#,
            r#"{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"local_shell","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":1,"function":{"arguments":"{\"command\":[\"ls\"]}"}}]}"#,
            r#"{},"finish_reason":"tool_calls"}]}"#,
            "[DONE]",
            "emulated native_tool",
        ],
    );
}

#[test]
fn deprecated_functions_get_their_one_call() {
    check_for(
        ResponseContext { legacy_functions: true, ..ResponseContext::default() },
        vec![
            open(0, call(Some("a"), "f", CallForm::Json)),
            close(0),
            open(1, call(Some("b"), "g", CallForm::Json)),
            arguments(1, "{}"),
            close(1),
            stop(Stop::ToolCalls),
            Event::End,
        ],
        &[
            r#"{"role":"assistant","content":null,"function_call":{"name":"f","arguments":""}}"#,
            r#"{"function_call":{"arguments":"{}"}}"#,
            r#"{},"finish_reason":"function_call"}]}"#,
            "[DONE]",
            "dropped call_id (info)",
            "dropped legacy_functions",
        ],
    );
}

#[test]
fn reasoning_is_shown_and_sealed_at_the_end() {
    let sealed = |blob: &'static str| Event::Close {
        block: if blob == "one" { 0 } else { 3 },
        tail: Tail {
            sealed: Some(Sealed {
                issuer: Issuer::Anthropic,
                item_id: None,
                blob: Some(Str::plain(blob)),
                redacted: false,
            }),
            extra: Vec::new(),
        },
    };
    let withheld = Reasoning {
        at: Pos::START,
        summary: Vec::new(),
        content: Vec::new(),
        sealed: Some(Sealed {
            issuer: Issuer::Anthropic,
            item_id: None,
            blob: Some(Str::plain("secret")),
            redacted: true,
        }),
        place: None,
        extra: Vec::new(),
    };
    let mut lines = vec![
        start(Protocol::Messages),
        open(0, Head::Reasoning { id: None }),
        thought(0, 0, "Hm"),
        thought(0, 1, "Well"),
        thought(0, 2, ""),
        sealed("one"),
        Event::Whole(Turn::new(Pos::START, Role::Assistant, vec![Item::Reasoning(withheld)])),
        open(1, speaks()),
        text(1, "Hi"),
        close(1),
        open(2, call(Some("a"), "f", CallForm::Json)),
        close(2),
        open(3, Head::Reasoning { id: None }),
        thought(3, 0, "So"),
        sealed("two"),
        stop(Stop::ToolCalls),
        Event::End,
    ];
    let told = written(ResponseContext::default(), &lines);
    let envelope = |text: Option<&[&str]>, blob: &str, place| {
        let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let envelope = Envelope {
            issuer: Issuer::Anthropic,
            item_id: None,
            text: text.map(own),
            blob: Some(blob.to_owned()),
            redacted: text.is_none(),
            place: Some(place),
        };
        envelope.seal()
    };
    let details = format!(
        r#"{{"reasoning_details":[{{"type":"reasoning.encrypted","data":"{}","index":0}},{{"type":"reasoning.encrypted","data":"{}","index":1}},{{"type":"reasoning.encrypted","data":"{}","index":2}}]}}"#,
        envelope(Some(&["Hm", "Well", ""]), "one", 0),
        envelope(None, "secret", 1),
        envelope(Some(&["So"]), "two", 4),
    );
    assert_eq!(
        told,
        [
            r#"{"role":"assistant","content":null,"reasoning_content":"Hm"}"#,
            r#"{"reasoning_content":"\n\nWell"}"#,
            r#"{"content":"Hi"}"#,
            r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}"#,
            r#"{"reasoning_content":"\n\nSo"}"#,
            details.as_str(),
            r#"{},"finish_reason":"tool_calls"}]}"#,
            "[DONE]",
        ]
    );
    // Without the end the client gets no seal and no finish.
    lines.truncate(lines.len() - 1);
    assert_eq!(written(ResponseContext::default(), &lines).len(), 6);
}

#[test]
fn refusals_and_explanations() {
    check(
        vec![
            open(0, Head::Refusal(Part::default())),
            text(0, "No."),
            close(0),
            stop(Stop::Refusal { category: None, explanation: Some(Str::plain("Why")) }),
            Event::End,
        ],
        &[
            r#"{"role":"assistant","content":null,"refusal":"No."}"#,
            r#"{},"finish_reason":"content_filter"}]}"#,
            "[DONE]",
            "degraded stop_reason (info)",
        ],
    );
    check(
        vec![
            stop(Stop::Refusal { category: None, explanation: Some(Str::plain("Why")) }),
            Event::End,
        ],
        &[
            r#"{"role":"assistant","content":null,"refusal":"Why"}"#,
            r#"{},"finish_reason":"content_filter"}]}"#,
            "[DONE]",
            "degraded stop_reason (info)",
        ],
    );
}

#[test]
fn citations_are_told_with_the_bounds_of_their_text() {
    let cites = |block| Event::Delta {
        block,
        piece: Piece::Citation(Raw::made(r#"{"url":"https://a","title":"A"}"#)),
    };
    let escaped = Raw::made(r#""\ud83e\udd80\né""#);
    let crab = Event::Delta {
        block: 0,
        piece: Piece::Text {
            text: escaped.reader().string().unwrap(),
            logprobs: Some(Raw::made("[\n{\"token\":\"x\"}]")),
        },
    };
    check(
        vec![
            open(0, speaks()),
            crab,
            close(0),
            open(1, speaks()),
            cites(1),
            text(1, "né🦀"),
            close(1),
            stop(Stop::EndTurn),
            Event::End,
        ],
        &[
            r#"{"role":"assistant","content":""}"#,
            r#"{"content":"\ud83e\udd80\né"},"logprobs":{"content":[{"token":"x","bytes":[120]}],"refusal":null}"#,
            r#"{"content":"né🦀"}"#,
            r#"{"annotations":[{"type":"url_citation","url_citation":{"start_index":3,"end_index":6,"title":"A","url":"https://a"}}]}"#,
            r#"{},"finish_reason":"stop"}]}"#,
            "[DONE]",
            "degraded citations",
        ],
    );
}

#[test]
fn what_the_order_and_the_messages_lose_is_reported() {
    let second = Head::Text(Part { message: 1, ..Part::default() });
    check(
        vec![
            Event::About { tier: Some(Str::plain("standard")), extra: Vec::new() },
            open(0, speaks()),
            close(0),
            open(1, call(Some("a"), "f", CallForm::Json)),
            close(1),
            open(2, second),
            text(2, "x"),
            close(2),
            stop(Stop::ToolCalls),
            Event::End,
        ],
        &[
            r#"{"role":"assistant","content":""}"#,
            r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}"#,
            r#"{"content":"x"}"#,
            r#"{},"finish_reason":"tool_calls"}],"service_tier":"default"}"#,
            "[DONE]",
            "emulated tier",
            "degraded message_boundary",
            "moved interleaving",
        ],
    );
}

#[test]
fn an_error_is_the_last_thing_and_may_be_the_first() {
    let error = || Event::Error(ApiError::new(ErrorKind::Overloaded, "Busy."));
    let told = r#"{"error":{"message":"Busy.","type":"server_error","param":null,"code":"server_is_overloaded"}}"#;
    assert_eq!(written(ResponseContext::default(), &[error(), error()]), [told]);
    check(
        vec![open(0, speaks()), stop(Stop::EndTurn), error(), Event::End],
        &[r#"{"role":"assistant","content":""}"#, told],
    );
}
