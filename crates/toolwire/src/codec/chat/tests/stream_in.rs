//! Streams of OpenAI and of the vendors that deviate from it, event by event.

use std::ops::ControlFlow;

use super::super::CODEC;
use super::stream::{collect, read};
use crate::codec::EventOutcome;
use crate::model::{Arguments, ErrorKind, Item, ResponseSummary};
use crate::wire::sse::Frames;

/// A stream of these chunks. A line that starts with `{"` is a choice's
/// members, unless it is a chunk already.
fn stream(chunks: &[&str]) -> String {
    let mut out = String::new();
    for chunk in chunks {
        let data = match *chunk {
            whole if whole.starts_with("data:") || whole.starts_with(':') => {
                out.push_str(whole);
                out.push_str("\n\n");
                continue;
            }
            whole if !whole.starts_with("{\"delta\"") => whole.to_owned(),
            choice => format!(
                r#"{{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{}]}}"#,
                choice.replacen('{', r#"{"index":0,"#, 1)
            ),
        };
        out.push_str(&format!("data: {data}\n\n"));
    }
    out
}

/// `expected` without the start, which is the same in all.
fn check(chunks: &[&str], expected: &[&str]) {
    let lines = read(&stream(chunks));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let rest = lines.strip_prefix(&["start c1 m"]).unwrap_or(&lines);
    assert_eq!(rest, expected, "{chunks:#?}");
}

const ROLE: &str = r#"{"delta":{"role":"assistant","content":""},"finish_reason":null}"#;
const STOP: &str = r#"{"delta":{},"finish_reason":"stop"}"#;
const CALLS: &str = r#"{"delta":{},"finish_reason":"tool_calls"}"#;
const DONE: &str = "[DONE]";

#[test]
fn text() {
    check(
        &[
            ROLE,
            r#"{"delta":{"content":"Hi"},"finish_reason":null}"#,
            r#"{"delta":{"content":" \u00e9"}}"#,
            r#"{"delta":{"content":""}}"#,
            STOP,
            r#"{"id":"c1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#,
            DONE,
        ],
        &["0 text", r#"0 "Hi""#, r#"0 " é""#, "usage 3+2", "0 closed", "stop EndTurn", "end"],
    );
}

#[test]
fn a_chunk_may_say_everything_at_once() {
    check(
        &[
            r#"{"id":"c1","model":"m","choices":[{"delta":{"content":"Hi"},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
        ],
        &["0 text", r#"0 "Hi""#, "usage 1+1", "0 closed", "stop MaxTokens", "end"],
    );
}

#[test]
fn one_call() {
    check(
        &[
            r#"{"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":1}"}}]}}"#,
            CALLS,
            DONE,
        ],
        &["0 calls f a", r#"0 {"x"#, r#"0 ":1}"#, "0 closed", "stop ToolCalls", "end"],
    );
}

#[test]
fn calls_one_behind_the_other_are_closed_in_turn() {
    check(
        &[
            r#"{"delta":{"content":"Look:"}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":""}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}}"#,
            r#"{"delta":{"content":"Done."}}"#,
            CALLS,
            DONE,
        ],
        &[
            "0 text", r#"0 "Look:""#, "0 closed", "1 calls f a", "1 {}", "1 closed", "2 calls g b",
            "2 {}", "2 closed", "3 text", r#"3 "Done.""#, "3 closed", "stop ToolCalls", "end",
        ],
    );
}

#[test]
fn interleaved_calls_stay_open() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"["}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":1,"function":{"arguments":"]"}}]}}"#,
            CALLS,
        ],
        &[
            "0 calls f a", "0 {", "1 calls g b", "1 [", "0 }", "1 ]", "0 closed", "1 closed",
            "stop ToolCalls", "end",
        ],
    );
}

#[test]
fn a_late_id_is_waited_for_and_later_calls_with_it() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"}"}}]}}"#,
            CALLS,
        ],
        &[
            "0 calls f a", "0 {}", "0 closed", "1 calls g b", "1 {}", "1 closed", "stop ToolCalls",
            "end",
        ],
    );
}

