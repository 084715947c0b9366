//! The list of models, and what upstreams say about theirs.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolwire::Protocol;
use toolwire_gateway::config::{Config, Pattern, UpstreamConfig};

use crate::upstream::{ReceivedRequest, Server, Step, whole};
use crate::watched_log::UPSTREAM_KEY;
use crate::{alias, at, client, config, fixtures, ms, start};

/// A configuration that asks its upstreams for their models.
fn asking(upstreams: Vec<UpstreamConfig>) -> Config {
    Config { model_refresh: Some(Duration::from_secs(3600)), ..config(upstreams) }
}

/// A server that lists models, and answers everything else.
async fn listing(protocol: Protocol, list: Value) -> Server {
    let list = list.to_string();
    Server::scripted(protocol, move |_, request| match is_list(request) {
        true => whole(200, "", &list),
        false => whole(200, "", fixtures::answer(protocol)),
    })
    .await
}

fn is_list(request: &ReceivedRequest) -> bool {
    request.head.starts_with("GET /v1/models")
}

fn named(names: &[&str]) -> Value {
    let models: Vec<Value> =
        names.iter().map(|name| json!({"id": name, "object": "model"})).collect();
    json!({"object": "list", "data": models})
}

fn serving(server: &Server, models: &[&str]) -> UpstreamConfig {
    let models = models.iter().map(|model| Pattern((*model).to_owned())).collect();
    UpstreamConfig { models, ..at(server) }
}

async fn ids(to: std::net::SocketAddr) -> Vec<String> {
    let list = client::get(to, "/v1/models", &[]).await.json();
    let data = list["data"].as_array().unwrap().iter();
    data.map(|model| model["id"].as_str().unwrap().to_owned()).collect()
}

const VERSION: &str = "anthropic-version: 2023-06-01";

#[tokio::test]
async fn a_pattern_lists_what_the_upstream_lists() {
    let list = json!({"data": [
        {"id": "gpt-5", "created": 1_754_425_777, "owned_by": "system", "name": "GPT 5"},
        {"id": "dall-e-3", "created": 1}, {"id": "gpt-5"}, {"no": "id"}, 7,
        {"id": "gpt-4o", "created": 0},
    ]});
    let server = listing(Protocol::Chat, list).await;
    let mut config = asking(vec![serving(&server, &["own", "gpt-*"])]);
    config.aliases = vec![alias("fast", "gpt-5"), alias("any-*", "own")];
    let gateway = start(config).await;
    let to = gateway.address();
    assert_eq!(ids(to).await, ["own", "fast", "gpt-5", "gpt-4o"]);
    assert_eq!(server.only().header("authorization"), Some(&*format!("Bearer {UPSTREAM_KEY}")));
    let list = client::get(to, "/v1/models", &[]).await.json();
    let made: Vec<u64> = (0..4).map(|n| list["data"][n]["created"].as_u64().unwrap()).collect();
    assert_eq!(made[1..3], [1_754_425_777; 2]);
    assert!(made[0] > 1_700_000_000 && made[0] == made[3], "nobody says when: {made:?}");
    assert_eq!(list["data"][2]["owned_by"], "chat");
    let one = client::get(to, "/v1/models/gpt-5", &[VERSION]).await.json();
    assert_eq!(one["display_name"], "GPT 5");
    assert_eq!(one["created_at"], "2025-08-05T20:29:37Z");
    assert_eq!(one["max_tokens"], 128_000, "what is published");
}

#[tokio::test]
async fn one_model_is_there_only_if_it_can_be() {
    let server = listing(Protocol::Chat, named(&["vendor/gpt-5", "gpt-5"])).await;
    let other = Server::new(Protocol::Messages, whole(404, "", "{}")).await;
    let mut config = asking(vec![
        serving(&server, &["vendor/*", "gpt-*", "own"]),
        serving(&other, &["claude-*"]),
    ]);
    config.aliases = vec![alias("fast", "gpt-5"), alias("to-*", "gpt-0"), alias("gone", "gpt-0")];
    let gateway = start(config).await;
    for (name, status) in [
        ("gpt-5", 200),
        ("vendor/gpt-5", 200),
        ("vendor%2Fgpt-5", 200),
        ("gpt%2D5", 200),
        ("own", 200),
        ("fast", 200),
        ("claude-any", 200),
        ("chat/gpt-5", 200),
        ("gpt-6", 404),
        ("chat/gpt-6", 404),
        ("to-day", 404),
        ("nobody", 404),
    ] {
        let got = client::get(gateway.address(), &format!("/v1/models/{name}"), &[]).await;
        assert_eq!(got.status, status, "{name}: {}", got.body);
    }
}

