//! Answers that nobody waits for.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolwire::Protocol;
use toolwire_gateway::config::{LogFormat, StoreConfig};
use toolwire_store::{Lease, NewResponse, Options, Status, Store, Tenant, Write};

use super::{TempStore, delete, gateway, respond};
use crate::client;
use crate::log::logging;
use crate::upstream::{Gate, Server, Step, chunk, stream_end, stream_head, whole};
use crate::{at, config, fixtures, ms, start};

const UPSTREAMS: [Protocol; 2] = [Protocol::Chat, Protocol::Messages];

/// Asks for a response until it has ended.
pub(super) async fn ended(to: SocketAddr, id: &str) -> Value {
    ended_for(to, id, &[]).await
}

/// The same for a client with these headers.
pub(super) async fn ended_for(to: SocketAddr, id: &str, headers: &[&str]) -> Value {
    let by = Instant::now() + Duration::from_secs(25);
    loop {
        let got = client::get(to, &format!("/v1/responses/{id}"), headers).await;
        assert_eq!(got.status, 200, "{got:?}");
        let got = got.json();
        if !["queued", "in_progress"].contains(&got["status"].as_str().unwrap()) {
            return got;
        }
        assert!(Instant::now() < by, "it does not end: {got}");
        tokio::time::sleep(ms(5)).await;
    }
}

async fn begin(to: SocketAddr, more: &Value) -> Value {
    let mut body = json!({"model": "m", "input": "Hi", "background": true});
    let more = more.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(more);
    let got = respond(to, &body).await;
    assert_eq!(got.status, 200, "{got:?}");
    got.json()
}

fn id(response: &Value) -> &str {
    response["id"].as_str().unwrap()
}

/// A whole answer that comes when the gate is open.
fn behind(gate: &Gate, protocol: Protocol) -> Vec<Step> {
    let mut steps = vec![Step::Until(gate.clone())];
    steps.extend(whole(200, "", fixtures::answer(protocol)));
    steps
}

/// The events of a stream, each as it came.
fn events(body: &str) -> Vec<String> {
    // A line that begins with a colon is a heartbeat.
    let lines = body.split_inclusive('\n').filter(|line| !line.starts_with(':'));
    let body: String = lines.collect();
    let events = body.split_inclusive("\n\n").map(str::to_owned);
    events.filter(|event| !event.trim().is_empty() && !event.starts_with("data: [DONE]")).collect()
}

fn data(event: &str) -> Value {
    let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    serde_json::from_str(data).unwrap()
}

fn number(event: &str) -> u64 {
    data(event)["sequence_number"].as_u64().unwrap()
}

fn kinds(events: &[String]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event.lines().next().unwrap().strip_prefix("event: ").unwrap())
        .collect()
}

#[tokio::test]
async fn polling() {
    for protocol in UPSTREAMS {
        let gate = Gate::default();
        let server = Server::new(protocol, behind(&gate, protocol)).await;
        let gateway = gateway(&server, Options::memory()).await;
        let to = gateway.address();
        let queued = begin(to, &json!({"metadata": {"a": "b"}, "temperature": 0.5})).await;
        assert_eq!(queued["status"], "queued");
        assert_eq!((&queued["background"], &queued["store"]), (&json!(true), &json!(true)));
        assert_eq!(queued["output"], json!([]));
        let path = format!("/v1/responses/{}", id(&queued));
        assert_eq!(client::get(to, &path, &[]).await.json()["status"], "in_progress");
        let early = json!({"model": "m", "input": "x", "previous_response_id": queued["id"]});
        assert_eq!(respond(to, &early).await.status, 400, "it has not ended");
        gate.open();
        let done = ended(to, id(&queued)).await;
        assert_eq!(done["status"], "completed");
        // The same members, whether or not it has begun.
        let keys =
            |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
        assert_eq!(keys(&queued), keys(&done));
        for key in ["id", "created_at", "metadata", "temperature", "background"] {
            assert_eq!(queued[key], done[key], "{key}");
        }
        assert!(server.only().json().get("background").is_none());
        let items = client::get(to, &format!("{path}/input_items"), &[]).await.json();
        assert_eq!(items["data"][0]["content"][0]["text"], "Hi");
        let body = json!({"model": "m", "input": "On", "previous_response_id": queued["id"]});
        assert_eq!(respond(to, &body).await.status, 200);
        let sent = server.seen()[1].body.clone();
        assert!(sent.contains("Hi") && sent.contains("On"), "{sent}");
        let again = client::post(to, &format!("{path}/cancel"), &[], "").await;
        assert_eq!((again.status, again.json()), (200, done), "what has ended stays");
    }
}

