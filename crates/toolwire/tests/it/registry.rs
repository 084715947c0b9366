//! Definitions from any source, checked early, rendered for any protocol.

use serde_json::{Value, json};
use toolwire::registry::{Definition, Error, OnInvalid, Problem, Reason, Registry, Slim};
use toolwire::wire;
use toolwire::{Action, Code, Entry, Level, LossPolicy, Options, Protocol, translate};

fn registry(list: &str) -> Registry {
    Registry::from_json(list.as_bytes()).unwrap()
}

fn filtered(list: &str) -> Registry {
    let mut registry = Registry::new(OnInvalid::Filter);
    registry.add_json(list.as_bytes()).unwrap();
    registry
}

fn problems(list: &str) -> Vec<Problem> {
    let error = Registry::from_json(list.as_bytes()).unwrap_err();
    let Error::Invalid { problems } = error else { panic!("{error}") };
    problems
}

/// The rendered list, and the ledger as `path code action`.
fn render(registry: &Registry, to: Protocol) -> (Vec<Value>, Vec<String>) {
    let rendered = registry.render(to, &Options::default()).unwrap();
    let list = serde_json::from_slice(&rendered.body).unwrap();
    let ledger = rendered
        .ledger
        .iter()
        .map(|entry| format!("{} {} {}", entry.path, entry.code, entry.action.as_str()));
    (list, ledger.collect())
}

fn names(list: &[Value]) -> Vec<&str> {
    list.iter()
        .map(|tool| {
            tool["name"]
                .as_str()
                .or(tool["function"]["name"].as_str())
                .or(tool["custom"]["name"].as_str())
                .or(tool["type"].as_str())
                .unwrap_or_default()
        })
        .collect()
}

const MIXED: &str = r#"[
    {"type":"function","function":{"name":"nested","parameters":{"type":"object","properties":{}}}},
    {"type":"function","name":"flat","parameters":{"type":"object","properties":{}},"strict":false},
    {"name":"anthropic","input_schema":{"type":"object","properties":{}}},
    {"type":"custom","custom":{"name":"free_nested","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: \"a\""}}}},
    {"type":"custom","name":"free_flat","format":{"type":"grammar","syntax":"regex","definition":"a+"}},
    {"type":"local_shell"},
    {"type":"web_search"},
    {"name":"mcp","description":"from a server","inputSchema":{"type":"object","properties":{}}},
    {"name":"legacy","parameters":{"type":"object","properties":{}}}
]"#;

#[test]
fn every_shape_for_chat() {
    let (list, ledger) = render(&registry(MIXED), Protocol::Chat);
    assert_eq!(
        names(&list),
        ["nested", "flat", "anthropic", "free_nested", "free_flat", "local_shell", "mcp", "legacy"],
    );
    assert!(list.iter().all(|tool| tool["type"] == "function" || tool["type"] == "custom"));
    assert_eq!(list[4]["custom"]["format"]["grammar"]["definition"], "a+");
    assert_eq!(list[5]["function"]["parameters"]["properties"]["command"]["type"], "array");
    assert!(ledger.contains(&"/6 hosted_tool:web_search dropped".to_owned()), "{ledger:?}");
}

#[test]
fn every_shape_for_responses() {
    let (list, _) = render(&registry(MIXED), Protocol::Responses);
    assert_eq!(
        names(&list),
        [
            "nested", "flat", "anthropic", "free_nested", "free_flat", "local_shell", "web_search",
            "mcp", "legacy",
        ],
    );
    assert!(list.iter().all(|tool| tool.get("function").is_none()));
    for function in list.iter().filter(|tool| tool["type"] == "function") {
        assert_eq!(function["strict"], false, "{function}");
        assert!(function["parameters"].is_object(), "{function}");
    }
    assert_eq!(list[3]["format"]["definition"], "start: \"a\"");
    assert_eq!(list[5], json!({"type":"local_shell"}));
    assert_eq!(list[6], json!({"type":"web_search"}));
}

