//! What is cut out of a request that stays within Responses.

use super::super::CODEC;
use super::lines;
use crate::ledger::Ledger;
use crate::model::Issuer;
use crate::wire::cuts::without;
use crate::wire::envelope::Envelope;
use crate::wire::ids;

/// Checks what is left of a request, in which `ENV` stands for an envelope and `OWN` for
/// the id of reasoning that toolwire wrote, and what the ledger says.
fn check(request: &str, expected: &str, told: &[&str]) {
    let envelope = Envelope {
        issuer: Issuer::Anthropic,
        item_id: None,
        text: Some(vec!["Hm".to_owned()]),
        blob: Some("S==".to_owned()),
        redacted: false,
        place: None,
    };
    let own = ids::reasoning(&[b"resp_1", b"0"]);
    let fill = |text: &str| text.replace("ENV", &envelope.seal()).replace("OWN", &own);
    let (request, expected) = (fill(request), fill(expected));
    let mut ledger = Ledger::default();
    let cuts = (CODEC.foreign_reasoning)(&request, &mut ledger).unwrap();
    assert_eq!(without(&request, &cuts), expected);
    assert_eq!(lines(&ledger.entries(&request)), told);
}

#[test]
fn reasoning_of_the_upstream_keeps_its_id_beside_that_of_another() {
    check(
        r#"{"input":[{"type":"message","role":"user","content":"a","id":"msg_0"},{"type":"reasoning","id":"rs_a","summary":[],"encrypted_content":"E"},{"type":"function_call","id":"fc_a","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"1"},{"type":"reasoning","id":"rs_b","summary":[],"encrypted_content":"ENV"},{"type":"message","role":"assistant","id":"msg_b","content":"b"}]}"#,
        r#"{"input":[{"type":"message","role":"user","content":"a","id":"msg_0"},{"type":"reasoning","id":"rs_a","summary":[],"encrypted_content":"E"},{"type":"function_call","id":"fc_a","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"1"},{"type":"message","role":"assistant","content":"b"}]}"#,
        &["dropped item_id info", "dropped reasoning_foreign"],
    );
}

#[test]
fn reasoning_that_nobody_sealed_does_not_reach_an_upstream_that_keeps_nothing() {
    let request = r#"{"store":false,"input":[{"type":"reasoning","id":"OWN","summary":[],"content":[{"type":"reasoning_text","text":"Hm"}]},{"type":"message","role":"assistant","id":"msg_b","content":"b"}]}"#;
    check(
        request,
        r#"{"store":false,"input":[{"type":"message","role":"assistant","content":"b"}]}"#,
        &["dropped item_id info", "dropped reasoning_unsigned"],
    );
    let kept = request.replace("false", "true");
    check(&kept, &kept, &[]);
}

#[test]
fn plain_reasoning_of_a_server_of_its_own_stays() {
    for id in ["rs_0123456789abcdef01234567", "rs_1", "rs_0123456789abcdef0123456789abcdef"] {
        let request = format!(
            r#"{{"store":false,"input":[{{"type":"reasoning","id":"{id}","summary":[],"content":[]}}]}}"#
        );
        check(&request, &request, &[]);
    }
}
