use super::*;
use crate::model::Protocol;
use crate::model::{Candidate, Native, Role, Stop, Tool, Turn};
use crate::wire::{At, Raw};

fn function<'a>(name: &'a str, schema: &'a str) -> Tool<'a> {
    let schema = Some(Raw::parse(schema).unwrap());
    Tool::new(Pos::NONE, Str::plain(name), ToolKind::Function { schema })
}

fn freeform(name: &str) -> Tool<'_> {
    Tool::new(Pos::NONE, Str::plain(name), ToolKind::Freeform { grammar: None })
}

fn native(name: &str, kind: NativeKind) -> Tool<'_> {
    let native = Native { kind, kind_text: Str::plain(name) };
    Tool::new(Pos::NONE, Str::plain(name), ToolKind::Native(native))
}

const OBJECT: &str = r#"{"type":"object","properties":{}}"#;
const LIST: &str = r#"{"type":"array","items":{"type":"string"}}"#;

/// What a call by the wire name `name` looks like to the client, as name,
/// namespace and arguments.
fn restored(
    client: Protocol,
    upstream: Protocol,
    tools: Vec<Tool<'_>>,
    name: &str,
    arguments: Arguments<'_>,
) -> (String, Option<String>, String) {
    let mut request = Request::new(client);
    request.tools = tools;
    let restore = Restore::new(&request, &Profile::of(upstream));
    let call = Call {
        at: Pos::NONE,
        id: None,
        name: Str::plain(name),
        namespace: None,
        arguments,
        caller: None,
        cache: None,
        extra: Vec::new(),
    };
    let mut response = Response {
        origin: upstream,
        id: None,
        model: None,
        created: None,
        candidates: vec![Candidate {
            at: Pos::NONE,
            turns: vec![Turn::new(Pos::NONE, Role::Assistant, vec![Item::Call(call)])],
            stop: At::made(Stop::ToolCalls),
            logprobs: None,
            extra: Vec::new(),
        }],
        usage: None,
        tier: None,
        extra: Vec::new(),
    };
    restore.apply(&mut response);
    let Item::Call(call) = response.candidates[0].turns[0].items.remove(0) else { panic!() };
    let own = |text: Str<'_>| text.into_decoded().into_owned();
    (own(call.name), call.namespace.map(own), format!("{:?}", call.arguments))
}

fn json(text: &str) -> Arguments<'_> {
    Arguments::Json(Raw::parse(text).unwrap())
}

fn text(text: &str) -> Arguments<'_> {
    Arguments::Text(Str::plain(text))
}

#[track_caller]
fn check(tools: Vec<Tool<'_>>, call: (&str, &str), expected: (&str, Option<&str>, &str)) {
    use Protocol::{Messages, Responses};
    let (name, namespace, arguments) = restored(Responses, Messages, tools, call.0, json(call.1));
    assert_eq!((name.as_str(), namespace.as_deref(), arguments.as_str()), expected);
}

