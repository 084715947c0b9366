use std::io;
use std::net::SocketAddr;
use std::path::Path;

use toolwire::Protocol;

use super::find;
use crate::config::{Credential, DEFAULT_LISTEN, Environment, Origin};

struct TestEnvironment(Vec<(&'static str, &'static str)>);

impl Environment for TestEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        let Self(known) = self;
        known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    fn read_file(&self, _: &Path) -> io::Result<String> {
        Err(io::Error::other("there are no files"))
    }
}

#[test]
fn a_variable_without_the_other_is_mentioned() {
    let alone = "AZURE_OPENAI_API_KEY is set, but AZURE_OPENAI_ENDPOINT is not, so it is not used.";
    check(&[("AZURE_OPENAI_API_KEY", "k")], &[DEMO], &[alone]);
    check(
        &[("AZURE_OPENAI_API_KEY", "k"), ("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/")],
        &[
            DEMO,
            "azure responses https://r.openai.azure.com/openai/v1",
            "azure-chat chat https://r.openai.azure.com/openai/v1",
        ],
        &[],
    );
    let both = [("GOOGLE_API_KEY", "k"), ("GEMINI_API_KEY", "k")];
    let gemini = "gemini chat https://generativelanguage.googleapis.com/v1beta/openai";
    check(&both, &[DEMO, gemini], &[]);
    check(&both[..1], &[DEMO, gemini], &[]);
}

/// The upstreams as name, protocol, base and path, and the notes.
fn check(variables: &[(&'static str, &'static str)], upstreams: &[&str], notes: &[&str]) {
    check_at(DEFAULT_LISTEN, variables, upstreams, notes);
}

fn check_at(
    listen: SocketAddr,
    variables: &[(&'static str, &'static str)],
    upstreams: &[&str],
    notes: &[&str],
) {
    let found = find(Some(listen), &TestEnvironment(variables.to_vec()));
    let told: Vec<String> = found
        .config
        .upstreams
        .iter()
        .map(|upstream| match &upstream.origin {
            Origin::Demo => format!("{} {}", upstream.name, upstream.protocol),
            Origin::Http { base, path } => {
                let Credential::Key(key) = &upstream.credential else { panic!("no key") };
                assert_eq!(key.reveal(), "k", "{}", upstream.name);
                format!("{} {} {base}{path}", upstream.name, upstream.protocol)
            }
        })
        .collect();
    assert_eq!(told, upstreams);
    assert_eq!(found.notes, notes);
}

const DEMO: &str = "demo chat";
const OPENAI: [&str; 2] =
    ["openai responses https://api.openai.com/v1", "openai-chat chat https://api.openai.com/v1"];
const ANTHROPIC: &str = "anthropic messages https://api.anthropic.com/v1";

#[test]
fn nothing_but_the_demo_model() {
    check(&[], &[DEMO], &[]);
    check(&[("OPENAI_BASE_URL", "https://elsewhere.example")], &[DEMO], &[]);
    check(&[("OPENAI_API_KEY", "toolwire"), ("OPENAI_BASE_URL", "http://x")], &[DEMO], &[]);
}

#[test]
fn a_key_adds_its_vendor() {
    check(&[("OPENAI_API_KEY", "k")], &[DEMO, OPENAI[0], OPENAI[1]], &[]);
    check(&[("ANTHROPIC_API_KEY", " k\n")], &[DEMO, ANTHROPIC], &[]);
    let both = [("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")];
    check(&both, &[DEMO, OPENAI[0], OPENAI[1], ANTHROPIC], &[]);
}

#[test]
fn another_url_is_used() {
    check(
        &[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "https://proxy.example/anthropic")],
        &[DEMO, "anthropic messages https://proxy.example/anthropic/v1"],
        &[],
    );
    check(
        &[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:4000")],
        &[DEMO, "anthropic messages http://127.0.0.1:4000/v1"],
        &[],
    );
}

#[test]
fn the_gateway_does_not_call_itself() {
    let note =
        "ANTHROPIC_BASE_URL points at this gateway; https://api.anthropic.com/v1 is used instead.";
    for own in ["http://127.0.0.1:8787", "http://localhost:8787/", "http://[::1]:8787/v1"] {
        let variables = [("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", own)];
        check(&variables, &[DEMO, ANTHROPIC], &[note]);
    }
    let listen = "192.0.2.7:443".parse().unwrap();
    let variables = [("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "https://192.0.2.7")];
    check_at(listen, &variables, &[DEMO, ANTHROPIC], &[note]);
}

#[test]
fn an_unusable_url_is_mentioned() {
    check(
        &[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "http://proxy.example/v1")],
        &[DEMO, OPENAI[0], OPENAI[1]],
        &["OPENAI_BASE_URL is not an https address; https://api.openai.com/v1 is used instead."],
    );
    check(
        &[("OPENAI_API_KEY", "a\nb")],
        &[DEMO],
        &["OPENAI_API_KEY contains a line break or a non-ASCII character and is ignored."],
    );
}

#[test]
fn models_find_their_vendor() {
    let variables = TestEnvironment(vec![("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]);
    let config = find(None, &variables).config;
    for (model, expected) in [
        ("demo", vec![Protocol::Chat]),
        ("gpt-5.6", vec![Protocol::Responses, Protocol::Chat]),
        ("o3-mini", vec![Protocol::Responses, Protocol::Chat]),
        ("claude-opus-5", vec![Protocol::Messages]),
        ("anthropic/anything", vec![Protocol::Messages]),
        ("ollama", vec![]),
    ] {
        let serving = config.upstreams.iter().filter(|upstream| upstream.serves(model));
        let found: Vec<_> = serving.map(|upstream| upstream.protocol).collect();
        assert_eq!(found, expected, "{model}");
    }
}
