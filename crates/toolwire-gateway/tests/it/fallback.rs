//! Several upstreams for one model.

use toolwire::Protocol;
use toolwire_gateway::config::{LogFormat, Origin, UpstreamConfig};

use crate::log::logging;
use crate::upstream::{Server, Step, chunk, stream, stream_end, stream_head, whole};
use crate::{at, client, config, fixtures, ms, start};

/// Two upstreams, the first of which is tried first.
async fn two(first: Vec<Step>, stream_it: bool) -> (Server, Server, client::ReceivedResponse) {
    let first = Server::new(Protocol::Chat, first).await;
    let good = if stream_it {
        stream(&fixtures::events(Protocol::Messages))
    } else {
        whole(200, "", fixtures::answer(Protocol::Messages))
    };
    let second = Server::new(Protocol::Messages, good).await;
    let gateway = start(config(vec![at(&first), spare(&second)])).await;
    let question = fixtures::question(Protocol::Responses, stream_it);
    let got = client::post(gateway.address(), "/v1/responses", &[], &question).await;
    (first, second, got)
}

/// An upstream that is used only if no other is left.
fn spare(server: &Server) -> UpstreamConfig {
    UpstreamConfig { weight: 0, ..at(server) }
}

#[tokio::test]
async fn statuses_that_another_may_not_have() {
    for status in [429, 500, 502, 503, 529] {
        for stream in [false, true] {
            let body = fixtures::error(Protocol::Chat, "server_error", "No.");
            let (first, second, got) = two(whole(status, "", body), stream).await;
            assert_eq!(got.status, 200, "{status} {got:?}");
            assert!(got.body.contains("call_abc"));
            assert_eq!((first.seen().len(), second.seen().len()), (1, 1));
        }
    }
}

#[tokio::test]
async fn statuses_that_another_would_have_too() {
    for status in [400, 401, 403, 404, 413, 422] {
        let body = fixtures::error(Protocol::Chat, "invalid_request_error", "No.");
        let (first, second, got) = two(whole(status, "", body), false).await;
        assert!((400..500).contains(&got.status), "{status} {got:?}");
        assert_eq!((first.seen().len(), second.seen().len()), (1, 0));
    }
}

/// Somebody on the way stopped waiting for a request that may have been run.
#[tokio::test]
async fn never_after_a_504() {
    for stream in [false, true] {
        let body = fixtures::error(Protocol::Chat, "server_error", "No.");
        let (first, second, got) = two(whole(504, "", body), stream).await;
        assert!(got.status >= 500, "{got:?}");
        assert_eq!((first.seen().len(), second.seen().len()), (1, 0));
    }
}

#[tokio::test]
async fn an_error_as_the_first_event() {
    let event = format!("data: {}\n\n", fixtures::error(Protocol::Chat, "server_error", "No."));
    let (_, second, got) = two(vec![stream_head(""), chunk(event), stream_end()], true).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!(second.seen().len(), 1);
}

#[tokio::test]
async fn a_stream_that_opens_and_fails() {
    let opening = &fixtures::events(Protocol::Messages)[0];
    let error = fixtures::error(Protocol::Messages, "overloaded_error", "Busy.");
    let steps = vec![
        stream_head(""),
        chunk(opening),
        Step::Wait(ms(30)),
        chunk(format!("event: error\ndata: {error}\n\n")),
        stream_end(),
    ];
    for to in Protocol::ALL {
        let first = Server::new(Protocol::Messages, steps.clone()).await;
        // A spare that speaks the client's protocol would be tried first.
        let other = if to == Protocol::Chat { Protocol::Responses } else { Protocol::Chat };
        let second = Server::new(other, stream(&fixtures::events(other))).await;
        let gateway = start(config(vec![at(&first), spare(&second)])).await;
        let question = fixtures::question(to, true);
        let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
        assert_eq!(got.status, 200, "{got:?}");
        assert!(got.body.contains(fixtures::end_mark(to)), "{got:?}");
        assert!(!got.body.contains("Busy."), "{got:?}");
        assert_eq!((first.seen().len(), second.seen().len()), (1, 1));
    }
}

