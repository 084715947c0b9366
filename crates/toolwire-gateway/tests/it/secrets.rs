//! Keys that an upstream quotes back do not reach the client.

use toolwire::Protocol;
use toolwire_gateway::config::{Credential, Secret};

use crate::upstream::{Server, Step, chunk, stream_end, stream_head, whole};
use crate::{at, client, config, fixtures, pairs, start};

/// The operator's key. It has a character that JSON may escape.
const KEY: &str = "sk-operator/5up3r-s3cr3t";

/// The ways in which a server may write the key into JSON.
const SPELLINGS: [&str; 4] = [
    "sk-operator/5up3r-s3cr3t",
    r"sk-operator\/5up3r-s3cr3t",
    r"\u0073k-operator/5up3r\u002ds3cr3t",
    r#"{\"key\":\"sk-operator\\\/5up3r-s3cr3t\"}"#,
];

/// What a client could make of the bytes that it gets.
fn leaks(text: &str) -> bool {
    let plain = text.replace(r"\\\/", "/").replace(r"\/", "/");
    let plain = plain.replace(r"\u0073", "s").replace(r"\u002d", "-");
    plain.contains(KEY)
}

async fn gateway(server: &Server) -> toolwire_gateway::Gateway {
    let mut upstream = at(server);
    upstream.credential = Credential::Key(Secret::new(KEY.to_owned()));
    start(config(vec![upstream])).await
}

/// Proves that a key in the body of an error is masked, for every pair and every
/// way to write it, whether or not a stream was asked for.
#[tokio::test]
async fn in_an_error() {
    for (to, from) in pairs() {
        for spelling in SPELLINGS {
            for streams in [false, true] {
                for status in [400, 401, 500, 200] {
                    let message = format!("Incorrect API key provided: {spelling}.");
                    let body = fixtures::error(from, "authentication_error", &message);
                    let server = Server::new(from, whole(status, "", body)).await;
                    let gateway = gateway(&server).await;
                    let question = fixtures::question(to, streams);
                    let got = client::post(gateway.address(), fixtures::path(to), &[], &question);
                    let got = got.await;
                    assert!(got.status >= 400, "{to} {from} {got:?}");
                    assert!(!leaks(&got.body) && !leaks(&got.head), "{to} {from} {got:?}");
                    assert!(got.body.contains("[secret]"), "{to} {from} {status} {got:?}");
                    got.json();
                }
            }
        }
    }
}

/// Proves that a key is masked in the members that only this vendor's errors have.
#[tokio::test]
async fn in_a_member_of_the_vendors_own() {
    for (to, from) in pairs() {
        let body = fixtures::error(from, "authentication_error", "Incorrect API key provided.");
        for member in [
            format!("\"metadata\":{{\"raw\":\"{{\\\"key\\\":\\\"{KEY}\\\"}}\"}}"),
            format!("\"{KEY}\":1"),
            format!("\"keys\":[\"{KEY}\",1.50]"),
        ] {
            let body = body.replacen("\"message\"", &format!("{member},\"message\""), 1);
            let server = Server::new(from, whole(401, "", body)).await;
            let gateway = gateway(&server).await;
            let question = fixtures::question(to, false);
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert_eq!(got.status, 401, "{to} {from} {got:?}");
            assert!(!leaks(&got.body) && !leaks(&got.head), "{to} {from} {got:?}");
            got.json();
        }
    }
}

