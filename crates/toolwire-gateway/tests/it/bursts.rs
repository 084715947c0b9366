//! Events that arrive in a burst are sent together, and none is delayed.

use toolwire::Protocol;

use crate::upstream::{Server, Step, chunk, stream, stream_head};
use crate::{at, client, config, fixtures, pairs, start};

const EVENTS: usize = 300;

/// How many chunks a client gets for events that arrive in one write, each in its
/// own chunk. The upstream sends nothing after that, so the last event arrives
/// only if the gateway does not wait for another.
async fn chunks(to: Protocol) -> usize {
    let server = Server::new(Protocol::Chat, burst()).await;
    let gateway = start(config(vec![at(&server)])).await;
    let body = fixtures::question(to, true);
    let mut open = client::open(gateway.address(), fixtures::path(to), &[], &body).await;
    let got = client::until(&mut open, "word299 ").await;
    let words: Vec<_> = (0..EVENTS).map(|number| got.find(&format!("word{number} "))).collect();
    assert!(words.iter().all(Option::is_some) && words.is_sorted(), "{got}");
    let (_, body) = got.split_once("\r\n\r\n").unwrap();
    body.matches("\r\n").count() / 2
}

fn burst() -> Vec<Step> {
    let event = |number: usize| {
        chunk(format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m-1\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"word{number} \"}},\"finish_reason\":null}}]}}\n\n"
        ))
    };
    let mut steps = vec![stream_head("")];
    steps.extend((0..EVENTS).map(event));
    let bytes = steps.into_iter().flat_map(|step| match step {
        Step::Send(bytes) => bytes,
        Step::Wait(_) | Step::Until(_) | Step::Hang | Step::Close | Step::Flood(_) => Vec::new(),
    });
    vec![Step::Send(bytes.collect()), Step::Hang]
}

#[tokio::test]
async fn are_sent_together() {
    for to in Protocol::ALL {
        // A busy machine gets two more attempts.
        let mut fewest = EVENTS;
        for _ in 0..3 {
            if fewest >= EVENTS / 2 {
                fewest = fewest.min(chunks(to).await);
            }
        }
        assert!(fewest < EVENTS / 2, "{to}: {fewest} chunks");
    }
}

/// A call with long arguments arrives complete and in order, although Responses
/// repeats them three times at the end.
#[tokio::test]
async fn a_long_call_arrives_complete() {
    let city = "Llanfair\\u00e9 ".repeat(40_000);
    for (to, from) in pairs() {
        let events = fixtures::events(from)
            .iter()
            .map(|event| event.replace("Paris", &city))
            .collect::<Vec<_>>();
        let server = Server::new(from, stream(&events)).await;
        let gateway = start(config(vec![at(&server)])).await;
        let reply = client::ask_for_stream(&gateway, to).await;
        assert!(reply.body.contains(fixtures::end_mark(to)), "{from} to {to}");
        // How often the protocol sends the arguments, in deltas or whole.
        let times = match to {
            Protocol::Chat | Protocol::Messages => 1,
            Protocol::Responses => 4,
            other => panic!("not a built-in protocol: {other:?}"),
        };
        assert_eq!(reply.body.matches(&city).count(), times, "{from} to {to}");
    }
}