/// However much comes at once, an upstream that has begun an answer has run the request.
#[tokio::test]
async fn never_after_the_answer_has_begun() {
    let named = |data: &str| {
        let kind = data.split('"').nth(3).unwrap();
        format!("event: {kind}\ndata: {data}\n\n")
    };
    let events = fixtures::events(Protocol::Messages);
    let error = named(r#"{"type":"error","error":{"type":"overloaded_error","message":"Busy."}}"#);
    let search = named(
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}"#,
    );
    let words = events[..3].concat() + &error;
    let server_tool = events[0].clone() + &search + &error;
    for to in Protocol::ALL {
        for (begun, has_words) in [(&words, true), (&server_tool, false)] {
            let steps = vec![stream_head(""), chunk(begun), stream_end()];
            let first = Server::new(Protocol::Messages, steps).await;
            // A spare that speaks the client's protocol would be tried first.
            let other = if to == Protocol::Chat { Protocol::Responses } else { Protocol::Chat };
            let second = Server::new(other, stream(&fixtures::events(other))).await;
            let upstreams = config(vec![at(&first), spare(&second)]);
            let (gateway, lines) = logging(upstreams, LogFormat::Json).await;
            let got = client::ask_for_stream(&gateway, to).await;
            let told = format!("{to}: {got:?}");
            assert_eq!((first.seen_count(), second.seen_count()), (1, 0), "{told}");
            assert_eq!(got.status, 200, "{told}");
            assert_eq!(got.body.contains("Let me look."), has_words, "{told}");
            assert!(got.body.contains("Busy."), "{told}");
            let line: serde_json::Value = serde_json::from_str(&lines.wait(1).await[0]).unwrap();
            assert_eq!(line["ending"], "broken", "{line}");
            assert_eq!(line["reason"], "overloaded", "{line}");
        }
    }
}

/// The model of a whole answer that was broken off has run the request too, unless it has said
/// nothing.
#[tokio::test]
async fn never_after_a_part_of_a_whole_answer() {
    let broken_off = fixtures::answer(Protocol::Chat).replace(
        "\"finish_reason\":\"tool_calls\"",
        "\"finish_reason\":\"insufficient_system_resource\"",
    );
    let empty = r#"{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":"insufficient_system_resource"}]}"#;
    for (answer, others) in [(broken_off.as_str(), 0), (empty, 1)] {
        let (first, second, got) = two(whole(200, "", answer), false).await;
        assert_eq!(got.status, if others == 0 { 503 } else { 200 }, "{got:?}");
        assert_eq!((first.seen().len(), second.seen().len()), (1, others));
    }
}

/// A server that has opened its answer has begun to run the request, however its response ends.
#[tokio::test]
async fn never_after_an_opening_that_ends_in_nonsense() {
    let events = fixtures::events(Protocol::Messages);
    let nonsense = b"Internal error\r\n".to_vec();
    let unreadable = chunk("event: content_block_start\ndata: {\n\n");
    for ending in [Step::Send(nonsense), unreadable] {
        let steps =
            vec![stream_head(""), chunk(&events[0]), Step::Wait(ms(30)), ending, Step::Close];
        let first = Server::new(Protocol::Messages, steps).await;
        let second =
            Server::new(Protocol::Responses, stream(&fixtures::events(Protocol::Responses))).await;
        let gateway = start(config(vec![at(&first), spare(&second)])).await;
        let got = client::ask_for_stream(&gateway, Protocol::Chat).await;
        assert!(got.status >= 500, "{got:?}");
        assert_eq!((first.seen_count(), second.seen_count()), (1, 0));
    }
}

/// If all streams together keep too much, that is about this gateway, and no upstream's fault.
#[tokio::test]
async fn never_for_want_of_the_gateways_memory() {
    let events = fixtures::events(Protocol::Responses);
    let long = events[0].replace("response.created", "response.in_progress");
    let long = long
        .replace("\"model\":", &format!("\"instructions\":\"{}\",\"model\":", "x".repeat(100_000)));
    let steps = vec![stream_head(""), chunk(&events[0]), chunk(long), Step::Hang];
    let first = Server::new(Protocol::Responses, steps).await;
    let second =
        Server::new(Protocol::Messages, stream(&fixtures::events(Protocol::Messages))).await;
    let mut config = config(vec![at(&first), spare(&second)]);
    config.limits.streams_total = 50_000;
    let gateway = start(config).await;
    for asked in 1..=6 {
        let got = client::ask_for_stream(&gateway, Protocol::Chat).await;
        assert_eq!(got.status, 503, "{got:?}");
        // An upstream that fails so often would be ejected.
        assert_eq!((first.seen_count(), second.seen_count()), (asked, 0));
    }
}

