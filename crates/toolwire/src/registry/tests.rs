use super::shape::{Shape, ToolForm};
use crate::guess::Fields;
use crate::model::Protocol;
use crate::wire::Reader;

const LEGACY: ToolForm = ToolForm::Unwrapped("function");

fn name(shape: Shape) -> &'static str {
    match shape {
        Shape::Mcp => "mcp",
        Shape::Protocol(_, LEGACY) => "legacy",
        Shape::Protocol(protocol, _) => protocol.as_str(),
    }
}

fn check(definition: &str, shape: &str) {
    let fields = Fields::read(&mut Reader::new(definition)).unwrap();
    assert_eq!(name(Shape::of(&fields)), shape, "{definition}");
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
    let check = |shape: Shape, stored, offered| assert_eq!(shape.offered(stored), offered);
    let chat = Protocol::Chat;
    let nested = ToolForm::Wrapped("function");
    check(Shape::Protocol(chat, nested), "/function/strict", "/function/strict");
    check(Shape::Protocol(chat, LEGACY), "/function/parameters/x", "/parameters/x");
    check(Shape::Mcp, "/parameters/properties", "/inputSchema/properties");
    check(Shape::Mcp, "/output_schema", "/outputSchema");
    check(Shape::Mcp, "/name", "/name");
    check(Shape::Mcp, "", "");
}

#[test]
fn null_members_are_absent() {
    let fields = Fields::read(&mut Reader::new(r#"{"a":null,"b":1}"#)).unwrap();
    assert!(fields.get("a").is_none());
    assert!(fields.get("b").is_some());
}