#[test]
fn every_shape_for_messages() {
    let (list, ledger) = render(&registry(MIXED), Protocol::Messages);
    assert_eq!(
        names(&list),
        [
            "nested", "flat", "anthropic", "free_nested", "free_flat", "local_shell", "web_search",
            "mcp", "legacy",
        ],
    );
    for tool in list.iter().filter(|tool| tool["name"] != "web_search") {
        assert!(tool["input_schema"].is_object(), "{tool}");
    }
    assert!(
        ledger.contains(&"/3/custom/format grammar_unenforced degraded".to_owned()),
        "{ledger:?}"
    );
    assert!(ledger.contains(&"/4/format grammar_unenforced degraded".to_owned()), "{ledger:?}");
}

#[test]
fn problems_name_index_tool_and_pointer() {
    let found = problems(
        r#"[
        {"type":"function","function":{"name":"ok"}},
        {"type":"function","function":{"parameters":{}}},
        {"type":"function","function":{"name":"  "}},
        {"type":"function","name":"s","parameters":"object"},
        {"name":"ok","input_schema":{}},
        {"type":"function","function":[]},
        {"type":7},
        null,
        "x",
        {"function":{"name":"untyped"}},
        {"type":"namespace","name":"n","tools":[{"type":"function"},{"type":"function","name":"m","parameters":[]}]},
        {"type":"namespace","name":"not legal","tools":[]}
    ]"#,
    );
    let lines: Vec<String> = found.iter().map(Problem::to_string).collect();
    assert_eq!(
        lines,
        [
            "definition 1, /1/function: required field `name` is missing",
            "definition 2, /2/function/name: field `name` is empty",
            "definition 3 (s), /3/parameters: expected an object, found a string",
            "definition 4 (ok), /4/name: the name is taken by definition 0",
            "definition 5, /5/function: expected an object, found an array",
            "definition 6, /6/type: expected a string, found a number",
            "definition 7, /7: expected an object, found null",
            "definition 8, /8: expected an object, found a string",
            "definition 9, /9: required field `type` is missing",
            "definition 10 (n), /10/tools/0: required field `name` is missing",
            "definition 10 (n), /10/tools/1/parameters: expected an object, found an array",
            "definition 11 (not legal), /11/name: a namespace is named with up to 64 letters, digits, `_` and `-`",
        ],
    );
}

