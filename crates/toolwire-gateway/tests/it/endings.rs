//! A response that an upstream cuts never looks complete to the client (R-30).

use std::io::Write;

use toolwire::Protocol;

use crate::upstream::{Server, Step};
use crate::{at, client, config, fixtures, pairs, start};

/// How the upstream says where a body ends.
#[derive(Clone, Copy, Debug)]
enum Framing {
    Length,
    Chunked,
    /// With the connection, so that the cut itself cannot be noticed.
    Close,
    GzipClose,
}

/// A response whose body is cut after so many bytes.
fn cut(framing: Framing, body: &str, length: usize) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let part = &body.as_bytes()[..length];
    let mut bytes = match framing {
        Framing::Length => format!("{head}content-length: {}\r\n\r\n", body.len()),
        Framing::Chunked => format!("{head}transfer-encoding: chunked\r\n\r\n{length:x}\r\n"),
        Framing::Close => format!("{head}connection: close\r\n\r\n"),
        Framing::GzipClose => format!("{head}content-encoding: gzip\r\nconnection: close\r\n\r\n"),
    }
    .into_bytes();
    match framing {
        Framing::GzipClose => {
            let level = flate2::Compression::default();
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(part).unwrap();
            encoder.flush().unwrap();
            bytes.extend_from_slice(encoder.get_ref());
        }
        Framing::Chunked => {
            bytes.extend_from_slice(part);
            bytes.extend_from_slice(b"\r\n");
        }
        Framing::Length | Framing::Close => bytes.extend_from_slice(part),
    }
    vec![Step::Send(bytes), Step::Close]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_answer_that_is_cut_is_an_error() {
    let checks: Vec<_> = pairs()
        .map(|(to, from)| {
            tokio::spawn(async move {
                let body = fixtures::answer(from);
                for framing in
                    [Framing::Length, Framing::Chunked, Framing::Close, Framing::GzipClose]
                {
                    for length in (1..body.len()).step_by(41).chain([body.len() - 1]) {
                        let server = Server::new(from, cut(framing, &body, length)).await;
                        let gateway = start(config(vec![at(&server)])).await;
                        for stream in [false, true] {
                            let question = fixtures::question(to, stream);
                            let path = fixtures::path(to);
                            let got = client::post(gateway.address(), path, &[], &question).await;
                            assert_eq!(got.status, 502, "{to} {from} {framing:?} {length} {got:?}");
                        }
                    }
                }
            })
        })
        .collect();
    for check in checks {
        check.await.unwrap();
    }
}

/// A count that is cut is no count: the gateway estimates.
#[tokio::test]
async fn a_token_count_that_is_cut_is_not_passed_on() {
    let body = r#"{"input_tokens":1234}"#;
    for framing in [Framing::Length, Framing::Chunked, Framing::Close, Framing::GzipClose] {
        for length in 0..body.len() {
            let server = Server::new(Protocol::Messages, cut(framing, body, length)).await;
            let gateway = start(config(vec![at(&server)])).await;
            let question = fixtures::question(Protocol::Messages, false);
            let path = "/v1/messages/count_tokens";
            let got = client::post(gateway.address(), path, &[], &question).await;
            assert_eq!(got.status, 200, "{framing:?} {length} {got:?}");
            assert_eq!(got.header("toolwire-estimate"), Some("?1"), "{framing:?} {length} {got:?}");
            assert!(got.json()["input_tokens"].is_u64(), "{framing:?} {length} {got:?}");
        }
    }
}
