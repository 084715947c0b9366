//! Each format, as small as it gets.

use std::io::Write;

use super::{Exchange, exchanges};

#[track_caller]
fn check(name: &str, content: impl AsRef<[u8]>, expected: &[Exchange]) {
    assert_eq!(exchanges(name, content.as_ref()).as_deref(), Some(expected), "{name}");
}

fn exchange(url: Option<&str>, status: Option<u16>, request: &str, answer: &str) -> Exchange {
    let some = |body: &str| (!body.is_empty()).then(|| body.as_bytes().to_vec());
    Exchange {
        entry: "0".to_owned(),
        url: url.map(str::to_owned),
        status,
        request: some(request),
        answer: some(answer),
        document: None,
    }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

const URL: &str = "https://api.example.com/v1/chat/completions";

#[test]
fn a_cassette_of_python() {
    let cassette = format!(
        "interactions:\n- request:\n    body: '{{\"a\":1}}'\n    uri: {URL}\n  response:\n    body:\n      \
         string: '{{\"b\":2}}'\n    status:\n      code: 429\n      message: no\nversion: 1\n"
    );
    check("a.yaml", cassette, &[exchange(Some(URL), Some(429), r#"{"a":1}"#, r#"{"b":2}"#)]);
}

#[test]
fn a_cassette_with_parsed_bodies_keeps_order_and_types() {
    let cassette = "interactions:\n- request:\n    parsed_body:\n      z: '1'\n      a: [1, -2.5, true, null]\n      \
                    text: |-\n        two\n        lines\n  response:\n    parsed_body: {ok: yes}\n";
    let request = r#"{"z":"1","a":[1,-2.5,true,null],"text":"two\nlines"}"#;
    // `yes` is a text in the YAML of today.
    check("a.yml", cassette, &[exchange(None, None, request, r#"{"ok":"yes"}"#)]);
}

#[test]
fn a_cassette_of_ruby() {
    let cassette = format!(
        "---\nhttp_interactions:\n- request:\n    method: post\n    uri: {URL}\n    body:\n      encoding: UTF-8\n      \
         string: '{{\"a\":1}}'\n  response:\n    status: {{code: 200}}\n    body:\n      encoding: ASCII-8BIT\n      \
         base64_string: |\n        eyJi\n        IjoyfQ==\nrecorded_with: VCR\n"
    );
    check("a.yml", cassette, &[exchange(Some(URL), Some(200), r#"{"a":1}"#, r#"{"b":2}"#)]);
}

#[test]
fn a_compressed_cassette_with_binary_bodies_and_a_redacted_address() {
    let packed = {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.encode(gzip(br#"{"b":2}"#))
    };
    let cassette = format!(
        "requests:\n- body: !!binary |\n    eyJhIjoxfQ==\n  uri: '**REDACTED**'\nresponses:\n- body:\n    \
         string: !!binary |\n      {packed}\n  status: {{code: 200}}\n"
    );
    let expected = [exchange(None, Some(200), r#"{"a":1}"#, r#"{"b":2}"#)];
    check("a.yaml.gz", gzip(cassette.as_bytes()), &expected);
}

#[test]
fn a_har() {
    let har = format!(
        r#"{{"log":{{"entries":[{{"request":{{"url":"{URL}","postData":{{"text":"{{}}"}}}},
        "response":{{"status":200,"content":{{"text":"e30=","encoding":"base64"}}}}}}]}}}}"#
    );
    check("a.har", har, &[exchange(Some(URL), Some(200), "{}", "{}")]);
}

#[test]
fn a_json_file_is_a_document_as_it_is() {
    let text = "{ \"model\": 1 }\n";
    check("a.json", text, &[Exchange::document("", text.as_bytes().to_vec())]);
}

#[test]
fn a_json_file_with_an_exchange() {
    let text = format!(
        r#"{{"request":{{"url":"{URL}","body":"{{\"a\":1}}"}},"response":{{"status":{{"code":200}},"body":"{{}}"}}}}"#
    );
    check("a.json", text, &[exchange(Some(URL), Some(200), r#"{"a":1}"#, "{}")]);
}

#[test]
fn a_line_of_a_batch() {
    let line = format!(r#"{{"custom_id":"1","url":"{URL}","body":{{"model":"m"}}}}"#);
    check("a.jsonl", line, &[exchange(Some(URL), None, r#"{"model":"m"}"#, "")]);
}

#[test]
fn chunks_become_streams_again() {
    let chat = "{\"object\":\"chat.completion.chunk\"}\n{\"choices\":[]}\n";
    let stream = "data: {\"object\":\"chat.completion.chunk\"}\n\ndata: {\"choices\":[]}\n\ndata: [DONE]\n\n";
    check("a.chunks.txt", chat, &[Exchange::document("", stream.as_bytes().to_vec())]);

    let two =
        "{\"type\":\"message_start\"}\n{\"type\":\"message_stop\"}\n{\"type\":\"message_start\"}\n";
    let first = "event: message_start\ndata: {\"type\":\"message_start\"}\n\n\
                 event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let second = "event: message_start\ndata: {\"type\":\"message_start\"}\n\n";
    let expected = [
        Exchange::document("0", first.as_bytes().to_vec()),
        Exchange::document("1", second.as_bytes().to_vec()),
    ];
    check("a.txt", two, &expected);
}

#[test]
fn an_event_stream_is_a_document_as_it_is() {
    let stream = "event: ping\ndata: {}\n\n";
    check("a.sse", stream, &[Exchange::document("", stream.as_bytes().to_vec())]);
}

#[test]
fn other_files_are_not_recordings() {
    assert_eq!(exchanges("a.png", b"\x89PNG"), None);
    assert_eq!(exchanges("a.txt", b"some words"), None);
    assert_eq!(exchanges("a.yaml", b"- just\n- a list\n"), Some(Vec::new()));
}
