use super::shape::{Shape, find};
use crate::wire::{Reader, read_fields};

fn check(definition: &str, shape: Shape) {
    let fields = read_fields(&mut Reader::new(definition)).unwrap();
    assert_eq!(Shape::of(&fields), shape, "{definition}");
}

#[test]
fn shapes() {
    check(r#"{"type":"function","function":{"name":"f"}}"#, Shape::Chat);
    check(r#"{"type":"custom","custom":{"name":"f"}}"#, Shape::Chat);
    check(r#"{"type":"function","name":"f"}"#, Shape::Responses);
    check(r#"{"type":"function"}"#, Shape::Responses);
    check(r#"{"type":"custom","name":"f"}"#, Shape::Responses);
    check(r#"{"type":"custom","name":"f","input_schema":{}}"#, Shape::Messages);
    check(r#"{"name":"f","input_schema":{}}"#, Shape::Messages);
    check(r#"{"type":"bash_20250124","name":"bash"}"#, Shape::Messages);
    check(r#"{"type":"mcp_toolset","mcp_server_name":"s"}"#, Shape::Messages);
    check(r#"{"type":"local_shell"}"#, Shape::Responses);
    check(r#"{"type":"web_search"}"#, Shape::Responses);
    check(r#"{"type":"namespace","name":"n","tools":[]}"#, Shape::Responses);
    check(r#"{"name":"f","inputSchema":{}}"#, Shape::Mcp);
    check(r#"{"name":"f","parameters":{}}"#, Shape::Legacy);
    check(r#"{"type":"function","function":null,"name":"f"}"#, Shape::Responses);
}

#[test]
fn pointers_as_offered() {
    let check = |shape: Shape, stored, offered| assert_eq!(shape.offered(stored), offered);
    check(Shape::Chat, "/function/strict", "/function/strict");
    check(Shape::Legacy, "/function/parameters/x", "/parameters/x");
    check(Shape::Mcp, "/parameters/properties", "/inputSchema/properties");
    check(Shape::Mcp, "/output_schema", "/outputSchema");
    check(Shape::Mcp, "/name", "/name");
    check(Shape::Mcp, "", "");
}

#[test]
fn null_members_are_absent() {
    let fields = read_fields(&mut Reader::new(r#"{"a":null,"b":1}"#)).unwrap();
    assert!(find(&fields, "a").is_none());
    assert!(find(&fields, "b").is_some());
}
