//! Every route and every header against every kind of credential, and hostile
//! texts wherever a client can put one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::TcpListener;
use toolwire::Protocol;
use toolwire_gateway::config::{Credential, Secret};

use crate::upstream::{Server, whole};
use crate::{at, client, config, fixtures, pairs, start};

/// Every path that is not public: those of the protocols, and the gateway's own.
fn routes() -> Vec<(&'static str, &'static str)> {
    let mut routes = vec![
        ("GET", "/v1/models"),
        ("GET", "/v1/models/m"),
        ("GET", "/metrics"),
        ("POST", "/admin/reload"),
    ];
    for (path, methods) in toolwire_gateway::passed_routes() {
        // The pattern of an id is a path, too, as long as nothing is sent on.
        routes.extend(methods.into_iter().map(|method| (method, path)));
    }
    for protocol in Protocol::ALL {
        let description = protocol.describe();
        routes.push(("POST", description.answers.path));
        routes.extend(description.token_count.as_ref().map(|count| ("POST", count.path)));
    }
    routes
}

/// Proves that no route lets anyone in without the right key, and that the error
/// says nothing about the key.
#[tokio::test]
async fn every_route_asks_for_its_key() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let mut upstream = at(&server);
    upstream.passthrough = Some(false);
    let mut config = config(vec![upstream]);
    config.keys = vec![Secret::new("client-key-0123456".to_owned())];
    config.admin_key = Some(Secret::new("operator-key-0123456".to_owned()));
    let gateway = start(config).await;
    let to = gateway.address();
    let upstream = format!("x-api-key: {}", crate::watched_log::UPSTREAM_KEY);
    for (method, path) in routes() {
        let (right, other) = match path {
            "/admin/reload" => ("operator-key-0123456", "client-key-0123456"),
            _client => ("client-key-0123456", "operator-key-0123456"),
        };
        let other = format!("x-api-key: {other}");
        let prefix = format!("x-api-key: {}", &right[..right.len() - 1]);
        let longer = format!("authorization: Bearer {right}x");
        let upper = format!("authorization: Bearer {}", right.to_uppercase());
        let basic = format!("authorization: Basic {right}");
        let mut bodies = Vec::new();
        for credential in [
            "accept: */*",
            "x-api-key: wrong",
            "x-api-key: ",
            "authorization: Bearer",
            &other,
            &prefix,
            &longer,
            &upper,
            &basic,
            &upstream,
        ] {
            for host in [to.to_string(), "localhost".to_owned(), "127.0.0.1".to_owned()] {
                let request = format!(
                    "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n{credential}\r\ncontent-length: 2\r\n\r\n{{}}"
                );
                let got = client::raw(to, request.as_bytes()).await;
                assert_eq!(got.status, 401, "{method} {path} {credential} {got:?}");
                let id = got.header("x-request-id").or(got.header("request-id")).unwrap();
                bodies.push(got.body.replace(id, "ID"));
            }
        }
        bodies.dedup();
        assert_eq!(bodies.len(), 1, "{path} {bodies:?}");
        let key = format!("x-api-key: {right}");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\ncontent-type: application/json\r\n{key}\r\ncontent-length: 2\r\n\r\n{{}}"
        );
        assert_ne!(client::raw(to, request.as_bytes()).await.status, 401, "{method} {path}");
    }
    assert!(server.seen().is_empty());
}

/// Headers that clients, proxies and attackers send.
const HEADERS: &[&str] = &[
    "authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-auth-token",
    "cookie",
    "proxy-authorization",
    "x-amz-security-token",
    "x-csrf-token",
    "referer",
    "from",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "forwarded",
    "via",
    "cf-connecting-ip",
    "true-client-ip",
    "x-original-url",
    "x-rewrite-url",
    "x-http-method-override",
    "x-host",
    "x-custom-host",
    "x-target-url",
    "x-upstream",
    "x-base-url",
    "x-api-base",
    "x-portkey-custom-host",
    "x-portkey-provider",
    "helicone-auth",
    "helicone-target-url",
    "x-litellm-api-key",
    "openai-organization",
    "openai-project",
    "anthropic-workspace-id",
    "anthropic-user-profile-id",
    "x-stainless-lang",
    "x-stainless-arch",
    "x-app",
    "user-agent",
    "accept-language",
    "dnt",
    "priority",
    "if-none-match",
    "range",
    "expect-ct",
    "te",
    "x-request-id",
    "x-client-request-id",
    "anthropic-dangerous-direct-browser-access",
    "x-title",
    "http-referer",
    "session_id",
    "conversation_id",
    "originator",
    "chatgpt-account-id",
    "x-trace",
    "baggage",
    "b3",
];

