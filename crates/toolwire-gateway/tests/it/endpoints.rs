//! The paths of the gateway.

use toolwire::Protocol;
use toolwire_gateway::config::Pattern;

use crate::upstream::{Server, whole};
use crate::{alias, at, client, config, fixtures, start};

#[tokio::test]
async fn models_in_the_clients_format() {
    let server = Server::new(Protocol::Chat, Vec::new()).await;
    let mut upstream = at(&server);
    upstream.models = vec![Pattern("one".to_owned()), Pattern("many-*".to_owned())];
    let mut config = config(vec![upstream]);
    config.aliases = vec![alias("fast", "one"), alias("any-*", "one")];
    let gateway = start(config).await;
    let list = client::get(gateway.address(), "/v1/models", &[]).await.json();
    assert_eq!(list["object"], "list");
    assert_eq!(list["data"][0]["id"], "one");
    assert_eq!(list["data"][0]["owned_by"], "chat");
    assert_eq!(list["data"][1]["id"], "fast");
    assert_eq!(list["data"].as_array().unwrap().len(), 2);
    let version = "anthropic-version: 2023-06-01";
    let list = client::get(gateway.address(), "/v1/models", &[version]).await.json();
    assert_eq!(list["data"][0]["type"], "model");
    assert_eq!(list["has_more"], false);
    assert_eq!(list["last_id"], "fast");
    let one = client::get(gateway.address(), "/v1/models/many-more", &[]).await.json();
    assert_eq!(one["id"], "many-more");
    let none = client::get(gateway.address(), "/v1/models/none", &[version]).await;
    assert_eq!(none.status, 404);
    assert_eq!(none.json()["error"]["type"], "not_found_error");
}

#[tokio::test]
async fn unknown_paths_and_methods() {
    let gateway = start(config(Vec::new())).await;
    let to = gateway.address();
    let got = client::post(to, "/v1/completions", &[], "{}").await;
    assert_eq!(got.status, 404);
    assert_eq!(got.json()["error"]["type"], "invalid_request_error");
    let got = client::post(to, "/v1/messages/batches", &[], "{}").await;
    assert_eq!(got.status, 404);
    assert_eq!(got.json()["type"], "error");
    assert_eq!(got.json()["request_id"], got.header("request-id").unwrap());
    let got = client::get(to, "/v1/messages", &[]).await;
    assert_eq!((got.status, got.header("allow")), (405, Some("POST")));
    let got = client::post(to, "/v1/models", &[], "{}").await;
    assert_eq!((got.status, got.header("allow")), (405, Some("GET")));
}

#[tokio::test]
async fn unknown_models() {
    let gateway = start(config(Vec::new())).await;
    for to in Protocol::ALL {
        let got = client::ask_for_stream(&gateway, to).await;
        assert_eq!(got.status, 404, "{got:?}");
        assert!(got.json()["error"]["message"].as_str().unwrap().contains("`m`"));
    }
}

#[tokio::test]
async fn counts_by_the_upstream_that_can() {
    let server = Server::new(Protocol::Messages, whole(200, "", r#"{"input_tokens":42}"#)).await;
    let mut upstream = at(&server);
    upstream.models = vec![Pattern("real".to_owned())];
    let mut config = config(vec![upstream]);
    config.aliases = vec![alias("m", "real")];
    let gateway = start(config).await;
    let question = fixtures::question(Protocol::Messages, false);
    let got =
        client::post(gateway.address(), "/v1/messages/count_tokens?beta=true", &[], &question)
            .await;
    assert_eq!(got.json()["input_tokens"], 42);
    assert_eq!(server.only().path, "/v1/messages/count_tokens");
    assert_eq!(server.only().json()["model"], "real");
    let question = fixtures::question(Protocol::Responses, false);
    let got = client::post(gateway.address(), "/v1/responses/input_tokens", &[], &question).await;
    assert_eq!(got.json()["object"], "response.input_tokens");
    assert!(got.json()["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn counts_by_estimate_where_the_upstream_cannot() {
    let error = fixtures::error(Protocol::Messages, "not_found_error", "No.");
    let server = Server::new(Protocol::Messages, whole(404, "", error)).await;
    let gateway = start(config(vec![at(&server)])).await;
    let question = fixtures::question(Protocol::Messages, false);
    let got = client::post(gateway.address(), "/v1/messages/count_tokens", &[], &question).await;
    assert_eq!(got.status, 200);
    assert!(got.json()["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(got.header("toolwire-estimate"), Some("?1"));
}

#[tokio::test]
async fn metrics_have_closed_labels() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let gateway = start(config(vec![at(&server)])).await;
    let to = gateway.address();
    for number in 0..50 {
        let question =
            fixtures::question(Protocol::Chat, false).replace("\"m\"", &format!("\"m{number}\""));
        client::post(to, "/v1/chat/completions", &[], &question).await;
        client::get(to, &format!("/path/{number}"), &[]).await;
    }
    let page = client::get(to, "/metrics", &[]).await.body;
    assert!(
        page.contains(
            "toolwire_requests_total{upstream=\"chat\",client=\"chat\",ending=\"answered\"} 50"
        ),
        "{page}"
    );
    assert!(page.contains("toolwire_input_tokens_total{upstream=\"chat\"} 550"), "{page}");
    assert!(page.contains("toolwire_calls_total{upstream=\"chat\"} 50"), "{page}");
    assert!(page.contains("toolwire_open_requests 0"), "{page}");
    assert!(page.lines().count() < 150, "{page}");
}
