use std::ops::ControlFlow;

use crate::wire::sse::{Frame, FrameError, Frames, write_event};

type Event = (Option<String>, String);

/// Frames the bytes in these chunks.
fn framed<'c>(
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> Result<(Vec<Event>, Vec<u8>), FrameError> {
    let mut frames = Frames::new(1 << 20);
    let (mut events, mut raw) = (Vec::new(), Vec::new());
    let mut each = |frame: Frame<'_>| {
        raw.extend_from_slice(frame.raw);
        if !frame.data.is_empty() {
            events.push((frame.name.map(str::to_owned), frame.data.to_owned()));
        }
        ControlFlow::Continue(())
    };
    for chunk in chunks {
        frames.push(chunk, &mut each)?;
    }
    frames.finish(&mut each)?;
    Ok((events, raw))
}

/// Checks the events, in one chunk, byte by byte and cut at every place.
fn check(bytes: &[u8], expected: &[(Option<&str>, &str)]) {
    let expected: Vec<Event> =
        expected.iter().map(|(name, data)| (name.map(str::to_owned), (*data).to_owned())).collect();
    let (events, raw) = framed([bytes]).unwrap();
    assert_eq!(events, expected, "{}", bytes.escape_ascii());
    assert_eq!(raw, bytes, "every byte belongs to one event");
    assert_eq!(framed(bytes.chunks(1)).unwrap(), (events.clone(), raw.clone()));
    for cut in 0..=bytes.len() {
        let cuts = framed([&bytes[..cut], &bytes[cut..]]).unwrap();
        assert_eq!(cuts, (events.clone(), raw.clone()), "cut at {cut}");
    }
}

#[test]
fn line_ends() {
    for ends in ["\n", "\r\n", "\r"] {
        let text = format!("event: a{ends}data: 1{ends}{ends}data: 2{ends}{ends}");
        check(text.as_bytes(), &[(Some("a"), "1"), (None, "2")]);
    }
    check(b"data: 1\r\n\ndata: 2\n\r\ndata: 3\r\r\n", &[(None, "1"), (None, "2"), (None, "3")]);
}

#[test]
fn nothing_else_ends_a_line() {
    let text = "data: a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f\n\n";
    check(text.as_bytes(), &[(None, "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f")]);
}

#[test]
fn byte_order_mark() {
    check(b"\xef\xbb\xbfdata: 1\n\n", &[(None, "1")]);
    // Only the first is a mark.
    check("\u{feff}\u{feff}data: 1\n\ndata: 2\n\n".as_bytes(), &[(None, "2")]);
    check(b"data: 1\n\n\xef\xbb\xbfdata: 2\n\n", &[(None, "1")]);
}

#[test]
fn the_space_behind_the_colon() {
    check(b"data:1\n\ndata: 2\n\ndata:  3\n\n", &[(None, "1"), (None, "2"), (None, " 3")]);
}

#[test]
fn several_lines_of_data() {
    check(b"data: a\ndata\ndata: c\n\n", &[(None, "a\n\nc")]);
    check(b"data: {\ndata: }\n\ndata: x\n\n", &[(None, "{\n}"), (None, "x")]);
}

#[test]
fn comments_and_unknown_fields() {
    check(b": hello\n\n: again\nid: 7\nretry: 10\nother: x\ndata: 1\n\n", &[(None, "1")]);
}

#[test]
fn an_event_without_data_is_none() {
    check(b"event: ping\n\ndata: 1\n\ndata:\n\n", &[(None, "1")]);
}

#[test]
fn the_name_is_the_last_one_said() {
    check(b"event: a\nevent: b\ndata: 1\n\ndata: 2\n\n", &[(Some("b"), "1"), (None, "2")]);
}

#[test]
fn the_end_of_the_bytes_ends_an_event() {
    check(b"data: 1\n\ndata: 2\n", &[(None, "1"), (None, "2")]);
    check(b"data: 1\n\ndata: 2", &[(None, "1"), (None, "2")]);
}

#[test]
fn characters_across_chunks() {
    check("data: é世🦀\n\n".as_bytes(), &[(None, "é世🦀")]);
}

#[test]
fn invalid_utf8_is_an_error() {
    for bytes in [
        b"data: \xff\n\n".as_slice(),
        b"event: \xc3\x28\ndata: 1\n\n",
        // Nobody knows which field this was.
        b"da\xffta: 1\n\n",
    ] {
        assert_eq!(framed([bytes]), Err(FrameError::Utf8));
        assert_eq!(framed(bytes.chunks(1)), Err(FrameError::Utf8));
    }
}

#[test]
fn an_event_over_the_limit_is_an_error() {
    let mut bytes = b"data: ".to_vec();
    bytes.resize(1 << 20, b'x');
    assert!(framed([bytes.as_slice()]).is_ok());
    bytes.extend_from_slice(b"x\n\n");
    assert_eq!(framed([bytes.as_slice()]), Err(FrameError::TooLong(1 << 20)));
    assert_eq!(framed(bytes.chunks(1000)), Err(FrameError::TooLong(1 << 20)));
}

#[test]
fn breaking_off_forgets_the_rest() {
    let mut frames = Frames::default();
    let mut seen = 0;
    let each = |_: Frame<'_>| {
        seen += 1;
        ControlFlow::Break(())
    };
    frames.push(b"data: 1\n\ndata: 2\n\ndata", each).unwrap();
    assert_eq!(seen, 1);
    assert!(frames.is_between_events());
}

#[test]
fn writing() {
    let mut out = Vec::new();
    write_event(Some("ping"), &mut out, |out| out.extend_from_slice(b"{}"));
    write_event(None, &mut out, |out| out.extend_from_slice(b"[DONE]"));
    assert_eq!(out, b"event: ping\ndata: {}\n\ndata: [DONE]\n\n");
}
