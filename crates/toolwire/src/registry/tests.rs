use super::Registry;
use super::shape::{DefinitionShape, ToolForm};
use crate::guess::Fields;
use crate::model::Protocol;
use crate::schema::Slim;
use crate::translate::Options;
use crate::wire::Reader;

const LEGACY: ToolForm = ToolForm::Unwrapped("function");

fn name(shape: DefinitionShape) -> &'static str {
    match shape {
        DefinitionShape::Mcp => "mcp",
        DefinitionShape::Protocol(_, LEGACY) => "legacy",
        DefinitionShape::Protocol(protocol, _) => protocol.as_str(),
    }
}

fn check(definition: &str, shape: &str) {
    let fields = Fields::read(&mut Reader::new(definition)).unwrap();
    assert_eq!(name(DefinitionShape::of(&fields)), shape, "{definition}");
}

#[test]
fn shapes() {
    check(r#"{"type":"function","function":{"name":"f"}}"#, "chat");
    check(r#"{"type":"custom","custom":{"name":"f"}}"#, "chat");
    check(r#"{"type":"function","name":"f"}"#, "responses");
    check(r#"{"type":"function"}"#, "responses");
    check(r#"{"type":"custom","name":"f"}"#, "responses");
    check(r#"{"type":"custom","name":"f","input_schema":{}}"#, "messages");
    check(r#"{"name":"f","input_schema":{}}"#, "messages");
    check(r#"{"type":"bash_20250124","name":"bash"}"#, "messages");
    check(r#"{"type":"mcp_toolset","mcp_server_name":"s"}"#, "messages");
    check(r#"{"type":"local_shell"}"#, "responses");
    check(r#"{"type":"web_search"}"#, "responses");
    check(r#"{"type":"namespace","name":"n","tools":[]}"#, "responses");
    check(r#"{"name":"f","inputSchema":{}}"#, "mcp");
    check(r#"{"name":"f","parameters":{}}"#, "legacy");
    check(r#"{"type":"function","function":null,"name":"f"}"#, "responses");
}

#[test]
fn pointers_as_offered() {
    let check =
        |shape: DefinitionShape, stored, offered| assert_eq!(shape.offered(stored), offered);
    let chat = Protocol::Chat;
    let nested = ToolForm::Wrapped("function");
    check(DefinitionShape::Protocol(chat, nested), "/function/strict", "/function/strict");
    check(DefinitionShape::Protocol(chat, LEGACY), "/function/parameters/x", "/parameters/x");
    check(DefinitionShape::Mcp, "/parameters/properties", "/inputSchema/properties");
    check(DefinitionShape::Mcp, "/output_schema", "/outputSchema");
    check(DefinitionShape::Mcp, "/name", "/name");
    check(DefinitionShape::Mcp, "", "");
}

#[test]
fn null_members_are_absent() {
    let fields = Fields::read(&mut Reader::new(r#"{"a":null,"b":1}"#)).unwrap();
    assert!(fields.get("a").is_none());
    assert!(fields.get("b").is_some());
}

#[test]
fn definitions_keep_their_spelling_within_a_protocol() {
    let check = |list: &str, to, wanted: &str| {
        let mut registry = Registry::from_json(list.as_bytes()).unwrap();
        registry.slim(Slim { titles: true, ..Slim::default() });
        let rendered = registry.render(to, &Options::default()).unwrap();
        assert_eq!(String::from_utf8(rendered.body).unwrap(), wanted, "{list}");
    };
    check(
        r#"[ { "strict": null, "x": 1.0, "name": "\u0061", "type": "function",
             "parameters": {"type": "object", "title": "T", "properties": {}} } ]"#,
        Protocol::Responses,
        r#"[{ "strict": null, "x": 1.0, "name": "\u0061", "type": "function",
             "parameters": {"type": "object", "properties": {}} }]"#,
    );
    check(
        r#"[{"parameters":null,"type":"function","name":"a"},{"type":"function","name":"b" },
            {"type":"namespace","name":"n","tools":[{"type":"function","name":"c"}]}]"#,
        Protocol::Responses,
        concat!(
            r#"[{"parameters":{"type":"object","properties":{}},"type":"function","name":"a"},"#,
            r#"{"type":"function","name":"b" ,"parameters":{"type":"object","properties":{}}},"#,
            r#"{"type":"namespace","name":"n","tools":[{"type":"function","name":"c","#,
            r#""parameters":{"type":"object","properties":{}}}]}]"#,
        ),
    );
    check(
        r#"[{"function": {"name": "a", "strict": false}, "type": "function"}, {"name":"b"}]"#,
        Protocol::Chat,
        concat!(
            r#"[{"function": {"name": "a", "strict": false}, "type": "function"},"#,
            r#"{"type":"function","function":{"name":"b"}}]"#,
        ),
    );
    check(
        r#"[{"input_schema":{"title":"T"},"name":"a", "extra":null}]"#,
        Protocol::Messages,
        r#"[{"input_schema":{},"name":"a", "extra":null}]"#,
    );
}
