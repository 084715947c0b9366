//! A gateway that stops under load: no stream is cut before the deadline, and
//! each gets its protocol's error at it (R-42, T-14).

use std::time::Duration;

use tokio::time::{Instant, timeout};
use toolwire::Protocol;

use super::{Figures, pick, report, size};
use crate::upstream::{Server, Step, chunk, stream_end, stream_head};
use crate::{at, client, config, fixtures, ms, start};

/// A stream that ends soon, or never.
fn steps(from: Protocol, ends: bool) -> Vec<Step> {
    let events = fixtures::events(from);
    let mut steps = vec![stream_head("")];
    steps.extend(events.iter().take(4).map(chunk));
    if ends {
        steps.push(Step::Wait(ms(300)));
        steps.extend(events.iter().skip(4).map(chunk));
        steps.push(stream_end());
    } else {
        steps.push(Step::Hang);
    }
    steps
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_end_well_or_with_an_error() {
    let (loops, streams) = (size(2, 20), size(60, 400));
    let mut ready_times = Vec::new();
    for round in 0..loops {
        let from = Protocol::ALL[round % 3];
        let server =
            Server::scripted(from, move |_, asked| steps(from, asked.body.contains("Ends"))).await;
        let mut config = config(vec![at(&server)]);
        config.limits.grace = ms(1500);
        let gateway = start(config).await;
        let to = gateway.address();
        let (handle, stopped) = (gateway.handle(), tokio::spawn(gateway.stopped()));
        let clients: Vec<_> = (0..streams)
            .map(|number| {
                tokio::spawn(async move {
                    let protocol = Protocol::ALL[number % 3];
                    let ends = pick(number, 2) == 0;
                    let word = if ends { "Ends" } else { "Hangs" };
                    let body = fixtures::question(protocol, true).replace("Weather", word);
                    let path = fixtures::path(protocol);
                    let mut open = client::open(to, path, &[], &body).await;
                    let start = client::until(&mut open, "Let me look.").await;
                    let got = start + &client::rest(&mut open).await;
                    let complete = got.contains(fixtures::end_mark(protocol));
                    let failed = got.contains("shutting down");
                    assert!(got.ends_with("0\r\n\r\n"), "the body is complete: {got}");
                    assert_eq!((complete, failed), (ends, !ends), "{protocol} {got}");
                })
            })
            .collect();
        server.until_seen(streams).await;
        tokio::time::sleep(Duration::from_millis(pick(round, 100) as u64)).await;
        let began = Instant::now();
        handle.drain(ms(1000));
        assert_eq!(client::get(to, "/readyz", &[]).await.status, 503);
        ready_times.push(began.elapsed());
        for client in clients {
            client.await.unwrap();
        }
        timeout(ms(1000), stopped).await.expect("it stops after the last stream").unwrap();
        assert!(began.elapsed() >= ms(2500), "{:?}", began.elapsed());
        assert!(began.elapsed() < ms(6000), "{:?}", began.elapsed());
    }
    let what = format!("drains with {streams} streams, time to 503");
    report(Figures { what, count: loops, times: ready_times, ..Figures::default() });
}
