//! An ejected upstream gets one request that finds out whether it works again.

use toolwire::Protocol;
use toolwire_gateway::Gateway;
use toolwire_gateway::config::{Credential, UpstreamConfig};

use crate::upstream::{Server, Step, whole};
use crate::{at, client, config, fixtures, ms, start};

const ASK: &str = "/v1/messages";

/// A request that passes as it is.
const PASS: &str = "/v1/embeddings";
const PASSED: &str = r#"{"model":"m"}"#;

/// An upstream that fails as often as it takes to be ejected and then does as it
/// is told, with a spare.
async fn ejected(then: Vec<Step>) -> (Server, Server, Gateway) {
    let question = fixtures::question(Protocol::Messages, false);
    ejected_by(Protocol::Messages, ASK, &question, then).await
}

/// The same with the request that fails.
async fn ejected_by(
    protocol: Protocol,
    path: &str,
    question: &str,
    then: Vec<Step>,
) -> (Server, Server, Gateway) {
    let first = Server::scripted(protocol, move |number, _| {
        let error = fixtures::error(protocol, "api_error", "No.");
        if number < 5 { whole(500, "", error) } else { then.clone() }
    })
    .await;
    let answer = whole(200, "", fixtures::answer(protocol));
    let spare = Server::new(protocol, answer).await;
    let second = UpstreamConfig { weight: 0, name: "spare".to_owned(), ..at(&spare) };
    let mut config = config(vec![at(&first), second]);
    config.retry.first_ejection = ms(100);
    config.retry.probe_timeout = ms(60_000);
    let gateway = start(config).await;
    for _ in 0..5 {
        assert_eq!(client::post(gateway.address(), path, &[], question).await.status, 200);
    }
    assert_eq!((first.seen().len(), spare.seen().len()), (5, 5));
    let page = client::get(gateway.address(), "/metrics", &[]).await.body;
    let ejections = format!("toolwire_ejections_total{{upstream=\"{protocol}\"}} 1");
    assert!(page.contains(&ejections), "{page}");
    tokio::time::sleep(ms(120)).await;
    (first, spare, gateway)
}

fn answer() -> Vec<Step> {
    whole(200, "", fixtures::answer(Protocol::Messages))
}

#[tokio::test]
async fn only_a_request_whose_result_counts_is_one() {
    let (first, _spare, gateway) = ejected(answer()).await;
    let to = gateway.address();
    let question = fixtures::question(Protocol::Messages, false);
    for _ in 0..3 {
        assert_eq!(client::get(to, "/v1/models/m", &[]).await.status, 200);
        let counted = client::post(to, "/v1/messages/count_tokens", &[], &question).await;
        assert_eq!(counted.status, 200, "{counted:?}");
        // A request that cannot be sent says nothing about an upstream.
        let lossy =
            fixtures::question(Protocol::Chat, false).replacen('{', "{\"logit_bias\":{},", 1);
        let refuse = ["toolwire-on-loss: refuse"];
        let refused = client::post(to, "/v1/chat/completions", &refuse, &lossy).await;
        assert_eq!(refused.status, 400, "{refused:?}");
    }
    let before = first.seen().iter().filter(|seen| seen.path == ASK).count();
    assert_eq!(before, 5);
    for _ in 0..3 {
        assert_eq!(client::post(to, ASK, &[], &question).await.status, 200);
    }
    let after = first.seen().iter().filter(|seen| seen.path == ASK).count();
    assert_eq!(after, 8, "the upstream is back");
}

/// Requests that pass as they are may be all that an upstream gets.
#[tokio::test]
async fn a_request_that_passes_is_one() {
    let (first, spare, gateway) = ejected_by(Protocol::Chat, PASS, PASSED, answer()).await;
    let to = gateway.address();
    // Where nothing is sent, nothing is found out.
    let planned = client::post(to, PASS, &["toolwire-dry-run: 1"], PASSED).await;
    assert_eq!((planned.status, first.seen_count()), (200, 5), "{planned:?}");
    for _ in 0..3 {
        assert_eq!(client::post(to, PASS, &[], PASSED).await.status, 200);
    }
    assert_eq!((first.seen_count(), spare.seen_count()), (8, 5), "the upstream is back");
}

