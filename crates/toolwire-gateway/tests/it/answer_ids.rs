//! Answers of upstreams that give ids to nothing have ids of their own.

use std::collections::BTreeSet;

use toolwire::Protocol;

use crate::upstream::{Server, stream, whole};
use crate::{at, client, config, fixtures, start};

const WHOLE: &str = r#"{"id":"","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Yes","tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;

const CHUNK: &str = r#"{"id":"","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Yes","tool_calls":[{"index":0,"id":"","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;

/// The ids in a response.
fn ids(body: &str) -> BTreeSet<String> {
    let prefixes = ["msg_", "resp_", "call_", "fc_"];
    let is_id =
        |text: &&str| text.len() > 20 && prefixes.iter().any(|prefix| text.starts_with(prefix));
    body.split('"').filter(is_id).map(str::to_owned).collect()
}

#[tokio::test]
async fn turns_have_no_id_in_common() {
    let chunks = [format!("data: {CHUNK}\n\n"), "data: [DONE]\n\n".to_owned()];
    // Some upstreams ignore that a stream was asked for.
    let turns =
        [(false, whole(200, "", WHOLE)), (true, whole(200, "", WHOLE)), (true, stream(&chunks))];
    for to in [Protocol::Responses, Protocol::Messages] {
        for (streamed, steps) in &turns {
            let server = Server::new(Protocol::Chat, steps.clone()).await;
            let gateway = start(config(vec![at(&server)])).await;
            let ask = || async {
                let question = fixtures::question(to, *streamed);
                client::post(gateway.address(), fixtures::path(to), &[], &question).await
            };
            let (first, second) = (ask().await, ask().await);
            assert_eq!((first.status, second.status), (200, 200), "{to} {first:?}");
            let (first, second) = (ids(&first.body), ids(&second.body));
            assert!(first.iter().any(|id| id.starts_with("call_")), "{to} {first:?}");
            assert_eq!(first.len(), second.len(), "{to}");
            assert!(first.is_disjoint(&second), "{to} {streamed} {first:?} {second:?}");
        }
    }
}
