//! Golden streams: every recorded stream to every other protocol, byte for
//! byte, ledger included. `cargo xtask bless` rewrites what is expected.

use toolwire::Protocol;

use super::{recorded, translated};
use crate::vectors::{expect, lines};

#[test]
fn streams() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for stream in recorded() {
        for to in Protocol::ALL.into_iter().filter(|to| *to != stream.from) {
            seen += 1;
            let request = stream.request(to);
            let (out, ledger) =
                translated(stream.from, to, request.as_deref(), [stream.bytes.as_slice()]);
            let text = String::from_utf8(out).unwrap();
            expect(&stream.folder.join(format!("out.{to}.sse")), &text, &mut wrong);
            let path = stream.folder.join(format!("out.{to}.ledger.jsonl"));
            expect(&path, &lines(&ledger), &mut wrong);
        }
    }
    assert!(seen > 0, "no vectors under vectors/streams");
    assert!(
        wrong.is_empty(),
        "{} of {seen} differ; see `cargo xtask bless`\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Within one protocol the bytes pass as they are, up to the last event.
#[test]
fn the_same_protocol_passes_the_bytes() {
    for stream in recorded() {
        let (out, ledger) = translated(stream.from, stream.from, None, [stream.bytes.as_slice()]);
        assert!(ledger.is_empty());
        let common = out.iter().zip(&stream.bytes).take_while(|(a, b)| a == b).count();
        let rest = &out[common..];
        // What the upstream did not end well ends in an error of ours.
        let ended =
            rest.is_empty() || rest.windows(7).any(|bytes| bytes == b"\"error\"") && common > 0;
        assert!(ended, "{}: {}", stream.name(), rest.escape_ascii());
        // Clients stop reading at the marker, so an error must not stand behind it.
        let text = String::from_utf8(out).unwrap();
        let behind = text.split_once("data: [DONE]").map_or("", |(_, behind)| behind);
        assert!(behind.trim().is_empty(), "{}: {behind}", stream.name());
    }
}
