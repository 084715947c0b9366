//! Each rule is shown a tree that keeps it and one that breaks it.

use super::tree::Tree;
use super::{Problem, codecs, crates, errors, links, protocols, security, size, text, vectors};

#[test]
fn the_workspace_is_tidy() {
    super::check_workspace().unwrap();
}

/// Applies one rule to a tree and compares all it has to say, as `path:line` or `path`.
#[track_caller]
fn check(rule: fn(&Tree) -> Vec<Problem>, files: &[(&str, &str)], breaches: &[&str]) {
    check_tree(rule, &Tree::of(files), breaches);
}

#[track_caller]
fn check_tree(rule: fn(&Tree) -> Vec<Problem>, tree: &Tree, breaches: &[&str]) {
    let places = rule(tree).into_iter().map(|Problem { path, line, what: _ }| match line {
        Some(line) => format!("{path}:{line}"),
        None => path,
    });
    assert_eq!(places.collect::<Vec<_>>(), breaches);
}

#[test]
fn a_long_file_is_refused() {
    let long = "x();\n".repeat(501);
    let most = "x();\n".repeat(500);
    let table = format!("//! Which field goes where: table only.\n{long}");
    let late = format!("//! Much code.\n//! Not a table only.\n{long}");
    check(
        size::files_are_rooms,
        &[
            ("crates/a/src/at_most.rs", &most),
            ("crates/a/src/late.rs", &late),
            ("crates/a/src/long.rs", &long),
            ("crates/a/src/table.rs", &table),
            ("crates/a/src/tests.rs", &long),
            ("crates/a/src/b/laws_tests.rs", &long),
            ("crates/a/tests/it/main.rs", &long),
        ],
        &["crates/a/src/late.rs", "crates/a/src/long.rs"],
    );
}

#[test]
fn codecs_share_their_file_names() {
    let names = codecs::REQUIRED;
    let mut paths: Vec<_> = names.iter().map(|name| path("chat", name)).collect();
    paths.extend(names.iter().map(|name| path("messages", name)));
    paths.push("crates/toolwire/src/codec/mod.rs".to_owned());
    check_names(&paths, &[]);

    for own in ["media_in.rs", "groups_out.rs", "stream_in/calls.rs", "stream_out/a/b.rs"] {
        paths.push(path("chat", own));
    }
    for tests in ["tests.rs", "tests/turns.rs", "media_in/tests.rs", "stream_tests.rs"] {
        paths.push(path("chat", tests));
    }
    paths.push(path("openai", "anything.rs"));
    check_names(&paths, &[]);

    paths.push(path("chat", "media.rs"));
    paths.push(path("messages", "live/mod.rs"));
    let undirected = [path("chat", "media.rs"), path("messages", "live/mod.rs")];
    check_names(&paths, &undirected.each_ref().map(String::as_str));
    paths.truncate(paths.len() - undirected.len());

    for required in ["/stop_out.rs", "/stream_in/observer.rs", "/answer_dispositions.rs"] {
        let mut paths = paths.clone();
        paths.retain(|path| !path.ends_with(required));
        let both = ["crates/toolwire/src/codec/chat", "crates/toolwire/src/codec/messages"];
        check_names(&paths, &both);
    }

    fn path(codec: &str, name: &str) -> String {
        format!("crates/toolwire/src/codec/{codec}/{name}")
    }

    #[track_caller]
    fn check_names(paths: &[String], breaches: &[&str]) {
        let files: Vec<_> = paths.iter().map(|path| (path.as_str(), "")).collect();
        check(codecs::same_file_names, &files, breaches);
    }
}

/// Checks one line of codec source.
#[track_caller]
fn check_codec(line: &str, decided: Decided) {
    let path = "crates/toolwire/src/codec/chat/tools.rs";
    let source = format!("// The line in question is the next one.\n{line}\n");
    let place = format!("{path}:2");
    let breaches: &[&str] = match decided {
        Decided::Yes => &[],
        Decided::No => &[&place],
    };
    check(codecs::every_field_decided, &[(path, &source)], breaches);
}

enum Decided {
    Yes,
    No,
}