#[tokio::test]
async fn never_after_the_request_was_sent() {
    let (first, second, got) = two(vec![Step::Close], false).await;
    assert_eq!(got.status, 502, "{got:?}");
    assert_eq!((first.seen().len(), second.seen().len()), (1, 0));
}

#[tokio::test]
async fn never_after_the_first_event() {
    let mut steps = vec![stream_head("")];
    steps.extend(fixtures::events(Protocol::Chat).iter().take(3).map(chunk));
    steps.push(Step::Close);
    let (_, second, got) = two(steps, true).await;
    assert_eq!(got.status, 200);
    assert_eq!(second.seen().len(), 0);
}

#[tokio::test]
async fn a_connection_that_is_refused() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let second =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let first = UpstreamConfig {
        name: "closed".to_owned(),
        origin: Origin::Http {
            base: format!("http://{}", closed.local_addr().unwrap()),
            path: "/v1".to_owned(),
        },
        ..at(&second)
    };
    drop(closed);
    let gateway = start(config(vec![first, spare(&second)])).await;
    let question = fixtures::question(Protocol::Chat, false);
    let ask = || client::post(gateway.address(), "/v1/chat/completions", &[], &question);
    for _ in 0..4 {
        assert_eq!(ask().await.status, 200);
    }
    // The fifth failure ejects it, so the next requests need no retries.
    for _ in 0..20 {
        assert_eq!(ask().await.status, 200);
    }
    let page = client::get(gateway.address(), "/metrics", &[]).await.body;
    assert!(page.contains("toolwire_ejections_total{upstream=\"closed\"} 1"), "{page}");
}

#[tokio::test]
async fn the_retry_budget_ends() {
    let body = fixtures::error(Protocol::Chat, "server_error", "No.");
    let first = Server::new(Protocol::Chat, whole(429, "", &body)).await;
    let second = Server::new(Protocol::Chat, whole(429, "", &body)).await;
    let gateway = start(config(vec![at(&first), spare(&second)])).await;
    let question = fixtures::question(Protocol::Chat, false);
    for _ in 0..100 {
        client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    }
    let sent = first.seen().len() + second.seen().len();
    assert!((110..=131).contains(&sent), "{sent}");
}

#[tokio::test]
async fn an_upstream_that_asks_for_a_pause_gets_it() {
    let body = fixtures::error(Protocol::Chat, "requests", "No.");
    let first = Server::new(Protocol::Chat, whole(429, "retry-after: 30\r\n", &body)).await;
    let second =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let gateway = start(config(vec![at(&first), spare(&second)])).await;
    let question = fixtures::question(Protocol::Chat, false);
    for _ in 0..5 {
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        assert_eq!(got.status, 200);
    }
    assert_eq!((first.seen().len(), second.seen().len()), (1, 5));
}

#[tokio::test]
async fn clients_that_leave_and_refused_requests_do_not_count() {
    let body = fixtures::error(Protocol::Chat, "invalid_request_error", "No.");
    let refusal = whole(400, "", &body);
    let server = Server::scripted(Protocol::Chat, move |number, _| {
        if number % 2 == 0 { vec![Step::Hang] } else { refusal.clone() }
    })
    .await;
    let gateway = start(config(vec![at(&server)])).await;
    let question = fixtures::question(Protocol::Chat, false);
    for round in 1..=8 {
        let open = client::open(gateway.address(), "/v1/chat/completions", &[], &question).await;
        server.until_seen(2 * round - 1).await;
        drop(open);
        server.left(round).await;
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        assert_eq!(got.status, 400);
    }
    let page = client::get(gateway.address(), "/metrics", &[]).await.body;
    assert!(page.contains("toolwire_ejections_total{upstream=\"chat\"} 0"), "{page}");
    assert!(page.contains("ending=\"left\"} 8"), "{page}");
}

