//! The programs of `examples/`, run as a reader would run them, and the one of
//! the readme among them.
//!
//! What they print is in `examples/expected`; `cargo xtask bless` accepts a
//! change.

use std::process::Command;
use std::{env, fs};

use toolwire_runner::Protocol;

use crate::demo::gateway;

async fn check(example: &'static str, arguments: &[&'static str]) {
    let (_gateway, address) = gateway().await;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--locked", "--package", "toolwire-runner"]);
    command.args(["--example", example, "--"]).args(arguments);
    command.env("TOOLWIRE_URL", address).env_remove("TOOLWIRE_KEY");
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{example} failed ({}):\n{printed}{errors}", output.status);
    let path = format!("{}/examples/expected/{example}.txt", env!("CARGO_MANIFEST_DIR"));
    if env::var_os("TOOLWIRE_BLESS").is_some() {
        fs::write(&path, &printed).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let what =
        format!("{example} {arguments:?} prints something else; `cargo xtask bless` accepts it");
    assert_eq!(printed, expected, "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn quickstart() {
    check("quickstart", &[]).await;
}

/// Every protocol prints the same: the loops are the same in all of them.
#[tokio::test(flavor = "multi_thread")]
async fn tool_loops() {
    for protocol in Protocol::ALL {
        check("tool_loops", &[protocol.as_str()]).await;
    }
}

/// The readmes and the guide show the program that is run here.
#[test]
fn the_readme_shows_the_quickstart() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let program =
        fs::read_to_string(format!("{root}/crates/toolwire-runner/examples/quickstart.rs"));
    let program = program.unwrap();
    let start = program.find("use toolwire_runner").unwrap();
    let program = program[start..].trim();
    let documents = [
        "README.md",
        "crates/toolwire-runner/README.md",
        "docs/client-examples.md",
        "docs/tools-guide.md",
    ];
    for document in documents {
        let text = fs::read_to_string(format!("{root}/{document}")).unwrap();
        assert!(text.contains(program), "{document} does not show examples/quickstart.rs");
    }
}
