//! Losses are reported in a header, or refused.

use toolwire::{LossPolicy, Protocol};

use crate::upstream::{Server, stream, whole};
use crate::{at, client, config, fixtures, start};

/// A Chat request with a seed, which Messages does not have.
fn question(stream: bool) -> String {
    fixtures::question(Protocol::Chat, stream).replacen('{', r#"{"seed":7,"#, 1)
}

async fn ask(
    stream_it: bool,
    headers: &[&str],
    set: impl Fn(&mut toolwire_gateway::config::Config),
) -> client::ReceivedResponse {
    let from = Protocol::Messages;
    let steps = if stream_it {
        stream(&fixtures::events(from))
    } else {
        whole(200, "", fixtures::answer(from))
    };
    let server = Server::new(from, steps).await;
    let mut config = config(vec![at(&server)]);
    set(&mut config);
    let gateway = start(config).await;
    client::post(gateway.address(), "/v1/chat/completions", headers, &question(stream_it)).await
}

#[tokio::test]
async fn are_reported() {
    for stream in [false, true] {
        let got = ask(stream, &[], |_| ()).await;
        assert_eq!(got.status, 200, "{got:?}");
        let loss = got.header("toolwire-loss").unwrap();
        assert!(loss.contains(r#""/seed";code=sampling;action=dropped"#), "{loss}");
    }
}

#[tokio::test]
async fn are_refused_on_request() {
    for stream in [false, true] {
        let got = ask(stream, &["toolwire-on-loss: refuse"], |_| ()).await;
        assert_eq!(got.status, 400, "{got:?}");
        assert!(got.json()["error"]["message"].as_str().unwrap().contains("/seed"));
    }
}

#[tokio::test]
async fn are_refused_by_policy_unless_the_request_has_its_own() {
    let refuse =
        |config: &mut toolwire_gateway::config::Config| config.on_loss = LossPolicy::Refuse;
    assert_eq!(ask(false, &[], refuse).await.status, 400);
    assert_eq!(ask(false, &["toolwire-on-loss: report"], refuse).await.status, 200);
    let softer = |config: &mut toolwire_gateway::config::Config| {
        config.on_loss = LossPolicy::Refuse;
        config.upstreams[0].on_loss = Some(LossPolicy::Ignore);
    };
    let got = ask(false, &[], softer).await;
    assert_eq!(got.status, 200);
    assert_eq!(got.header("toolwire-loss"), None);
}

#[tokio::test]
async fn an_unknown_policy_is_an_error() {
    let got = ask(false, &["toolwire-on-loss: whatever"], |_| ()).await;
    assert_eq!(got.status, 400);
    assert!(got.body.contains("toolwire-on-loss"));
}
