use arbtest::arbtest;
use serde_json::Value;

use crate::wire::{At, Extra, Kind, Raw, Read, ReadError, Reader, Str, What, read_fields};

/// Builds a value through the typed half of the reader.
fn build(reader: &mut Reader<'_>) -> Result<Value, ReadError> {
    Ok(match reader.peek() {
        Kind::Object => {
            let mut object = serde_json::Map::new();
            let mut members = reader.object()?;
            while let Some(key) = members.next(reader)? {
                object.insert(key.decode().into_owned(), build(reader)?);
            }
            object.into()
        }
        Kind::Array => {
            let mut list = Vec::new();
            let mut members = reader.array()?;
            while members.more(reader)? {
                list.push(build(reader)?);
            }
            list.into()
        }
        Kind::String => reader.string()?.decode().into_owned().into(),
        Kind::Bool => reader.boolean()?.into(),
        Kind::Number => serde_json::from_str(reader.number()?.text()).unwrap(),
        Kind::Null => reader.skip().map(|()| Value::Null)?,
        Kind::Invalid | Kind::End => return Err(reader.raw().unwrap_err()),
    })
}

fn built(text: &str) -> Result<Value, ReadError> {
    let mut reader = Reader::new(text);
    let value = build(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// Both halves of the reader accept exactly what serde_json does, and make the
/// same of it.
#[track_caller]
fn check(text: &str) {
    let expected = match serde_json::from_str::<Value>(text) {
        // Its numbers end where `f64` does; ours are kept as they are spelled.
        Err(error) if error.to_string().contains("out of range") => return,
        expected => expected.ok(),
    };
    assert_eq!(Raw::parse(text).is_ok(), expected.is_some(), "raw: {text:?}");
    assert_eq!(built(text).ok(), expected, "built: {text:?}");
}

#[test]
fn agrees_with_serde_json_on_anything() {
    arbtest(|u| {
        check(&super::fragments(u)?);
        Ok(())
    })
    .budget_ms(400);
}

#[test]
fn agrees_with_serde_json_on_documents() {
    arbtest(|u| {
        let text = super::document(u, 4)?;
        check(&text);
        assert!(built(&text).is_ok(), "{text:?}");
        // A document that is cut anywhere is refused, unless only space is cut.
        let cut = u.int_in_range(0..=text.len())?;
        if let Some(head) = text.get(..cut) {
            check(head);
        }
        Ok(())
    })
    .budget_ms(400);
}

/// Strings are compared in blocks, so everything special comes at every place of
/// one, alone, beside another, and where the document ends.
#[test]
fn agrees_with_serde_json_on_escapes_at_every_place() {
    let special = [
        r"\n", r#"\""#, r"\\", r"\u0041", r"\ud83d\ude00", r"\ud83d", r"\x", r"\", "\u{1}", "\n",
        "\"", "é", "",
    ];
    for before in 0..36 {
        for first in special {
            for second in special {
                for after in [0, 1, 15, 40] {
                    let (before, after) = ("a".repeat(before), "b".repeat(after));
                    check(&format!(r#""{before}{first}{second}{after}""#));
                    check(&format!(r#"["{before}{first}{after}{second}",1]"#));
                    check(&format!(r#""{before}{first}{after}{second}"#));
                }
            }
        }
    }
}

#[test]
fn corners_of_the_grammar() {
    for text in [
        "",
        " ",
        "0",
        "-0",
        "-",
        "+1",
        "00",
        "01",
        "-01",
        "1.",
        ".5",
        "1.5",
        "1e",
        "1e+",
        "1E-2",
        "1e5.0",
        "0x10",
        "1_000",
        "Infinity",
        "NaN",
        "-Infinity",
        "null",
        "nul",
        "nulll",
        "True",
        "tru",
        "\"",
        "\"\"",
        "\"\\\"",
        "\"\\a\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u+123\"",
        "\"\\U0041\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud800a\"",
        "\"\\ud800\\n\"",
        "\"\\ud83d\\ude00\"",
        "\"\\uD83D\\uDE00\\uD83D\"",
        "\"\u{0}\"",
        "\"\u{1f}\"",
        "\"\u{7f}\"",
        "\"\n\"",
        "\"\t\"",
        "\"\u{2028}\"",
        "[",
        "]",
        "[]",
        "[ ]",
        "[,]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1]]",
        "[1}",
        "{",
        "}",
        "{}",
        "{ }",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "{\"a\":1]",
        "{\"a\":1}}",
        "{\"a\"::1}",
        "1 2",
        "1,",
        "\u{feff}1",
        "\u{feff}{}",
        "\u{a0}1",
        "\u{b}1",
        "// c\n1",
        "/**/1",
        " \t\r\n1\t\n\r ",
        "[1]\u{0}",
        "{\"a\":1,\"a\":2}",
    ] {
        check(text);
        check(&format!("[{text}]"));
        check(&format!("{{\"k\":{text}}}"));
    }
}

#[test]
fn control_characters_and_quotes_at_every_offset() {
    for length in 0..80 {
        let plain = "x".repeat(length);
        for odd in
            ["\u{1}", "\u{1f}", "\\n", "\\", "é", "\u{80}", "\u{ff}", "\u{7f}", "!", "#", "[", "]"]
        {
            for tail in ["", "y", "yyyyyyyyyyyyyyyy"] {
                check(&format!("\"{plain}{odd}{tail}\""));
                check(&format!("\"{plain}{odd}{tail}"));
            }
        }
    }
}

#[test]
fn depth() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let levels = open.matches(['[', '{']).count();
        for depth in [1, 63, 126, 127, 128, 129, 100_000] {
            let times = depth / levels;
            let text = format!("{}1{}", open.repeat(times), close.repeat(times));
            // serde_json stops at the same depth, and the whole value is deep.
            let fits = times * levels <= 127;
            assert_eq!(serde_json::from_str::<Value>(&text).is_ok(), fits);
            let what = |error: ReadError| error.what;
            assert_eq!(
                Raw::parse(&text).map(drop).map_err(what),
                if fits { Ok(()) } else { Err(What::Depth) }
            );
            assert_eq!(
                built(&text).map(drop).map_err(what),
                if fits { Ok(()) } else { Err(What::Depth) }
            );
        }
        let unclosed = open.repeat(100_000);
        assert_eq!(Raw::parse(&unclosed).unwrap_err().what, What::Depth);
    }
}

#[test]
fn numbers_beyond_any_type_are_kept_as_they_are() {
    for text in ["1e999", "-1E+999", "1e-999", "123456789012345678901234567890", "0.10", "-0.0"] {
        assert_eq!(Raw::parse(text).unwrap().text(), text);
    }
}

#[test]
fn duplicate_keys_are_refused_where_fields_are_read() {
    wire! {
        struct Thing<'a> {
            name: Str<'a> = "name",
            list: Vec<Str<'a>> = "list",
        }
    }
    for (text, at) in [
        (r#"{"name":"a","name":"b"}"#, 19),
        (r#"{"name":null,"n\u0061me":"b"}"#, 25),
        (r#"{"x":1,"name":"a","\u0078":2}"#, 27),
    ] {
        let error = Thing::read(&mut Reader::new(text)).unwrap_err();
        assert!(matches!(error.what, What::Duplicate(_)), "{text}");
        assert_eq!(error.pos.offset(), Some(at), "{text}");
    }
    assert!(read_fields(&mut Reader::new(r#"{"a":1,"b":2,"a":3}"#)).is_err());
    let text = r#"{"z":1.0,"name":null,"list":["a"],"a":{"b":[]}}"#;
    let Thing { at, name, list, extra } = Thing::read(&mut Reader::new(text)).unwrap();
    assert_eq!((at.offset(), name), (Some(0), None));
    assert_eq!(list, Some(vec![Str::plain("a")]));
    let extra: Vec<_> =
        extra.iter().map(|Extra { key, value }| (key.decode(), value.text())).collect();
    assert_eq!(extra, [("z".into(), "1.0"), ("a".into(), r#"{"b":[]}"#)]);
}

#[test]
fn whole_numbers() {
    for (text, expected) in [
        ("0", Some(0)),
        ("18446744073709551615", Some(u64::MAX)),
        ("3.0", Some(3)),
        ("1e3", Some(1000)),
        ("-0", Some(0)),
        ("18446744073709551616", None),
        ("1.5", None),
        ("-1", None),
        ("1e999", None),
    ] {
        let read = At::<u64>::read(&mut Reader::new(text));
        assert_eq!(read.ok().map(|at| at.value), expected, "{text}");
    }
}

#[test]
fn tags_are_found_wherever_they_stand() {
    for (text, expected) in [
        (r#"{"type":"a","x":1}"#, Some("a")),
        (r#" {"x":{"type":"no"},"t\u0079pe":"\u0061"}"#, Some("a")),
        (r#"{"type":1}"#, None),
        ("{}", None),
        ("[1]", None),
    ] {
        let mut reader = Reader::new(text);
        let tag = reader.tag("type").unwrap();
        assert_eq!(tag.map(|tag| tag.decode().into_owned()).as_deref(), expected, "{text}");
        // Looking ahead does not move the reader.
        reader.skip().unwrap();
        reader.finish().unwrap();
    }
}

#[test]
fn errors_stand_where_the_fault_is() {
    for (text, at, what) in [
        ("[1,]", 3, What::Value),
        (r#"{"a" 1}"#, 5, What::Colon),
        (r#"{"a":1 2}"#, 7, What::CommaOrBrace),
        ("[1 2]", 3, What::CommaOrBracket),
        (r#"["a\x"]"#, 3, What::Escape),
        (r#"["\ud800"]"#, 2, What::Surrogate),
        ("[\"a\u{1}\"]", 3, What::Control),
        ("[1.x]", 3, What::Number),
        ("{1:2}", 1, What::Key),
        ("[tru", 4, What::End),
        ("1 1", 2, What::Trailing),
    ] {
        let error = Raw::parse(text).unwrap_err();
        assert_eq!((error.pos.offset(), &error.what), (Some(at), &what), "{text}");
        let error = built(text).unwrap_err();
        assert_eq!((error.pos.offset(), &error.what), (Some(at), &what), "built: {text}");
    }
}

#[test]
fn a_text_is_cut_where_its_decoded_bytes_end() {
    for literal in [r#""plain é""#, r#""a\"b\\\u00e9\ud83d\ude00\n""#, r#""""#] {
        let text = Reader::new(literal).string().unwrap();
        let decoded = text.decode();
        assert_eq!(text.decoded_len(), decoded.len());
        for bytes in 0..decoded.len() + 2 {
            let rest = text.after(bytes);
            assert_eq!(rest.as_ref().map(Str::decode).as_deref(), decoded.get(bytes..), "{bytes}");
        }
    }
}
