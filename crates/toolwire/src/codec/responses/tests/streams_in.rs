//! What streams are read into, each written as the events it should give.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use super::super::stream_in::ResponsesStreamReader;
use crate::codec::{EventSink, StreamReader};
use crate::ledger::Ledger;
use crate::model::{CallForm, Event, Head, Piece};
use crate::wire::sse::Frames;

/// Events as short lines.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) ledger: Ledger,
}

impl EventSink for Lines {
    fn event(&mut self, event: Event<'_>) {
        let out = &mut self.text;
        match event {
            Event::Start(start) => writeln!(
                out,
                "start {:?} {:?} {:?}",
                start.id,
                start.model,
                start.created.map(|created| created.value)
            ),
            Event::Open { block, head } => match head {
                Head::Text(part) => {
                    writeln!(out, "{block} text m{} {:?}", part.message, part.phase)
                }
                Head::Refusal(part) => writeln!(out, "{block} refusal m{}", part.message),
                Head::Reasoning { id: _ } => writeln!(out, "{block} reasoning"),
                Head::Call(call) => {
                    let form = if call.form == CallForm::Json { "call" } else { "freeform" };
                    let space = call.namespace.map(|space| format!(" in {space:?}"));
                    let space = space.unwrap_or_default();
                    writeln!(out, "{block} {form} {:?} {:?}{space}", call.id, call.name)
                }
            },
            Event::Delta { block, piece } => match piece {
                Piece::Text { text, logprobs } => {
                    let logprobs = logprobs.map(|list| format!(" {list:?}")).unwrap_or_default();
                    writeln!(out, "{block} + {text:?}{logprobs}")
                }
                Piece::Citation(raw) => writeln!(out, "{block} cites {raw:?}"),
                Piece::Summary { part, text } => writeln!(out, "{block} s{part} {text:?}"),
                Piece::Reasoning { part, text } => writeln!(out, "{block} r{part} {text:?}"),
                Piece::Arguments(text) => writeln!(out, "{block} ( {text:?}"),
            },
            Event::Close { block, tail } => {
                let sealed = tail.sealed.map(|sealed| {
                    format!(" {} {:?} {:?}", sealed.issuer.as_str(), sealed.item_id, sealed.blob)
                });
                let extra: String =
                    tail.extra.iter().map(|field| format!(" {:?}", field.key)).collect();
                writeln!(out, "{block} close{}{extra}", sealed.unwrap_or_default())
            }
            Event::Whole(turn) => {
                let kind = format!("{:?}", turn.items[0]);
                let kind: String = kind.chars().take_while(|c| *c != '(').collect();
                writeln!(out, "whole {kind}")
            }
            Event::About { tier, extra } => {
                let extra: String = extra.iter().map(|field| format!(" {:?}", field.key)).collect();
                writeln!(out, "about {tier:?}{extra}")
            }
            Event::Usage(usage) => writeln!(out, "usage {} {}", usage.input, usage.output),
            Event::Stop { stop, extra: _ } => writeln!(out, "stop {:?}", stop.value),
            Event::End => writeln!(out, "end"),
            Event::Error(error) => {
                writeln!(out, "error {:?} {:?} {:?}", error.kind, error.code, error.message)
            }
        }
        .unwrap();
    }

    fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

/// Reads a stream of one JSON object per line. A line `name|json` has an event
/// line with that name.
pub(super) fn read(stream: &str) -> Lines {
    let mut sse = String::new();
    for line in stream.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.split_once('|').filter(|(name, _)| !name.contains('{')) {
            Some((name, data)) => write!(sse, "event: {name}\ndata: {data}\n\n").unwrap(),
            None => write!(sse, "data: {line}\n\n").unwrap(),
        }
    }
    read_sse(&sse)
}

pub(super) fn read_sse(sse: &str) -> Lines {
    let mut reader = ResponsesStreamReader::default();
    let mut lines = Lines::default();
    let mut frames = Frames::default();
    let mut each = |frame: crate::wire::sse::Frame<'_>| match reader.read(&frame, &mut lines) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            writeln!(lines.text, "unreadable: {error}").unwrap();
            ControlFlow::Break(())
        }
    };
    frames.push(sse.as_bytes(), &mut each).unwrap();
    frames.finish(&mut each).unwrap();
    reader.finish(&mut lines);
    lines
}

