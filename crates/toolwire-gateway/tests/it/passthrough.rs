//! Requests that pass as they are: embeddings, images, audio, files, batches.

mod endings;

use tokio::io::AsyncWriteExt;
use toolwire::Protocol;
use toolwire_gateway::config::{Config, Pattern, Secret, UpstreamConfig};

use crate::upstream::{Server, Step, chunk, stream_head, whole};
use crate::watched_log::UPSTREAM_KEY;
use crate::{alias, at, client, config, ms, start};

const ANSWER: &str = r#"{ "object":"list", "data":[1.0,1e2], "unknown":{"b":1,"a":2} }"#;

async fn server(protocol: Protocol) -> Server {
    Server::new(protocol, whole(200, "x-request-id: up-1\r\nset-cookie: a=b\r\n", ANSWER)).await
}

fn named(server: &Server, name: &str, models: &[&str]) -> UpstreamConfig {
    let models = models.iter().map(|model| Pattern((*model).to_owned())).collect();
    UpstreamConfig { name: name.to_owned(), models, ..at(server) }
}

fn with_keys(upstreams: Vec<UpstreamConfig>, keys: &[&str]) -> Config {
    let mut config = config(upstreams);
    config.keys = keys.iter().map(|key| Secret::new((*key).to_owned())).collect();
    config
}

/// A form with a file of this size, and where the model is.
fn form(model: Option<&str>, file: usize) -> (String, String) {
    let mut body = String::new();
    if let Some(model) = model {
        body.push_str(&format!(
            "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n{model}\r\n"
        ));
    }
    body.push_str(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.mp3\"\r\n\r\n",
    );
    body.push_str(&"x".repeat(file));
    body.push_str("\r\n--b--\r\n");
    ("content-type: multipart/form-data; boundary=b".to_owned(), body)
}

