use crate::config::{Alias, Config, Pattern};
use crate::growth::{config, upstream};
use toolwire::Protocol;

fn with(aliases: &[(&str, &str)]) -> Config {
    let upstreams = vec![
        upstream("one", Protocol::Chat, &["gpt-*", "org/model"]),
        upstream("two", Protocol::Messages, &["claude-*", "exact"]),
    ];
    let alias = |(name, model): &(&str, &str)| Alias {
        name: Pattern((*name).to_owned()),
        model: (*model).to_owned(),
    };
    Config { aliases: aliases.iter().map(alias).collect(), ..config(upstreams) }
}

#[test]
fn what_is_probably_not_meant() {
    for (aliases, expected) in [
        (vec![("fast", "gpt-5"), ("slow", "two/claude-9"), ("mine", "org/model")], None),
        (
            vec![("fast", "one/llama")],
            Some(
                "The alias `fast` sends `llama` to the upstream one, which does not list it in `models`.",
            ),
        ),
        (
            vec![("log", "gpt-5")],
            Some(
                "`log` is an alias because it comes after [alias]. If it is a setting, move it to the top of the file.",
            ),
        ),
        (
            vec![("exact", "gpt-5")],
            Some(
                "The alias `exact` hides `exact` of the upstream two: such requests go to the alias's target.",
            ),
        ),
        (
            vec![("claude-*", "gpt-5")],
            Some(
                "The alias `claude-*` hides `claude-*` of the upstream two: such requests go to the alias's target.",
            ),
        ),
        // What is less specific hides nothing.
        (vec![("*", "gpt-5")], None),
        (vec![("claude-9", "gpt-5")], None),
    ] {
        let warnings = with(&aliases).warnings();
        assert_eq!(warnings, expected.map(str::to_owned).into_iter().collect::<Vec<_>>());
    }
}
