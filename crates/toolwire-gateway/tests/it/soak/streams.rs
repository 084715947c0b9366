//! Many slow streams at a time: what each costs, what is late, and what is given
//! back when they end (T-8).

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use toolwire::Protocol;

use super::process::{Process, Settings, Usage};
use super::{Figures, is_full, is_whole, metric, percentile, report, size};
use crate::upstream::{Server, Step, chunk, stream_end, stream_head};
use crate::{client, fixtures, ms};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_given_back() {
    let count = size(150, 9000).min(most_files() / 2 - 200);
    let pause = ms(size(500, 4000) as u64);
    let began = Instant::now();
    let (ending, ends) = watch::channel(0);
    let server = upstream(began, pause, ends).await;
    let gateway = Process::start(&[&server], Settings::default());
    // The first few make what all share.
    let (delays, _) = hold(&gateway, 30, began, pause, &ending).await;
    assert!(!delays.is_empty());
    let before = gateway.settled().await;
    let (mut delays, first) = hold(&gateway, count, began, pause, &ending).await;
    let after = given_back(&gateway, before, first, began, pause, &ending).await;
    let (_, second) = hold(&gateway, count, began, pause, &ending).await;
    let least = given_back(&gateway, before, second, began, pause, &ending).await;
    let each = (first - before.memory.min(first)) / count;
    assert!(each <= size(64, 44) * 1024, "{each} bytes for each stream");
    assert!(after.files <= before.files + 8, "{before:?} {after:?}");
    if is_full() {
        let (most, kept) = (before.memory + (first - before.memory) * 3 / 4, after.memory);
        assert!(kept < most, "{kept} bytes are kept of {first}");
    }
    // What the allocator keeps is used again.
    assert!(second < first + first / 4 + (4 << 20), "{first} bytes, then {second}");
    let most = percentile(&mut delays, 99);
    assert!(most < Duration::from_secs(5), "an event is {most:?} late");
    gateway.stop();
    let mib = |bytes: usize| bytes >> 20;
    report(Figures {
        what: "slow streams held, an event's delay".to_owned(),
        count,
        times: delays,
        memory_each: Some(each),
        remark: format!(
            "{} MiB before, {} held, {} after they ended, {} when held again, {} after that",
            mib(before.memory),
            mib(first),
            mib(after.memory),
            mib(second),
            mib(least.memory)
        ),
        ..Figures::default()
    });
}

/// What is used when streams have ended. The allocator gives memory back while it
/// is used, so there are a few more requests.
async fn given_back(
    gateway: &Process,
    before: Usage,
    held: usize,
    began: Instant,
    pause: Duration,
    ending: &watch::Sender<usize>,
) -> Usage {
    let mut usage = gateway.settled().await;
    for _ in 0..size(0, 6) {
        if usage.memory < before.memory + held / 4 {
            break;
        }
        hold(gateway, 300, began, pause / 4, ending).await;
        usage = gateway.settled().await;
    }
    usage
}

