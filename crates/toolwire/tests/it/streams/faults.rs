//! Every fault at every place of every recorded stream: the client always gets
//! exactly one ending, and never one that the upstream did not give.
//!
//! The test takes a sample; `cargo xtask sweep` takes all.

use std::sync::atomic::{AtomicUsize, Ordering};

use toolwire::Protocol;
use toolwire::model::{ApiError, ErrorKind};

use super::losses::misplaced_comment;
use super::oracle::{Ending, Oracle};
use super::{Recorded, commented_pipe, recorded, through};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The bytes end.
    End,
    /// The connection is reset.
    Reset,
    /// Nothing comes for too long.
    Stall,
    /// Random bytes come in between.
    Noise,
    /// Bytes that are no UTF-8 come in between.
    NotUtf8,
    /// The last event comes again.
    Repeated,
    /// The protocol's end marker comes too early.
    EarlyEnd,
    /// An error comes instead of the rest.
    ErrorObject,
}

const FAULTS: [Fault; 8] = [
    Fault::End,
    Fault::Reset,
    Fault::Stall,
    Fault::Noise,
    Fault::NotUtf8,
    Fault::Repeated,
    Fault::EarlyEnd,
    Fault::ErrorObject,
];

#[test]
fn every_fault_ends_in_one_error() {
    let streams = recorded();
    let full = std::env::var_os("TOOLWIRE_SWEEP").is_some();
    let step = if full { 1 } else { 397 };
    let rounds = std::env::var("TOOLWIRE_SWEEP")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(1_u64);
    let cases = AtomicUsize::new(0);
    let next = AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(stream) = streams.get(number % streams.len().max(1)) else { return };
                    let round = (number / streams.len()) as u64;
                    if round >= rounds {
                        return;
                    }
                    let mut found = Vec::new();
                    let count = sweep(stream, number % step, step, round, &mut found);
                    let total = cases.fetch_add(count, Ordering::Relaxed) + count;
                    if full {
                        eprintln!("{total:>10} cases, {}", stream.name());
                    }
                    wrong.lock().unwrap().append(&mut found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    let cases = cases.into_inner();
    eprintln!("{cases} faults in {} streams, {} endings wrong", streams.len(), wrong.len());
    assert!(cases > 0, "no streams under vectors/streams");
    assert!(wrong.is_empty(), "{} of {cases}\n{}", wrong.len(), first(&wrong));
}

fn first(wrong: &[String]) -> String {
    wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
}

/// Runs every fault at every `step`th byte of one stream; how many that were.
fn sweep(
    stream: &Recorded,
    phase: usize,
    step: usize,
    round: u64,
    wrong: &mut Vec<String>,
) -> usize {
    let mut cases = 0;
    // Each round after the first has other line ends or other noise.
    let bytes = match round % 3 {
        1 => with_line_ends(&stream.bytes, b"\r\n"),
        2 => with_line_ends(&stream.bytes, b"\r"),
        _ => stream.bytes.clone(),
    };
    for to in Protocol::ALL {
        let request = stream.request(to);
        let clean = Clean::of(stream.from, to, request.as_deref(), &bytes);
        for at in (phase..=bytes.len()).step_by(step) {
            for fault in FAULTS {
                cases += 1;
                let what = clean.check(&bytes, at, fault, round);
                if let Err(what) = what {
                    wrong.push(format!("{} to {to}, {fault:?} at {at}: {what}", stream.name()));
                }
            }
        }
    }
    cases
}

/// What the stream gives without a fault, and the client's view of it after
/// each event, so that a fault is judged from where it struck.
struct Clean<'c> {
    from: Protocol,
    to: Protocol,
    request: Option<&'c str>,
    out: Vec<u8>,
    views: Vec<Oracle>,
}

impl<'c> Clean<'c> {
    fn of(from: Protocol, to: Protocol, request: Option<&'c str>, bytes: &[u8]) -> Self {
        let (out, _) = through(commented_pipe(from, to, request), [bytes]);
        let mut views = vec![view(from, to)];
        let mut end = 0;
        while end < out.len() {
            let rest = &out[end..];
            let next = rest.windows(2).position(|pair| pair == b"\n\n" || pair == b"\r\r");
            end += next.map_or(rest.len(), |next| next + 2);
            let mut view = views.last().cloned().unwrap_or_else(|| view(from, to));
            view.feed(&out[..end]);
            if view.read == end {
                views.push(view);
            }
        }
        Self { from, to, request, out, views }
    }

