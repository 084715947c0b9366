use super::JsonBalance;
use crate::wire::{Reader, Str};

#[derive(Debug, PartialEq)]
enum End {
    Open,
    Cut,
    Whole,
}
use End::{Cut, Open, Whole};

/// Every way to cut the text into two fragments gives the same, spelled as it
/// is and spelled with escapes.
fn check(text: &str, expected: End) {
    for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
        let parts = [&text[..cut], &text[cut..]];
        let literal = |text: &str| serde_json::to_string(text).unwrap();
        let numbered = |text: &str| {
            let units: String = text.encode_utf16().map(|u| format!("\\u{u:04X}")).collect();
            format!("\"{units}\"")
        };
        assert_eq!(end_of(parts.map(|part| Str::plain(part).into_owned())), expected, "{text}");
        assert_eq!(end_of(parts.map(|part| read(&literal(part)))), expected, "{text}");
        assert_eq!(end_of(parts.map(|part| read(&numbered(part)))), expected, "{text}");
    }
}

fn read(literal: &str) -> Str<'static> {
    Reader::new(literal).string().unwrap().into_owned()
}

fn end_of(parts: [Str<'static>; 2]) -> End {
    let mut balance = JsonBalance::default();
    for part in &parts {
        balance.push(part);
    }
    match (balance.is_whole(), balance.is_cut()) {
        (true, _) => Whole,
        (false, true) => Cut,
        (false, false) => Open,
    }
}

#[test]
fn containers_end_with_their_last_bracket() {
    check("{}", Whole);
    check(r#"{"a":[1,{"b":"c"}]}"#, Whole);
    check("[[],[{}]]", Whole);
    check(" { } \n", Whole);
    check(r#"{"a":[1,{"b":"c"}]"#, Cut);
    check("{", Cut);
}

#[test]
fn brackets_and_quotes_in_texts_do_not_count() {
    check(r#"{"a":"}"}"#, Whole);
    check(r#"{"a":"\"}","b":"\\"}"#, Whole);
    check(r#"{"a":"\\\"}"#, Cut);
    check(r#"{"a":"\u007d\u0022"}"#, Whole);
    check(r#"{"a":"{[é🦀"}"#, Whole);
    check(r#"{"a":"tail\"#, Cut);
}

#[test]
fn texts_end_and_numbers_do_not() {
    check(r#""text""#, Whole);
    check(r#""text"#, Cut);
    check("12.5", Open);
    check("null", Open);
    check("", Open);
    check("  ", Open);
}

#[test]
fn a_second_value_opens_it_again() {
    check(r#"{"a":1}{"a""#, Cut);
    check(r#"{"a":1}{"a":2}"#, Whole);
}
