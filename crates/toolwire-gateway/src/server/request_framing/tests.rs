use super::*;

const POST: &str = "POST / HTTP/1.1\r\nhost: x\r\n";

/// Reads a text in one piece, and byte by byte, with the same result.
#[track_caller]
fn read(text: &str) -> Result<usize, Malformed> {
    let whole = RequestFraming::new().read(text.as_bytes());
    let mut framing = RequestFraming::new();
    let mut offset = 0;
    let mut result = Ok(text.len());
    for byte in text.as_bytes() {
        match framing.read(&[*byte]) {
            Ok(1) => offset += 1,
            Ok(_complete) => {
                result = Ok(offset);
                break;
            }
            Err(malformed) => {
                result = Err(Malformed { offset: offset + malformed.offset });
                break;
            }
        }
    }
    assert_eq!(whole, result, "{text:?}");
    whole
}

#[test]
fn a_request_ends_where_it_says() {
    for (request, behind) in [
        ("GET / HTTP/1.1\r\nhost: x\r\n\r\n", "GET"),
        ("\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n", "\r\n"),
        ("PUT / HTTP/1.1\r\n\r\n", "x"),
        ("PRIVATE / HTTP/1.1\r\n\r\n", "x"),
        (&format!("{POST}Content-Length: 3\r\n\r\nabc"), "\r\n"),
        (&format!("{POST}content-length:\t0 \r\n\r\n"), "\r\n"),
        (&format!("{POST}x: {}\r\ncontent-length: 1\r\n\r\nx", "y".repeat(300)), "z"),
        (&format!("{POST}transfer-encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), "0\r\n"),
        (
            &format!(
                "{POST}transfer-encoding: chunked\r\n\r\nA;x=y\r\n0123456789\r\n00\r\na: b\r\n\r\n"
            ),
            "x",
        ),
    ] {
        assert_eq!(read(request), Ok(request.len()));
        assert_eq!(read(&format!("{request}{behind}")), Ok(request.len()));
        let mut framing = RequestFraming::new();
        framing.read(request.as_bytes()).unwrap();
        assert!(framing.is_complete(), "{request:?}");
    }
}

#[test]
fn http2_is_left_alone() {
    let mut framing = RequestFraming::new();
    assert_eq!(framing.read(PREFACE), Ok(24));
    assert!(framing.is_http2());
    assert_eq!(framing.read(b"\n\n\0"), Ok(3));
    assert_eq!(read("PRI * HTTP/2.0\r\n\r\nxx"), Err(Malformed { offset: 18 }));
}

#[test]
fn malformed_heads() {
    for (lines, offset) in [
        ("a: b\n", 4),
        ("a: b\rc: d\r\n", 5),
        ("content-length: 1\r\ntransfer-encoding: chunked\r\n", 46),
        ("transfer-encoding: chunked\r\ncontent-length: 1\r\n", 46),
        ("content-length: 1\r\ncontent-length: 1\r\n", 37),
        ("content-length: +1\r\n", 19),
        ("content-length: \r\n", 17),
        ("content-length: 9999999999999999999\r\n", 36),
        ("transfer-encoding: chunked, chunked\r\n", 36),
        ("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", 55),
        ("transfer-encoding: xchunked\r\n", 28),
    ] {
        let offset = POST.len() + offset;
        assert_eq!(read(&format!("{POST}{lines}\r\n")), Err(Malformed { offset }), "{lines}");
    }
}

#[test]
fn malformed_chunks() {
    let head = format!("{POST}transfer-encoding: chunked\r\n\r\n");
    for (body, offset) in [
        ("3\n", 1),
        ("3;a\nb\r\n", 3),
        ("\r\n", 1),
        ("0x3\r\n", 4),
        ("+3\r\n", 3),
        (" 3\r\n", 3),
        ("3 \r\n", 3),
        ("ffffffffffffffff\r\n", 17),
        ("1\r\nab\r\n", 6),
        ("1\r\na\n", 4),
        ("0\r\na: b\n", 7),
    ] {
        let offset = head.len() + offset;
        assert_eq!(read(&format!("{head}{body}")), Err(Malformed { offset }), "{body:?}");
    }
}