/// A client that comes back gets exactly what it has missed, byte for byte, and
/// the work has not noticed that it left.
#[tokio::test]
async fn a_stream_goes_on_where_its_client_left() {
    for protocol in UPSTREAMS {
        for engine in ["memory", "sqlite"] {
            let file = TempStore::new(&format!("resumed-{protocol}"));
            let options = || match engine {
                "memory" => Options::memory(),
                _sqlite => file.options(),
            };
            let mut steps = vec![stream_head("")];
            for event in fixtures::events(protocol) {
                steps.extend([chunk(event), Step::Wait(ms(20))]);
            }
            steps.push(stream_end());
            let server = Server::new(protocol, steps).await;
            let gateway = gateway(&server, options()).await;
            let to = gateway.address();
            let body = json!({"model": "m", "input": "Hi", "background": true, "stream": true});
            let mut open = client::open(to, "/v1/responses", &[], &body.to_string()).await;
            let seen = client::until(&mut open, "Let me look.").await;
            drop(open);
            let at = seen.find("\"id\":\"resp_").unwrap() + 6;
            let id = seen[at..].split('"').next().unwrap().to_owned();
            let path = format!("/v1/responses/{id}?stream=true");
            let all = client::get(to, &path, &[]).await;
            assert_eq!(all.status, 200, "{all:?}");
            assert!(all.header("content-type").unwrap().starts_with("text/event-stream"));
            let all = events(&all.body);
            let numbers: Vec<u64> = all.iter().map(|event| number(event)).collect();
            assert_eq!(numbers, (0..all.len() as u64).collect::<Vec<_>>());
            assert!(all.last().unwrap().contains("event: response.completed"));
            for after in 0..all.len() {
                let rest = client::get(to, &format!("{path}&starting_after={after}"), &[]).await;
                assert_eq!(events(&rest.body), all[after + 1..], "after {after}");
                assert!(rest.whole);
            }
            let done = ended(to, &id).await;
            let last = all.last().unwrap().lines().find_map(|line| line.strip_prefix("data: "));
            let last: Value = serde_json::from_str(last.unwrap()).unwrap();
            assert_eq!(last["response"], done);
            assert_eq!(server.seen_count(), 1);
            assert_eq!(server.times_left(), 0, "the work was not stopped");
            if engine == "sqlite" {
                let other = super::gateway(&server, options()).await;
                let there = client::get(other.address(), &path, &[]).await;
                assert_eq!(events(&there.body), all, "through another gateway");
            }
            for wrong in ["x", "-1", ""] {
                let got = client::get(to, &format!("{path}&starting_after={wrong}"), &[]).await;
                assert_eq!(got.status, 400, "{wrong}");
            }
        }
    }
}

/// Events come as they are made, also through a gateway that does not make them.
#[tokio::test]
async fn a_stream_can_be_followed_from_another_gateway() {
    let protocol = Protocol::Chat;
    let file = TempStore::new("followed");
    let mut steps = vec![stream_head("")];
    for event in fixtures::events(protocol) {
        steps.extend([chunk(event), Step::Wait(ms(100))]);
    }
    steps.push(stream_end());
    let server = Server::new(protocol, steps).await;
    let one = gateway(&server, file.options()).await;
    let two = gateway(&server, file.options()).await;
    let body = json!({"model": "m", "input": "Hi", "background": true, "stream": true});
    let mut open = client::open(one.address(), "/v1/responses", &[], &body.to_string()).await;
    let seen = client::until(&mut open, "response.created").await;
    let at = seen.find("\"id\":\"resp_").unwrap() + 6;
    let path = format!("/v1/responses/{}?stream=true", seen[at..].split('"').next().unwrap());
    let other = client::get(two.address(), &path, &[]).await;
    assert!(other.body.contains("event: response.completed"), "{other:?}");
    let own = client::rest(&mut open).await;
    assert!(own.contains("event: response.completed"), "{own}");
}

