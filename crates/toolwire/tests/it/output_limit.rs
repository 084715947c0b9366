//! A limit of the answer, for requests that have none.

use serde_json::{Value, json};
use toolwire::translate::{self, PreparedRequest};
use toolwire::{LossPolicy, Options, Profile, Protocol};

const BUILT_IN: [Protocol; 3] = [Protocol::Chat, Protocol::Responses, Protocol::Messages];

fn request(protocol: Protocol) -> Value {
    match protocol {
        Protocol::Responses => json!({"model": "m", "input": "Hi"}),
        Protocol::Chat | Protocol::Messages | _ => {
            json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
        }
    }
}

fn limit_of(protocol: Protocol) -> &'static str {
    protocol.describe().limit_members[0]
}

/// The body, and the ledger as path and code.
fn translate(
    from: Protocol,
    to: Protocol,
    request: &Value,
    options: &Options<'_>,
) -> (Value, Vec<(String, String)>) {
    let body = request.to_string();
    let mut prepared = PreparedRequest::new(from, to, body.as_bytes()).unwrap();
    let translated = prepared.translate(options).unwrap();
    let direct = translate::request(from, to, body.as_bytes(), options).unwrap();
    assert_eq!((&translated.body, &translated.ledger), (&direct.body, &direct.ledger));
    let ledger = translated.ledger.iter();
    let ledger = ledger.map(|entry| (entry.path.to_string(), entry.code.to_string())).collect();
    (serde_json::from_slice(&translated.body).unwrap(), ledger)
}

#[test]
fn a_limit_is_set_where_there_is_none_and_reported() {
    let options = Options::new().output_limit(5_000).on_loss(LossPolicy::Refuse);
    for from in BUILT_IN {
        for to in BUILT_IN {
            let (body, ledger) = translate(from, to, &request(from), &options);
            assert_eq!(body[limit_of(to)], 5_000, "{from} to {to}: {body}");
            let path = format!("/{}", limit_of(from));
            assert_eq!(ledger, [(path, "max_tokens_budget".to_owned())], "{from} to {to}");
        }
    }
}

#[test]
fn a_limit_of_the_client_stays() {
    let options = Options::new().output_limit(5_000);
    for from in BUILT_IN {
        for name in from.describe().limit_members {
            let mut request = request(from);
            request[*name] = json!(77);
            for to in BUILT_IN {
                let (body, ledger) = translate(from, to, &request, &options);
                let name = if from == to { *name } else { limit_of(to) };
                assert_eq!(body[name], 77, "{from} to {to}: {body}");
                assert_eq!(ledger, [], "{from} to {to}");
            }
        }
    }
}

/// `null` says nothing, and a member must not come twice.
#[test]
fn null_is_no_limit() {
    let options = Options::new().output_limit(5_000);
    for from in BUILT_IN {
        let mut request = request(from);
        request[limit_of(from)] = Value::Null;
        let (body, ledger) = translate(from, from, &request, &options);
        assert_eq!(body[limit_of(from)], 5_000);
        assert_eq!(body.as_object().unwrap().len(), request.as_object().unwrap().len());
        assert_eq!(ledger.len(), 1);
    }
    let both =
        json!({"model": "m", "messages": [], "max_completion_tokens": null, "max_tokens": 5});
    let (body, ledger) = translate(Protocol::Chat, Protocol::Chat, &both, &options);
    assert_eq!((body, ledger.len()), (both, 0));
}

#[test]
fn the_name_is_one_that_the_upstream_takes() {
    let mut profile = Profile::of(Protocol::Chat);
    profile.legacy_max_tokens = true;
    let options = Options::new().output_limit(5_000).profile(profile);
    for from in BUILT_IN {
        let (body, _) = translate(from, Protocol::Chat, &request(from), &options);
        assert_eq!(body["max_tokens"], 5_000, "{from}");
        assert_eq!(body.get("max_completion_tokens"), None, "{from}");
    }
}

#[test]
fn bytes_that_pass_only_gain_the_limit() {
    let options = Options::new().output_limit(9).on_loss(LossPolicy::Ignore).model("n");
    for (body, expected) in [
        (r#" {"model":"m","seed":1e2}"#, r#" {"max_completion_tokens":9,"model":"n","seed":1e2}"#),
        (r#"{ }"#, r#"{"max_completion_tokens":9,"model":"n" }"#),
    ] {
        let sent = translate::request(Protocol::Chat, Protocol::Chat, body.as_bytes(), &options);
        let sent = sent.unwrap();
        assert_eq!(std::str::from_utf8(&sent.body).unwrap(), expected);
        assert_eq!(sent.ledger, []);
    }
}

/// Messages refuses a thinking budget that is not below the limit.
#[test]
fn thinking_stays_below_the_limit() {
    let mut request = request(Protocol::Chat);
    request["reasoning_effort"] = json!("high");
    let options = Options::new().model("claude-sonnet-4-5").output_limit(6_800);
    let (body, _) = translate(Protocol::Chat, Protocol::Messages, &request, &options);
    assert_eq!(body["max_tokens"], 6_800, "{body}");
    let budget = body["thinking"]["budget_tokens"].as_u64().unwrap();
    assert!((1_024..6_800).contains(&budget), "{body}");
}