/// Holds so many streams, ends them all, and gives how late their events were and
/// the gateway's memory while all were open.
async fn hold(
    gateway: &Process,
    count: usize,
    began: Instant,
    pause: Duration,
    ending: &watch::Sender<usize>,
) -> (Vec<Duration>, usize) {
    let to = gateway.address;
    let at_once = Arc::new(Semaphore::new(64));
    let (opened, mut is_open) = watch::channel(0);
    let clients: Vec<_> = (0..count)
        .map(|number| {
            let (at_once, opened) = (Arc::clone(&at_once), opened.clone());
            tokio::spawn(async move {
                let protocol = Protocol::ALL[number % 3];
                let opening = at_once.acquire().await.unwrap();
                let question = fixtures::question(protocol, true);
                let path = fixtures::path(protocol);
                let mut stream = client::open(to, path, &[], &question).await;
                let text = client::until_within(OPENING, &mut stream, "at-").await;
                let mut text = text.into_bytes();
                drop(opening);
                opened.send_modify(|opened| *opened += 1);
                let mut marks = Marks { seen: 0, last: Duration::ZERO };
                // The first came with the head.
                marks.next(&text);
                let mut delays = Vec::new();
                let mut piece = [0; 2048];
                loop {
                    let length = stream.read(&mut piece).await.unwrap();
                    text.extend_from_slice(&piece[..length]);
                    let now = began.elapsed();
                    while let Some(sent) = marks.next(&text) {
                        delays.push(now.saturating_sub(sent));
                    }
                    if length == 0 {
                        break;
                    }
                }
                let got = client::parse(&text);
                let complete = got.body.contains(fixtures::end_mark(protocol));
                let failed = got.body.contains(fixtures::error_mark(protocol));
                assert!(got.whole && complete && !failed, "{protocol} {got:?}");
                delays
            })
        })
        .collect();
    let all_open = is_open.wait_for(|opened| *opened == count);
    let all_open = tokio::time::timeout(OPENING * 2, all_open).await.is_ok();
    if !all_open {
        // One that has ended says why.
        for ended in clients.into_iter().filter(JoinHandle::is_finished) {
            ended.await.unwrap();
        }
        panic!("{} of {count} streams are open", *opened.borrow());
    }
    tokio::time::sleep(pause * 2).await;
    let usage = gateway.settled().await;
    assert_eq!(metric(to, "toolwire_open_requests").await, i64::try_from(count).unwrap());
    ending.send_modify(|round| *round += 1);
    let mut delays = Vec::new();
    for client in clients {
        delays.extend(client.await.unwrap());
    }
    for _ in 0..500 {
        let kept = [
            metric(to, "toolwire_open_requests").await,
            metric(to, "toolwire_open_connections").await - 1,
            metric(to, "toolwire_stream_bytes").await,
            metric(to, "toolwire_body_bytes").await,
        ];
        if kept == [0; 4] {
            return (delays, usage.memory);
        }
        tokio::time::sleep(ms(20)).await;
    }
    panic!("something is kept after {count} streams");
}

/// The marks of a text that were not seen before: the times when they were sent.
struct Marks {
    /// How much of the text was looked at.
    seen: usize,
    last: Duration,
}

impl Marks {
    fn next(&mut self, text: &[u8]) -> Option<Duration> {
        loop {
            let text = std::str::from_utf8(&text[self.seen..]).unwrap();
            let start = text.find("at-")? + 3;
            let (micros, _) = text[start..].split_once(';')?;
            self.seen += start + micros.len();
            let sent = Duration::from_micros(micros.parse().unwrap());
            // Responses repeats the whole text at its end.
            if sent > self.last {
                self.last = sent;
                return Some(sent);
            }
        }
    }
}

/// An upstream whose streams say every now and then what time it is, until all of
/// them end.
async fn upstream(began: Instant, pause: Duration, ends: watch::Receiver<usize>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::nowhere(Protocol::Chat, listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(speak(stream, began, pause, ends.clone()));
        }
    });
    server
}

async fn speak(
    mut stream: TcpStream,
    began: Instant,
    pause: Duration,
    mut ends: watch::Receiver<usize>,
) {
    let events = fixtures::events(Protocol::Chat);
    let say = || {
        let now = format!("at-{};", began.elapsed().as_micros());
        bytes(&[chunk(events[1].replace("Let me look.", &now))])
    };
    let end = bytes(&[chunk(events[2..].concat()), stream_end()]);
    let mut request = Vec::new();
    let mut piece = [0; 1024];
    while !is_whole(&request) {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(length) => request.extend_from_slice(&piece[..length]),
        }
    }
    ends.mark_unchanged();
    // A connection that is kept for the next request would be memory that is not
    // given back yet.
    let head = stream_head("connection: close\r\n");
    let start = [bytes(&[head, chunk(&events[0])]), say()].concat();
    stream.write_all(&start).await.unwrap();
    loop {
        match tokio::time::timeout(pause, ends.changed()).await {
            Err(_elapsed) => stream.write_all(&say()).await.unwrap(),
            Ok(Ok(())) => break,
            Ok(Err(_gone)) => return,
        }
    }
    stream.write_all(&end).await.unwrap();
}

fn bytes(steps: &[Step]) -> Vec<u8> {
    let sent = steps.iter().map(|step| {
        let Step::Send(bytes) = step else { panic!("not bytes: {step:?}") };
        bytes.as_slice()
    });
    sent.collect::<Vec<_>>().concat()
}

/// How long a stream may take to begin. It takes long on a busy machine, where
/// thousands of others say something at the same time.
const OPENING: Duration = Duration::from_secs(60);

/// How many files a process may open.
fn most_files() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap_or(1024)
}
