use crate::wire::sse::Frame;
use crate::wire::stencil::{Holes, Stencil};
use crate::wire::{Reader, Str};

fn frame(data: &str) -> Frame<'_> {
    Frame { name: Some("delta"), data, raw: data.as_bytes(), ended: true }
}

/// The text is `t`, the padding `p` and the number `n`.
fn find(data: &str, holes: &mut Holes<'_>) -> Option<u8> {
    let mut reader = Reader::new(data);
    let mut members = reader.object().ok()?;
    while let Some(key) = members.next(&mut reader).ok()? {
        match key.decode().as_ref() {
            "t" => holes.text(&reader.string().ok()?)?,
            "p" => holes.padding(&reader.string().ok()?)?,
            "n" => holes.number(&reader.number().ok()?)?,
            _fixed => reader.skip().ok()?,
        }
    }
    Some(7)
}

fn cut(data: &str) -> Stencil<u8> {
    let mut stencil = Stencil::default();
    assert!(stencil.forget());
    stencil.cut(&frame(data), find);
    stencil
}

/// Checks the text of an event that comes behind the first.
fn check(first: &str, next: &str, expected: Option<&str>) {
    let found = cut(first).fit(&frame(next));
    let spelled = found.as_ref().map(|(what, text)| (*what, text.spelled()));
    assert_eq!(spelled, expected.map(|text| (7, text)), "{next} behind {first}");
    let Some((_, text)) = found else { return };
    // It is the literal that a reader would have found there.
    let mut reader = Reader::new(next);
    let mut members = reader.object().unwrap();
    let mut read = Str::plain("");
    while let Some(key) = members.next(&mut reader).unwrap() {
        if key == "t" {
            read = reader.string().unwrap();
        } else {
            reader.skip().unwrap();
        }
    }
    reader.finish().unwrap();
    assert_eq!((text.span(next), text.is_escaped()), (read.span(next), read.is_escaped()));
}

const FIRST: &str = r#"{"a":1,"n":9,"t":"x","p":"zz","b":[{}]}"#;

#[test]
fn what_differs_only_in_its_holes_fits() {
    for (next, text) in [
        (FIRST, "x"),
        (r#"{"a":1,"n":10,"t":"","p":"","b":[{}]}"#, ""),
        (r#"{"a":1,"n":-1.5e3,"t":"a \"b\" \u00e9é","p":"\n","b":[{}]}"#, r#"a \"b\" \u00e9é"#),
    ] {
        check(FIRST, next, Some(text));
    }
    check(r#"{"t":"a"}"#, r#"{"t":"b"}"#, Some("b"));
    check(r#" { "t" : "a" } "#, r#" { "t" : "b" } "#, Some("b"));
}

#[test]
fn anything_else_does_not() {
    for next in [
        "",
        "{",
        r#"{"a":2,"n":9,"t":"x","p":"zz","b":[{}]}"#,
        r#"{"a":1,"n":09,"t":"x","p":"zz","b":[{}]}"#,
        r#"{"a":1,"n":,"t":"x","p":"zz","b":[{}]}"#,
        r#"{"a":1,"n":"9","t":"x","p":"zz","b":[{}]}"#,
        r#"{"a":1,"n":9,"t":null,"p":"zz","b":[{}]}"#,
        r#"{"a":1,"n":9,"t":"x\","p":"zz","b":[{}]}"#,
        r#"{"a":1,"n":9,"t":"\q","p":"zz","b":[{}]}"#,
        r#"{"a":1,"n":9,"t":"\ud800","p":"zz","b":[{}]}"#,
        r#"{"a":1,"n":9,"t":"x","c":1,"p":"zz","b":[{}]}"#,
        r#"{"a":1,"n":9,"t":"x","p":"zz","b":[{}]"#,
        r#"{"a":1,"n":9,"t":"x","p":"zz","b":[{}]}}"#,
        r#"{"a":1,"n":9,"t":"x","p":"zz","b":[{}]}{"a":1}"#,
        "{\"a\":1,\"n\":9,\"t\":\"\u{1}\",\"p\":\"zz\",\"b\":[{}]}",
    ] {
        check(FIRST, next, None);
    }
    for first in [r#"{"a":1}"#, r#"{"t":"a","t":"b"}"#] {
        check(first, first, None);
    }
}

#[test]
fn the_name_of_the_event_counts() {
    let mut stencil = cut(FIRST);
    for name in [None, Some(""), Some("error")] {
        assert!(stencil.fit(&Frame { name, ..frame(FIRST) }).is_none(), "{name:?}");
    }
    assert!(stencil.fit(&frame(FIRST)).is_some());
}

#[test]
fn it_is_good_until_another_event_comes() {
    let mut stencil = cut(FIRST);
    assert!(stencil.fit(&frame(FIRST)).is_some());
    assert!(stencil.forget());
    assert!(stencil.fit(&frame(FIRST)).is_none());
}

/// A stream of which no event is like the one before soon costs no more than
/// reading it.
#[test]
fn what_never_repeats_is_left_alone() {
    let mut stencil = Stencil::default();
    let mut tries = 0;
    for number in 0..1000 {
        let data = format!(r#"{{"used":{number},"t":"x"}}"#);
        assert!(stencil.fit(&frame(&data)).is_none());
        if stencil.forget() {
            stencil.cut(&frame(&data), find);
            tries += 1;
        }
    }
    assert!(tries < 100, "{tries}");
}