/// Every row of the table: bytes and query pass both ways, the gateway's key stays
/// here, and the operator's key goes out.
#[tokio::test]
async fn every_route_passes() {
    let [openai, anthropic] = [server(Protocol::Chat).await, server(Protocol::Messages).await];
    let upstreams = vec![at(&openai), at(&anthropic)];
    let gateway = start(with_keys(upstreams, &["client-key-0123456"])).await;
    let to = gateway.address();
    let mut count = 0;
    for (template, methods) in toolwire_gateway::passed_routes() {
        for method in methods {
            let path = template.replace("{}", "id-1");
            let is_anthropic = path.starts_with("/v1/messages");
            let body = if method == "POST" { r#"{ "input": 1.0, "n":1 }"# } else { "" };
            let request = format!(
                "{method} {path}?limit=2&after=x HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n\
                 content-type: application/json\r\nx-api-key: client-key-0123456\r\n\
                 accept: text/x\r\ncookie: c\r\nx-other: y\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            let got = client::raw(to, request.as_bytes()).await;
            assert_eq!((got.status, got.body.as_str()), (200, ANSWER), "{method} {path} {got:?}");
            assert_eq!(got.header("content-type"), Some("application/json"));
            assert_eq!(got.header("toolwire-upstream-request-id"), Some("up-1"));
            assert_eq!(got.header("set-cookie"), None);
            assert_eq!(got.header("content-security-policy"), Some("default-src 'none'; sandbox"));
            let server = if is_anthropic { &anthropic } else { &openai };
            let seen = server.seen().pop().unwrap();
            assert_eq!(seen.path, format!("{path}?limit=2&after=x"));
            assert_eq!(seen.body, body);
            assert!(seen.head.starts_with(method), "{seen:?}");
            assert!(!seen.head.contains("client-key"), "{seen:?}");
            assert_eq!((seen.header("cookie"), seen.header("x-other")), (None, None));
            assert_eq!(seen.header("accept"), Some("text/x"));
            let content_type = (method == "POST").then_some("application/json");
            assert_eq!(seen.header("content-type"), content_type);
            let key =
                if is_anthropic { seen.header("x-api-key") } else { seen.header("authorization") };
            assert!(key.unwrap().ends_with(UPSTREAM_KEY), "{seen:?}");
            count += 1;
        }
    }
    assert_eq!(count, 22);
}

#[tokio::test]
async fn files_are_of_the_vendor_whose_protocol_the_client_speaks() {
    let [openai, anthropic] = [server(Protocol::Chat).await, server(Protocol::Messages).await];
    let gateway = start(config(vec![at(&openai), at(&anthropic)])).await;
    client::get(gateway.address(), "/v1/files", &["anthropic-version: 2023-06-01"]).await;
    assert_eq!((openai.seen_count(), anthropic.seen_count()), (0, 1));
    client::get(gateway.address(), "/v1/files", &[]).await;
    assert_eq!((openai.seen_count(), anthropic.seen_count()), (1, 1));
}

/// By the model in the body, JSON or a form, whatever comes before it, under the
/// upstream's own name of it.
#[tokio::test]
async fn the_model_decides() {
    let [one, two] = [server(Protocol::Chat).await, server(Protocol::Responses).await];
    let upstreams =
        vec![named(&one, "one", &["embed-*"]), named(&two, "two", &["whisper", "big-1"])];
    let mut config = config(upstreams);
    config.aliases = vec![alias("small", "one/embed-small")];
    let gateway = start(config).await;
    let to = gateway.address();
    let long = "y".repeat(3 << 20);
    let json = |model: &str| format!(r#"{{"input":["{long}"],"model":"{model}","n":1}}"#);
    for (asked, sent) in [("embed-1", "embed-1"), ("small", "embed-small"), ("one/x", "x")] {
        let got = client::post(to, "/v1/embeddings", &[], &json(asked)).await;
        assert_eq!(got.status, 200, "{asked} {}", got.head);
        assert!(one.seen().pop().unwrap().body == json(sent), "{asked}");
    }
    assert_eq!(two.seen_count(), 0);
    for (asked, sent) in [("whisper", "whisper"), ("two/whisper-2", "whisper-2")] {
        let (content_type, body) = form(Some(asked), 3 << 20);
        let got = client::post(to, "/v1/audio/transcriptions", &[&content_type], &body).await;
        assert_eq!(got.status, 200, "{got:?}");
        let seen = two.seen().pop().unwrap();
        assert!(seen.body == form(Some(sent), 3 << 20).1, "{asked}");
        assert_eq!(seen.header("content-type"), Some("multipart/form-data; boundary=b"));
    }
}

#[tokio::test]
async fn without_a_model_the_only_upstream_that_fits() {
    let [one, two] = [server(Protocol::Chat).await, server(Protocol::Chat).await];
    let other = server(Protocol::Messages).await;
    // One API that speaks two protocols is one upstream.
    let mut twice = named(&one, "one-responses", &["gpt-*"]);
    twice.protocol = Protocol::Responses;
    let only = vec![named(&one, "one", &["gpt-*"]), twice, named(&other, "other", &["claude-*"])];
    let gateway = start(config(only.clone())).await;
    for body in ["{}", r#"{"model":"nobody-lists-it"}"#] {
        let got = client::post(gateway.address(), "/v1/moderations", &[], body).await;
        assert_eq!(got.status, 200, "{got:?}");
    }
    let several = [only, vec![named(&two, "two", &["llama-*"])]].concat();
    let gateway = start(config(several)).await;
    let to = gateway.address();
    for (body, status, says) in [
        ("{}", 400, "one, one-responses, two"),
        (r#"{"model":"nobody-lists-it"}"#, 400, "`nobody-lists-it`"),
        (r#"{"model":"claude-9"}"#, 404, "The upstream other serves the model `claude-9`"),
    ] {
        let got = client::post(to, "/v1/embeddings", &[], body).await;
        assert_eq!(got.status, status, "{got:?}");
        let message = got.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(says) && message.contains("toolwire-upstream"), "{message}");
    }
    let got = client::post(to, "/v1/embeddings", &["toolwire-upstream: two"], "{}").await;
    assert_eq!((got.status, two.seen_count()), (200, 1));
    let got = client::post(to, "/v1/embeddings", &["toolwire-upstream: other"], "{}").await;
    assert_eq!(got.status, 404, "{got:?}");
    assert!(got.body.contains("one, one-responses, two"), "{got:?}");
    let gateway = start(config(vec![named(&other, "other", &["*"])])).await;
    let got = client::post(gateway.address(), "/v1/embeddings", &[], "{}").await;
    assert_eq!(got.status, 404, "{got:?}");
    assert!(got.body.contains("speaks a protocol of openai"), "{got:?}");
}

/// Proves that clients with keys of their own don't see each other's files, unless
/// the operator says so.
#[tokio::test]
async fn accounts_are_not_shared_by_accident() {
    let server = server(Protocol::Chat).await;
    for (keys, passthrough, files, embeddings) in [
        (1, None, 200, 200),
        (2, None, 403, 200),
        (2, Some(true), 200, 200),
        (1, Some(false), 404, 404),
    ] {
        let mut upstream = at(&server);
        upstream.passthrough = passthrough;
        let keys = ["client-key-0123456", "another-key-012345"].get(..keys).unwrap();
        let gateway = start(with_keys(vec![upstream], keys)).await;
        let key = "x-api-key: client-key-0123456";
        let got = client::get(gateway.address(), "/v1/files", &[key]).await;
        assert_eq!(got.status, files, "{keys:?} {passthrough:?} {got:?}");
        let got = client::post(gateway.address(), "/v1/embeddings", &[key], "{}").await;
        assert_eq!(got.status, embeddings, "{keys:?} {passthrough:?} {got:?}");
    }
}

/// Proves that neither body is kept: both are longer than all memory for bodies.
#[tokio::test]
async fn nothing_is_kept() {
    let audio = "z".repeat(8 << 20);
    let server = Server::new(Protocol::Chat, whole(200, "", &audio)).await;
    let mut config = config(vec![at(&server)]);
    config.limits.bodies_total = 2 << 20;
    let gateway = start(config).await;
    let (content_type, body) = form(Some("m"), 8 << 20);
    let got =
        client::post(gateway.address(), "/v1/audio/translations", &[&content_type], &body).await;
    assert_eq!((got.status, got.body == audio), (200, true));
    assert!(server.only().body == body);
    let page = client::get(gateway.address(), "/metrics", &[]).await.body;
    assert!(page.contains("toolwire_body_bytes 0"), "{page}");
}

#[tokio::test]
async fn limits() {
    let server = server(Protocol::Chat).await;
    let mut config = config(vec![at(&server)]);
    (config.limits.body, config.limits.upload) = (1000, 5 << 20);
    config.limits.head_time = ms(300);
    let gateway = start(config).await;
    let to = gateway.address();
    let got = client::post(to, "/v1/embeddings", &[], &format!("\"{}\"", "a".repeat(1000))).await;
    assert_eq!(got.status, 413, "{got:?}");
    let (content_type, body) = form(Some("m"), 5 << 20);
    let got = client::post(to, "/v1/files", &[&content_type], &body).await;
    assert_eq!(got.status, 413, "{got:?}");
    // A client that stops in the middle does not hold the upstream forever.
    let head = format!(
        "POST /v1/files HTTP/1.1\r\nhost: {to}\r\n{content_type}\r\ncontent-length: 4000000\r\n\r\n"
    );
    let mut stream = tokio::net::TcpStream::connect(to).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body.as_bytes()[..1500]).await.unwrap();
    let got = client::until(&mut stream, "too slowly").await;
    assert!(got.starts_with("HTTP/1.1 408"), "{got}");
    assert_eq!(server.seen_count(), 0);
}

#[tokio::test]
async fn a_response_that_is_cut_looks_cut() {
    let head = "HTTP/1.1 200 X\r\ncontent-type: audio/mpeg\r\ncontent-length: 100\r\n\r\nabc";
    let length = vec![Step::Send(head.into()), Step::Close];
    let chunks = vec![stream_head(""), chunk("data: {}\n\n"), Step::Close];
    let stalled = vec![stream_head(""), chunk("data: {}\n\n"), Step::Hang];
    for (steps, has_length) in [(length, true), (chunks, false), (stalled, false)] {
        let server = Server::new(Protocol::Chat, steps).await;
        let mut upstream = at(&server);
        upstream.timeouts.idle = ms(200);
        let gateway = start(config(vec![upstream])).await;
        let got = client::post(gateway.address(), "/v1/audio/speech", &[], "{}").await;
        assert_eq!(got.status, 200);
        if has_length {
            let length: usize = got.header("content-length").unwrap().parse().unwrap();
            assert!(got.body.len() < length, "{got:?}");
        } else {
            assert!(!got.whole && got.body.starts_with("data: {}"), "{got:?}");
        }
    }
}

/// Errors pass as they are, whatever their shape, but for the operator's key.
#[tokio::test]
async fn errors_pass_without_secrets() {
    let body =
        format!(r#"{{"detail":[{{"loc":["body"],"msg":"bad key {UPSTREAM_KEY}-0123456789"}}]}}"#);
    let steps = whole(422, "retry-after: 7\r\n", &body);
    let server = Server::new(Protocol::Chat, steps).await;
    let mut upstream = at(&server);
    let key = format!("{UPSTREAM_KEY}-0123456789");
    upstream.credential = toolwire_gateway::config::Credential::Key(Secret::new(key.clone()));
    let gateway = start(config(vec![upstream])).await;
    let got = client::post(gateway.address(), "/v1/rerank", &[], "{}").await;
    assert_eq!((got.status, got.header("retry-after")), (422, Some("7")));
    assert_eq!(got.body, body.replace(&key, "[secret]"));
}

/// A short body may go to another upstream. One that was passed on while it
/// arrived is gone.
#[tokio::test]
async fn only_what_can_be_sent_again_is_retried() {
    let bad = Server::new(Protocol::Chat, whole(503, "", r#"{"error":{"message":"no"}}"#)).await;
    let good = server(Protocol::Chat).await;
    let mut second = named(&good, "good", &["*"]);
    second.weight = 0;
    let gateway = start(config(vec![named(&bad, "bad", &["*"]), second])).await;
    let to = gateway.address();
    let got = client::post(to, "/v1/embeddings", &[], r#"{"model":"m"}"#).await;
    assert_eq!((got.status, bad.seen_count(), good.seen_count()), (200, 1, 1), "{got:?}");
    let (content_type, body) = form(Some("m"), 3 << 20);
    let got = client::post(to, "/v1/audio/transcriptions", &[&content_type], &body).await;
    assert_eq!((got.status, bad.seen_count(), good.seen_count()), (503, 2, 1), "{got:?}");
}

#[tokio::test]
async fn what_does_not_pass() {
    let server = server(Protocol::Chat).await;
    let gateway = start(config(vec![at(&server)])).await;
    let to = gateway.address();
    let (content_type, body) = form(Some("m"), 10);
    for (path, headers, body, status) in [
        ("/v1/embeddings", content_type.as_str(), body.as_str(), 415),
        ("/v1/files", "content-type: text/plain", "{}", 415),
        ("/v1/embeddings", "content-encoding: gzip", "{}", 415),
        ("/v1/files", "origin: http://evil.example", "{}", 403),
        ("/v1/fine_tuning/jobs", "content-type: text/plain", "{}", 404),
        ("/v1/files/..", "accept: */*", "{}", 404),
        ("/v1/audio/a%2fb", "accept: */*", "{}", 404),
        ("/v1/files/a/content", "accept: */*", "{}", 405),
    ] {
        let got = client::post(to, path, &[headers], body).await;
        assert_eq!(got.status, status, "{path} {headers} {got:?}");
        if status == 404 {
            assert!(got.body.contains(&format!("The path {path} does not exist.")), "{got:?}");
        }
    }
    assert_eq!(server.seen_count(), 0);
}

/// A parameter that the operator adds to every URL is beside the client's own.
#[tokio::test]
async fn the_operators_query_is_added() {
    let server = server(Protocol::Chat).await;
    let mut upstream = at(&server);
    upstream.query = vec!["api-version=1".to_owned()];
    let gateway = start(config(vec![upstream])).await;
    client::get(gateway.address(), "/v1/files?limit=2", &[]).await;
    client::get(gateway.address(), "/v1/files", &[]).await;
    let paths: Vec<_> = server.seen().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/files?limit=2&api-version=1", "/v1/files?api-version=1"]);
}
