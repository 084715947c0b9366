//! The programs of `examples/`, run as a reader would run them.
//!
//! What they print is in `examples/expected`; `cargo xtask bless` accepts a
//! change.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[track_caller]
fn check(name: &str) {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = ["run", "--quiet", "--locked", "--package", "toolwire", "--example", name];
    let output = Command::new(cargo).args(run).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{name} failed ({}):\n{printed}{errors}", output.status);
    let path = format!("{}/examples/expected/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if env::var_os("TOOLWIRE_BLESS").is_some() {
        fs::write(&path, &printed).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(printed, expected, "{name} prints something else; `cargo xtask bless` accepts it");
}

#[test]
fn request() {
    check("request");
}

#[test]
fn response() {
    check("response");
}

#[test]
fn stream() {
    check("stream");
}

#[test]
fn registry() {
    check("registry");
}

#[test]
fn tool_loop() {
    check("tool_loop");
}

#[test]
fn every_example_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().path().file_name()?.to_str()?.to_owned()))
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .collect();
    names.sort();
    assert_eq!(names, ["registry", "request", "response", "stream", "tool_loop"]);
}
