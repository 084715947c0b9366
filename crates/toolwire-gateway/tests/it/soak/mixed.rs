//! Mixed traffic for a while, with faults in a hundredth of it: nothing grows, and
//! whatever has no fault is served (T-30).

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::Instant;
use toolwire::Protocol;

use super::process::{Process, Settings, Usage};
use super::{Figures, KeepAlive, metric, pick, report, size};
use crate::upstream::{Server, Step, chunk, stream_end, stream_head, whole};
use crate::{client, fixtures, ms, pairs};

/// What goes wrong with a request.
const FAULTS: [&str; 6] = ["fails", "closes", "hangs", "is-cut", "ends-early", "client-leaves"];

fn fault(number: usize) -> Option<&'static str> {
    (pick(number, 100) == 0).then(|| FAULTS[pick(number + 7, FAULTS.len())])
}

fn steps(from: Protocol, body: &str) -> Vec<Step> {
    let streams = body.contains("\"stream\":true");
    let events = fixtures::events(from);
    let begun = |last: Step| {
        let mut steps = vec![stream_head("")];
        steps.extend(events.iter().take(4).map(chunk));
        steps.push(last);
        steps
    };
    let fault = FAULTS.iter().find(|fault| body.contains(*fault));
    match fault.copied() {
        Some("fails") => whole(500, "", fixtures::error(from, "api_error", "No.")),
        Some("closes") => vec![Step::Close],
        Some("is-cut") if streams => begun(Step::Close),
        Some("ends-early") if streams => begun(stream_end()),
        Some("client-leaves") if streams => begun(Step::Hang),
        Some(_hangs) => vec![Step::Hang],
        None if streams => crate::upstream::stream(&events),
        None => whole(200, "", fixtures::answer(from)),
    }
}

/// What came of a client's requests.
#[derive(Default)]
struct Outcomes {
    times: Vec<Duration>,
    faults: usize,
    wrong_endings: usize,
    lost: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_grows() {
    let time = Duration::from_secs(size(1, 25) as u64);
    let mut servers = Vec::new();
    for from in Protocol::ALL {
        servers.push(Server::scripted(from, move |_, asked| steps(from, &asked.body)).await);
    }
    let settings = Settings { upstream: Some(300), ..Settings::default() };
    let gateway = Process::start(&servers.iter().collect::<Vec<_>>(), settings);
    let mut all = Outcomes::default();
    let mut usage = Vec::new();
    for round in 0..4 {
        let workers: Vec<_> = (0..9)
            .map(|worker| tokio::spawn(traffic(gateway.address, round * 9 + worker, time)))
            .collect();
        for worker in workers {
            let Outcomes { times, faults, wrong_endings, lost } = worker.await.unwrap();
            all.times.extend(times);
            all.faults += faults;
            all.wrong_endings += wrong_endings;
            all.lost += lost;
        }
        until_quiet(gateway.address).await;
        usage.push(gateway.settled().await);
    }
    // The first round makes what the others share.
    let (first, last) = (usage[1], usage[3]);
    let grown = last.memory.saturating_sub(first.memory);
    assert!(grown <= 8 << 20, "memory grows by {grown} bytes: {usage:?}");
    assert!(last.files <= first.files + 16, "{usage:?}");
    assert!(last.threads <= first.threads + 2, "{usage:?}");
    gateway.stop();
    let Outcomes { times, faults, wrong_endings, lost } = all;
    let figures = |of: fn(&Usage) -> usize| usage.iter().map(of).collect::<Vec<_>>();
    report(Figures {
        what: format!("mixed traffic for {:?}, nine pairs", time * 4),
        count: times.len(),
        times,
        wrong_endings,
        lost,
        remark: format!(
            "{faults} faults; after each quarter {:?} KiB, {:?} files, {:?} threads",
            figures(|usage| usage.memory / 1024),
            figures(|usage| usage.files),
            figures(|usage| usage.threads),
        ),
        ..Figures::default()
    });
}

/// One client's requests, for so long.
async fn traffic(to: SocketAddr, worker: usize, time: Duration) -> Outcomes {
    let pairs: Vec<_> = pairs().collect();
    let by = Instant::now() + time;
    let mut keeping = KeepAlive::new(to);
    let mut outcomes = Outcomes::default();
    let mut number = worker * 1_000_000;
    while Instant::now() < by {
        number += 1;
        let (protocol, from) = pairs[number % pairs.len()];
        let stream = pick(number + 3, 2) == 0;
        let fault = fault(number);
        let question = fixtures::question(protocol, stream)
            .replace("\"model\":\"m\"", &format!("\"model\":\"{from}/m\""))
            .replace("Weather", fault.unwrap_or("Weather"));
        outcomes.faults += usize::from(fault.is_some());
        if fault == Some("client-leaves") {
            drop(client::open(to, fixtures::path(protocol), &[], &question).await);
            continue;
        }
        let began = Instant::now();
        let got = keeping.post(fixtures::path(protocol), &question).await;
        outcomes.times.push(began.elapsed());
        let complete = got.body.contains(fixtures::end_mark(protocol));
        let failed = got.body.contains(fixtures::error_mark(protocol));
        match fault {
            None if got.status != 200 || !got.body.contains("call_abc") => outcomes.lost += 1,
            None if stream && (!complete || failed) => outcomes.wrong_endings += 1,
            None => {}
            Some(_fault) => {
                let is_error = got.status >= 500 || (stream && failed && !complete);
                outcomes.wrong_endings += usize::from(!is_error);
            }
        }
    }
    outcomes
}

/// Waits until there is no request and no connection but the one that asks.
async fn until_quiet(to: SocketAddr) {
    let mut left = BTreeMap::new();
    for _ in 0..500 {
        for name in ["open_requests", "open_connections", "body_bytes", "stream_bytes"] {
            left.insert(name, metric(to, &format!("toolwire_{name}")).await);
        }
        if left.values().sum::<i64>() == 1 {
            return;
        }
        tokio::time::sleep(ms(20)).await;
    }
    panic!("something stays: {left:?}");
}
