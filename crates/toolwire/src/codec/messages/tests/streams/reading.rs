use super::*;

fn check(stream: &[&str], lines: &[&str]) -> Collected {
    let text: String = stream.iter().map(|data| format!("data: {data}\n\n")).collect();
    let collected = read(&text);
    assert_eq!(collected.lines, lines);
    collected
}

fn codes(collected: &Collected) -> Vec<String> {
    collected.ledger.entries("{}").into_iter().map(|entry| entry.code.to_string()).collect()
}

const START: &str = r#"{"type":"message_start","message":{"id":"m","model":"c","content":[]}}"#;
const BEGUN: &str = r#"start Some("m") Some("c")"#;
const STOP: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
const OVER: &str = r#"{"type":"message_stop"}"#;

/// What streams amount to is what the unary reader makes of the same answer.
#[test]
fn a_stream_folds_into_the_answer_it_amounts_to() {
    let mut complete = 0;
    for (name, stream) in vectors() {
        let collected = read(events_of(&stream));
        if !matches!(collected.lines.last().map(String::as_str), Some("end")) {
            continue;
        }
        // A relay's stream that the vendor's libraries cannot add up either, and
        // arguments that stop in the middle, which are text in a stream.
        if name.starts_with("messages-relay") || stream.contains(r#""stop_reason":"max_tokens""#) {
            continue;
        }
        complete += 1;
        let answer = accumulated(&stream).to_string();
        let unary = (CODEC.decode_response)(&answer).unwrap();
        for target in [Protocol::Chat, Protocol::Responses] {
            let encoded = |response| {
                let mut out = Vec::new();
                (codec(target).encode_response)(response, None, &mut out, &mut Ledger::default());
                String::from_utf8(out).unwrap()
            };
            let (folded, wanted) = (encoded(&collected.fold.response()), encoded(&unary));
            assert_eq!(loosely(&folded), loosely(&wanted), "{name} to {target:?}");
        }
    }
    assert!(complete >= 20, "{complete}");
}

/// An answer with arguments compared as JSON: a stream keeps their spelling.
fn loosely(answer: &str) -> Value {
    fn arguments(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match value.as_str().filter(|_| key == "arguments") {
                        Some("") => *value = json!({}),
                        Some(text) => *value = serde_json::from_str(text).unwrap(),
                        None => arguments(value),
                    }
                }
            }
            Value::Array(list) => list.iter_mut().for_each(arguments),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut value = serde_json::from_str(answer).unwrap();
    arguments(&mut value);
    value
}

#[test]
fn streams_that_do_not_end_well_have_no_end() {
    let failing = [
        ("messages-error-overloaded", Some("error Overloaded Overloaded")),
        ("messages-error-in-call", Some("error Server Internal server error")),
        ("messages-error-first", Some("error Overloaded Overloaded")),
        ("messages-cut-in-argument", None),
        ("messages-cut-after-call", None),
        ("messages-cut-after-message-delta", None),
        (
            "messages-stop-without-reason",
            Some(
                "error Truncated The upstream ended its stream without saying why the model stopped.",
            ),
        ),
    ];
    for (name, error) in failing {
        let (_, stream) = vectors().into_iter().find(|(found, _)| found == name).unwrap();
        let collected = read(events_of(&stream));
        assert!(!collected.lines.contains(&"end".to_owned()), "{name}");
        let last = collected.lines.last().map(String::as_str);
        assert_eq!(last.filter(|line| line.starts_with("error")), error, "{name}");
    }
}

#[test]
fn text_and_calls_come_as_they_are_said() {
    check(
        &[
            START,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\n"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            STOP,
            OVER,
        ],
        &[
            BEGUN,
            "open 0 text",
            r#"text 0 "a\n""#,
            "close 0",
            r#"open 1 call Some("t") "f" Json"#,
            r#"arguments 1 "{\"a\"""#,
            "close 1",
            // Calls decide, whatever the word.
            "stop ToolCalls",
            "end",
        ],
    );
}

