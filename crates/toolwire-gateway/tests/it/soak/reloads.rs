//! Reloads under load. Some are invalid (R-44, T-33).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use toolwire::Protocol;
use toolwire_gateway::config::{Origin, UpstreamConfig};

use super::{Figures, KeepAlive, report, size};
use crate::upstream::{Server, stream, whole};
use crate::{at, config, fixtures, ms, start};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails() {
    let reloads = size(200, 1000);
    let mut servers = Vec::new();
    for from in Protocol::ALL {
        let server =
            Server::scripted(from, move |_, asked| match asked.body.contains("\"stream\":true") {
                true => stream(&fixtures::events(from)),
                false => whole(200, "", fixtures::answer(from)),
            });
        servers.push(server.await);
    }
    let gateway = start(config(vec![at(&servers[0])])).await;
    let to = gateway.address();
    let done = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    let clients: Vec<_> = (0..size(4, 16))
        .map(|number| {
            let done = Arc::clone(&done);
            tokio::spawn(async move {
                let mut client = KeepAlive::new(to);
                let mut times = Vec::new();
                while !done.load(Ordering::Relaxed) {
                    let protocol = Protocol::ALL[times.len() % 3];
                    let stream = (times.len() + number) % 2 == 0;
                    let question = fixtures::question(protocol, stream);
                    let began = Instant::now();
                    let got = client.post(fixtures::path(protocol), &question).await;
                    times.push(began.elapsed());
                    assert_eq!(got.status, 200, "{got:?}");
                    assert!(got.body.contains("call_abc"), "{got:?}");
                    let complete = got.body.contains(fixtures::end_mark(protocol));
                    assert_eq!(complete, stream, "{got:?}");
                }
                times
            })
        })
        .collect();
    for number in 0..reloads {
        let mut upstream = at(&servers[number % 3]);
        let is_valid = number % 10 != 9;
        if !is_valid {
            let (base, path) = ("ftp://example".to_owned(), String::new());
            upstream = UpstreamConfig { origin: Origin::Http { base, path }, ..upstream };
        }
        assert_eq!(gateway.handle().reload(config(vec![upstream])).is_ok(), is_valid);
        // At full size there are more than a thousand requests a second.
        tokio::time::sleep(ms(size(2, 20) as u64)).await;
    }
    done.store(true, Ordering::Relaxed);
    let took = began.elapsed();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.await.unwrap());
    }
    let (count, what) = (times.len(), format!("requests during {reloads} reloads"));
    let remark = format!("{:.0} requests a second", count as f64 / took.as_secs_f64());
    report(Figures { what, count, times, remark, ..Figures::default() });
}