#[test]
fn skipped_fields_are_refused() {
    check_codec("let Tool { name, .. } = tool;", Decided::No);
    check_codec("let Tool{..} = tool;", Decided::No);
    check_codec("if let Item::Call { id, ref name, .. } = item {}", Decided::No);
    check_codec("let Pair(left, ..) = pair;", Decided::No);
    check_codec("let Pair(.., right) = pair;", Decided::No);
    check_codec("matches!(item, Item::Call(..))", Decided::No);
    check_codec("let Tool { name, description } = tool;", Decided::Yes);
    check_codec("let Item::Call(_) = item else { return };", Decided::Yes);
}

#[test]
fn filled_in_fields_are_refused() {
    check_codec("Tool { name, ..Default::default() }", Decided::No);
    check_codec("Tool { name, ..base }", Decided::No);
    check_codec("Tool { ..*base }", Decided::No);
}

#[test]
fn wildcard_arms_are_refused() {
    check_codec("match kind { Kind::Call => 1, _ => 2 }", Decided::No);
    check_codec("match kind { Kind::Call => 1, _ if late => 2 }", Decided::No);
    check_codec("match kind { Kind::Call | _ => 2 }", Decided::No);
    check_codec("match text { \"auto\" => 1, other => fail(other) }", Decided::Yes);
    check_codec("match kind { Kind::Other(_) => 1 }", Decided::Yes);
    check_codec("items.map(|_| 1)", Decided::Yes);
    check_codec("let _ = 1; let f: Vec<_> = x;", Decided::Yes);
}

#[test]
fn ranges_are_not_skipped_fields() {
    check_codec("for at in 1..3 { at..; }", Decided::Yes);
    check_codec("let (a, b) = (&text[..at], &text[at..]);", Decided::Yes);
    check_codec("text.get(..at).or(text.get(..=at)); buffer.drain(..);", Decided::Yes);
    check_codec("buffer.splice(.., more); Some(..5)", Decided::Yes);
    check_codec("match status { ..400 => a, 400..=499 => b, 500.. => c }", Decided::Yes);
    check_codec("match status { ..OK => a, x => b, }", Decided::Yes);
    check_codec("[first, ..] => first", Decided::Yes);
}