#[tokio::test]
async fn weights() {
    let light = Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let heavy = Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let heavier = UpstreamConfig { weight: 3, name: "heavy".to_owned(), ..at(&heavy) };
    let gateway = start(config(vec![at(&light), heavier])).await;
    let question = fixtures::question(Protocol::Chat, false);
    for _ in 0..40 {
        client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    }
    let (light, heavy) = (light.seen().len(), heavy.seen().len());
    assert!(light + heavy == 40 && (9..=11).contains(&light), "{light} {heavy}");
}

/// The upstream that speaks the client's protocol is tried first, whatever its
/// weight, and the others if it fails.
#[tokio::test]
async fn the_clients_own_protocol_comes_first() {
    for to in Protocol::ALL {
        for fails in [false, true] {
            let mut servers = Vec::new();
            for from in Protocol::ALL {
                let answer = whole(200, "", fixtures::answer(from));
                let error = whole(503, "", fixtures::error(from, "server_error", "No."));
                let steps = if from == to && fails { error } else { answer };
                servers.push(Server::new(from, steps).await);
            }
            let mut upstreams: Vec<UpstreamConfig> = servers.iter().map(at).collect();
            for upstream in &mut upstreams {
                upstream.weight = if upstream.protocol == to { 0 } else { 9 };
            }
            let gateway = start(config(upstreams)).await;
            let question = fixtures::question(to, false);
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert_eq!(got.status, 200, "{to} {got:?}");
            for server in &servers {
                if server.protocol == to {
                    assert_eq!(
                        server.only().body,
                        question,
                        "tried first, with the client's own bytes"
                    );
                }
            }
            let asked: usize = servers.iter().map(|server| server.seen().len()).sum();
            assert_eq!(asked, if fails { 2 } else { 1 }, "{to}");
        }
    }
}

#[tokio::test]
async fn the_statuses_are_configuration() {
    for (status, retried) in [(404, true), (500, false)] {
        let error = fixtures::error(Protocol::Chat, "server_error", "No.");
        let first = Server::new(Protocol::Chat, whole(status, "", error)).await;
        let answer = whole(200, "", fixtures::answer(Protocol::Chat));
        let second = Server::new(Protocol::Chat, answer).await;
        let mut config = config(vec![at(&first), spare(&second)]);
        config.retry.statuses = vec![404..=404];
        let gateway = start(config).await;
        let question = fixtures::question(Protocol::Chat, false);
        let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
        assert_eq!(got.status, if retried { 200 } else { status }, "{got:?}");
        assert_eq!(second.seen().len(), usize::from(retried));
    }
}

/// A spare that cannot take a request does not hide why the others failed, and costs no
/// attempt.
#[tokio::test]
async fn an_upstream_that_cannot_take_the_request_is_passed_over() {
    for (status, header) in [(503, ""), (429, "retry-after: 7\r\n")] {
        let error = fixtures::error(Protocol::Chat, "server_error", "No.");
        let first = Server::new(Protocol::Chat, whole(status, header, error)).await;
        let answer = whole(200, "", fixtures::answer(Protocol::Messages));
        let second = Server::new(Protocol::Messages, answer).await;
        let mut config = config(vec![at(&first), spare(&second)]);
        config.retry.max_pause = ms(0);
        (config.retry.budget_reserve, config.retry.budget_percent) = (1, 1);
        let (gateway, lines) = logging(config, LogFormat::Json).await;
        let to = gateway.address();
        let question = fixtures::question(Protocol::Chat, false);
        let two_answers = question.replacen('{', "{\"n\":2,", 1);
        let path = fixtures::path(Protocol::Chat);
        let got = client::post(to, path, &[], &two_answers).await;
        assert_eq!(got.status, status, "{got:?}");
        assert_eq!(got.header("retry-after"), (status == 429).then_some("7"), "{got:?}");
        assert_eq!((first.seen_count(), second.seen_count()), (1, 0));
        let line: serde_json::Value = serde_json::from_str(&lines.wait(1).await[0]).unwrap();
        assert_eq!((&line["attempts"], &line["upstream"]), (&1.into(), &"chat".into()), "{line}");
        // The attempt is left for a request that the spare can take.
        assert_eq!(client::post(to, path, &[], &question).await.status, 200);
        assert_eq!((first.seen_count(), second.seen_count()), (2, 1));
    }
}