    fn check(&self, bytes: &[u8], at: usize, fault: Fault, round: u64) -> Result<(), String> {
        let (before, after) = bytes.split_at(at);
        let mut pipe = commented_pipe(self.from, self.to, self.request);
        let mut out = Vec::with_capacity(self.out.len() + 512);
        pipe.push(before, &mut out);
        let mut sent = before.to_vec();
        let mut insert = |inserted: &[u8], goes_on: bool| {
            pipe.push(inserted, &mut out);
            sent.extend_from_slice(inserted);
            if goes_on {
                pipe.push(after, &mut out);
                sent.extend_from_slice(after);
            }
        };
        match fault {
            Fault::End | Fault::Reset | Fault::Stall => {}
            Fault::Noise => insert(&noise(at as u64 ^ round << 32), true),
            Fault::NotUtf8 => insert(b"\xc3\x28\xff", true),
            Fault::Repeated => insert(last_event(before), true),
            Fault::EarlyEnd => insert(end_marker(self.from), true),
            Fault::ErrorObject => insert(error_object(self.from), false),
        }
        match fault {
            Fault::Reset => pipe
                .fail(ApiError::new(ErrorKind::Truncated, "The connection was reset."), &mut out),
            Fault::Stall => pipe.fail(
                ApiError::new(ErrorKind::Timeout, "The upstream sent nothing for too long."),
                &mut out,
            ),
            Fault::End
            | Fault::Noise
            | Fault::NotUtf8
            | Fault::Repeated
            | Fault::EarlyEnd
            | Fault::ErrorObject => pipe.finish(&mut out),
        }
        if !pipe.is_done() {
            return Err("not done".to_owned());
        }
        let before_more = out.len();
        pipe.push(b"data: {}\n\n", &mut out);
        pipe.finish(&mut out);
        pipe.fail(ApiError::new(ErrorKind::Server, "late"), &mut out);
        if out.len() != before_more {
            return Err("bytes after the last".to_owned());
        }
        if self.from != self.to
            && let Some(wrong) = misplaced_comment(self.to, &out, &pipe.take_ledger())
        {
            return Err(wrong);
        }
        self.judge(&out, &sent, fault)
    }

    fn judge(&self, out: &[u8], sent: &[u8], fault: Fault) -> Result<(), String> {
        let common = out.iter().zip(&self.out).take_while(|(a, b)| a == b).count();
        let mut client = self
            .views
            .iter()
            .rev()
            .find(|view| view.read <= common)
            .cloned()
            .unwrap_or_else(|| view(self.from, self.to));
        client.feed(out);
        if self.from == self.to {
            client.close();
        }
        let tail = || out[out.len().saturating_sub(600)..].escape_ascii().to_string();
        if let Some(fault) = &client.fault {
            return Err(format!("{fault}\n{}", tail()));
        }
        match client.ending {
            Ending::None => Err(format!("no ending\n{}", tail())),
            Ending::Error => Ok(()),
            Ending::Success | Ending::Short => {
                let mut upstream = Oracle::lenient(self.from);
                upstream.feed(sent);
                if !upstream.marked {
                    return Err(format!("a made-up ending\n{}", tail()));
                }
                // Noise inside a text, or a piece that comes twice, is what the
                // upstream said; a call that lacks its end is not complete.
                // What passes as it is has the upstream's own ending.
                let whole = self.from == self.to
                    || fault == Fault::Noise
                    || fault == Fault::Repeated
                    || client.ending == Ending::Short
                    || !self.views.last().is_some_and(calls_are_whole)
                    || calls_are_whole(&client);
                if !whole {
                    return Err(format!("a cut call made complete\n{}", tail()));
                }
                Ok(())
            }
        }
    }
}

/// Whether every call could be run.
fn calls_are_whole(view: &Oracle) -> bool {
    view.calls.iter().all(|call| {
        let arguments = call.arguments.trim();
        call.freeform
            || arguments.is_empty()
            || serde_json::from_str::<serde_json::Value>(arguments).is_ok()
    })
}

/// The client's eyes: what passes as it is is not toolwire's to make strict.
fn view(from: Protocol, to: Protocol) -> Oracle {
    if from == to { Oracle::lenient(to) } else { Oracle::strict(to) }
}

fn with_line_ends(bytes: &[u8], ends: &[u8]) -> Vec<u8> {
    if bytes.contains(&b'\r') {
        return bytes.to_vec();
    }
    let mut out = Vec::with_capacity(bytes.len() * 2);
    for byte in bytes {
        if *byte == b'\n' {
            out.extend_from_slice(ends);
        } else {
            out.push(*byte);
        }
    }
    out
}

fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..64)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        })
        .collect()
}

/// The last whole event of what was sent.
fn last_event(sent: &[u8]) -> &[u8] {
    let ends: Vec<usize> = sent
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| *pair == b"\n\n" || *pair == b"\r\r")
        .map(|(at, _)| at + 2)
        .collect();
    match ends.as_slice() {
        [.., start, end] => &sent[*start..*end],
        [end] => &sent[..*end],
        [] => b"",
    }
}

fn end_marker(protocol: Protocol) -> &'static [u8] {
    match protocol {
        Protocol::Chat => b"\n\ndata: [DONE]\n\n",
        Protocol::Responses => {
            b"\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":99,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":1,\"status\":\"completed\",\"model\":\"m\",\"output\":[],\"usage\":null}}\n\n"
        }
        Protocol::Messages => b"\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

fn error_object(protocol: Protocol) -> &'static [u8] {
    match protocol {
        Protocol::Chat => {
            b"\n\ndata: {\"error\":{\"message\":\"The server had an error.\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n"
        }
        Protocol::Responses => {
            b"\n\nevent: error\ndata: {\"type\":\"error\",\"sequence_number\":99,\"code\":\"server_error\",\"message\":\"The server had an error.\",\"param\":null}\n\n"
        }
        Protocol::Messages => {
            b"\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
        }
        other => panic!("not a built-in protocol: {other:?}"),
    }
}