#[test]
fn comments_and_strings_are_not_code() {
    check_codec("/* Tool { .. } /* _ => */ _ => */ 1", Decided::Yes);
    check_codec(r##"let a = (r#" " Tool { .. } "#, "\" _ => ", '"', b"{ .. }");"##, Decided::Yes);
    check_codec("fn f<'a>(c: &'a str) { c.find(['\\'', '\"']); } // _ => 1", Decided::Yes);
    check_codec("fn f<'a>(c: &'a str) { let Tool { .. } = \"'\"; }", Decided::No);
}

#[test]
fn only_codecs_decide_and_their_tests_need_not() {
    let source = "let Tool { name, .. } = tool;";
    check(
        codecs::every_field_decided,
        &[
            ("crates/toolwire/src/codec/chat/tests.rs", source),
            ("crates/toolwire/src/registry.rs", source),
        ],
        &[],
    );
}

#[test]
fn many_files_that_name_a_protocol_are_refused() {
    let rule = protocols::few_files_name_a_protocol;
    let naming = [
        "let to = Protocol::Chat;",
        "use toolwire::Protocol::{Messages, Chat};",
        "match from { Protocol::Responses | Protocol::Messages => 1 }",
        "use crate::model::Protocol::*;",
        "use toolwire::{Entry, Protocol::{Chat as C}};",
        "let all = [toolwire::Protocol::Messages];",
        "let late = Protocol :: Responses;",
    ];
    let paths: Vec<_> = (0..naming.len()).map(|at| format!("crates/a/src/{at}.rs")).collect();
    let mut files: Vec<(&str, &str)> =
        paths.iter().map(String::as_str).zip(naming.iter().copied()).collect();
    let others = [
        ("crates/a/src/tests.rs", "Protocol::Chat"),
        ("crates/a/tests/it/main.rs", "Protocol::Chat"),
        ("crates/a/src/words.rs", "// Protocol::Chat\nlet a = \"Protocol::Chat\"; Protocol::ALL"),
        ("crates/a/src/other.rs", "Item::Messages; Protocol::parse(name)"),
        ("crates/toolwire/src/codec/chat/mod.rs", "Protocol::Chat"),
        ("crates/toolwire/src/protocol.rs", "Protocol::Chat"),
    ];
    let breaches: Vec<_> = paths.iter().map(|path| format!("{path}:1")).collect();
    let breaches: Vec<_> = breaches.iter().map(String::as_str).collect();
    files.extend(others);
    check(rule, &files, &breaches);

    files.remove(0);
    check(rule, &files, &[]);
}

#[test]
fn a_codec_that_names_another_is_refused() {
    let rule = protocols::no_codec_names_another;
    let path = "crates/toolwire/src/codec/chat/turns_in.rs";
    for breach in [
        "fine();\nif request.origin == Protocol::Messages {}",
        "fine();\nuse crate::codec::responses::wire::Tool;",
        "fine();\nuse super::super::messages;",
        "fine();\nuse crate::codec::{context, messages::wire};",
        "fine();\nuse Protocol::{Chat, Responses};",
    ] {
        check(rule, &[(path, breach)], &["crates/toolwire/src/codec/chat/turns_in.rs:2"]);
    }
    for fine in [
        "// Unlike Protocol::Messages\nlet a = Protocol::Chat; let messages = wire.messages;",
        "use crate::codec::{chat::wire, context::EncodeContext, openai};",
        "use super::chunk_out::messages;",
    ] {
        check(rule, &[(path, fine)], &[]);
    }
    let shared = "crates/toolwire/src/codec/openai/error_in.rs";
    check(rule, &[(shared, "Protocol::Chat")], &["crates/toolwire/src/codec/openai/error_in.rs:1"]);
    let tests = "crates/toolwire/src/codec/chat/tests/turns.rs";
    check(rule, &[(tests, "Protocol::Messages"), (COMMON, "use chat::Chat;")], &[]);

    const COMMON: &str = "crates/toolwire/src/codec/mod.rs";
}

#[test]
fn dependencies_against_the_arrows_are_refused() {
    let rule = crates::dependencies_point_one_way;
    let cli = "[dependencies]\ntoolwire.workspace = true\ntoolwire-gateway = \"1\"\nclap = \"4\"";
    check(rule, &[("crates/toolwire-cli/Cargo.toml", cli)], &[]);

    let gateway = "crates/toolwire-gateway/Cargo.toml";
    let place = "crates/toolwire-gateway/Cargo.toml:2";
    for breach in [
        "[dependencies]\ntoolwire-cli.workspace = true",
        "[build-dependencies]\ntoolwire-cli = { path = \"../toolwire-cli\" }",
        "[target.'cfg(unix)'.dependencies]\n\"toolwire-cli\" = \"1\"",
        "[dependencies]\nhands = { version = \"1\", package = \"toolwire-cli\" }",
        "[dependencies.hands]\npackage = \"toolwire-cli\"",
        "\n[dependencies.toolwire-cli]\nworkspace = true",
    ] {
        check(rule, &[(gateway, breach)], &[place]);
    }
    check(rule, &[(gateway, "[dev-dependencies]\ntoolwire-cli.workspace = true")], &[]);
}

#[test]
fn starting_a_program_is_refused() {
    let rule = crates::no_tool_is_executed;
    let source = "use std::io;\nuse std::process::Command;\n";
    let gateway = "crates/toolwire-gateway/src/relay/mod.rs";
    check(rule, &[(gateway, source)], &["crates/toolwire-gateway/src/relay/mod.rs:2"]);
    let several = "use std::process::{Command, Stdio};\n";
    check(rule, &[("crates/toolwire/src/calls.rs", several)], &["crates/toolwire/src/calls.rs:1"]);
    for allowed in [
        "crates/toolwire-cli/src/run.rs",
        "crates/toolwire-gateway/src/config/reload/tests.rs",
        "crates/toolwire-gateway/tests/it/main.rs",
    ] {
        check(rule, &[(allowed, source)], &[]);
    }
}

#[test]
fn a_crate_without_a_place_is_refused() {
    let path = "crates/toolwire-misc/Cargo.toml";
    check(crates::dependencies_point_one_way, &[(path, "[package]")], &[path]);
}

#[test]
fn an_impure_library_is_refused() {
    let manifest = "[dependencies]\nmemchr = \"2\"\nserde_json = \"1\"\ntokio.workspace = true\n\
                    [dev-dependencies]\nserde_json = \"1\"\n";
    check(
        crates::library_stays_pure,
        &[("crates/toolwire/Cargo.toml", manifest), ("crates/toolwire-cli/Cargo.toml", manifest)],
        &["crates/toolwire/Cargo.toml:3", "crates/toolwire/Cargo.toml:4"],
    );
}

#[test]
fn what_a_feature_of_the_library_brings_in_is_asked_for() {
    let manifest = "[features]\nfutures = [\"dep:futures-core\"]\n[dependencies]\n\
                    serde_json = { workspace = true, optional = true }\n\
                    tokio = { version = \"1\", optional = true }\n";
    let path = "crates/toolwire/Cargo.toml";
    check(crates::library_stays_pure, &[(path, manifest)], &["crates/toolwire/Cargo.toml:5"]);
    let manifest = "[features]\ndefault = [\"serde_json\"]\n";
    check(crates::library_stays_pure, &[(path, manifest)], &["crates/toolwire/Cargo.toml:2"]);
}

#[test]
fn a_table_that_names_a_crate_of_the_past_is_refused() {
    let here = "crates/xtask/src/tidy/crates.rs";
    let all = [
        "toolwire", "toolwire-demo", "toolwire-laws", "toolwire-store", "toolwire-tokens",
        "toolwire-runner", "toolwire-gateway", "toolwire-cli", "xtask",
    ];
    let manifests = all.map(|name| format!("crates/{name}/Cargo.toml"));
    let mut files: Vec<_> = manifests.iter().map(|path| (path.as_str(), "")).collect();
    files.push((here, ""));
    check(crates::named_crates_exist, &files, &[]);
    files.remove(1);
    check(crates::named_crates_exist, &files, &[here]);
}

#[test]
fn a_cell_without_a_vector_is_refused() {
    let rule = vectors::every_cell_has_a_vector;
    check(rule, &[("vectors/README.md", "")], &[]);

    let mut paths = Vec::new();
    for kind in ["requests", "responses", "errors", "tools"] {
        for from in ["chat", "responses", "messages"] {
            paths.push(format!("vectors/{kind}/{from}-case/in.{from}.json"));
            for to in ["chat", "responses", "messages"] {
                paths.push(format!("vectors/{kind}/{from}-case/out.{to}.json"));
                paths.push(format!("vectors/{kind}/{from}-case/out.{to}.ledger.jsonl"));
            }
        }
    }
    check_cells(&paths, &[]);

    paths.retain(|path| path != "vectors/errors/chat-case/out.messages.json");
    check_cells(&paths, &["vectors/errors"]);

    paths.retain(|path| path != "vectors/tools/messages-case/in.messages.json");
    check_cells(&paths, &["vectors/errors", "vectors/tools", "vectors/tools"]);

    #[track_caller]
    fn check_cells(paths: &[String], breaches: &[&str]) {
        let files: Vec<_> = paths.iter().map(|path| (path.as_str(), "{}")).collect();
        check(vectors::every_cell_has_a_vector, &files, breaches);
    }
}

#[test]
fn a_vector_that_is_not_utf8_is_refused() {
    let files: [(&str, &[u8]); 4] = [
        ("docs/picture.png", b"\xff"),
        ("vectors/a/broken.bin", b"\xff"),
        ("vectors/a/broken.json", b"{\"a\":\"\xff\"}"),
        ("vectors/a/whole.json", "{\"a\":\"ü\"}".as_bytes()),
    ];
    check_tree(vectors::text_is_utf8, &Tree::of_bytes(files), &["vectors/a/broken.json"]);
}

#[test]
fn unfinished_work_is_refused() {
    check(
        text::no_unfinished_work,
        &[
            ("a.rs", "fine();\n// TODO: the rest\n"),
            ("b.rs", "todo!()\n"),
            ("c.py", "# XXX\n# FIXME(me)\n"),
            ("d.rs", "TodoWrite\nAXXXB XXX= TODOS\nlet mastodon = 1;\n"),
            ("e.rs", "dbg!(x); unimplemented!()"),
            ("vectors/a.json", "{\"text\": \"TODO\"}"),
        ],
        &["a.rs:2", "b.rs:1", "c.py:1", "c.py:2", "e.rs:1"],
    );
}

#[test]
fn machine_paths_are_refused() {
    check(
        text::no_machine_paths,
        &[
            ("a.md", "see /home/me/x"),
            ("b.json", "{\"cwd\":\"/work/tree\"}"),
            ("c.md", "https://example.com/home/ src/work/x ~/work/ $HOME/root/ {dir}/work/"),
            ("d.sh", "\nfile:///root/x"),
        ],
        &["a.md:1", "b.json:1", "d.sh:2"],
    );
}

#[test]
fn banners_are_refused() {
    check(
        text::no_banners,
        &[
            ("a.rs", "//! Fine.\n// ==== Part two ====\n    // ----------\n//////////\n"),
            ("b.py", "# ---- part\n#!/usr/bin/env python\n"),
            ("c.md", "# ----\n"),
            ("d.rs", "/// |---|---|\n// a ---- b\nlet x = 1; // -1\n#[test]\n"),
        ],
        &["a.rs:2", "a.rs:3", "a.rs:4", "b.py:1"],
    );
}

#[test]
fn links_that_lead_nowhere_are_refused() {
    let guide = "[root](../README.md#top) [folder](../vectors/) [web](https://example.com/x)\n\
                 [gone](gone.md) and [`code`](also-gone.rs \"title\")\n\
                 `[not](a-link.md)` [anchor](#here) [mail](mailto:a@example.com)\n\
                 ```\n[fenced](no.md)\n```\n\
                 [out](../../outside.md)\n\
                 [ref]: missing.md\n\
                 [abs](/README.md) [own](./guide.md) ![picture](picture.png)\n";
    check(
        links::links_lead_somewhere,
        &[
            ("README.md", "[guide](docs/guide.md) [here](.)"),
            ("docs/guide.md", guide),
            ("vectors/a.json", "[x](y)"),
        ],
        &[
            "docs/guide.md:2", "docs/guide.md:2", "docs/guide.md:7", "docs/guide.md:8",
            "docs/guide.md:9",
        ],
    );
}

#[test]
fn rules_of_the_security_document_have_tests() {
    let document = "| who | what |\n|---|---|\n| x | y |\n\n| rule | tests |\n|---|---|\n\
                    | a | `a.rs::holds`, `b.py::test_b` |\n| b | none |\n| c | `a.rs::gone` |\n\
                    | d | `gone.rs::holds` |\n\n| who | what |\n|---|---|\n| x | y |\n";
    check(
        security::rules_have_tests,
        &[
            ("a.rs", "#[test]\nfn holds() {}\n"),
            ("b.py", "def test_b(gateway):\n    pass\n"),
            ("docs/security.md", document),
        ],
        &["docs/security.md:8", "docs/security.md:9", "docs/security.md:10"],
    );
}

#[test]
fn an_error_that_the_guide_does_not_explain() {
    let guide = "| `Auth` | `seed` | `model_gone` | The model `x` is gone. |";
    let gateway = "let kind = ErrorKind::Auth;\n\
                   let message = format!(\"The model `{}` is gone.\");\n\
                   let other = \"The gateway is \\\n    on fire.\";\n\
                   error.code = Some(\"model_gone\".to_owned());\n\
                   error.code = Some(\"fire\".to_owned());\n";
    check(
        errors::every_error_is_documented,
        &[
            ("docs/troubleshooting.md", guide),
            (
                "crates/toolwire/src/model/error.rs",
                "pub enum ErrorKind {\n    /// a\n    Auth,\n    Fire,\n}\n",
            ),
            (
                "crates/toolwire/src/ledger/code.rs",
                "    Seed = \"seed\", \"It has none.\";\n    Fire = \"fire\", \"It burns.\";\n",
            ),
            ("crates/toolwire-gateway/src/relay/failure.rs", gateway),
        ],
        &[
            "crates/toolwire-gateway/src/relay/failure.rs:6",
            "crates/toolwire-gateway/src/relay/failure.rs:3",
            "crates/toolwire/src/ledger/code.rs:2",
            "crates/toolwire/src/model/error.rs:4",
        ],
    );
}
