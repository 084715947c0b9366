//! The laws of the plumbing. serde_json is the oracle: what it accepts and what
//! it makes of it is what every other reader of the same bytes does.

mod cuts;
mod date;
mod envelope;
mod glob;
mod hash;
mod ids;
mod keys;
mod names;
mod pointer;
mod random_json;
mod read;
mod scan;
mod skip;
mod sse;
mod stencil;
mod write;

use arbitrary::{Result, Unstructured};

/// Text that is nearly JSON, and sometimes is.
fn fragments(u: &mut Unstructured<'_>) -> Result<String> {
    const PIECES: [&str; 64] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        " ",
        "\n",
        "\t",
        "\r",
        "null",
        "true",
        "false",
        "nul",
        "-",
        "0",
        "1",
        "12",
        "01",
        ".",
        "1.5",
        "e",
        "E+",
        "e-1",
        "1e2",
        "\"a\"",
        "\"b\":",
        "\"\":",
        "[]",
        "{}",
        "[1,2]",
        "{\"a\":1}",
        "\\u",
        "\\u00e9",
        "\\uD83D",
        "\\uDE00",
        "\\uD83D\\uDE00",
        "\"\\n\"",
        "\"\\x\"",
        "\"\u{1}\"",
        "\u{1f}",
        "\u{7f}",
        "é",
        "😀",
        "\u{feff}",
        "\u{a0}",
        "//",
        "'",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\ude00\"",
        "\"\\ud83dx\"",
        "\"long enough to be scanned in whole words\"",
        "[[",
        "]]",
        "[{",
        "}]",
        ",\"a\":",
        "1,",
        "+1",
        "NaN",
        "\u{c}",
    ];
    let mut text = String::new();
    for _ in 0..u.int_in_range(0..=12)? {
        text.push_str(u.choose(&PIECES)?);
    }
    Ok(text)
}

/// A JSON document in any spelling, without duplicate keys.
fn document(u: &mut Unstructured<'_>, depth: usize) -> Result<String> {
    let mut out = String::new();
    space(u, &mut out)?;
    match if depth == 0 { u.int_in_range(0..=4)? } else { u.int_in_range(0..=7)? } {
        0 => out.push_str(u.choose(&["null", "true", "false"])?),
        1 => out.push_str(u.choose(&[
            "0",
            "-0",
            "1.0",
            "1e2",
            "-12.5E-3",
            "12345678901234567890",
        ])?),
        2..=4 => out.push_str(&literal(u)?),
        5 => {
            out.push('[');
            for index in 0..u.int_in_range(0..=4)? {
                out.push_str(if index > 0 { "," } else { "" });
                out.push_str(&document(u, depth - 1)?);
            }
            space(u, &mut out)?;
            out.push(']');
        }
        _object => {
            out.push('{');
            for index in 0..u.int_in_range(0..=4)? {
                out.push_str(if index > 0 { "," } else { "" });
                space(u, &mut out)?;
                // The number keeps keys apart, whatever the rest decodes to.
                let key = literal(u)?;
                out.push_str(&key[..key.len() - 1]);
                out.push_str(&format!("{index}\""));
                space(u, &mut out)?;
                out.push(':');
                out.push_str(&document(u, depth - 1)?);
            }
            space(u, &mut out)?;
            out.push('}');
        }
    }
    space(u, &mut out)?;
    Ok(out)
}

/// A string literal in any spelling.
fn literal(u: &mut Unstructured<'_>) -> Result<String> {
    const PIECES: [&str; 24] = [
        "a",
        "key",
        "/",
        "~",
        "~1",
        "\\/",
        "\\\"",
        "\\\\",
        "\\b",
        "\\f",
        "\\n",
        "\\r",
        "\\t",
        "\\u0000",
        "\\u00E9",
        "\\ud83d\\uDE00",
        "é",
        "😀",
        "\u{7f}",
        " ",
        "{}[],:",
        "type",
        "a piece that is longer than thirty-two bytes, so that it is searched in one go",
        "0",
    ];
    let mut text = String::from("\"");
    for _ in 0..u.int_in_range(0..=4)? {
        text.push_str(u.choose(&PIECES)?);
    }
    text.push('"');
    Ok(text)
}

fn space(u: &mut Unstructured<'_>, out: &mut String) -> Result<()> {
    out.push_str(u.choose(&["", "", "", " ", "\n\t", "\r\n"])?);
    Ok(())
}
