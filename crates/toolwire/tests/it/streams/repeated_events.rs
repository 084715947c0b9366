//! Events that repeat the one before but for a text are not read again. The
//! client and the account must not be able to tell.

use toolwire::Protocol;

use super::{Recorded, pipe, recorded, translated};

/// Every recorded stream, as it is and broken in small ways, against the same
/// stream in which no event is spelled like the one before.
#[test]
fn what_repeats_is_read_like_anything_else() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for stream in recorded() {
        check(&stream, &stream.bytes);
        for _ in 0..ROUNDS {
            let mut bytes = stream.bytes.clone();
            for _ in 0..=random.below(3) {
                bytes = mutated(bytes, &mut random);
            }
            check(&stream, &bytes);
        }
    }
}

fn check(stream: &Recorded, bytes: &[u8]) {
    let unlike = unlike(bytes);
    let told = || format!("{}\n{}", stream.name(), bytes.escape_ascii());
    for to in Protocol::ALL {
        let request = stream.request(to);
        if to == stream.from {
            let seen = |bytes: &[u8]| {
                let mut pipe = pipe(stream.from, to, request.as_deref());
                let mut out = Vec::new();
                pipe.push(bytes, &mut out);
                pipe.finish(&mut out);
                (format!("{:?}", pipe.summary()), without_spaces(&out))
            };
            assert_eq!(seen(bytes), seen(&unlike), "{}", told());
        } else {
            let run = |bytes| translated(stream.from, to, request.as_deref(), [bytes]);
            assert!(run(bytes) == run(&unlike), "to {to}: {}", told());
        }
    }
}

/// The same stream with a space behind the data of every second event.
fn unlike(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut odd) = (Vec::new(), false);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let (text, end) = line.split_at(line.trim_ascii_end().len());
        out.extend_from_slice(text);
        if text.starts_with(b"data:") && text.ends_with(b"}") && end.starts_with(b"\n") {
            odd = !odd;
            out.extend_from_slice(if odd { b" " } else { b"" });
        }
        out.extend_from_slice(end);
    }
    out
}

fn without_spaces(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.collect::<Vec<_>>().join(&b'\n')
}

fn mutated(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let events = events(&bytes);
    let Some(&(start, end)) = events.get(random.below(events.len().max(1))) else { return bytes };
    let event = bytes[start..end].to_vec();
    let at = start + random.below(end - start);
    match random.below(4) {
        // An event comes twice, or out of turn.
        0 => {
            let (place, _) = events[random.below(events.len())];
            bytes.splice(place..place, event);
        }
        1 => {
            bytes.remove(at);
        }
        2 => bytes[at] = *random.pick(b"\"\\{}[]:, 0123aenu\x01\xc3"),
        _insert => bytes.insert(at, *random.pick(b"\"\\{}[]:, 0123aenu\x01\xc3")),
    }
    bytes
}

/// Where each event starts and ends.
fn events(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut events = Vec::new();
    let mut start = 0;
    for end in 1..bytes.len() {
        if bytes[end - 1..=end] == *b"\n\n" {
            events.push((start, end + 1));
            start = end + 1;
        }
    }
    events.retain(|(start, end)| start < end);
    events
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }

    fn pick<'l>(&mut self, list: &'l [u8]) -> &'l u8 {
        &list[self.below(list.len())]
    }
}

/// A call is counted where it is named, and a fragment that happens to be the
/// word is none.
#[test]
fn a_fragment_is_no_call() {
    let mut stream = String::new();
    let mut chunk = |call: &str| {
        stream.push_str(&format!(
            "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n"
        ));
    };
    chunk(r#"{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}"#);
    for piece in [r#"{\""#, "name", r#"\":1}"#] {
        chunk(&format!(r#"{{"index":0,"function":{{"arguments":"{piece}"}}}}"#));
    }
    stream.push_str("data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n");
    for to in Protocol::ALL {
        let mut pipe = pipe(Protocol::Chat, to, None);
        pipe.push(stream.as_bytes(), &mut Vec::new());
        assert_eq!((pipe.summary().calls, pipe.summary().complete), (1, true), "to {to}");
    }
}

const ROUNDS: usize = 8;
