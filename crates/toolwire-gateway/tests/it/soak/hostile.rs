//! Hostile HTTP/2, frame by frame. Others are served in the meantime, and an
//! attacker neither gets much more than it sends nor makes the gateway keep much
//! (R-20, T-16).

use std::net::SocketAddr;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolwire_gateway::Gateway;

use super::{Figures, percentile, report, size};
use crate::{client, config, ms, start};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const UNKNOWN: u8 = 0xbe;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// A text of HPACK, without Huffman coding.
fn text(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if text.len() < 127 {
        out.push(text.len() as u8);
    } else {
        out.push(127);
        let mut rest = text.len() - 127;
        while rest >= 128 {
            out.push((rest % 128 + 128) as u8);
            rest /= 128;
        }
        out.push(rest as u8);
    }
    out.extend_from_slice(text);
    out
}

/// A header that the gateway adds to its dynamic table, or not.
fn header(name: &[u8], value: &[u8], indexed: bool) -> Vec<u8> {
    [vec![if indexed { 0x40 } else { 0 }], text(name), text(value)].concat()
}

/// The head of a request.
fn request(method: u8, path: &[u8]) -> Vec<u8> {
    let mut block = vec![method, 0x86];
    block.extend(header(b":path", path, false));
    block.extend(header(b":authority", b"localhost", false));
    block.extend(header(b"content-type", b"application/json", false));
    block
}

const GET: u8 = 0x82;
const POST: u8 = 0x83;

/// What an attacker sends: a beginning, and what it repeats.
struct Attack {
    name: &'static str,
    begin: Vec<u8>,
    repeat: Vec<u8>,
    times: usize,
    /// Whether the gateway must close the connection because of it.
    is_fatal: bool,
}

fn attacks() -> Vec<Attack> {
    let times = size(20_000, 400_000);
    let post = frame(HEADERS, END_HEADERS, 1, &request(POST, b"/v1/messages"));
    let open = frame(HEADERS, 0, 1, &request(GET, b"/livez"));
    let huge = header(b"x-bomb", &[b'x'; 4000], true);
    // 62 is the newest entry of the dynamic table.
    let bomb = [request(GET, b"/livez"), huge, vec![0x80 | 62; 12_000]].concat();
    let attack = |name, begin: &[u8], repeat: Vec<u8>, times, is_fatal| {
        let settings = frame(SETTINGS, 0, 0, &[]);
        let begin = [PREFACE, &settings, begin].concat();
        Attack { name, begin, repeat, times, is_fatal }
    };
    let continuation = header(b"x", &[b'y'; 1000], false);
    vec![
        attack("CONTINUATION", &open, frame(CONTINUATION, 0, 1, &continuation), times, true),
        attack("empty CONTINUATION", &open, frame(CONTINUATION, 0, 1, &[]), times, true),
        attack("PING", &[], frame(PING, 0, 0, &[7; 8]), times, false),
        attack("SETTINGS", &[], frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]), times, false),
        attack("empty DATA", &post, frame(DATA, 0, 1, &[]), times, false),
        attack("tiny DATA", &post, frame(DATA, 0, 1, b" "), times, false),
        attack("unknown frames", &[], frame(UNKNOWN, 0, 0, &[1; 64]), times, false),
        attack(
            "window overflow",
            &[],
            frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes()),
            2,
            true,
        ),
        attack("WINDOW_UPDATE of zero", &[], frame(WINDOW_UPDATE, 0, 0, &[0; 4]), 1, true),
        attack("HPACK bomb", &[], frame(HEADERS, END_HEADERS | END_STREAM, 1, &bomb), 1, false),
        attack("HPACK index out of range", &[], frame(HEADERS, 5, 1, &[0xff, 0xff, 0x7f]), 1, true),
        attack("DATA on no stream", &[], frame(DATA, 0, 9, b"x"), 1, true),
        attack("too long a frame", &[], vec![0xff, 0xff, 0xff, DATA, 0, 0, 0, 0, 1], 1, true),
        attack("SETTINGS of a wrong length", &[], frame(SETTINGS, 0, 0, &[0; 5]), 1, true),
    ]
}