/// An error event of a stream.
fn error_event(protocol: Protocol, message: &str) -> String {
    match protocol {
        Protocol::Chat => format!(
            "data: {{\"error\":{{\"message\":\"{message}\",\"type\":\"server_error\"}}}}\n\n"
        ),
        Protocol::Responses => format!(
            "event: response.failed\ndata: {{\"type\":\"response.failed\",\"sequence_number\":9,\"response\":{{\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":1,\"status\":\"failed\",\"model\":\"m-1\",\"output\":[],\"error\":{{\"code\":\"server_error\",\"message\":\"{message}\"}}}}}}\n\n"
        ),
        Protocol::Messages => format!(
            "event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"api_error\",\"message\":\"{message}\"}}}}\n\n"
        ),
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

/// Proves that a key in an error event is masked, also if the event arrives in
/// two chunks and the key is cut in the middle, at the beginning of a stream and
/// after content.
#[tokio::test]
async fn in_an_error_event_that_is_cut_in_two() {
    for (to, from) in pairs() {
        for spelling in SPELLINGS {
            for events in [0, fixtures::events(from).len() - 3] {
                let event = error_event(from, &format!("Bad key {spelling}."));
                let middle = event.find(spelling).unwrap() + spelling.len() / 2;
                let mut steps = vec![stream_head("")];
                steps.extend(fixtures::events(from).iter().take(events).map(chunk));
                steps.push(chunk(&event[..middle]));
                steps.push(Step::Wait(crate::ms(2)));
                steps.push(chunk(&event[middle..]));
                steps.push(stream_end());
                let server = Server::new(from, steps).await;
                let gateway = gateway(&server).await;
                let question = fixtures::question(to, true);
                let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
                assert_eq!(got.status == 200, events > 0, "{to} {from} {got:?}");
                assert!(!leaks(&got.body) && !leaks(&got.head), "{to} {from} {got:?}");
                assert!(got.body.contains("[secret]"), "{to} {from} {got:?}");
                assert!(!got.body.contains(fixtures::end_mark(to)), "{to} {from} {got:?}");
            }
        }
    }
}

/// Proves that headers of an upstream pass by a list, with values as their names
/// say, and never with a key, on success and on failure.
#[tokio::test]
async fn in_a_header() {
    let headers = format!(
        "x-request-id: {KEY}\r\nrequest-id: {KEY}\r\nopenai-version: {KEY}\r\n\
         x-ratelimit-limit-requests: {KEY}\r\nx-codex-note: Bearer {KEY}\r\n\
         anthropic-ratelimit-requests-limit: {KEY}\r\nanthropic-organization-id: {KEY}\r\n\
         retry-after: {KEY}\r\nset-cookie: session={KEY}\r\nserver: {KEY}\r\nvia: {KEY}\r\n\
         authorization: Bearer {KEY}\r\nx-api-key: {KEY}\r\nlocation: https://evil/{KEY}\r\n\
         access-control-allow-origin: *\r\nopenai-debug: internal\r\nx-anything: else\r\n\
         openai-processing-ms: 5\r\nx-ratelimit-remaining-requests: 9\r\n"
    );
    for (to, from) in pairs() {
        for status in [200, 429] {
            let body = match status {
                200 => fixtures::answer(from),
                _error => fixtures::error(from, "rate_limit_error", "slow down"),
            };
            let server = Server::new(from, whole(status, &headers, body)).await;
            let gateway = gateway(&server).await;
            let question = fixtures::question(to, false);
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert_eq!(got.status, status, "{got:?}");
            assert!(!leaks(&got.head), "{to} {from} {got:?}");
            let mut names: Vec<&str> =
                got.head.lines().skip(1).filter_map(|line| Some(line.split_once(':')?.0)).collect();
            names.sort_unstable();
            let family = (from == Protocol::Messages) == (to == Protocol::Messages);
            let passed: &[&str] = match (family, to) {
                (true, Protocol::Messages) => &[],
                (true, _) => &["openai-processing-ms", "x-ratelimit-remaining-requests"],
                (false, Protocol::Messages) => &["anthropic-ratelimit-requests-remaining"],
                (false, _) => &[],
            };
            for name in passed {
                assert!(names.contains(name), "{name} {got:?}");
            }
            let own = [
                "connection", "content-length", "content-type", "date", "request-id",
                "retry-after", "toolwire-loss", "x-request-id",
            ];
            names.retain(|name| !own.contains(name) && !passed.contains(name));
            assert!(names.is_empty(), "{to} {from} {names:?}");
        }
    }
}

/// Proves that the credential of a client is masked too where the gateway passes
/// it on, and that what the model says is left alone.
#[tokio::test]
async fn of_the_client_and_not_in_an_answer() {
    let server = Server::scripted(Protocol::Chat, |number, _| match number {
        0 => whole(401, "", fixtures::error(Protocol::Chat, "x", "No such key: their-own-key.")),
        _later => whole(
            200,
            "",
            fixtures::answer(Protocol::Chat).replace("Let me look.", "their-own-key"),
        ),
    })
    .await;
    let mut upstream = at(&server);
    upstream.credential = Credential::Client;
    let gateway = start(config(vec![upstream])).await;
    let key = ["authorization: Bearer their-own-key"];
    let question = fixtures::question(Protocol::Chat, false);
    let got = client::post(gateway.address(), "/v1/chat/completions", &key, &question).await;
    assert_eq!((got.status, got.body.contains("their-own-key")), (401, false), "{got:?}");
    let got = client::post(gateway.address(), "/v1/chat/completions", &key, &question).await;
    assert_eq!((got.status, got.body.contains("their-own-key")), (200, true), "{got:?}");
}

/// Proves that a long error is not passed on as it is.
#[tokio::test]
async fn an_error_page_of_a_megabyte_is_not_passed_on() {
    for (to, from) in pairs() {
        let body = fixtures::error(from, "server_error", &"x".repeat(1_000_000));
        let server = Server::new(from, whole(500, "", body)).await;
        let gateway = gateway(&server).await;
        let question = fixtures::question(to, false);
        let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
        assert!(got.status >= 500 && got.body.len() < 1000, "{} {}", got.status, got.body.len());
    }
}
