use std::io;
use std::path::Path;

use toolwire_gateway::config::{
    Alias, Environment, Pattern, Secret, SecretPlace, SecretSource, environment,
};

use toolwire_store::OpenError;

use super::text;
use crate::config::ConfigSource;
use crate::terminal::Terminal;

struct Keys(&'static [(&'static str, &'static str)]);

impl Environment for Keys {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    fn read_file(&self, _: &Path) -> io::Result<String> {
        Err(io::Error::other("there are no files"))
    }
}

/// No error of a store.
const OPENED: Option<&OpenError> = None;

const TERMINAL: Terminal = Terminal { width: 80, styled: false };

#[test]
fn everything_that_a_person_needs_first() {
    let found = environment::find(None, &Keys(&[("ANTHROPIC_API_KEY", "sk-ant-secret")]));
    let address = "127.0.0.1:8787".parse().unwrap();
    let said =
        text(&found.config, address, &ConfigSource::Environment(found.notes), OPENED, TERMINAL);
    assert_eq!(said, EXPECTED.replace("VERSION", env!("CARGO_PKG_VERSION")), "\n{said}");
}

/// What is kept is content, so a person learns where it is, for how long, and
/// how to turn it off.
#[test]
fn what_is_kept() {
    let found = environment::find(None, &Keys(&[("HOME", "/state")]));
    let address = "127.0.0.1:8787".parse().unwrap();
    let said =
        text(&found.config, address, &ConfigSource::Environment(found.notes), OPENED, TERMINAL);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "Stored responses and sessions What Responses clients send and get is kept in \
                    /state/.local/state/toolwire/toolwire.db, for 30 days, unless they \
                    send store: false or the model's API keeps it itself. The sessions of Chat \
                    and Messages clients are kept there too. To keep nothing, set engine = \
                    \"off\" in [store].";
    assert!(words.contains(expected), "{said}");
}

#[test]
fn what_cannot_be_kept_is_not_promised() {
    let found = environment::find(None, &Keys(&[("HOME", "/state")]));
    let address = "127.0.0.1:8787".parse().unwrap();
    let error = OpenError::Failed("cannot open /state: Permission denied".to_owned());
    let source = ConfigSource::Environment(found.notes);
    let said = text(&found.config, address, &source, Some(&error), TERMINAL);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "Stored responses and sessions Nothing is kept, because the store cannot be \
                    opened: cannot open /state: Permission denied. Requests";
    assert!(words.contains(expected), "{said}");
    assert!(!said.contains("is kept in"), "{said}");
}

const EXPECTED: &str = r#"toolwire VERSION is listening on http://127.0.0.1:8787

  OpenAI Chat Completions and Responses   http://127.0.0.1:8787/v1
  Anthropic Messages                      http://127.0.0.1:8787

Models

  demo, demo-*  built in, no key needed
  claude-*      anthropic: messages at https://api.anthropic.com/v1

  For more models, set the API key of a vendor, such as OPENROUTER_API_KEY, or run: toolwire init

Try it: a tool call by the demo model

  curl -s http://127.0.0.1:8787/v1/chat/completions \
    -H 'content-type: application/json' -d '{
    "model": "demo",
    "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters":
      {"type": "object", "properties": {"city": {"type": "string"}}}}}]}'

Connect a client

  OpenAI SDK
    export OPENAI_BASE_URL=http://127.0.0.1:8787/v1 OPENAI_API_KEY=toolwire
  Anthropic SDK
    export ANTHROPIC_BASE_URL=http://127.0.0.1:8787 ANTHROPIC_API_KEY=toolwire
  Claude Code
    ANTHROPIC_BASE_URL=http://127.0.0.1:8787 ANTHROPIC_AUTH_TOKEN=toolwire ANTHROPIC_MODEL=demo claude
  Codex
    TOOLWIRE_KEY=toolwire codex -m demo -c model_provider=toolwire \
      -c 'model_providers.toolwire={name="toolwire",base_url="http://127.0.0.1:8787/v1",wire_api="responses",env_key="TOOLWIRE_KEY"}'
  or without any settings: toolwire run claude, toolwire run codex

Ctrl-C stops it.

"#;

#[test]
fn a_key_of_the_gateways_is_named_and_not_shown() {
    let mut config = environment::find(None, &Keys(&[])).config;
    config.keys = vec![Secret::new("0123456789abcdef".to_owned())];
    let address = "0.0.0.0:9000".parse().unwrap();
    let said = text(&config, address, &ConfigSource::Environment(Vec::new()), OPENED, TERMINAL);
    assert!(!said.contains("0123456789abcdef"), "{said}");
    for part in [
        "is listening on http://127.0.0.1:9000\n",
        "-H \"authorization: Bearer $TOOLWIRE_KEY\" -d '{",
        "OPENAI_API_KEY=$TOOLWIRE_KEY\n",
    ] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
}

#[test]
fn without_the_demo_model_nothing_promises_it() {
    let mut config = environment::find(None, &Keys(&[("OPENAI_API_KEY", "k")])).config;
    config.upstreams.remove(0);
    let address = "127.0.0.1:1".parse().unwrap();
    let said = text(&config, address, &ConfigSource::Environment(Vec::new()), OPENED, TERMINAL);
    assert!(!said.contains("demo") && !said.contains("curl"), "{said}");
}

/// An upstream that serves every name also serves `demo`, but it is no demo model.
#[test]
fn another_model_is_not_called_the_demo_model() {
    let mut config = environment::find(None, &Keys(&[("OPENAI_API_KEY", "k")])).config;
    config.upstreams.remove(0);
    config.upstreams[0].models = vec![Pattern("*".to_owned())];
    let address = "127.0.0.1:1".parse().unwrap();
    let said = text(&config, address, &ConfigSource::Environment(Vec::new()), OPENED, TERMINAL);
    assert!(!said.contains("demo"), "{said}");
}

#[test]
fn the_operators_own_variable_and_aliases() {
    let mut config = environment::find(None, &Keys(&[])).config;
    let source = |place| SecretSource { name: "x".to_owned(), place };
    let key = Secret::new("0123456789abcdef".to_owned());
    config.aliases = vec![Alias { name: Pattern("fast".to_owned()), model: "demo".to_owned() }];
    for (place, shown) in [
        (SecretPlace::Variable("MY_KEY".to_owned()), "OPENAI_API_KEY=$MY_KEY\n"),
        (SecretPlace::File("keys/one".to_owned()), "OPENAI_API_KEY=$(cat keys/one)\n"),
    ] {
        config.keys = vec![key.clone().from_source(source(place))];
        let address = "127.0.0.1:1".parse().unwrap();
        let said = text(&config, address, &ConfigSource::Environment(Vec::new()), OPENED, TERMINAL);
        assert!(said.contains(shown) && !said.contains("TOOLWIRE_KEY=$TOOLWIRE_KEY"), "{said}");
        assert!(said.contains("  fast is an alias for demo\n"), "{said}");
    }
}
