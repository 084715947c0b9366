use arbtest::arbtest;
use serde_json::Value;

use crate::wire::{Kind, Object, Raw, Reader, Str, Write, write_escaped, write_str};

fn written(value: &(impl Write + ?Sized)) -> String {
    let mut out = Vec::new();
    value.write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn strings_decode_as_elsewhere_and_are_copied_as_they_are() {
    arbtest(|u| {
        let text = super::literal(u)?;
        let read = Reader::new(&text).string().unwrap();
        let expected: String = serde_json::from_str(&text).unwrap();
        assert_eq!(read.decode(), expected);
        assert_eq!(read, *expected.as_str());
        assert_eq!(read.is_empty(), expected.is_empty());
        assert_eq!(read.is_blank(), expected.trim().is_empty());
        assert_eq!(read.clone().into_decoded(), expected);
        for same in [read.borrowed(), read.clone().into_owned(), read.clone()] {
            assert_eq!(written(&same), text);
        }
        // Text of toolwire's own making says the same.
        let made = Str::plain(expected.as_str());
        assert_eq!(made, read);
        assert_eq!(serde_json::from_str::<String>(&written(&made)).unwrap(), expected);
        if let Some((head, tail)) = read.split_once(",") {
            let (a, b) = expected.split_once(',').unwrap();
            assert_eq!((head.decode().as_ref(), tail.decode().as_ref()), (a, b));
        }
        Ok(())
    })
    .budget_ms(300);
}

#[test]
fn raw_values_are_copied_as_they_are() {
    arbtest(|u| {
        let text = super::document(u, 4)?;
        let raw = Raw::parse(&text).unwrap();
        assert_eq!(raw.text(), text.trim_matches([' ', '\n', '\r', '\t']));
        assert_eq!(raw.pos().offset(), Some(text.len() - text.trim_start().len()));
        for same in [raw.borrowed(), raw.clone().into_owned()] {
            assert_eq!((written(&same).as_str(), same.pos()), (raw.text(), raw.pos()));
        }
        // Taken apart and put together again, every member keeps its bytes.
        if raw.kind() == Kind::Array {
            let list = <Vec<Raw<'_>> as crate::wire::Read>::read(&mut raw.reader()).unwrap();
            for value in &list {
                let start = value.pos().offset().unwrap();
                assert_eq!(&text[start..start + value.text().len()], value.text());
            }
            let again = written(&list);
            let values = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(values(&again), values(&text));
        }
        if raw.kind() == Kind::Object {
            let fields = crate::wire::read_fields(&mut raw.reader()).unwrap();
            let mut out = Vec::new();
            Object::new(&mut out).extra(&fields);
            let values = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap();
            assert_eq!(values(&out), values(text.as_bytes()));
        }
        Ok(())
    })
    .budget_ms(300);
}

#[test]
fn written_text_reads_back() {
    arbtest(|u| {
        let mut text = String::new();
        for _ in 0..u.int_in_range(0..=20)? {
            // Half of them from where escapes are needed.
            let narrow = char::from(u.int_in_range(0..=0x7f_u8)?);
            text.push(if u.arbitrary()? { u.arbitrary()? } else { narrow });
        }
        let literal = written(text.as_str());
        assert_eq!(serde_json::from_str::<String>(&literal).unwrap(), text);
        assert_eq!(literal, serde_json::to_string(&text).unwrap());
        assert_eq!(*Reader::new(&literal).string().unwrap().decode(), *text);
        let mut inside = Vec::new();
        write_escaped(&text, &mut inside);
        assert_eq!(inside, &literal.as_bytes()[1..literal.len() - 1]);
        Ok(())
    })
    .budget_ms(300);
}

#[test]
fn whole_numbers() {
    for number in [0, 1, 9, 10, 99, 100, 12_345, u64::MAX - 1, u64::MAX] {
        assert_eq!(written(&number), number.to_string());
    }
}

#[test]
fn containers_close_themselves() {
    let mut out = Vec::new();
    {
        let mut object = Object::new(&mut out);
        object.put("a", &true);
        object.maybe("b", None::<&str>);
        object.object("c").put("d", "\n");
        {
            let mut list = object.array("e");
            list.push(&1u64);
            list.object();
            write_str("x", list.item());
        }
        object.put("f", &None::<u64>);
    }
    assert_eq!(
        String::from_utf8(out).unwrap(),
        r#"{"a":true,"c":{"d":"\n"},"e":[1,{},"x"],"f":null}"#
    );
}
