use super::*;

/// Events of a stream that came from another protocol, written for a client.
struct Writer {
    out: Box<dyn crate::codec::StreamWriter>,
    bytes: Vec<u8>,
    ledger: Ledger,
    fold: Fold,
}

impl Writer {
    fn new(origin: Protocol) -> Self {
        let (bytes, ledger) = (Vec::new(), Ledger::default());
        let out = (CODEC.stream_writer)(ResponseContext::default());
        let mut writer = Self { out, bytes, ledger, fold: Fold::default() };
        let id = Some(Str::plain("chatcmpl-1"));
        let model = Some(Str::plain("m"));
        writer.event(Event::Start(Start { origin, id, model, created: None }));
        writer
    }

    fn event(&mut self, event: Event<'_>) -> &mut Self {
        self.fold.event(&event);
        self.out.write(&event, &mut self.bytes, &mut self.ledger);
        if let Event::End = event {
            self.out.write_end(&mut self.bytes);
        }
        self
    }

    fn open(&mut self, block: usize, head: Head<'_>) -> &mut Self {
        self.event(Event::Open { block, head })
    }

    fn text(&mut self, block: usize, text: &str) -> &mut Self {
        let piece = Piece::Text { text: Str::plain(text), logprobs: None };
        self.event(Event::Delta { block, piece })
    }

    fn arguments(&mut self, block: usize, text: &str) -> &mut Self {
        let piece = Piece::Arguments(Str::plain(text));
        self.event(Event::Delta { block, piece })
    }

    fn summary(&mut self, block: usize, part: usize, text: &str) -> &mut Self {
        let piece = Piece::Summary { part, text: Str::plain(text) };
        self.event(Event::Delta { block, piece })
    }

    fn reasoning(&mut self, block: usize, part: usize, text: &str) -> &mut Self {
        let piece = Piece::Reasoning { part, text: Str::plain(text) };
        self.event(Event::Delta { block, piece })
    }

    fn close(&mut self, block: usize) -> &mut Self {
        self.event(Event::Close { block, tail: Tail::default() })
    }

    fn seal(&mut self, block: usize, sealed: Sealed<'_>) -> &mut Self {
        let tail = Tail { sealed: Some(sealed), extra: Vec::new() };
        self.event(Event::Close { block, tail })
    }

    fn end(&mut self, stop: Stop<'_>) -> &mut Self {
        self.event(Event::Stop { stop: At::made(stop), extra: Vec::new() });
        let usage = Usage { input: 9, output: 4, ..Usage::default() };
        self.event(Event::Usage(usage)).event(Event::End)
    }

    fn written(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }

    /// The events as lines: `name` for those about the message, index and
    /// content for those about blocks.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut frames = Frames::default();
        let each = |frame: crate::wire::sse::Frame<'_>| {
            let data: Value = serde_json::from_str(frame.data).unwrap();
            assert_eq!(frame.name, data["type"].as_str(), "every event has its name");
            let index = &data["index"];
            lines.push(match frame.name.unwrap() {
                "content_block_start" => format!("{index} start {}", data["content_block"]["type"]),
                "content_block_delta" => {
                    let delta = data["delta"].as_object().unwrap();
                    let value = delta.iter().find(|(key, _)| *key != "type").unwrap().1;
                    format!("{index} {} {value}", delta["type"].as_str().unwrap())
                }
                "content_block_stop" => format!("{index} stop"),
                other => other.to_owned(),
            });
            ControlFlow::Continue(())
        };
        frames.push(&self.bytes, each).unwrap();
        lines
    }

    /// What the stream adds up to is what the unary writer makes of the answer.
    fn is_unary(&mut self) -> Value {
        let mut out = Vec::new();
        let response = self.fold.response();
        (CODEC.encode_response)(&response, None, &mut out, &mut Ledger::default());
        let mut written = accumulated(self.written());
        without_nulls(&mut written);
        assert_eq!(written, parsed(&out));
        written
    }

    fn codes(&self) -> Vec<String> {
        let entries = self.ledger.entries("{}");
        entries.into_iter().map(|entry| entry.code.to_string()).collect()
    }
}

