use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::CODEC;
use crate::ledger::{Action, Entry, Ledger};
use crate::model::{
    ApiError, Arguments, Call, Candidate, Choice, Effort, ErrorKind, Format, Grammar, Hosted,
    HostedClass, HostedItem, Image, Issuer, Item, JsonSchema, Mode, Protocol, Reasoning, Refusal,
    Request, Response, ResultKind, Role, Sealed, Slot, Source, Stop, Subset, Text, Tool, ToolKind,
    ToolRef, ToolRefKind, ToolResult, Turn, Usage,
};
use crate::profile::Profile;
use crate::toolset::Toolset;
use crate::translate::{self, Options};
use crate::wire::cuts::without;
use crate::wire::envelope::Envelope;
use crate::wire::{At, Extra, Pos, Raw, Str};

mod streams;

fn vectors(kind: &str) -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(kind);
    let mut found: Vec<_> = fs::read_dir(root)
        .unwrap()
        .filter_map(|entry| {
            let folder = entry.unwrap();
            let text = fs::read_to_string(folder.path().join("in.messages.json")).ok()?;
            Some((folder.file_name().into_string().unwrap(), text))
        })
        .collect();
    found.sort();
    assert!(found.len() >= 5, "{kind}");
    found
}

fn parsed(text: impl AsRef<[u8]>) -> Value {
    let text = text.as_ref();
    let mut value = serde_json::from_slice(text)
        .unwrap_or_else(|error| panic!("{error}: {}", text.escape_ascii()));
    without_nulls(&mut value);
    value
}

fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(without_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(without_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn errors_come_back_as_they_were() {
    // The vendor says these in a general type; they go out in their own.
    let sharper = ["messages-credit-balance", "messages-spend-limit", "messages-unknown-type"];
    // The API itself has no such members; they go out among the details.
    let foreign = ["messages-members-that-the-target-has"];
    for (name, text) in vectors("errors") {
        let error = (CODEC.decode_error)(None, &text).unwrap();
        let mut out = Vec::new();
        (CODEC.encode_error)(&error, &mut out);
        if !sharper.contains(&name.as_str()) && !foreign.contains(&name.as_str()) {
            assert_eq!(parsed(&out), parsed(&text), "{name}");
        }
    }
}

#[test]
fn numbers_and_escapes_keep_their_spelling() {
    let profile = Profile::of(Protocol::Messages);
    for name in ["messages-big-numbers", "escaped-text"] {
        let (_, text) = vectors("requests").into_iter().find(|(found, _)| found == name).unwrap();
        let mut request = CODEC.decode_request(&text).unwrap();
        // Nothing is written in the protocol it was read from.
        request.origin = Protocol::Chat;
        let mut out = Vec::new();
        let tools = Toolset::new(&request, &profile);
        (CODEC.encode_request)(&request, &tools, &profile, &mut out, &mut Ledger::default());
        let out = String::from_utf8(out).unwrap();
        for part in [
            r#""input":{"z":12345678901234567890,"a":1.0,"e":1e2,"nested":{"b":0.10,"a":-0}}"#,
            r#""caf\u00e9 \/ \u2028 \\ end""#,
            r#"{"text":"a\u0000b\nc"}"#,
        ] {
            assert_eq!(out.contains(part), text.contains(part), "{name}: {part}");
        }
    }
}

#[test]
fn errors_are_known_by_type_words_and_status() {
    let cases = [
        ("messages-invalid-request", None, ErrorKind::InvalidRequest, 400),
        ("messages-prompt-too-long", Some(400), ErrorKind::ContextLength, 400),
        ("messages-tool-schema", Some(400), ErrorKind::InvalidToolSchema, 400),
        ("messages-authentication", Some(401), ErrorKind::Auth, 401),
        ("messages-billing", Some(402), ErrorKind::Quota, 402),
        ("messages-credit-balance", Some(400), ErrorKind::Quota, 402),
        ("messages-spend-limit", Some(400), ErrorKind::Quota, 402),
        ("messages-permission", Some(403), ErrorKind::Permission, 403),
        ("messages-not-found", Some(404), ErrorKind::NotFound, 404),
        ("messages-conflict", Some(409), ErrorKind::Conflict, 409),
        ("messages-too-large", Some(413), ErrorKind::TooLarge, 413),
        ("messages-rate-limit", Some(429), ErrorKind::RateLimit, 429),
        ("messages-overloaded", Some(529), ErrorKind::Overloaded, 529),
        ("messages-timeout", Some(504), ErrorKind::Timeout, 504),
        ("messages-server", Some(500), ErrorKind::Server, 500),
        ("messages-content-filter", Some(400), ErrorKind::ContentFilter, 400),
        ("messages-unknown-type", Some(503), ErrorKind::Overloaded, 529),
        ("messages-unknown-type", Some(418), ErrorKind::InvalidRequest, 400),
    ];
    let bodies = vectors("errors");
    for (name, status, kind, sent) in cases {
        let (_, text) = bodies.iter().find(|(found, _)| found == name).unwrap();
        let error = (CODEC.decode_error)(status, text).unwrap();
        assert_eq!((error.kind, error.status), (kind, status), "{name}");
        assert_eq!(error.request_id.as_deref(), Some("req_011CSHoEeqs5C35K2UUqR7Fy"));
        assert_eq!((CODEC.encode_error)(&error, &mut Vec::new()), sent, "{name}");
    }
}

#[test]
fn errors_of_other_protocols() {
    let mut error = ApiError::new(ErrorKind::ContextLength, "Your input exceeds the window.");
    error.code = Some("context_length_exceeded".to_owned());
    error.param = Some("input".to_owned());
    let mut out = Vec::new();
    assert_eq!((CODEC.encode_error)(&error, &mut out), 400);
    let expected = json!({"type":"error","error":{
        "type":"invalid_request_error",
        "message":"prompt is too long: Your input exceeds the window.",
        "details":{"error_code":"context_length_exceeded"}}});
    assert_eq!(parsed(&out), expected);
    let plain = (CODEC.decode_error)(Some(502), r#"{"error":"bad gateway"}"#).unwrap();
    assert_eq!((plain.kind, plain.message.as_str()), (ErrorKind::Server, "bad gateway"));
}

/// Encodes a request that another protocol wrote.
fn sent(request: &Request<'_>, profile: &Profile) -> (Value, Vec<String>) {
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    let tools = Toolset::new(request, profile);
    (CODEC.encode_request)(request, &tools, profile, &mut out, &mut ledger);
    (parsed(&out), lines(&ledger.entries("")))
}

fn lines(entries: &[Entry]) -> Vec<String> {
    let line = |entry: &Entry| format!("{} {}", entry.action.as_str(), entry.code);
    // Every request here leaves the limit to the target.
    let said = |entry: &&Entry| entry.code.to_string() != "max_tokens_default";
    entries.iter().filter(said).map(line).collect()
}

fn check(request: &Request<'_>, expected: Value, ledger: &[&str]) {
    check_with(request, &Profile::of(Protocol::Messages), expected, ledger);
}

fn check_with(request: &Request<'_>, profile: &Profile, expected: Value, ledger: &[&str]) {
    let (body, found) = sent(request, profile);
    let mut body = body;
    for (key, wanted) in expected.as_object().unwrap() {
        let got = body.as_object_mut().unwrap().remove(key).unwrap_or_default();
        assert_eq!(got, *wanted, "{key}");
    }
    assert_eq!(found, ledger);
}

fn chat(turns: Vec<Turn<'static>>) -> Request<'static> {
    let mut request = Request::new(Protocol::Chat);
    request.turns = turns;
    request
}

fn turn(role: Role<'static>, items: Vec<Item<'static>>) -> Turn<'static> {
    Turn::new(Pos::NONE, role, items)
}

fn text(words: &'static str) -> Item<'static> {
    Item::Text(Text::new(Str::plain(words)))
}

fn user(words: &'static str) -> Turn<'static> {
    turn(Role::User, vec![text(words)])
}

fn call(id: &'static str, arguments: Arguments<'static>) -> Item<'static> {
    Item::Call(Call {
        at: Pos::NONE,
        id: Some(Str::plain(id)),
        name: Str::plain("f"),
        namespace: None,
        arguments,
        caller: None,
        cache: None,
        extra: Vec::new(),
    })
}

fn arguments(json: &'static str) -> Arguments<'static> {
    Arguments::Text(Str::plain(json))
}

fn result(id: &'static str, content: Vec<Item<'static>>) -> Turn<'static> {
    let item = Item::Result(ToolResult {
        at: Pos::NONE,
        call_id: Some(Str::plain(id)),
        name: None,
        namespace: None,
        kind: ResultKind::Function,
        content,
        is_error: None,
        cache: None,
        extra: Vec::new(),
    });
    turn(Role::User, vec![item])
}

fn function(name: &'static str) -> Tool<'static> {
    let schema = Some(Raw::made(r#"{"type":"object","properties":{}}"#));
    Tool::new(Pos::NONE, Str::plain(name), ToolKind::Function { schema })
}

fn sealed(issuer: Issuer, summary: &'static str, blob: &'static str) -> Reasoning<'static> {
    Reasoning {
        at: Pos::NONE,
        summary: vec![Str::plain(summary)],
        content: Vec::new(),
        sealed: Some(Sealed {
            issuer,
            item_id: None,
            blob: Some(Str::plain(blob)),
            redacted: false,
        }),
        place: None,
        extra: Vec::new(),
    }
}

#[test]
fn a_sealed_text_without_a_summary_comes_back_as_what_it_was() {
    let envelope = Envelope {
        issuer: Issuer::Vendor("reasoning_details".to_owned()),
        item_id: None,
        text: Some(Vec::new()),
        blob: Some("[]".to_owned()),
        redacted: false,
        place: None,
    };
    let signature = envelope.seal();
    let body = json!({"messages": [{"role": "assistant", "content": [
        {"type": "thinking", "thinking": "Easy.", "signature": signature},
    ]}]});
    let body = body.to_string();
    let request = CODEC.decode_request(&body).unwrap();
    let reasoning = request.turns[0].items[0].reasoning().unwrap();
    assert_eq!(reasoning.content, [Str::plain("Easy.")]);
    assert!(reasoning.summary.is_empty(), "{reasoning:?}");
}

#[test]
fn parallel_results_share_one_message() {
    let mut request = chat(vec![
        user("hi"),
        turn(
            Role::Assistant,
            vec![
                text(""),
                call("A", arguments("")),
                call("B", arguments(r#"{"z":12345678901234567890,"a":1.0}"#)),
            ],
        ),
        result("B", vec![text("b")]),
        result("A", vec![text("")]),
        user("go"),
    ]);
    request.tools = vec![function("f")];
    let messages = json!([
        {"role":"user","content":"hi"},
        {"role":"assistant","content":[
            {"type":"tool_use","id":"A","name":"f","input":{}},
            {"type":"tool_use","id":"B","name":"f","input":serde_json::from_str::<Value>(r#"{"z":12345678901234567890,"a":1.0}"#).unwrap()}]},
        {"role":"user","content":[
            {"type":"tool_result","tool_use_id":"B","content":"b"},
            {"type":"tool_result","tool_use_id":"A"},
            {"type":"text","text":"go"}]},
    ]);
    let max_tokens = 32_000;
    check(&request, json!({"messages":messages,"max_tokens":max_tokens}), &[]);
}

#[test]
fn arguments_that_are_no_object() {
    let mut request = chat(vec![
        user("hi"),
        turn(Role::Assistant, vec![call("A", arguments("{\"a\":")), call("B", arguments("[1]"))]),
        result("A", vec![text("a")]),
        result("B", vec![text("b")]),
    ]);
    request.tools = vec![function("f")];
    let (body, found) = sent(&request, &Profile::of(Protocol::Messages));
    assert_eq!(body["messages"][1]["content"][0]["input"], json!({"__toolwire_raw":"{\"a\":"}));
    assert_eq!(body["messages"][1]["content"][1]["input"], json!({"__toolwire_raw":"[1]"}));
    assert_eq!(found, ["degraded args_not_object", "degraded args_not_object"]);
}

#[test]
fn text_behind_a_call_goes_before_it() {
    let mut request = chat(vec![
        user("hi"),
        turn(Role::Assistant, vec![call("A", arguments("{}"))]),
        turn(Role::Assistant, vec![text("meanwhile")]),
        result("A", vec![text("a")]),
    ]);
    request.tools = vec![function("f")];
    let (body, found) = sent(&request, &Profile::of(Protocol::Messages));
    let said = json!([{"type":"text","text":"meanwhile"},
        {"type":"tool_use","id":"A","name":"f","input":{}}]);
    assert_eq!(body["messages"][1]["content"], said);
    assert_eq!(found, ["moved interleaving"]);
}

#[test]
fn instructions_lead_or_remind() {
    let turns = || {
        vec![
            turn(Role::System, vec![text("s")]),
            user("u1"),
            turn(Role::Assistant, vec![text("a")]),
            turn(Role::Developer, vec![text("d")]),
            user("u2"),
        ]
    };
    let reminder = "<system-reminder>\nd\n</system-reminder>";
    check(
        &chat(turns()),
        json!({"system":"s","messages":[
            {"role":"user","content":"u1"},
            {"role":"assistant","content":"a"},
            {"role":"user","content":[{"type":"text","text":reminder},{"type":"text","text":"u2"}]}]}),
        &["degraded developer_role", "moved system_position"],
    );
    let mut profile = Profile::of(Protocol::Messages);
    profile.mid_system = true;
    let mut last = turns();
    last.swap(3, 4);
    check_with(
        &chat(last),
        &profile,
        json!({"system":"s","messages":[
            {"role":"user","content":"u1"},
            {"role":"assistant","content":"a"},
            {"role":"user","content":"u2"},
            {"role":"system","content":"d"}]}),
        &["degraded developer_role"],
    );
}

/// Instructions that stand where they stood need a feature of the API. As a
/// reminder they need none, and neither do words that only look like them.
#[test]
fn system_turns_require_a_feature() {
    let body = br#"{"model":"m","messages":[{"role":"user","content":"{\"role\":\"system\","},
        {"role":"system","content":"d"},{"role":"assistant","content":"a"},
        {"role":"system","content":"e"},{"role":"user","content":"u"}]}"#;
    let sent = |mid_system: bool| {
        let profile = Profile { mid_system, ..Profile::of(Protocol::Messages) };
        let options = Options { profile: Some(profile), ..Options::default() };
        translate::request(Protocol::Chat, Protocol::Messages, body, &options).unwrap()
    };
    let required = ["mid-conversation-system-2026-04-07"];
    assert_eq!(sent(true).required_features, required);
    assert!(sent(false).required_features.is_empty());
}

#[test]
fn several_instructions_become_blocks() {
    let mut top = turn(Role::System, vec![text("a")]);
    top.slot = Slot::Top;
    check(
        &chat(vec![top, turn(Role::System, vec![text("b")])]),
        json!({"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],
            "messages":[{"role":"user","content":"(empty message)"}]}),
        &["degraded system_merged", "degraded placeholder"],
    );
}

#[test]
fn the_user_speaks_first_and_nobody_says_nothing() {
    check(
        &chat(vec![
            turn(Role::Assistant, vec![text("hello")]),
            user(""),
            turn(Role::Assistant, vec![text("")]),
            user("x"),
            turn(Role::Assistant, vec![text("  begun ")]),
        ]),
        json!({"messages":[
            {"role":"user","content":"(empty message)"},
            {"role":"assistant","content":"hello"},
            {"role":"user","content":"x"},
            {"role":"assistant","content":"  begun"}]}),
        &[
            "degraded placeholder",
            "dropped placeholder",
            "degraded message_boundary",
            "degraded prefill",
        ],
    );
}

#[test]
fn orphans_missing_and_duplicate_results() {
    let mut request = chat(vec![
        user("hi"),
        turn(Role::Assistant, vec![call("A", arguments("{}")), call("B", arguments("{}"))]),
        result("A", vec![text("old")]),
        result("A", vec![text("new")]),
        result("X", vec![text("lost")]),
    ]);
    request.tools = vec![function("f")];
    let (body, found) = sent(&request, &Profile::of(Protocol::Messages));
    assert_eq!(
        body["messages"][2]["content"],
        json!([
            {"type":"tool_result","tool_use_id":"A","content":"new"},
            {"type":"tool_result","tool_use_id":"B","content":"no result supplied","is_error":true},
            {"type":"text","text":"[result of call X]"},
            {"type":"text","text":"lost"}])
    );
    let expected =
        ["dropped duplicate_result", "degraded orphan_result", "degraded missing_result"];
    assert!(expected.iter().all(|line| found.contains(&(*line).to_owned())), "{found:?}");
}

#[test]
fn reasoning_goes_back_to_its_issuer_only() {
    let mut placed = sealed(Issuer::Anthropic, "T", "S");
    placed.place = Some(1);
    let unsigned = Reasoning { sealed: None, ..sealed(Issuer::OpenAi, "loose", "") };
    let request = chat(vec![
        user("hi"),
        turn(
            Role::Assistant,
            vec![
                Item::Reasoning(placed),
                Item::Reasoning(sealed(Issuer::OpenAi, "foreign", "E")),
                Item::Reasoning(unsigned),
                text("one"),
                text("two"),
            ],
        ),
        user("go"),
    ]);
    let (body, found) = sent(&request, &Profile::of(Protocol::Messages));
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type":"thinking","thinking":"T","signature":"S"},
            {"type":"text","text":"one"},{"type":"text","text":"two"}])
    );
    assert_eq!(found, ["dropped reasoning_foreign", "dropped reasoning_unsigned"]);
}

#[test]
fn freeform_tools_and_calls_are_wrapped() {
    let grammar = Grammar {
        at: Pos::NONE,
        syntax: Some(Str::plain("lark")),
        definition: Some(Str::plain("start: \"a\"")),
        extra: Vec::new(),
    };
    let mut request = chat(vec![
        user("hi"),
        turn(Role::Assistant, vec![call("A", Arguments::Freeform(Str::plain("a\nb\"")))]),
        result("A", vec![text("done")]),
    ]);
    let mut tool =
        Tool::new(Pos::NONE, Str::plain("f"), ToolKind::Freeform { grammar: Some(grammar) });
    tool.description = Some(Str::plain("Patch."));
    request.tools = vec![tool];
    let (body, found) = sent(&request, &Profile::of(Protocol::Messages));
    let expected = json!([{"name":"f",
        "description":"Patch.\n\nGive the whole text as the one argument `input`.\n\nThe text must match this lark grammar:\nstart: \"a\"",
        "input_schema":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}]);
    assert_eq!(body["tools"], expected);
    assert_eq!(body["messages"][1]["content"][0]["input"], json!({"input":"a\nb\""}));
    assert_eq!(found, ["emulated freeform", "degraded grammar_unenforced", "emulated freeform"]);
}

#[test]
fn namespaces_are_flattened() {
    let mut space = Tool::new(
        Pos::NONE,
        Str::plain("crm"),
        ToolKind::Namespace { tools: vec![function("get")] },
    );
    space.description = Some(Str::plain("Customers."));
    let mut request = Request::new(Protocol::Responses);
    request.turns = vec![user("hi")];
    request.tools = vec![space];
    let schema = json!({"type":"object","properties":{}});
    check(
        &request,
        json!({"tools":[{"name":"crm__get","description":"Customers.","input_schema":schema}]}),
        &["emulated namespace", "emulated namespace"],
    );
}

fn chosen(mode: Option<Mode<'static>>, parallel: Option<bool>) -> Request<'static> {
    let mut request = chat(vec![user("hi")]);
    request.tools = vec![function("a"), function("b"), function("c")];
    request.choice = Choice {
        mode: mode.map(At::made),
        subset: None,
        parallel: parallel.map(At::made),
        extra: Vec::new(),
    };
    request
}

fn reference(name: &'static str, kind: ToolRefKind) -> ToolRef<'static> {
    ToolRef { at: Pos::NONE, kind, name: Str::plain(name), namespace: None, extra: Vec::new() }
}

#[test]
fn choices() {
    let named = || Some(Mode::Named(reference("b", ToolRefKind::Function)));
    let cases = [
        (chosen(None, None), Value::Null, vec![]),
        (chosen(None, Some(true)), Value::Null, vec!["emulated parallel"]),
        (
            chosen(None, Some(false)),
            json!({"type":"auto","disable_parallel_tool_use":true}),
            vec![],
        ),
        (
            chosen(Some(Mode::Any), Some(false)),
            json!({"type":"any","disable_parallel_tool_use":true}),
            vec![],
        ),
        (chosen(Some(Mode::None), Some(false)), json!({"type":"none"}), vec!["emulated parallel"]),
        (chosen(named(), None), json!({"type":"tool","name":"b"}), vec![]),
    ];
    for (request, choice, ledger) in cases {
        let (body, found) = sent(&request, &Profile::of(Protocol::Messages));
        assert_eq!(body.get("tool_choice").cloned().unwrap_or_default(), choice);
        assert_eq!(found, ledger);
    }
}

#[test]
fn a_choice_among_some_sends_only_those() {
    let mut request = chosen(Some(Mode::Any), None);
    let tools = vec![reference("b", ToolRefKind::Function), reference("z", ToolRefKind::Function)];
    request.choice.subset = Some(Subset { at: Pos::NONE, tools });
    let schema = json!({"type":"object","properties":{}});
    check(
        &request,
        json!({"tools":[{"name":"b","input_schema":schema}],"tool_choice":{"type":"tool","name":"b"}}),
        &[
            "degraded cache_prefix",
            "dropped choice_target",
            "dropped cache_prefix",
            "dropped cache_prefix",
        ],
    );
}

fn hosted(class: HostedClass, kind: &'static str) -> Tool<'static> {
    let kind_text = Str::plain(kind);
    Tool::new(Pos::NONE, Str::plain(kind), ToolKind::Hosted(Hosted { class, kind_text }))
}

#[test]
fn hosted_tools_cross_drop_or_refuse() {
    let mut search = hosted(HostedClass::WebSearch, "web_search");
    for (key, value) in [
        ("filters", r#"{"allowed_domains":["a.example"]}"#),
        ("search_context_size", r#""low""#),
        ("user_location", r#"{"type":"approximate","city":"Rome"}"#),
    ] {
        search.extra.push(Extra { key: Str::plain(key), value: Raw::made(value) });
    }
    let mut request = Request::new(Protocol::Responses);
    request.turns = vec![user("hi")];
    request.tools = vec![search, hosted(HostedClass::FileSearch, "file_search")];
    request.choice.mode = Some(At::made(Mode::Named(reference("web_search", ToolRefKind::Typed))));
    check(
        &request,
        json!({"tools":[{"type":"web_search_20250305","name":"web_search",
                "allowed_domains":["a.example"],
                "user_location":{"type":"approximate","city":"Rome"}}],
            "tool_choice":{"type":"tool","name":"web_search"}}),
        &[
            "dropped hosted_tool:file_search",
            "emulated hosted_tool:web_search",
            "dropped web_search_option",
        ],
    );
    request.choice.mode = Some(At::made(Mode::Named(reference("file_search", ToolRefKind::Typed))));
    let (_, found) = sent(&request, &Profile::of(Protocol::Messages));
    assert!(found.contains(&"refused hosted_tool:file_search".to_owned()), "{found:?}");
    request.tools.remove(0);
    request.choice.mode = Some(At::made(Mode::Any));
    let (body, found) = sent(&request, &Profile::of(Protocol::Messages));
    assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
    assert_eq!(found, ["dropped hosted_tool:file_search", "refused choice_target"]);
}

#[test]
fn stubs_stand_for_tools_that_are_gone() {
    let request = chat(vec![
        user("hi"),
        turn(Role::Assistant, vec![call("A", arguments("{}")), call("B", arguments("{}"))]),
        result("A", vec![text("a")]),
        result("B", vec![text("b")]),
    ]);
    let schema = json!({"type":"object","properties":{}});
    check(
        &request,
        json!({"tools":[{"name":"f","input_schema":schema}],"tool_choice":{"type":"none"}}),
        &["emulated placeholder"],
    );
}

#[test]
fn settings_of_other_protocols() {
    let mut request = chat(vec![user("hi")]);
    request.sampling.temperature = Some(Raw::made("1"));
    request.sampling.seed = Some(Raw::made("7"));
    request.thinking.effort = Some(At::made(Effort::Minimal));
    request.output.stop = vec![Str::plain("END"), Str::plain(" ")];
    request.output.format = Some(At::made(Format::JsonSchema(JsonSchema {
        name: Some(Str::plain("city")),
        description: None,
        schema: Some(Raw::made("{\"type\":\"object\"}")),
        strict: None,
        extra: Vec::new(),
    })));
    request.identity.end_user = Some(Str::plain("u"));
    request.tier = Some(Str::plain("flex"));
    check(
        &request,
        json!({"temperature":null,"stop_sequences":["END"],"metadata":{"user_id":"u"},
            "service_tier":"auto","output_config":{"effort":"low",
            "format":{"type":"json_schema",
                "schema":{"type":"object","additionalProperties":false}}}}),
        &[
            "degraded effort",
            "dropped format_name",
            "degraded format_schema",
            "dropped stop",
            "dropped sampling",
            "dropped sampling",
            "degraded tier",
        ],
    );
    let mut warm = chat(vec![user("hi")]);
    warm.sampling.temperature = Some(Raw::made("1.5"));
    warm.sampling.top_p = Some(Raw::made("0.90"));
    warm.thinking.effort = Some(At::made(Effort::None));
    let mut profile = Profile::of(Protocol::Messages);
    profile.sampling = true;
    check_with(
        &warm,
        &profile,
        json!({"temperature":1,"top_p":null,"thinking":{"type":"disabled"}}),
        &["emulated effort", "degraded temperature_clamped", "dropped sampling"],
    );
}

#[test]
fn media_of_other_protocols() {
    let image = |source| {
        Item::Image(Image {
            at: Pos::NONE,
            source,
            detail: Some(Str::plain("low")),
            cache: None,
            extra: Vec::new(),
        })
    };
    let request = chat(vec![turn(
        Role::User,
        vec![
            image(Source::Url(Str::plain("data:image/png;base64,iVBO"))),
            image(Source::Url(Str::plain("https://example.com/a.png"))),
            image(Source::Url(Str::plain("data:image/tiff;base64,SUkq"))),
            image(Source::File(Str::plain("file-1"))),
        ],
    )]);
    check(
        &request,
        json!({"messages":[{"role":"user","content":[
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}},
            {"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}]}),
        &["dropped image_detail", "dropped image_detail", "dropped media_type", "dropped file_id"],
    );
}

fn answer(items: Vec<Item<'static>>, stop: Stop<'static>) -> Response<'static> {
    Response {
        origin: Protocol::Chat,
        id: Some(Str::plain("chatcmpl-1")),
        model: Some(Str::plain("gpt-5")),
        created: None,
        candidates: vec![Candidate {
            at: Pos::NONE,
            turns: vec![turn(Role::Assistant, items)],
            stop: At::made(stop),
            logprobs: None,
            extra: Vec::new(),
        }],
        usage: Some(Usage {
            at: Pos::NONE,
            input: 105,
            cache_read: Some(90),
            cache_write: Some(5),
            output: 7,
            reasoning: Some(3),
            extra: Vec::new(),
        }),
        tier: None,
        extra: Vec::new(),
    }
}

fn received(response: &Response<'_>) -> (Value, Vec<String>) {
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    (CODEC.encode_response)(response, None, &mut out, &mut ledger);
    (parsed(&out), lines(&ledger.entries("")))
}

#[test]
fn answers_of_other_protocols() {
    let items = vec![text("I look."), call("functions.x:0", arguments(""))];
    let (body, found) = received(&answer(items, Stop::EndTurn));
    assert!(body["id"].as_str().unwrap().starts_with("msg_"));
    assert_eq!(body["content"][1]["id"], json!("tw_ZnVuY3Rpb25zLng6MA"));
    assert_eq!(body["content"][1]["input"], json!({}));
    assert_eq!(body["stop_reason"], json!("tool_use"));
    let usage = json!({"input_tokens":10,"cache_read_input_tokens":90,
        "cache_creation_input_tokens":5,"output_tokens":7,
        "output_tokens_details":{"thinking_tokens":3}});
    assert_eq!(body["usage"], usage);
    assert_eq!(found, ["renamed call_id"]);
}

#[test]
fn cut_arguments_are_closed() {
    let cases = [
        (r#"{"a":1,"b":"x"#, json!({"a":1})),
        (r#"{"a":1,"b":2"#, json!({"a":1})),
        (r#"{"a":"#, json!({})),
        ("", json!({})),
        (r#"{"a":[1,2],"#, json!({"a":[1,2]})),
    ];
    for (text, input) in cases {
        let (body, found) = received(&answer(vec![call("A", arguments(text))], Stop::MaxTokens));
        assert_eq!(body["content"][0]["input"], input, "{text}");
        assert_eq!(body["stop_reason"], json!("max_tokens"));
        assert_eq!(found, ["degraded args_truncated"]);
    }
}

#[test]
fn refusals_are_text_and_a_reason() {
    let refusal = Item::Refusal(Refusal {
        at: Pos::NONE,
        text: Str::plain("I will not."),
        extra: Vec::new(),
    });
    let (body, _) = received(&answer(vec![refusal], Stop::EndTurn));
    assert_eq!(body["content"], json!([{"type":"text","text":"I will not."}]));
    assert_eq!(body["stop_reason"], json!("refusal"));
    assert_eq!(body["stop_details"], json!({"type":"refusal","explanation":"I will not."}));
    let (body, _) = received(&answer(vec![text("par")], Stop::ContentFilter));
    assert_eq!(body["stop_details"], json!({"type":"refusal"}));
}

#[test]
fn failed_answers_are_refused() {
    let error = ApiError::new(ErrorKind::Server, "broken");
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    let response = answer(Vec::new(), Stop::Failed(Box::new(error)));
    (CODEC.encode_response)(&response, None, &mut out, &mut ledger);
    assert!(ledger.entries("").iter().any(|entry| entry.action == Action::Refused));
}

#[test]
fn foreign_reasoning_stays_with_the_client_and_comes_back() {
    let mut foreign = sealed(Issuer::OpenAi, "first", "E");
    foreign.summary.push(Str::plain("second"));
    foreign.sealed.as_mut().unwrap().item_id = Some(Str::plain("rs_1"));
    let unsigned = Reasoning {
        content: vec![Str::plain("raw")],
        summary: Vec::new(),
        sealed: None,
        ..sealed(Issuer::OpenAi, "", "")
    };
    let items = vec![Item::Reasoning(foreign.clone()), Item::Reasoning(unsigned), text("x")];
    let (body, _) = received(&answer(items, Stop::EndTurn));
    assert_eq!(body["content"][0]["type"], json!("thinking"));
    assert_eq!(body["content"][0]["thinking"], json!("first\n\nsecond"));
    assert_eq!(body["content"][1]["thinking"], json!("raw"));
    let history = json!({"messages":[{"role":"assistant","content":body["content"]}]}).to_string();
    let request = CODEC.decode_request(&history).unwrap();
    let [Item::Reasoning(first), Item::Reasoning(second), Item::Text(_)] =
        request.turns[0].items.as_slice()
    else {
        panic!("{:?}", request.turns);
    };
    assert_eq!((&first.summary, &first.sealed), (&foreign.summary, &foreign.sealed));
    assert_eq!(second.content, ["raw"].map(Str::plain));
    assert!(second.sealed.is_none() && second.summary.is_empty());
}

/// What a request within Messages loses, and what is left of its messages.
fn cut(messages: &str) -> (String, Vec<String>) {
    let source = format!(r#"{{"model":"m", "messages": [{messages}] ,"max_tokens":1e2}}"#);
    let mut ledger = Ledger::default();
    let cuts = (CODEC.foreign_reasoning)(&source, &mut ledger).unwrap();
    let rest = without(&source, &cuts);
    let inside = rest.strip_prefix(r#"{"model":"m", "messages": ["#).unwrap();
    let inside = inside.strip_suffix(r#"] ,"max_tokens":1e2}"#).unwrap();
    let line = |entry: &Entry| format!("{} {} {}", entry.action.as_str(), entry.code, entry.path);
    (inside.to_owned(), ledger.entries(&source).iter().map(line).collect())
}

#[test]
fn foreign_reasoning_is_cut_out_of_a_request_that_passes() {
    let seal = |issuer: &str, blob: Option<&str>| {
        let envelope = Envelope {
            issuer: Issuer::parse(issuer),
            item_id: None,
            text: Some(vec!["x".to_owned()]),
            blob: blob.map(str::to_owned),
            redacted: false,
            place: None,
        };
        format!(r#"{{"signature":"{}", "type":"thinking","thinking":"x"}}"#, envelope.seal())
    };
    let (foreign, unsigned) = (seal("openai", Some("E")), seal("none", None));
    let damaged = r#"{"type":"thinking","signature":"tw1.!"}"#;
    let text = r#"{ "type":"text","text":"tw1.\u0041"}"#;
    let own = r#"{"type":"thinking","thinking":"y","signature":"EqQB"}"#;
    let message = |blocks: &str| format!(r#"{{ "role" : "assistant","content": [ {blocks}]}}"#);
    let user = r#"{"role":"user","content":"tw1."}"#;
    let at = |message: usize, block: usize| format!("/messages/{message}/content/{block}");
    let cases = [
        (message(&format!("{foreign} , {text}")), message(text), vec![("foreign", at(0, 0))]),
        (message(&format!("{text} , {foreign}")), message(text), vec![("foreign", at(0, 1))]),
        (
            message(&format!("{own},{unsigned} ,{text},{damaged} ")),
            message(&format!("{own} ,{text} ")),
            vec![("unsigned", at(0, 1)), ("foreign", at(0, 3))],
        ),
        (
            format!("{user}, {} ", message(&foreign)),
            format!("{user} "),
            vec![("foreign", at(1, 0))],
        ),
        (
            format!("{},{user},{}", message(&foreign), message("")),
            format!("{user},{}", message("")),
            vec![("foreign", at(0, 0))],
        ),
        (message(&foreign), String::new(), vec![("foreign", at(0, 0))]),
        (format!("{user},7,{own}"), format!("{user},7,{own}"), vec![]),
    ];
    for (before, after, lost) in cases {
        let lost = lost.into_iter().map(|(why, path)| format!("dropped reasoning_{why} {path}"));
        assert_eq!(cut(&before), (after, lost.collect()), "{before}");
    }
}

#[test]
fn usage_that_is_missing_is_said_to_be() {
    let mut response = answer(vec![text("x")], Stop::EndTurn);
    response.usage = None;
    let (body, found) = received(&response);
    assert_eq!(body["usage"], json!({"input_tokens":0,"output_tokens":0}));
    assert_eq!(found, ["degraded usage_missing"]);
}

#[test]
fn hosted_work_of_another_vendor_is_not_replayed() {
    let raw = Raw::made(r#"{"type":"web_search_call","id":"ws_1"}"#);
    let item = Item::Hosted(HostedItem { class: HostedClass::WebSearch, raw });
    let request = chat(vec![user("hi"), turn(Role::Assistant, vec![item, text("x")]), user("y")]);
    check(
        &request,
        json!({"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"x"},
            {"role":"user","content":"y"}]}),
        &["dropped hosted_history"],
    );
}

#[test]
fn malformed_requests_say_where() {
    let cases = [
        (r#"{"model":5}"#, "expected a string, found a number"),
        (r#"{"messages":[{"role":"user","content":7}]}"#, "expected an array, found a number"),
        (r#"{"tools":[{"description":"x"}]}"#, "required field `name` is missing"),
        (r#"{"model":"a","model":"b"}"#, "field `model` appears twice"),
        (
            r#"{"messages":[{"content":[{"type":"tool_use","id":"a"}]}]}"#,
            "required field `name` is missing",
        ),
    ];
    for (body, message) in cases {
        assert_eq!(CODEC.decode_request(body).unwrap_err().to_string(), message, "{body}");
    }
}