#[test]
fn what_a_block_begins_with_is_its_first_piece() {
    check(
        &[
            START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a","citations":[{"x":1},{"y":2}]}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"a": 1}}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"u","name":"f","input":{"a":1}}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":2}"}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"content_block_start","index":3,"content_block":{"type":"thinking","thinking":"hm","signature":"ab"}}"#,
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"signature_delta","signature":"cd"}}"#,
            r#"{"type":"content_block_stop","index":3}"#,
        ],
        &[
            BEGUN,
            "open 0 text",
            r#"text 0 "a""#,
            r#"citation 0 {"x":1}"#,
            r#"citation 0 {"y":2}"#,
            "close 0",
            r#"open 1 call Some("t") "f" Json"#,
            r#"arguments 1 "{\"a\": 1}""#,
            "close 1",
            r#"open 2 call Some("u") "f" Json"#,
            r#"arguments 2 "{\"a\":2}""#,
            "close 2",
            "open 3 reasoning",
            r#"summary 3.0 "hm""#,
            r#"close 3 Anthropic Some("abcd")"#,
        ],
    );
}

#[test]
fn hosted_blocks_come_whole_with_their_input() {
    let collected = check(
        &[
            START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":":\"é\"}"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"future","x":1}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"future_delta"}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"content_block_start","index":3,"content_block":{"type":"compaction","content":null}}"#,
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"compaction_delta","content":"s","encrypted_content":"e"}}"#,
            r#"{"type":"content_block_stop","index":3}"#,
            r#"{"type":"content_block_start","index":4,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#,
            r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"cu"}}"#,
            r#"{"type":"content_block_stop","index":4}"#,
        ],
        &[
            BEGUN,
            r#"hosted WebSearch {"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"é"}}"#,
            r#"withheld Some(Sealed { issuer: Anthropic, item_id: None, blob: Some("xyz"), redacted: true })"#,
            r#"opaque {"type":"future","x":1}"#,
            r#"opaque {"type":"compaction","content":"s","encrypted_content":"e"}"#,
            r#"hosted WebSearch {"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#,
        ],
    );
    assert_eq!(codes(&collected), ["unknown_item", "args_truncated"]);
}

#[test]
fn relays_forget_and_mix_things() {
    let collected = check(
        &[
            // No message_start, no index, no stop of a block.
            r#"{"type":"content_block_start","content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"u","name":"g","input":{}}}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"u","name":"g","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{1"}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{2"}}"#,
            r#"{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"lost"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"lost"}}"#,
            r#"{"type":"content_block_stop","index":7}"#,
            r#"{"type":"unheard_of"}"#,
            r#"{"type":"message_delta","usage":{"output_tokens":3}}"#,
            STOP,
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":4}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"late"}}"#,
            OVER,
            "[DONE]",
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"late"}}"#,
        ],
        &[
            "start None None",
            "open 0 text",
            r#"text 0 "a""#,
            r#"open 1 call Some("t") "f" Json"#,
            r#"open 2 call Some("u") "g" Json"#,
            r#"arguments 1 "{1""#,
            r#"arguments 2 "{2""#,
            "usage 0 None None 3",
            "close 0",
            "close 1",
            "close 2",
            "stop ToolCalls",
            "usage 0 None None 4",
            "end",
        ],
    );
    assert_eq!(codes(&collected), ["unknown_item"; 5]);
}

