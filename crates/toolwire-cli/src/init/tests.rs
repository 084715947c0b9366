use std::io;
use std::path::Path;

use toolwire_gateway::config::{Environment, file};

use super::template;

struct Keys(&'static [&'static str]);

impl Environment for Keys {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.contains(&name).then(|| format!("0123456789abcdef-{name}"))
    }

    fn read_file(&self, _: &Path) -> io::Result<String> {
        Err(io::Error::other("there are no files"))
    }
}

fn check(keys: &'static [&'static str], upstreams: &[&str]) {
    let text = template(|name| keys.contains(&name));
    let config = file::parse("toolwire.toml", &text, &Keys(keys)).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<_> = config.upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
    assert_eq!(names, upstreams);
}

/// Whatever is in the environment, what is written can be served.
#[test]
fn what_is_written_can_be_served() {
    check(&[], &["demo"]);
    check(&["OPENAI_API_KEY"], &["openai", "demo"]);
    check(&["ANTHROPIC_API_KEY"], &["anthropic", "demo"]);
    check(&["OPENAI_API_KEY", "ANTHROPIC_API_KEY"], &["openai", "anthropic", "demo"]);
}

/// What stands there as a comment is right too.
#[test]
fn comments_can_be_switched_on() {
    let text = template(|_| true);
    let mut on = String::new();
    for line in text.lines() {
        let setting = line.strip_prefix("# ").filter(|rest| {
            rest.starts_with('[') || rest.starts_with('"') || rest.split(' ').nth(1) == Some("=")
        });
        on.push_str(setting.unwrap_or(line));
        on.push('\n');
    }
    let keys = Keys(&["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TOOLWIRE_KEY", "TOOLWIRE_ADMIN_KEY"]);
    let config = file::parse("toolwire.toml", &on, &keys).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((config.upstreams.len(), config.aliases.len(), config.keys.len()), (4, 1, 1));
}
