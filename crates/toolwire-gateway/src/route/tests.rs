use super::{Protocol, Route, find};
use crate::active_config::ActiveConfig;
use crate::config::{
    Alias, Config, Credential, Limits, LogFormat, Origin, Pattern, RetryPolicy, UpstreamConfig,
    environment,
};
use crate::observe::Metrics;

fn active(upstreams: &[(&str, &[&str])], aliases: &[(&str, &str)]) -> ActiveConfig {
    let upstreams =
        upstreams.iter().map(|(name, models)| upstream(name, Protocol::Chat, models, 1));
    let aliases = aliases.iter().map(|(name, model)| Alias {
        name: Pattern((*name).to_owned()),
        model: (*model).to_owned(),
    });
    build(Config { aliases: aliases.collect(), ..config(upstreams.collect()) })
}

fn upstream(name: &str, protocol: Protocol, models: &[&str], weight: u32) -> UpstreamConfig {
    let models = models.iter().map(|model| Pattern((*model).to_owned())).collect();
    let plain = UpstreamConfig::new(name.to_owned(), protocol, Origin::Demo, Credential::None);
    UpstreamConfig { models, weight, ..plain }
}

fn config(upstreams: Vec<UpstreamConfig>) -> Config {
    Config {
        protocols: Protocol::ALL.to_vec(),
        listen: "127.0.0.1:0".parse().unwrap(),
        keys: Vec::new(),
        admin_key: None,
        origins: Vec::new(),
        on_loss: toolwire::LossPolicy::Report,
        upstreams,
        prefer_same_protocol: true,
        aliases: Vec::new(),
        limits: Limits::default(),
        retry: RetryPolicy::default(),
        store: crate::config::StoreConfig::Off,
        model_refresh: None,
        log: LogFormat::Off,
    }
}

fn build(config: Config) -> ActiveConfig {
    ActiveConfig::build(config, &Metrics::default(), &[]).unwrap()
}

/// The upstreams in the order in which a client's request tries them, for each
/// of a hundred requests.
fn orders(active: &ActiveConfig, client: Protocol) -> Vec<Vec<&str>> {
    let names = |route: Route| -> Vec<&str> {
        let tried = route.upstreams.iter();
        let known = |tried: &std::sync::Arc<crate::upstream::Upstream>| {
            let found =
                active.upstreams.iter().find(|known| known.config.name == tried.config.name);
            found.unwrap().config.name.as_str()
        };
        tried.map(known).collect()
    };
    (0..100).map(|_| names(find(active, "m", client).unwrap())).collect()
}

/// The upstreams for a name, sorted, and the model.
fn destination(active: &ActiveConfig, name: &str) -> String {
    let Some(route) = find(active, name, Protocol::Chat) else { return "nowhere".to_owned() };
    let mut names: Vec<&str> =
        route.upstreams.iter().map(|upstream| upstream.config.name.as_str()).collect();
    names.sort_unstable();
    format!("{}:{}", names.join("+"), route.model)
}

#[test]
fn names_patterns_and_aliases() {
    let active = active(
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
        assert_eq!(destination(&active, name), want, "{name}");
    }
}

#[test]
fn nothing_matches() {
    let active = active(&[("one", &["a-*"])], &[("b", "c"), ("d", "two/x")]);
    for name in ["b", "d", "c", "A-1", "one", "/a-1"] {
        assert_eq!(destination(&active, name), "nowhere", "{name}");
    }
}

#[test]
fn a_name_with_a_slash_is_the_models_own_where_a_model_has_it() {
    let active = active(&[("meta", &["x"]), ("router", &["meta/llama-3", "meta/*"])], &[]);
    assert_eq!(destination(&active, "meta/llama-3"), "router:meta/llama-3");
    assert_eq!(destination(&active, "meta/other"), "router:meta/other");
}

#[test]
fn unhealthy_upstreams_come_last_and_are_not_left_out() {
    let active = active(&[("one", &["m"]), ("two", &["m"]), ("three", &["m"])], &[]);
    for _ in 0..5 {
        active.upstreams[0].failed();
    }
    active.upstreams[1].pause(std::time::Duration::from_secs(9));
    for order in orders(&active, Protocol::Chat) {
        assert_eq!(order, ["three", "two", "one"]);
    }
}

#[test]
fn those_that_speak_the_clients_protocol_come_first() {
    let mixed = |prefer_same_protocol| {
        let upstreams = vec![
            upstream("chat", Protocol::Chat, &["m"], 90),
            upstream("heavy", Protocol::Messages, &["m"], 3),
            upstream("light", Protocol::Messages, &["m"], 1),
            upstream("spare", Protocol::Messages, &["m"], 0),
        ];
        build(Config { prefer_same_protocol, ..config(upstreams) })
    };
    let first = |active: &ActiveConfig, client, name: &str| {
        orders(active, client).iter().filter(|order| order[0] == name).count()
    };
    let active = mixed(true);
    assert!(orders(&active, Protocol::Chat).iter().all(|order| order[0] == "chat"));
    let tried = orders(&active, Protocol::Messages);
    assert!(tried.iter().all(|order| order[2..] == ["spare", "chat"]), "{tried:?}");
    assert!((70..80).contains(&first(&active, Protocol::Messages, "heavy")));
    // If no upstream speaks the client's protocol, weights decide.
    assert!((90..99).contains(&first(&active, Protocol::Responses, "chat")));
    // Without the preference, weights decide for every client.
    assert!((90..99).contains(&first(&mixed(false), Protocol::Messages, "chat")));
    // A healthy upstream comes before a paused one that speaks the protocol.
    active.upstreams[0].pause(std::time::Duration::from_secs(9));
    let tried = orders(&active, Protocol::Chat);
    assert!(tried.iter().all(|order| order[3] == "chat"), "{tried:?}");
}

#[test]
fn clients_of_a_vendor_with_two_protocols() {
    struct Key;
    impl crate::config::Environment for Key {
        fn variable(&self, name: &str) -> Option<String> {
            (name == "OPENAI_API_KEY").then(|| "k".to_owned())
        }

        fn read_file(&self, _: &std::path::Path) -> std::io::Result<String> {
            Err(std::io::Error::other("there are no files"))
        }
    }
    let active = build(environment::find(None, &Key).config);
    for (client, want) in [
        (Protocol::Chat, "openai-chat"),
        (Protocol::Responses, "openai"),
        (Protocol::Messages, "openai"),
    ] {
        for _ in 0..100 {
            let route = find(&active, "gpt-5", client).unwrap();
            assert_eq!(route.upstreams[0].config.name, want, "{client}");
        }
    }
}

/// A probe is of the upstream that is due. If the request cannot go there, the next one is
/// the probe.
#[tokio::test(start_paused = true)]
async fn a_probe_that_is_left_out_is_given_back() {
    let active = active(&[("healthy", &["m"]), ("due", &["m"])], &[]);
    let due = &active.upstreams[1];
    for _ in 0..RetryPolicy::default().eject_after {
        due.failed();
    }
    tokio::time::advance(RetryPolicy::default().first_ejection).await;
    for _ in 0..3 {
        let mut route = find(&active, "m", Protocol::Chat).unwrap();
        assert!(route.probe.as_ref().is_some_and(|probe| probe.is_of(&due.health)));
        assert_eq!(route.upstreams[0].config.name, "due");
        route.retain(|upstream| upstream.config.name == "healthy");
        assert!(route.probe.is_none());
    }
    let mut route = find(&active, "m", Protocol::Chat).unwrap();
    route.retain(|upstream| upstream.config.name == "due");
    assert!(route.probe.is_some_and(|probe| probe.is_of(&due.health)));
}