#[track_caller]
fn check(stream: &str, expected: &str) {
    let lines = read(stream);
    let expected: String = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|l| format!("{l}\n"))
        .collect();
    assert_eq!(lines.text, expected);
    let ledger = lines.ledger.entries("");
    assert_eq!(ledger, [], "{ledger:?}");
}

const CREATED: &str = r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":7,"status":"in_progress","model":"m","output":[],"usage":null}}
{"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1","object":"response","created_at":7,"status":"in_progress","model":"m","output":[],"usage":null}}"#;

const STARTED: &str = r#"start Some("resp_1") Some("m") Some(7)"#;

fn completed(output: &str) -> String {
    format!(
        r#"{{"type":"response.completed","sequence_number":99,"response":{{"id":"resp_1","object":"response","created_at":7,"status":"completed","error":null,"incomplete_details":null,"model":"m","output":[{output}],"usage":{{"input_tokens":3,"output_tokens":4,"total_tokens":7}},"service_tier":"default"}}}}"#
    )
}

fn ended(stop: &str) -> String {
    format!("about Some(\"default\")\nusage 3 4\nstop {stop}\nend")
}

#[test]
fn text() {
    let message = r#"{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hi \"you\"","annotations":[],"logprobs":[]}]}"#;
    check(
        &format!(
            r#"{CREATED}
            {{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant","phase":"final_answer"}}}}
            {{"type":"response.content_part.added","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"part":{{"type":"output_text","annotations":[],"logprobs":[],"text":""}}}}
            {{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi ","logprobs":[],"obfuscation":"abc"}}
            {{"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"\"you\"","logprobs":[]}}
            {{"type":"response.output_text.done","sequence_number":6,"item_id":"msg_1","output_index":0,"content_index":0,"text":"Hi \"you\"","logprobs":[]}}
            {{"type":"response.content_part.done","sequence_number":7,"item_id":"msg_1","output_index":0,"content_index":0,"part":{{"type":"output_text","annotations":[],"logprobs":[],"text":"Hi \"you\""}}}}
            {{"type":"response.output_item.done","sequence_number":8,"output_index":0,"item":{message}}}
            {}
            [DONE]"#,
            completed(message)
        ),
        &format!(
            r#"{STARTED}
            0 text m0 Some("final_answer")
            0 + "Hi "
            0 + "\"you\""
            0 close
            {}"#,
            ended("EndTurn")
        ),
    );
}

fn call_item(number: u32, arguments: &str) -> String {
    format!(
        r#"{{"type":"function_call","id":"fc_{number}","call_id":"call_{number}","status":"completed","name":"f{number}","arguments":"{arguments}"}}"#
    )
}

fn call_added(number: u32) -> String {
    let item = call_item(number, "");
    let place = number - 1;
    format!(r#"{{"type":"response.output_item.added","output_index":{place},"item":{item}}}"#)
}

fn call_done(number: u32, arguments: &str) -> String {
    let item = call_item(number, arguments);
    let place = number - 1;
    format!(r#"{{"type":"response.output_item.done","output_index":{place},"item":{item}}}"#)
}

fn arguments(id: &str, place: u32, delta: &str) -> String {
    format!(
        r#"{{"type":"response.function_call_arguments.delta","item_id":"{id}","output_index":{place},"delta":"{delta}"}}"#
    )
}

fn arguments_done(id: &str, place: u32, all: &str) -> String {
    format!(
        r#"{{"type":"response.function_call_arguments.done","item_id":"{id}","output_index":{place},"name":"f","arguments":"{all}"}}"#
    )
}

#[test]
fn calls_whose_fragments_interleave() {
    let stream = [
        CREATED.to_owned(),
        call_added(1),
        call_added(2),
        arguments("fc_1", 0, r#"{\"a"#),
        arguments("fc_2", 1, r#"{\"b"#),
        arguments("fc_1", 0, r#"\":1}"#),
        arguments("fc_2", 1, r#"\":2}"#),
        arguments_done("fc_1", 0, r#"{\"a\":1}"#),
        call_done(1, r#"{\"a\":1}"#),
        arguments_done("fc_2", 1, r#"{\"b\":2}"#),
        call_done(2, r#"{\"b\":2}"#),
        completed(&[call_item(1, r#"{\"a\":1}"#), call_item(2, r#"{\"b\":2}"#)].join(",")),
    ];
    check(
        &stream.join("\n"),
        &format!(
            r#"{STARTED}
            0 call Some("call_1") "f1"
            1 call Some("call_2") "f2"
            0 ( "{{\"a"
            1 ( "{{\"b"
            0 ( "\":1}}"
            1 ( "\":2}}"
            0 close
            1 close
            {}"#,
            ended("ToolCalls")
        ),
    );
}

/// The same answer, whatever of it a server leaves out.
#[test]
fn servers_that_leave_events_out() {
    let whole = r#"{\"a\":\"é\\n\"}"#;
    let added = call_added(1);
    let delta = arguments("fc_1", 0, r#"{\"a\":\"\u00e9"#);
    let done = arguments_done("fc_1", 0, whole);
    let item_done = call_done(1, whole);
    let item = call_item(1, whole);
    let one = format!(
        "{STARTED}\n0 call Some(\"call_1\") \"f1\"\n0 ( {:?}\n0 close\n",
        "{\"a\":\"é\\n\"}"
    );
    let two = format!(
        "{STARTED}\n0 call Some(\"call_1\") \"f1\"\n0 ( {:?}\n0 ( {:?}\n0 close\n",
        "{\"a\":\"é", "\\n\"}"
    );
    let end = ended("ToolCalls");
    for (events, expected) in [
        (vec![&added, &delta, &done, &item_done], &two),
        (vec![&added, &delta, &item_done], &two),
        (vec![&added, &delta, &done], &two),
        (vec![&added, &delta], &two),
        (vec![&added, &done, &item_done], &one),
        (vec![&added, &item_done], &one),
        (vec![&added], &one),
        (vec![&item_done], &one),
        (vec![], &one),
        // Arguments before anybody said whose.
        (vec![&delta, &item_done], &one),
        (vec![&delta, &done], &one),
        // Events that come twice.
        (vec![&added, &added, &delta, &done, &done, &item_done, &item_done], &two),
    ] {
        let mut stream = CREATED.to_owned();
        for event in &events {
            stream.push('\n');
            stream.push_str(event);
        }
        stream.push('\n');
        check(&(stream.clone() + &completed(&item)), &format!("{expected}{end}"));
        // Codex takes items from their own events only, and some servers
        // leave them out of the end.
        if events.contains(&&item_done) || (events.contains(&&done) && events.contains(&&added)) {
            check(&(stream + &completed("")), &format!("{expected}{end}"));
        }
    }
}

#[test]
fn a_relay_that_rewrites_ids() {
    let item = call_item(1, "{}");
    let stream = [
        CREATED.to_owned(),
        call_added(1),
        arguments("other_1", 0, "{"),
        arguments("other_2", 0, "}"),
        call_done(1, "{}").replace("fc_1", "other_3"),
        completed(&item.replace("fc_1", "other_4")),
    ];
    let expected = format!(
        "{STARTED}\n0 call Some(\"call_1\") \"f1\"\n0 ( \"{{\"\n0 ( \"}}\"\n0 close\n{}",
        ended("ToolCalls")
    );
    check(&stream.join("\n"), &expected);
    let message = |id: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","status":"completed","role":"assistant","content":[{{"type":"output_text","text":"Hi","annotations":[]}}]}}"#
        )
    };
    let stream = format!(
        r#"{CREATED}
        {{"type":"response.output_item.added","output_index":0,"item":{{"id":"a","type":"message","status":"in_progress","content":[],"role":"assistant"}}}}
        {{"type":"response.output_text.delta","item_id":"b","output_index":0,"content_index":0,"delta":"H"}}
        {{"type":"response.output_item.done","output_index":0,"item":{}}}
        {}"#,
        message("c"),
        completed(&message("d"))
    );
    let expected =
        format!("{STARTED}\n0 text m0 None\n0 + \"H\"\n0 + \"i\"\n0 close\n{}", ended("EndTurn"));
    check(&stream, &expected);
}

#[test]
fn reasoning_then_call() {
    let reasoning = r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"One"},{"type":"summary_text","text":"Two"}],"encrypted_content":"gAAA"}"#;
    check(
        &format!(
            r#"{CREATED}
            {{"type":"response.output_item.added","output_index":0,"item":{{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"part"}}}}
            {{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{{"type":"summary_text","text":""}}}}
            {{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"On"}}
            {{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"e"}}
            {{"type":"response.reasoning_summary_text.done","item_id":"rs_1","output_index":0,"summary_index":0,"text":"One"}}
            {{"type":"response.reasoning_summary_part.done","item_id":"rs_1","output_index":0,"summary_index":0,"part":{{"type":"summary_text","text":"One"}}}}
            {{"type":"response.reasoning_summary_part.done","item_id":"rs_1","output_index":0,"summary_index":1,"part":{{"type":"summary_text","text":"Two"}}}}
            {{"type":"response.output_item.done","output_index":0,"item":{reasoning}}}
            {}
            {}
            {}"#,
            call_added(2),
            call_done(2, "{}"),
            completed(&[reasoning, &call_item(2, "{}")].join(",")),
        ),
        &format!(
            r#"{STARTED}
            0 reasoning
            0 s0 "On"
            0 s0 "e"
            0 s1 "Two"
            0 close openai Some("rs_1") Some("gAAA")
            1 call Some("call_2") "f2"
            1 ( "{{}}"
            1 close
            {}"#,
            ended("ToolCalls")
        ),
    );
}

#[test]
fn reasoning_in_plain_text_under_either_name() {
    for name in ["reasoning_text", "reasoning"] {
        check(
            &format!(
                r#"{CREATED}
                {{"type":"response.output_item.added","output_index":0,"item":{{"id":"rs_1","type":"reasoning","summary":[],"content":[]}}}}
                {{"type":"response.content_part.added","item_id":"rs_1","output_index":0,"content_index":0,"part":{{"type":"reasoning_text","text":""}}}}
                {{"type":"response.{name}.delta","item_id":"rs_1","output_index":0,"content_index":0,"delta":"Hm"}}
                {{"type":"response.{name}.done","item_id":"rs_1","output_index":0,"content_index":0,"text":"Hmm"}}
                {{"type":"response.content_part.done","item_id":"rs_1","output_index":0,"content_index":0,"part":{{"type":"reasoning_text","text":"Hmm"}}}}
                {{"type":"response.output_item.done","output_index":0,"item":{{"id":"rs_1","type":"reasoning","summary":[],"content":[{{"type":"reasoning_text","text":"Hmm"}}]}}}}
                {}"#,
                completed("")
            ),
            &format!(
                "{STARTED}\n0 reasoning\n0 r0 \"Hm\"\n0 r0 \"m\"\n0 close\n{}",
                ended("EndTurn")
            ),
        );
    }
}

#[test]
fn freeform_calls_and_items_that_come_whole() {
    check(
        &format!(
            r#"{CREATED}
            {{"type":"response.output_item.added","output_index":0,"item":{{"id":"ws_1","type":"web_search_call","status":"in_progress"}}}}
            {{"type":"response.web_search_call.in_progress","output_index":0,"item_id":"ws_1"}}
            {{"type":"response.web_search_call.searching","output_index":0,"item_id":"ws_1"}}
            {{"type":"response.output_item.done","output_index":0,"item":{{"id":"ws_1","type":"web_search_call","status":"completed","action":{{"type":"search","query":"q"}}}}}}
            {{"type":"response.output_item.added","output_index":1,"item":{{"id":"ctc_1","type":"custom_tool_call","status":"in_progress","call_id":"call_1","input":"","name":"patch","namespace":"n"}}}}
            {{"type":"response.custom_tool_call_input.delta","item_id":"ctc_1","output_index":1,"delta":"*** B"}}
            {{"type":"response.custom_tool_call_input.done","item_id":"ctc_1","output_index":1,"input":"*** Begin"}}
            {{"type":"response.output_item.done","output_index":1,"item":{{"id":"ctc_1","type":"custom_tool_call","status":"completed","call_id":"call_1","input":"*** Begin","name":"patch","namespace":"n","odd":1}}}}
            {{"type":"response.output_item.added","output_index":2,"item":{{"id":"lsh_1","type":"local_shell_call","status":"in_progress","call_id":"call_2","action":{{"type":"exec","command":[]}}}}}}
            {{"type":"response.output_item.done","output_index":2,"item":{{"id":"lsh_1","type":"local_shell_call","status":"completed","call_id":"call_2","action":{{"type":"exec","command":["ls"],"env":{{}}}}}}}}
            {{"type":"response.output_item.done","output_index":3,"item":{{"id":"x_1","type":"of_tomorrow"}}}}
            {}"#,
            completed(
                r#"{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}},{"id":"x_1","type":"of_tomorrow"}"#
            ),
        ),
        &format!(
            r#"{STARTED}
            whole Hosted
            0 freeform Some("call_1") "patch" in "n"
            0 ( "*** B"
            0 ( "egin"
            0 close "odd"
            whole Call
            whole Opaque
            {}"#,
            ended("ToolCalls")
        ),
    );
}

#[test]
fn refusals_citations_and_log_probabilities() {
    check(
        &format!(
            r#"{CREATED}
            {{"type":"response.output_item.added","output_index":0,"item":{{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}}}
            {{"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":0,"part":{{"type":"output_text","annotations":[],"text":""}}}}
            {{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi","logprobs":[{{"token":"Hi"}}]}}
            {{"type":"response.output_text.annotation.added","item_id":"msg_1","output_index":0,"content_index":0,"annotation_index":0,"annotation":{{"type":"url_citation","url":"u"}}}}
            {{"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"Hi","logprobs":[{{"token":"Hi"}}]}}
            {{"type":"response.content_part.done","item_id":"msg_1","output_index":0,"content_index":0,"part":{{"type":"output_text","annotations":[{{"type":"url_citation","url":"u"}},{{"type":"file_path"}}],"text":"Hi","logprobs":[{{"token":"Hi"}}]}}}}
            {{"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":1,"part":{{"type":"refusal","refusal":""}}}}
            {{"type":"response.refusal.delta","item_id":"msg_1","output_index":0,"content_index":1,"delta":"N"}}
            {{"type":"response.refusal.done","item_id":"msg_1","output_index":0,"content_index":1,"refusal":"No"}}
            {}"#,
            completed("")
        ),
        &format!(
            r#"{STARTED}
            0 text m0 None
            0 + "Hi" [{{"token":"Hi"}}]
            0 cites {{"type":"url_citation","url":"u"}}
            0 cites {{"type":"file_path"}}
            0 close
            1 refusal m0
            1 + "N"
            1 + "o"
            1 close
            {}"#,
            ended("Refusal { category: None, explanation: None }")
        ),
    );
}

#[test]
fn messages_without_any_beginning() {
    let message = |id: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","status":"completed","role":"assistant","content":[{{"type":"output_text","text":"{text}","annotations":[],"logprobs":[{{"token":"t"}}]}}]}}"#
        )
    };
    // A delta is the first that is heard of the first message, and nothing of
    // the second one but its end.
    check(
        &format!(
            r#"{{"type":"response.output_text.delta","item_id":"a","output_index":0,"content_index":0,"delta":"O"}}
            {{"type":"response.output_item.done","output_index":1,"item":{}}}
            {}"#,
            message("b", "Two"),
            completed(&[message("a", "One"), message("b", "Two"), message("c", "Three")].join(",")),
        ),
        &format!(
            r#"start None None None
            0 text m0 None
            0 + "O"
            1 text m1 None
            1 + "Two" [{{"token":"t"}}]
            1 close
            0 + "ne" [{{"token":"t"}}]
            0 close
            2 text m2 None
            2 + "Three" [{{"token":"t"}}]
            2 close
            {}"#,
            ended("EndTurn")
        ),
    );
}

#[test]
fn answers_that_stop_early() {
    let terminal = |kind: &str, rest: &str| {
        format!(
            r#"{{"type":"response.{kind}","response":{{"id":"resp_1","created_at":7,"model":"m",{rest}}}}}"#
        )
    };
    let cut = [CREATED.to_owned(), call_added(1), arguments("fc_1", 0, r#"{\"a"#)].join("\n");
    let begun = format!("{STARTED}\n0 call Some(\"call_1\") \"f1\"\n0 ( \"{{\\\"a\"\n");
    for (kind, rest, expected) in [
        (
            "incomplete",
            r#""status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]"#,
            "0 close\nabout None\nstop MaxTokens\nend",
        ),
        (
            "incomplete",
            r#""status":"in_progress","output":[]"#,
            "0 close\nabout None\nstop MaxTokens\nend",
        ),
        (
            "incomplete",
            r#""status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]"#,
            "0 close\nabout None\nstop ContentFilter\nend",
        ),
        (
            "cancelled",
            r#""status":"cancelled","output":[]"#,
            "0 close\nabout None\nstop Cancelled\nend",
        ),
        (
            "failed",
            r#""status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow."},"output":[]"#,
            "error RateLimit Some(\"rate_limit_exceeded\") \"Slow.\"",
        ),
        ("failed", r#""status":"in_progress","output":[]"#, "error Server None \"\""),
        // No end marker makes a call of half of one.
        (
            "completed",
            r#""status":"completed","output":[]"#,
            "error Truncated None \"The upstream ended its answer in the middle of a tool call.\"",
        ),
    ] {
        check(&format!("{cut}\n{}", terminal(kind, rest)), &format!("{begun}{expected}"));
    }
    // Nothing comes after an error, and an end of no protocol ends nothing.
    let failed = terminal(
        "failed",
        r#""status":"failed","error":{"code":"server_error","message":"Again."}"#,
    );
    let error = r#"{"type":"error","sequence_number":4,"code":"server_error","message":"Oh.","param":null}"#;
    let nested = r#"error|{"error":{"type":"server_error","code":"server_error","message":"Oh."}}"#;
    let bare = r#"{"error":{"type":"server_error","code":"server_error","message":"Oh."}}"#;
    for error in [error, nested, bare] {
        check(
            &format!("{cut}\n{error}\n{failed}\n[DONE]"),
            &format!("{begun}error Server Some(\"server_error\") \"Oh.\""),
        );
    }
    check(&format!("{cut}\n[DONE]"), &begun);
    check(error, "error Server Some(\"server_error\") \"Oh.\"");
}

#[test]
fn events_that_nobody_knows() {
    let unknown = r#"{"type":"response.of_tomorrow","delta":{"a":1}}"#;
    let lines = read(&format!(
        "{CREATED}\n{unknown}\n{unknown}\nkeepalive|{{\"type\":\"keepalive\",\"sequence_number\":3}}\nresponse.completed|{}",
        completed("").replacen(r#""type":"response.completed","#, "", 1)
    ));
    assert_eq!(lines.text, format!("{STARTED}\n{}\n", ended("EndTurn")));
    let ledger = lines.ledger.entries("");
    assert_eq!(ledger.len(), 1, "{ledger:?}");
    assert!(ledger[0].detail.contains("response.of_tomorrow"));
    assert!(read("{\"type\":\"response.created\"").text.starts_with("unreadable"));
    // An event that is not JSON to its end ends nothing.
    let trailing = read(&format!("{CREATED}\n{}event: error", completed("")));
    assert_eq!(
        trailing.text,
        format!("{STARTED}\nunreadable: unexpected text behind the JSON value\n")
    );
}
