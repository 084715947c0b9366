//! More clients than the gateway takes: who is refused learns it at once and is
//! told when to come back, and the others are served as before (T-15).

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use toolwire::Protocol;
use toolwire_gateway::config::Secret;

use super::{Figures, percentile, report, size};
use crate::upstream::{Server, Step, whole};
use crate::{at, client, config, fixtures, ms, start};

/// The keys. The first one's clients do not wait before they try again.
const KEYS: [&str; 3] = ["greedy-key", "fair-key", "other-key"];

/// What came of the requests of some clients.
#[derive(Default)]
struct Outcomes {
    served: [usize; KEYS.len()],
    refusals: Vec<Duration>,
    lost: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn goodput_stays_and_refusals_are_fast() {
    let mut steps = whole(200, "", fixtures::answer(Protocol::Chat));
    steps.insert(0, Step::Wait(ms(20)));
    let server = Server::new(Protocol::Chat, steps).await;
    let time = ms(size(700, 8000) as u64);
    // How many times as many clients as there are places, the places, and how much
    // of the peak must be served. With few places there are few who wait, and a
    // place that becomes free is empty until one of them tries again. At ten times
    // the capacity two processors have more to do with who is refused, on both
    // sides, than with who is served.
    for (factor, places, percent) in [(2, size(4, 12), size(50, 90)), (10, 4, 50)] {
        let mut config = config(vec![at(&server)]);
        config.limits.connections = places;
        config.keys = KEYS.map(|key| Secret::new(key.to_owned())).to_vec();
        let gateway = start(config).await;
        let to = gateway.address();
        // A busy machine gets two more attempts. Two cores carry the clients and
        // the upstream too.
        let mut attempt = 1;
        let (peak, Outcomes { served, refusals, lost }) = loop {
            let peak: usize = load(to, places, time).await.served.iter().sum();
            let outcomes = load(to, places * factor, time).await;
            let all: usize = outcomes.served.iter().sum();
            if all * 100 >= peak * percent {
                break (peak, outcomes);
            }
            assert!(attempt < 3, "{all} are served, {peak} at the peak");
            attempt += 1;
        };
        let all: usize = served.iter().sum();
        assert!(!refusals.is_empty(), "nobody is refused");
        assert!(served.iter().all(|served| *served > 0), "{served:?}");
        let mut times = refusals;
        let most = percentile(&mut times, 99);
        assert!(most < Duration::from_secs(1), "a refusal takes {most:?}");
        report(Figures {
            what: format!("refusals at {factor} × capacity"),
            count: times.len(),
            times,
            lost,
            remark: format!(
                "{all} served, {} % of the peak; by key {served:?}, the first greedy",
                all * 100 / peak
            ),
            ..Figures::default()
        });
    }
}

/// So many clients that ask for so long.
async fn load(to: SocketAddr, clients: usize, time: Duration) -> Outcomes {
    let done = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..clients)
        .map(|number| tokio::spawn(ask(to, number % KEYS.len(), Arc::clone(&done))))
        .collect();
    tokio::time::sleep(time).await;
    done.store(true, Ordering::Relaxed);
    let mut all = Outcomes::default();
    for client in clients {
        let Outcomes { served, refusals, lost } = client.await.unwrap();
        for (sum, served) in all.served.iter_mut().zip(served) {
            *sum += served;
        }
        all.refusals.extend(refusals);
        all.lost += lost;
    }
    all
}

async fn ask(to: SocketAddr, key: usize, done: Arc<AtomicBool>) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let question = fixtures::question(Protocol::Messages, false);
    let header = format!("x-api-key: {}", KEYS[key]);
    while !done.load(Ordering::Relaxed) {
        let began = Instant::now();
        let got = client::post(to, "/v1/messages", &[&header], &question).await;
        match got.status {
            200 => outcomes.served[key] += 1,
            503 => {
                assert_eq!(got.header("retry-after"), Some("1"), "{got:?}");
                outcomes.refusals.push(began.elapsed());
                tokio::time::sleep(ms(if key == 0 { 5 } else { 20 })).await;
            }
            _other => outcomes.lost += 1,
        }
    }
    outcomes
}
