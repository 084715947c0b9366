//! Events that come all at once leave together, and none waits for another.

use toolwire::Protocol;

use crate::upstream::{Server, Step, chunk, stream_head};
use crate::{at, client, config, said, start};

const EVENTS: usize = 300;

/// How many chunks a client gets for events that come in one write, each in a
/// chunk of its own. The upstream is silent after that, so the last event comes
/// only if nobody waits for another.
async fn chunks(to: Protocol) -> usize {
    let server = Server::new(Protocol::Chat, burst()).await;
    let gateway = start(config(vec![at(&server)])).await;
    let body = said::question(to, true);
    let mut open = client::open(gateway.address(), said::path(to), &[], &body).await;
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
        Step::Wait(_) | Step::Hang | Step::Close | Step::Flood(_) => Vec::new(),
    });
    vec![Step::Send(bytes.collect()), Step::Hang]
}

#[tokio::test]
async fn leave_together() {
    for to in Protocol::ALL {
        // A machine that is busy with other things gets two more attempts.
        let mut fewest = EVENTS;
        for _ in 0..3 {
            if fewest >= EVENTS / 2 {
                fewest = fewest.min(chunks(to).await);
            }
        }
        assert!(fewest < EVENTS / 2, "{to}: {fewest} chunks");
    }
}
