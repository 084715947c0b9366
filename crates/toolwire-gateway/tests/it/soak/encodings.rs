//! Compressed streams arrive event by event, and bombs are cut (R-38, T-17).

use std::io::Write;
use std::time::Duration;

use tokio::time::Instant;
use toolwire::Protocol;

use super::{Figures, percentile, report, size};
use crate::upstream::{Server, Step, chunk, stream_end, stream_head};
use crate::{at, client, config, fixtures, ms, start};

/// Compresses pieces, each so that it can be decompressed at once.
fn flushed(encoding: &str, pieces: &[String]) -> Vec<Vec<u8>> {
    let level = flate2::Compression::default();
    match encoding {
        "gzip" => pieces_of(flate2::write::GzEncoder::new(Vec::new(), level), pieces, |encoder| {
            std::mem::take(encoder.get_mut())
        }),
        "deflate" => {
            pieces_of(flate2::write::ZlibEncoder::new(Vec::new(), level), pieces, |encoder| {
                std::mem::take(encoder.get_mut())
            })
        }
        "zstd" => {
            let encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
            pieces_of(encoder, pieces, |encoder| std::mem::take(encoder.get_mut()))
        }
        other => panic!("{other}"),
    }
}

fn pieces_of<E: Write>(
    mut encoder: E,
    pieces: &[String],
    take: impl Fn(&mut E) -> Vec<u8>,
) -> Vec<Vec<u8>> {
    let mut compressed = Vec::new();
    for piece in pieces {
        encoder.write_all(piece.as_bytes()).unwrap();
        encoder.flush().unwrap();
        compressed.push(take(&mut encoder));
    }
    compressed
}

#[tokio::test]
async fn each_event_arrives_when_it_is_sent() {
    let mut times = Vec::new();
    let rounds = size(3, 100);
    for encoding in ["gzip", "deflate", "zstd"] {
        for _ in 0..rounds {
            let events = fixtures::events(Protocol::Chat);
            let mut steps = vec![stream_head(&format!("content-encoding: {encoding}\r\n"))];
            for (number, piece) in flushed(encoding, &events).into_iter().enumerate() {
                // The model speaks, and then nothing comes for a while.
                if number == 2 {
                    steps.push(Step::Wait(ms(100)));
                }
                steps.push(chunk(piece));
            }
            steps.push(stream_end());
            let server = Server::new(Protocol::Chat, steps).await;
            let gateway = start(config(vec![at(&server)])).await;
            let question = fixtures::question(Protocol::Chat, true);
            let path = "/v1/chat/completions";
            let mut open = client::open(gateway.address(), path, &[], &question).await;
            server.until_seen(1).await;
            let began = Instant::now();
            client::until(&mut open, "Let me look.").await;
            times.push(began.elapsed());
            client::until(&mut open, "[DONE]").await;
        }
    }
    assert!(percentile(&mut times, 50) < Duration::from_millis(60));
    let what = "compressed streams, time to an event".to_owned();
    report(Figures { what, count: times.len(), times, ..Figures::default() });
}

#[tokio::test]
async fn a_bomb_in_a_stream_is_cut() {
    let opening = fixtures::events(Protocol::Chat)[1].clone();
    for encoding in ["gzip", "deflate", "zstd"] {
        let bomb = format!("data: {}", "x".repeat(40_000_000));
        let pieces = flushed(encoding, &[opening.clone(), bomb]);
        assert!(pieces[1].len() < 100_000);
        let mut steps = vec![stream_head(&format!("content-encoding: {encoding}\r\n"))];
        steps.extend(pieces.iter().map(chunk));
        steps.push(Step::Hang);
        let server = Server::new(Protocol::Chat, steps).await;
        let gateway = start(config(vec![at(&server)])).await;
        let question = fixtures::question(Protocol::Chat, true);
        let path = "/v1/chat/completions";
        let got = client::post(gateway.address(), path, &[], &question).await;
        // The opening may not have been sent when the bomb is found.
        assert!(
            got.body.contains("\"error\"") && !got.body.contains("[DONE]"),
            "{encoding} {got:?}"
        );
        server.left(1).await;
    }
}
