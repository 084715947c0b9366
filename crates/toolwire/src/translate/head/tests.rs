use super::*;

fn read(body: &str) -> Result<RequestHead, Error> {
    RequestHead::read(Protocol::Chat, &PathMatch::default(), body.as_bytes())
}

#[test]
fn the_model_and_where_the_body_names_it() {
    for (body, name, literal) in [
        (r#"{"model":"m"}"#, "m", r#""m""#),
        (r#"{"stream":true, "model" : "a\/b" , "tools":[]}"#, "a/b", r#""a\/b""#),
        (r#"{"messages":[{"model":"no"}],"model":"é","x":{"model":1}}"#, "é", r#""é""#),
        (r#"{"mo\u0064el":"m"}"#, "m", r#""m""#),
    ] {
        let head = read(body).unwrap();
        assert_eq!(head.model.as_deref(), Some(name), "{body}");
        assert_eq!(body.get(head.model_span.unwrap()), Some(literal), "{body}");
    }
}

#[test]
fn no_model() {
    for body in ["{}", r#"{"model":1}"#, r#"{"model":null}"#] {
        assert_eq!(read(body).unwrap().model, None, "{body}");
    }
}

#[test]
fn two_models() {
    for body in [
        r#"{"model":"a","model":"b"}"#,
        r#"{"model":1,"model":"b"}"#,
        r#"{"model":"a","mo\u0064el":"b"}"#,
    ] {
        let Err(Error::Invalid { message, .. }) = read(body) else { panic!("{body} is read") };
        assert!(message.contains("model"), "{message}");
    }
}

#[test]
fn streams_and_tools() {
    let head = read(r#"{"stream":true,"tools":[{"a":1},{}],"functions":[[]]}"#).unwrap();
    assert!(head.stream);
    assert_eq!((head.tools, head.tool_bytes), (3, 11));
    assert!(!read(r#"{"stream":"yes"}"#).unwrap().stream);
}

#[test]
fn envelopes() {
    assert!(read(r#"{"messages":[{"signature":"tw1.e30"}]}"#).unwrap().has_envelope);
    assert!(!read(r#"{"messages":["the prefix is tw1."]}"#).unwrap().has_envelope);
}
