use super::*;

fn read(body: &str) -> Result<CheckedHead, Failure> {
    let lists = ToolLists::default();
    CheckedHead::read(
        &lists,
        Protocol::Chat,
        &PathMatch::default(),
        body.as_bytes(),
        &Limits::default(),
    )
}

#[test]
fn the_model() {
    let Ok(head) = read(r#"{"stream":true,"model":"m"}"#) else { panic!("it is refused") };
    assert_eq!(head.model, "m");
    assert!(head.scanned.stream);
}

#[test]
fn no_model() {
    for body in ["{}", r#"{"model":""}"#, r#"{"model":1}"#, r#"{"model":null}"#] {
        assert!(read(body).is_err(), "{body}");
    }
}

#[test]
fn two_models() {
    for body in [
        r#"{"model":"a","model":"b"}"#,
        r#"{"model":1,"model":"b"}"#,
        r#"{"model":"a","mo\u0064el":"b"}"#,
    ] {
        assert!(read(body).is_err(), "{body}");
    }
}
