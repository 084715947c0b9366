//! Finding announcements in prose is linear, whatever the prose repeats.

use toolwire::recover::{Tools, intent};
use toolwire_laws::growth::Growth;

#[test]
fn prose_is_linear() {
    let mut tools = Tools::default();
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"mode":{"type":"string","enum":["fast","slow"]}},"required":["path"]}"#;
    tools.add("read_file", "Read a file", Some(schema));
    let mut over = Vec::new();
    for repeated in TEXTS {
        let make = |size: usize| repeated.repeat(size.div_ceil(repeated.len())).into_bytes();
        let growth = Growth::of(4 << 10, make, |bytes| {
            drop(intent::detect(std::str::from_utf8(bytes).unwrap_or_default(), &tools));
        });
        if growth.is_over() {
            over.push(format!("{repeated:?}: {growth}"));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

/// What a text repeats.
const TEXTS: &[&str] = &[
    "word ",
    "word, ",
    "I'll ",
    "I'll read it. ",
    "I'll read a.txt and ",
    "I'll read a.txt and b.txt.\n",
    "I'll read a.txt and b.txt.\n\n",
    "Let me read a.txt, then I'll read it again. ",
    "- I'm reading a.txt now\n",
    "She said: \n",
    "\"",
    "' ",
    "`",
    "`a` ",
    "\u{201c}",
    "```\n",
    "1 ",
    "New York ",
    "Is that okay? ",
    "it ",
    "\n",
    "\u{1f3ac} ",
    ": ",
];
