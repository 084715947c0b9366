use toolwire::{Action, Code, Entry, Level};

use super::report;
use crate::terminal::Terminal;

const PLAIN: Terminal = Terminal { width: 60, styled: false };

fn entry(path: &str, code: Code, action: Action) -> Entry {
    Entry::new(path, code, action)
}

fn check(entries: &[Entry], terminal: Terminal, expected: &str) {
    let found = report("Chat request to Messages", entries, terminal);
    assert_eq!(found, expected, "\n{found}");
    if !terminal.styled {
        for line in found.lines() {
            assert!(line.chars().count() <= terminal.width, "too wide: {line}");
        }
    }
}

#[test]
fn nothing_lost() {
    check(&[], PLAIN, "Chat request to Messages: nothing was lost.\n");
}

#[test]
fn only_exact() {
    let entries = [entry("/tools/1", Code::FreeformWrapped, Action::Emulated)];
    check(
        &entries,
        PLAIN,
        "\
Chat request to Messages: nothing was lost, 1 exact
emulation.

Field     Action    Reason
/tools/1  emulated  The freeform tool crosses as a function
                    of one text and comes back as itself.
                    [freeform]
",
    );
}

#[test]
fn losses_first_and_likes_together() {
    let mut user = entry("/user", Code::User, Action::Dropped);
    user.level = Level::Info;
    let entries = [
        entry("/tools/1", Code::FreeformWrapped, Action::Emulated),
        user,
        entry("/tools/0/function/strict", Code::StrictDowngraded, Action::Degraded),
        entry("/tools/3/function/strict", Code::StrictDowngraded, Action::Degraded),
        entry("", Code::Only("n".to_owned()), Action::Refused),
    ];
    check(
        &entries,
        Terminal { width: 72, ..PLAIN },
        "\
Chat request to Messages: 3 losses, 1 minor loss, 1 exact emulation.

Field                     Action    Reason
/tools/*/function/strict  degraded  The schema does not fit what the
(2×)                                target accepts as strict; it is sent
                                    without. [strict_downgraded]
(whole document)          refused   The target protocol has no such
                                    field. [only:n]
/user                     dropped   The target has no such user label.
                                    [user, info]
/tools/1                  emulated  The freeform tool crosses as a
                                    function of one text and comes back
                                    as itself. [freeform]
",
    );
}

#[test]
fn long_and_hostile_paths() {
    let path = "/messages/12/content/0/a_very_long_field_name_indeed/\u{1b}[31m";
    check(
        &[entry(path, Code::Sampling, Action::Dropped)],
        Terminal { width: 50, ..PLAIN },
        "\
Chat request to Messages: 1 loss.

Field             Action   Reason
/messages/12      dropped  The target does not
/content/0                 take this sampling
/a_very_long_fie           parameter. [sampling]
ld_name_indeed
/\\u{1b}[31m
",
    );
}

#[test]
fn colours_only_where_they_are_understood() {
    let entries = [entry("/seed", Code::Sampling, Action::Dropped)];
    check(
        &entries,
        Terminal { width: 80, styled: true },
        "\
\u{1b}[1mChat request to Messages: 1 loss.\u{1b}[0m

\u{1b}[2mField  Action   Reason\u{1b}[0m
/seed  \u{1b}[33mdropped\u{1b}[0m  The target does not take this sampling parameter. [sampling]
",
    );
}
