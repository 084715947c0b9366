//! Gateways that are killed in the middle of their work (R-45, T-18).

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolwire::Protocol;

use super::process::{Process, Settings};
use super::{Figures, pick, report, size};
use crate::upstream::{ReceivedRequest, Server, stream, whole};
use crate::{client, fixtures, ms};

/// What the clients of all gateways have seen.
#[derive(Default)]
struct Seen {
    /// Acknowledged responses, by id.
    acknowledged: BTreeMap<String, Value>,
    /// Streams that did not end, by id.
    unfinished: Vec<String>,
    /// Work that went on without its client.
    background: Vec<String>,
}

/// Proves that however a gateway ends, every response that a client has seen the
/// end of is there, every other is wholly there or absent, what was made in the
/// background ends, and the next gateway is ready within a second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost() {
    let protocol = Protocol::Chat;
    let script = move |_: usize, seen: &ReceivedRequest| match seen.json()["stream"] == true {
        true => stream(&fixtures::events(protocol)),
        false => whole(200, "", fixtures::answer(protocol)),
    };
    let server = Server::scripted(protocol, script).await;
    let folder = std::env::temp_dir().join(format!("toolwire-kills-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let rounds = std::env::var("TOOLWIRE_KILL_ROUNDS").ok();
    let rounds = rounds.map_or(size(100, 10_000), |rounds| rounds.parse().unwrap());
    let mut found = Found::default();
    for first in (0..rounds).step_by(BATCH) {
        // A file for each batch, so that none grows too long.
        let path = folder.join(format!("{first}.db"));
        let batch = first..rounds.min(first + BATCH);
        kill_some(&server, path.to_str().unwrap(), batch, &mut found).await;
        let _ = std::fs::remove_file(path);
    }
    let Found { times, acknowledged, whole, jobs } = found;
    assert!(acknowledged > rounds, "{acknowledged} responses in {rounds} rounds");
    let slowest = times.iter().max().copied().unwrap_or_default();
    let _ = std::fs::remove_dir_all(&folder);
    let remark = format!(
        "{acknowledged} acknowledged responses are all there; {whole} more were wholly there; {jobs} \
         in the background have ended; times until a new gateway answers, at most {slowest:.0?}"
    );
    let what = "gateways killed while they store".to_owned();
    report(Figures { what, count: rounds, times, remark, ..Figures::default() });
    // After the report: a machine that is slow for a moment has lost nothing.
    assert!(slowest < Duration::from_secs(1), "ready after {slowest:?}");
}

/// What was found after the gateways were killed.
#[derive(Default)]
struct Found {
    /// Until the next gateway answered.
    times: Vec<Duration>,
    acknowledged: usize,
    /// Responses that nobody has seen the end of, and that are there.
    whole: usize,
    jobs: usize,
}

/// Kills one gateway after the other over the same store.
async fn kill_some(server: &Server, path: &str, rounds: Range<usize>, found: &mut Found) {
    let start = || Process::start_with_store(&[server], Settings::default(), Some(path));
    let mut gateway = start();
    let mut jobs = Vec::new();
    for round in rounds {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| tokio::spawn(ask(gateway.address, number, Arc::clone(&seen))))
            .collect();
        // On a slow machine nothing would be under way after a fixed time.
        let wanted = pick(round, 8);
        let by = Instant::now() + Duration::from_secs(5);
        while seen.lock().unwrap().acknowledged.len() < wanted && Instant::now() < by {
            tokio::time::sleep(ms(1)).await;
        }
        let time = u64::try_from(pick(round * 7, 10_000)).unwrap();
        tokio::time::sleep(Duration::from_micros(time)).await;
        gateway.kill();
        for client in clients {
            client.await.unwrap();
        }
        let killed = Instant::now();
        gateway = start();
        let Seen { acknowledged, unfinished, background } =
            std::mem::take(&mut *seen.lock().unwrap());
        let mut ready = None;
        for (id, response) in &acknowledged {
            let got = client::get(gateway.address, &format!("/v1/responses/{id}"), &[]).await;
            ready.get_or_insert_with(|| killed.elapsed());
            assert_eq!((got.status, got.json()), (200, response.clone()), "round {round}: {id}");
        }
        for id in &unfinished {
            let got = client::get(gateway.address, &format!("/v1/responses/{id}"), &[]).await;
            match got.status {
                404 => {}
                200 => {
                    assert_eq!(got.json()["status"], "completed", "round {round}");
                    assert_eq!(got.json()["output"].as_array().unwrap().len(), 2, "{got:?}");
                    found.whole += 1;
                }
                _other => panic!("{got:?}"),
            }
        }
        found.acknowledged += acknowledged.len();
        found.times.extend(ready);
        jobs.extend(background);
    }
    let by = Instant::now() + Duration::from_secs(40);
    for id in &jobs {
        loop {
            let got = client::get(gateway.address, &format!("/v1/responses/{id}"), &[]).await;
            assert_eq!(got.status, 200, "{got:?}");
            if ["completed", "failed"].contains(&got.json()["status"].as_str().unwrap()) {
                break;
            }
            assert!(Instant::now() < by, "it does not end: {got:?}");
            tokio::time::sleep(ms(100)).await;
        }
    }
    found.jobs += jobs.len();
    gateway.stop();
}

/// Sends requests until the gateway is gone.
async fn ask(to: SocketAddr, client: usize, seen: Arc<Mutex<Seen>>) {
    for turn in client.. {
        let streams = turn % 2 == 0;
        let background = turn % 5 == 4;
        let body = json!({"model": "m", "input": format!("Turn {turn}"), "stream": streams,
            "background": background})
        .to_string();
        let Some(got) = try_post(to, &body).await else { return };
        let at = got.find("\"id\":\"resp_");
        let id = at.and_then(|at| got.get(at + 6..)?.split_once('"').map(|(id, _)| id.to_owned()));
        let Some(id) = id else { return };
        let mut seen = seen.lock().unwrap();
        if background {
            seen.background.push(id);
            continue;
        }
        match acknowledged(&got, streams) {
            Some(response) => {
                seen.acknowledged.insert(id, response);
            }
            None => {
                seen.unfinished.push(id);
                return;
            }
        }
    }
}

/// The response, if its client has seen the end of it.
fn acknowledged(got: &str, streams: bool) -> Option<Value> {
    if !streams {
        return serde_json::from_str(got).ok();
    }
    let (_, ending) = got.split_once("event: response.completed\ndata: ")?;
    let (data, _) = ending.split_once("\n\n")?;
    Some(serde_json::from_str::<Value>(data).unwrap()["response"].clone())
}

/// What came of the body of a response before the gateway was gone.
async fn try_post(to: SocketAddr, body: &str) -> Option<String> {
    let mut stream = TcpStream::connect(to).await.ok()?;
    let request = format!(
        "POST /v1/responses HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    (!bytes.is_empty()).then(|| client::parse(&bytes).body)
}

/// How many gateways are killed over one file.
const BATCH: usize = 500;

/// Clients at a time.
const CLIENTS: usize = 8;
