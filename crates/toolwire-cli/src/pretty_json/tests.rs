use super::pretty_print;

fn check(json: &str, width: usize, expected: &str) {
    assert_eq!(pretty_print(json, width).unwrap(), expected);
}

#[test]
fn what_fits_stays_on_a_line() {
    check(r#"{"a":[1,2.0,{}],"b":null}"#, 80, r#"{"a": [1, 2.0, {}], "b": null}"#);
}

#[test]
fn what_does_not_fit_is_broken_from_the_outside() {
    let expected = "{\n  \"a\": [\n    100,\n    200\n  ],\n  \"b\": {\"c\": 1}\n}";
    check(r#"{"a":[100,200],"b":{"c":1}}"#, 16, expected);
}

#[test]
fn spelling_is_kept() {
    let json = r#"{"k\u00e9y": "\u00e9\/\"", "n": 12345678901234567890.50e+1}"#;
    check(json, 80, json);
}

#[test]
fn long_strings_are_cut() {
    check(r#"["abcdefghijklmnopqrstuvwxyz"]"#, 16, "[\n  \"abcdefghij…\"\n]");
}

#[test]
fn what_is_not_json_is_an_error() {
    assert!(pretty_print("{\"a\":", 80).is_err());
    assert!(pretty_print("1 2", 80).is_err());
}