/// Headers that every upstream gets, or those of a vendor.
const BUILT: &[&str] = &[
    "accept",
    "accept-encoding",
    "anthropic-version",
    "authorization",
    "content-length",
    "content-type",
    "host",
    "user-agent",
    "x-api-key",
    "x-client-request-id",
    "x-request-id",
];

/// Proves that headers for an upstream are built: none of a client's arrives but
/// those of the list, and none of its values.
#[tokio::test]
async fn only_listed_headers_arrive() {
    assert!(HEADERS.len() >= 60);
    for (to, from) in pairs() {
        for streams in [false, true] {
            let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
            let mut config = config(vec![at(&server)]);
            config.keys = vec![Secret::new("client-key-0123456".to_owned())];
            let gateway = start(config).await;
            let mut headers = vec!["authorization: Bearer client-key-0123456".to_owned()];
            for name in HEADERS.iter().filter(|name| **name != "authorization") {
                headers.push(format!("{name}: leaked-value"));
            }
            let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
            let question = fixtures::question(to, streams);
            let got =
                client::post(gateway.address(), fixtures::path(to), &headers, &question).await;
            assert_eq!(got.status, 200, "{got:?}");
            let head = server.only().head;
            assert!(!head.contains("leaked-value") && !head.contains("client-key"), "{head}");
            for line in head.lines().skip(1) {
                let name = line.split(':').next().unwrap().to_ascii_lowercase();
                assert!(BUILT.contains(&name.as_str()), "{to} {from} {line}");
            }
            // A client gets its own id of the request back, and nothing else.
            let own_id = "toolwire-client-request-id: leaked-value\r\n";
            assert_eq!(got.head.matches("leaked-value").count(), 1, "{got:?}");
            assert!(format!("{}\r\n", got.head).contains(own_id), "{got:?}");
        }
    }
}

/// Members that name a URL in other gateways, or that vendors themselves fetch.
const URL_FIELDS: &[&str] = &[
    "api_base", "base_url", "baseURL", "endpoint", "host", "custom_host", "proxy", "callback_url",
    "webhook", "webhook_url", "azure_endpoint", "vertex_location", "model_url", "litellm_params",
];

/// Ways to write an address.
fn spellings(port: u16) -> Vec<String> {
    let hosts = [
        "127.0.0.1", "localhost", "0.0.0.0", "0", "127.1", "2130706433", "0x7f000001",
        "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::]", "[64:ff9b::7f00:1]", "localhost.",
        "user:pw@127.0.0.1", "127.0.0.1%2f", "①②⑦.0.0.1", "169.254.169.254", "100.64.0.1",
    ];
    let mut all = Vec::new();
    for scheme in ["http", "https", "HTTP", "ws", "ftp", "gopher", "file"] {
        all.extend(hosts.iter().map(|host| format!("{scheme}://{host}:{port}/x")));
    }
    all
}

