//! Long requests that are held: within the budget they cost little more than
//! their length, and beyond it they are refused.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::Instant;
use toolwire::Protocol;

use super::process::{Process, Settings};
use super::{Figures, metric, report, size};
use crate::upstream::{Server, Step};
use crate::{client, fixtures, ms};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_stays_within_the_budget() {
    let (count, length) = (size(12, 50), size(1 << 20, 31 << 20));
    let budget = size(8 << 20, 512 << 20);
    let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
    let settings = Settings { bodies_total: Some(budget), ..Settings::default() };
    let gateway = Process::start(&[&server], settings);
    let to = gateway.address;
    let question = fixtures::question(Protocol::Messages, false)
        .replace("Weather in Paris?", &"x".repeat(length));
    // The first one makes what all share.
    let first = client::open(to, "/v1/messages", &[], &question).await;
    server.until_seen(1).await;
    drop(first);
    until_free(to).await;
    let before = gateway.settled().await;
    let mut held = Vec::new();
    let mut times = Vec::new();
    for _ in 0..count {
        let began = Instant::now();
        let mut stream = client::open(to, "/v1/messages", &[], &question).await;
        let is_held = async { server.until_seen(held.len() + 2).await };
        let mut byte = [0];
        tokio::select! {
            () = is_held => held.push(stream),
            answered = stream.peek(&mut byte) => {
                answered.unwrap();
                times.push(began.elapsed());
                refused(client::finish(&mut stream).await);
            }
        }
    }
    let (held_count, refused_count) = (held.len(), times.len());
    assert!(held_count > 1 && refused_count > 1, "{held_count} held, {refused_count} refused");
    let usage = gateway.settled().await;
    let each = usage.memory.saturating_sub(before.memory) / held_count;
    // A translated request is there as it came and as it is sent.
    assert!(each <= 4 * length + (4 << 20), "{each} bytes for a request of {length}");
    let crowd: Vec<_> = (0..count)
        .map(|_| {
            let question = question.clone();
            tokio::spawn(async move { client::post(to, "/v1/messages", &[], &question).await })
        })
        .collect();
    for client in crowd {
        refused(client.await.unwrap());
    }
    let kept = metric(to, "toolwire_body_bytes").await;
    assert!(usize::try_from(kept).unwrap() <= budget, "{kept}");
    let crowded = gateway.settled().await;
    let grown = crowded.memory.saturating_sub(before.memory);
    assert!(grown <= 4 * budget + (16 << 20), "{grown} bytes with a budget of {budget}");
    drop(held);
    until_free(to).await;
    let after = gateway.settled().await;
    gateway.stop();
    let mib = |bytes: usize| bytes >> 20;
    report(Figures {
        what: format!("uploads of {} MiB, time to a refusal", mib(length)),
        count: 2 * count,
        times,
        memory_each: Some(each),
        remark: format!(
            "budget {} MiB: {held_count} held, {refused_count} refused one by one, {count} at \
             once; {} MiB before, {} held, {} after all were refused, {} at the end",
            mib(budget),
            mib(before.memory),
            mib(usage.memory),
            mib(crowded.memory),
            mib(after.memory)
        ),
        ..Figures::default()
    });
}

/// Waits until no body is kept.
async fn until_free(to: SocketAddr) {
    let by = Instant::now() + Duration::from_secs(10);
    while metric(to, "toolwire_body_bytes").await > 0 {
        assert!(Instant::now() < by, "memory is kept after the clients left");
        tokio::time::sleep(ms(20)).await;
    }
}

/// Checks the response to a request that does not fit.
fn refused(got: client::ReceivedResponse) {
    assert_eq!(got.status, 503, "{:.500}", got.body);
    assert!(got.header("retry-after").is_some(), "{}", got.head);
}
