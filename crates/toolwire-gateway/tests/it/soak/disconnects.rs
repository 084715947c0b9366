//! Clients that leave at any moment. The upstream must notice within 100 ms, and
//! nothing of the request may stay behind (R-31, T-10).

use std::time::Duration;

use tokio::time::Instant;
use toolwire::Protocol;

use super::{Figures, metric, percentile, pick, report, size};
use crate::upstream::{Server, Step, chunk, stream_head};
use crate::{at, client, config, fixtures, ms, pairs, start};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    BeforeHead,
    BeforeFirstEvent,
    MidStream,
    MidAnswer,
    AfterEnd,
}

const PHASES: [Phase; 5] = [
    Phase::BeforeHead,
    Phase::BeforeFirstEvent,
    Phase::MidStream,
    Phase::MidAnswer,
    Phase::AfterEnd,
];

/// What the upstream does. The path of the steps is chosen by the user's words.
fn steps(from: Protocol, body: &str) -> Vec<Step> {
    let events = fixtures::events(from);
    let begun = |count| {
        let mut steps = vec![stream_head("")];
        steps.extend(events.iter().take(count).map(chunk));
        steps
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";
    let mut steps = match PHASES.iter().find(|phase| body.contains(&format!("{phase:?}"))).unwrap()
    {
        Phase::BeforeHead => Vec::new(),
        Phase::BeforeFirstEvent => begun(0),
        Phase::MidStream => begun(4),
        Phase::MidAnswer => vec![Step::Send(head.as_bytes().to_vec())],
        Phase::AfterEnd => return crate::upstream::stream(&events),
    };
    steps.push(Step::Hang);
    steps
}

/// Leaves `count` times, and gives the times that the upstream needed to notice.
async fn leave(to: Protocol, from: Protocol, count: usize) -> Vec<(Phase, Duration)> {
    let server = Server::scripted(from, move |_, asked| steps(from, &asked.body)).await;
    let gateway = start(config(vec![at(&server)])).await;
    let mut times = Vec::new();
    for number in 0..count {
        let phase = PHASES[pick(number, PHASES.len())];
        let stream =
            !matches!(phase, Phase::MidAnswer) && (phase != Phase::BeforeHead || number % 2 == 0);
        let body = fixtures::question(to, stream).replace("Weather", &format!("{phase:?}"));
        let seen = server.seen_count();
        let mut open = client::open(gateway.address(), fixtures::path(to), &[], &body).await;
        server.until_seen(seen + 1).await;
        match phase {
            Phase::BeforeHead | Phase::MidAnswer | Phase::BeforeFirstEvent => {
                tokio::time::sleep(Duration::from_micros(pick(number, 3000) as u64)).await;
            }
            Phase::MidStream => {
                client::until(&mut open, "Let me look.").await;
            }
            Phase::AfterEnd => {
                client::until(&mut open, fixtures::end_mark(to)).await;
            }
        }
        let left = server.times_left();
        let now = Instant::now();
        drop(open);
        if phase != Phase::AfterEnd {
            times.push((phase, server.left(left + 1).await.saturating_duration_since(now)));
        }
    }
    // The page that says so is itself a request on a connection.
    for _ in 0..200 {
        let open = metric(gateway.address(), "toolwire_open_requests").await;
        let connections = metric(gateway.address(), "toolwire_open_connections").await;
        if (open, connections) == (0, 1) {
            return times;
        }
        tokio::time::sleep(ms(5)).await;
    }
    panic!("{to} {from}: something stays behind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_pair_in_every_phase() {
    let count = size(500, 10_000);
    // A busy machine gets two more attempts.
    for attempt in 1.. {
        let mut times = Vec::new();
        for (to, from) in pairs() {
            times.extend(leave(to, from, count.div_ceil(9)).await);
        }
        let of = |wanted: &[Phase]| -> Vec<_> {
            let wanted = times.iter().filter(|(phase, _)| wanted.contains(phase));
            wanted.map(|(_, time)| *time).collect()
        };
        let most = percentile(&mut of(&PHASES), 99);
        if most <= ms(100) {
            report(Figures {
                what: "disconnects, nine pairs and five phases".to_owned(),
                count,
                times: of(&PHASES),
                remark: "time until the upstream notices; after the end it has nothing to notice"
                    .to_owned(),
                ..Figures::default()
            });
            for phase in PHASES.into_iter().filter(|phase| *phase != Phase::AfterEnd) {
                let (what, times) = (format!("disconnects, {phase:?}"), of(&[phase]));
                report(Figures { what, count: times.len(), times, ..Figures::default() });
            }
            return;
        }
        assert!(attempt < 3, "p99 is {most:?}");
    }
}
