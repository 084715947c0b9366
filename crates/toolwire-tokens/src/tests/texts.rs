//! Texts are counted as OpenAI's own tokenizers count them.

use std::fs;
use std::path::{Path, PathBuf};

use arbtest::arbtest;

use crate::Tokenizer;

fn check(text: &str) {
    let o200k = bpe_openai::o200k_base().count(text) as u64;
    let cl100k = bpe_openai::cl100k_base().count(text) as u64;
    let start: String = text.chars().take(80).collect();
    assert_eq!(Tokenizer::for_model("gpt-5").count(text), o200k, "o200k: {start:?}");
    assert_eq!(Tokenizer::for_model("gpt-4").count(text), cl100k, "cl100k: {start:?}");
}

#[test]
fn files_of_this_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files =
        vec![root.join("Cargo.lock"), root.join("README.md"), root.join("ARCHITECTURE.md")];
    collect(&root.join("vectors/requests"), &mut files);
    collect(&root.join("vectors/streams"), &mut files);
    let mut bytes = 0;
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        bytes += text.len();
        check(&text);
    }
    assert!(bytes > 500_000, "{bytes}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

/// Every character of the planes that have any, among letters, digits and spaces.
#[test]
fn every_character() {
    let mut text = String::new();
    let planes = (0..0x3_2400).chain(0xe_0000..0xe_0200).chain(0x10_0000..0x10_0010);
    for (index, character) in planes.filter_map(char::from_u32).enumerate() {
        for around in ["a", "A", "\u{301}", "7 ", "'s", "\n", "!/"] {
            text.push(character);
            text.push_str(around);
        }
        // All pieces of a text are counted on their own, so long texts find as
        // much as short ones.
        if index % 5_000 == 0 {
            check(&text);
            text.clear();
        }
    }
    check(&text);
}

#[test]
fn any_mixture() {
    arbtest(|u| {
        let mut text = String::new();
        for _ in 0..u.int_in_range(0..=40)? {
            let fragment = *u.choose(FRAGMENTS)?;
            for _ in 0..u.int_in_range(1..=3)? {
                text.push_str(fragment);
            }
            if u.ratio(1, 8)? {
                text.push(u.arbitrary()?);
            }
        }
        check(&text);
        Ok(())
    })
    .budget_ms(3_000);
}

const FRAGMENTS: &[&str] = &[
    " ", "  ", "\t", "\n", "\r\n", "\u{a0}", "\u{3000}", "\u{85}", "a", "B", "the", "The", "THE",
    "ing", "ß", "É", "ǅ", "ʰ", "漢", "字", "か", "한", "ا", "\u{301}", "\u{200d}", "😀", "👩‍👩‍👧", "1",
    "22", "٣", "Ⅷ", "½", "'", "'s", "'LL", "'Re", "'ſ", "'x", "’s", "/", "//", ".", "...", "{\"",
    "\":", "=", "====", "\\n", "_", "-", "<|endoftext|>", "\u{0}", "\u{feff}", "camelCase",
    "SNAKE_CASE", "http://", "0x1F", "µ", "ﬁ", "𝒳", "ⅸ",
];

/// Pieces that are long, and not so long that they are cut.
#[test]
fn long_pieces() {
    arbtest(|u| {
        let alphabet = *u.choose(&["abcdefghijklmnopqrstuvwxyz", "aeit", "=-*", " ", "漢字的"])?;
        let letters: Vec<char> = alphabet.chars().collect();
        let mut text = String::new();
        let length = u.int_in_range(30..=256)?;
        while text.len() + 4 <= length {
            text.push(*u.choose(&letters)?);
        }
        check(&text);
        Ok(())
    })
    .budget_ms(3_000);
    for length in 30..=256 {
        check(&"a".repeat(length));
    }
}

/// Pieces without a natural end are cut, so they may count a little higher.
#[test]
fn endless_pieces() {
    for unit in ["a", "=", "漢字", "Ab", "é", "xq"] {
        let text = unit.repeat(20_000);
        let exact = bpe_openai::o200k_base().count(text.as_str()) as u64;
        let counted = Tokenizer::for_model("gpt-5").count(&text);
        let cuts = text.len() as u64 / 250 + 1;
        assert!((exact..=exact + cuts).contains(&counted), "{unit}: {counted} for {exact}");
    }
}

#[test]
fn tokenizers_of_models() {
    for (model, vocabulary) in [
        ("gpt-5.1", "o200k_base"),
        ("openai/gpt-4.1-mini", "o200k_base"),
        ("ft:gpt-4o-2024-08-06:me", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
    ] {
        let tokenizer = Tokenizer::for_model(model);
        assert_eq!((tokenizer.vocabulary(), tokenizer.is_exact()), (vocabulary, true), "{model}");
    }
    for model in ["claude-opus-5-5", "gpt-6-astra", "demo", "", "gpt-40"] {
        assert_eq!(Tokenizer::for_model(model), Tokenizer::ESTIMATE, "{model}");
    }
    let text = "a text of some ten tokens, more or less";
    let exact = Tokenizer::for_model("gpt-5").count(text);
    assert_eq!(Tokenizer::ESTIMATE.count(text), (exact * 8).div_ceil(5));
    assert_eq!(Tokenizer::ESTIMATE.count(""), 0);
}
