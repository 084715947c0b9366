use toolwire::Action;

use super::*;

const HOSTILE: &str = "a\u{1b}[2J\r\n\u{85}\u{9b}31m\u{2028}\u{2029}\u{202e}\u{2066}\u{200b}\u{7f}\u{feff}\u{e0041}b\\ c";

#[test]
fn no_control_character_is_left() {
    let mut text = String::new();
    write_escaped(HOSTILE, &mut text);
    assert!(text.chars().all(|c| !is_unsafe(c) && c != ' '), "{text:?}");
    assert!(text.starts_with("a\\u{1b}[2J"), "{text}");
    let mut json = Vec::new();
    toolwire::wire::Object::new(&mut json).put("key", HOSTILE);
    let escaped = escape_json(json);
    assert!(!escaped.chars().any(is_unsafe), "{escaped:?}");
    let read: serde_json::Value = serde_json::from_str(&escaped).unwrap();
    assert_eq!(read["key"], HOSTILE);
}

#[test]
fn lines_end_within_the_limit() {
    for length in [0, LINE_LIMIT - 2, LINE_LIMIT - 1, LINE_LIMIT, 100_000] {
        let line = end_text("é".repeat(length.div_ceil(2)));
        assert!(line.len() <= LINE_LIMIT, "{}", line.len());
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(std::str::from_utf8(&line).is_ok());
    }
}

#[test]
fn losses_are_short_and_quote_nothing() {
    let code = Code::Only("x".repeat(1_000_000));
    let entry = Entry::new("/y".repeat(1_000_000), code, Action::Dropped)
        .detail(format!("The value {} is lost.", "secret"));
    let clipped = clip_entry(&entry);
    assert!(clipped.path.len() < 300 && clipped.code.to_string().len() < 100);
    assert!(!clipped.detail.contains("secret"));
}
