//! What the operator hears about a store that does not work.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_gateway::config::{LogFormat, StoreConfig};
use toolwire_store::Options;

use super::{TempStore, gateway, respond};
use crate::log::{Lines, logging};
use crate::upstream::{ReceivedRequest, Server, stream, whole};
use crate::{at, client, config, fixtures, ms};

/// Waits until some line of the log is what is looked for.
async fn wait_for(lines: &Lines, what: impl Fn(&str) -> bool) -> String {
    let began = Instant::now();
    loop {
        let text = lines.text();
        if let Some(line) = text.lines().find(|line| what(line)) {
            return line.to_owned();
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{text}");
        tokio::time::sleep(ms(20)).await;
    }
}

async fn is_available(to: std::net::SocketAddr) -> bool {
    let metrics = client::get(to, "/metrics", &[]).await.body;
    metrics.lines().any(|line| line == "toolwire_store_available 1")
}

/// A database that is not there is in the log before anybody has asked for anything, and the
/// requests that needed it say so too.
#[tokio::test]
async fn a_database_that_is_not_there() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = listener.local_addr().unwrap();
    drop(listener);
    for format in [LogFormat::Text, LogFormat::Json] {
        let mut config = config(vec![at(&server)]);
        let options = Options::postgres(format!("postgres://me:hunter2@{closed}/none"));
        config.store = StoreConfig::On(options);
        let (gateway, lines) = logging(config, format).await;
        let line = wait_for(&lines, |line| line.contains("not available")).await;
        assert!(line.contains("Connection refused"), "{line}");
        assert!(!line.contains("hunter2"), "{line}");
        let to = gateway.address();
        let got = respond(to, &json!({"model": "m", "input": "Hi"})).await;
        assert_eq!(got.status, 503, "{got:?}");
        let got = respond(to, &json!({"model": "m", "input": "Hi", "store": false})).await;
        assert_eq!(got.status, 200, "{got:?}");
        for (member, id) in [("conversation", "conv_1"), ("previous_response_id", "resp_1")] {
            let got = respond(to, &json!({"model": "m", "input": "Hi", member: id})).await;
            assert_eq!(got.status, 503, "{got:?}");
            assert!(got.body.contains("so the conversation cannot go on"), "{got:?}");
        }
        assert!(!is_available(to).await);
        if format == LogFormat::Text {
            wait_for(&lines, |line| line.ends_with(" reason=store_unavailable")).await;
        } else {
            let event: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(event["event"], "store_unavailable");
            assert!(event["time"].as_u64().unwrap() > 1_700_000_000);
            wait_for(&lines, |line| line.contains("\"reason\":\"store_unavailable\"")).await;
        }
        let said = lines.text().matches("Connection refused").count();
        assert_eq!(said, 1, "{}", lines.text());
    }
}

/// A store that stops working while a model answers, which the line of that request says
/// whether it was a stream or not. And it is said when the store works again.
#[tokio::test]
async fn a_store_that_breaks_and_mends() {
    let folder = TempStore::new("outages");
    let path = folder.0.join("store.db");
    let protocol = Protocol::Chat;
    let broken = path.clone();
    // A newer program takes the file while the model answers.
    let server = Server::scripted(protocol, move |_, seen: &ReceivedRequest| {
        set_version(&broken, 99);
        match seen.json()["stream"] == true {
            true => stream(&fixtures::events(protocol)),
            false => whole(200, "", fixtures::answer(protocol)),
        }
    })
    .await;
    for streamed in [false, true] {
        let mut config = config(vec![at(&server)]);
        config.store = StoreConfig::On(folder.options_that_wait());
        let (gateway, lines) = logging(config, LogFormat::Text).await;
        let to = gateway.address();
        assert!(is_available(to).await);
        let got = respond(to, &json!({"model": "m", "input": "Hi", "stream": streamed})).await;
        assert_eq!(got.status, if streamed { 200 } else { 503 }, "{got:?}");
        assert!(!got.body.contains("response.completed"), "{got:?}");
        assert_eq!(got.body.contains("response.output_text.done"), streamed, "{got:?}");
        let line = wait_for(&lines, |line| line.ends_with(" reason=store_unavailable")).await;
        assert!(!line.contains(" failed="), "the upstream did its part: {line}");
        let line = wait_for(&lines, |line| line.contains("not available")).await;
        assert!(line.contains("the store has version 99"), "{line}");
        set_version(&path, 6);
        wait_for(&lines, |line| line.ends_with(" the store works again")).await;
        assert!(is_available(to).await);
    }
}

