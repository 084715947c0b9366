use super::*;

fn mask(text: &str) -> Option<String> {
    let configured = ["sk-op/erator-1", "12345678", "sk-abcdefghijklmnopqrst"];
    let known = |secret: &str| KnownSecret::key(&Secret::new(secret.to_owned())).unwrap();
    let configured = configured.map(known);
    let credentials =
        Credentials { bearer: None, api_key: Some(Secret::new("their-own".to_owned())), key: None };
    let mask = SecretMask::new(&configured.into(), &credentials);
    mask.mask(text.as_bytes()).map(|masked| String::from_utf8(masked).unwrap())
}

#[test]
fn whatever_the_escapes() {
    for (text, want) in [
        ("bad key sk-op/erator-1!", "bad key [secret]!"),
        (r#"{"m":"sk-op\/erator-1"}"#, r#"{"m":"[secret]"}"#),
        (r#"{"m":"\u0073k-op/erator\u002d1 é"}"#, r#"{"m":"[secret] é"}"#),
        (r#"{"m":"{\"k\":\"sk-op\\\/erator-1\"}"}"#, r#"{"m":"{\"k\":\"[secret]\"}"}"#),
        (r#"{"m":"\\u0073k-op/erator-1"}"#, r#"{"m":"[secret]"}"#),
        ("1234567812345678 their-own", "[secret][secret] [secret]"),
        ("sk-op/erator-112345678", "[secret][secret]"),
    ] {
        assert_eq!(mask(text).as_deref(), Some(want), "{text}");
    }
}

#[test]
fn a_key_that_is_quoted_in_part() {
    for (text, want) in [
        ("bad key sk-abcdefghijklmno...", "bad key [secret]..."),
        ("sk-abcdefghijklmnopqrs sk-abcdefghijklmnopqrstu", "[secret] [secret]u"),
        (r"sk-abcdefghijklmno\u0070qrst", "[secret]"),
    ] {
        assert_eq!(mask(text).as_deref(), Some(want), "{text}");
    }
    assert_eq!(mask("sk-abcdefghijkl..."), None);
}

/// Headers begin with media types and addresses, which are in many errors and responses.
#[test]
fn a_header_is_recognized_only_as_a_whole() {
    let value = "application/json; charset=utf-8";
    let header = KnownSecret::header("accept", &Secret::new(value.to_owned())).unwrap();
    let mask = SecretMask::new(&Arc::from([header]), &Credentials::default());
    assert_eq!(mask.mask(b"application/json is no answer"), None);
    assert_eq!(mask.mask(value.as_bytes()), Some(MASK.into()));
    let mut headers = HeaderMap::new();
    for (name, value) in [("content-type", "application/json"), ("x-echo", value)] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    mask.remove_headers(&mut headers);
    assert_eq!(headers.keys().collect::<Vec<_>>(), ["content-type"]);
}

#[test]
fn nothing_else_changes() {
    for text in ["", "sk-op/erator-", r"\", r"\u12", r"\u00", r"\uzzzz", r"a\nb\\", "1234567"] {
        assert_eq!(mask(text), None, "{text}");
    }
}

#[test]
fn a_placeholder_is_no_secret() {
    let credentials =
        Credentials { bearer: Some(Secret::new(PLACEHOLDER.to_owned())), api_key: None, key: None };
    let mask = SecretMask::new(&Arc::from([]), &credentials);
    assert_eq!(mask.mask(b"toolwire"), None);
}