#[tokio::test]
async fn cancelling_stops_the_upstream() {
    for protocol in UPSTREAMS {
        for stream in [false, true] {
            let mut steps = Vec::new();
            if stream {
                steps.push(stream_head(""));
                steps.extend(fixtures::events(protocol).iter().take(4).map(chunk));
            }
            steps.push(Step::Hang);
            let server = Server::new(protocol, steps).await;
            let gateway = gateway(&server, Options::memory()).await;
            let to = gateway.address();
            let body = json!({"model": "m", "input": "Hi", "background": true, "stream": stream});
            let mut open = client::open(to, "/v1/responses", &[], &body.to_string()).await;
            let seen = client::until(&mut open, "\"id\":\"resp_").await;
            server.until_seen(1).await;
            let at = seen.find("\"id\":\"resp_").unwrap() + 6;
            let id = seen[at..].split('"').next().unwrap().to_owned();
            let path = format!("/v1/responses/{id}");
            let cancelled = client::post(to, &format!("{path}/cancel"), &[], "").await;
            assert_eq!(cancelled.json()["status"], "cancelled", "{cancelled:?}");
            server.left(1).await;
            assert_eq!(client::get(to, &path, &[]).await.json(), cancelled.json());
            let again = client::post(to, &format!("{path}/cancel"), &[], "").await;
            assert_eq!((again.status, again.json()), (200, cancelled.json()));
            let rest = client::rest(&mut open).await;
            if !stream {
                continue;
            }
            // Whoever reads it is told, now and later.
            let stream = client::parse(format!("{seen}{rest}").as_bytes()).body;
            assert!(stream.ends_with("data: [DONE]\n\n"), "{stream}");
            let seen = events(&stream);
            let numbers: Vec<u64> = seen.iter().map(|event| number(event)).collect();
            assert_eq!(numbers, (0..seen.len() as u64).collect::<Vec<_>>());
            assert_eq!(kinds(&seen).last(), Some(&"response.cancelled"));
            assert_eq!(data(seen.last().unwrap())["response"], cancelled.json());
            let path = format!("{path}?stream=true");
            assert_eq!(client::get(to, &path, &[]).await.body, stream);
            for after in 0..seen.len() + 2 {
                let rest = client::get(to, &format!("{path}&starting_after={after}"), &[]).await;
                assert_eq!(events(&rest.body), seen[seen.len().min(after + 1)..], "after {after}");
                assert!(rest.whole);
            }
        }
    }
}

/// It may be cancelled before the model has said anything. Its stream begins all the same.
#[tokio::test]
async fn a_stream_that_was_cancelled_before_its_first_event() {
    let file = TempStore::new("unbegun");
    let store = Store::open(file.options()).await.unwrap();
    let body = r#"{"id":"resp_1","status":"cancelled","error":null,"output":[]}"#;
    let response = NewResponse {
        internal: "background stream".into(),
        ..NewResponse::new("resp_1", Status::Cancelled, body)
    };
    store.write(&Tenant::single(), vec![Write::Response(response)]).await.unwrap();
    let server = Server::new(Protocol::Chat, Vec::new()).await;
    let gateway = gateway(&server, file.options()).await;
    let path = "/v1/responses/resp_1?stream=true";
    let all = events(&client::get(gateway.address(), path, &[]).await.body);
    let expected = ["response.created", "response.in_progress", "response.cancelled"];
    assert_eq!(kinds(&all), expected, "{all:?}");
    assert_eq!(data(&all[0])["response"]["status"], "in_progress");
    for after in 0..4 {
        let path = format!("{path}&starting_after={after}");
        let rest = client::get(gateway.address(), &path, &[]).await;
        assert_eq!(events(&rest.body), all[all.len().min(after + 1)..], "after {after}");
    }
}

