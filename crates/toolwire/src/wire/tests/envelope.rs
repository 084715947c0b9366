use arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::model::Issuer;
use crate::wire::envelope::Envelope;

fn any_envelope(u: &mut Unstructured<'_>) -> Result<Envelope> {
    Ok(Envelope {
        issuer: match u.int_in_range(0..=2)? {
            0 => Issuer::Anthropic,
            1 => Issuer::OpenAi,
            _vendor => Issuer::Vendor(format!("v-{}", u.arbitrary::<String>()?)),
        },
        item_id: u.arbitrary()?,
        text: u.arbitrary()?,
        blob: u.arbitrary()?,
        redacted: u.arbitrary()?,
        place: u.arbitrary()?,
    })
}

#[test]
fn what_is_sealed_is_opened_again() {
    arbtest(|u| {
        let envelope = any_envelope(u)?;
        let sealed = envelope.seal();
        assert!(Envelope::is_sealed(&sealed));
        assert!(sealed.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)));
        assert_eq!(sealed, envelope.seal());
        assert_eq!(Envelope::open(&sealed).as_ref(), Some(&envelope));
        // Whatever is cut off, it is noticed.
        for cut in 0..sealed.len() {
            assert_eq!(Envelope::open(&sealed[..cut]), None);
        }
        assert_eq!(Envelope::open(&format!("{sealed}A")), None);
        Ok(())
    })
    .budget_ms(300)
    .size_max(512);
}

#[test]
fn other_signatures_are_not_envelopes() {
    let json = |text: &str| format!("tw1.{}", URL_SAFE_NO_PAD.encode(text));
    for text in [
        String::new(),
        "EqQBCgIYAhIM".to_owned(),
        "tw1.".to_owned(),
        "tw1.!!!!".to_owned(),
        "tw2.e30".to_owned(),
        json("{}"),
        json("[]"),
        json("not JSON"),
        json(r#"{"iss":1}"#),
        json(r#"{"iss":"openai","iss":"openai"}"#),
        json(r#"{"iss":"openai"} x"#),
        json(r#"{"iss":"openai","place":-1}"#),
        format!("tw1.{}", URL_SAFE_NO_PAD.encode([0xff, 0xfe])),
    ] {
        assert_eq!(Envelope::open(&text), None, "{text}");
    }
}
