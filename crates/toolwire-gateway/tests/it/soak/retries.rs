//! No request runs twice, and a full outage is not made worse (R-33, T-12).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use toolwire::Protocol;
use toolwire_gateway::config::UpstreamConfig;

use super::{Figures, KeepAlive, pick, report, size};
use crate::secure::{Act, Secure, behind};
use crate::upstream::{Server, Step, chunk, stream_end, stream_head, whole};
use crate::{at, config, fixtures, ms, start};

/// How often each request ran.
type Executions = Arc<Mutex<HashMap<String, usize>>>;

/// The number that a request carries.
fn nonce(body: &str) -> String {
    let (_, rest) = body.split_once("nonce-").unwrap();
    rest.chars().take_while(char::is_ascii_digit).collect()
}

/// What an upstream does with a request, and whether it runs it.
fn fate(from: Protocol, choice: usize, stream: bool) -> (bool, Vec<Step>) {
    let error = |kind| fixtures::error(from, kind, "No.");
    let events = fixtures::events(from);
    let begun = |count: usize| {
        let mut steps = vec![stream_head("")];
        steps.extend(events.iter().take(count).map(chunk));
        steps
    };
    let answer = || match stream {
        true => crate::upstream::stream(&events),
        false => whole(200, "", fixtures::answer(from)),
    };
    match choice {
        0 => (false, whole(429, "", error("rate_limit_error"))),
        1 => (false, whole(500, "", error("api_error"))),
        2 => (false, whole(502, "", error("api_error"))),
        3 => (false, whole(503, "", error("overloaded_error"))),
        4 => (false, whole(529, "", error("overloaded_error"))),
        // Somebody on the way stopped waiting for a request that ran.
        5 => (true, whole(504, "", error("api_error"))),
        6 => (true, vec![Step::Close]),
        7 => (true, vec![Step::Hang]),
        8 => (true, vec![stream_head(""), Step::Close]),
        9 if stream => (true, [begun(1), vec![Step::Close]].concat()),
        10 if stream => (true, [begun(4), vec![Step::Close]].concat()),
        11 if stream => (true, [begun(4), vec![stream_end()]].concat()),
        12 => {
            let half = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{";
            (true, vec![Step::Send(half.to_vec()), Step::Close])
        }
        _fine => (true, answer()),
    }
}

async fn upstream(from: Protocol, salt: usize, ran: &Executions) -> Server {
    let ran = Arc::clone(ran);
    Server::scripted(from, move |_, asked| {
        let nonce = nonce(&asked.body);
        let choice = pick(nonce.parse::<usize>().unwrap() * 4 + salt, 20);
        let (runs, steps) = fate(from, choice, asked.body.contains("\"stream\":true"));
        if runs {
            *ran.lock().unwrap().entry(nonce).or_default() += 1;
        }
        steps
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_runs_twice() {
    let count = size(3000, 100_000);
    let ran = Executions::default();
    let mut upstreams = Vec::new();
    let mut servers = Vec::new();
    for (salt, from) in Protocol::ALL.into_iter().enumerate() {
        let server = upstream(from, salt, &ran).await;
        let mut upstream = at(&server);
        upstream.timeouts.headers = ms(100);
        upstream.timeouts.whole = ms(100);
        upstream.timeouts.idle = ms(100);
        upstreams.push(upstream);
        servers.push(server);
    }
    let mut config = config(upstreams);
    config.retry.budget_percent = 100;
    config.retry.budget_reserve = 1000;
    config.retry.eject_after = 1_000_000;
    let gateway = start(config).await;
    let to = gateway.address();
    let workers: Vec<_> = (0..32)
        .map(|worker| {
            tokio::spawn(async move {
                let mut client = KeepAlive::new(to);
                let mut times = Vec::new();
                let mut wrong = 0;
                for number in (worker..count).step_by(32) {
                    let protocol = Protocol::ALL[number % 3];
                    let stream = number % 2 == 0;
                    let question = fixtures::question(protocol, stream)
                        .replace("Weather", &format!("nonce-{number} Weather"));
                    let began = Instant::now();
                    let got = client.post(fixtures::path(protocol), &question).await;
                    times.push(began.elapsed());
                    let complete = got.body.contains(fixtures::end_mark(protocol));
                    let failed = got.body.contains(fixtures::error_mark(protocol));
                    // A stream ends well or with an error, and never with both.
                    if got.status == 200 && stream && complete == failed {
                        wrong += 1;
                    }
                }
                (times, wrong)
            })
        })
        .collect();
    let mut times = Vec::new();
    let mut wrong = 0;
    for worker in workers {
        let (took, endings) = worker.await.unwrap();
        times.extend(took);
        wrong += endings;
    }
    let ran = ran.lock().unwrap();
    let twice = ran.values().filter(|times| **times > 1).count();
    assert_eq!((twice, wrong), (0, 0), "requests that ran twice, wrong endings");
    assert!(ran.len() > count / 2, "{} of {count} ran", ran.len());
    let sent: usize = servers.iter().map(Server::seen_count).sum();
    assert!(sent > count, "some were tried again: {sent}");
    report(Figures {
        what: "requests with faults at all phases".to_owned(),
        count,
        times,
        wrong_endings: wrong,
        lost: twice,
        remark: "0 ran twice".to_owned(),
        ..Figures::default()
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_outage_adds_a_fifth() {
    let count = size(1000, 20_000);
    let error = fixtures::error(Protocol::Chat, "server_error", "No.");
    let first = Server::new(Protocol::Chat, whole(503, "", &error)).await;
    let second = Server::new(Protocol::Chat, whole(503, "", &error)).await;
    let third = UpstreamConfig { name: "second".to_owned(), ..at(&second) };
    let gateway = start(config(vec![at(&first), third])).await;
    let times = ask_all(gateway.address(), count).await;
    let sent = first.seen_count() + second.seen_count();
    let reserve = 10;
    assert!(sent <= count * 12 / 10 + reserve, "{sent} for {count}");
    report(Figures {
        what: "requests in an outage".to_owned(),
        count,
        times,
        remark: format!("{sent} sent to upstreams"),
        ..Figures::default()
    });
}

/// Servers that restart lose nothing that they have not begun (R-40, T-13).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_go_away_lose_nothing() {
    let count = size(500, 10_000);
    let server = Secure::new(Protocol::Chat, &["http/1.1"], |asked| {
        let answer = fixtures::answer(Protocol::Chat);
        if asked.number % 50 == 49 { Act::Last(answer) } else { Act::Whole(answer) }
    })
    .await;
    let gateway = start(config(vec![behind(server.address, Protocol::Chat, &server.ca)])).await;
    let to = gateway.address();
    let workers: Vec<_> = (0..4)
        .map(|_| {
            tokio::spawn(async move {
                let mut client = KeepAlive::new(to);
                let question = fixtures::question(Protocol::Messages, false);
                let mut times = Vec::new();
                for _ in 0..count / 4 {
                    let began = Instant::now();
                    let got = client.post("/v1/messages", &question).await;
                    assert_eq!(got.status, 200, "{got:?}");
                    times.push(began.elapsed());
                }
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for worker in workers {
        times.extend(worker.await.unwrap());
    }
    assert_eq!(server.asked().len(), times.len(), "each ran once");
    report(Figures {
        what: "requests, the connection ends every 50".to_owned(),
        count,
        times,
        remark: "each ran once".to_owned(),
        ..Figures::default()
    });
}

async fn ask_all(to: std::net::SocketAddr, count: usize) -> Vec<std::time::Duration> {
    let mut client = KeepAlive::new(to);
    let question = fixtures::question(Protocol::Chat, false);
    let mut times = Vec::new();
    for _ in 0..count {
        let began = Instant::now();
        let got = client.post("/v1/chat/completions", &question).await;
        assert!(got.status >= 429, "{got:?}");
        times.push(began.elapsed());
    }
    times
}
