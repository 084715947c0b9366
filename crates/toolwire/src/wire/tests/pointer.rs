use arbtest::arbtest;
use serde_json::Value;

use crate::wire::{Kind, Pos, Raw, Reader, pointer, pointers, pointers_past};

/// Every value of a document with its position and the pointer it must get.
fn collect<'s>(reader: &mut Reader<'s>, path: &str, found: &mut Vec<(Pos, String, Raw<'s>)>) {
    let raw = reader.clone().raw().unwrap();
    found.push((raw.pos(), path.to_owned(), raw));
    match reader.peek() {
        Kind::Object => {
            let mut members = reader.object().unwrap();
            while let Some(key) = members.next(reader).unwrap() {
                let step = key.decode().replace('~', "~0").replace('/', "~1");
                let inner = format!("{path}/{step}");
                // The key itself belongs to its member.
                found.push((key.pos(), inner.clone(), reader.clone().raw().unwrap()));
                collect(reader, &inner, found);
            }
        }
        Kind::Array => {
            let mut members = reader.array().unwrap();
            let mut index = 0;
            while members.more(reader).unwrap() {
                collect(reader, &format!("{path}/{index}"), found);
                index += 1;
            }
        }
        Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Invalid | Kind::End => {
            reader.skip().unwrap();
        }
    }
}

#[test]
fn every_value_is_found_by_its_pointer() {
    arbtest(|u| {
        let text = super::document(u, 4)?;
        let value: Value = serde_json::from_str(&text).unwrap();
        let mut found = Vec::new();
        collect(&mut Reader::new(&text), "", &mut found);
        for (pos, path, raw) in &found {
            assert_eq!(pointer(&text, *pos), *path, "{text}");
            let meant: Value = serde_json::from_str(raw.text()).unwrap();
            assert_eq!(value.pointer(path), Some(&meant), "{text}");
            // A byte inside the value belongs to it or to something inside it.
            let last = raw.pos().offset().unwrap() + raw.text().len() - 1;
            assert!(pointer(&text, Pos::new(last)).starts_with(path.as_str()), "{path} in {text}");
        }
        // All at once, in any order, gives the same.
        let turn = u.choose_index(found.len())?;
        found.rotate_left(turn);
        let wanted: Vec<Pos> = found.iter().map(|(pos, ..)| *pos).collect();
        let expected: Vec<&str> = found.iter().map(|(_, path, _)| path.as_str()).collect();
        assert_eq!(pointers(&text, &wanted), expected);
        // And so it does when the ends of some values are known.
        let span = |raw: &Raw<'_>| {
            let start = raw.pos().offset().unwrap();
            start..start + raw.text().len()
        };
        let mut known: Vec<_> = found.iter().map(|(.., raw)| span(raw)).collect();
        known.sort_by_key(|value| value.start);
        known.dedup();
        known.retain(|value| value.start % 3 != 0);
        assert_eq!(pointers_past(&text, &wanted, &known), expected);
        // One place alone passes over all that is before it.
        for (pos, path, _) in &found {
            assert_eq!(pointers_past(&text, &[*pos], &known), [path.as_str()], "{text}");
        }
        Ok(())
    })
    .budget_ms(400);
}

#[test]
fn malformed_text_has_pointers_too() {
    arbtest(|u| {
        let text = super::fragments(u)?;
        for offset in 0..=text.len() + 1 {
            let _somewhere = pointer(&text, Pos::new(offset));
        }
        Ok(())
    })
    .budget_ms(200);
}

#[test]
fn pointers_of_faults() {
    for (text, at, expected) in [
        (r#"{"a":[1,{"b":tru}]}"#, 13, "/a/1/b"),
        (r#"{"a":{"b":"\ud800"}}"#, 11, "/a/b"),
        (r#"{"a":{"b\ud800":1}}"#, 8, "/a"),
        (r#"{"a":{"b":1"#, 11, "/a/b"),
        (r#"{"a":1} x"#, 8, ""),
        ("", 0, ""),
    ] {
        assert_eq!(pointer(text, Pos::new(at)), expected, "{text}");
    }
    assert_eq!(pointer(r#"{"a":1}"#, Pos::NONE), "");
}
