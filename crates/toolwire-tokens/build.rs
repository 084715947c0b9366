//! Writes the vocabularies and the classes of characters as compact tables.
//!
//! `bpe-openai` has OpenAI's vocabularies, with indexes of 15 and 32 MB. Only
//! their tokens are taken, which are 0.4 and 1 MB compressed.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;

use bpe_openai::Tokenizer;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use regex_syntax::hir::{Class, HirKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var("OUT_DIR")?;
    let folder = Path::new(&folder);
    fs::write(folder.join("o200k.deflate"), vocabulary(bpe_openai::o200k_base())?)?;
    fs::write(folder.join("cl100k.deflate"), vocabulary(bpe_openai::cl100k_base())?)?;
    fs::write(folder.join("classes.rs"), classes()?)?;
    Ok(())
}

/// The number of tokens, their lengths, then their bytes, all in the order of
/// their ranks.
fn vocabulary(tokenizer: &Tokenizer) -> std::io::Result<Vec<u8>> {
    let tokens = 0..u32::try_from(tokenizer.bpe.num_tokens()).map_err(std::io::Error::other)?;
    let mut out = DeflateEncoder::new(Vec::new(), Compression::best());
    out.write_all(&tokens.end.to_le_bytes())?;
    for token in tokens.clone() {
        let length = tokenizer.bpe.token_bytes(token).len();
        out.write_all(&[u8::try_from(length).map_err(std::io::Error::other)?])?;
    }
    for token in tokens {
        out.write_all(tokenizer.bpe.token_bytes(token))?;
    }
    out.finish()
}

/// The class of every character, in blocks of which each is written once.
fn classes() -> Result<String, Box<dyn std::error::Error>> {
    let mut classes = vec![0u8; 0x11_0000];
    for (class, pattern) in [
        (1, r"[\p{Lu}\p{Lt}]"),
        (2, r"\p{Ll}"),
        (3, r"[\p{Lm}\p{Lo}]"),
        (4, r"\p{M}"),
        (5, r"\p{N}"),
        (6, r"\s"),
        (7, r"[\r\n]"),
    ] {
        let hir = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(ranges)) = hir.kind() else {
            return Err("not a class of characters".into());
        };
        for range in ranges.iter() {
            for character in range.start()..=range.end() {
                if let Some(slot) = classes.get_mut(character as usize) {
                    *slot = class;
                }
            }
        }
    }
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut index = Vec::new();
    for block in classes.chunks(128) {
        let known = blocks.iter().position(|other| *other == block);
        index.push(known.unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        }));
    }
    Ok(format!(
        "static BLOCK_OF: [u8; {}] = {index:?};\nstatic BLOCKS: [[u8; 128]; {}] = {blocks:?};\n",
        index.len(),
        blocks.len()
    ))
}
