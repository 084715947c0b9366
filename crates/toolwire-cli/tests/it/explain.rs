//! `--explain`: the ledger as a table.

use crate::command::toolwire;

fn check(flags: &str, input: &str, expected: &str) {
    let ran = toolwire(&format!("translate --explain {flags}"), input);
    ran.document();
    assert_eq!(ran.err, expected, "\n{}", ran.err);
}

#[test]
fn nothing_lost() {
    let input = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    check("--to responses", input, "Chat request to Responses: nothing was lost.\n");
}

#[test]
fn losses() {
    let input = r#"{"model":"m","max_completion_tokens":100,"seed":7,"verbosity":"low","tools":[
        {"type":"custom","custom":{"name":"run"}},
        {"type":"custom","custom":{"name":"go"}}],"messages":[{"role":"user","content":"hi"}]}"#;
    check(
        "--to messages",
        input,
        "\
Chat request to Messages: 1 loss, 1 minor loss, 2 exact emulations.

Field          Action    Reason
/seed          dropped   The target does not take this sampling parameter.
                         [sampling]
/verbosity     dropped   The target has no verbosity. [verbosity, info]
/tools/* (2×)  emulated  The freeform tool crosses as a function of one text and
                         comes back as itself. [freeform]
",
    );
}

#[test]
fn the_status_of_an_error() {
    let input = r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#;
    check(
        "--to messages",
        input,
        "\
Chat error to Messages: nothing was lost.
The HTTP status is 429.
",
    );
}
