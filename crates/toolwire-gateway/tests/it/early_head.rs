//! If an upstream takes long to begin, the client of a stream gets the head of
//! its response and heartbeats, so that no proxy in between gives up.

use tokio::time::Instant;
use toolwire::Protocol;
use toolwire_gateway::Gateway;
use toolwire_gateway::config::{LogFormat, Timeouts, UpstreamConfig};

use crate::log::logging;
use crate::upstream::{Server, Step, chunk, stream, stream_head, whole};
use crate::{at, client, config, fixtures, ms, pairs, start};

/// A gateway that sends heads early.
async fn impatient(upstreams: Vec<UpstreamConfig>) -> Gateway {
    let mut config = config(upstreams);
    config.limits.early_head = ms(50);
    config.limits.heartbeat = ms(50);
    start(config).await
}

fn slowly(steps: Vec<Step>) -> Vec<Step> {
    [vec![Step::Wait(ms(300))], steps].concat()
}

#[tokio::test]
async fn comes_before_the_upstreams() {
    for (to, from) in pairs() {
        let server = Server::new(from, slowly(stream(&fixtures::events(from)))).await;
        let gateway = impatient(vec![at(&server)]).await;
        let question = fixtures::question(to, true);
        let mut open = client::open(gateway.address(), fixtures::path(to), &[], &question).await;
        let start = client::until(&mut open, ": ping\n").await;
        assert!(!start.contains("Let me look."), "{start}");
        assert!(start.starts_with("HTTP/1.1 200 OK"), "{start}");
        assert!(start.contains("text/event-stream"), "{start}");
        let rest = client::until(&mut open, fixtures::end_mark(to)).await;
        assert!(rest.matches(": ping\n").count() >= 2, "{rest}");
        assert!(rest.contains("Let me look."), "{rest}");
    }
}

#[tokio::test]
async fn is_only_for_streams() {
    let answer = whole(200, "", fixtures::answer(Protocol::Chat));
    let server = Server::new(Protocol::Chat, slowly(answer)).await;
    let gateway = impatient(vec![at(&server)]).await;
    let question = fixtures::question(Protocol::Chat, false);
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert_eq!((got.status, got.json()["object"].as_str()), (200, Some("chat.completion")));
}

/// What an upstream can do wrong after the head is an error event, and the body
/// then ends as it should.
#[tokio::test]
async fn makes_errors_events() {
    let checks: Vec<_> = pairs().map(|(to, from)| tokio::spawn(check_errors(to, from))).collect();
    for check in checks {
        check.await.unwrap();
    }
}

async fn check_errors(to: Protocol, from: Protocol) {
    let error = fixtures::error(from, "server_error", "It is broken.");
    for steps in [
        slowly(whole(500, "", &error)),
        slowly(whole(400, "", &error)),
        slowly(vec![Step::Close]),
        slowly(whole(200, "", "not json")),
        vec![Step::Hang],
    ] {
        let server = Server::new(from, steps).await;
        let mut upstream = at(&server);
        upstream.timeouts = Timeouts { headers: ms(400), ..Timeouts::default() };
        let gateway = impatient(vec![upstream]).await;
        let question = fixtures::question(to, true);
        let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
        assert_eq!(got.status, 200, "{to} {from} {got:?}");
        assert!(got.whole, "{to} {from} {got:?}");
        assert_eq!(got.body.matches(fixtures::error_mark(to)).count(), 1, "{to} {from} {got:?}");
        assert!(got.body.ends_with("\n\n"), "{to} {from} {got:?}");
        assert!(!got.body.contains(fixtures::end_mark(to)), "{to} {from} {got:?}");
    }
}

/// Heartbeats are no part of an answer, so another upstream may still give one.
#[tokio::test]
async fn leaves_the_next_upstream_its_turn() {
    for to in Protocol::ALL {
        let error = fixtures::error(Protocol::Chat, "server_error", "No.");
        let first = Server::new(Protocol::Chat, slowly(whole(503, "", error))).await;
        let second = stream(&fixtures::events(Protocol::Messages));
        let second = Server::new(Protocol::Messages, second).await;
        let mut config = config(vec![at(&first), UpstreamConfig { weight: 0, ..at(&second) }]);
        config.limits.early_head = ms(50);
        config.prefer_same_protocol = false;
        let gateway = start(config).await;
        let question = fixtures::question(to, true);
        let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
        assert_eq!((first.seen().len(), second.seen().len()), (1, 1));
        assert!(got.body.contains(": ping\n"), "{got:?}");
        assert!(got.body.contains(fixtures::end_mark(to)), "{got:?}");
        assert!(!got.body.contains(fixtures::error_mark(to)), "{got:?}");
    }
}

