use super::*;

#[test]
fn the_model_and_its_place() {
    for (body, name, literal) in [
        (r#"{"model":"m"}"#, "m", r#""m""#),
        (r#"{"stream":true, "model" : "a\/b" , "tools":[]}"#, "a/b", r#""a\/b""#),
        (r#"{"messages":[{"model":"no"}],"model":"é","x":{"model":1}}"#, "é", r#""é""#),
        (r#"{"mo\u0064el":"m"}"#, "m", r#""m""#),
    ] {
        let Ok(head) = RequestHead::read(body.as_bytes(), &Limits::default()) else {
            panic!("{body} is refused")
        };
        assert_eq!((head.model.as_str(), body.get(head.model_at)), (name, Some(literal)), "{body}");
    }
}

#[test]
fn no_model() {
    for body in ["{}", r#"{"model":""}"#, r#"{"model":1}"#, r#"{"model":null}"#] {
        assert!(RequestHead::read(body.as_bytes(), &Limits::default()).is_err(), "{body}");
    }
}

#[test]
fn two_models() {
    for body in [
        r#"{"model":"a","model":"b"}"#,
        r#"{"model":1,"model":"b"}"#,
        r#"{"model":"a","mo\u0064el":"b"}"#,
    ] {
        let what = top_level(body).err().map(|error| error.what);
        assert_eq!(what, Some(What::Duplicate("model".to_owned())), "{body}");
        assert!(RequestHead::read(body.as_bytes(), &Limits::default()).is_err(), "{body}");
    }
}