#[tokio::test]
async fn a_list_stays_while_its_upstream_is_down() {
    let server = Server::scripted(Protocol::Chat, |number, _| match number {
        0 => whole(200, "", named(&["one"]).to_string()),
        1 => whole(503, "", "{}"),
        2 => vec![Step::Close],
        _ => whole(200, "", named(&["two"]).to_string()),
    })
    .await;
    let mut config = asking(vec![at(&server)]);
    config.model_refresh = Some(ms(150));
    let gateway = start(config).await;
    assert_eq!(ids(gateway.address()).await, ["one"]);
    server.until_seen(3).await;
    assert_eq!(ids(gateway.address()).await, ["one"]);
    server.until_seen(5).await;
    assert_eq!(ids(gateway.address()).await, ["two"]);
}

/// A request for an answer never waits for a list, and a request for the list
/// only for a while.
#[tokio::test]
async fn an_upstream_that_never_lists_delays_no_answer() {
    let server = Server::scripted(Protocol::Chat, |_, request| match is_list(request) {
        true => vec![Step::Hang],
        false => whole(200, "", fixtures::answer(Protocol::Chat)),
    })
    .await;
    let gateway = start(asking(vec![serving(&server, &["*", "m"])])).await;
    let begun = Instant::now();
    let question = fixtures::question(Protocol::Chat, false);
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert_eq!(got.status, 200);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(ids(gateway.address()).await, ["m"]);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn an_upstream_is_not_asked_where_the_operator_says_so() {
    let server = listing(Protocol::Chat, named(&["one"])).await;
    let quiet = UpstreamConfig { list_models: false, ..at(&server) };
    let client_key = UpstreamConfig {
        name: "theirs".to_owned(),
        credential: toolwire_gateway::config::Credential::Client,
        ..at(&server)
    };
    let gateway = start(asking(vec![quiet, client_key])).await;
    assert!(ids(gateway.address()).await.is_empty());
    assert_eq!(server.seen_count(), 0);
}

#[tokio::test]
async fn pages_as_the_vendor_has_them() {
    let names: Vec<String> = (0..45).map(|n| format!("vendor/m-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let server = listing(Protocol::Chat, named(&names)).await;
    let gateway = start(asking(vec![at(&server)])).await;
    for (query, first, last, has_more) in [
        ("", "vendor/m-0", "vendor/m-19", true),
        ("?after_id=vendor/m-19", "vendor/m-20", "vendor/m-39", true),
        ("?after_id=vendor%2Fm-39&limit=20", "vendor/m-40", "vendor/m-44", false),
        ("?before_id=vendor/m-5&limit=3", "vendor/m-2", "vendor/m-4", true),
        ("?before_id=vendor/m-5", "vendor/m-0", "vendor/m-4", false),
        ("?limit=1000&beta=true", "vendor/m-0", "vendor/m-44", false),
    ] {
        let page = client::get(gateway.address(), &format!("/v1/models{query}"), &[VERSION]).await;
        let page = page.json();
        assert_eq!(
            (&page["first_id"], &page["last_id"], &page["has_more"]),
            (&json!(first), &json!(last), &json!(has_more)),
            "{query}"
        );
        assert_eq!(page["data"][0]["id"], first);
    }
    let empty = client::get(gateway.address(), "/v1/models?after_id=vendor/m-44", &[VERSION]).await;
    let expected = json!({"data": [], "has_more": false, "first_id": null, "last_id": null});
    assert_eq!(empty.json(), expected);
    for query in ["limit=0", "limit=1001", "limit=x", "after_id=gone", "after_id=a&before_id=b"] {
        let got = client::get(gateway.address(), &format!("/v1/models?{query}"), &[VERSION]).await;
        assert_eq!(
            (got.status, &got.json()["error"]["type"]),
            (400, &json!("invalid_request_error"))
        );
    }
    let all = client::get(gateway.address(), "/v1/models?limit=2", &[]).await.json();
    assert_eq!(all["data"].as_array().unwrap().len(), 45, "OpenAI's list has one page");
}

#[tokio::test]
async fn all_pages_of_an_upstream_are_read() {
    let page = |names: &[&str], more: bool| {
        let data: Vec<Value> =
            names.iter().map(|name| json!({"type": "model", "id": name})).collect();
        json!({"data": data, "has_more": more, "first_id": names[0], "last_id": names.last()})
    };
    let (first, second) = (page(&["claude-a", "claude-b c"], true), page(&["claude-d"], false));
    let server = Server::scripted(Protocol::Messages, move |number, _| {
        whole(200, "", if number == 0 { &first } else { &second }.to_string())
    })
    .await;
    let gateway = start(asking(vec![at(&server)])).await;
    assert_eq!(ids(gateway.address()).await, ["claude-a", "claude-d"], "no name has a space");
    let seen = server.seen();
    let paths: Vec<&str> = seen.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=claude-b%20c"]);
    assert_eq!(seen[1].header("x-api-key"), Some(UPSTREAM_KEY));
    assert_eq!(seen[1].header("anthropic-version"), Some("2023-06-01"));
}

/// A list of a hostile upstream is cut to what is reasonable.
#[tokio::test]
async fn a_hostile_list_is_bounded() {
    let long = "x".repeat(300);
    let leak = format!("see-{UPSTREAM_KEY}");
    let mut names = vec!["", "a b", "line\nbreak", "\u{1b}[2Jclear", long.as_str(), leak.as_str()];
    names.extend(["quote\"d", "<script>", "naïve"]);
    let server = listing(Protocol::Chat, named(&names)).await;
    let gateway = start(asking(vec![at(&server)])).await;
    assert_eq!(ids(gateway.address()).await, ["quote\"d", "<script>", "naïve"]);
    let title = json!({"data": [{"id": "m", "name": format!("A {UPSTREAM_KEY}")}]});
    let server = listing(Protocol::Chat, title).await;
    let gateway = start(asking(vec![at(&server)])).await;
    let one = client::get(gateway.address(), "/v1/models/m", &[VERSION]).await.json();
    assert_eq!(one["display_name"], "m");

    let many: Vec<String> = (0..12_000).map(|n| format!("m{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let server = listing(Protocol::Chat, named(&many)).await;
    let gateway = start(asking(vec![at(&server)])).await;
    assert_eq!(ids(gateway.address()).await.len(), 10_000);

    let endless = Step::Flood(b"[1,".repeat(10_000));
    let head =
        Step::Send(b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\n\r\n{\"data\":".to_vec());
    for steps in [
        vec![head, endless],
        whole(200, "", "<html>"),
        whole(200, "", "[".repeat(100_000)),
        whole(302, "location: http://127.0.0.1:1/\r\n", ""),
        whole(200, "content-encoding: what\r\n", "{}"),
    ] {
        let server = Server::new(Protocol::Chat, steps).await;
        let gateway = start(asking(vec![serving(&server, &["*", "m"])])).await;
        assert_eq!(ids(gateway.address()).await, ["m"]);
        server.until_seen(1).await;
    }
}

/// Pages that never end, or that come again, are read a few times.
#[tokio::test]
async fn pages_without_an_end_are_read_a_few_times() {
    for same in [true, false] {
        let server = Server::scripted(Protocol::Messages, move |number, _| {
            let id = if same { 0 } else { number };
            let page = json!({"data": [{"id": format!("m{id}")}], "has_more": true, "last_id": format!("m{id}")});
            whole(200, "", page.to_string())
        })
        .await;
        let gateway = start(asking(vec![at(&server)])).await;
        let count = ids(gateway.address()).await.len();
        assert_eq!((count, server.seen_count()), if same { (1, 2) } else { (20, 20) });
    }
}

/// What Anthropic's list says about a model decides how a request is translated.
#[tokio::test]
async fn what_the_upstream_says_decides_translation() {
    let supported = |yes: bool| json!({"supported": yes});
    let list = json!({"data": [{"type": "model", "id": "new-1", "display_name": "New", "max_tokens": 9_000,
        "max_input_tokens": 50_000, "created_at": "2026-01-02T03:04:05Z", "capabilities": {
            "effort": {"supported": true, "low": supported(true), "medium": supported(true),
                "high": supported(false), "max": supported(false)},
            "thinking": {"supported": true, "types": {"adaptive": supported(true),
                "enabled": supported(false), "disabled": supported(false), "between_tools": supported(true)}},
            "image_input": supported(true), "pdf_input": supported(false)}}],
        "has_more": false});
    let server = listing(Protocol::Messages, list).await;
    let gateway = start(asking(vec![at(&server)])).await;
    let one = client::get(gateway.address(), "/v1/models/new-1", &[VERSION]).await.json();
    assert_eq!((&one["max_tokens"], &one["max_input_tokens"]), (&json!(9_000), &json!(50_000)));
    assert_eq!(one["created_at"], "2026-01-02T03:04:05Z");
    for (model, thinking) in [("new-1", true), ("unlisted", false)] {
        let question = json!({"model": model, "reasoning_effort": "high",
            "messages": [{"role": "user", "content": "Hi"}]});
        client::post(gateway.address(), "/v1/chat/completions", &[], &question.to_string()).await;
        let sent = server.seen().last().unwrap().json();
        if thinking {
            assert_eq!(sent["thinking"]["type"], "adaptive", "{sent}");
            assert_eq!(sent["output_config"]["effort"], "medium", "the nearest: {sent}");
            assert_eq!(sent["max_tokens"], 9_000);
        } else {
            assert_eq!((&sent["thinking"], &sent["max_tokens"]), (&Value::Null, &json!(32_000)));
        }
    }
}

/// The operator counts for more than the upstream, and the upstream for more than
/// what is published, whatever protocol it speaks.
#[tokio::test]
async fn openrouters_parameters_decide_and_the_operator_decides_over_them() {
    let list = json!({"data": [{"id": "anthropic/claude-opus-4.5", "context_length": 1000,
        "top_provider": {"max_completion_tokens": 77}, "supported_parameters": ["tools", "temperature"],
        "architecture": {"input_modalities": ["text", "image"]}}]});
    let server = listing(Protocol::Chat, list).await;
    let mut told = at(&server);
    told.name = "told".to_owned();
    told.facts.top_p = Some(toolwire::facts::Fact {
        value: toolwire::facts::Accepts::Always,
        origin: toolwire::facts::Origin::Operator,
    });
    let gateway = start(asking(vec![at(&server), told])).await;
    ids(gateway.address()).await;
    for (upstream, expected) in
        [("chat", json!({"temperature": 0.5})), ("told", json!({"temperature": 0.5, "top_p": 0.9}))]
    {
        let question = json!({"model": format!("{upstream}/anthropic/claude-opus-4.5"), "max_tokens": 9,
            "temperature": 0.5, "top_p": 0.9, "output_config": {"effort": "low"},
            "messages": [{"role": "user", "content": "Hi"}]});
        let got = client::post(gateway.address(), "/v1/messages", &[], &question.to_string()).await;
        let sent = server.seen().last().unwrap().json();
        for name in ["temperature", "top_p", "reasoning_effort"] {
            assert_eq!(sent.get(name), expected.get(name), "{name} toward {upstream}: {sent}");
        }
        assert!(got.header("toolwire-loss").unwrap().contains("output_config"), "{got:?}");
    }
}

#[tokio::test]
async fn a_model_goes_to_the_upstream_that_lists_it() {
    let first = listing(Protocol::Chat, named(&["a", "both"])).await;
    let second = listing(Protocol::Chat, named(&["b", "both", "chat/c"])).await;
    let other = UpstreamConfig { name: "second".to_owned(), ..at(&second) };
    let gateway = start(asking(vec![at(&first), other])).await;
    assert_eq!(ids(gateway.address()).await, ["a", "both", "b", "chat/c"]);
    let counts = || (first.seen_count() - 1, second.seen_count() - 1);
    for (model, expected) in [("a", (4, 0)), ("b", (4, 4)), ("chat/c", (4, 8)), ("chat/a", (8, 8))]
    {
        for _ in 0..4 {
            let question =
                fixtures::question(Protocol::Chat, false).replace("\"m\"", &format!("\"{model}\""));
            let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
            assert_eq!(got.status, 200);
        }
        assert_eq!(counts(), expected, "{model}");
    }
}

/// A list survives a reload, unless the upstream is another one.
#[tokio::test]
async fn a_reload_keeps_the_list() {
    let server = listing(Protocol::Chat, named(&["one"])).await;
    let gateway = start(asking(vec![at(&server)])).await;
    assert_eq!(ids(gateway.address()).await, ["one"]);
    let mut next = asking(vec![serving(&server, &["*", "more"])]);
    next.listen = gateway.address();
    let result = gateway.handle().reload(next.clone());
    // The address was chosen by the system, so the configuration names it now.
    if result.is_err() {
        next.listen = "127.0.0.1:0".parse().unwrap();
        gateway.handle().reload(next).unwrap();
    }
    assert_eq!(ids(gateway.address()).await, ["more", "one"]);
    assert_eq!(server.seen_count(), 1);
}