fn text() -> Head<'static> {
    Head::Text(Part::default())
}

fn thinking() -> Head<'static> {
    Head::Reasoning { id: None }
}

fn call(id: &'static str, name: &'static str, form: CallForm) -> Head<'static> {
    let id = (!id.is_empty()).then(|| Str::plain(id));
    let name = Str::plain(name);
    Head::Call(CallHead { id, name, namespace: None, form, caller: None, extra: Vec::new() })
}

#[test]
fn a_stream_says_what_clients_need() {
    let mut writer = Writer::new(Protocol::Chat);
    writer.open(0, text()).text(0, "He").text(0, "y\n").close(0).end(Stop::EndTurn);
    let expected = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_8MVBCHPMTxWon1F1dQEQpqan","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"He"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"y\n"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":9,"output_tokens":4}}

event: message_stop
data: {"type":"message_stop"}

"#;
    assert_eq!(writer.written(), expected);
    writer.is_unary();
}

#[test]
fn blocks_that_come_mixed_are_written_one_by_one() {
    let mut writer = Writer::new(Protocol::Chat);
    writer.open(0, call("a", "f", CallForm::Json)).arguments(0, "{\"x\":");
    writer.open(1, call("b", "g", CallForm::Json)).arguments(1, "{\"y\"").arguments(0, "1");
    writer.open(2, text()).text(2, "later").arguments(1, ":2}").close(1);
    writer.arguments(0, "}");
    let lines = writer.lines();
    assert_eq!(lines.last().map(String::as_str), Some(r#"0 input_json_delta "}""#));
    writer.close(0).text(2, "!").close(2).end(Stop::ToolCalls);
    assert_eq!(
        writer.lines(),
        [
            "message_start",
            r#"0 start "tool_use""#,
            r#"0 input_json_delta "{\"x\":""#,
            r#"0 input_json_delta "1""#,
            r#"0 input_json_delta "}""#,
            "0 stop",
            r#"1 start "tool_use""#,
            r#"1 input_json_delta "{\"y\":2}""#,
            "1 stop",
            r#"2 start "text""#,
            r#"2 text_delta "later""#,
            r#"2 text_delta "!""#,
            "2 stop",
            "message_delta",
            "message_stop",
        ]
    );
    writer.is_unary();
}

#[test]
fn arguments_that_are_no_object_are_wrapped_at_their_end() {
    let cases: [(&[&str], Value); 6] = [
        (&["", "[1", ",2]"], json!({"__toolwire_raw": "[1,2]"})),
        (&["\"a\""], json!({"__toolwire_raw": "\"a\""})),
        (&["  ", "\n", " {\"a\":1}"], json!({"a": 1})),
        (&[], json!({})),
        (&[" \n"], json!({})),
        (&["not json"], json!({"__toolwire_raw": "not json"})),
    ];
    for (pieces, input) in cases {
        let mut writer = Writer::new(Protocol::Chat);
        writer.open(0, call("a", "f", CallForm::Json));
        for piece in pieces {
            writer.arguments(0, piece);
        }
        writer.close(0).end(Stop::ToolCalls);
        assert_eq!(writer.is_unary()["content"][0]["input"], input, "{pieces:?}");
    }
}

#[test]
fn freeform_input_streams_inside_its_object() {
    let mut writer = Writer::new(Protocol::Responses);
    writer.open(0, call("a", "p", CallForm::Freeform));
    writer.arguments(0, "a\n\"b\"").arguments(0, "").arguments(0, "\\ é 👋");
    writer.open(1, call("b", "p", CallForm::Freeform)).arguments(1, "\t");
    writer.open(2, call("c", "p", CallForm::Freeform)).close(2);
    writer.close(0).arguments(1, "x").close(1).end(Stop::ToolCalls);
    assert_eq!(
        writer.lines()[1..4],
        [
            r#"0 start "tool_use""#,
            r#"0 input_json_delta "{\"input\":\"a\\n\\\"b\\\"""#,
            r#"0 input_json_delta "\\\\ é 👋""#,
        ]
    );
    let message = writer.is_unary();
    assert_eq!(message["content"][0]["input"], json!({"input": "a\n\"b\"\\ é 👋"}));
    assert_eq!(message["content"][1]["input"], json!({"input": "\tx"}));
    assert_eq!(message["content"][2]["input"], json!({"input": ""}));
    assert_eq!(writer.codes(), ["freeform"; 3]);
}

#[test]
fn calls_have_ids_and_full_names() {
    let mut writer = Writer::new(Protocol::Responses);
    writer.open(0, call("", "f", CallForm::Json)).close(0);
    writer.open(1, call("functions.f:1", "f", CallForm::Json)).close(1);
    let Head::Call(mut head) = call("", "get", CallForm::Json) else { panic!() };
    head.namespace = Some(Str::plain("crm"));
    writer.open(2, Head::Call(head)).close(2).end(Stop::EndTurn);
    let message = writer.is_unary();
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["content"][2]["name"], "crm__get");
    assert_eq!(writer.codes(), ["call_id", "namespace"]);
}

#[test]
fn text_of_nothing_but_spaces_opens_no_block() {
    let mut writer = Writer::new(Protocol::Chat);
    writer.open(0, text()).text(0, "").text(0, "\n\n").close(0);
    writer.open(1, text()).text(1, " ").text(1, "\n a").text(1, " ").close(1);
    writer.open(2, text()).close(2).end(Stop::EndTurn);
    assert_eq!(
        writer.lines(),
        [
            "message_start",
            r#"0 start "text""#,
            r#"0 text_delta " \n a""#,
            r#"0 text_delta " ""#,
            "0 stop",
            "message_delta",
            "message_stop",
        ]
    );
    writer.is_unary();
    assert_eq!(writer.codes(), ["placeholder"]);
}

fn sealed(issuer: Issuer, blob: &'static str, redacted: bool) -> Sealed<'static> {
    Sealed { issuer, item_id: None, blob: Some(Str::plain(blob)), redacted }
}

#[test]
fn reasoning_is_signed_by_its_vendor_or_by_an_envelope() {
    let mut writer = Writer::new(Protocol::Responses);
    writer.open(0, thinking()).summary(0, 0, "a").summary(0, 0, "b").summary(0, 1, "c");
    writer.seal(0, sealed(Issuer::OpenAi, "gAAA", false));
    writer.open(1, thinking()).summary(1, 0, "own");
    writer.seal(1, sealed(Issuer::Anthropic, "EqQB", false));
    writer.open(2, thinking()).seal(2, sealed(Issuer::Anthropic, "Emwk", true));
    writer.open(3, thinking()).reasoning(3, 0, "raw ").reasoning(3, 0, "text").close(3);
    writer.open(4, thinking()).seal(4, sealed(Issuer::OpenAi, "gBBB", false));
    writer.open(5, thinking()).summary(5, 0, "short").reasoning(5, 0, "long");
    writer.seal(5, sealed(Issuer::OpenAi, "gCCC", false));
    writer.end(Stop::EndTurn);
    let message = writer.is_unary();
    let content = &message["content"];
    assert_eq!(content[0]["thinking"], "ab\n\nc");
    assert_eq!(content[1]["signature"], "EqQB");
    assert_eq!(content[2], json!({"type": "redacted_thinking", "data": "Emwk"}));
    assert_eq!(content[3]["thinking"], "raw text");
    assert_eq!(content[4]["thinking"], "");
    assert_eq!(content[5]["thinking"], "short");
}

#[test]
fn reasoning_that_waits_is_the_same() {
    let mut writer = Writer::new(Protocol::Responses);
    writer.open(0, text()).text(0, "first");
    writer.open(1, thinking()).summary(1, 0, "a").summary(1, 1, "b");
    writer.seal(1, sealed(Issuer::OpenAi, "gAAA", false));
    writer.open(2, thinking()).seal(2, sealed(Issuer::Anthropic, "Emwk", true));
    writer.close(0).end(Stop::EndTurn);
    writer.is_unary();
}

#[test]
fn a_refusal_is_text_and_a_reason() {
    for stop in [Stop::EndTurn, Stop::MaxTokens] {
        let mut writer = Writer::new(Protocol::Chat);
        writer.open(0, Head::Refusal(Part::default())).text(0, "I ").text(0, "cannot.").close(0);
        writer.end(stop);
        writer.is_unary();
        assert_eq!(writer.codes(), ["stop_reason"]);
    }
}

#[test]
fn what_comes_whole_keeps_its_place() {
    let mut writer = Writer::new(Protocol::Responses);
    let action = Raw::made(r#"{"type":"exec","command":["ls"],"env":{}}"#);
    let native = Item::Call(Call {
        at: Pos::NONE,
        id: Some(Str::plain("call_n")),
        name: Str::plain("local_shell"),
        namespace: None,
        arguments: Arguments::Native(NativeKind::LocalShell, action),
        caller: None,
        cache: None,
        extra: Vec::new(),
    });
    let hosted = Item::Hosted(HostedItem {
        class: HostedClass::WebSearch,
        raw: Raw::made(r#"{"type":"web_search_call"}"#),
    });
    let withheld = Item::Reasoning(Reasoning {
        at: Pos::NONE,
        summary: Vec::new(),
        content: Vec::new(),
        sealed: Some(sealed(Issuer::Anthropic, "Emwk", true)),
        place: None,
        extra: Vec::new(),
    });
    let turn = |item| Event::Whole(Turn::new(Pos::NONE, Role::Assistant, vec![item]));
    writer.open(0, text()).text(0, "a").event(turn(native)).event(turn(hosted));
    writer.open(1, text()).text(1, "c").event(turn(withheld)).close(1);
    assert_eq!(writer.lines().len(), 3, "all wait for the first");
    writer.text(0, "b").close(0).end(Stop::ToolCalls);
    writer.is_unary();
    assert_eq!(
        writer.lines(),
        [
            "message_start",
            r#"0 start "text""#,
            r#"0 text_delta "a""#,
            r#"0 text_delta "b""#,
            "0 stop",
            r#"1 start "tool_use""#,
            r#"1 input_json_delta "{\"command\":[\"ls\"]}""#,
            "1 stop",
            r#"2 start "text""#,
            r#"2 text_delta "c""#,
            "2 stop",
            r#"3 start "redacted_thinking""#,
            "3 stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert_eq!(writer.codes(), ["native_tool", "hosted_history"]);
}

#[test]
fn an_error_closes_nothing_and_is_the_last() {
    let error = ApiError::new(ErrorKind::Truncated, "The upstream broke off.");
    let mut writer = Writer::new(Protocol::Chat);
    writer.open(0, call("a", "f", CallForm::Json)).arguments(0, "{\"x\":");
    writer.event(Event::Error(error.clone()));
    let length = writer.bytes.len();
    writer.arguments(0, "1}").close(0).end(Stop::EndTurn).event(Event::Error(error.clone()));
    assert_eq!(writer.bytes.len(), length);
    assert_eq!(
        writer.lines()[1..],
        [r#"0 start "tool_use""#, r#"0 input_json_delta "{\"x\":""#, "error"]
    );

    let mut first = Vec::new();
    let mut out = (CODEC.stream_writer)(ResponseContext::default());
    out.write(&Event::Error(error), &mut first, &mut Ledger::default());
    assert_eq!(
        String::from_utf8(first).unwrap(),
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"The upstream broke off.\"}}\n\n"
    );
}

#[test]
fn an_end_without_a_reason_is_an_error() {
    let mut writer = Writer::new(Protocol::Chat);
    writer.open(0, text()).text(0, "a").close(0).event(Event::End);
    assert_eq!(writer.lines().last().map(String::as_str), Some("error"));
}

#[test]
fn usage_that_is_missing_is_reported() {
    let mut writer = Writer::new(Protocol::Chat);
    let stop = At::made(Stop::EndTurn);
    writer.event(Event::Stop { stop, extra: Vec::new() }).event(Event::End);
    writer.is_unary();
    assert_eq!(writer.codes(), ["usage_missing"]);
}
