//! Headers in both directions.

use toolwire::Protocol;
use toolwire_gateway::config::{Credential, Secret};

use crate::upstream::{Server, whole};
use crate::{at, client, config, fixtures, pairs, start};

#[tokio::test]
async fn toward_upstreams_are_built() {
    for (to, from) in pairs() {
        let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
        let mut upstream = at(&server);
        upstream.headers = vec![("x-configured".to_owned(), Secret::new("yes".to_owned()))];
        let mut config = config(vec![upstream]);
        config.keys = vec![Secret::new("gateway-key".to_owned())];
        let gateway = start(config).await;
        let sent = [
            "authorization: Bearer gateway-key",
            "x-api-key: something-else",
            "cookie: session=1",
            "x-forwarded-host: evil.example",
            "x-stainless-lang: python",
            "user-agent: sdk/1",
            "anthropic-version: 2026-10-21",
            "anthropic-beta: one-2026-01-01",
            "anthropic-beta: two-2026-01-01",
            "openai-organization: org",
            "idempotency-key: same",
            "traceparent: 00-1-2-01",
            "accept-encoding: br",
        ];
        let got = client::post(
            gateway.address(),
            fixtures::path(to),
            &sent,
            &fixtures::question(to, false),
        )
        .await;
        assert_eq!(got.status, 200, "{got:?}");
        let seen = server.only();
        let messages = from == Protocol::Messages;
        let both = to == from && messages;
        for gone in
            ["cookie", "x-forwarded-host", "x-stainless-lang", "openai-organization", "connection"]
        {
            assert_eq!(seen.header(gone), None, "{to} {from}");
        }
        assert!(!seen.head.contains("gateway-key") && !seen.head.contains("something-else"));
        let bearer = (!messages).then_some("Bearer upstream-key");
        assert_eq!(seen.header("authorization"), bearer);
        assert_eq!(seen.header("x-api-key"), messages.then_some("upstream-key"));
        let version = if both { "2026-10-21" } else { "2023-06-01" };
        assert_eq!(seen.header("anthropic-version"), messages.then_some(version));
        assert_eq!(seen.header("anthropic-beta"), messages.then_some("one-2026-01-01"));
        assert_eq!(seen.head.contains("two-2026-01-01"), messages);
        let lost = got.header("toolwire-loss").unwrap_or_default();
        for beta in ["one-2026-01-01", "two-2026-01-01"] {
            let line =
                format!("\"anthropic-beta: {beta}\";code=only:anthropic-beta;action=dropped");
            assert_eq!(lost.contains(&line), !messages, "{lost}");
        }
        let line =
            "\"openai-organization\";code=only:openai-organization;action=dropped;level=info";
        assert!(lost.contains(line), "{lost}");
        assert!(seen.header("user-agent").unwrap().starts_with("toolwire/"));
        assert_eq!(seen.header("accept-encoding"), Some("identity"));
        assert_eq!(seen.header("x-configured"), Some("yes"));
        assert_eq!(seen.header("traceparent"), Some("00-1-2-01"));
        let family = (to == Protocol::Messages) == messages;
        assert_eq!(seen.header("idempotency-key"), family.then_some("same"));
        let own = if to == Protocol::Messages { "request-id" } else { "x-request-id" };
        assert_eq!(seen.header("x-request-id"), got.header(own));
    }
}

#[tokio::test]
async fn betas_are_refused_where_losses_are() {
    for (to, from) in pairs() {
        for (beta, only_switches) in
            [("context-1m-2025-08-07", false), ("interleaved-thinking-2025-05-14", true)]
        {
            let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
            let gateway = start(config(vec![at(&server)])).await;
            let question = fixtures::question(to, false);
            let beta = format!("anthropic-beta: {beta}");
            let sent = [beta.as_str(), "toolwire-on-loss: refuse"];
            let got = client::post(gateway.address(), fixtures::path(to), &sent, &question).await;
            if from == Protocol::Messages || only_switches {
                // The body may still be refused.
                assert!(!got.body.contains(&beta), "{to} {from} {got:?}");
            } else {
                assert_eq!(got.status, 400, "{to} {from} {got:?}");
                assert!(got.body.contains("anthropic-beta"), "{to} {from} {got:?}");
                assert!(server.seen().is_empty());
            }
            let sent = [beta.as_str(), "toolwire-on-loss: ignore"];
            let got = client::post(gateway.address(), fixtures::path(to), &sent, &question).await;
            assert_eq!((got.status, got.header("toolwire-loss")), (200, None), "{got:?}");
        }
    }
}

#[tokio::test]
async fn betas_of_client_and_operator_and_translation_are_one_list() {
    let from = Protocol::Messages;
    let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
    let mut upstream = at(&server);
    upstream.profile.mid_system = true;
    let ours = "context-1m-2025-08-07, theirs-2026-01-01";
    upstream.headers = vec![("anthropic-beta".to_owned(), Secret::new(ours.to_owned()))];
    let gateway = start(config(vec![upstream])).await;
    let question = r#"{"model":"m","messages":[{"role":"user","content":"Hi."},{"role":"system","content":"Be brief."}]}"#;
    let sent = ["anthropic-beta: theirs-2026-01-01"];
    let got = client::post(gateway.address(), "/v1/chat/completions", &sent, question).await;
    assert_eq!(got.status, 200, "{got:?}");
    let list = "theirs-2026-01-01,mid-conversation-system-2026-04-07,context-1m-2025-08-07";
    assert_eq!(server.only().header("anthropic-beta"), Some(list), "{:?}", server.only());
}

