//! Runs `toolwire` and keeps what it said.

use std::io::Write;
use std::process::{Command, Stdio};

pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The document on standard output, of a run that has succeeded.
    pub(crate) fn document(&self) -> serde_json::Value {
        assert_eq!(self.code, Some(0), "{}", self.err);
        assert!(self.out.ends_with('\n') && !self.out.ends_with("\n\n"), "{:?}", self.out);
        serde_json::from_str(&self.out).unwrap()
    }

    /// The ledger on standard error, which must hold nothing else, as lines of
    /// path, code, action and level.
    pub(crate) fn ledger(&self) -> Vec<String> {
        let text = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap().to_owned();
        let mut lines = Vec::new();
        for line in self.err.lines() {
            let entry: serde_json::Value = serde_json::from_str(line).expect(line);
            let mut keys: Vec<_> = entry.as_object().unwrap().keys().map(String::as_str).collect();
            keys.retain(|key| *key != "level");
            assert_eq!(keys, ["path", "code", "action", "detail"]);
            assert!(text(&entry, "detail").ends_with('.'), "no sentence: {line}");
            let level = entry.get("level").map(|_| text(&entry, "level")).unwrap_or_default();
            let told = ["path", "code", "action"].map(|key| text(&entry, key)).join(" ");
            lines.push(format!("{told} {level}").trim_end().to_owned());
        }
        lines
    }
}

/// Runs `toolwire` with `flags`, split at spaces.
pub(crate) fn toolwire(flags: &str, input: impl AsRef<[u8]>) -> Ran {
    let flags: Vec<_> = flags.split_whitespace().collect();
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails on its flags goes away without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