/// The gateway that works on it may be another one.
#[tokio::test]
async fn cancelling_or_deleting_through_another_gateway() {
    let file = TempStore::new("cancelled");
    let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
    let one = gateway(&server, file.options()).await;
    let two = gateway(&server, file.options()).await;
    let first = begin(one.address(), &json!({})).await;
    let second = begin(one.address(), &json!({})).await;
    server.until_seen(2).await;
    let path = format!("/v1/responses/{}/cancel", id(&first));
    let cancelled = client::post(two.address(), &path, &[], "").await;
    assert_eq!(cancelled.json()["status"], "cancelled");
    let path = format!("/v1/responses/{}", id(&second));
    assert_eq!(delete(two.address(), &path, &[]).await.status, 200);
    server.left_within(2, Duration::from_secs(10)).await;
    assert_eq!(ended(one.address(), id(&first)).await, cancelled.json());
    assert_eq!(client::get(one.address(), &path, &[]).await.status, 404);
}

#[tokio::test]
async fn deleting_stops_the_upstream() {
    let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let queued = begin(to, &json!({})).await;
    server.until_seen(1).await;
    let path = format!("/v1/responses/{}", id(&queued));
    assert_eq!(delete(to, &path, &[]).await.status, 200);
    server.left(1).await;
    assert_eq!(client::get(to, &path, &[]).await.status, 404);
}

/// An upstream's error is found in the response, and in the last event.
#[tokio::test]
async fn an_upstream_that_fails() {
    for protocol in UPSTREAMS {
        let error = r#"{"type":"error","error":{"type":"invalid_request_error","message":"No."}}"#;
        let server = Server::new(protocol, whole(400, "", error)).await;
        let gateway = gateway(&server, Options::memory()).await;
        let to = gateway.address();
        let queued = begin(to, &json!({})).await;
        let failed = ended(to, id(&queued)).await;
        assert_eq!(failed["status"], "failed");
        assert!(failed["error"]["message"].as_str().unwrap().contains("No."), "{failed}");
        let body = json!({"model": "m", "input": "Hi", "background": true, "stream": true});
        let got = respond(to, &body).await;
        assert_eq!(got.status, 200, "{got:?}");
        // The SDK's helpers expect a beginning, and other streams say why they fail.
        let events = events(&got.body);
        assert_eq!(kinds(&events), FAILED, "{got:?}");
        assert_eq!(events.iter().map(|event| number(event)).collect::<Vec<_>>(), [0, 1, 2, 3]);
        for event in &events[..2] {
            let answer = &data(event)["response"];
            assert_eq!(
                (&answer["status"], &answer["error"]),
                (&json!("in_progress"), &json!(null))
            );
        }
        assert!(data(&events[2])["error"]["message"].as_str().unwrap().contains("No."), "{got:?}");
        let answer = &data(&events[3])["response"];
        let path = format!("/v1/responses/{}", id(answer));
        assert_eq!(client::get(to, &path, &[]).await.json(), *answer);
        let rest = client::get(to, &format!("{path}?stream=true&starting_after=1"), &[]).await;
        assert_eq!(self::events(&rest.body), events[2..]);
    }
}

/// How a stream ends of which nothing was there before it failed.
const FAILED: [&str; 4] = ["response.created", "response.in_progress", "error", "response.failed"];

/// The log says what a client that waits would have got, and not that it left.
#[tokio::test]
async fn failed_work_is_logged_with_its_status() {
    for (status, said, ending) in [(400, 400, "refused"), (503, 503, "failed")] {
        for stream in [false, true] {
            let error = r#"{"error":{"type":"server_error","message":"No."}}"#;
            let server = Server::new(Protocol::Chat, whole(status, "", error)).await;
            let mut config = config(vec![at(&server)]);
            config.store = StoreConfig::On(Options::memory());
            let (gateway, lines) = logging(config, LogFormat::Json).await;
            let body = json!({"model": "m", "input": "Hi", "background": true, "stream": stream});
            assert_eq!(respond(gateway.address(), &body).await.status, 200);
            let lines = lines.wait(2).await.into_iter();
            let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
            let line = lines.find(|line| line["path"] == "background").unwrap();
            assert_eq!((&line["status"], &line["ending"]), (&json!(said), &json!(ending)));
        }
    }
}

