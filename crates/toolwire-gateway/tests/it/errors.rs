//! Errors of upstreams, in the format of each client.

use toolwire::Protocol;

use crate::upstream::{Server, Step, chunk, stream_end, stream_head, whole};
use crate::{at, client, config, fixtures, ms, pairs, start};

struct Case {
    status: u16,
    openai: &'static str,
    messages: &'static str,
    to_openai: u16,
    to_messages: u16,
    kind_messages: &'static str,
}

const CASES: &[Case] = &[
    Case {
        status: 400,
        openai: "invalid_request_error",
        messages: "invalid_request_error",
        to_openai: 400,
        to_messages: 400,
        kind_messages: "invalid_request_error",
    },
    Case {
        status: 401,
        openai: "invalid_request_error",
        messages: "authentication_error",
        to_openai: 401,
        to_messages: 401,
        kind_messages: "authentication_error",
    },
    Case {
        status: 404,
        openai: "invalid_request_error",
        messages: "not_found_error",
        to_openai: 404,
        to_messages: 404,
        kind_messages: "not_found_error",
    },
    Case {
        status: 429,
        openai: "requests",
        messages: "rate_limit_error",
        to_openai: 429,
        to_messages: 429,
        kind_messages: "rate_limit_error",
    },
    Case {
        status: 500,
        openai: "server_error",
        messages: "api_error",
        to_openai: 500,
        to_messages: 500,
        kind_messages: "api_error",
    },
];

#[tokio::test]
async fn of_upstreams_in_the_clients_format() {
    for (to, from) in pairs() {
        for case in CASES {
            for stream in [false, true] {
                let kind = if from == Protocol::Messages { case.messages } else { case.openai };
                let body = fixtures::error(from, kind, "It went wrong.");
                let server = Server::new(from, whole(case.status, "", &body)).await;
                let gateway = start(config(vec![at(&server)])).await;
                let question = fixtures::question(to, stream);
                let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
                let want = if to == Protocol::Messages { case.to_messages } else { case.to_openai };
                assert_eq!(got.status, want, "{to} {from} {got:?}");
                let error = got.json();
                assert_eq!(error["error"]["message"], "It went wrong.", "{got:?}");
                if to == Protocol::Messages {
                    assert_eq!(error["type"], "error");
                    assert_eq!(error["error"]["type"], case.kind_messages, "{to} {from} {got:?}");
                }
                if to == from {
                    assert_eq!(got.body, body);
                }
            }
        }
    }
}

#[tokio::test]
async fn overload_has_two_statuses() {
    for (to, from) in pairs() {
        let status = if from == Protocol::Messages { 529 } else { 503 };
        let kind = if from == Protocol::Messages { "overloaded_error" } else { "server_error" };
        let server =
            Server::new(from, whole(status, "", fixtures::error(from, kind, "Busy."))).await;
        let gateway = start(config(vec![at(&server)])).await;
        let got = client::ask(&gateway, to).await;
        let want = if to == Protocol::Messages { 529 } else { 503 };
        assert_eq!(got.status, want, "{to} {from} {got:?}");
    }
}

#[tokio::test]
async fn that_look_like_answers() {
    for to in Protocol::ALL {
        for stream in [false, true] {
            let body = r#"{"error":{"message":"No such model.","type":"invalid_request_error","code":"model_not_found"}}"#;
            let server = Server::new(Protocol::Chat, whole(200, "", body)).await;
            let gateway = start(config(vec![at(&server)])).await;
            let question = fixtures::question(to, stream);
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert_eq!(got.status, 404, "{to} {got:?}");
        }
    }
}

#[tokio::test]
async fn in_a_failed_answer() {
    let body = r#"{"id":"resp_1","object":"response","created_at":1790000000,"status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow down."},"model":"m","output":[],"usage":null}"#;
    for to in [Protocol::Chat, Protocol::Messages] {
        let server = Server::new(Protocol::Responses, whole(200, "", body)).await;
        let gateway = start(config(vec![at(&server)])).await;
        let question = fixtures::question(to, false);
        let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
        assert_eq!(got.status, 429, "{to} {got:?}");
    }
}

#[tokio::test]
async fn as_the_first_event() {
    for (to, from) in pairs() {
        let event = match from {
            Protocol::Chat => format!("data: {}\n\n", fixtures::error(from, "rate_limit_error", "Slow down.")),
            Protocol::Responses => "event: error\ndata: {\"type\":\"error\",\"sequence_number\":0,\"code\":\"rate_limit_exceeded\",\"message\":\"Slow down.\",\"param\":null}\n\n".to_owned(),
            Protocol::Messages => format!("event: error\ndata: {}\n\n", fixtures::error(from, "rate_limit_error", "Slow down.")),
            other => panic!("not a built-in protocol: {other:?}"),
        };
        let server = Server::new(from, vec![stream_head(""), chunk(event), stream_end()]).await;
        let gateway = start(config(vec![at(&server)])).await;
        let got = client::ask_for_stream(&gateway, to).await;
        assert_eq!(got.status, 429, "{to} {from} {got:?}");
        assert!(got.json()["error"]["message"].as_str().unwrap().starts_with("Slow down."));
    }
}

#[tokio::test]
async fn that_are_not_json() {
    let page = "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: 14\r\n\r\n<html>no</html";
    for (to, from) in pairs() {
        let server = Server::new(from, vec![Step::Send(page.as_bytes().to_vec())]).await;
        let gateway = start(config(vec![at(&server)])).await;
        let got = client::ask(&gateway, to).await;
        assert!((500..505).contains(&got.status), "{got:?}");
        assert!(got.json()["error"]["message"].as_str().unwrap().contains("502"));
    }
}

#[tokio::test]
async fn a_page_instead_of_an_answer() {
    for (to, from) in pairs() {
        let server = Server::new(from, whole(200, "", "<html>hotel wifi</html>")).await;
        let gateway = start(config(vec![at(&server)])).await;
        for stream in [false, true] {
            let question = fixtures::question(to, stream);
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert_eq!(got.status, 502, "{to} {from} {got:?}");
            assert!(!got.body.contains("wifi"));
        }
    }
}

#[tokio::test]
async fn nobody_listens() {
    for to in Protocol::ALL {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server::new(Protocol::Chat, Vec::new()).await;
        let mut upstream = at(&server);
        upstream.origin = toolwire_gateway::config::Origin::Http {
            base: format!("http://{}", listener.local_addr().unwrap()),
            path: "/v1".to_owned(),
        };
        drop(listener);
        let gateway = start(config(vec![upstream])).await;
        let got = client::ask_for_stream(&gateway, to).await;
        assert_eq!(got.status, 502, "{got:?}");
        assert!(
            got.json()["error"]["message"].as_str().unwrap().contains("chat cannot be reached")
        );
    }
}

#[tokio::test]
async fn no_tls_where_tls_was_configured() {
    let server = Server::new(Protocol::Chat, whole(200, "", "{}")).await;
    let mut upstream = at(&server);
    upstream.origin = toolwire_gateway::config::Origin::Http {
        base: format!("https://{}", server.address),
        path: "/v1".to_owned(),
    };
    upstream.timeouts.connect = ms(2000);
    let gateway = start(config(vec![upstream])).await;
    let question = fixtures::question(Protocol::Chat, false);
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert!(matches!(got.status, 502 | 504), "{got:?}");
    assert!(server.seen().is_empty(), "no credential goes out in the clear");
}
