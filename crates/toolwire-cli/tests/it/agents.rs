//! `toolwire run`, with scripts in the agents' places.

#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
use std::sync::mpsc::channel;

use crate::configuration::Folder;
use crate::serving::Serving;

/// Runs `toolwire run` with a script as the only program that can be found.
fn run(name: &str, script: &str, flags: &[&str], variables: &[(&str, &str)]) -> Output {
    let folder = Folder::new(name);
    let agent = flags.first().unwrap();
    if !script.is_empty() {
        let path = folder.write(agent, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    for key in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TOOLWIRE_KEY", "NO_PROXY", "CODEX_HOME"] {
        command.env_remove(key);
    }
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.0.display()));
    command.env("XDG_CACHE_HOME", folder.0.join("cache"));
    command.env("XDG_STATE_HOME", folder.0.join("state"));
    command.envs(variables.iter().copied());
    // Nobody listens on port 1, so no gateway of the person who tests is found.
    let quiet = folder.write("quiet.toml", QUIET);
    let mut flags = flags.to_vec();
    if !flags.contains(&"--config") {
        flags.splice(1..1, ["--config", quiet.to_str().unwrap()]);
    }
    command.arg("run").args(flags).output().unwrap()
}

const QUIET: &str = "listen = \"127.0.0.1:1\"\n[[upstream]]\nname = \"demo\"\ndemo = true\n";

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn claude_gets_its_environment_and_arguments() {
    let script = r#"echo "$ANTHROPIC_AUTH_TOKEN|$ANTHROPIC_API_KEY|$ANTHROPIC_MODEL|$ANTHROPIC_DEFAULT_HAIKU_MODEL|$NO_PROXY"
echo "$@"
echo "$ANTHROPIC_BASE_URL" | grep -Eq '^http://127.0.0.1:[0-9]+$' || exit 9
exit 7"#;
    let flags = ["claude", "--model", "demo-2", "--", "-p", "a b", "--model"];
    let ran = run("claude", script, &flags, &[("NO_PROXY", "x.example")]);
    assert_eq!(ran.status.code(), Some(7), "{}", text(&ran.stderr));
    let expected = "toolwire||demo-2|demo-2|x.example,127.0.0.1,localhost\n-p a b --model\n";
    assert_eq!(text(&ran.stdout), expected);
    let said = "Starting claude through its own gateway with the model demo-2.\n";
    assert_eq!(text(&ran.stderr), said);
}

#[test]
fn codex_gets_a_home_of_its_own_for_the_time() {
    let script = r#"echo "$CODEX_HOME|$TOOLWIRE_KEY"
stat -c %a "$CODEX_HOME"
cat "$CODEX_HOME/config.toml""#;
    let ran = run("codex", script, &["codex", "--model", "we\"ird"], &[]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let out = text(&ran.stdout);
    let (first, rest) = out.split_once('\n').unwrap();
    let (home, key) = first.split_once('|').unwrap();
    assert_eq!(key, "toolwire");
    assert!(!fs::exists(home).unwrap(), "{home} is still there");
    let (mode, config) = rest.split_once('\n').unwrap();
    assert_eq!(mode, "700");
    let port = config.split_once("127.0.0.1:").unwrap().1.split_once('/').unwrap().0;
    let expected = "model = \"we\\\"ird\"\nmodel_provider = \"toolwire\"\n\
        check_for_update_on_startup = false\n\n[model_providers.toolwire]\nname = \"toolwire\"\n\
        base_url = \"http://127.0.0.1:PORT/v1\"\nwire_api = \"responses\"\nenv_key = \"TOOLWIRE_KEY\"\n";
    assert_eq!(config, expected.replace("PORT", port));
}

/// An agent can talk to the gateway that is started for it.
#[test]
fn the_gateway_is_there_while_the_agent_runs() {
    let script = r#"exec python3 -c '
import json, os, urllib.request
body = {"model": os.environ["ANTHROPIC_MODEL"], "max_tokens": 99, "messages": [{"role": "user", "content": "Hi"}]}
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
    {"content-type": "application/json", "authorization": "Bearer " + os.environ["ANTHROPIC_AUTH_TOKEN"]})
print(json.load(urllib.request.urlopen(request))["content"][0]["text"].split(".")[1])
'"#;
    // Without any key, the demo model is all there is.
    let ran = run("talk", script, &["claude"], &[]);
    assert_eq!(text(&ran.stdout), " This is toolwire's demo model\n", "{}", text(&ran.stderr));
}