#[test]
fn a_refused_list_adds_nothing() {
    let mut registry = registry(r#"[{"type":"function","name":"a"}]"#);
    registry.add_json(br#"[{"type":"function","name":"b"},null]"#).unwrap_err();
    assert_eq!(registry.len(), 1);
    registry.add_json(br#"[{"type":"function","name":"b"}]"#).unwrap();
    assert_eq!(registry.len(), 2);
    assert_eq!(registry.diagnostics(), []);
}

#[test]
fn filtering_keeps_indexes() {
    let registry = filtered(
        r#"[null,{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{},"strict":true}}},
            {"type":"teleport","name":"t"},{"type":"web_search"}]"#,
    );
    let found: Vec<(usize, &Reason)> =
        registry.diagnostics().iter().map(|problem| (problem.index, &problem.reason)).collect();
    assert_eq!(
        found,
        [
            (0, &Reason::Wrong { wanted: wire::Kind::Object, found: wire::Kind::Null }),
            (1, &Reason::StrictInSchema),
            (2, &Reason::Unknown { kind: "teleport".into() }),
        ],
    );
    let (list, ledger) = render(&registry, Protocol::Chat);
    assert_eq!(names(&list), ["a"]);
    assert_eq!(list[0]["function"]["parameters"]["strict"], true);
    assert_eq!(ledger, ["/3 hosted_tool:web_search dropped"]);
}

#[test]
fn unknown_kinds_are_the_ledgers_business_by_default() {
    let registry =
        registry(r#"[{"type":"teleport","to":{"x":1.0}},{"type":"function","name":"f"}]"#);
    assert_eq!(registry.diagnostics(), []);
    let rendered = registry.render(Protocol::Responses, &Options::default()).unwrap();
    assert!(
        std::str::from_utf8(&rendered.body)
            .unwrap()
            .contains(r#"{"type":"teleport","to":{"x":1.0}}"#)
    );
    for to in [Protocol::Chat, Protocol::Messages] {
        let (list, ledger) = render(&registry, to);
        assert_eq!(names(&list), ["f"]);
        assert!(ledger.contains(&"/0 unknown_tool dropped".to_owned()), "{ledger:?}");
        let strict = Options::new().on_loss(LossPolicy::Refuse);
        let Err(translate::Error::Refused { entries }) = registry.render(to, &strict) else {
            panic!()
        };
        assert_eq!(entries[0].path, "/0");
    }
}

#[test]
fn documents_that_cannot_be_read() {
    let check = |list: &[u8], wanted: &str| {
        let error = Registry::from_json(list).unwrap_err();
        assert!(matches!(error, Error::Document(_)), "{error}");
        assert_eq!(error.to_string(), wanted);
        Registry::new(OnInvalid::Filter).add_json(list).unwrap_err();
    };
    check(b"[{]", "/0: expected a field name in double quotes (byte 2)");
    check(b"[] x", "unexpected text behind the JSON value (byte 3)");
    check(b"{}", "required field `tools` is missing (byte 0)");
    check(b"7", "expected an array, found a number (byte 0)");
    check(b"[\"\xff\"]", "/0: invalid UTF-8 (byte 2)");
    let deep = format!(
        r#"[{{"type":"function","name":"f","parameters":{}1{}}}]"#,
        "{\"a\":".repeat(100_000),
        "}".repeat(100_000)
    );
    let error = Registry::from_json(deep.as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with("/0/parameters/a/a/a"), "{error}");
    assert!(error.contains("nested deeper than 127 levels"), "{error}");
}

#[test]
fn an_empty_list_is_an_empty_list() {
    for to in Protocol::ALL {
        assert_eq!(render(&registry("[]"), to), (Vec::new(), Vec::new()));
    }
}

#[test]
fn built_in_rust() {
    let mut registry = Registry::default();
    let schema = r#"{"type":"object","properties":{"b":{"const":1.0},"a":{}},"required":["b","a"],"additionalProperties":false}"#;
    registry.add(Definition::function("f").description("d\n").schema(schema)).unwrap();
    registry.add(Definition::function("bare")).unwrap();
    registry.add(Definition::freeform("text").grammar("lark", "start: \"a\"")).unwrap();
    registry.add(Definition::typed("local_shell")).unwrap();
    registry.add(Definition::function("find").namespace("crm")).unwrap();
    registry.add(Definition::function("get").namespace("crm")).unwrap();
    let rendered = registry.render(Protocol::Responses, &Options::default()).unwrap();
    assert!(std::str::from_utf8(&rendered.body).unwrap().contains(schema));
    let (list, ledger) = render(&registry, Protocol::Responses);
    assert_eq!(ledger, [""; 0]);
    assert_eq!(names(&list), ["f", "bare", "text", "local_shell", "crm"]);
    assert_eq!(
        list[1],
        json!({"type":"function","name":"bare","parameters":{"type":"object","properties":{}},"strict":false}),
    );
    assert_eq!(names(list[4]["tools"].as_array().unwrap()), ["find", "get"]);
    assert!(list[4]["description"].is_string());
    let (list, _) = render(&registry, Protocol::Messages);
    assert_eq!(names(&list), ["f", "bare", "text", "local_shell", "crm__find", "crm__get"]);
    assert_eq!(list[4].get("description"), None);
    let (list, _) = render(&registry, Protocol::Chat);
    assert_eq!(names(&list), ["f", "bare", "text", "local_shell", "crm__find", "crm__get"]);
}

#[test]
fn built_wrong() {
    let check = |definition: Definition, wanted: &str| {
        let error = Registry::default().add(definition).unwrap_err();
        assert_eq!(error.to_string(), wanted);
    };
    check(
        Definition::function("f").schema("{"),
        "definition 0 (f), /0/parameters: the JSON ends in the middle of a value",
    );
    check(
        Definition::function("f").schema("[]"),
        "definition 0 (f), /0/parameters: expected an object, found an array",
    );
    check(Definition::function(""), "definition 0, /0/name: field `name` is empty");
    check(
        Definition::typed("web_search").namespace("n"),
        "definition 0, /0: only functions and freeform tools can belong to a namespace",
    );
}

const MCP: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[
    {"name":"files/read.text","title":"Read","description":"Reads a file",
     "inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},
     "outputSchema":{"type":"object","properties":{"text":{"type":"string"}}},
     "annotations":{"readOnlyHint":true},"_meta":{"v":1}},
    {"name":"list","inputSchema":{"type":"object"}}],"nextCursor":"x"}}"#;

#[test]
fn mcp_tools() {
    let mut registry = Registry::default();
    let more = registry.add_mcp("fs", MCP.as_bytes()).unwrap();
    assert_eq!(more.as_deref(), Some("x"));
    let (list, ledger) = render(&registry, Protocol::Responses);
    assert_eq!(names(&list), ["fs"]);
    let tools = list[0]["tools"].as_array().unwrap();
    assert_eq!(tools[0]["description"], "Reads a file");
    assert_eq!(tools[0]["output_schema"]["properties"]["text"]["type"], "string");
    assert_eq!(tools[0].get("annotations"), None);
    assert_eq!(names(tools)[1], "list");
    for lost in ["/0/title only:title", "/0/annotations only:annotations", "/0/_meta only:_meta"] {
        assert!(ledger.contains(&format!("{lost} dropped")), "{ledger:?}");
    }
    for to in [Protocol::Chat, Protocol::Messages] {
        let rendered = registry.render(to, &Options::default()).unwrap();
        let list: Vec<Value> = serde_json::from_slice(&rendered.body).unwrap();
        assert!(names(&list)[0].starts_with("fs__files_read_text_"), "{list:?}");
        assert_eq!(names(&list)[1], "fs__list");
        let find = |path: &str| rendered.ledger.iter().find(|entry| entry.path == path);
        assert_eq!(find("/0/outputSchema").unwrap().action, Action::Dropped);
        assert_eq!(find("/0/annotations").unwrap().level, Level::Info);
    }
}

#[test]
fn two_servers_may_share_names() {
    let mut registry = Registry::default();
    registry.add_mcp("a", MCP.as_bytes()).unwrap();
    registry.add_mcp("b", MCP.as_bytes()).unwrap();
    let error = registry.add_mcp("a", MCP.as_bytes()).unwrap_err().to_string();
    assert!(
        error.contains(
            "definition 4 (a__files/read.text), /4/name: the name is taken by definition 0"
        ),
        "{error}"
    );
    assert_eq!(registry.len(), 4);
    let error = registry.add_mcp("no/label", MCP.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("a namespace is named with"), "{error}");
}

#[test]
fn renamed_wrapped_and_native_calls_come_back() {
    let mut registry = Registry::default();
    registry.add_mcp("fs", MCP.as_bytes()).unwrap();
    registry.add(Definition::freeform("sql")).unwrap();
    registry.add(Definition::typed("local_shell")).unwrap();
    registry.add_json(br#"[{"type":"function","function":{"name":"list"}}]"#).unwrap();
    let (list, _) = render(&registry, Protocol::Messages);
    let renamed = names(&list)[0];
    let blocks = json!([
        {"type":"tool_use","id":"1","name":renamed,"input":{"path":"a"}},
        {"type":"tool_use","id":"2","name":"sql","input":{"input":"SELECT 1"}},
        {"type":"tool_use","id":"3","name":"local_shell","input":{"command":["ls"]}},
        {"type":"tool_use","id":"4","name":"list","input":{}},
        {"type":"tool_use","id":"5","name":"fs__list","input":{}},
        {"type":"tool_use","id":"6","name":"nobody","input":{}},
    ]);
    let answer = json!({"role":"assistant","stop_reason":"tool_use","content":blocks}).to_string();
    let calls = registry.calls(Protocol::Messages, answer.as_bytes(), &Options::default()).unwrap();
    let found: Vec<(&str, Option<&str>, &str)> = calls
        .iter()
        .map(|call| (call.id.as_str(), call.namespace.as_deref(), call.name.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("1", Some("fs"), "files/read.text"),
            ("2", None, "sql"),
            ("3", None, "local_shell"),
            ("4", None, "list"),
            ("5", Some("fs"), "list"),
            ("6", None, "nobody"),
        ],
    );
    assert_eq!(calls[1].freeform(), Some("SELECT 1"));
    let action: Value = serde_json::from_str(calls[2].arguments().unwrap()).unwrap();
    assert_eq!(action["type"], "exec");
    assert_eq!(action["command"], json!(["ls"]));
}

#[test]
fn slimming_is_asked_for_and_reported() {
    let list = r##"[{"type":"function","function":{"name":"f","parameters":{"type":"object",
        "properties":{"a":{"$ref":"#/$defs/used","description":"word word word word"}},
        "$defs":{"used":{"type":"string"},"unused":{"type":"number"}}}}}]"##;
    let mut registry = registry(list);
    let (plain, ledger) = render(&registry, Protocol::Responses);
    assert!(plain[0]["parameters"]["$defs"].get("unused").is_some());
    assert_eq!(ledger, [""; 0]);
    registry.slim(Slim::new().unused_definitions().long_descriptions(9));
    let (slim, ledger) = render(&registry, Protocol::Responses);
    assert_eq!(slim[0]["parameters"]["$defs"], json!({"used":{"type":"string"}}));
    let description = slim[0]["parameters"]["properties"]["a"]["description"].as_str().unwrap();
    assert!(description.len() < 19, "{description}");
    assert_eq!(ledger.len(), 2, "{ledger:?}");
    assert!(ledger.iter().all(|line| line.starts_with("/0/function/parameters/")), "{ledger:?}");
}

