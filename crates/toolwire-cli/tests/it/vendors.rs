//! Vendors without any settings: `toolwire presets`, `toolwire models`, and an
//! agent with nothing but a key in the environment.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::command::toolwire;
use crate::configuration::Folder;

/// The README's table is what the command prints.
#[test]
fn the_readme_has_every_vendor() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let ran = toolwire("presets --markdown", "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let written = fs::read_to_string(&page).unwrap();
    let (before, rest) = written.split_once(BEGIN).expect("the README has a place for it");
    let (table, after) = rest.split_once(END).expect("the place ends");
    if std::env::var_os("TOOLWIRE_BLESS").is_some() {
        fs::write(page, format!("{before}{BEGIN}{}{END}{after}", ran.out)).unwrap();
        return;
    }
    assert!(table == ran.out, "the table in README.md is out of date; run `cargo xtask bless`");
}

const BEGIN: &str = "<!-- toolwire presets --markdown -->\n";
const END: &str = "<!-- end -->";

#[test]
fn every_view_has_every_vendor() {
    let list: Vec<Value> = serde_json::from_str(&toolwire("presets --json", "").out).unwrap();
    assert!(list.len() >= 18);
    let (plain, markdown) = (toolwire("presets", "").out, toolwire("presets --markdown", "").out);
    for vendor in list {
        let name = vendor["preset"].as_str().unwrap();
        assert!(plain.contains(&format!("{name}  ")), "{name} in\n{plain}");
        assert!(markdown.contains(&format!("| `{name}` |")), "{name} in\n{markdown}");
    }
}

/// A vendor's server, which lists two models and answers every question.
fn openrouter() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut head = Vec::new();
                let mut piece = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut piece) {
                    head.extend_from_slice(piece.get(..count).unwrap());
                    if !head.windows(4).any(|four| four == b"\r\n\r\n") {
                        continue;
                    }
                    let text = String::from_utf8(std::mem::take(&mut head)).unwrap();
                    let has_key = text.contains("authorization: Bearer or-key-0123456789");
                    let (status, body) = match text.split(' ').nth(1).unwrap() {
                        "/api/v1/models" if has_key => (200, list()),
                        _other => (404, json!({"error": {"message": "No."}})),
                    };
                    let body = body.to_string();
                    let length = body.len();
                    write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n{body}")
                        .unwrap();
                }
            });
        }
    });
    address
}

fn list() -> Value {
    json!({"data": [
        {"id": "openai/gpt-5", "name": "OpenAI: GPT-5", "created": 1_754_587_413, "context_length": 400_000,
            "top_provider": {"max_completion_tokens": 128_000}, "supported_parameters": ["tools", "reasoning"]},
        {"id": "anthropic/claude-sonnet-4", "name": "Anthropic: Claude Sonnet 4", "created": 1_747_930_371},
        {"id": "anthropic/claude-sonnet-4.5", "name": "Anthropic: Claude Sonnet 4.5", "created": 1_759_161_676},
        {"id": "anthropic/claude-sonnet-9:free", "created": 1_959_161_676},
    ]})
}

/// A command with nothing but OpenRouter's key.
fn with_key(arguments: &[&str], folder: &Folder, server: SocketAddr) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.args(arguments).env_clear();
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.0.display()));
    command.env("HOME", &folder.0).env("OPENROUTER_API_KEY", "or-key-0123456789");
    command.env("OPENROUTER_BASE_URL", format!("http://{server}/api/v1"));
    // No server of the person who tests is found.
    for name in ["OLLAMA_HOST", "VLLM_BASE_URL", "LLAMACPP_BASE_URL", "LMSTUDIO_BASE_URL"] {
        command.env(name, "http://127.0.0.1:9");
    }
    command.output().unwrap()
}

/// With OpenRouter's key alone, Claude Code gets a model that exists and sees the
/// list.
#[cfg(unix)]
#[test]
fn a_key_of_openrouter_is_enough_for_claude() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("openrouter");
    let script = r#"#!/bin/sh
exec python3 -c '
import json, os, urllib.request
print(os.environ["ANTHROPIC_MODEL"], os.environ["CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY"])
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/models?limit=1000",
    headers={"anthropic-version": "2023-06-01", "authorization": "Bearer " + os.environ["ANTHROPIC_AUTH_TOKEN"]})
for model in json.load(urllib.request.urlopen(request))["data"]: print(model["id"], "-", model["display_name"])
'
"#;
    let agent = folder.write("claude", script);
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = with_key(&["run", "claude"], &folder, openrouter());
    let (out, err) =
        (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    let expected = "anthropic/claude-sonnet-4.5 1\ndemo - demo\nopenai/gpt-5 - OpenAI: GPT-5\n\
        anthropic/claude-sonnet-4 - Anthropic: Claude Sonnet 4\n\
        anthropic/claude-sonnet-4.5 - Anthropic: Claude Sonnet 4.5\n\
        anthropic/claude-sonnet-9:free - anthropic/claude-sonnet-9:free\n";
    assert_eq!(out, expected, "{err}");
    assert!(err.contains("with the model anthropic/claude-sonnet-4.5."), "{err}");
}

#[test]
fn models_are_shown_with_what_is_known_and_who_says_so() {
    let folder = Folder::new("models");
    let server = openrouter();
    let ran = with_key(&["models", "--json"], &folder, server);
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let model =
        report["models"].as_array().unwrap().iter().find(|model| model["name"] == "openai/gpt-5");
    let model = model.unwrap();
    assert_eq!((&model["upstream"], &model["protocol"]), (&json!("openrouter"), &json!("chat")));
    let facts = &model["facts"];
    assert_eq!(
        facts["context_window"],
        json!({"value": 400_000, "origin": "upstream", "source": null})
    );
    assert_eq!(facts["temperature"], json!({"value": "no", "origin": "upstream", "source": null}));
    assert_eq!(facts["chat_tools_with_reasoning"]["origin"], json!("table"), "{facts}");
    assert_eq!(report["upstreams"][1], json!({"name": "openrouter", "listed": 4, "error": null}));

    let ran = with_key(&["models", "openai/*"], &folder, server);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.starts_with("openai/gpt-5  openrouter, chat\n"), "{text}");
    assert!(text.contains("  context window            400,000"), "{text}");
    assert!(text.contains("  published in developers.openai.com"), "{text}");
    assert!(text.ends_with("\n1 model\n"), "{text}");

    let nowhere = "127.0.0.1:9".parse().unwrap();
    let ran = with_key(&["models"], &folder, nowhere);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(
        text.ends_with("openrouter does not list its models: it cannot be reached\n"),
        "{text}"
    );
}

/// The command asks nothing and writes what it found.
#[test]
fn init_writes_the_vendors_that_it_found() {
    let folder = Folder::new("init-found");
    let path = folder.0.join("found.toml");
    let name = path.display().to_string();
    let server = openrouter();
    let ran = with_key(&["init", &name], &folder, server);
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(out.starts_with(&format!("Wrote {name} with OpenRouter. Next:")), "{out}");
    let written = fs::read_to_string(&path).unwrap();
    let block =
        format!("[[upstream]]\npreset = \"openrouter\"\nbase_url = \"http://{server}/api/v1\"\n");
    assert!(written.contains(&block) && !written.contains("or-key"), "{written}");
    let ran = with_key(&["check", "--config", &name], &folder, server);
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(out.contains(&format!("openrouter: chat at http://{server}/api/v1")), "{out}");
}
