//! Upstreams that remember by themselves, and who may ask them.

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_gateway::Gateway;
use toolwire_gateway::config::{Secret, StoreConfig};
use toolwire_store::Options;

use super::background::{ended, ended_for};
use super::{delete, respond};
use crate::client::{self, ReceivedResponse};
use crate::upstream::{ReceivedRequest, Server, Step, stream, whole};
use crate::{at, config, start};

const OWNER: &str = "authorization: Bearer the-key-of-the-owner";
const OTHER: &str = "x-api-key: the-key-of-another-client";

/// Answers each request with another id, and with reasoning.
fn remembers(name: &str, turn: usize, request: &ReceivedRequest) -> Vec<Step> {
    if request.head.starts_with("GET") || request.head.starts_with("DELETE") {
        return whole(200, "", json!({"asked": request.path}).to_string());
    }
    let answer = json!({"id": format!("resp_of_{name}_{turn}"), "object": "response",
        "created_at": 1, "status": "completed", "model": "m-1", "store": true, "output": [
        {"type": "reasoning", "id": format!("rs_{turn}"), "summary": [], "encrypted_content": "gAAA"},
        {"type": "message", "id": format!("msg_{turn}"), "status": "completed", "role": "assistant",
         "content": [{"type": "output_text", "text": format!("Answer {turn}"), "annotations": []}]}]});
    whole(200, "", answer.to_string())
}

async fn server(name: &'static str) -> Server {
    Server::scripted(Protocol::Responses, move |turn, request| remembers(name, turn, request)).await
}

async fn gateway(servers: &[&Server], keys: &[&str]) -> Gateway {
    let mut upstreams: Vec<_> = servers.iter().map(|server| at(server)).collect();
    for (number, upstream) in upstreams.iter_mut().enumerate() {
        upstream.name = format!("upstream{number}");
    }
    let mut config = config(upstreams);
    config.store = StoreConfig::On(Options::memory());
    config.keys = keys.iter().map(|key| Secret::new((*key).to_owned())).collect();
    start(config).await
}

/// Two clients share the upstream's account, but nothing that is in it: the gateway remembers
/// for each of them.
#[tokio::test]
async fn clients_that_share_an_account_share_no_memory() {
    let server = server("upstream").await;
    let keys = ["the-key-of-the-owner", "the-key-of-another-client"];
    let gateway = gateway(&[&server], &keys).await;
    let to = gateway.address();
    let ask = async |key: &str, body: Value| {
        client::post(to, "/v1/responses", &[key], &body.to_string()).await
    };
    let first = ask(OWNER, json!({"model": "m", "input": "My secret"})).await;
    assert_eq!(first.status, 200, "{first:?}");
    let id = first.json()["id"].clone();

    let sent = server.only().json();
    assert_eq!(sent["store"], false, "the upstream keeps nothing");
    assert_eq!(sent["include"], json!(["reasoning.encrypted_content"]), "{sent}");

    for body in [
        json!({"model": "m", "input": "What did I say?", "previous_response_id": id}),
        json!({"model": "m", "input": [{"type": "item_reference", "id": "msg_0"}]}),
    ] {
        let foreign = ask(OTHER, body).await;
        assert!([400, 404].contains(&foreign.status), "{foreign:?}");
    }
    let path = format!("/v1/responses/{}", id.as_str().unwrap());
    assert_eq!(client::get(to, &path, &[OTHER]).await.status, 404);
    assert_eq!(server.seen_count(), 1, "the upstream was not asked");

    assert_eq!(client::get(to, &path, &[OWNER]).await.json()["id"], id);
    let body = json!({"model": "m", "input": "And now?", "previous_response_id": id});
    let second = ask(OWNER, body).await;
    assert_eq!(second.status, 200, "{second:?}");
    let sent = server.seen().pop().unwrap().json();
    assert_eq!(sent.get("previous_response_id"), None);
    let kinds: Vec<_> =
        sent["input"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds.len(), 4, "{sent}");
    assert_eq!(sent["input"][1]["encrypted_content"], "gAAA", "{sent}");
}

