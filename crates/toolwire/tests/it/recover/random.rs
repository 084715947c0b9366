//! Random calls are read back from every dialect, and random text keeps the laws.

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};
use toolwire_laws::recover::{self as laws, Reading};

use super::dialects::{Call, all, tools};

#[test]
fn random_calls_are_read_back() {
    let tools = tools();
    seeded(4_000, |random| {
        let dialects: Vec<_> = all().collect();
        let dialect = random.choose(&dialects)?;
        let count = if dialect.several { random.int_in_range(1..=3)? } else { 1 };
        let calls = (0..count).map(|_| call(random)).collect::<Result<Vec<_>>>()?;
        let text = dialect.render(&calls);
        let size = random.int_in_range(1..=40)?;
        let reading = Reading::of_pieces(&tools, laws::pieces(&text, size));
        let wanted: Vec<Value> =
            calls.iter().map(|call| json!([call.name, call.arguments])).collect();
        let found: Vec<Value> = reading
            .calls
            .iter()
            .map(|call| json!([call.name, serde_json::from_str::<Value>(&call.arguments).unwrap()]))
            .collect();
        assert_eq!(found, wanted, "{} in {size}:\n{text}", dialect.name);
        laws::any_pieces_read_the_same(&tools, &text, size).unwrap();
        let whole = Reading::of(&tools, &text);
        let at = random.choose_index(text.len() + 1)?;
        if let Some(prefix) = text.get(..at) {
            laws::cut_agrees(&whole, &Reading::of(&tools, prefix))
                .unwrap_or_else(|what| panic!("{}: {what}\n{prefix}", dialect.name));
        }
        Ok(())
    });
}

#[test]
fn random_fragments_keep_the_laws() {
    let tools = laws::fragment_tools();
    seeded(20_000, |random| {
        let length = random.int_in_range(1..=40)?;
        let text = laws::fragments(random.bytes(length)?);
        let size = random.int_in_range(1..=16)?;
        laws::any_pieces_read_the_same(&tools, &text, size)
            .unwrap_or_else(|what| panic!("{what}\n{text:?}"));
        let reading = Reading::of(&tools, &text);
        laws::calls_are_whole(&["f", "g"], &reading)
            .unwrap_or_else(|what| panic!("{what}\n{text:?}"));
        Ok(())
    });
}

#[test]
fn random_fragments_of_each_family_keep_the_laws() {
    let tools = laws::fragment_tools();
    for family in &laws::FAMILIES {
        seeded(2_000, |random| {
            let length = random.int_in_range(1..=24)?;
            let text = laws::fragments_of(family, random.bytes(length)?);
            let size = random.int_in_range(1..=16)?;
            laws::any_pieces_read_the_same(&tools, &text, size)
                .unwrap_or_else(|what| panic!("{}: {what}\n{text:?}", family.0));
            let reading = Reading::of(&tools, &text);
            laws::calls_are_whole(&["f", "g"], &reading)
                .unwrap_or_else(|what| panic!("{}: {what}\n{text:?}", family.0));
            Ok(())
        });
    }
}

/// Checks so many cases, the same in every run, so that a failure is the work of a
/// change. The fuzzer looks for others.
fn seeded(cases: u64, check: impl Fn(&mut Unstructured<'_>) -> Result<()>) {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut checked = 0;
    for _ in 0..cases {
        let mut bytes = Vec::with_capacity(1024);
        while bytes.len() < 1024 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.extend_from_slice(&state.to_le_bytes());
        }
        // A case that needs more bytes than there are is left out.
        checked += u64::from(check(&mut Unstructured::new(&bytes)).is_ok());
    }
    assert!(checked > cases / 2, "{checked}");
}

fn call(random: &mut Unstructured<'_>) -> Result<Call> {
    let mut arguments = Map::new();
    let name = *random.choose(&["book_table", "write_note", "convert_units", "ping_server"])?;
    match name {
        "book_table" => {
            arguments.insert("restaurant".to_owned(), text(random)?.into());
            arguments.insert("guests".to_owned(), random.arbitrary::<i32>()?.into());
            if random.arbitrary()? {
                arguments.insert("outdoors".to_owned(), random.arbitrary::<bool>()?.into());
            }
        }
        "write_note" => {
            arguments.insert("title".to_owned(), text(random)?.into());
            if random.arbitrary()? {
                arguments.insert("body".to_owned(), text(random)?.into());
            }
            if random.arbitrary()? {
                let tags = (0..random.int_in_range(0..=3)?)
                    .map(|_| text(random))
                    .collect::<Result<Vec<_>>>()?;
                arguments.insert("tags".to_owned(), tags.into());
            }
        }
        "convert_units" => {
            arguments
                .insert("amount".to_owned(), (f64::from(random.arbitrary::<i16>()?) / 8.0).into());
            arguments.insert("unit".to_owned(), (*random.choose(&["km", "mi"])?).into());
        }
        _ => {}
    }
    Ok(Call { name, arguments })
}

/// A text of pieces that parsers stumble over. Tags that are the raw dialects'
/// own are not among them.
fn text(random: &mut Unstructured<'_>) -> Result<String> {
    const PIECES: [&str; 30] = [
        "a", "B", "7", " ", "  ", "é", "日本", "🎉", "{", "}", "[", "]", "(", ")", "<b>", "</b>",
        "<", ">", "&", "it's", "\"", "\\", "/", "#", "//", ",", ":", "=", "\n", "```",
    ];
    let count = random.int_in_range(0..=12)?;
    let mut text = String::new();
    for _ in 0..count {
        text.push_str(random.choose(&PIECES)?);
    }
    // What ends in a line break or space is up to the template of a raw dialect.
    Ok(text.trim().to_owned())
}
