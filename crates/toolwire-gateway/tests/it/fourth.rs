//! A protocol that nothing in the gateway knows, as a client's and as an
//! upstream's. Its model and whether to stream are in the URL.

use serde_json::{Value, json};
use toolwire::translate::{self, Options};
use toolwire::{Pipe, Protocol};
use toolwire_gateway::config::{Config, Origin, UpstreamConfig};

use crate::fourth_codec::FOURTH;
use crate::upstream::{Server, stream, whole};
use crate::{alias, at, client, config, fixtures, start};

/// A gateway whose clients may speak the fourth protocol too.
fn serving(upstreams: Vec<UpstreamConfig>) -> Config {
    let mut config = config(upstreams);
    config.protocols.push(FOURTH);
    config
}

/// An upstream that speaks it.
fn fourth_at(server: &Server) -> UpstreamConfig {
    let base = format!("http://{}", server.address);
    UpstreamConfig { origin: Origin::Http { base, path: "/v4".to_owned() }, ..at(server) }
}

fn question() -> String {
    let chat = fixtures::question(Protocol::Chat, false);
    let options = Options::new();
    let fourth = translate::request(Protocol::Chat, FOURTH, chat.as_bytes(), &options).unwrap();
    String::from_utf8(fourth.body).unwrap()
}

fn answer() -> String {
    let chat = fixtures::answer(Protocol::Chat);
    let options = Options::new();
    let fourth = translate::response(Protocol::Chat, FOURTH, chat.as_bytes(), &options).unwrap();
    String::from_utf8(fourth.body).unwrap()
}

fn events() -> Vec<String> {
    let mut pipe = Pipe::new(Protocol::Chat, FOURTH, &Options::new()).unwrap();
    let mut out = Vec::new();
    pipe.push(fixtures::events(Protocol::Chat).concat().as_bytes(), &mut out);
    pipe.finish(&mut out);
    let text = String::from_utf8(out).unwrap();
    text.split_inclusive("\n\n").map(str::to_owned).collect()
}

/// The only call of an answer in the fourth protocol.
fn call(answer: &Value) -> Value {
    let items = answer["reply"].as_array().unwrap();
    items.iter().find_map(|item| item.get("do")).cloned().unwrap()
}

#[tokio::test]
async fn a_client_of_every_upstream() {
    for from in Protocol::ALL {
        let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
        let gateway = start(serving(vec![at(&server)])).await;
        let got = client::post(gateway.address(), "/v4/models/m:ask", &[], &question()).await;
        assert_eq!(got.status, 200, "{from} {got:?}");
        assert!(got.header("x-example-request").is_some(), "{from} {got:?}");
        let call = call(&got.json());
        assert_eq!((&call["ref"], &call["with"]), (&json!("call_abc"), &json!({"city": "Paris"})));
        let seen = server.only();
        assert_eq!(seen.path, fixtures::path(from));
        assert_eq!(seen.json()["model"], "m", "{from}");

        let server = Server::new(from, stream(&fixtures::events(from))).await;
        let gateway = start(serving(vec![at(&server)])).await;
        let got = client::post(gateway.address(), "/v4/models/m:stream", &[], &question()).await;
        assert_eq!(got.status, 200, "{from} {got:?}");
        assert_eq!(server.only().json()["stream"], true, "{from}");
        assert!(got.whole && got.body.contains("call_abc"), "{from} {got:?}");
    }
}

#[tokio::test]
async fn an_upstream_of_every_client() {
    for to in Protocol::ALL {
        let server = Server::new(FOURTH, whole(200, "", answer())).await;
        let mut config = config(vec![fourth_at(&server)]);
        config.aliases.push(alias("m", "vendor/m 1"));
        let gateway = start(config).await;
        let question = fixtures::question(to, false);
        let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
        assert_eq!(got.status, 200, "{to} {got:?}");
        assert!(got.body.contains("call_abc"), "{to} {got:?}");
        assert_eq!(got.json()["model"], "m", "the client's own name comes back");
        let seen = server.only();
        assert_eq!(seen.path, "/v4/models/vendor%2Fm%201:ask");
        assert_eq!(seen.header("x-example-key"), Some("upstream-key"));
        assert_eq!(seen.header("x-example-version"), Some("4"));
        assert_eq!(seen.json().get("model"), None);

        let server = Server::new(FOURTH, stream(&events())).await;
        let gateway = start(crate::config(vec![fourth_at(&server)])).await;
        let question = fixtures::question(to, true);
        let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
        assert_eq!(server.only().path, "/v4/models/m:stream");
        assert!(got.whole && got.body.contains(fixtures::end_mark(to)), "{to} {got:?}");
    }
}

#[tokio::test]
async fn bytes_pass_within_it() {
    let server = Server::new(FOURTH, whole(200, "", answer())).await;
    let gateway = start(serving(vec![fourth_at(&server)])).await;
    let got = client::post(gateway.address(), "/v4/models/m:ask", &[], &question()).await;
    assert_eq!(got.body, answer());
    let seen = server.only();
    assert_eq!((seen.path.as_str(), seen.body), ("/v4/models/m:ask", question()));
}

#[tokio::test]
async fn its_errors_and_counts_are_its_own() {
    let error = fixtures::error(Protocol::Chat, "rate_limit_error", "Slow down.");
    let server = Server::new(Protocol::Chat, whole(429, "", error)).await;
    let gateway = start(serving(vec![at(&server)])).await;
    let got = client::post(gateway.address(), "/v4/models/m:ask", &[], &question()).await;
    assert!(got.status >= 400 && got.json()["fault"]["words"].is_string(), "{got:?}");
    let got = client::post(gateway.address(), "/v4/models/m:measure", &[], &question()).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!(got.header("toolwire-estimate"), Some("?1"));
    // Without the protocol in the configuration there is no such path.
    let gateway = start(config(vec![at(&server)])).await;
    let got = client::post(gateway.address(), "/v4/models/m:ask", &[], &question()).await;
    assert_eq!(got.status, 404, "{got:?}");
}