/// Attacks on one connection. Returns the bytes sent and received, and whether
/// the gateway closed it.
async fn run(gateway: &Gateway, attack: &Attack, reads: bool) -> (usize, usize, bool) {
    let stream = TcpStream::connect(gateway.address()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let received = tokio::spawn(async move {
        let mut received = 0;
        let mut piece = vec![0; 64 * 1024];
        if !reads {
            tokio::time::sleep(ms(1000)).await;
        }
        loop {
            match tokio::time::timeout(ms(500), reader.read(&mut piece)).await {
                Ok(Ok(0) | Err(_)) => return (received, true),
                Ok(Ok(count)) => received += count,
                Err(_elapsed) => return (received, false),
            }
        }
    });
    let mut sent = attack.begin.len();
    let sending = async {
        writer.write_all(&attack.begin).await?;
        let together = (64 * 1024 / attack.repeat.len()).clamp(1, attack.times);
        let batch = attack.repeat.repeat(together);
        for _ in 0..attack.times.div_ceil(together) {
            writer.write_all(&batch).await?;
            sent += batch.len();
        }
        std::io::Result::Ok(())
    };
    // An attacker that does not read may not be able to send either.
    let _ = tokio::time::timeout(ms(3000), sending).await;
    let (received, closed) = received.await.unwrap();
    (sent, received, closed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_of_frames() {
    let mut config = config(Vec::new());
    config.limits.head_time = ms(1000);
    let gateway = start(config).await;
    let to = gateway.address();
    let attacks = attacks();
    let mut alone = visits(to).await;
    // As many clients as there are attackers at a time, who mean well and are as busy.
    let busy: Vec<_> = (0..8).map(|_| tokio::spawn(asks_on_and_on(to))).collect();
    let mut crowded = visits(to).await;
    for client in busy {
        client.abort();
    }
    let mut served = Vec::new();
    for group in attacks.chunks(4) {
        let before = resident();
        let attacking = group.iter().flat_map(|attack| [(attack, true), (attack, false)]);
        let attacking = attacking.map(|(attack, reads)| check(&gateway, attack, reads));
        let all = tokio::spawn(visits(to));
        let mut attacking: Vec<_> = attacking.map(Box::pin).collect();
        std::future::poll_fn(|cx| {
            attacking.retain_mut(|attack| attack.as_mut().poll(cx).is_pending());
            if attacking.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        served.extend(all.await.unwrap());
        let grown = resident().saturating_sub(before);
        assert!(grown < 64 << 20, "{grown} bytes are kept");
    }
    let [alone, crowded, most] =
        [&mut alone, &mut crowded, &mut served].map(|times| percentile(times, 99));
    assert!(most < Duration::from_secs(1), "{most:?}");
    assert!(most <= crowded * 2 + ms(250), "{most:?}, and {crowded:?} beside busy clients");
    report(Figures {
        what: "requests beside 28 HTTP/2 floods".to_owned(),
        count: served.len(),
        times: served,
        remark: format!("p99 {alone:.1?} alone, {crowded:.1?} beside as many busy clients"),
        ..Figures::default()
    });
}

/// The times of a hundred requests of a client who means well.
async fn visits(to: SocketAddr) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..100 {
        let began = Instant::now();
        assert_eq!(client::get(to, "/livez", &[]).await.status, 200);
        times.push(began.elapsed());
        tokio::time::sleep(ms(5)).await;
    }
    times
}

async fn asks_on_and_on(to: SocketAddr) {
    loop {
        assert_eq!(client::get(to, "/livez", &[]).await.status, 200);
    }
}

async fn check(gateway: &Gateway, attack: &Attack, reads: bool) {
    let (sent, received, closed) = run(gateway, attack, reads).await;
    let name = attack.name;
    assert!(received <= 10 * sent, "{name}: {received} bytes for {sent}");
    assert!(closed || !attack.is_fatal, "{name}: the connection stays open");
}

/// The memory of this process.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}