/// What was acknowledged before anybody could know that the store has broken is there when it
/// works again.
#[tokio::test]
async fn what_a_store_has_taken_before_it_broke() {
    let folder = TempStore::new("outage-behind");
    let path = folder.0.join("store.db");
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let mut config = config(vec![at(&server)]);
    config.store = StoreConfig::On(folder.options());
    let (gateway, lines) = logging(config, LogFormat::Text).await;
    let to = gateway.address();
    let mut taken = Vec::new();
    // On a slow machine the response before may have taken so long that the next ones wait for
    // the tables, and then none is taken.
    for _ in 0..5 {
        let began = Instant::now();
        // Its room is known after this.
        while respond(to, &json!({"model": "m", "input": "Hi"})).await.status != 200 {
            assert!(began.elapsed() < Duration::from_secs(20), "it does not work again");
            tokio::time::sleep(ms(100)).await;
        }
        set_version(&path, 99);
        loop {
            let got = respond(to, &json!({"model": "m", "input": "Hi"})).await;
            if got.status == 503 {
                break;
            }
            assert_eq!(got.status, 200, "{got:?}");
            taken.push(got.json()["id"].as_str().unwrap().to_owned());
            assert!(began.elapsed() < Duration::from_secs(40), "it never notices");
        }
        wait_for(&lines, |line| line.contains("the store has version 99")).await;
        set_version(&path, 6);
        wait_for(&lines, |line| line.ends_with(" the store works again")).await;
        if !taken.is_empty() {
            break;
        }
        tokio::time::sleep(ms(1100)).await;
    }
    assert!(!taken.is_empty());
    for id in taken {
        let got = client::get(to, &format!("/v1/responses/{id}"), &[]).await;
        assert_eq!((got.status, &got.json()["id"]), (200, &json!(id)));
    }
}

/// A conversation grows with answers that are not stored themselves, so one that finds no room
/// is not asked for: somebody would have to pay for it.
#[tokio::test]
async fn a_full_store_asks_no_model_in_a_conversation() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let file = TempStore::new("conversations-full");
    let wide = gateway(&server, file.options()).await;
    let body = json!({"items": [{"role": "user", "content": "x".repeat(100)}]}).to_string();
    let made = client::post(wide.address(), "/v1/conversations", &[], &body).await.json();
    let mut options = file.options();
    options.limits.tenant = 16;
    let full = gateway(&server, options).await;
    for store in [Value::Null, json!(true), json!(false)] {
        for more in [json!({}), json!({"stream": true}), json!({"background": true})] {
            let mut body = json!({"model": "m", "input": "Hi", "store": store,
                "conversation": made["id"]});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let got = respond(full.address(), &body).await;
            if body["background"] == true && store == false {
                assert_eq!(got.status, 400, "{got:?}");
                continue;
            }
            assert_eq!(got.status, 503, "{body}: {got:?}");
            let message = "store is full, so the conversation cannot go on. Try again later, or \
                           send the whole conversation";
            assert!(got.body.contains(message), "{got:?}");
            assert!(got.header("retry-after").is_some(), "{got:?}");
        }
    }
    assert_eq!(server.seen_count(), 0);
    let alone = json!({"model": "m", "input": "Hi", "store": false});
    assert_eq!(respond(full.address(), &alone).await.status, 200);
}

/// What an answer is told that could not be added to its conversation helps it.
#[tokio::test]
async fn a_store_that_breaks_during_an_answer_in_a_conversation() {
    let folder = TempStore::new("conversation-outages");
    let path = folder.0.join("store.db");
    let (broken, protocol) = (path.clone(), Protocol::Chat);
    let server = Server::scripted(protocol, move |_, seen: &ReceivedRequest| {
        set_version(&broken, 99);
        match seen.json()["stream"] == true {
            true => stream(&fixtures::events(protocol)),
            false => whole(200, "", fixtures::answer(protocol)),
        }
    })
    .await;
    for streamed in [false, true] {
        let gateway = gateway(&server, folder.options()).await;
        let to = gateway.address();
        let made = client::post(to, "/v1/conversations", &[], "{}").await.json();
        let body = json!({"model": "m", "input": "Hi", "stream": streamed, "store": false,
            "conversation": made["id"]});
        let got = respond(to, &body).await;
        assert_eq!(got.status, if streamed { 200 } else { 503 }, "{got:?}");
        assert!(!got.body.contains("response.completed"), "{got:?}");
        assert!(got.body.contains("so the conversation cannot go on"), "{got:?}");
        set_version(&path, 6);
    }
}

/// A turn of a session that could not be stored is an outage too.
#[tokio::test]
async fn a_store_that_breaks_during_a_session() {
    let folder = TempStore::new("session-outages");
    let path = folder.0.join("store.db");
    let broken = path.clone();
    let protocol = Protocol::Chat;
    let server = Server::scripted(protocol, move |_, seen: &ReceivedRequest| {
        set_version(&broken, 99);
        match seen.json()["stream"] == true {
            true => stream(&fixtures::events(protocol)),
            false => whole(200, "", fixtures::answer(protocol)),
        }
    })
    .await;
    for streamed in [false, true] {
        let mut config = config(vec![at(&server)]);
        config.store = StoreConfig::On(Options::sqlite(&path));
        let (gateway, lines) = logging(config, LogFormat::Text).await;
        let to = gateway.address();
        let body = json!({"model": "m", "stream": streamed, "session_id": "s",
            "messages": [{"role": "user", "content": "Hi"}]});
        let got = client::post(to, "/v1/chat/completions", &[], &body.to_string()).await;
        assert_eq!(got.status, if streamed { 200 } else { 503 }, "{got:?}");
        assert!(!is_available(to).await);
        wait_for(&lines, |line| line.ends_with(" reason=store_unavailable")).await;
        wait_for(&lines, |line| line.contains("the store has version 99")).await;
        set_version(&path, 6);
        wait_for(&lines, |line| line.ends_with(" the store works again")).await;
    }
}

fn set_version(path: &std::path::Path, version: i64) {
    Connection::open(path).unwrap().pragma_update(None, "user_version", version).unwrap();
}