#[test]
fn the_type_stands_on_the_event_line_if_nowhere_else() {
    let stream = "event: message_start\ndata: {\"message\":{\"id\":\"m\"}}\n\nevent: ping\ndata: {}\n\nevent: error\ndata: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    assert_eq!(read(stream).lines, [r#"start Some("m") None"#, "error Overloaded busy"]);
    check(&[r#"{"error":{"type":"api_error","message":"down"}}"#], &["error Server down"]);
}

#[test]
fn counts_that_are_left_out_stand_as_they_were() {
    check(
        &[
            r#"{"type":"message_start","message":{"id":"m","model":"c","content":[],"usage":{"input_tokens":5,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1,"service_tier":"standard"},"container":null}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"x","container":{"id":"c"}},"usage":{"output_tokens":9,"cache_read_input_tokens":4}}"#,
            OVER,
        ],
        &[
            BEGUN,
            "usage 10 Some(3) Some(2) 1",
            r#"about Some("standard") []"#,
            "usage 11 Some(4) Some(2) 9",
            r#"about None [Extra { key: "container", value: {"id":"c"} }]"#,
            r#"stop StopSequence(Some("x"))"#,
            "end",
        ],
    );
}

#[test]
fn reasoning_shows_who_sealed_it() {
    let envelope = crate::wire::envelope::Envelope {
        issuer: Issuer::OpenAi,
        item_id: Some("rs_1".to_owned()),
        text: Some(vec!["a".to_owned()]),
        blob: Some("gAAA".to_owned()),
        redacted: false,
        place: None,
    };
    let signature = format!(
        r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"signature_delta","signature":"{}"}}}}"#,
        envelope.seal()
    );
    check(
        &[
            START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a"}}"#,
            &signature,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
        ],
        &[
            BEGUN,
            "open 0 reasoning",
            r#"summary 0.0 "a""#,
            r#"close 0 OpenAi Some("gAAA")"#,
            "open 1 reasoning",
            r#"summary 1.0 """#,
            "close 1",
        ],
    );
}

#[test]
fn what_is_no_event_is_refused() {
    let swallowed = "{\"type\": \"ping\"}\n{\"type\":\"content_block_stop\",\"index\":0}";
    for data in ["{", "{}x", r#"{"type":"content_block_start","index":0}"#, "hello", swallowed] {
        let mut reader = (CODEC.stream_reader)();
        let frame = crate::wire::sse::Frame { name: None, data, raw: b"", ended: true };
        assert!(reader.read(&frame, &mut Collected::default()).is_err(), "{data}");
    }
    for (data, fits) in [("{\"type\":event: x\n{}", false), ("pong", true), ("{}", true)] {
        let mut reader = (CODEC.stream_reader)();
        let frame = crate::wire::sse::Frame { name: Some("ping"), data, raw: b"", ended: true };
        assert_eq!(reader.read(&frame, &mut Collected::default()).is_ok(), fits, "{data}");
    }
}

/// Deltas of text are read in a shorter way, which must not take what the longer one
/// refuses.
#[test]
fn a_delta_at_fault_is_refused_and_one_that_fits_nothing_reported() {
    let open =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    let text = r#""delta":{"type":"text_delta","text":"a"}"#;
    let read_behind = |data: &str| {
        let mut reader = (CODEC.stream_reader)();
        let mut collected = Collected::default();
        let mut last = Ok(());
        for data in [START, open, data] {
            let frame = crate::wire::sse::Frame { name: None, data, raw: b"", ended: true };
            last = reader.read(&frame, &mut collected);
        }
        last.map(|()| (collected.lines.last().cloned(), codes(&collected)))
    };
    let read =
        |members: &str| read_behind(&format!(r#"{{"type":"content_block_delta",{members}}}"#));
    for members in [
        format!(r#""index":0,"index":0,{text}"#),
        format!(r#""type":"content_block_delta","index":0,{text}"#),
        format!(r#""index":0,{text},{text}"#),
        r#""index":0,"delta":{"type":"text_delta","text":"a","text":"b"}"#.to_owned(),
        r#""index":0,"delta":{"type":"text_delta","type":"text_delta","text":"a"}"#.to_owned(),
        format!(r#""index":-1,{text}"#),
    ] {
        assert!(read(&members).is_err(), "{members}");
    }
    assert!(
        read_behind(&format!(r#"{{"type":"content_block_delta","index":0,{text}}}{{}}"#)).is_err()
    );
    let said = (Some(r#"text 0 "a""#.to_owned()), Vec::new());
    assert_eq!(read(&format!(r#""index":0,{text}"#)).unwrap(), said);
    assert_eq!(read(text).unwrap(), said);
    for members in [
        format!(r#""index":1,{text}"#),
        r#""index":0,"delta":{"type":"thinking_delta","thinking":"a"}"#.to_owned(),
        format!(r#""index":0,{text},"more":1"#),
    ] {
        let (_, codes) = read(&members).unwrap();
        assert_eq!(codes.len(), 1, "{members}");
    }
}
