use super::*;

#[test]
fn the_model_and_where_it_stands() {
    for (body, name, literal) in [
        (r#"{"model":"m"}"#, "m", r#""m""#),
        (r#"{"stream":true, "model" : "a\/b" , "tools":[]}"#, "a/b", r#""a\/b""#),
        (r#"{"messages":[{"model":"no"}],"model":"é","x":{"model":1}}"#, "é", r#""é""#),
        (r#"{"mo\u0064el":"m"}"#, "m", r#""m""#),
    ] {
        let Ok(ask) = Ask::read(body.as_bytes(), &Limits::default()) else {
            panic!("{body} is refused")
        };
        assert_eq!((ask.model.as_str(), body.get(ask.model_at)), (name, Some(literal)), "{body}");
    }
}

#[test]
fn no_model() {
    for body in ["{}", r#"{"model":""}"#, r#"{"model":1}"#, r#"{"model":null}"#] {
        assert!(Ask::read(body.as_bytes(), &Limits::default()).is_err(), "{body}");
    }
}

#[test]
fn two_models() {
    for body in [
        r#"{"model":"a","model":"b"}"#,
        r#"{"model":1,"model":"b"}"#,
        r#"{"model":"a","mo\u0064el":"b"}"#,
    ] {
        let what = top(body).err().map(|error| error.what);
        assert_eq!(what, Some(What::Duplicate("model".to_owned())), "{body}");
        assert!(Ask::read(body.as_bytes(), &Limits::default()).is_err(), "{body}");
    }
}
