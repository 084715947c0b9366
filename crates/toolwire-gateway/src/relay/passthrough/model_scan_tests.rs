use super::{ModelScan, Scanned};

const FORM: &str = "multipart/form-data; boundary=\"xYz\"";

/// The model of a body, found whole and with every other way to cut it in two.
fn model(content_type: &str, body: &str) -> Option<String> {
    let find = |pieces: &[&[u8]]| {
        let mut scan = ModelScan::for_content_type(content_type);
        let mut read = Vec::new();
        for piece in pieces {
            read.extend_from_slice(piece);
            if let Scanned::Found(place) = scan.read(&read) {
                return scan.name(&read, place).map(|found| found.name);
            }
        }
        None
    };
    let bytes = body.as_bytes();
    let whole = find(&[bytes]);
    for cut in 0..=bytes.len() {
        assert_eq!(find(&[&bytes[..cut], &bytes[cut..]]), whole, "cut at {cut} of {body}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(find(&single), whole, "byte by byte: {body}");
    whole
}

#[test]
fn in_json() {
    for (body, want) in [
        (r#"{"model":"m","input":"x"}"#, Some("m")),
        (r#" { "input" : ["a","model"] , "model" : "m/1" }"#, Some("m/1")),
        (r#"{"input":{"model":"inner"},"model":"outer"}"#, Some("outer")),
        (r#"{"input":"\"model\":\"no\"","model":"a\u0062\"c"}"#, Some("ab\"c")),
        (r#"{"a":"model","b":"no"}"#, None),
        (r#"{"model":7,"x":"no"}"#, None),
        (r#"{"model":["no"],"x":"no"}"#, None),
        (r#"{"model":""}"#, None),
        (r#"{"input":"x"}"#, None),
        (r#"["model","m"]"#, None),
        (r#""model""#, None),
        ("", None),
        ("nonsense \"model\":\"m\"", None),
    ] {
        assert_eq!(model("application/json; charset=utf-8", body).as_deref(), want, "{body}");
    }
}

fn form(parts: &[(&str, &str)]) -> String {
    let mut body = String::new();
    for (head, content) in parts {
        body.push_str(&format!(
            "--xYz\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n"
        ));
    }
    body + "--xYz--\r\n"
}

#[test]
fn in_a_form() {
    let file = (
        "name=\"file\"; filename=\"a\"\r\nContent-Type: audio/mp3",
        "ab\r\n--xY\r\n\r\nname=\"model\"",
    );
    for (parts, want) in [
        (vec![("name=\"model\"", "whisper-1"), file], Some("whisper-1")),
        (vec![file, ("name=\"model\"", "after-the-file")], Some("after-the-file")),
        (vec![("name=\"language\"", ""), ("name=\"model\"", "m")], Some("m")),
        (vec![("name=\"model\"", "")], None),
        (vec![file], None),
        (vec![], None),
    ] {
        assert_eq!(model(FORM, &form(&parts)).as_deref(), want, "{parts:?}");
    }
    let preamble = format!("to be ignored\r\n{}", form(&[("name=\"model\"", "m")]));
    assert_eq!(model(FORM, &preamble).as_deref(), Some("m"));
    assert_eq!(model("multipart/form-data", &preamble), None, "without a boundary");
}

#[test]
fn a_name_as_the_body_writes_it() {
    let json = ModelScan::for_content_type("application/json");
    assert_eq!(json.written("a\"b"), br#"a\"b"#);
    assert_eq!(ModelScan::for_content_type(FORM).written("a\"b"), b"a\"b");
}