#[test]
fn a_gateway_that_runs_is_used() {
    let folder = Folder::new("running");
    let cache = folder.0.join("cache");
    let variables = [("XDG_CACHE_HOME", cache.as_path())];
    let serving = Serving::start_with(&["serve", "--listen", "127.0.0.1:0"], &variables);
    let listen =
        format!("listen = \"{}\"\n[[upstream]]\nname = \"demo\"\ndemo = true\n", serving.address);
    let path = folder.write("toolwire.toml", &listen);
    let flags = ["claude", "--config", path.to_str().unwrap()];
    let variables = [("XDG_CACHE_HOME", cache.to_str().unwrap())];
    let ran = run("used", r#"echo "$ANTHROPIC_BASE_URL""#, &flags, &variables);
    assert_eq!(text(&ran.stdout), format!("http://{}\n", serving.address));
    let said = format!("Starting claude through http://{} with the model demo.\n", serving.address);
    assert_eq!(text(&ran.stderr), said);
}

/// A program that answers as a gateway does gets neither the key nor the agent,
/// even where a gateway was before.
#[test]
fn a_program_that_only_answers_is_not_trusted() {
    let folder = Folder::new("impostor");
    let cache = folder.0.join("cache");
    let flags = ["serve", "--listen", "127.0.0.1:0"];
    let serving = Serving::start_with(&flags, &[("XDG_CACHE_HOME", cache.as_path())]);
    let address = serving.address;
    // It is killed, so its identity is not removed.
    drop(serving);
    let identities = fs::read_dir(cache.join("toolwire/gateways")).unwrap().count();
    assert_eq!(identities, 1);
    let listener = TcpListener::bind(address).unwrap();
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let count = stream.read(&mut request).unwrap_or(0);
            sender.send(text(&request[..count]).to_owned()).unwrap();
            let echo =
                "HTTP/1.1 200 OK\r\ntoolwire-proof: guess\r\nconnection: close\r\n\r\nready\n";
            let _ = stream.write_all(echo.as_bytes());
        }
    });
    let listen = format!("listen = \"{address}\"\n[[upstream]]\nname = \"demo\"\ndemo = true\n");
    let path = folder.write("toolwire.toml", &listen);
    let variables =
        [("XDG_CACHE_HOME", cache.to_str().unwrap()), ("TOOLWIRE_KEY", "my-own-secret-key")];
    let flags = ["claude", "--config", path.to_str().unwrap()];
    let ran = run("not-trusted", r#"echo "$ANTHROPIC_BASE_URL""#, &flags, &variables);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let said = text(&ran.stderr);
    assert!(said.starts_with(&format!("The program at {address} is not a gateway")), "{said}");
    assert!(said.contains("through its own gateway"), "{said}");
    assert_ne!(text(&ran.stdout), format!("http://{address}\n"));
    for request in requests.try_iter() {
        assert!(!request.contains("my-own-secret-key"), "{request}");
    }
}

#[test]
fn an_agent_that_is_not_there_or_is_killed() {
    let ran = run("missing", "", &["codex"], &[]);
    assert_eq!(ran.status.code(), Some(1));
    let said = text(&ran.stderr);
    assert!(said.ends_with("error: codex is not installed, or not in the PATH\nInstall it with: npm install -g @openai/codex\n"), "{said}");
    let ran = run("killed", "kill -TERM $$", &["claude"], &[]);
    assert_eq!(ran.status.code(), Some(143));
}

/// Who ends `toolwire run` ends the agent, which may tidy up before.
#[test]
fn a_request_to_end_is_handed_on() {
    let script = "trap 'echo tidied; exit 3' TERM\nkill -TERM $PPID\nwhile :; do sleep 0.05; done";
    let ran = run("ended", script, &["claude"], &[]);
    assert_eq!((ran.status.code(), text(&ran.stdout)), (Some(3), "tidied\n"));
}
