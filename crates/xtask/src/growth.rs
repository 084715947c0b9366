//! `cargo xtask growth`: ten times the input costs at most eleven times the instructions.
//!
//! The growth tests run under callgrind, which counts what one function of theirs does
//! (`toolwire_laws::growth`). Each program runs in a process of its own, so that they share the
//! cores. What is counted hardly depends on the compiler, so there is no record to compare with.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;

use anyhow::{Context, Result};

use crate::tally::Tally;
use crate::{cmd, setup};

/// Counts, and fails if anything grows faster than its input.
pub(crate) fn run() -> Result<ExitCode> {
    let Tally { passed: _, failed } = check()?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs every growth test that can be counted.
pub(crate) fn check() -> Result<Tally> {
    setup::valgrind()?;
    for Program { build, .. } in PROGRAMS {
        let mut command = cmd::command(build);
        cmd::run(command.arg("--no-run"))?;
    }
    let folder = cmd::target_dir().join("growth");
    thread::scope(|scope| {
        let runs: Vec<_> = PROGRAMS
            .iter()
            .map(|program| scope.spawn(|| program.count(&folder.join(program.name))))
            .collect();
        let mut total = Tally::default();
        for run in runs {
            total += run.join().unwrap_or(Ok(Tally::ONE_FAILED))?;
        }
        Ok(total)
    })
}

/// The names of the tests that are counted. Run plainly, they read the clock instead.
pub(crate) fn tests() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().flat_map(|program| program.tests).copied()
}

/// A test program, and which of its tests to run.
struct Program {
    name: &'static str,
    build: &'static str,
    tests: &'static [&'static str],
}

/// The library is optimised, as for `cargo xtask cost`, because counting is fifty times slower than
/// running. The others would take longer to build than to count.
const PROGRAMS: &[Program] = &[
    Program {
        name: "documents",
        build: "cargo test --locked --profile bench --package toolwire --test growth",
        tests: &["documents_that_hurt"],
    },
    Program {
        name: "streams",
        build: "cargo test --locked --profile bench --package toolwire --test growth",
        tests: &[
            "streams_that_hurt",
            "text_full_of_markers_is_linear",
            "prose_is_linear",
            "many_runs_of_definitions_and_many_calls",
        ],
    },
    Program {
        name: "gateway",
        build: "cargo test --locked --package toolwire-gateway --lib",
        tests: &["the_cost_grows_no_faster_than_the_input"],
    },
    Program {
        name: "tokens",
        build: "cargo test --locked --package toolwire-tokens --lib",
        tests: &["counting_is_linear"],
    },
];

impl Program {
    /// Runs it under callgrind, whose files go to `folder`.
    fn count(&self, folder: &Path) -> Result<Tally> {
        drop(fs::remove_dir_all(folder));
        fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        let out = folder.join("out");
        let mut command = cmd::command(self.build);
        command.arg("--config").arg(runner(&out)).args(["--", "--test-threads=1"]);
        command.args(self.tests);
        command.env("TOOLWIRE_CALLGRIND_OUT", &out).env("GLIBC_TUNABLES", COPY_ALIKE);
        let (success, printed) = captured(&mut command)?;
        println!("{printed}");
        let mut tally = Tally::default();
        printed.lines().for_each(|line| tally.read(line));
        let Tally { passed, failed } = tally;
        if success && passed + failed != self.tests.len() {
            println!("{}: {passed} tests ran, of {}", self.name, self.tests.join(", "));
            return Ok(Tally { passed, failed: 1 });
        }
        Ok(tally.settled(success))
    }
}

/// Lets cargo start the tests under callgrind. Only what [`COUNTED`] does is counted, and written to
/// a file as soon as it is done.
fn runner(out: &Path) -> String {
    let out = out.display();
    format!(
        "target.'cfg(all())'.runner = ['valgrind', '--quiet', '--tool=callgrind', \
         '--collect-atstart=no', '--toggle-collect={COUNTED}', '--dump-after={COUNTED}', \
         '--dump-line=no', '--callgrind-out-file={out}']"
    )
}

/// Runs a command, and gives what it printed.
fn captured(command: &mut Command) -> Result<(bool, String)> {
    let output = command.output().context("cargo cannot be started")?;
    let text = |bytes| String::from_utf8(bytes).unwrap_or_default();
    Ok((output.status.success(), text(output.stderr) + &text(output.stdout)))
}

/// The function whose instructions are counted. Some compilers have more in front of its name.
const COUNTED: &str = "*growth::counted";

/// From a few kilobytes on, glibc copies with one instruction that valgrind counts once for each byte;
/// anything shorter it copies 32 bytes at a time. Copies of all lengths are to be counted alike.
const COPY_ALIKE: &str = "glibc.cpu.x86_rep_movsb_threshold=1000000000:\
    glibc.cpu.x86_rep_stosb_threshold=1000000000";
