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
fn codex_keeps_a_home_of_its_own() {
    let script = r#"echo "$CODEX_HOME|$TOOLWIRE_KEY"
stat -c %a "$CODEX_HOME"
echo session > "$CODEX_HOME/session"
printf '%s\n' "$@""#;
    let state = Folder::new("codex-state");
    let variables = [("XDG_STATE_HOME", state.0.to_str().unwrap())];
    let ran = run("codex", script, &["codex", "--model", "we\"ird", "--", "exec"], &variables);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let mut lines = text(&ran.stdout).lines();
    let home = state.0.join("toolwire/codex");
    assert_eq!(lines.next(), Some(format!("{}|toolwire", home.display()).as_str()));
    assert_eq!(lines.next(), Some("700"));
    // Settings are arguments, so that nothing in the home is overwritten.
    assert!(fs::exists(home.join("session")).unwrap());
    assert!(!fs::exists(home.join("config.toml")).unwrap());
    let arguments = lines.collect::<Vec<_>>().join("\n");
    let port = arguments.split_once("127.0.0.1:").unwrap().1.split_once('/').unwrap().0;
    let expected = "-c\nmodel_provider=\"toolwire\"\n-c\ncheck_for_update_on_startup=false\n\
        -c\nmodel_providers.toolwire={ name = \"toolwire\", base_url = \"http://127.0.0.1:PORT/v1\", \
        wire_api = \"responses\", env_key = \"TOOLWIRE_KEY\" }\n-c\nmodel=\"we\\\"ird\"\nexec";
    assert_eq!(arguments, expected.replace("PORT", port));
}

#[test]
fn agents_of_other_makers_get_their_environment() {
    let flags = |agent: &'static str| [agent, "--model", "demo", "--", "go"];
    let script = r#"echo "$OPENCODE_CONFIG_CONTENT" | sed -E 's/:[0-9]+\//:PORT\//'; echo "$@""#;
    let ran = run("opencode", script, &flags("opencode"), &[]);
    let expected = r#"{"model":"toolwire/demo","small_model":"toolwire/demo","provider":{"toolwire":{"npm":"@ai-sdk/openai-compatible","name":"toolwire","options":{"baseURL":"http://127.0.0.1:PORT/v1","apiKey":"toolwire"},"models":{"demo":{}}}}}
go
"#;
    assert_eq!(text(&ran.stdout), expected, "{}", text(&ran.stderr));
    let script = r#"echo "$OPENAI_API_KEY|$OPENAI_MODEL|$HTTP_PROXY|$NO_PROXY|$@"
echo "$OPENAI_BASE_URL" | grep -Eq '^http://127.0.0.1:[0-9]+/v1$' || exit 9"#;
    let proxy = [("HTTP_PROXY", "http://proxy.test")];
    let ran = run("qwen", script, &flags("qwen"), &proxy);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    assert_eq!(text(&ran.stdout), "toolwire|demo||127.0.0.1,localhost|--auth-type openai go\n");
    let script = r#"echo "$OPENAI_API_KEY|$AIDER_MODEL|$AIDER_WEAK_MODEL|$HTTP_PROXY|$@"
test "$OPENAI_BASE_URL" = "$OPENAI_API_BASE" || exit 9"#;
    let ran = run("aider", script, &flags("aider"), &proxy);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    assert_eq!(text(&ran.stdout), "toolwire|openai/demo|openai/demo|http://proxy.test|go\n");
}

/// What an agent starts in a session of its own does not outlive it, even if it
/// ignores a request to end or starts another.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_running() {
    let script = r#"setsid sh -c 'trap "" TERM; echo $$; exec sleep 300' 2>/dev/null </dev/null &
setsid sh -c '(setsid sleep 301 >/dev/null 2>&1 & echo $!); exec sleep 302' 2>/dev/null </dev/null &
sleep 0.5
exit 4"#;
    let ran = run("leftovers", script, &["claude"], &[]);
    assert_eq!(ran.status.code(), Some(4), "{}", text(&ran.stderr));
    let pids: Vec<&str> = text(&ran.stdout).lines().collect();
    assert_eq!(pids.len(), 2);
    for pid in pids {
        assert!(!fs::exists(format!("/proc/{pid}")).unwrap(), "{pid} is still running");
    }
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
