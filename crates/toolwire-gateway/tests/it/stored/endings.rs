//! How a stream ends whose answer is stored.

use rusqlite::Connection;
use serde_json::json;
use toolwire::Protocol;

use super::{TempStore, gateway, respond};
use crate::upstream::{ReceivedRequest, Server, Step, stream, whole};
use crate::{client, fixtures, ms};

/// What an upstream sends, all of it at once.
fn at_once(steps: Vec<Step>) -> Vec<Step> {
    let bytes = steps.into_iter().flat_map(|step| match step {
        Step::Send(bytes) => bytes,
        Step::Wait(_) | Step::Until(_) | Step::Hang | Step::Close | Step::Flood(_) => Vec::new(),
    });
    vec![Step::Send(bytes.collect())]
}

/// A write of its own for the words before the ending would cost about as much as storing
/// the answer.
#[tokio::test]
async fn the_last_words_come_with_the_ending() {
    let folder = TempStore::new("endings");
    for protocol in Protocol::ALL.into_iter().filter(|protocol| *protocol != Protocol::Responses) {
        let server = Server::scripted(protocol, move |_, seen: &ReceivedRequest| {
            match seen.json()["stream"] == true {
                true => at_once(stream(&fixtures::events(protocol))),
                false => whole(200, "", fixtures::answer(protocol)),
            }
        })
        .await;
        let gateway = gateway(&server, folder.options_that_wait()).await;
        let to = gateway.address();
        let first = respond(to, &json!({"model": "m", "input": "Hi"})).await;
        assert_eq!(first.status, 200, "{first:?}");
        // Nothing can be stored until this ends.
        let other = Connection::open(folder.0.join("store.db")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let body = json!({"model": "m", "input": "Hi", "stream": true}).to_string();
        let mut open = client::open(to, "/v1/responses", &[], &body).await;
        client::until(&mut open, "response.created").await;
        let words = client::until(&mut open, "response.output_text.done");
        let words = tokio::time::timeout(ms(300), words).await;
        assert!(words.is_err(), "{protocol}: {words:?}");
        other.execute_batch("COMMIT").unwrap();
        let got = client::until(&mut open, "\r\n0\r\n\r\n").await;
        assert!(got.contains("response.output_text.done"), "{protocol}: {got}");
        assert!(got.contains("response.completed"), "{protocol}: {got}");
    }
}
