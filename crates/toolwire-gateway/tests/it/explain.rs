//! What the gateway says about a failure, and about what it would do.

use tokio::io::AsyncWriteExt;
use toolwire::Protocol;
use toolwire_gateway::config::{
    Credential, LogFormat, Origin, Pattern, Secret, SecretPlace, SecretSource, UpstreamConfig,
};
use toolwire_gateway::{OfflineGateway, check_upstreams};

use crate::log::logging;
use crate::upstream::{Server, Step, chunk, stream_head, whole};
use crate::watched_log::UPSTREAM_KEY;
use crate::{at, client, config, fixtures, ms, start};

fn key(name: &str) -> Secret {
    let place = SecretPlace::Variable(name.to_owned());
    let source = SecretSource { name: name.to_owned(), place };
    Secret::new(format!("key-of-{name}-0123456")).from_source(source)
}

/// An upstream with another address.
fn moved(server: &Server, name: &str, base: &str) -> UpstreamConfig {
    let origin = Origin::Http { base: base.to_owned(), path: "/v1".to_owned() };
    UpstreamConfig { name: name.to_owned(), origin, ..at(server) }
}

async fn closed_port() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// The https address of a server that only speaks http.
async fn no_tls() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ =
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
        }
    });
    format!("https://{address}")
}

