//! Counting tests in the output of the programs that run them.

use std::ops::AddAssign;

/// How many checks passed and how many failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Tally {
    pub(crate) const ONE_PASSED: Self = Self { passed: 1, failed: 0 };
    pub(crate) const ONE_FAILED: Self = Self { passed: 0, failed: 1 };

    /// Adds what a line of output reports. `cargo test` ends each binary with
    /// `test result: ok. 3 passed; 1 failed; …`, pytest ends with `1 failed, 3 passed in 0.1s`, and so do our
    /// scripts for Node.
    pub(crate) fn read(&mut self, line: &str) {
        let Some(summary) = line.strip_prefix("test result: ").or_else(|| before_the_time(line))
        else {
            return;
        };
        let words: Vec<_> =
            summary.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let &[number, what] = pair else { continue };
            let Ok(number) = number.parse::<usize>() else { continue };
            match what {
                "passed" => self.passed += number,
                "failed" | "error" | "errors" => self.failed += number,
                _ => {}
            }
        }
    }

    /// The tally of a step that ended: a step without tests of its own counts as one check, and
    /// one that broke before any test could fail still counts as a failure.
    pub(crate) fn settled(self, success: bool) -> Self {
        match (success, self) {
            (true, Self { passed: 0, failed: 0 }) => Self::ONE_PASSED,
            (false, Self { failed: 0, passed }) => Self { passed, failed: 1 },
            (true | false, tally) => tally,
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// The part of pytest's last line before `in 0.12s`.
fn before_the_time(line: &str) -> Option<&str> {
    let (summary, time) = line.rsplit_once(" in ")?;
    let seconds = time.split_whitespace().next()?.strip_suffix('s')?;
    seconds.parse::<f64>().is_ok().then_some(summary)
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[track_caller]
    fn check(line: &str, passed: usize, failed: usize) {
        let mut tally = Tally::default();
        tally.read(line);
        assert_eq!(tally, Tally { passed, failed }, "{line}");
    }

    #[test]
    fn reads_the_summaries_of_cargo_and_pytest() {
        check("test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured\n", 12, 3);
        check("1 failed, 3 passed in 0.12s", 3, 1);
        check("===== 1 failed, 3 passed, 2 errors in 63.12s (0:01:03) =====", 3, 3);
        check("4 passed in 0.12s", 4, 0);
    }

    #[test]
    fn other_lines_count_nothing() {
        check("test vectors::three_passed ... ok", 0, 0);
        check("2 failed because nobody looked", 0, 0);
    }

    #[test]
    fn a_step_that_breaks_without_a_failed_test_is_a_failure() {
        assert_eq!(Tally::default().settled(false), Tally::ONE_FAILED);
        assert_eq!(Tally::default().settled(true), Tally::ONE_PASSED);
        let three = Tally { passed: 3, failed: 0 };
        assert_eq!(three.settled(false), Tally { passed: 3, failed: 1 });
        assert_eq!(three.settled(true), three);
    }
}
