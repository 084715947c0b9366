use super::*;
use crate::model::{Item, ResultKind, Text, ToolResult};
use crate::wire::{At, Pos, Str};

/// An action that goes up as arguments comes back as itself.
#[track_caller]
fn check(kind: NativeKind, native: &str, function: &str) {
    let native = Raw::parse(native).unwrap();
    assert_eq!(arguments(kind, &native).text(), function);
    assert_eq!(action(kind, function).unwrap(), native);
    assert_eq!(arguments(kind, &action(kind, function).unwrap()).text(), function);
}

#[test]
fn local_shell() {
    use NativeKind::LocalShell;
    check(
        LocalShell,
        r#"{"type":"exec","command":["ls","-l"],"env":{}}"#,
        r#"{"command":["ls","-l"]}"#,
    );
    check(
        LocalShell,
        r#"{"type":"exec","command":["a\u00e9" , ""],"env":{"A":"1"},"timeout_ms":1e3,"user":null,"x":1.0}"#,
        r#"{"command":["a\u00e9" , ""],"env":{"A":"1"},"timeout_ms":1e3,"user":null,"x":1.0}"#,
    );
}

#[test]
fn shell() {
    let same = r#"{"commands":["ls"],"timeout_ms":null,"max_output_length":12345678901234567890}"#;
    check(NativeKind::Shell, same, same);
}

#[test]
fn patch() {
    let operation = r#"{"type":"update_file","path":"a.rs","diff":"@@\n-a\n+b"}"#;
    check(NativeKind::ApplyPatch, operation, &format!(r#"{{"operation":{operation}}}"#));
    let operation = r#"{"path":"a.rs","type":"delete_file"}"#;
    check(NativeKind::ApplyPatch, operation, &format!(r#"{{"operation":{operation}}}"#));
}

#[test]
fn search() {
    let same = r#"{"query":"mail","limit":1.0}"#;
    check(NativeKind::ToolSearch, same, same);
}

#[test]
fn arguments_that_do_not_fit_stay_a_function_call() {
    for (kind, text) in [
        (NativeKind::LocalShell, r#"{"command":"ls"}"#),
        (NativeKind::LocalShell, r#"{"command":[1]}"#),
        (NativeKind::LocalShell, r#"{"command":["ls"],"command":["rm"]}"#),
        (NativeKind::LocalShell, r#"{"command":["ls"],"env":[]}"#),
        (NativeKind::LocalShell, r#"{"command":["ls"]"#),
        (NativeKind::LocalShell, "{}"),
        (NativeKind::Shell, r#"{"commands":"ls"}"#),
        (NativeKind::Shell, r#"["ls"]"#),
        (NativeKind::Shell, ""),
        (NativeKind::ApplyPatch, r#"{"operation":{"type":"create_file","path":"a"}}"#),
        (NativeKind::ApplyPatch, r#"{"operation":{"type":"move_file","path":"a","diff":""}}"#),
        (NativeKind::ApplyPatch, r#"{"operation":{"type":"delete_file","path":"a"},"why":"x"}"#),
        (NativeKind::ApplyPatch, r#"{"operation":"delete"}"#),
        (NativeKind::ToolSearch, "3"),
        (NativeKind::Computer, "{}"),
    ] {
        assert_eq!(action(kind, text), None, "{text}");
    }
}

#[test]
fn schemas_are_json_objects_that_every_protocol_accepts() {
    let versions = ["text_editor_20241022", "text_editor_20250728", "other"];
    for kind in [
        NativeKind::LocalShell,
        NativeKind::Shell,
        NativeKind::ApplyPatch,
        NativeKind::ToolSearch,
        NativeKind::Bash,
        NativeKind::TextEditor,
        NativeKind::Memory,
    ] {
        for version in versions {
            let function = function(kind, version).unwrap();
            let schema: serde_json::Value = serde_json::from_str(function.schema).unwrap();
            assert_eq!(schema["type"], "object");
            let known = schema["properties"].as_object().unwrap();
            let required = schema.get("required").and_then(|list| list.as_array());
            for name in required.into_iter().flatten() {
                assert!(known.contains_key(name.as_str().unwrap()), "{name}");
            }
            let undo = function.schema.contains("undo_edit");
            let old = kind == NativeKind::TextEditor && version == "text_editor_20241022";
            assert_eq!(undo, old);
        }
    }
    assert_eq!(function(NativeKind::Computer, "computer_20251124"), None);
}

#[track_caller]
fn check_text(kind: NativeKind, content: Vec<Item<'_>>, failed: Option<bool>, text: Option<&str>) {
    let result = ToolResult {
        at: Pos::NONE,
        call_id: None,
        name: None,
        namespace: None,
        kind: ResultKind::Native(kind),
        content,
        is_error: failed.map(At::made),
        cache: None,
        extra: Vec::new(),
    };
    assert_eq!(result_text(&result).as_deref(), text);
    let ordinary = ToolResult { kind: ResultKind::Function, ..result };
    assert_eq!(result_text(&ordinary), None);
}

fn json(text: &str) -> Vec<Item<'_>> {
    vec![Item::Json(Raw::parse(text).unwrap())]
}

fn said(text: &str) -> Vec<Item<'_>> {
    vec![Item::Text(Text::new(Str::plain(text)))]
}

#[test]
fn shell_output() {
    check_text(
        NativeKind::Shell,
        json(
            r#"[{"stdout":"a\n","stderr":"","outcome":{"type":"exit","exit_code":0}},
                {"stdout":"b","stderr":"no\n","outcome":{"type":"exit","exit_code":1}},
                {"stdout":"","stderr":"","outcome":{"type":"timeout"},"created_by":"me"}]"#,
        ),
        None,
        Some("a\nexit_code: 0\nb\nstderr:\nno\nexit_code: 1\ntimed out\ncreated_by: me"),
    );
    check_text(NativeKind::Shell, json("[]"), None, Some(""));
    check_text(NativeKind::Shell, json(r#"[1,{"a":2}]"#), None, Some("1\na: 2"));
    check_text(NativeKind::Shell, json(r#"{"a":1.0}"#), None, Some(r#"{"a":1.0}"#));
}

#[test]
fn local_shell_output() {
    let output = r#"{"output":"x\n","metadata":{"exit_code":0}}"#;
    check_text(NativeKind::LocalShell, said(output), None, Some(output));
}

#[test]
fn patch_output() {
    check_text(NativeKind::ApplyPatch, said("Done"), Some(false), Some("Done"));
    check_text(NativeKind::ApplyPatch, Vec::new(), Some(true), Some("failed"));
    check_text(NativeKind::ApplyPatch, Vec::new(), Some(false), Some("completed"));
}
