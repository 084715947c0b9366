//! What other protocols say, as Chat gets it.

use serde_json::{Value, json};

use super::super::CODEC;
use super::bare;
use crate::ledger::{Code, Ledger};
use crate::model::{
    Arguments, Cache, Call, Candidate, Choice, Document, Grammar, Hosted, HostedClass, Image,
    Issuer, Item, Mode, Native, NativeKind, Protocol, Reasoning, Refusal, Request, Response,
    ResultKind, Role, Sealed, SearchResult, Slot, Source, Stop, Subset, Text, Tool, ToolKind,
    ToolRef, ToolRefKind, ToolResult, Turn, Usage,
};
use crate::profile::Profile;
use crate::toolset::Toolset;
use crate::wire::{At, Pos, Raw, Str};

/// Encodes a request and compares the fields of `expected` and the codes of
/// the ledger.
fn check(request: &Request<'_>, expected: Value, codes: &[&str]) {
    check_with(request, &Profile::of(Protocol::Chat), expected, codes);
}

fn check_with(request: &Request<'_>, profile: &Profile, expected: Value, codes: &[&str]) {
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    let tools = Toolset::new(request, profile);
    (CODEC.encode_request)(request, &tools, profile, &mut out, &mut ledger);
    let text = String::from_utf8(out).unwrap();
    let found: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    for (key, value) in expected.as_object().unwrap() {
        let found = found.get(key).cloned().unwrap_or(Value::Null);
        assert_eq!(bare(found), bare(value.clone()), "{key} of {text}");
    }
    assert_eq!(codes_of(&ledger), codes, "{text}");
}

fn codes_of(ledger: &Ledger) -> Vec<String> {
    let line = |entry: crate::Entry| format!("{} {}", entry.action.as_str(), entry.code);
    ledger.entries("").into_iter().map(line).collect()
}

fn request(origin: Protocol, turns: Vec<Turn<'static>>) -> Request<'static> {
    let mut request = Request::new(origin);
    request.model = Some(Str::plain("m"));
    request.turns = turns;
    request
}

fn turn(role: Role<'static>, items: Vec<Item<'static>>) -> Turn<'static> {
    Turn::new(Pos::NONE, role, items)
}

fn text(text: &'static str) -> Item<'static> {
    Item::Text(Text::new(Str::plain(text)))
}

fn call(id: &'static str, name: &'static str, arguments: Arguments<'static>) -> Item<'static> {
    Item::Call(Call {
        at: Pos::NONE,
        id: Some(Str::plain(id)),
        name: Str::plain(name),
        namespace: None,
        arguments,
        caller: None,
        cache: None,
        extra: Vec::new(),
    })
}

fn json_call(id: &'static str, name: &'static str, arguments: &'static str) -> Item<'static> {
    call(id, name, Arguments::Json(Raw::made(arguments)))
}

fn result(id: &'static str, content: Vec<Item<'static>>) -> Item<'static> {
    Item::Result(tool_result(id, content))
}

fn tool_result(id: &'static str, content: Vec<Item<'static>>) -> ToolResult<'static> {
    ToolResult {
        at: Pos::NONE,
        call_id: Some(Str::plain(id)),
        name: None,
        namespace: None,
        kind: ResultKind::Function,
        content,
        is_error: None,
        cache: None,
        extra: Vec::new(),
    }
}

fn image(data: &'static str) -> Item<'static> {
    Item::Image(Image {
        at: Pos::NONE,
        source: Source::Base64 { media: Str::plain("image/png"), data: Str::plain(data) },
        detail: None,
        cache: None,
        extra: Vec::new(),
    })
}

fn function(name: &'static str, schema: &'static str) -> Tool<'static> {
    let kind = ToolKind::Function { schema: Some(Raw::made(schema)) };
    Tool::new(Pos::NONE, Str::plain(name), kind)
}

fn reasoning(issuer: Option<Issuer>, text: &'static str, blob: &'static str) -> Reasoning<'static> {
    Reasoning {
        at: Pos::NONE,
        summary: vec![Str::plain(text)],
        content: Vec::new(),
        sealed: issuer.map(|issuer| Sealed {
            issuer,
            item_id: None,
            blob: Some(Str::plain(blob)),
            redacted: false,
        }),
        place: None,
        extra: Vec::new(),
    }
}