#[test]
fn calls_without_ids_come_at_the_end() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"},"type":"function"}]}}"#,
            r#"{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{\"b\":1}"},"type":"function","id":""}]}}"#,
            r#"{"delta":{},"finish_reason":"stop"}"#,
        ],
        &[
            "0 calls f -", "0 {}", "0 closed", "1 calls f -", r#"1 {"b":1}"#, "1 closed",
            "stop ToolCalls", "end",
        ],
    );
}

#[test]
fn repeated_and_empty_ids_and_names_say_nothing() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"id":"","type":"","function":{"name":"","arguments":"\"a\""}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"id":null,"type":null,"function":{"name":null,"arguments":":1}"}}]}}"#,
            r#"{"delta":{"tool_calls":[]}}"#,
            CALLS,
        ],
        &["0 calls f a", "0 {", r#"0 "a""#, "0 :1}", "0 closed", "stop ToolCalls", "end"],
    );
}

#[test]
fn every_index_is_zero() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}"#,
            // Without ids a new name behind a whole object says it.
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"name":"g","arguments":"{}"}}]}}"#,
            CALLS,
        ],
        &[
            "0 calls f a", "0 {}", "0 closed", "1 calls f b", "1 {", "1 }", "1 closed",
            "2 calls g -", "2 {}", "2 closed", "stop ToolCalls", "end",
        ],
    );
}

#[test]
fn an_id_made_up_for_every_fragment_begins_no_call() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a1","function":{"name":"f","arguments":"{"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a2","function":{"arguments":"}"}}]}}"#,
            CALLS,
        ],
        &["0 calls f a1", "0 {", "0 }", "0 closed", "stop ToolCalls", "end"],
    );
}

#[test]
fn without_indexes_ids_and_places_tell_calls_apart() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}},{"id":"b","function":{"name":"g","arguments":"{"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"function":{"arguments":"\"x\":1"}},{"function":{"arguments":"\"y\":2"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"id":"a","function":{"arguments":"}"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"id":"b","function":{"arguments":" "}}]}}"#,
            r#"{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}"#,
            CALLS,
        ],
        &[
            "0 calls f a", "0 {", "1 calls g b", "1 {", r#"0 "x":1"#, r#"1 "y":2"#, "0 }", "1  ",
            "1 }", "0 closed", "1 closed", "stop ToolCalls", "end",
        ],
    );
}

#[test]
fn a_name_in_pieces() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"get_"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"name":"weather","arguments":""}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}"#,
            CALLS,
        ],
        &["0 calls get_weather a", "0 {}", "0 closed", "stop ToolCalls", "end"],
    );
}

#[test]
fn arguments_as_an_object_and_calls_without_any() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x": "\n"}}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g"}}]}}"#,
            CALLS,
        ],
        &[
            "0 calls f a", r#"0 {"x": "\n"}"#, "0 closed", "1 calls g b", "1 closed",
            "stop ToolCalls", "end",
        ],
    );
}

#[test]
fn what_comes_behind_a_closed_call_is_reported() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}"#,
            r#"{"delta":{"content":"x"}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":" \n"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}"#,
            CALLS,
        ],
        &[
            "0 calls f a",
            "0 {}",
            "0 closed",
            "1 text",
            r#"1 "x""#,
            "1 closed",
            "stop ToolCalls",
            "end",
            "degraded args_truncated (info)",
            "degraded args_truncated",
        ],
    );
}

#[test]
fn deprecated_function_calls_have_no_id() {
    check(
        &[
            r#"{"delta":{"role":"assistant","content":null,"function_call":{"name":"f","arguments":""}}}"#,
            r#"{"delta":{"function_call":{"arguments":"{}"}}}"#,
            r#"{"delta":{},"finish_reason":"function_call"}"#,
        ],
        &["0 calls f -", "0 {}", "0 closed", "stop ToolCalls", "end"],
    );
}