/// Answers every request with the same id, as a server does that counts its answers or gives
/// them no names.
fn repeats(turn: usize, streamed: bool) -> Vec<Step> {
    let text = format!("Answer {turn}");
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    let item = json!({"type": "message", "id": format!("msg_{turn}"), "status": "completed",
        "role": "assistant", "content": [part]});
    let answer = |status: &str, output: Value| {
        json!({"id": "resp_1", "object": "response", "created_at": 1, "status": status,
            "model": "m-1", "previous_response_id": null, "store": false, "output": output})
    };
    if !streamed {
        return whole(200, "", answer("completed", json!([item])).to_string());
    }
    let mut events = [
        json!({"type": "response.created", "response": answer("in_progress", json!([]))}),
        json!({"type": "response.in_progress", "response": answer("in_progress", json!([]))}),
        json!({"type": "response.output_text.delta", "item_id": item["id"], "output_index": 0,
            "content_index": 0, "delta": text}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": answer("completed", json!([item]))}),
    ];
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    stream(&events.iter().map(event).collect::<Vec<_>>())
}

/// How a client asks, and how its upstream answers.
const WAYS: [(bool, bool); 3] = [(false, false), (true, true), (true, false)];

/// What the gateway keeps says so, although its upstream has written it and keeps nothing.
#[tokio::test]
async fn answers_that_pass_say_what_the_gateway_keeps() {
    for (asked, streamed) in WAYS {
        let server =
            Server::scripted(Protocol::Responses, move |turn, _| repeats(turn, streamed)).await;
        let keys = ["the-key-of-the-owner", "the-key-of-another-client"];
        let gateway = gateway(&[&server], &keys).await;
        let to = gateway.address();
        let (mut previous, mut kept) = (Value::Null, Vec::new());
        for turn in 0..5 {
            let told = format!("asked {asked}, streamed {streamed}, turn {turn}");
            let body = json!({"model": "m", "input": format!("Turn {turn}"), "stream": asked,
                "previous_response_id": previous});
            let got = client::post(to, "/v1/responses", &[OWNER], &body.to_string()).await;
            assert_eq!(got.status, 200, "{told}: {got:?}");
            let answers = answers(&got, asked);
            assert_eq!(answers.len(), if asked { 3 } else { 1 }, "{told}: {got:?}");
            let id = answers[0]["id"].clone();
            for answer in &answers {
                assert_eq!(answer["id"], id, "{told}");
                assert_eq!(answer["store"], true, "{told}");
                assert_eq!(answer["previous_response_id"], previous, "{told}");
                assert_eq!(answer.get("conversation"), None, "{told}");
            }
            assert_eq!(answers.last().unwrap()["output"][0]["id"], format!("msg_{turn}"), "{told}");
            let text = id.as_str().unwrap();
            assert!(text.starts_with("resp_") && text.len() > 37, "{told}: {text}");
            let stored = client::get(to, &format!("/v1/responses/{text}"), &[OWNER]).await;
            assert_eq!(stored.json(), *answers.last().unwrap(), "{told}");
            kept.push(answers.last().unwrap().clone());
            previous = id;
        }
        // Each is still what it was, and the model has got all of them.
        for answer in &kept {
            let path = format!("/v1/responses/{}", answer["id"].as_str().unwrap());
            assert_eq!(client::get(to, &path, &[OWNER]).await.json(), *answer);
            assert_eq!(client::get(to, &path, &[OTHER]).await.status, 404);
        }
        let sent = server.seen().pop().unwrap().json();
        assert_eq!(sent["input"].as_array().unwrap().len(), 9, "{sent}");
        assert_eq!(client::get(to, "/v1/responses/resp_1", &[OWNER]).await.status, 404);
    }
}

/// The answers that a client gets, one in each event that has one.
fn answers(got: &ReceivedResponse, streamed: bool) -> Vec<Value> {
    if !streamed {
        return vec![got.json()];
    }
    let data = got.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
    events.filter_map(|event| event.get("response").cloned()).collect()
}

/// A conversation grows by the answer, also if that is not kept as a response.
#[tokio::test]
async fn answers_that_pass_say_which_conversation_they_belong_to() {
    for (asked, streamed) in WAYS {
        let server =
            Server::scripted(Protocol::Responses, move |turn, _| repeats(turn, streamed)).await;
        let keys = ["the-key-of-the-owner", "the-key-of-another-client"];
        let gateway = gateway(&[&server], &keys).await;
        let to = gateway.address();
        let made = client::post(to, "/v1/conversations", &[OWNER], "{}").await.json();
        for store in [true, false] {
            let body = json!({"model": "m", "input": "Hi", "stream": asked, "store": store,
                "conversation": made["id"]});
            let got = client::post(to, "/v1/responses", &[OWNER], &body.to_string()).await;
            assert_eq!(got.status, 200, "{got:?}");
            let answers = answers(&got, asked);
            for answer in &answers {
                assert_eq!(answer["id"], answers[0]["id"]);
                assert_eq!(answer["conversation"], json!({"id": made["id"]}));
                assert_eq!(answer["store"], store);
            }
            let path = format!("/v1/responses/{}", answers[0]["id"].as_str().unwrap());
            let found = client::get(to, &path, &[OWNER]).await;
            assert_eq!(found.status, if store { 200 } else { 404 }, "{found:?}");
        }
        let path = format!("/v1/conversations/{}/items", made["id"].as_str().unwrap());
        let items = client::get(to, &path, &[OWNER]).await.json();
        assert_eq!(items["data"].as_array().unwrap().len(), 4, "{items}");
    }
}

/// A stream that the upstream breaks off is kept under the id that its client knows.
#[tokio::test]
async fn a_stream_that_breaks_off_is_kept_under_its_own_id() {
    let server = Server::scripted(Protocol::Responses, |turn, _| {
        let mut steps = repeats(turn, true);
        if turn > 0 {
            steps.truncate(4);
            steps.push(Step::Close);
        }
        steps
    })
    .await;
    let keys = ["the-key-of-the-owner", "the-key-of-another-client"];
    let gateway = gateway(&[&server], &keys).await;
    let to = gateway.address();
    let mut previous = Value::Null;
    for status in ["completed", "failed"] {
        let body = json!({"model": "m", "input": "Hi", "stream": true,
            "previous_response_id": previous});
        let got = client::post(to, "/v1/responses", &[OWNER], &body.to_string()).await;
        let answers = answers(&got, true);
        for answer in &answers {
            assert_eq!(answer["id"], answers[0]["id"], "{got:?}");
            assert_eq!(answer["previous_response_id"], previous, "{got:?}");
            assert_eq!(answer["store"], true, "{got:?}");
        }
        assert_eq!(answers.last().unwrap()["status"], status, "{got:?}");
        let path = format!("/v1/responses/{}", answers[0]["id"].as_str().unwrap());
        let stored = client::get(to, &path, &[OWNER]).await.json();
        assert_eq!(stored, *answers.last().unwrap());
        previous = stored["id"].clone();
    }
}

/// An upstream that keeps nothing for its clients makes no answer for them while they do not
/// wait, so the gateway does.
#[tokio::test]
async fn answers_that_pass_can_be_made_in_the_background() {
    for (asked, streamed) in WAYS {
        let server =
            Server::scripted(Protocol::Responses, move |turn, _| repeats(turn, streamed)).await;
        let keys = ["the-key-of-the-owner", "the-key-of-another-client"];
        let gateway = gateway(&[&server], &keys).await;
        let to = gateway.address();
        let mut previous = Value::Null;
        for turn in 0..2 {
            let told = format!("asked {asked}, streamed {streamed}, turn {turn}");
            let body = json!({"model": "m", "input": "Hi", "background": true, "stream": asked,
                "previous_response_id": previous});
            let got = client::post(to, "/v1/responses", &[OWNER], &body.to_string()).await;
            assert_eq!(got.status, 200, "{told}: {got:?}");
            let first = answers(&got, asked);
            let id = first[0]["id"].as_str().unwrap();
            let path = format!("/v1/responses/{id}");
            let made = ended_for(to, id, &[OWNER]).await;
            for answer in first.iter().chain([&made]) {
                assert_eq!(answer["id"], first[0]["id"], "{told}");
                assert_eq!(answer["previous_response_id"], previous, "{told}");
                assert_eq!([&answer["store"], &answer["background"]], [true, true], "{told}");
            }
            let item = &made["output"][0];
            assert_eq!(made["status"], "completed", "{told}: {made}");
            assert_eq!(item["content"][0]["text"], format!("Answer {turn}"), "{told}: {made}");
            let sent = server.seen().pop().unwrap().json();
            assert_eq!((&sent["store"], sent.get("background")), (&json!(false), None), "{told}");
            assert_eq!(sent["input"].as_array().unwrap().len(), 1 + 2 * turn, "{told}: {sent}");
            assert_eq!(client::get(to, &path, &[OTHER]).await.status, 404, "{told}");
            if asked {
                assert_eq!(*answers(&got, asked).last().unwrap(), made, "{told}");
                let rest = format!("{path}?stream=true&starting_after=1");
                let rest = client::get(to, &rest, &[OWNER]).await;
                let (_, behind) = got.body.split_once("\"sequence_number\":1").unwrap();
                let (_, behind) = behind.split_once("\n\n").unwrap();
                assert_eq!(rest.body, behind, "{told}");
            }
            previous = made["id"].clone();
        }
    }
}

/// A conversation is the gateway's, also where an upstream remembers answers by itself.
#[tokio::test]
async fn an_answer_in_the_background_of_a_conversation() {
    let server = Server::scripted(Protocol::Responses, |turn, _| repeats(turn, false)).await;
    let gateway = gateway(&[&server], &[]).await;
    let to = gateway.address();
    let made = client::post(to, "/v1/conversations", &[], "{}").await.json();
    let body = json!({"model": "m", "input": "Hi", "background": true, "conversation": made["id"]});
    let got = respond(to, &body).await;
    assert_eq!(got.status, 200, "{got:?}");
    let answer = ended(to, got.json()["id"].as_str().unwrap()).await;
    assert_eq!(answer["conversation"], json!({"id": made["id"]}), "{answer}");
    let path = format!("/v1/conversations/{}/items", made["id"].as_str().unwrap());
    let items = client::get(to, &path, &[]).await.json();
    assert_eq!(items["data"].as_array().unwrap().len(), 2, "{items}");
    let sent = server.seen().pop().unwrap().json();
    assert_eq!((&sent["store"], sent.get("background")), (&json!(false), None), "{sent}");
    // Everything that is the upstream's alone is left to it.
    let body = json!({"model": "m", "input": "Hi", "background": true});
    assert_eq!(respond(to, &body).await.json()["id"], "resp_1");
    assert_eq!(server.seen().pop().unwrap().json(), body);
}

/// Without a store nobody remembers for them, and the upstream must not either.
#[tokio::test]
async fn a_shared_account_keeps_nothing_without_a_store() {
    let server = server("upstream").await;
    let mut config = config(vec![at(&server)]);
    let keys = ["the-key-of-the-owner", "the-key-of-another-client"];
    config.keys = keys.iter().map(|key| Secret::new((*key).to_owned())).collect();
    let gateway = start(config).await;
    let ask = async |body: Value| {
        client::post(gateway.address(), "/v1/responses", &[OWNER], &body.to_string()).await
    };
    let item = json!({"id": "msg_mine", "role": "user", "content": "Hi"});
    for body in [
        json!({"model": "m", "input": [item], "store": null}),
        json!({"model": "m", "input": [item], "store": false}),
        json!({"model": "m", "input": [item]}),
    ] {
        let got = ask(body).await;
        assert_eq!(got.status, 200, "{got:?}");
        let sent = server.seen().pop().unwrap().json();
        assert_eq!((&sent["store"], &sent["input"]), (&json!(false), &json!([item])), "{sent}");
    }
    // What the next turn sends has to say by itself what the model has thought.
    let sent = server.seen().pop().unwrap().json();
    assert_eq!(sent["include"], json!(["reasoning.encrypted_content"]), "{sent}");
    let asked = server.seen_count();
    for body in [
        json!({"model": "m", "input": [item], "store": true}),
        json!({"model": "m", "input": [item], "previous_response_id": "resp_of_upstream_0"}),
    ] {
        assert_eq!(ask(body).await.status, 400);
    }
    assert_eq!(server.seen_count(), asked);
}

/// Ids are the upstream's, and clients refer to items by them.
#[tokio::test]
async fn an_upstream_with_odd_ids() {
    let odd = format!("msg/{}+=%", "aB+/".repeat(100));
    let answer = json!({"id": "resp_1", "object": "response", "created_at": 1,
        "status": "completed", "model": "m-1", "output": [{"type": "message", "id": odd,
        "status": "completed", "role": "assistant", "content": [
        {"type": "output_text", "text": "An answer", "annotations": []}]}]});
    let server = Server::new(Protocol::Responses, whole(200, "", answer.to_string())).await;
    let keys = ["the-key-of-the-owner", "the-key-of-another-client"];
    let gateway = gateway(&[&server], &keys).await;
    let to = gateway.address();
    let made = client::post(to, "/v1/conversations", &[OWNER], "{}").await.json();
    let body = json!({"model": "m", "input": "Hi", "conversation": made["id"]});
    let got = client::post(to, "/v1/responses", &[OWNER], &body.to_string()).await;
    assert_eq!(got.json()["output"][0]["id"], odd.as_str(), "{got:?}");
    let body = json!({"model": "m", "input": [{"type": "item_reference", "id": odd}],
        "store": false});
    let got = client::post(to, "/v1/responses", &[OWNER], &body.to_string()).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert!(server.seen().pop().unwrap().body.contains("An answer"));
    let encoded: String = odd.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let path = format!("/v1/conversations/{}/items/{encoded}", made["id"].as_str().unwrap());
    let got = client::get(to, &path, &[OWNER]).await;
    assert_eq!((got.status, &got.json()["id"]), (200, &json!(odd)), "{got:?}");
    assert_eq!(delete(to, &path, &[OWNER]).await.status, 200);
    assert_eq!(client::get(to, &path, &[OWNER]).await.status, 404);
}

/// A vendor refuses to send sealed reasoning of a model that does not reason.
#[tokio::test]
async fn no_sealed_reasoning_is_asked_of_a_model_that_has_none() {
    let server = server("upstream").await;
    let keys = ["the-key-of-the-owner", "the-key-of-another-client"];
    let gateway = gateway(&[&server], &keys).await;
    let include = json!(["message.output_text.logprobs"]);
    for body in [
        json!({"model": "gpt-4o", "input": "Hi"}),
        json!({"model": "gpt-4o", "input": "Hi", "include": include}),
    ] {
        let body_text = body.to_string();
        let answer = client::post(gateway.address(), "/v1/responses", &[OWNER], &body_text).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let sent = server.seen().pop().unwrap().json();
        assert_eq!(sent["store"], false, "the gateway keeps it: {sent}");
        assert_eq!(sent.get("include"), body.get("include"), "{sent}");
    }
}

/// A client that is alone asks the upstream for what that has kept.
#[tokio::test]
async fn what_an_upstream_has_kept_is_asked_of_it() {
    let server = server("upstream").await;
    let gateway = gateway(&[&server], &[]).await;
    let to = gateway.address();
    let first = respond(to, &json!({"model": "m", "input": "Hi"})).await;
    assert_eq!(server.only().json().get("store"), None, "the upstream keeps it");
    let path = format!("/v1/responses/{}", first.json()["id"].as_str().unwrap());
    assert_eq!(client::get(to, &path, &[]).await.json()["asked"], path.as_str());
    let items = format!("{path}/input_items");
    let query = format!("{items}?limit=2");
    let asked = client::get(to, &query, &[]).await;
    assert!(asked.json()["asked"].as_str().unwrap().starts_with(&items), "{asked:?}");
    assert_eq!(delete(to, &path, &[]).await.json()["asked"], path.as_str());
}

/// Each of two upstreams would know only its own part of a thread.
#[tokio::test]
async fn a_thread_over_two_upstreams_is_kept_by_the_gateway() {
    let one = server("one").await;
    let another = server("another").await;
    let gateway = gateway(&[&one, &another], &[]).await;
    let mut previous = Value::Null;
    for turn in 0..6 {
        let body = json!({"model": "m", "input": format!("Turn {turn}"),
            "previous_response_id": previous});
        let got = respond(gateway.address(), &body).await;
        assert_eq!(got.status, 200, "{got:?}");
        previous = got.json()["id"].clone();
    }
    assert!(one.seen_count() > 0 && another.seen_count() > 0);
    for sent in one.seen().into_iter().chain(another.seen()) {
        assert_eq!(sent.json()["store"], false);
    }
}

/// If the only upstream that can know an id fails, the client hears of that. Another one would
/// say that there is no such response, and the client would give up its thread.
#[tokio::test]
async fn an_upstream_that_fails_is_not_taken_for_a_thread_that_is_gone() {
    let failing = Server::new(Protocol::Responses, whole(503, "", "{}")).await;
    let other = Server::new(Protocol::Chat, whole(503, "", "{}")).await;
    let gateway = gateway(&[&failing, &other], &[]).await;
    let body = json!({"model": "m", "input": "Go on", "previous_response_id": "resp_of_upstream"});
    let got = respond(gateway.address(), &body).await;
    assert_eq!(got.status, 503, "{got:?}");
    assert_eq!(other.seen_count(), 0);
}

/// Some servers number the items of each answer anew. In a conversation each has an id of its
/// own, or its pages would never end.
#[tokio::test]
async fn an_upstream_whose_items_have_the_same_ids_in_each_answer() {
    let answer = |turn: usize| {
        let text = json!({"type": "output_text", "text": format!("Answer {turn}"),
            "annotations": []});
        json!({"id": format!("resp_{turn}"), "object": "response", "created_at": 1,
            "status": "completed", "model": "m-1", "output": [{"type": "message", "id": "msg_0",
            "status": "completed", "role": "assistant", "content": [text]}]})
    };
    let server = Server::scripted(Protocol::Responses, move |turn, _| {
        whole(200, "", answer(turn).to_string())
    })
    .await;
    let keys = ["the-key-of-the-owner", "the-key-of-another-client"];
    let gateway = gateway(&[&server], &keys).await;
    let to = gateway.address();
    let made = client::post(to, "/v1/conversations", &[OWNER], "{}").await.json();
    let mut last = Value::Null;
    for (turn, store) in [true, false, true].into_iter().enumerate() {
        let body = json!({"model": "m", "input": format!("Turn {turn}"), "store": store,
            "conversation": made["id"]});
        let got = client::post(to, "/v1/responses", &[OWNER], &body.to_string()).await;
        assert_eq!(got.status, 200, "{got:?}");
        assert_eq!(got.json()["output"][0]["id"], "msg_0");
        last = got.json()["id"].clone();
    }

    let path = format!("/v1/conversations/{}/items?order=asc", made["id"].as_str().unwrap());
    let all = client::get(to, &path, &[OWNER]).await.json();
    let all = all["data"].as_array().unwrap();
    let texts: Vec<_> = all.iter().map(|item| &item["content"][0]["text"]).collect();
    assert_eq!(texts, ["Turn 0", "Answer 0", "Turn 1", "Answer 1", "Turn 2", "Answer 2"]);
    let mut paged: Vec<Value> = Vec::new();
    loop {
        let after = paged
            .last()
            .map_or(String::new(), |item| format!("&after={}", item["id"].as_str().unwrap()));
        let page = client::get(to, &format!("{path}&limit=1{after}"), &[OWNER]).await.json();
        paged.extend(page["data"].as_array().unwrap().iter().cloned());
        if page["has_more"] == false || paged.len() > all.len() {
            break;
        }
    }
    assert_eq!(paged, *all);

    // It is the latest answer's for whoever refers to it.
    let body = json!({"model": "m", "input": [{"type": "item_reference", "id": "msg_0"}]});
    let got = client::post(to, "/v1/responses", &[OWNER], &body.to_string()).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert!(server.seen().pop().unwrap().body.contains("Answer 2"));
    // What stands in front of a response is found although another item there has its id.
    let body = json!({"model": "m", "input": "On", "previous_response_id": last});
    let got = client::post(to, "/v1/responses", &[OWNER], &body.to_string()).await;
    assert_eq!(got.status, 200, "{got:?}");
    let sent = server.seen().pop().unwrap().json();
    assert_eq!(sent["input"].as_array().unwrap().len(), 7, "{sent}");
}
