//! `toolwire init` and `toolwire check`.

use std::fs;
use std::path::PathBuf;

use crate::command::toolwire;

/// A folder of its own, gone at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("toolwire-cli-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_is_written_is_fine_and_is_not_written_over() {
    let folder = Folder::new("init");
    let path = folder.0.join("mine.toml");
    let name = path.display();
    let ran = toolwire(&format!("init {name}"), "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains(&format!("toolwire serve --config {name}")), "{}", ran.out);

    let ran = toolwire(&format!("check --config {name}"), "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(
        ran.out.starts_with(&format!("{name} is valid. It listens on 127.0.0.1:8787")),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("demo, demo-*"), "{}", ran.out);

    fs::write(&path, "mine").unwrap();
    let ran = toolwire(&format!("init {name}"), "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.starts_with(&format!("error: {name} already exists")), "{}", ran.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn mistakes_are_pointed_at() {
    let folder = Folder::new("check");
    let path = folder.write("bad.toml", "[[upstream]]\nname = \"demo\"\ndemo = true\nwieght = 2\n");
    let name = path.display();
    for command in ["check", "serve"] {
        let ran = toolwire(&format!("{command} --config {name}"), "");
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
        let expected = format!(
            "error: unknown setting `wieght`\n \
             --> {name}:4:1\n  |\n4 | wieght = 2\n  | ^^^^^^ not a setting of an upstream\n  |\n  \
             = help: did you mean `weight`?\n\n{name} has 1 problem.\n"
        );
        assert_eq!(ran.err, expected);
    }
}

#[test]
fn a_file_that_is_not_there() {
    for command in ["check", "serve"] {
        let ran = toolwire(&format!("{command} --config no-such.toml"), "");
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
        assert!(ran.err.starts_with("error: cannot read no-such.toml: "), "{}", ran.err);
        assert!(ran.err.ends_with("\nCreate it with: toolwire init no-such.toml\n"), "{}", ran.err);
    }
}

/// Proves that `check` and `serve` show the line with a mistake, but not the key
/// that somebody pasted into it.
#[test]
fn a_pasted_key_is_not_printed() {
    let folder = Folder::new("pasted");
    for (name, line) in [
        ("key", "key = \"sk-proj-PASTED\""),
        ("url", "base_url = \"https://me:PASTED-word@example.com\""),
        ("table", "key = { evn = \"PASTED word\" }"),
        ("open", "key = \"PASTED"),
    ] {
        let text = format!(
            "[[upstream]]\nname = \"a\"\nprotocol = \"chat\"\n{line}\nmodels = [\"*\"]\nwieght = 2\n"
        );
        let path = folder.write(&format!("{name}.toml"), &text);
        for command in ["check", "serve"] {
            let ran = toolwire(&format!("{command} --config {}", path.display()), "");
            assert_eq!(ran.code, Some(1), "{}", ran.err);
            assert!(ran.err.contains("***"), "{}", ran.err);
            assert!(!ran.err.contains("PASTED") && !ran.out.contains("PASTED"), "{}", ran.err);
        }
    }
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    let folder = Folder::new("warnings");
    let text = "[[upstream]]\nname = \"demo\"\ndemo = true\n\n[alias]\nfast = \"demo/other\"\nlog = \"demo\"\n";
    let path = folder.write("warned.toml", text);
    let ran = toolwire(&format!("check --config {}", path.display()), "");
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.err,
        "warning: The alias `fast` sends `other` to the upstream demo, which does not list it in `models`.\n\
         warning: `log` is an alias because it comes after [alias]. If it is a setting, move it to the top of the file.\n"
    );
}

/// An upstream that nobody can reach, for tests that must not need one.
const UNREACHABLE: &str = "[[upstream]]\nname = \"gone\"\nprotocol = \"messages\"\n\
    base_url = \"http://127.0.0.1:9\"\nkey = { env = \"TOOLWIRE_TEST_KEY\" }\nmodels = [\"*\"]\n";

#[test]
fn upstreams_are_asked_with_connect() {
    let folder = Folder::new("connect");
    let text = UNREACHABLE.replace("key = { env = \"TOOLWIRE_TEST_KEY\" }\n", "");
    let path = folder
        .write("connect.toml", &format!("{text}[[upstream]]\nname = \"demo\"\ndemo = true\n"));
    let ran = toolwire(&format!("check --config {} --connect", path.display()), "");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let gone =
        "  gone: failed: The upstream gone cannot be reached: nothing listens at its address.\n";
    assert!(ran.out.contains(gone), "{}", ran.out);
    assert!(ran.out.contains("  demo: ok: built in.\n"), "{}", ran.out);
    assert_eq!(ran.err, "error: 1 upstream cannot be used\n");
}

/// What would be sent is shown, and nothing is sent: nobody could be reached.
#[test]
fn a_request_is_planned() {
    let folder = Folder::new("planned");
    folder.write("key", "a-secret-key-0123456");
    let text = UNREACHABLE.replace("{ env = \"TOOLWIRE_TEST_KEY\" }", "{ file = \"key\" }");
    let path = folder.write("planned.toml", &text);
    let request = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":7}"#;
    let ran = toolwire(&format!("translate --config {}", path.display()), request);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.err);
    let plan: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(plan["url"], "http://127.0.0.1:9/v1/messages");
    assert_eq!(plan["headers"]["x-api-key"], "[secret]");
    assert_eq!(plan["body"]["messages"][0]["content"], "hi");
    assert!(plan["ledger"].as_array().unwrap().iter().any(|entry| entry["path"] == "/seed"));
    assert!(!ran.out.contains("a-secret-key"));
    let ran = toolwire(&format!("translate --config {}", path.display()), r#"{"messages":[]}"#);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("The request must name a model."), "{}", ran.err);
}
