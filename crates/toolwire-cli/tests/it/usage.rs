//! Wrong flags: exit code 2, nothing on standard output, and what to give.

use crate::command::toolwire;

const CHAT: &str = r#"{"messages":[{"role":"user","content":"hi"}]}"#;

fn check(flags: &str, input: &str, expected: &str) {
    let ran = toolwire(flags, input);
    assert_eq!(ran.code, Some(2), "{flags}: {}", ran.err);
    assert_eq!(ran.out, "", "{flags}");
    assert!(ran.err.starts_with("error: "), "{flags}: {}", ran.err);
    assert!(ran.err.contains(expected), "{flags}: {}", ran.err);
}

#[test]
fn flags_that_do_not_exist() {
    check("tranlsate", CHAT, "unrecognized subcommand");
    check("translate --to chat --frm chat", CHAT, "--frm");
    check("translate --to completions", CHAT, "chat, responses, messages");
    check("translate --to chat --from x", CHAT, "chat, responses, messages");
    check("translate --to chat --kind streams", CHAT, "request, response, error, tools, stream");
    check("translate --to chat --on-loss warn", CHAT, "report, refuse, ignore");
    check("translate --to chat --status 42", CHAT, "100..=599");
}

#[test]
fn flags_that_are_missing() {
    check("translate", CHAT, "--to <PROTOCOL>");
    check(
        "translate --to chat",
        "{}",
        "cannot detect what this document is; pass --from and --kind",
    );
    check(
        "translate --to chat --from chat",
        "{}",
        "cannot detect what this document is; pass --kind",
    );
    check("translate --to chat", "[]", "cannot detect the protocol of these tools; pass --from");
    check("translate --to chat --kind error", "{}", "the protocol of this error; pass --from");
    check("translate --to messages --kind response", CHAT, "this response; pass --from");
}

#[test]
fn flags_that_do_not_go_together() {
    for (flags, expected) in [
        ("--request x.json", "--request requires --kind response, but this is a chat request"),
        ("--status 500", "--status requires --kind error, but this is a chat request"),
        (
            "--from messages --kind tools --model m",
            "--model requires --kind request, but this is a list of messages tools",
        ),
    ] {
        check(&format!("translate --to messages {flags}"), CHAT, expected);
    }
}

#[test]
fn help_is_not_an_error() {
    for flags in ["--help", "-h", "help", "translate --help", "--version"] {
        let ran = toolwire(flags, "");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{flags}");
        assert!(ran.out.contains("toolwire"), "{flags}");
    }
    for flags in ["--help", "translate --help"] {
        let help = toolwire(flags, "").out;
        assert!(help.contains("Example"), "{flags}");
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "too wide: {line}");
        }
    }
}

/// Proves that a misspelled command or flag gets the right one as a suggestion.
#[test]
fn misspellings_get_a_suggestion() {
    for (flags, expected) in [
        ("tranlsate", "a similar subcommand exists: 'translate'"),
        ("serv", "'serve'"),
        ("translate --to chat --frm chat", "a similar argument exists: '--from'"),
        ("check --confg x", "'--config'"),
        ("translate --to mesages", "a similar value exists: 'messages'"),
    ] {
        check(flags, CHAT, expected);
    }
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = toolwire(&format!("completions {shell}"), "");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{shell}");
        assert!(ran.out.contains("dispositions"), "{shell}: {}", ran.out);
    }
    let ran = toolwire("man", "");
    assert!(ran.out.contains(".TH toolwire 1"), "{}", ran.out);
    let ran = toolwire("man translate", "");
    assert!(ran.out.contains(".TH toolwire-translate 1"), "{}", ran.out);
    assert!(ran.out.contains("loss\\-comment"), "{}", ran.out);
    check("man nothing", "", "there is no command nothing");
}