#[test]
fn custom_calls_are_freeform_and_unknown_ones_opaque() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"p","input":""}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"custom":{"input":"*** \"x\""}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":1,"id":"b","type":"teleport","to":"x"}]}}"#,
            CALLS,
        ],
        &[
            "0 calls p a freeform",
            r#"0 *** "x""#,
            r#"whole {"index":1,"id":"b","type":"teleport","to":"x"}"#,
            "0 closed",
            "stop ToolCalls",
            "end",
        ],
    );
}

#[test]
fn members_of_a_call_that_nobody_knows_travel_with_it() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]}}"#,
            CALLS,
        ],
        &[r#"0 calls f a "extra_content""#, "0 {}", "0 closed", "stop ToolCalls", "end"],
    );
}

#[test]
fn refusals() {
    check(
        &[
            ROLE,
            r#"{"delta":{"refusal":"I can"},"logprobs":{"content":null,"refusal":[{"token":"I"}]}}"#,
            r#"{"delta":{"refusal":"not."}}"#,
            STOP,
        ],
        &[
            "0 refusal",
            r#"0 "I can" [{"token":"I"}]"#,
            r#"0 "not.""#,
            "0 closed",
            "stop Refusal { category: None, explanation: None }",
            "end",
        ],
    );
}

#[test]
fn log_probabilities_and_annotations() {
    check(
        &[
            r#"{"delta":{"annotations":[{"n":0}]}}"#,
            r#"{"delta":{"content":"Hi"},"logprobs":{"content":[{"token":"Hi"}],"refusal":null}}"#,
            r#"{"delta":{"content":"!"},"logprobs":{"content":[]}}"#,
            r#"{"delta":{"content":"","annotations":[{"n":1},{"n":2}]}}"#,
            STOP,
        ],
        &[
            "0 text",
            r#"0 cites {"n":0}"#,
            r#"0 "Hi" [{"token":"Hi"}]"#,
            r#"0 "!""#,
            r#"0 cites {"n":1}"#,
            r#"0 cites {"n":2}"#,
            "0 closed",
            "stop EndTurn",
            "end",
        ],
    );
}

#[test]
fn content_in_parts() {
    check(
        &[
            r#"{"delta":{"content":[{"type":"reference","reference_ids":[1]},{"type":"thinking","thinking":[]},{"type":"text","text":"a"}]}}"#,
            r#"{"delta":{"content":[{"type":"text","text":"b"}]}}"#,
            STOP,
        ],
        &[
            r#"whole {"type":"reference","reference_ids":[1]}"#,
            "0 text",
            r#"0 "a""#,
            r#"0 "b""#,
            "0 closed",
            "stop EndTurn",
            "end",
        ],
    );
}

#[test]
fn reasoning_content() {
    check(
        &[
            r#"{"delta":{"role":"assistant","content":null,"reasoning_content":""}}"#,
            r#"{"delta":{"content":null,"reasoning_content":"Hm"}}"#,
            r#"{"delta":{"content":null,"reasoning_content":"m."}}"#,
            r#"{"delta":{"content":"Hi","reasoning_content":null}}"#,
            STOP,
        ],
        &[
            "0 thinks", r#"0 r0 "Hm""#, r#"0 r0 "m.""#, "0 closed", "1 text", r#"1 "Hi""#,
            "1 closed", "stop EndTurn", "end",
        ],
    );
}

#[test]
fn reasoning_that_is_said_twice_is_read_once() {
    check(
        &[
            r#"{"delta":{"reasoning":"Hm","reasoning_content":"Hm"}}"#,
            r#"{"delta":{"content":"Hi"}}"#,
            STOP,
        ],
        &[
            "0 thinks",
            r#"0 r0 "Hm""#,
            "0 closed by reasoning -",
            "1 text",
            r#"1 "Hi""#,
            "1 closed",
            "stop EndTurn",
            "end",
        ],
    );
}

