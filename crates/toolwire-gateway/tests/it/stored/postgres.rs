//! A database that several gateways share, and that is not always there.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_store::{EngineOptions, Options};

use super::{caller, five_turns, gateway, respond};
use crate::postgres_server::{PostgresServer, is_left_out};
use crate::soak::process::{Process, Settings};
use crate::upstream::{ReceivedRequest, Server, stream, whole};
use crate::{client, fixtures, ms};

/// A thread goes on at once through another process, and what one works on, the
/// other can be asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_turns_through_two_processes() {
    if is_left_out() {
        return;
    }
    let database = PostgresServer::shared().new_database().await;
    for protocol in [Protocol::Chat, Protocol::Messages] {
        for streamed in [false, true] {
            let server =
                Server::scripted(protocol, move |turn, seen| caller(protocol, turn, seen)).await;
            let start =
                || Process::start_with_store(&[&server], Settings::default(), Some(&database));
            let processes = [start(), start()];
            let addresses = processes.each_ref().map(|process| process.address);
            five_turns(protocol, streamed, &addresses, &server).await;
            let body = json!({"model": "m", "input": "Hi", "background": true, "stream": true});
            let events = respond(addresses[0], &body).await.body;
            let at = events.find("\"id\":\"resp_").unwrap() + 6;
            let id = events[at..].split('"').next().unwrap();
            let path = format!("/v1/responses/{id}?stream=true");
            assert_eq!(client::get(addresses[1], &path, &[]).await.body, events);
        }
    }
}

/// What the clients of one outage have seen.
#[derive(Default)]
struct Seen {
    /// Acknowledged responses, by id.
    stored: BTreeMap<String, Value>,
    refused: usize,
    unstored: usize,
}

/// Sends requests until told to stop: one that is stored, and one that is not.
async fn ask(to: SocketAddr, done: Arc<AtomicBool>) -> Seen {
    let mut seen = Seen::default();
    for turn in 0.. {
        if done.load(Ordering::Relaxed) {
            break;
        }
        let body = json!({"model": "m", "input": format!("Turn {turn}"), "store": false});
        let got = respond(to, &body).await;
        assert_eq!(got.status, 200, "{got:?}");
        seen.unstored += 1;
        let body = json!({"model": "m", "input": format!("Turn {turn}"), "stream": turn % 2 == 0});
        let got = respond(to, &body).await;
        match got.status {
            200 if got.body.contains("event: response.failed") => seen.refused += 1,
            200 => {
                let response = super::answer(&got, turn % 2 == 0);
                seen.stored.insert(response["id"].as_str().unwrap().to_owned(), response);
            }
            503 => {
                assert!(got.header("retry-after").is_some(), "{got:?}");
                seen.refused += 1;
            }
            _other => panic!("{got:?}"),
        }
    }
    seen
}

/// Breaks the database for a while under load. Nothing that was acknowledged is
/// lost, what is not stored goes on, and the gateway recovers by itself.
async fn outage(breaks: impl FnOnce(&mut PostgresServer), mends: impl FnOnce(&mut PostgresServer)) {
    let protocol = Protocol::Chat;
    let script = move |_: usize, seen: &ReceivedRequest| match seen.json()["stream"] == true {
        true => stream(&fixtures::events(protocol)),
        false => whole(200, "", fixtures::answer(protocol)),
    };
    let server = Server::scripted(protocol, script).await;
    let mut postgres = PostgresServer::start();
    let mut options = Options::postgres(postgres.new_database().await);
    if let EngineOptions::Postgres(postgres) = &mut options.engine {
        postgres.timeout = ms(700);
    }
    let gateway = gateway(&server, options).await;
    let to = gateway.address();
    let done = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..4).map(|_| tokio::spawn(ask(to, Arc::clone(&done)))).collect();
    tokio::time::sleep(ms(500)).await;
    breaks(&mut postgres);
    tokio::time::sleep(ms(2000)).await;
    // By now everybody knows, and no model is asked for what would be lost.
    let stored = json!({"model": "m", "input": "In the outage"});
    for _ in 0..3 {
        assert_eq!(respond(to, &stored).await.status, 503);
    }
    let asked = server.seen().iter().filter(|seen| seen.body.contains("In the outage")).count();
    assert_eq!(asked, 0);
    // What is not stored does not wait until the database is back.
    let unstored = json!({"model": "m", "input": "Not stored", "store": false});
    for _ in 0..3 {
        assert_eq!(respond(to, &unstored).await.status, 200);
    }
    mends(&mut postgres);
    let mended = Instant::now();
    while respond(to, &stored).await.status != 200 {
        assert!(mended.elapsed() < Duration::from_secs(20), "it does not recover");
        tokio::time::sleep(ms(50)).await;
    }
    done.store(true, Ordering::Relaxed);
    let mut all = Seen::default();
    for client in clients {
        let Seen { stored, refused, unstored } = client.await.unwrap();
        all.stored.extend(stored);
        all.refused += refused;
        all.unstored += unstored;
    }
    let Seen { stored, refused, unstored } = all;
    assert!(stored.len() > 10 && refused > 0 && unstored > 10, "{refused} {unstored}");
    for (id, response) in stored {
        let got = client::get(to, &format!("/v1/responses/{id}"), &[]).await;
        assert_eq!((got.status, got.json()), (200, response));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_killed() {
    if !is_left_out() {
        outage(|postgres| postgres.signal("KILL"), PostgresServer::start_again).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_frozen() {
    if !is_left_out() {
        outage(|postgres| postgres.signal("STOP"), |postgres| postgres.signal("CONT")).await;
    }
}
