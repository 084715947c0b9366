//! What is cut out of a request that stays within Chat.

use super::super::CODEC;
use super::stream::notes;
use crate::ledger::Ledger;
use crate::model::Issuer;
use crate::wire::cuts::without;
use crate::wire::envelope::Envelope;

/// Checks what is left of a request, in which `ENV` stands for an envelope, and
/// how many lines the ledger has.
fn check(request: &str, expected: &str, lost: usize) {
    let envelope = Envelope {
        issuer: Issuer::Anthropic,
        item_id: None,
        text: Some(vec!["Hm".to_owned()]),
        blob: Some("S==".to_owned()),
        redacted: false,
        place: Some(1),
    };
    let request = request.replace("ENV", &envelope.seal());
    let mut ledger = Ledger::default();
    let cuts = (CODEC.foreign_reasoning)(&request, &mut ledger).unwrap();
    assert_eq!(without(&request, &cuts), expected);
    assert_eq!(notes(&ledger), vec!["dropped reasoning_foreign"; lost]);
}

#[test]
fn a_list_of_envelopes_goes_with_its_member_and_the_text_beside_it() {
    check(
        r#"{ "messages": [ {"role":"assistant", "reasoning_content": "Hm", "content":null,
            "reasoning_details" : [ {"type":"reasoning.encrypted","data":"ENV","index":0},
            {"type":"reasoning.encrypted","data":"ENV","index":1} ] } ], "model":"m" }"#,
        r#"{ "messages": [ {"role":"assistant", "content":null } ], "model":"m" }"#,
        2,
    );
    check(
        r#"{"messages":[{"reasoning_details":[{"data":"ENV"}],"reasoning_content":"Hm","role":"assistant"}]}"#,
        r#"{"messages":[{"role":"assistant"}]}"#,
        1,
    );
}

#[test]
fn what_the_vendor_sealed_stays() {
    check(
        r#"{"messages":[{"role":"assistant","reasoning":"A","reasoning_details":[{"data":"ENV"}, {"type":"reasoning.text","text":"A"}, {"data":"ENV"}]}]}"#,
        r#"{"messages":[{"role":"assistant","reasoning":"A","reasoning_details":[{"type":"reasoning.text","text":"A"}]}]}"#,
        2,
    );
    check(
        r#"{"messages":[{"role":"assistant","thinking_blocks":[{"type":"thinking","thinking":"A","signature":"S"},{"type":"thinking","thinking":"B","signature":"ENV"}],"reasoning_content":"AB"}]}"#,
        r#"{"messages":[{"role":"assistant","thinking_blocks":[{"type":"thinking","thinking":"A","signature":"S"}],"reasoning_content":"AB"}]}"#,
        1,
    );
}

#[test]
fn what_only_looks_like_an_envelope_stays() {
    let request = r#"{"messages":[{"role":"user","content":"tw1.x"},{"role":"assistant","content":"tw1."},7]}"#;
    check(request, request, 0);
    check("[]", "[]", 0);
}