#[test]
fn unchanged_and_unknown() {
    let tools = || vec![function("get", OBJECT)];
    check(tools(), ("get", r#"{"a":1.0}"#), ("get", None, r#"Json({"a":1.0})"#));
    check(tools(), ("other", "{}"), ("other", None, "Json({})"));
    assert!(
        Restore::new(&Request::new(Protocol::Chat), &Profile::of(Protocol::Messages)).is_empty()
    );
}

#[test]
fn namespace() {
    let kind = ToolKind::Namespace { tools: vec![function("get", OBJECT), freeform("run")] };
    let tools = || vec![Tool::new(Pos::NONE, Str::plain("crm"), kind.clone())];
    check(tools(), ("crm__get", "{}"), ("get", Some("crm"), "Json({})"));
    check(tools(), ("crm__run", r#"{"input":"x"}"#), ("run", Some("crm"), r#"Freeform("x")"#));
}

#[test]
fn renamed() {
    let tools = vec![function("srv/tool.x", OBJECT), function("srv_tool_x", OBJECT)];
    let mut request = Request::new(Protocol::Responses);
    request.tools = tools.clone();
    let profile = Profile::of(Protocol::Messages);
    let wire = Toolset::new(&request, &profile).wire_name(None, "srv/tool.x").into_owned();
    check(tools.clone(), (&wire, "{}"), ("srv/tool.x", None, "Json({})"));
    check(tools, ("srv_tool_x", "{}"), ("srv_tool_x", None, "Json({})"));
}

#[test]
fn freeform_input() {
    let tools = || vec![freeform("patch")];
    for (arguments, expected) in [
        (r#"{"input":"a\nb\u00e9"}"#, "Freeform(\"a\\nbé\")"),
        (r#"{"input":""}"#, r#"Freeform("")"#),
        (r#"{"input":3}"#, r#"Freeform("{\"input\":3}")"#),
        (r#"{"input":"a","b":1.0}"#, r#"Freeform("{\"input\":\"a\",\"b\":1.0}")"#),
        (r#"["a"]"#, r#"Freeform("[\"a\"]")"#),
    ] {
        check(tools(), ("patch", arguments), ("patch", None, expected));
    }
}

#[test]
fn freeform_input_that_was_cut() {
    for (arguments, expected) in [
        (r#"{"input":"par"#, "par"),
        (r#"{"input":""#, ""),
        (r#"{"input":"a\nb\"#, "a\nb"),
        (r#"{"input":"a\u00"#, "a"),
        (r#"{"input":"a\ud83d\ude0"#, "a"),
        (r#"{"input":"a""#, "a"),
        (r#"{"input":"a","#, "a"),
        (r#"{"inp"#, r#"{"inp"#),
        (r#"{"input":"#, r#"{"input":"#),
        (r#"{"input":"a\x"}"#, r#"{"input":"a\x"}"#),
        ("plain words", "plain words"),
        ("", ""),
    ] {
        let (.., found) = restored(
            Protocol::Responses,
            Protocol::Messages,
            vec![freeform("f")],
            "f",
            text(arguments),
        );
        assert_eq!(found, format!("Freeform({expected:?})"), "{arguments}");
    }
}

#[test]
fn native_actions() {
    let tools = || vec![native("local_shell", NativeKind::LocalShell)];
    check(
        tools(),
        ("local_shell", r#"{"command":["ls"]}"#),
        ("local_shell", None, r#"Native(LocalShell, {"type":"exec","command":["ls"],"env":{}})"#),
    );
    check(
        tools(),
        ("local_shell", r#"{"command":"ls"}"#),
        ("local_shell", None, r#"Json({"command":"ls"})"#),
    );
}

#[test]
fn wrapped_schemas() {
    let tools = || vec![function("list", LIST)];
    check(tools(), ("list", r#"{"value":["a",1e2]}"#), ("list", None, r#"Text("[\"a\",1e2]")"#));
    check(tools(), ("list", r#"{"value":"\u00e9"}"#), ("list", None, r#"Text("\"\\u00e9\"")"#));
    check(tools(), ("list", r#"{"values":[]}"#), ("list", None, r#"Json({"values":[]})"#));
}

#[test]
fn raw_arguments_in_every_form() {
    use Protocol::{Chat, Messages, Responses};
    let cut = r#"{"__toolwire_raw":"{\"a\":"}"#;
    let expected = ("f".to_owned(), None, r#"Text("{\"a\":")"#.to_owned());
    let tools = || vec![function("f", OBJECT)];
    assert_eq!(restored(Chat, Messages, tools(), "f", json(cut)), expected);
    assert_eq!(restored(Messages, Chat, tools(), "f", text(cut)), expected);
    assert_eq!(restored(Responses, Chat, tools(), "gone", text(cut)).2, expected.2);
    let mut literal = String::new();
    literal.push_str(&serde_json::to_string(cut).unwrap());
    let escaped = Raw::parse(&literal).unwrap().source_reader().unwrap().string().unwrap();
    assert_eq!(restored(Messages, Chat, tools(), "f", Arguments::Text(escaped)), expected);
    let more = r#"{"__toolwire_raw":"x","b":1}"#;
    assert_eq!(restored(Chat, Messages, tools(), "f", json(more)).2, format!("Json({more})"));
}

#[test]
fn arguments_as_text() {
    use Protocol::{Chat, Messages, Responses};
    let shell = || vec![native("shell", NativeKind::Shell)];
    let commands = r#"{"commands":["ls"]}"#;
    let (.., arguments) = restored(Responses, Chat, shell(), "shell", text(commands));
    assert_eq!(arguments, format!("Native(Shell, {commands})"));
    let (.., arguments) = restored(Responses, Chat, shell(), "shell", text(r#"{"commands":"#));
    assert_eq!(arguments, r#"Text("{\"commands\":")"#);
    let bash = vec![native("bash", NativeKind::Bash)];
    let (.., arguments) = restored(Messages, Chat, bash, "bash", text(r#"{"command":"ls"}"#));
    assert_eq!(arguments, r#"Text("{\"command\":\"ls\"}")"#);
}