/// Another gateway says that the answer has failed, once the one that worked on
/// it is gone. Events go on with their numbers.
#[tokio::test]
async fn work_that_died_with_its_gateway_has_failed() {
    let file = TempStore::new("abandoned");
    let store = Store::open(file.options()).await.unwrap();
    let tenant = Tenant::single();
    let body = r#"{"id":"resp_dead","status":"in_progress","error":null,"output":[]}"#;
    let lease = |owner: &str, seconds| {
        Some(Lease { owner: owner.to_owned(), duration: Duration::from_secs(seconds) })
    };
    let response = |id: &str, lease| NewResponse {
        lease,
        internal: "background stream".into(),
        ..NewResponse::new(id, Status::InProgress, body.replace("resp_dead", id))
    };
    let writes = vec![
        Write::Response(response("resp_dead", lease("dead", 1))),
        Write::Response(response("resp_alive", lease("alive", 60))),
    ];
    store.write(&tenant, writes).await.unwrap();
    let event = "event: response.created\ndata: {\"sequence_number\":0}\n\n";
    let events_of_dead = Write::Events {
        id: "resp_dead".to_owned(),
        owner: "dead".to_owned(),
        first: 0,
        events: vec![event.into()],
    };
    store.write(&tenant, vec![events_of_dead]).await.unwrap();
    let server = Server::new(Protocol::Chat, Vec::new()).await;
    let gateway = gateway(&server, file.options()).await;
    let to = gateway.address();
    // A client that waits is told, when the other gateway has had time to say that it lives.
    let path = "/v1/responses/resp_dead?stream=true";
    let all = client::get_within(Duration::from_secs(60), to, path).await;
    let all = events(&all.body);
    assert_eq!(kinds(&all), ["response.created", "error", "response.failed"], "{all:?}");
    assert_eq!((number(&all[1]), number(&all[2])), (1, 2));
    let failed = ended(to, "resp_dead").await;
    assert_eq!(failed["status"], "failed");
    assert!(failed["error"]["message"].as_str().unwrap().contains("gateway stopped"));
    let alive = client::get(to, "/v1/responses/resp_alive", &[]).await.json();
    assert_eq!(alive["status"], "in_progress", "somebody works on it");
}

/// A gateway that stops says what becomes of its work.
#[tokio::test]
async fn work_of_a_gateway_that_stops_has_failed() {
    let file = TempStore::new("stopped");
    let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
    let one = gateway(&server, file.options()).await;
    let queued = begin(one.address(), &json!({})).await;
    server.until_seen(1).await;
    one.handle().stop();
    one.stopped().await;
    let two = gateway(&server, file.options()).await;
    let path = format!("/v1/responses/{}", id(&queued));
    let failed = client::get(two.address(), &path, &[]).await.json();
    assert_eq!(failed["status"], "failed", "{failed}");
}

/// A client that has used up its room still learns how its work ended.
#[tokio::test]
async fn an_answer_that_is_too_long_to_store_has_failed() {
    for stream in [false, true] {
        let protocol = Protocol::Chat;
        let text = "x".repeat(100_000);
        let answer = fixtures::answer(protocol).replace("Let me look.", &text);
        let mut steps = whole(200, "", &answer);
        if stream {
            let events = fixtures::events(protocol);
            let events = events.iter().map(|event| event.replace("Let me look.", &text));
            steps = crate::upstream::stream(&events.collect::<Vec<_>>());
        }
        let server = Server::new(protocol, steps).await;
        let mut options = Options::memory();
        options.limits.tenant = 20_000;
        let gateway = gateway(&server, options).await;
        let to = gateway.address();
        let made = if stream {
            let body = json!({"model": "m", "input": "Hi", "background": true, "stream": true});
            let got = respond(to, &body).await;
            let last = events(&got.body).pop().unwrap();
            assert!(last.starts_with("event: response.failed"), "{got:?}");
            let data = last.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
            serde_json::from_str::<Value>(data).unwrap()["response"].clone()
        } else {
            begin(to, &json!({})).await
        };
        let failed = ended(to, id(&made)).await;
        assert_eq!(failed["status"], "failed");
        assert!(failed["error"]["message"].as_str().unwrap().contains("full"), "{failed}");
    }
}