#[test]
fn reasoning_details_are_put_together() {
    check(
        &[
            r#"{"delta":{"content":"","reasoning":"He","reasoning_details":[{"type":"reasoning.text","text":"He","format":"f","index":0}]}}"#,
            r#"{"delta":{"content":"","reasoning":"llo","reasoning_details":[{"type":"reasoning.text","text":"llo","format":"f","index":0}]}}"#,
            r#"{"delta":{"content":"","reasoning_details":[{"type":"reasoning.text","signature":"sig","format":"f","index":0}]}}"#,
            r#"{"delta":{"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"xx","index":1}]}}"#,
            r#"{"delta":{"content":"Hi"}}"#,
            r#"{"delta":{"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"yy"}]}}"#,
            r#"{"delta":{"content":"!"}}"#,
            STOP,
        ],
        &[
            "0 thinks",
            r#"0 r0 "He""#,
            r#"0 r0 "llo""#,
            r#"0 closed by reasoning_details [{"type":"reasoning.text","text":"Hello","format":"f","index":0,"signature":"sig"},{"type":"reasoning.encrypted","data":"xx","index":1}]"#,
            "1 text",
            r#"1 "Hi""#,
            r#"1 "!""#,
            "1 closed",
            "2 thinks",
            r#"2 closed by reasoning_details [{"type":"reasoning.encrypted","data":"yy"}]"#,
            "stop EndTurn",
            "end",
        ],
    );
}

#[test]
fn thinking_blocks() {
    check(
        &[
            r#"{"delta":{"reasoning_content":"Hm","thinking_blocks":[{"type":"thinking","thinking":"Hm","signature":""}]}}"#,
            r#"{"delta":{"reasoning_content":"","thinking_blocks":[{"type":"thinking","thinking":"","signature":"sig"}]}}"#,
            r#"{"delta":{"thinking_blocks":[{"type":"thinking","thinking":"More","signature":"s2"}]}}"#,
            r#"{"delta":{"content":"Hi"}}"#,
            STOP,
        ],
        &[
            "0 thinks",
            r#"0 s0 "Hm""#,
            "0 closed by anthropic sig",
            "1 thinks",
            r#"1 s0 "More""#,
            "1 closed by anthropic s2",
            "2 text",
            r#"2 "Hi""#,
            "2 closed",
            "stop EndTurn",
            "end",
        ],
    );
}

#[test]
fn members_are_told_once_and_padding_never() {
    let chunk = |content: &str| {
        format!(
            r#"{{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":"fp","choices":[{{"index":0,"delta":{{"content":"{content}"}},"logprobs":null,"finish_reason":null,"odd":1}}],"usage":null,"obfuscation":"xx"}}"#
        )
    };
    let (first, second) = (chunk("a"), chunk("b"));
    check(
        &[&first, &second, STOP],
        &[
            "about default",
            r#"about - system_fingerprint="fp""#,
            "0 text",
            r#"0 "a""#,
            "about - odd=1",
            r#"0 "b""#,
            "0 closed",
            "stop EndTurn",
            "end",
        ],
    );
}

#[test]
fn other_answers_and_sound_are_reported_once() {
    check(
        &[
            r#"{"id":"c1","model":"m","choices":[{"index":1,"delta":{"content":"B"}}]}"#,
            r#"{"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"A"}},{"index":1,"delta":{"content":"B"}}]}"#,
            r#"{"delta":{"audio":{"data":"AA"}}}"#,
            r#"{"delta":{"audio":{"data":"AA"}}}"#,
            r#"{"id":"c1","choices":[{"index":1,"delta":{},"finish_reason":"length"}]}"#,
            STOP,
        ],
        &[
            "0 text",
            r#"0 "A""#,
            "0 closed",
            "stop EndTurn",
            "end",
            "dropped multiple_answers",
            "dropped audio",
        ],
    );
}

#[test]
fn azure_speaks_of_the_prompt_first() {
    check(
        &[
            r#"{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0}]}"#,
            r#"{"choices":[{"content_filter_results":{},"delta":{"content":"Hi"},"finish_reason":null,"index":0}],"id":"c1","model":"m"}"#,
            r#"{"choices":[{"content_filter_results":{"hate":{}},"delta":{},"finish_reason":null,"index":0}],"id":"c1","model":"m"}"#,
            STOP,
            DONE,
        ],
        &[
            "0 text",
            r#"0 "Hi""#,
            r#"about - content_filter_results={"hate":{}}"#,
            "0 closed",
            "stop EndTurn",
            "end",
            "dropped only:prompt_filter_results",
        ],
    );
}

