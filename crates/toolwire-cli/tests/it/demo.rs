//! `toolwire demo`.

use crate::command::toolwire;

#[test]
fn a_worked_example_that_fits_a_terminal() {
    let ran = toolwire("demo", "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    for line in ran.out.lines() {
        assert!(line.chars().count() <= 80, "too wide: {line}");
        assert_eq!(line.trim_end(), line, "trailing spaces");
        assert!(!line.contains('\u{1b}'), "colours outside a terminal: {line}");
    }
    for part in ["Chat", "\"custom_tool_call\"", "\"tool_use\"", "/seed", "translate --help"] {
        assert!(ran.out.contains(part), "{part} is missing");
    }
    assert_eq!(ran.out, toolwire("demo", "").out);
}