#[tokio::test]
async fn what_background_needs() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let keeps = gateway(&server, Options::memory()).await;
    let body = json!({"model": "m", "input": "Hi", "background": true, "store": false});
    let got = respond(keeps.address(), &body).await;
    assert_eq!((got.status, &got.json()["error"]["param"]), (400, &json!("background")));
    let body = json!({"model": "m", "input": "Hi", "background": true,
        "previous_response_id": "resp_none"});
    assert_eq!(respond(keeps.address(), &body).await.status, 400);
    let body = json!({"model": "m", "input": 7, "background": true});
    assert_eq!(respond(keeps.address(), &body).await.status, 400);
    let off = start(config(vec![at(&server)])).await;
    let body = json!({"model": "m", "input": "Hi", "background": true});
    let got = respond(off.address(), &body).await;
    assert_eq!(got.json()["error"]["code"], "store_disabled");
    assert_eq!(server.seen_count(), 0);
    // Only what was streamed in the background can be streamed again.
    let made = respond(keeps.address(), &json!({"model": "m", "input": "Hi"})).await.json();
    let polled = begin(keeps.address(), &json!({})).await;
    for response in [&made, &polled] {
        let path = format!("/v1/responses/{}?stream=true", id(response));
        let got = client::get(keeps.address(), &path, &[]).await;
        assert_eq!((got.status, &got.json()["error"]["param"]), (400, &json!("stream")));
    }
    let path = format!("/v1/responses/{}/cancel", id(&made));
    assert_eq!(client::post(keeps.address(), &path, &[], "").await.status, 400);
    let path = "/v1/responses/resp_none?stream=true";
    assert_eq!(client::get(keeps.address(), path, &[]).await.status, 404);
}

/// A conversation gets the turn when it has ended, and is busy until then.
#[tokio::test]
async fn in_a_conversation() {
    let protocol = Protocol::Chat;
    let gate = Gate::default();
    let server = Server::new(protocol, behind(&gate, protocol)).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let made = client::post(to, "/v1/conversations", &[], "{}").await.json();
    let queued = begin(to, &json!({"conversation": made["id"]})).await;
    assert_eq!(queued["conversation"], json!({"id": made["id"]}));
    let body = json!({"model": "m", "input": "Too soon", "conversation": made["id"]});
    assert_eq!(respond(to, &body).await.status, 409);
    gate.open();
    assert_eq!(ended(to, id(&queued)).await["status"], "completed");
    let path = format!("/v1/conversations/{}/items", id(&made));
    assert_eq!(client::get(to, &path, &[]).await.json()["data"].as_array().unwrap().len(), 3);
}

/// A model is not asked for what cannot be stored.
#[tokio::test]
async fn a_store_that_has_no_room_at_all() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let mut options = Options::memory();
    options.limits.total = 0;
    let gateway = gateway(&server, options).await;
    for store in [json!(true), Value::Null] {
        for background in [true, false] {
            let body = json!({"model": "m", "input": "Hi", "store": store,
                "background": background});
            let got = respond(gateway.address(), &body).await;
            assert_eq!(got.status, 503, "{got:?}");
            assert!(got.header("retry-after").is_some());
        }
    }
    assert_eq!(server.seen_count(), 0, "nobody was asked");
    let body = json!({"model": "m", "input": "Hi", "store": false});
    assert_eq!(respond(gateway.address(), &body).await.status, 200);
}

/// What is stored where is decided at the start.
#[tokio::test]
async fn a_reload_does_not_move_the_store() {
    let server = Server::new(Protocol::Chat, Vec::new()).await;
    let gateway = gateway(&server, Options::memory()).await;
    let mut same = config(vec![at(&server)]);
    same.store = StoreConfig::On(Options::memory());
    gateway.handle().reload(same.clone()).unwrap();
    let mut shorter = Options::memory();
    shorter.ttl = None;
    for store in [StoreConfig::Off, StoreConfig::On(shorter)] {
        let error =
            gateway.handle().reload(toolwire_gateway::config::Config { store, ..same.clone() });
        assert!(error.unwrap_err().to_string().contains("[store]"));
    }
}

#[tokio::test]
async fn a_dry_run_begins_no_work() {
    let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
    let gateway = gateway(&server, Options::memory()).await;
    let body = r#"{"model":"m","input":"Hi","background":true}"#;
    let dry = ["toolwire-dry-run: 1"];
    let got = client::post(gateway.address(), "/v1/responses", &dry, body).await;
    assert_eq!((got.status, &got.json()["object"]), (200, &"toolwire.dry_run".into()), "{got:?}");
    assert!(server.seen().is_empty());
}
