//! Help is written for terminals of 80 columns.

use clap::CommandFactory as _;

/// Text that is longer than a line is wrapped once more, in the middle of a sentence.
#[test]
fn no_line_of_help_is_longer_than_a_terminal() {
    let mut waiting = vec![crate::Cli::command()];
    let mut seen = 0;
    while let Some(command) = waiting.pop() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            seen += 1;
        }
        waiting.extend(command.get_subcommands().cloned());
    }
    assert!(seen > 50, "{seen}");
}
