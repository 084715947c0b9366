//! `toolwire dispositions`: three views of one table, and the page of the guide
//! that is made from it.

use std::path::Path;

use toolwire::Protocol;

use crate::command::toolwire;

#[test]
fn the_page_of_the_guide_says_what_the_command_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dispositions.md");
    let ran = toolwire("dispositions --markdown", "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if std::env::var_os("TOOLWIRE_BLESS").is_some() {
        std::fs::write(page, ran.out).unwrap();
        return;
    }
    let written = std::fs::read_to_string(page).unwrap();
    assert!(written == ran.out, "docs/dispositions.md is out of date; run `cargo xtask bless`");
}

#[test]
fn every_view_has_every_row() {
    let rows: serde_json::Value = toolwire("dispositions --json", "").document();
    let (plain, page) = (toolwire("dispositions", ""), toolwire("dispositions --markdown", ""));
    for row in rows.as_array().unwrap() {
        let field = row["field"].as_str().unwrap();
        assert!(plain.out.contains(&format!("\n  {field}\n")), "{field}");
        assert!(page.out.contains(&format!("\n| `{field}`")), "{field}");
        let toward = row["toward"].as_object().unwrap();
        assert_eq!(toward.len(), Protocol::ALL.len() - 1, "{field}");
        assert!(!toward.contains_key(row["protocol"].as_str().unwrap()), "{field}");
        for disposition in toward.values() {
            let word = disposition["disposition"].as_str().unwrap();
            let codes = disposition["codes"].as_array().unwrap();
            assert_eq!(codes.is_empty(), word == "carried", "{field}");
            assert_eq!(disposition.get("when").is_some(), word == "depends", "{field}");
        }
    }
}

#[test]
fn one_view_at_a_time() {
    assert_eq!(toolwire("dispositions --json --markdown", "").code, Some(2));
}
