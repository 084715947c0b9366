//! `toolwire dispositions`: three views of each table, and the pages of the guide
//! that are made from them.

use std::path::Path;

use toolwire::Protocol;

use crate::command::toolwire;

#[test]
fn the_page_of_the_guide_says_what_the_command_says() {
    check_page("dispositions.md", "dispositions --markdown");
}

#[test]
fn the_page_about_answers_says_what_the_command_says() {
    check_page("answer-dispositions.md", "dispositions --answers --markdown");
}

#[track_caller]
fn check_page(name: &str, command: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let ran = toolwire(command, "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if std::env::var_os("TOOLWIRE_BLESS").is_some() {
        std::fs::write(page, ran.out).unwrap();
        return;
    }
    let written = std::fs::read_to_string(page).unwrap();
    assert!(written == ran.out, "docs/{name} is out of date; run `cargo xtask bless`");
}

#[test]
fn every_view_has_every_row() {
    check_views("dispositions");
}

#[test]
fn every_view_of_answers_has_every_row() {
    check_views("dispositions --answers");
}

#[track_caller]
fn check_views(command: &str) {
    let rows: serde_json::Value = toolwire(&format!("{command} --json"), "").document();
    let (plain, page) = (toolwire(command, ""), toolwire(&format!("{command} --markdown"), ""));
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
            match word {
                "carried" | "says nothing" => assert!(codes.is_empty(), "{field}"),
                "depends" => {
                    let any_of = disposition["any_of"].as_array().unwrap();
                    let all = any_of.iter().flat_map(|one| one["codes"].as_array().unwrap());
                    assert_eq!(
                        codes.iter().collect::<Vec<_>>(),
                        all.collect::<Vec<_>>(),
                        "{field}"
                    );
                }
                _ => assert_eq!(codes.len(), 1, "{field}"),
            }
            assert_eq!(disposition.get("when").is_some(), word == "depends", "{field}");
            assert_eq!(disposition.get("why").is_some(), word == "says nothing", "{field}");
        }
    }
}

#[test]
fn one_view_at_a_time() {
    assert_eq!(toolwire("dispositions --json --markdown", "").code, Some(2));
}

#[test]
fn one_field() {
    let ran = toolwire("dispositions parallel_tool_calls", "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("  parallel_tool_calls\n"), "{}", ran.out);
    assert!(!ran.out.contains("  temperature\n"), "{}", ran.out);
    let ran = toolwire("dispositions --json seed", "");
    let rows: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let rows = rows.as_array().unwrap();
    assert!(!rows.is_empty() && rows.len() < 5, "{rows:?}");
    let ran = toolwire("dispositions no_such_field", "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(
        ran.err.starts_with("error: no field of a request is called no_such_field\n"),
        "{}",
        ran.err
    );
}
