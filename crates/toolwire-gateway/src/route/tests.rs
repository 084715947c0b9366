use super::*;
use crate::config::{Config, Credential, Limits, Log, Origin, Timeouts};
use crate::observe::Metrics;

fn live(upstreams: &[(&str, &[&str])], aliases: &[(&str, &str)]) -> Live {
    let upstreams = upstreams.iter().map(|(name, models)| crate::config::Upstream {
        name: (*name).to_owned(),
        protocol: toolwire::Protocol::Chat,
        origin: Origin::Demo,
        ca: None,
        credential: Credential::None,
        models: models.iter().map(|model| Pattern((*model).to_owned())).collect(),
        headers: Vec::new(),
        profile: toolwire::Profile::of(toolwire::Protocol::Chat),
        on_loss: None,
        weight: 1,
        timeouts: Timeouts::default(),
    });
    let aliases = aliases.iter().map(|(name, model)| Alias {
        name: Pattern((*name).to_owned()),
        model: (*model).to_owned(),
    });
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        keys: Vec::new(),
        on_loss: toolwire::Policy::Report,
        upstreams: upstreams.collect(),
        aliases: aliases.collect(),
        limits: Limits::default(),
        log: Log::Off,
    };
    Live::build(config, &Metrics::default(), &[]).unwrap()
}

/// Where a name leads: the upstreams in the order of the file, and the model.
fn leads(live: &Live, name: &str) -> String {
    let Some(route) = find(live, name) else { return "nowhere".to_owned() };
    let mut names: Vec<&str> =
        route.upstreams.iter().map(|upstream| upstream.config.name.as_str()).collect();
    names.sort_unstable();
    format!("{}:{}", names.join("+"), route.model)
}

#[test]
fn names_patterns_and_aliases() {
    let live = live(
        &[
            ("anthropic", &["claude-*"]),
            ("openai", &["gpt-5", "gpt-*", "o3"]),
            ("azure", &["gpt-5"]),
            ("local", &["*"]),
        ],
        &[
            ("fast", "gpt-5"),
            ("claude-haiku-*", "local/qwen"),
            ("gpt-5", "azure/gpt-5-eu"),
            ("*", "anthropic/claude-default"),
        ],
    );
    for (name, want) in [
        ("claude-opus", "anthropic:claude-opus"),
        ("claude-haiku-4", "local:qwen"),
        ("gpt-5", "azure:gpt-5-eu"),
        ("gpt-4", "openai:gpt-4"),
        ("o3", "openai:o3"),
        ("fast", "azure+openai:gpt-5"),
        ("openai/gpt-9", "openai:gpt-9"),
        ("openai/o3/x", "openai:o3/x"),
        ("local/anything", "local:anything"),
        ("meta/llama", "anthropic:claude-default"),
        ("openai/", "anthropic:claude-default"),
    ] {
        assert_eq!(leads(&live, name), want, "{name}");
    }
}

#[test]
fn nothing_fits() {
    let live = live(&[("one", &["a-*"])], &[("b", "c"), ("d", "two/x")]);
    for name in ["b", "d", "c", "A-1", "one", "/a-1"] {
        assert_eq!(leads(&live, name), "nowhere", "{name}");
    }
}

#[test]
fn a_name_with_a_slash_is_the_models_own_where_a_model_has_it() {
    let live = live(&[("meta", &["x"]), ("router", &["meta/llama-3", "meta/*"])], &[]);
    assert_eq!(leads(&live, "meta/llama-3"), "router:meta/llama-3");
    assert_eq!(leads(&live, "meta/other"), "router:meta/other");
}

#[test]
fn wildcards() {
    for (pattern, name, fits) in [
        ("*", "", true),
        ("*", "x", true),
        ("a*", "a", true),
        ("a*", "ba", false),
        ("*a", "ba", true),
        ("a*c", "abc", true),
        ("a*c", "ac", true),
        ("a*a", "a", false),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "a-c-b", false),
        ("a**c", "abc", true),
        ("a", "a", true),
        ("a", "aa", false),
    ] {
        assert_eq!(Pattern(pattern.to_owned()).matches(name), fits, "{pattern} {name}");
    }
}

#[test]
fn the_sick_come_last_and_are_not_left_out() {
    let live = live(&[("one", &["m"]), ("two", &["m"]), ("three", &["m"])], &[]);
    let now = Instant::now();
    for _ in 0..5 {
        live.upstreams[0].health.failed(now);
    }
    live.upstreams[1].health.paused(now + std::time::Duration::from_secs(9));
    for _ in 0..10 {
        let route = find(&live, "m").unwrap();
        let order: Vec<&str> =
            route.upstreams.iter().map(|upstream| upstream.config.name.as_str()).collect();
        assert_eq!(order, ["three", "two", "one"]);
    }
}