#[test]
fn counts_wherever_a_vendor_puts_them() {
    check(
        &[
            r#"{"id":"c1","model":"m","choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
            r#"{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
            r#"{"id":"c1","choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":1,"completion_tokens":3}}}"#,
        ],
        &[
            "0 text",
            r#"0 "a""#,
            "usage 1+1",
            "usage 1+2",
            r#"about - x_groq={"id":"r","usage":{"prompt_tokens":1,"completion_tokens":3}}"#,
            "usage 1+3",
            "0 closed",
            "stop EndTurn",
            "end",
        ],
    );
}

#[test]
fn endings() {
    let text = r#"{"delta":{"content":"a"}}"#;
    let cut = r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}"#;
    // The end marker alone ends an answer, but no call in the middle.
    check(&[text, DONE], &["0 text", r#"0 "a""#, "0 closed", "stop EndTurn", "end"]);
    check(
        &[cut, DONE],
        &[
            "0 calls f a",
            "0 {",
            "error Truncated: The upstream ended its stream in the middle of a call.",
        ],
    );
    check(
        &[cut, r#"{"delta":{},"finish_reason":"length"}"#, DONE],
        &["0 calls f a", "0 {", "0 closed", "stop MaxTokens", "end"],
    );
    // Without any marker the stream was cut, whatever it looks like.
    check(&[text], &["0 text", r#"0 "a""#]);
    check(&[text, r#"{"delta":{},"finish_reason":""}"#], &["0 text", r#"0 "a""#]);
    check(&[DONE], &["error Truncated: The upstream ended its stream without an answer."]);
    check(&[], &[]);
    // Nothing comes after the end.
    check(&[text, DONE, text, DONE], &["0 text", r#"0 "a""#, "0 closed", "stop EndTurn", "end"]);
    // What comes behind the finish still counts.
    check(&[STOP, text, DONE], &["0 text", r#"0 "a""#, "0 closed", "stop EndTurn", "end"]);
}

#[test]
fn errors() {
    let text = r#"{"delta":{"content":"a"}}"#;
    let open = ["0 text", r#"0 "a""#];
    let failed = |chunk: &str, error: &str| {
        check(&[chunk, DONE], &[error]);
        check(&[text, chunk, text, DONE], &[&open[..], &[error]].concat());
    };
    failed(
        r#"{"error":{"message":"Slow down","type":"requests","code":"rate_limit_exceeded"}}"#,
        "error RateLimit: Slow down",
    );
    failed(r#"{"error":"Broken"}"#, "error Server: Broken");
    failed(r#"{"object":"error","message":"Bad","code":400}"#, "error InvalidRequest: Bad");
    failed(r#"{"message":"Bad","code":503}"#, "error Overloaded: Bad");
    failed(
        r#"{"id":"g","error":{"code":502,"message":"Gone"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
        "error Server: Gone",
    );
    check(
        &[text, r#"{"delta":{"content":""},"finish_reason":"error"}"#, DONE],
        &[
            &open[..],
            &["error Server: The upstream stopped with an error that it did not explain."],
        ]
        .concat(),
    );
    check(
        &[text, "{\"id\""],
        &[&open[..], &["unreadable: the JSON ends in the middle of a value"]].concat(),
    );
}

#[test]
fn a_call_without_a_name_is_an_error() {
    check(
        &[
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}}"#,
            CALLS,
        ],
        &["error Server: The upstream sent the arguments of a call that names no tool."],
    );
}

#[test]
fn comments_and_empty_data_are_passed_over() {
    check(
        &[
            ": OPENROUTER PROCESSING",
            "data:",
            "data: {}",
            r#"{"delta":{"content":"a"}}"#,
            "data: [DONE] ",
        ],
        &["0 text", r#"0 "a""#, "0 closed", "stop EndTurn", "end"],
    );
}

#[test]
fn a_message_behind_deltas_adds_what_they_did_not_have() {
    check(
        &[
            r#"{"delta":{"content":"Hi"}}"#,
            r#"{"id":"c1","choices":[{"index":0,"finish_reason":"tool_calls","message":{"content":"Hi","tool_calls":[{"id":"a","function":{"name":"read","arguments":"{}"}}]}}]}"#,
            DONE,
        ],
        &[
            "0 text", r#"0 "Hi""#, "0 closed", "1 calls read a", "1 {}", "1 closed",
            "stop ToolCalls", "end",
        ],
    );
}

#[test]
fn a_message_behind_deltas_is_collected_once() {
    let stream = include_str!(
        "../../../../../../vectors/streams/chat-message-repeated-behind-deltas/in.chat.sse"
    );
    assert_eq!(
        collect(stream),
        concat!(
            r#"{"object":"chat.completion","id":"05f1c1","created":1763212000,"#,
            r#""model":"MiniMax-M2","usage":{"total_tokens":30,"prompt_tokens":20,"#,
            r#""completion_tokens":10},"choices":[{"index":0,"message":{"role":"assistant","#,
            r#""content":"I read it.","reasoning_content":"A file","tool_calls":[{"id":"call_a","#,
            r#""type":"function","function":{"name":"read","arguments":"{\"p\":1}"}}]},"#,
            r#""finish_reason":"tool_calls"}]}"#
        )
    );
}

#[test]
fn messages_in_place_of_deltas() {
    check(
        &[
            r#"{"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"H"}}]}"#,
            r#"{"id":"c1","choices":[{"index":0,"message":{"content":"i"},"finish_reason":"stop"}]}"#,
            DONE,
        ],
        &["0 text", r#"0 "H""#, r#"0 "i""#, "0 closed", "stop EndTurn", "end"],
    );
}

#[test]
fn calls_whose_pieces_have_other_numbers_are_collected() {
    for (stream, expected) in [
        (
            include_str!(
                "../../../../../../vectors/streams/chat-index-ahead-of-its-call/in.chat.sse"
            ),
            vec![r#"call_a read {"a":1}"#, r#"call_b write {"b":2}"#],
        ),
        (
            include_str!(
                "../../../../../../vectors/streams/chat-index-behind-its-call/in.chat.sse"
            ),
            vec![r#"call_a read {"a":1}"#],
        ),
    ] {
        let answer = collect(stream);
        let response = (CODEC.decode_response)(&answer).unwrap();
        let items = response.candidates[0].turns.iter().flat_map(|turn| &turn.items);
        let calls: Vec<String> = items.map(call_line).collect();
        assert_eq!(calls, expected);
    }
}

fn call_line(item: &Item<'_>) -> String {
    let Item::Call(call) = item else { panic!("no call: {item:?}") };
    let id = call.id.as_ref().unwrap().decode();
    let Arguments::Text(arguments) = &call.arguments else { panic!("no text: {call:?}") };
    format!("{id} {} {}", call.name.decode(), arguments.decode())
}

#[test]
fn a_vendors_report_of_an_error_is_noticed_where_the_bytes_pass() {
    let data =
        r#"{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#;
    let mut observer = (CODEC.stream_observer)();
    let mut summary = ResponseSummary::default();
    let mut frames = Frames::default();
    let mut outcomes = Vec::new();
    let stream = format!("data: {data}\n\n");
    let mut each = |frame: crate::wire::sse::Frame<'_>| {
        outcomes.push(observer.frame(&frame, &mut summary).unwrap());
        ControlFlow::Continue(())
    };
    frames.push(stream.as_bytes(), &mut each).unwrap();
    assert_eq!(outcomes, [EventOutcome::GoesOn]);
    assert!(summary.passes_failure);
    let error = summary.error.unwrap();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Quota, "insufficient balance"));
}
