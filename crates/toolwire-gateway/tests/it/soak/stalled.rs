//! Clients that stop reading: what each costs, when it is cut off, and who else
//! notices (R-23, T-9).

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::Instant;
use toolwire::Protocol;

use super::process::{Process, Settings};
use super::{Figures, KeepAlive, metric, percentile, report, size};
use crate::upstream::{Server, Step, chunk, stream_head, whole};
use crate::{client, fixtures, ms};

/// A stream that never ends for who asks for one, and an answer for the others.
fn steps(streams: bool) -> Vec<Step> {
    if !streams {
        return whole(200, "", fixtures::answer(Protocol::Chat));
    }
    let event = fixtures::events(Protocol::Chat)[1].replace("Let me look.", &"x".repeat(4000));
    let Step::Send(event) = chunk(event) else { panic!("not bytes") };
    vec![stream_head(""), Step::Flood(event.repeat(8))]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_stall_are_cut_off() {
    let (count, stall) = (size(40, 1000), ms(size(3000, 60_000) as u64));
    let server =
        Server::scripted(Protocol::Chat, |_, asked| steps(asked.body.contains("\"stream\":true")))
            .await;
    let settings =
        Settings { stall: Some(stall.as_millis().try_into().unwrap()), ..Settings::default() };
    let gateway = Process::start(&[&server], settings);
    let to = gateway.address;
    let mut alone = healthy(to, Arc::new(AtomicBool::new(false)), size(200, 2000)).await;
    // The first few make what all share.
    let question = fixtures::question(Protocol::Messages, true);
    let mut first = Vec::new();
    for _ in 0..10 {
        first.push(client::open(to, "/v1/messages", &[], &question).await);
    }
    tokio::time::sleep(ms(300)).await;
    drop(first);
    server.left(10).await;
    let before = gateway.settled().await;
    let mut readers = Vec::new();
    for number in 0..count {
        // Responses keeps the whole text for its end, which has a limit of its own.
        let protocol = [Protocol::Chat, Protocol::Messages][number % 2];
        let question = fixtures::question(protocol, true);
        readers.push((
            protocol,
            client::open(to, fixtures::path(protocol), &[], &question).await,
            Instant::now(),
        ));
        if number % 50 == 49 {
            // Who comes later than the gateway can begin would seem to be cut late.
            begun(to, number + 1).await;
        }
    }
    let done = Arc::new(AtomicBool::new(false));
    let others = tokio::spawn(healthy(to, Arc::clone(&done), usize::MAX));
    tokio::time::sleep(stall / 2).await;
    let open = metric(to, "toolwire_open_requests").await;
    assert!(open >= i64::try_from(count).unwrap(), "{open} are held, none is cut before its time");
    let each = gateway.usage().memory.saturating_sub(before.memory) / count;
    assert!(each <= size(256, 128) * 1024, "{each} bytes for each");
    let mut times = Vec::new();
    let mut wrong_endings = 0;
    // Who reads again is not cut off, so all of them are before any is looked at.
    server.left_within(count + 10, stall + Duration::from_secs(30)).await;
    for (number, (.., opened)) in readers.iter().enumerate() {
        times.push(server.left(number + 11).await.saturating_duration_since(*opened));
    }
    for (protocol, stream, _) in readers {
        wrong_endings += usize::from(looks_complete(protocol, stream).await);
    }
    done.store(true, Ordering::Relaxed);
    let mut beside = others.await.unwrap();
    let (least, most) = (times.iter().min().copied().unwrap(), percentile(&mut times, 99));
    assert!(least >= stall * 9 / 10 && most <= stall + ms(5000), "{least:?} to {most:?}");
    let [alone, beside] = [&mut alone, &mut beside].map(|times| percentile(times, 99));
    assert!(beside <= alone * 2 + ms(500), "others wait {beside:?} instead of {alone:?}");
    gateway.stop();
    report(Figures {
        what: format!("readers that stall, cut off after {stall:?}"),
        count,
        times,
        memory_each: Some(each),
        wrong_endings,
        remark: format!("p99 of others {beside:.1?}, {alone:.1?} before"),
        ..Figures::default()
    });
}

/// Waits until the gateway has begun so many requests.
async fn begun(to: SocketAddr, count: usize) {
    for _ in 0..500 {
        if metric(to, "toolwire_open_requests").await >= i64::try_from(count).unwrap() {
            return;
        }
        tokio::time::sleep(ms(20)).await;
    }
    panic!("{count} requests have not begun");
}

/// Whether a stream that was cut could be taken for a complete one.
async fn looks_complete(protocol: Protocol, mut stream: TcpStream) -> bool {
    let mut bytes = Vec::new();
    let _ = tokio::time::timeout(ms(10_000), stream.read_to_end(&mut bytes)).await.expect("no end");
    let text = String::from_utf8(bytes).unwrap();
    text.contains(fixtures::end_mark(protocol)) || text.ends_with("0\r\n\r\n")
}

/// Asks again and again until it is done, and gives the times.
async fn healthy(to: SocketAddr, done: Arc<AtomicBool>, most: usize) -> Vec<Duration> {
    let mut client = KeepAlive::new(to);
    let question = fixtures::question(Protocol::Messages, false);
    let mut times = Vec::new();
    while times.len() < most && !done.load(Ordering::Relaxed) {
        let began = Instant::now();
        let got = client.post("/v1/messages", &question).await;
        assert_eq!(got.status, 200, "{got:?}");
        times.push(began.elapsed());
        tokio::time::sleep(ms(2)).await;
    }
    times
}
