//! How a response that passes ends: for its client, in the log, in the metrics, and for the
//! health of its upstream.

use std::io::Write;

use toolwire::Protocol;
use toolwire_gateway::config::LogFormat;

use super::ANSWER;
use crate::log::logging;
use crate::upstream::{Server, Step, chunk, stream_end, stream_head, whole};
use crate::{at, client, config};

/// A whole answer in each way in which HTTP/1.1 says where a body ends: its name, how it is
/// sent, and what the client gets of it.
fn whole_answers() -> [(&'static str, Vec<Step>, &'static str); 8] {
    let head = |more: &str| Step::Send(format!("HTTP/1.1 {more}\r\n\r\n").into());
    let send = |text: &str| Step::Send(text.into());
    let (start, rest) = ANSWER.split_at(9);
    let chunked = |more: &str| vec![stream_head(more), chunk(start), chunk(rest), stream_end()];
    let length = format!("200 OK\r\ncontent-length: {}", ANSWER.len());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(ANSWER.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    [
        ("a length", whole(200, "", ANSWER), ANSWER),
        ("a length, in pieces", vec![head(&length), send(start), send(rest)], ANSWER),
        ("a length, compressed", whole(200, "content-encoding: gzip\r\n", gzip), ANSWER),
        ("a length of nothing", whole(200, "", ""), ""),
        ("a status without a body", vec![head("204 No Content")], ""),
        ("chunks", chunked(""), ANSWER),
        ("chunks, beside which a length does not count", chunked("content-length: 3\r\n"), ANSWER),
        ("the connection", vec![head("200 OK"), send(ANSWER), Step::Close], ANSWER),
    ]
}

#[tokio::test]
async fn a_whole_answer_is_one_in_the_log_and_the_metrics() {
    for (name, steps, body) in whole_answers() {
        let server = Server::new(Protocol::Chat, steps).await;
        let (gateway, lines) = logging(config(vec![at(&server)]), LogFormat::Json).await;
        let got = client::post(gateway.address(), "/v1/embeddings", &[], "{}").await;
        assert_eq!((got.body.as_str(), got.whole), (body, true), "{name}: {got:?}");
        let line: serde_json::Value = serde_json::from_str(&lines.wait(1).await[0]).unwrap();
        assert_eq!(line["ending"], "answered", "{name}: {line}");
        assert_eq!(line["bytes_out"], body.len(), "{name}: {line}");
        let page = client::get(gateway.address(), "/metrics", &[]).await.body;
        assert!(page.contains("client=\"chat\",ending=\"answered\"} 1\n"), "{name}: {page}");
    }
}

/// Failures with answers between them are not failures in a row.
#[tokio::test]
async fn a_whole_answer_is_a_success_of_the_upstream() {
    for (name, answer, _) in whole_answers() {
        let server = Server::scripted(Protocol::Chat, move |number, _| {
            if number % 2 == 0 { whole(500, "", "{}") } else { answer.clone() }
        })
        .await;
        let mut config = config(vec![at(&server)]);
        config.retry.eject_after = 2;
        let (gateway, lines) = logging(config, LogFormat::Json).await;
        for round in 1..=6 {
            client::post(gateway.address(), "/v1/embeddings", &[], "{}").await;
            lines.wait(round).await;
        }
        let page = client::get(gateway.address(), "/metrics", &[]).await.body;
        assert!(page.contains("toolwire_ejections_total{upstream=\"chat\"} 0"), "{name}");
    }
}