#[tokio::test]
async fn a_client_that_leaves_gives_it_back_when_its_request_passes() {
    let hang = vec![Step::Hang];
    let (first, _spare, gateway) = ejected_by(Protocol::Chat, PASS, PASSED, hang).await;
    for round in 6..9 {
        let open = client::open(gateway.address(), PASS, &[], PASSED).await;
        first.until_seen(round).await;
        drop(open);
        first.left(round - 5).await;
    }
}

#[tokio::test]
async fn a_client_that_leaves_gives_it_back() {
    let (first, _spare, gateway) = ejected(vec![Step::Hang]).await;
    let question = fixtures::question(Protocol::Messages, false);
    for round in 6..9 {
        let open = client::open(gateway.address(), ASK, &[], &question).await;
        first.until_seen(round).await;
        drop(open);
        first.left(round - 5).await;
    }
}

/// A stream can take minutes. Others need not wait for its end.
#[tokio::test]
async fn a_response_that_begins_is_enough() {
    let events = fixtures::events(Protocol::Messages);
    let mut steps = vec![crate::upstream::stream_head("")];
    steps.extend(events.iter().take(4).map(crate::upstream::chunk));
    steps.push(Step::Hang);
    let (first, _spare, gateway) = ejected(steps).await;
    let question = fixtures::question(Protocol::Messages, true);
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut open = client::open(gateway.address(), ASK, &[], &question).await;
        client::until(&mut open, "Let me look.").await;
        streams.push(open);
    }
    assert_eq!(first.seen().len(), 8);
}

/// A request that an ejected upstream cannot take goes where it would go without the probe,
/// which the next request is instead.
#[tokio::test]
async fn a_request_that_the_upstream_cannot_take_goes_to_another() {
    let first = Server::scripted(Protocol::Messages, |number, _| {
        let error = fixtures::error(Protocol::Messages, "api_error", "No.");
        if number < 5 { whole(500, "", error) } else { answer() }
    })
    .await;
    let healthy = whole(200, "", fixtures::answer(Protocol::Chat));
    let healthy = Server::new(Protocol::Chat, healthy).await;
    let mut config = config(vec![at(&healthy), at(&first)]);
    config.retry.first_ejection = ms(100);
    config.retry.probe_timeout = ms(60_000);
    let gateway = start(config).await;
    for _ in 0..5 {
        assert_eq!(client::ask(&gateway, Protocol::Messages).await.status, 200);
    }
    tokio::time::sleep(ms(120)).await;
    let question = fixtures::question(Protocol::Chat, false);
    let two_answers = question.replacen('{', "{\"n\":2,", 1);
    for asked in 6..9 {
        let path = fixtures::path(Protocol::Chat);
        let got = client::post(gateway.address(), path, &[], &two_answers).await;
        assert_eq!(got.status, 200, "{got:?}");
        assert_eq!((healthy.seen_count(), first.seen_count()), (asked, 5));
    }
    assert_eq!(client::ask(&gateway, Protocol::Chat).await.status, 200);
    assert_eq!((healthy.seen_count(), first.seen_count()), (8, 6));
}

/// The same where a request passes: an upstream that takes the clients' own keys cannot take
/// one without.
#[tokio::test]
async fn a_request_without_the_upstreams_key_passes_to_another() {
    let first = Server::scripted(Protocol::Chat, |number, _| {
        let error = fixtures::error(Protocol::Chat, "api_error", "No.");
        if number < 5 { whole(500, "", error) } else { answer() }
    })
    .await;
    let spare = Server::new(Protocol::Chat, answer()).await;
    let keyless = UpstreamConfig { credential: Credential::Client, ..at(&first) };
    let second = UpstreamConfig { weight: 0, name: "spare".to_owned(), ..at(&spare) };
    let mut config = config(vec![keyless, second]);
    config.retry.first_ejection = ms(100);
    config.retry.probe_timeout = ms(60_000);
    let gateway = start(config).await;
    let to = gateway.address();
    let key = "authorization: Bearer of-the-client";
    for _ in 0..5 {
        assert_eq!(client::post(to, PASS, &[key], PASSED).await.status, 200);
    }
    tokio::time::sleep(ms(120)).await;
    for _ in 0..3 {
        assert_eq!(client::post(to, PASS, &[], PASSED).await.status, 200);
    }
    assert_eq!((first.seen_count(), spare.seen_count()), (5, 8));
    assert_eq!(client::post(to, PASS, &[key], PASSED).await.status, 200);
    assert_eq!((first.seen_count(), spare.seen_count()), (6, 8));
}
