//! The laws of streams in every pair of protocols.

use toolwire::Protocol;
use toolwire_laws::stream as laws;

use super::{pipe, translated};
use crate::PROTOCOLS;
use crate::documents::{documents, streams};

/// However its bytes are split, a stream gives the same bytes and one ending,
/// which is a good one only if the upstream's was.
#[test]
fn a_stream_ends_once() {
    check(laws::one_ending);
}

/// A stream that is cut anywhere ends once, and never as if it were finished.
#[test]
fn a_cut_stream_never_looks_finished() {
    check(|from, to, bytes| {
        for cut in (0..bytes.len()).step_by(bytes.len() / 9 + 1) {
            let bytes = &bytes[..cut];
            laws::one_ending(from, to, bytes).map_err(|what| format!("cut at {cut}: {what}"))?;
            let mut pipe = pipe(from, to, None);
            let mut out = Vec::new();
            pipe.push(bytes, &mut out);
            let over = pipe.is_done();
            pipe.finish(&mut out);
            if pipe.summary().complete && !over && pipe.summary().error.is_some() {
                return Err(format!("cut at {cut}: an error and a good end"));
            }
        }
        Ok(())
    });
}

/// A split gives the same ledger as the whole.
#[test]
fn a_split_gives_the_same_ledger() {
    check(|from, to, bytes| {
        let whole = translated(from, to, None, [bytes]);
        let (head, tail) = bytes.split_at(bytes.len() / 2);
        let split = translated(from, to, None, [head, tail]);
        if whole == split { Ok(()) } else { Err("another ledger".to_owned()) }
    });
}

/// A whole answer where a stream was expected becomes a stream that ends once.
#[test]
fn a_whole_answer_ends_once() {
    let mut wrong = Vec::new();
    for (folder, from, body) in documents("responses") {
        let text = std::str::from_utf8(&body).unwrap();
        for to in PROTOCOLS {
            if let Err(what) = laws::a_whole_answer_ends_once_between(from, to, text) {
                wrong.push(format!("{} {from} {what}", folder.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

fn check(law: impl Fn(Protocol, Protocol, &[u8]) -> Result<(), String>) {
    let mut wrong = Vec::new();
    for stream in streams() {
        for to in PROTOCOLS {
            if let Err(what) = law(stream.from, to, &stream.bytes) {
                wrong.push(format!("{} {} to {to}: {what}", stream.name(), stream.from));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
