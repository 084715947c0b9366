//! The packages as users get them, and the oldest compiler that builds them.

use std::fs;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::{cmd, setup};

/// Makes each package without building it. A warning of cargo's is a failure: it is about what a
/// reader of the package would miss.
pub(crate) fn check() -> Result<()> {
    let mut package = cmd::command(PACKAGE);
    // Apart from the build, which another cargo may be at work on.
    package.arg("--target-dir").arg(cmd::target_dir().join("packages"));
    println!("$ {PACKAGE}");
    let output = package.stdin(Stdio::null()).output().context("cargo cannot be started")?;
    let said = String::from_utf8(output.stderr).context("cargo writes text")?;
    print!("{said}");
    cmd::succeed(&package, output.status)?;
    if has_warning(&said) {
        bail!("cargo warns about a package; complete its Cargo.toml");
    }
    Ok(())
}

/// Checks the library with the oldest compiler that it promises to work with, or says why that
/// compiler is not to be had. Of the other crates, clippy knows which parts of the standard library
/// are too new (`incompatible_msrv`).
pub(crate) fn check_oldest_compiler() -> Result<Option<String>> {
    let manifest = fs::read_to_string(cmd::root().join("Cargo.toml"))?;
    let version = rust_version(&manifest).context("Cargo.toml has no rust-version")?;
    if let Err(error) = setup::toolchain(version) {
        return Ok(Some(format!("{error:#}")));
    }
    let features = "--no-default-features --features futures,serde_json";
    let line = format!("cargo +{version} check --package toolwire --lib --locked {features}");
    // Compilers do not share what they build, and would take turns to throw it away.
    let target_dir = cmd::target_dir().join("oldest");
    cmd::run(cmd::command(&line).arg("--target-dir").arg(target_dir))?;
    Ok(None)
}

fn has_warning(said: &str) -> bool {
    said.lines().any(|line| line.starts_with("warning"))
}

/// The `rust-version` of a manifest.
fn rust_version(manifest: &str) -> Option<&str> {
    let value = manifest.lines().find_map(|line| line.strip_prefix("rust-version"))?;
    value.trim_start().strip_prefix('=')?.trim().strip_prefix('"')?.strip_suffix('"')
}

const PACKAGE: &str = "cargo package --workspace --exclude xtask --exclude toolwire-laws --no-verify --offline --allow-dirty";

#[cfg(test)]
mod tests {
    use super::{has_warning, rust_version};

    #[test]
    fn the_rust_version_of_a_manifest() {
        let manifest = "[workspace.package]\nedition = \"2024\"\nrust-version = \"1.90\"\n";
        assert_eq!(rust_version(manifest), Some("1.90"));
        assert_eq!(rust_version("[package]\nname = \"x\"\n"), None);
    }

    #[test]
    fn a_warning_is_noticed() {
        let fine = "   Packaging toolwire v0.1.0\n    Packaged 3 files\n";
        assert!(!has_warning(fine));
        assert!(has_warning(&format!("warning: manifest has no description\n{fine}")));
    }
}