/// Proves that no address of a client's is ever connected to: not in a member of
/// the body, in content, in a tool, in a header or in the path.
#[tokio::test]
async fn no_address_of_a_client_is_used() {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    for (turn, from) in Protocol::ALL.into_iter().enumerate() {
        let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
        let mut upstream = at(&server);
        upstream.credential = Credential::Key(Secret::new("bound-to-one-origin".to_owned()));
        let gateway = start(config(vec![upstream])).await;
        let address = gateway.address();
        let mut sent = 0;
        for (index, url) in spellings(port).iter().enumerate().skip(turn).step_by(3) {
            for to in Protocol::ALL {
                let field = URL_FIELDS[index % URL_FIELDS.len()];
                let body = fixtures::question(to, false).replacen(
                    '{',
                    &format!(r#"{{"{field}":"{url}","#),
                    1,
                );
                let content = fixtures::question(to, false).replace("Weather in Paris?", url);
                let tool = fixtures::question(to, false)
                    .replace("\"type\":\"object\"", &format!(r#""type":"object","$ref":"{url}""#));
                let header = format!(
                    "{}: {}",
                    HEADERS[index % HEADERS.len()].replace("te", "x-te"),
                    url.replace("①②⑦", "127")
                );
                let quoted = url.replace("①②⑦", "127");
                let path = format!("{}?base_url={quoted}", fixtures::path(to));
                for (path, headers, body) in [
                    (fixtures::path(to), vec![], &body),
                    (fixtures::path(to), vec![], &content),
                    (fixtures::path(to), vec![header.as_str()], &tool),
                    (path.as_str(), vec![], &content),
                ] {
                    client::post(address, path, &headers, body).await;
                    sent += 1;
                }
            }
        }
        assert!(sent >= 300 && server.seen().len() <= sent, "{sent}");
        assert!(server.seen().len() > sent / 2, "most requests are relayed");
        for redirect in [301, 307, 308] {
            let location = format!("location: http://127.0.0.1:{port}/\r\n");
            let server = Server::new(from, whole(redirect, &location, "{}")).await;
            let gateway = start(config(vec![at(&server)])).await;
            let question = fixtures::question(from, false);
            let got = client::post(gateway.address(), fixtures::path(from), &[], &question).await;
            assert!(got.status >= 400 && got.header("location").is_none(), "{got:?}");
        }
    }
    assert_eq!(connections.load(Ordering::Relaxed), 0);
}

/// Texts that break out of queries, templates, paths, terminals and logs.
const HOSTILE: &[&str] = &[
    "' OR '1'='1",
    "\" OR \"\"=\"",
    "'; DROP TABLE keys;--",
    "{\"$gt\":\"\"}",
    "$where",
    "%00",
    "../../etc/passwd",
    "..%2f..%2f",
    "${jndi:ldap://x}",
    "{{7*7}}",
    "<script>alert(1)</script>",
    "\\u0000",
    "%0d%0aset-cookie:a=b",
    "\u{1b}[2J",
    "a\u{202e}b",
    "\u{2028}",
    "\u{85}",
    "é",
    "\u{1f600}",
    "%s%n%x",
    "`id`",
    "$(id)",
    "| id",
    "a\"b",
    "toolwire",
    "null",
    "NaN",
    "-1",
    "1e999",
    "__proto__",
    "constructor",
    "*",
    "**",
    "m*",
    "/",
    "//",
    ".",
    "#",
    "?",
    "&",
];

/// How many of the texts are sent. The table's figure is 100,000.
fn sample() -> usize {
    std::env::var("TOOLWIRE_SAMPLES").ok().and_then(|text| text.parse().ok()).unwrap_or(2000)
}

/// Proves that no text of a client adds a series to the metrics, opens a door,
/// or makes the gateway fail: as a key, as a model, in a path, in the log.
#[tokio::test]
async fn hostile_texts() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let mut config = config(vec![at(&server)]);
    config.keys = vec![Secret::new("client-key-0123456".to_owned())];
    config.upstreams[0].models = vec![toolwire_gateway::config::Pattern("m".to_owned())];
    let gateway = start(config).await;
    let to = gateway.address();
    let right = "x-api-key: client-key-0123456";
    let series = async || {
        let page = client::get(to, "/metrics", &[right]).await.body;
        page.lines().filter(|line| !line.starts_with('#')).count()
    };
    let mut before = 0;
    for number in 0..sample() {
        // The first requests of each kind add what there is to count.
        if number == 1000 {
            before = series().await;
        }
        let text = format!("{}{}", HOSTILE[number % HOSTILE.len()], number / HOSTILE.len());
        let escaped = serde_json::to_string(&text).unwrap();
        let in_header: String = text.chars().filter(|c| c.is_ascii_graphic()).collect();
        let key = format!("x-api-key: {in_header}");
        let got = match number % 4 {
            0 => client::post(to, "/v1/messages", &[&key], "{}").await,
            1 => {
                let body = format!(r#"{{"model":{escaped},"messages":[],"input":"x"}}"#);
                client::post(to, fixtures::path(Protocol::ALL[number % 3]), &[right], &body).await
            }
            2 => {
                let path: String = in_header
                    .chars()
                    .filter(|c| c.is_alphanumeric() || "%/.*".contains(*c))
                    .collect();
                client::get(to, &format!("/v1/models/{path}"), &[right]).await
            }
            _key_of_the_body => {
                let body = fixtures::question(Protocol::Messages, false);
                let body = body.replacen('{', &format!("{{{escaped}:1,"), 1);
                let agent = format!("user-agent: {in_header}");
                client::post(to, "/v1/messages", &[right, &agent], &body).await
            }
        };
        let want: &[u16] = match number % 4 {
            0 => &[401],
            1 => &[400, 404],
            2 => &[400, 404],
            _relayed => &[200, 400],
        };
        assert!(want.contains(&got.status), "{text:?} {got:?}");
        assert!(!got.head.chars().any(|c| c.is_control() && c != '\r' && c != '\n'), "{got:?}");
    }
    assert_eq!(series().await, before, "a client added a series");
    assert!((1..5000).contains(&before));
}