#[tokio::test]
async fn brings_what_it_could_not_say_later() {
    let from = Protocol::Messages;
    let server = Server::new(from, slowly(stream(&fixtures::events(from)))).await;
    let mut config = config(vec![at(&server)]);
    config.limits.early_head = ms(50);
    config.aliases = vec![crate::alias("other", "m")];
    let gateway = start(config).await;
    let question = fixtures::question(Protocol::Chat, true)
        .replace("\"model\":\"m\"", "\"model\":\"other\",\"logit_bias\":{\"1\":2}");
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert_eq!((got.header("toolwire-loss"), got.header("toolwire-model")), (None, None));
    let loss = got.body.lines().find(|line| line.starts_with(": toolwire-loss "));
    assert!(loss.unwrap().contains("\"/logit_bias\";code=sampling;"), "{got:?}");
    assert!(got.body.contains(": toolwire-model m-1\n"), "{got:?}");
    assert!(got.body.contains("[DONE]"), "{got:?}");
}

#[tokio::test]
async fn does_not_disarm_the_timeout_of_the_first_event() {
    let mut steps = vec![stream_head("")];
    for _ in 0..100 {
        steps.extend([chunk(": still here\n"), Step::Wait(ms(20))]);
    }
    let server = Server::new(Protocol::Chat, steps).await;
    let mut upstream = at(&server);
    upstream.timeouts.first_event = ms(300);
    let gateway = impatient(vec![upstream]).await;
    let question = fixtures::question(Protocol::Chat, true);
    let began = Instant::now();
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert!(got.body.contains("took too long to send the first event"), "{got:?}");
    let took = began.elapsed();
    assert!(took >= ms(280) && took < ms(900), "{took:?}");
    server.left(1).await;
}

#[tokio::test]
async fn cancels_when_the_client_leaves() {
    for to in Protocol::ALL {
        let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
        let gateway = impatient(vec![at(&server)]).await;
        let question = fixtures::question(to, true);
        let mut open = client::open(gateway.address(), fixtures::path(to), &[], &question).await;
        client::until(&mut open, ": ping\n").await;
        let left = Instant::now();
        drop(open);
        let noticed = server.left(1).await.saturating_duration_since(left);
        assert!(noticed < ms(2000), "{noticed:?}");
    }
}

#[tokio::test]
async fn ends_with_an_error_when_the_gateway_stops() {
    for to in Protocol::ALL {
        let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
        let gateway = impatient(vec![at(&server)]).await;
        let question = fixtures::question(to, true);
        let mut open = client::open(gateway.address(), fixtures::path(to), &[], &question).await;
        client::until(&mut open, ": ping\n").await;
        gateway.handle().stop();
        let rest = client::until(&mut open, fixtures::error_mark(to)).await;
        assert!(rest.contains("shutting down"), "{rest}");
        server.left(1).await;
    }
}

/// The status says nothing any more, so only the log knows why there was no answer.
#[tokio::test]
async fn the_log_says_why_it_failed() {
    let error = fixtures::error(Protocol::Chat, "server_error", "No.");
    let server = Server::new(Protocol::Chat, slowly(whole(503, "", error))).await;
    let mut config = config(vec![at(&server)]);
    config.limits.early_head = ms(50);
    let (gateway, lines) = logging(config, LogFormat::Json).await;
    let got = client::ask_for_stream(&gateway, Protocol::Chat).await;
    assert_eq!(got.status, 200, "{got:?}");
    let line: serde_json::Value = serde_json::from_str(&lines.wait(1).await[0]).unwrap();
    assert_eq!((&line["ending"], &line["reason"]), (&"broken".into(), &"status_503".into()));
}