/// The client and the log learn who failed and why, for every attempt.
#[tokio::test]
async fn every_failure_says_why() {
    let server =
        Server::new(Protocol::Chat, whole(503, "", r#"{"error":{"message":"busy"}}"#)).await;
    let silent = Server::new(Protocol::Chat, vec![Step::Hang]).await;
    let cut = Server::new(Protocol::Chat, vec![Step::Close]).await;
    let mut slow = moved(&silent, "slow", &format!("http://{}", silent.address));
    slow.timeouts.whole = ms(100);
    let tls = moved(&server, "tls", &no_tls().await);
    let cases = [
        (
            moved(&server, "closed", &closed_port().await),
            "refused",
            "nothing listens at its address",
        ),
        (
            moved(&server, "lost", "http://no-such-host.invalid"),
            "name_not_found",
            "the name of its host was not found",
        ),
        (tls, "no_tls", "it does not speak TLS at this port"),
        (slow, "timeout_headers", "took too long to start its response"),
        (at(&cut), "disconnected", "closed the connection before its response was complete"),
        (at(&server), "status_503", "busy"),
    ];
    for (upstream, reason, message) in cases {
        for format in [LogFormat::Json, LogFormat::Text] {
            let mut config = config(vec![upstream.clone()]);
            config.keys = vec![key("ALICE")];
            let (gateway, lines) = logging(config, format).await;
            let question = fixtures::question(Protocol::Chat, false);
            let headers = ["x-api-key: key-of-ALICE-0123456", "x-request-id: mine-1"];
            let got =
                client::post(gateway.address(), "/v1/chat/completions", &headers, &question).await;
            let told = got.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(told.contains(message), "{reason}: {told}");
            assert_eq!(got.header("toolwire-client-request-id"), Some("mine-1"));
            assert_ne!(got.header("x-request-id"), Some("mine-1"));
            let line = lines.wait(1).await.remove(0);
            let name = &upstream.name;
            if format == LogFormat::Text {
                let end = format!(
                    " key=ALICE client_request_id=mine-1 failed={name}:{reason} reason={reason}"
                );
                assert!(line.ends_with(&end), "{line}");
                continue;
            }
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(line["failed"][0]["upstream"], *name);
            assert_eq!(line["failed"][0]["reason"], reason, "{line}");
            assert_eq!((&line["reason"], &line["key"]), (&reason.into(), &"ALICE".into()));
            assert_eq!(line["client_request_id"], "mine-1");
            assert_eq!(line["path"], "/v1/chat/completions");
            assert!(line["time"].as_u64().unwrap() > 1_700_000_000);
        }
    }
}

#[tokio::test]
async fn every_attempt_is_in_the_log() {
    let good = Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let mut last = at(&good);
    last.weight = 0;
    let first = moved(&good, "first", &closed_port().await);
    let (gateway, lines) = logging(config(vec![first, last]), LogFormat::Json).await;
    let question = fixtures::question(Protocol::Chat, false);
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert_eq!(got.status, 200);
    let line: serde_json::Value = serde_json::from_str(&lines.wait(1).await[0]).unwrap();
    let failed = serde_json::json!([{"upstream": "first", "reason": "refused"}]);
    assert_eq!((&line["failed"], &line["upstream"]), (&failed, &"chat".into()));
    assert_eq!(line["reason"], serde_json::Value::Null);
}

#[tokio::test]
async fn a_stream_that_breaks_says_why() {
    let mut steps = vec![stream_head("")];
    steps.extend(fixtures::events(Protocol::Chat).iter().take(3).map(chunk));
    for (end, reason) in [(Step::Hang, "timeout_idle"), (Step::Close, "disconnected")] {
        let server = Server::new(Protocol::Chat, [steps.clone(), vec![end]].concat()).await;
        let mut upstream = at(&server);
        upstream.timeouts.idle = ms(200);
        let (gateway, lines) = logging(config(vec![upstream]), LogFormat::Json).await;
        let question = fixtures::question(Protocol::Messages, true);
        client::post(gateway.address(), "/v1/messages", &[], &question).await;
        let line: serde_json::Value = serde_json::from_str(&lines.wait(1).await[0]).unwrap();
        assert_eq!(
            (&line["ending"], &line["reason"]),
            (&"broken".into(), &reason.into()),
            "{line}"
        );
    }
}

/// A dry run tells what would be sent, without secrets, and sends nothing.
#[tokio::test]
async fn a_dry_run_sends_nothing() {
    let counted = whole(200, "", r#"{"input_tokens":42}"#);
    let server = Server::new(Protocol::Messages, counted).await;
    let mut upstream = at(&server);
    upstream.headers =
        vec![("x-token".to_owned(), Secret::new("header-secret-0123456".to_owned()))];
    let gateway = start(config(vec![upstream])).await;
    let to = gateway.address();
    for streams in [false, true] {
        let question =
            fixtures::question(Protocol::Chat, streams).replacen('{', r#"{"seed":7,"#, 1);
        let dry = "toolwire-dry-run: 1";
        let got = client::post(to, "/v1/chat/completions", &[dry], &question).await;
        assert_eq!((got.status, got.header("content-type")), (200, Some("application/json")));
        let plan = got.json();
        assert_eq!(plan["object"], "toolwire.dry_run");
        assert_eq!(
            (&plan["upstream"], &plan["protocol"]),
            (&"messages".into(), &"messages".into())
        );
        assert_eq!(plan["method"], "POST");
        assert_eq!(plan["url"], format!("http://{}/v1/messages", server.address));
        assert_eq!(plan["headers"]["x-api-key"], "[secret]");
        assert_eq!(plan["headers"]["x-token"], "[secret]");
        assert_eq!(plan["headers"]["content-type"], "application/json");
        assert_eq!(plan["body"]["model"], "m");
        assert!(plan["body"]["messages"].is_array(), "{plan}");
        let ledger = plan["ledger"].as_array().unwrap();
        assert!(ledger.iter().any(|entry| entry["path"] == "/seed"), "{plan}");
        assert!(!got.body.contains(UPSTREAM_KEY) && !got.body.contains("header-secret"));
    }
    let refused = r#"{"model":"m","messages":[],"tools":[{"type":"function"}],"n":3}"#;
    let headers = ["toolwire-dry-run: 1", "toolwire-on-loss: refuse"];
    assert_eq!(client::post(to, "/v1/chat/completions", &headers, refused).await.status, 400);
    let got = client::post(to, "/v1/messages/batches", &["toolwire-dry-run: 1"], "{}").await;
    assert_eq!(got.json()["url"], format!("http://{}/v1/messages/batches", server.address));
    let question = fixtures::question(Protocol::Messages, false);
    let path = "/v1/messages/count_tokens";
    assert_eq!(client::post(to, path, &["toolwire-dry-run: 1"], &question).await.status, 400);
    assert_eq!(server.seen_count(), 0);
    let got = client::post(to, path, &["toolwire-dry-run: 0"], &question).await;
    assert_eq!(got.status, 200, "{got:?}");
}

#[tokio::test]
async fn a_plan_without_a_gateway() {
    let server = Server::new(Protocol::Messages, Vec::new()).await;
    let mut upstream = at(&server);
    upstream.credential = Credential::Client;
    let offline = OfflineGateway::new(config(vec![upstream])).unwrap();
    let question = fixtures::question(Protocol::Chat, true).into_bytes();
    let plan = offline.plan(Protocol::Chat, question).await.unwrap();
    let plan: serde_json::Value = serde_json::from_slice(&plan).unwrap();
    assert_eq!(plan["headers"]["authorization"], "[secret]");
    assert_eq!(plan["body"]["stream"], true);
    let offline = OfflineGateway::new(config(Vec::new())).unwrap();
    let error = offline.plan(Protocol::Chat, b"{\"model\":\"m\"}".to_vec()).await.unwrap_err();
    assert!(String::from_utf8(error).unwrap().contains("No upstream serves"));
    assert_eq!(server.seen_count(), 0);
}

/// `check --connect`: a key, an address or a certificate that is wrong is named.
#[tokio::test]
async fn upstreams_are_asked() {
    let list = r#"{"object":"list","data":[{"id":"a","x":1},{"id":"b"}]}"#;
    let good = Server::new(Protocol::Chat, whole(200, "", list)).await;
    let denied = Server::new(Protocol::Messages, whole(401, "", "{}")).await;
    let no_list = Server::scripted(Protocol::Responses, |_, request| {
        if request.path == "/v1/models" { whole(404, "", "{}") } else { whole(200, "", "{}") }
    })
    .await;
    let named = |server: &Server, name: &str, models: &[&str]| UpstreamConfig {
        name: name.to_owned(),
        models: models.iter().map(|model| Pattern((*model).to_owned())).collect(),
        ..at(server)
    };
    let mut wrong_key = named(&denied, "wrong-key", &["*"]);
    wrong_key.credential = Credential::Key(key("MY_KEY"));
    let mut no_key = named(&denied, "no-key", &["*"]);
    no_key.credential = Credential::None;
    let mut clients = named(&denied, "clients", &["*"]);
    clients.credential = Credential::Client;
    let upstreams = vec![
        named(&good, "good", &["a", "b*"]),
        named(&good, "missing", &["c"]),
        wrong_key,
        no_key,
        clients,
        named(&no_list, "no-list", &["m"]),
        named(&no_list, "patterns", &["m*"]),
        moved(&good, "closed", &closed_port().await),
        moved(&good, "tls", &no_tls().await),
    ];
    let offline = OfflineGateway::new(config(upstreams)).unwrap();
    let reports = check_upstreams(&offline).await;
    let found: Vec<_> = reports
        .iter()
        .map(|report| (report.upstream.as_str(), report.is_usable, report.finding.as_str()))
        .collect();
    let expected = [
        ("good", true, "it lists 2 models"),
        ("missing", true, "it lists 2 models, but not c"),
        ("wrong-key", false, "it does not accept the key in the variable MY_KEY (status 401)"),
        ("no-key", false, "it needs a key (status 401), and none is configured"),
        ("clients", true, "it is there, and asks for the client's own key, which is not checked"),
        ("no-list", true, "it answers for `m`"),
        (
            "patterns",
            false,
            "it responded with status 404 to a request for its models; name a model in `models` to try that",
        ),
        ("closed", false, "The upstream closed cannot be reached: nothing listens at its address"),
        (
            "tls",
            false,
            "The upstream tls failed the TLS handshake: it does not speak TLS at this port",
        ),
    ];
    assert_eq!(found, expected);
    let sent = no_list.seen().pop().unwrap();
    assert_eq!(sent.path, "/v1/models");
    let asked = no_list.seen().into_iter().find(|request| request.path == "/v1/responses").unwrap();
    let want = serde_json::json!({"model": "m", "input": [{"role": "user", "content": "Hi"}], "max_output_tokens": 16});
    assert_eq!(asked.json(), want);
}