const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#;

#[test]
fn result_media_follows_all_results() {
    let mut failed = tool_result("B", vec![text("boom")]);
    failed.is_error = Some(At::made(true));
    let turns = vec![
        turn(
            Role::Assistant,
            vec![
                json_call("A", "f", r#"{"z":12345678901234567890,"a":1.0}"#),
                json_call("B", "f", "{}"),
            ],
        ),
        turn(
            Role::User,
            vec![result("A", vec![text("t"), image("AAAA")]), Item::Result(failed), text("go")],
        ),
    ];
    check(
        &request(Protocol::Messages, turns),
        json!({"messages": [
            {"role": "assistant", "tool_calls": [
                {"id": "A", "type": "function", "function": {"name": "f", "arguments": "{\"z\":12345678901234567890,\"a\":1.0}"}},
                {"id": "B", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "A", "content": "t\n[image 1 attached below]"},
            {"role": "tool", "tool_call_id": "B", "content": "Error: boom"},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
            {"role": "user", "content": "go"},
        ]}),
        &["moved result_media_moved", "degraded is_error"],
    );
}

#[test]
fn orphans_and_missing_results() {
    let turns = vec![
        turn(Role::User, vec![result("X", vec![text("who asked")])]),
        turn(Role::Assistant, vec![text("a"), json_call("A", "f", "{}"), text("b")]),
        turn(Role::User, vec![text("go")]),
    ];
    check(
        &request(Protocol::Messages, turns),
        json!({"messages": [
            {"role": "user", "content": [{"type": "text", "text": "[result of call X] who asked"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
             "tool_calls": [{"id": "A", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "A", "content": "Error: no result supplied"},
            {"role": "user", "content": "go"},
        ]}),
        &["degraded orphan_result", "degraded missing_result", "moved interleaving"],
    );
}

#[test]
fn empty_and_structured_results() {
    let found = Item::SearchResult(SearchResult {
        at: Pos::NONE,
        source: Some(Str::plain("https://x")),
        title: Some(Str::plain("X")),
        content: vec![text("found")],
        citations: None,
        cache: None,
        extra: Vec::new(),
    });
    let turns = vec![
        turn(Role::Assistant, vec![json_call("A", "f", "{}"), json_call("B", "f", "{}")]),
        turn(
            Role::User,
            vec![result("A", Vec::new()), result("B", vec![text("one"), text(""), found])],
        ),
    ];
    check(
        &request(Protocol::Messages, turns),
        json!({"messages": [
            {"role": "assistant", "tool_calls": [
                {"id": "A", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "B", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "A", "content": ""},
            {"role": "tool", "tool_call_id": "B", "content": "one\n\nX (https://x)\nfound"},
        ]}),
        &["degraded citations"],
    );
}

#[test]
fn parallel_items_become_one_message() {
    let turns = vec![
        turn(Role::Assistant, vec![Item::Reasoning(reasoning(Some(Issuer::OpenAi), "hm", "E"))]),
        turn(Role::Assistant, vec![text("Looking.")]),
        turn(Role::Assistant, vec![call("A", "f", Arguments::Text(Str::plain("")))]),
        turn(Role::Assistant, vec![call("B", "g", Arguments::Freeform(Str::plain("a\n\"b\"")))]),
        turn(Role::User, vec![result("B", vec![text("2")])]),
        turn(Role::User, vec![result("A", vec![text("1")])]),
    ];
    let expected = |custom: Value| {
        json!({"messages": [
            {"role": "assistant", "content": "Looking.", "tool_calls": [
                {"id": "A", "type": "function", "function": {"name": "f", "arguments": ""}},
                custom,
            ]},
            {"role": "tool", "tool_call_id": "B", "content": "2"},
            {"role": "tool", "tool_call_id": "A", "content": "1"},
        ]})
    };
    let request = request(Protocol::Responses, turns);
    check(
        &request,
        expected(
            json!({"id": "B", "type": "custom", "custom": {"name": "g", "input": "a\n\"b\""}}),
        ),
        &["dropped reasoning_foreign"],
    );
    let mut profile = Profile::of(Protocol::Chat);
    profile.freeform_tools = false;
    check_with(
        &request,
        &profile,
        expected(
            json!({"id": "B", "type": "function", "function": {"name": "g", "arguments": "{\"input\":\"a\\n\\\"b\\\"\"}"}}),
        ),
        &["dropped reasoning_foreign", "emulated freeform"],
    );
}

#[test]
fn unparsed_arguments_come_back() {
    let turns = vec![
        turn(Role::Assistant, vec![json_call("A", "f", r#"{"__toolwire_raw":"{\"a\":"}"#)]),
        turn(Role::User, vec![result("A", vec![text("1")])]),
    ];
    check(
        &request(Protocol::Messages, turns),
        json!({"messages": [
            {"role": "assistant", "tool_calls": [{"id": "A", "type": "function", "function": {"name": "f", "arguments": "{\"a\":"}}]},
            {"role": "tool", "tool_call_id": "A", "content": "1"},
        ]}),
        &[],
    );
}

#[test]
fn instructions_keep_their_place() {
    let mut top = turn(Role::System, vec![text("Be brief.")]);
    top.slot = Slot::Top;
    let turns = vec![
        top,
        turn(Role::User, vec![text("Hi")]),
        turn(Role::Developer, vec![text("In French.")]),
        turn(Role::User, vec![text("Yes")]),
    ];
    let request = request(Protocol::Responses, turns);
    let expected = |role: &str| {
        json!({"messages": [
            {"role": role, "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": role, "content": "In French."},
            {"role": "user", "content": "Yes"},
        ]})
    };
    check(&request, expected("system"), &["degraded developer_role"]);
    let mut profile = Profile::of(Protocol::Chat);
    profile.developer_role = true;
    check_with(&request, &profile, expected("developer"), &[]);
}

#[test]
fn cache_markers_cross_where_they_can() {
    let mut marked = Text::new(Str::plain("long"));
    marked.cache = Some(Cache { at: Pos::NONE, ttl: Some(Str::plain("1h")), extra: Vec::new() });
    let request = request(Protocol::Messages, vec![turn(Role::User, vec![Item::Text(marked)])]);
    check(
        &request,
        json!({"messages": [{"role": "user", "content": "long"}]}),
        &["dropped cache_breakpoint"],
    );
    let mut profile = Profile::of(Protocol::Chat);
    profile.cache_breakpoints = true;
    check_with(
        &request,
        &profile,
        json!({"messages": [{"role": "user", "content": [
            {"type": "text", "text": "long", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}},
        ]}]}),
        &["degraded cache_ttl"],
    );
}

#[test]
fn documents_cross_as_files_or_text() {
    let document = |source, name: Option<&'static str>| {
        Item::Document(Document {
            at: Pos::NONE,
            source,
            name: name.map(Str::plain),
            context: None,
            citations: None,
            cache: None,
            extra: Vec::new(),
        })
    };
    let pdf = Source::Base64 { media: Str::plain("application/pdf"), data: Str::plain("AAAA") };
    let plain = Source::Text { media: Str::plain("text/plain"), data: Str::plain("words") };
    let blocks = Source::Other(Raw::made(
        r#"{"type":"content","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}"#,
    ));
    let turns = vec![turn(
        Role::User,
        vec![
            document(pdf, None),
            document(plain, Some("Notes")),
            document(blocks, None),
            document(Source::File(Str::plain("file_1")), None),
        ],
    )];
    check(
        &request(Protocol::Messages, turns),
        json!({"messages": [{"role": "user", "content": [
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA", "filename": "document.pdf"}},
            {"type": "text", "text": "Notes\n\nwords"},
            {"type": "text", "text": "x"},
            {"type": "text", "text": "y"},
        ]}]}),
        &["degraded media_type", "degraded media_type", "dropped file_id"],
    );
}

#[test]
fn tools_cross_in_their_own_ways() {
    let mut member = function("get", SCHEMA);
    member.description = Some(Str::plain("One record"));
    let mut space =
        Tool::new(Pos::NONE, Str::plain("crm"), ToolKind::Namespace { tools: vec![member] });
    space.description = Some(Str::plain("The customers"));
    let grammar = Grammar {
        at: Pos::NONE,
        syntax: Some(Str::plain("lark")),
        definition: Some(Str::plain("start: X")),
        extra: Vec::new(),
    };
    let patch =
        Tool::new(Pos::NONE, Str::plain("patch"), ToolKind::Freeform { grammar: Some(grammar) });
    let search = Tool::new(
        Pos::NONE,
        Str::plain("web_search"),
        ToolKind::Hosted(Hosted {
            class: HostedClass::WebSearch,
            kind_text: Str::plain("web_search"),
        }),
    );
    let mut loose = function("loose", SCHEMA);
    loose.strict = Some(At::made(false));
    let mut request = request(Protocol::Responses, vec![turn(Role::User, vec![text("Hi")])]);
    request.tools = vec![search, space, patch, loose];
    request.choice = Choice {
        mode: Some(At::made(Mode::Named(ToolRef {
            at: Pos::NONE,
            kind: ToolRefKind::Freeform,
            name: Str::plain("patch"),
            namespace: None,
            extra: Vec::new(),
        }))),
        subset: None,
        parallel: Some(At::made(false)),
        extra: Vec::new(),
    };
    let strict = crate::schema::fits_openai_strict(&Raw::made(SCHEMA)).then_some(true);
    check(
        &request,
        json!({
            "tools": [
                {"type": "function", "function": {"name": "crm__get", "description": "The customers\n\nOne record", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}, "strict": strict}},
                {"type": "custom", "custom": {"name": "patch", "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: X"}}}},
                {"type": "function", "function": {"name": "loose", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}, "strict": false}},
            ],
            "tool_choice": {"type": "custom", "custom": {"name": "patch"}},
            "parallel_tool_calls": false,
        }),
        &["dropped hosted_tool:web_search", "emulated namespace", "emulated namespace"],
    );
}

#[test]
fn a_forced_tool_that_cannot_cross_is_refused() {
    let search = || {
        Tool::new(
            Pos::NONE,
            Str::plain("web_search"),
            ToolKind::Hosted(Hosted {
                class: HostedClass::WebSearch,
                kind_text: Str::plain("web_search"),
            }),
        )
    };
    let named = || {
        Mode::Named(ToolRef {
            at: Pos::NONE,
            kind: ToolRefKind::Typed,
            name: Str::plain("web_search"),
            namespace: None,
            extra: Vec::new(),
        })
    };
    let check_choice = |tools: Vec<Tool<'static>>, mode: Mode<'static>, codes: &[&str]| {
        let mut request = request(Protocol::Responses, vec![turn(Role::User, vec![text("Hi")])]);
        request.tools = tools;
        request.choice.mode = Some(At::made(mode));
        check(&request, json!({"tool_choice": null}), codes);
    };
    let lost = "dropped hosted_tool:web_search";
    let (choice, refused) = ("refused choice_target", "refused hosted_tool:web_search");
    check_choice(vec![search(), function("f", SCHEMA)], named(), &[lost, choice, refused]);
    check_choice(vec![search()], named(), &[lost, choice, refused]);
    check_choice(vec![search()], Mode::Any, &[lost, "refused choice_without_tools"]);
    check_choice(vec![search()], Mode::Auto, &[lost, "dropped choice_without_tools"]);
}

#[test]
fn a_search_crosses_to_upstreams_that_have_one() {
    let mut search = Tool::new(
        Pos::NONE,
        Str::plain("web_search"),
        ToolKind::Hosted(Hosted {
            class: HostedClass::WebSearch,
            kind_text: Str::plain("web_search"),
        }),
    );
    let extra = |key: &'static str, value: &'static str| crate::wire::Extra {
        key: Str::plain(key),
        value: Raw::made(value),
    };
    search.extra = vec![
        extra("search_context_size", "\"low\""),
        extra("user_location", r#"{"type":"approximate","city":"Paris"}"#),
        extra("filters", "{}"),
    ];
    let mut request = request(Protocol::Responses, vec![turn(Role::User, vec![text("Hi")])]);
    request.tools = vec![search];
    let mut profile = Profile::of(Protocol::Chat);
    profile.web_search = true;
    check_with(
        &request,
        &profile,
        json!({"tools": null, "web_search_options": {
            "search_context_size": "low",
            "user_location": {"type": "approximate", "approximate": {"city": "Paris"}},
        }}),
        &["dropped web_search_option"],
    );
}

#[test]
fn subsets_cross_or_filter() {
    let named = |name: &'static str| ToolRef {
        at: Pos::NONE,
        kind: ToolRefKind::Function,
        name: Str::plain(name),
        namespace: None,
        extra: Vec::new(),
    };
    let mut request = request(Protocol::Responses, vec![turn(Role::User, vec![text("Hi")])]);
    request.tools = vec![function("f", SCHEMA), function("g", SCHEMA)];
    request.choice.mode = Some(At::made(Mode::Any));
    request.choice.subset = Some(Subset { at: Pos::NONE, tools: vec![named("g"), named("gone")] });
    check(
        &request,
        json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
            {"type": "function", "function": {"name": "g"}},
        ]}}}),
        &["dropped choice_target"],
    );
    let mut profile = Profile::of(Protocol::Chat);
    profile.allowed_tools = false;
    profile.strict = false;
    check_with(
        &request,
        &profile,
        json!({"tool_choice": "required", "tools": [
            {"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}},
        ]}),
        &["emulated cache_prefix"],
    );
}

#[test]
fn native_calls_and_tools_are_functions() {
    let mut request = request(
        Protocol::Responses,
        vec![
            turn(
                Role::Assistant,
                vec![call(
                    "A",
                    "local_shell",
                    Arguments::Native(
                        NativeKind::LocalShell,
                        Raw::made(r#"{"type":"exec","command":["ls"],"env":{}}"#),
                    ),
                )],
            ),
            turn(Role::User, vec![result("A", vec![text("ok")])]),
        ],
    );
    request.tools = vec![Tool::new(
        Pos::NONE,
        Str::plain("local_shell"),
        ToolKind::Native(Native {
            kind: NativeKind::LocalShell,
            kind_text: Str::plain("local_shell"),
        }),
    )];
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    let tools = Toolset::new(&request, &Profile::of(Protocol::Chat));
    (CODEC.encode_request)(&request, &tools, &Profile::of(Protocol::Chat), &mut out, &mut ledger);
    let found: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(found["messages"][0]["tool_calls"][0]["type"], "function");
    assert!(codes_of(&ledger).contains(&"emulated native_tool".to_owned()));
}

fn response(origin: Protocol, turns: Vec<Turn<'static>>, stop: Stop<'static>) -> Response<'static> {
    Response {
        origin,
        id: Some(Str::plain("msg_1")),
        model: Some(Str::plain("claude")),
        created: None,
        candidates: vec![Candidate {
            at: Pos::NONE,
            turns,
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

fn answer(response: &Response<'_>, asked: Option<&Request<'_>>) -> (Value, Vec<String>) {
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    let asked = asked.map(|request| (CODEC.response_context)(request));
    (CODEC.encode_response)(response, asked.as_ref(), &mut out, &mut ledger);
    (serde_json::from_slice(&out).unwrap(), codes_of(&ledger))
}

#[test]
fn answers_count_tokens_as_openai_does() {
    let turns = vec![turn(Role::Assistant, vec![text("Hi")])];
    let (found, codes) = answer(&response(Protocol::Messages, turns, Stop::EndTurn), None);
    assert_eq!(
        found["usage"],
        json!({"prompt_tokens": 105, "completion_tokens": 7, "total_tokens": 112,
            "prompt_tokens_details": {"cached_tokens": 90, "cache_write_tokens": 5},
            "completion_tokens_details": {"reasoning_tokens": 3}})
    );
    assert_eq!(found["id"].as_str().unwrap().len(), "chatcmpl-".len() + 24);
    assert_eq!(found["created"], 0);
    assert_eq!(found["choices"][0]["finish_reason"], "stop");
    assert_eq!(codes, [""; 0]);
}

#[test]
fn a_refusal_of_messages_is_a_filter() {
    let turns = vec![turn(Role::Assistant, vec![text("par")])];
    let stop =
        Stop::Refusal { category: None, explanation: Some(Str::plain("against the policy")) };
    let (found, codes) = answer(&response(Protocol::Messages, turns, stop), None);
    let choice = &found["choices"][0];
    assert_eq!(choice["message"]["content"], "par");
    assert_eq!(choice["message"]["refusal"], "against the policy");
    assert_eq!(choice["finish_reason"], "content_filter");
    assert_eq!(codes, ["degraded stop_reason"]);

    let refusal = Refusal { at: Pos::NONE, text: Str::plain("No."), extra: Vec::new() };
    let turns = vec![turn(Role::Assistant, vec![Item::Refusal(refusal)])];
    let stop = Stop::Refusal { category: None, explanation: None };
    let (found, codes) = answer(&response(Protocol::Responses, turns, stop), None);
    assert_eq!(found["choices"][0]["message"]["refusal"], "No.");
    assert_eq!(found["choices"][0]["finish_reason"], "stop");
    assert_eq!(codes, [""; 0]);
}

#[test]
fn deprecated_clients_get_deprecated_calls() {
    let mut asked = request(Protocol::Chat, Vec::new());
    asked.legacy_functions = true;
    let items = vec![json_call("A", "f", r#"{"a":1}"#), json_call("B", "f", "{}")];
    let given = response(Protocol::Messages, vec![turn(Role::Assistant, items)], Stop::ToolCalls);
    let (found, codes) = answer(&given, Some(&asked));
    let choice = &found["choices"][0];
    assert_eq!(choice["message"]["function_call"], json!({"name": "f", "arguments": "{\"a\":1}"}));
    assert_eq!(choice["finish_reason"], "function_call");
    assert_eq!(codes, ["dropped call_id", "dropped legacy_functions"]);
    let (found, _) = answer(&given, None);
    assert_eq!(found["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn a_cut_call_says_length() {
    let items = vec![call("A", "f", Arguments::Text(Str::plain("{\"a\":")))];
    let turns = vec![turn(Role::Assistant, items)];
    let (found, _) = answer(&response(Protocol::Responses, turns, Stop::MaxTokens), None);
    let choice = &found["choices"][0];
    assert_eq!(choice["finish_reason"], "length");
    assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], "{\"a\":");
}

/// What a client gets from Messages or Responses and sends back unread is what
/// the vendor gets back, in its own place.
#[test]
fn reasoning_returns_to_its_place() {
    let mut redacted = reasoning(Some(Issuer::Anthropic), "", "EmwK");
    redacted.summary.clear();
    if let Some(seal) = &mut redacted.sealed {
        seal.redacted = true;
    }
    let items = vec![
        Item::Reasoning(reasoning(Some(Issuer::Anthropic), "T é \"1\"", "S1==")),
        Item::Reasoning(redacted),
        text("Looking."),
        json_call("A", "f", "{}"),
        Item::Reasoning(reasoning(Some(Issuer::Anthropic), "", "S2==")),
        json_call("B", "f", "{}"),
    ];
    let turns = vec![turn(Role::Assistant, items.clone())];
    let (found, codes) = answer(&response(Protocol::Messages, turns, Stop::ToolCalls), None);
    assert_eq!(codes, [""; 0]);
    let message = &found["choices"][0]["message"];
    assert_eq!(message["reasoning_content"], "T é \"1\"");
    assert_eq!(message["reasoning_details"].as_array().unwrap().len(), 3);

    let body = json!({"model": "m", "messages": [message]}).to_string();
    let again = CODEC.decode_request(&body).unwrap();
    assert_eq!(again.turns[0].items.len(), items.len());
    for (found, given) in again.turns[0].items.iter().zip(&items) {
        match (found, given) {
            (Item::Reasoning(found), Item::Reasoning(given)) => {
                assert_eq!((&found.summary, &found.sealed), (&given.summary, &given.sealed));
                assert!(found.content.is_empty());
            }
            (Item::Text(found), Item::Text(given)) => assert_eq!(found.text, given.text),
            (Item::Call(found), Item::Call(given)) => assert_eq!(found.id, given.id),
            (found, given) => panic!("{found:?} is not {given:?}"),
        }
    }
    // A Chat upstream has sealed none of it, so it gets none of it.
    let mut ledger = Ledger::default();
    let cuts = (CODEC.foreign_reasoning)(&body, &mut ledger).unwrap();
    let rest = crate::wire::cuts::without(&body, &cuts);
    assert!(!rest.contains("reasoning"));
    let mut expected: Value = serde_json::from_str(&body).unwrap();
    let message = expected["messages"][0].as_object_mut().unwrap();
    message.retain(|key, _| !key.starts_with("reasoning"));
    assert_eq!(serde_json::from_str::<Value>(&rest).unwrap(), expected);
    let lost = ledger.entries("").into_iter().map(|entry| entry.code);
    assert_eq!(lost.collect::<Vec<_>>(), vec![Code::ReasoningForeign; 3]);
}

#[test]
fn reasoning_goes_to_vendors_that_want_it() {
    let mut details = reasoning(
        Some(Issuer::Vendor("reasoning_details".to_owned())),
        "hm",
        r#"[{"type":"reasoning.text","text":"hm"}]"#,
    );
    details.content = std::mem::take(&mut details.summary);
    let items = vec![
        Item::Reasoning(details),
        Item::Reasoning(reasoning(Some(Issuer::Anthropic), "foreign", "S")),
        text("Hi"),
    ];
    let request = request(Protocol::Messages, vec![turn(Role::Assistant, items)]);
    let mut profile = Profile::of(Protocol::Chat);
    profile.reasoning_field = Some("reasoning");
    check_with(
        &request,
        &profile,
        json!({"messages": [{"role": "assistant", "content": "Hi", "reasoning": "hm",
            "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}]}),
        &["dropped reasoning_foreign"],
    );
    check(
        &request,
        json!({"messages": [{"role": "assistant", "content": "Hi"}]}),
        &["dropped reasoning_foreign", "dropped reasoning_foreign"],
    );
}

#[test]
fn citations_with_an_address_are_annotations() {
    let cited = |words: &'static str, citations: &'static str| {
        let mut text = Text::new(Str::plain(words));
        text.citations = Some(Raw::made(citations));
        Item::Text(text)
    };
    let url = json!([{"type": "url_citation", "url_citation": {
        "start_index": 3, "end_index": 7, "title": "T", "url": "https://x"}}]);
    let blocks = vec![
        text("é: "),
        cited(
            "fact",
            r#"[{"type":"web_search_result_location","url":"https://x","title":"T","cited_text":"c","encrypted_index":"E"},{"type":"page_location","document_index":0}]"#,
        ),
    ];
    let turns = vec![turn(Role::Assistant, blocks)];
    let (found, codes) = answer(&response(Protocol::Messages, turns, Stop::EndTurn), None);
    assert_eq!(found["choices"][0]["message"]["content"], "é: fact");
    assert_eq!(found["choices"][0]["message"]["annotations"], url);
    assert_eq!(codes, ["degraded citations", "dropped citations"]);

    let parts = vec![cited(
        "é: fact",
        r#"[{"type":"url_citation","url":"https://x","title":"T","start_index":3,"end_index":7}]"#,
    )];
    let turns = vec![turn(Role::Assistant, parts)];
    let (found, codes) = answer(&response(Protocol::Responses, turns, Stop::EndTurn), None);
    assert_eq!(found["choices"][0]["message"]["annotations"], url);
    assert_eq!(codes, [""; 0]);
}

#[test]
fn a_failure_is_no_answer() {
    let error = crate::model::ApiError::new(crate::model::ErrorKind::Server, "it broke");
    let given = response(Protocol::Responses, Vec::new(), Stop::Failed(Box::new(error)));
    let (_, codes) = answer(&given, None);
    assert_eq!(codes, ["refused stop_reason"]);
}
