use std::collections::VecDeque;
use std::io::Write;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::time::Instant;

use super::{BodySource, Decoder, UpstreamBody};

/// A chunk of 64 KiB may hold megabytes. They come out piece by piece, and others
/// work in between.
#[test]
fn one_compressed_chunk_does_not_hold_the_thread() {
    let text: Vec<u8> =
        (0..200_000).flat_map(|n| format!("data: {{\"a\":{n}}}\n\n").into_bytes()).collect();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&text).unwrap();
    let chunk = encoder.finish().unwrap();
    let source = BodySource::Demo(VecDeque::from([chunk]));
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut body = UpstreamBody::new(source, Decoder::for_encoding("gzip").unwrap(), deadline);
    let mut context = Context::from_waker(Waker::noop());
    let (mut decoded, mut yields, mut longest) = (Vec::new(), 0, 0);
    loop {
        match body.poll_chunk(&mut context) {
            Poll::Ready(Some(piece)) => {
                let piece = piece.unwrap();
                longest = longest.max(piece.len());
                decoded.extend_from_slice(&piece);
            }
            Poll::Ready(None) => break,
            Poll::Pending => yields += 1,
        }
    }
    assert!(decoded == text, "{} bytes instead of {}", decoded.len(), text.len());
    assert!(longest < 100_000, "{longest} bytes at once");
    assert!(yields > 0, "never yields");
}
