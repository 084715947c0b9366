//! Running other programs: always from the root of the workspace, always saying what is run.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// A command that starts in the root of the workspace.
pub(crate) fn command(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).current_dir(root());
    command
}

/// Runs a command with its output on the terminal; a failure is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    announce(command);
    let status = command.status().with_context(|| cannot_start(command))?;
    succeed(command, status)
}

/// Runs a command, passes its standard output on, and shows each line of it to `look`.
pub(crate) fn run_watched(command: &mut Command, mut look: impl FnMut(&str)) -> Result<ExitStatus> {
    announce(command);
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| cannot_start(command))?;
    if let Some(output) = child.stdout.take() {
        let mut terminal = std::io::stdout().lock();
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line)? > 0 {
            terminal.write_all(&line)?;
            if let Ok(text) = str::from_utf8(&line) {
                look(text);
            }
            line.clear();
        }
    }
    Ok(child.wait()?)
}

/// What a command prints, when it can be run and succeeds.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok())?
}

/// The error for a command that ended badly.
pub(crate) fn succeed(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` failed ({status})", spelled(command));
    }
    Ok(())
}

fn announce(command: &Command) {
    println!("$ {}", spelled(command));
}

fn cannot_start(command: &Command) -> String {
    format!("`{}` cannot be started; is it installed?", spelled(command))
}

fn spelled(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.display().to_string()).collect::<Vec<_>>().join(" ")
}
