use super::random_json::RandomJson;
use crate::wire::{Reader, Str};

/// serde_json and the reader take the same literals, and mean the same by them. Returns
/// whether they take this one.
fn compare(text: &str) -> bool {
    let ours = Reader::new(text).document::<Str<'_>>().ok();
    let theirs = serde_json::from_str::<String>(text).ok();
    assert_eq!(ours.as_ref().map(Str::decode).as_deref(), theirs.as_deref(), "{text:?}");
    theirs.is_some()
}

#[test]
fn escapes_at_every_place_of_a_block() {
    let parts = [
        "\\\"", "\\\\", "\\\\\\\"", "\\/", "\\b\\f\\n\\r\\t", "\\u0041", "\\ud83d\\ude00",
        "\\ud83d", "\\udc00", "\\ud83dx", "\\ud83d\\u0041", "\\x", "\\\n", "\t", "\u{1f}", "\"",
        "\\", "\\u12", "\\u00e9é😀",
    ];
    for before in 0..140 {
        for part in parts {
            for behind in
                ["", "z", "and so on, for more than another block of sixty-four bytes, and on"]
            {
                let filler = "a".repeat(before);
                compare(&format!("\"{filler}{part}{behind}\""));
                compare(&format!("\"\\n{filler}{part}{behind}\""));
                compare(&format!("\"\\n{filler}{part}{part}{behind}"));
            }
        }
    }
}

#[test]
fn literals_at_random() {
    let mut random = RandomJson::new(17);
    let parts = [
        "\\\"",
        "\\\\",
        "\\n",
        "\\u0022",
        "\\ud83d\\ude00",
        "x",
        "é",
        "plain words that go on",
        "\\t",
        "{",
        "\\/",
    ];
    let wrong = ["\\x", "\\u1", "\\ud800", "\\udc00", "\n", "\"", "\\"];
    let mut taken = 0;
    for _ in 0..20_000 {
        let mut text = "\"".to_owned();
        for _ in 0..random.below(60) {
            let from: &[&str] = if random.below(90) == 0 { &wrong } else { &parts };
            text.push_str(random.one_of(from));
        }
        text.push('"');
        taken += u32::from(compare(&text));
    }
    assert!((5_000..19_000).contains(&taken), "{taken}");
}