#[tokio::test]
async fn the_clients_own_credential() {
    type Case = (Protocol, &'static [&'static str], Option<(&'static str, &'static str)>);
    let cases: &[Case] = &[
        (Protocol::Chat, &["authorization: Bearer mine"], Some(("authorization", "Bearer mine"))),
        (Protocol::Chat, &["x-api-key: mine"], Some(("authorization", "Bearer mine"))),
        (Protocol::Messages, &["x-api-key: mine"], Some(("x-api-key", "mine"))),
        (
            Protocol::Messages,
            &["authorization: Bearer mine"],
            Some(("authorization", "Bearer mine")),
        ),
        (
            Protocol::Messages,
            &["authorization: Bearer sk-ant-api03-x"],
            Some(("x-api-key", "sk-ant-api03-x")),
        ),
        (
            Protocol::Messages,
            &["authorization: Bearer sk-ant-oat01-x"],
            Some(("authorization", "Bearer sk-ant-oat01-x")),
        ),
        (Protocol::Chat, &[], None),
    ];
    for (from, headers, want) in cases {
        let server = Server::new(*from, whole(200, "", fixtures::answer(*from))).await;
        let mut upstream = at(&server);
        upstream.credential = Credential::Client;
        let gateway = start(config(vec![upstream])).await;
        let question = fixtures::question(Protocol::Responses, false);
        let got = client::post(gateway.address(), "/v1/responses", headers, &question).await;
        match want {
            Some((name, value)) => {
                assert_eq!(got.status, 200);
                assert_eq!(server.only().header(name), Some(*value));
            }
            None => {
                assert_eq!(got.status, 401);
                assert!(server.seen().is_empty());
            }
        }
    }
}

#[tokio::test]
async fn a_gateways_key_is_never_passed_on() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let mut upstream = at(&server);
    upstream.credential = Credential::Client;
    let mut config = config(vec![upstream]);
    config.keys = vec![Secret::new("gateway-key".to_owned())];
    let gateway = start(config).await;
    let question = fixtures::question(Protocol::Chat, false);
    let ask = |headers: &'static [&'static str]| {
        client::post(gateway.address(), "/v1/chat/completions", headers, &question)
    };
    assert_eq!(ask(&["authorization: Bearer gateway-key"]).await.status, 401);
    assert!(server.seen().is_empty());
    assert_eq!(ask(&["authorization: Bearer mine", "x-api-key: gateway-key"]).await.status, 200);
    assert_eq!(server.only().header("authorization"), Some("Bearer mine"));
}

#[tokio::test]
async fn toward_clients_are_picked() {
    let openai = "x-request-id: up-1\r\nx-ratelimit-limit-requests: 10\r\nx-ratelimit-remaining-requests: 9\r\nx-ratelimit-reset-requests: 6m0s\r\nopenai-processing-ms: 5\r\nset-cookie: a=b\r\nserver: secret\r\n";
    let anthropic = "request-id: up-1\r\nanthropic-ratelimit-requests-limit: 10\r\nanthropic-ratelimit-requests-remaining: 9\r\nanthropic-ratelimit-requests-reset: 2999-01-01T00:00:00Z\r\nanthropic-organization-id: org\r\nset-cookie: a=b\r\nserver: secret\r\n";
    for (to, from) in pairs() {
        let messages = from == Protocol::Messages;
        let headers = if messages { anthropic } else { openai };
        let server = Server::new(from, whole(200, headers, fixtures::answer(from))).await;
        let gateway = start(config(vec![at(&server)])).await;
        let got = client::ask(&gateway, to).await;
        assert_eq!(got.header("toolwire-upstream-request-id"), Some("up-1"));
        assert_eq!((got.header("set-cookie"), got.header("server")), (None, None));
        let family = (to == Protocol::Messages) == messages;
        assert_eq!(got.header("openai-processing-ms").is_some(), family && !messages);
        assert_eq!(got.header("anthropic-organization-id").is_some(), family && messages);
        let (remaining, reset) = if to == Protocol::Messages {
            ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset")
        } else {
            ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests")
        };
        assert_eq!(got.header(remaining), Some("9"), "{to} {from} {got:?}");
        let reset = got.header(reset).unwrap();
        assert_eq!(reset.ends_with('Z'), to == Protocol::Messages, "{reset}");
    }
}

#[tokio::test]
async fn pauses_are_passed_on() {
    for (to, from) in pairs() {
        let error = fixtures::error(
            from,
            if from == Protocol::Messages { "rate_limit_error" } else { "requests" },
            "Slow down.",
        );
        let server =
            Server::new(from, whole(429, "retry-after: 7\r\nx-should-retry: true\r\n", error))
                .await;
        let gateway = start(config(vec![at(&server)])).await;
        let got = client::ask_for_stream(&gateway, to).await;
        assert_eq!(got.status, 429);
        assert_eq!(got.header("retry-after"), Some("7"), "{got:?}");
        assert_eq!(got.header("x-should-retry"), Some("true"));
        if to == Protocol::Responses && to != from {
            assert!(got.body.contains("try again in 7s"), "{got:?}");
        }
    }
}

#[tokio::test]
async fn pauses_are_derived_from_resets() {
    let headers = "x-ratelimit-remaining-tokens: 0\r\nx-ratelimit-reset-tokens: 1m2s\r\n";
    let error = fixtures::error(Protocol::Chat, "tokens", "Slow down.");
    let server = Server::new(Protocol::Chat, whole(429, headers, error)).await;
    let gateway = start(config(vec![at(&server)])).await;
    let question = fixtures::question(Protocol::Messages, false);
    let got = client::post(gateway.address(), "/v1/messages", &[], &question).await;
    assert_eq!(got.header("retry-after"), Some("62"), "{got:?}");
}