#[test]
fn the_same_bytes_every_time() {
    for to in Protocol::ALL {
        let first = registry(MIXED).render(to, &Options::default()).unwrap();
        assert_eq!(first, registry(MIXED).render(to, &Options::default()).unwrap());
    }
}

#[test]
fn cut_lists_are_errors() {
    for end in 0..MIXED.len() {
        let error = Registry::from_json(&MIXED.as_bytes()[..end]).unwrap_err();
        assert!(matches!(error, Error::Document(_)), "{error}");
    }
}

/// A registry of one protocol's definitions renders what translating the list
/// gives.
#[test]
fn agrees_with_the_codecs() {
    let mut compared = 0;
    for (folder, from, body) in crate::vectors::inputs("tools") {
        let Ok(registry) = Registry::from_json(&body) else { continue };
        for to in Protocol::ALL.into_iter().filter(|to| *to != from) {
            let rendered = registry.render(to, &Options::default());
            let translated = translate::tools(from, to, &body, &Options::default());
            let unknown = |entry: &Entry| entry.code == Code::UnknownTool;
            if translated.as_ref().is_ok_and(|tools| tools.ledger.iter().any(unknown)) {
                // Whose kind it is cannot be seen from the definition alone.
                continue;
            }
            assert_eq!(rendered, translated, "{} to {to}", folder.display());
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
}
