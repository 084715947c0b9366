//! A model that has another name upstream keeps the client's name in the response.

use serde_json::Value;
use toolwire::Protocol;

use crate::upstream::{Server, Step, chunk, stream, stream_head, whole};
use crate::{alias, at, client, config, fixtures, pairs, start};

/// The names by which clients ask for the model `m-9` of an upstream.
fn names(from: Protocol) -> [String; 2] {
    [format!("{from}/m-9"), "mine".to_owned()]
}

/// Asks for a model and checks the name that the upstream got.
async fn ask(
    to: Protocol,
    name: &str,
    streamed: bool,
    server: &Server,
) -> client::ReceivedResponse {
    let mut config = config(vec![at(server)]);
    config.aliases = vec![alias("mine", "m-9")];
    let gateway = start(config).await;
    let question = fixtures::question(to, streamed).replace(r#""m""#, &format!(r#""{name}""#));
    let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!(server.only().json()["model"], "m-9");
    got
}

#[tokio::test]
async fn whole_answers() {
    for (to, from) in pairs() {
        for name in names(from) {
            let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
            let got = ask(to, &name, false, &server).await;
            assert_eq!(got.json()["model"], name, "{to} {from}");
            assert_eq!(got.header("toolwire-model"), Some("m-1"), "{to} {from}");
            if from == to {
                let expected = fixtures::answer(from).replace("m-1", &name);
                assert_eq!(got.body, expected, "nothing else is another");
            }
        }
    }
}

#[tokio::test]
async fn streams() {
    for (to, from) in pairs() {
        for name in names(from) {
            let server = Server::new(from, stream(&fixtures::events(from))).await;
            let got = ask(to, &name, true, &server).await;
            let names = model_names(&got.body);
            assert!(!names.is_empty(), "{to} {from} {got:?}");
            assert!(names.iter().all(|told| *told == name), "{to} {from} {names:?}");
            assert_eq!(got.header("toolwire-model"), Some("m-1"), "{to} {from}");
            if from == to {
                let expected = fixtures::events(from).concat().replace("m-1", &name);
                assert_eq!(got.body, expected, "nothing else is another");
            }
        }
    }
}

/// The same if the upstream ignores the request for a stream.
#[tokio::test]
async fn whole_answers_as_streams() {
    for (to, from) in pairs() {
        let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
        let got = ask(to, "mine", true, &server).await;
        let names = model_names(&got.body);
        assert!(!names.is_empty(), "{to} {from} {got:?}");
        assert!(names.iter().all(|told| *told == "mine"), "{to} {from} {names:?}");
        assert_eq!(got.header("toolwire-model"), Some("m-1"), "{to} {from}");
    }
}

/// The error that ends a stream names the same model.
#[tokio::test]
async fn a_stream_that_breaks() {
    let events = fixtures::events(Protocol::Responses);
    let mut steps = vec![stream_head("")];
    steps.extend(events.iter().take(4).map(chunk));
    steps.push(Step::Close);
    let server = Server::new(Protocol::Responses, steps).await;
    let got = ask(Protocol::Responses, "mine", true, &server).await;
    assert!(got.body.contains("response.failed"), "{got:?}");
    assert!(model_names(&got.body).iter().all(|told| *told == "mine"), "{got:?}");
}

/// If the name was not changed for the upstream, it is not changed back.
#[tokio::test]
async fn a_name_that_was_not_changed() {
    for (to, from) in pairs() {
        let server = Server::new(from, whole(200, "", fixtures::answer(from))).await;
        let got = ask(to, "m-9", false, &server).await;
        assert_eq!(got.json()["model"], "m-1", "{to} {from}");
        assert_eq!(got.header("toolwire-model"), None);
        let server = Server::new(from, stream(&fixtures::events(from))).await;
        let got = ask(to, "m-9", true, &server).await;
        assert!(model_names(&got.body).iter().all(|told| *told == "m-1"), "{to} {from} {got:?}");
        assert_eq!(got.header("toolwire-model"), None);
    }
}

/// Every model name in a stream.
fn model_names(body: &str) -> Vec<String> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let name = |event: Value| {
        let places = ["/model", "/response/model", "/message/model"];
        places.iter().find_map(|place| Some(event.pointer(place)?.as_str()?.to_owned()))
    };
    events.filter_map(name).collect()
}
