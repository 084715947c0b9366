//! A database that dies, freezes or refuses, while gateways use it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use toolwire_store::{
    EngineOptions, NewResponse, OpenError, Options, Status, Store, StoreError, Tenant, Write,
};

use crate::engines::run;
use crate::kill::{WRITERS, begin, check, turn};
use crate::postgres_server::{PostgresServer, execute, is_left_out};

fn options(url: &str, timeout: Duration) -> Options {
    let mut options = Options::postgres(url);
    if let EngineOptions::Postgres(postgres) = &mut options.engine {
        postgres.timeout = timeout;
    }
    options
}

fn response(id: &str) -> Vec<Write> {
    vec![Write::Response(NewResponse::new(id, Status::Completed, "{}"))]
}

/// Writers that go on whatever happens, and note what was acknowledged and what
/// went wrong.
struct Load {
    acks: Arc<Mutex<BTreeSet<u64>>>,
    errors: Arc<Mutex<Vec<StoreError>>>,
    stop: Arc<AtomicBool>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    fn start(store: &Store, round: usize) -> Self {
        let (acks, errors) = (Arc::default(), Arc::default());
        let stop = Arc::new(AtomicBool::new(false));
        let mut load = Self { acks, errors, stop, tasks: Vec::new() };
        for writer in 0..WRITERS {
            let (acks, errors) = (Arc::clone(&load.acks), Arc::clone(&load.errors));
            let (store, stop) = (store.clone(), Arc::clone(&load.stop));
            load.tasks.push(tokio::spawn(async move {
                let mut numbers = (writer..).step_by(usize::try_from(WRITERS).unwrap());
                while !stop.load(Ordering::SeqCst) {
                    let number = numbers.next().unwrap();
                    match store.write(&Tenant::single(), turn(round, number)).await {
                        Ok(()) => drop(acks.lock().unwrap().insert(number)),
                        Err(error) => {
                            errors.lock().unwrap().push(error);
                            tokio::time::sleep(Duration::from_millis(10)).await;
                        }
                    }
                }
            }));
        }
        load
    }

    fn acknowledged(&self) -> usize {
        self.acks.lock().unwrap().len()
    }

    /// Waits until writes succeed again.
    async fn wait_for_progress(&self, most: Duration) -> Duration {
        let (start, before) = (Instant::now(), self.acknowledged());
        while self.acknowledged() < before + 5 {
            assert!(
                start.elapsed() < most,
                "no progress: {:?}",
                self.errors.lock().unwrap().last()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        start.elapsed()
    }

    async fn stop(self) -> (BTreeSet<u64>, Vec<StoreError>) {
        self.stop.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
        (self.acks.lock().unwrap().clone(), self.errors.lock().unwrap().clone())
    }
}

fn check_errors(errors: &[StoreError]) {
    for error in errors {
        assert!(matches!(error, StoreError::Unavailable { retry: true, .. }), "{error}");
    }
}

/// How many times the server is killed, unless `TOOLWIRE_KILL_ROUNDS` says
/// otherwise.
const ROUNDS: usize = 3;

/// Proves that a server that is killed under load loses nothing that was
/// acknowledged, and that the store works again as soon as there is a server.
#[test]
fn a_killed_server_loses_nothing() {
    if is_left_out() {
        return;
    }
    let rounds = std::env::var("TOOLWIRE_KILL_ROUNDS").ok();
    let rounds = rounds.map_or(ROUNDS, |rounds| rounds.parse::<usize>().unwrap() / 50 + 1);
    run(async {
        let mut server = PostgresServer::start();
        let url = server.new_database().await;
        let store = Store::open(options(&url, Duration::from_secs(2))).await.unwrap();
        for round in 0..rounds {
            begin(&store, round).await;
            let load = Load::start(&store, round);
            load.wait_for_progress(Duration::from_secs(10)).await;
            server.signal("KILL");
            tokio::time::sleep(Duration::from_millis(100)).await;
            let down = store.response(&Tenant::single(), "r").await;
            assert!(matches!(down, Err(StoreError::Unavailable { retry: true, .. })), "{down:?}");
            tokio::task::block_in_place(|| server.start_again());
            load.wait_for_progress(Duration::from_secs(5)).await;
            let (acks, errors) = load.stop().await;
            check_errors(&errors);
            check_all(&store, round, &acks).await;
        }
    });
}

/// Proves that a server that does not answer holds nobody longer than the time
/// limit, and that the store works again when it answers.
#[test]
fn a_frozen_server_holds_nobody() {
    if is_left_out() {
        return;
    }
    run(async {
        let server = PostgresServer::start();
        let url = server.new_database().await;
        let store = Store::open(options(&url, Duration::from_millis(500))).await.unwrap();
        begin(&store, 0).await;
        let load = Load::start(&store, 0);
        load.wait_for_progress(Duration::from_secs(10)).await;
        server.signal("STOP");
        for _ in 0..3 {
            let start = Instant::now();
            let frozen = store.response(&Tenant::single(), "r").await;
            assert!(matches!(frozen, Err(StoreError::Unavailable { retry: true, .. })));
            assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        }
        server.signal("CONT");
        load.wait_for_progress(Duration::from_secs(5)).await;
        let (acks, errors) = load.stop().await;
        assert!(!errors.is_empty());
        check_errors(&errors);
        check_all(&store, 0, &acks).await;
    });
}

/// Numbers that failed leave gaps, so everything up to the last is looked at.
async fn check_all(store: &Store, round: usize, acks: &BTreeSet<u64>) {
    // What was given up may still be committed while others are read.
    tokio::time::sleep(Duration::from_millis(200)).await;
    check(store, round, acks).await;
}

#[test]
fn a_server_that_is_not_there_yet_is_waited_for() {
    if is_left_out() {
        return;
    }
    run(async {
        let mut server = PostgresServer::start();
        let url = server.new_database().await;
        server.signal("KILL");
        let store = Store::open(options(&url, Duration::from_secs(1))).await.unwrap();
        let down = store.write(&Tenant::single(), response("r")).await;
        assert!(matches!(down, Err(StoreError::Unavailable { retry: true, .. })), "{down:?}");
        tokio::task::block_in_place(|| server.start_again());
        store.write(&Tenant::single(), response("r")).await.unwrap();
    });
}

#[test]
fn two_gateways_see_each_other_at_once() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        // Both bring the tables up to date at the same time.
        let timeout = Duration::from_secs(5);
        let (one, two) =
            tokio::join!(Store::open(options(&url, timeout)), Store::open(options(&url, timeout)));
        let stores = [one.unwrap(), two.unwrap()];
        for number in 0..20 {
            let id = format!("r{number}");
            stores[number % 2].write(&Tenant::single(), response(&id)).await.unwrap();
            let found = stores[(number + 1) % 2].response(&Tenant::single(), &id).await;
            assert!(found.unwrap().is_some());
        }
    });
}

#[test]
fn what_needs_help_is_said_when_it_is_opened() {
    if is_left_out() {
        return;
    }
    run(async {
        let server = PostgresServer::shared();
        let open = |url: String| async move {
            Store::open(options(&url, Duration::from_secs(5))).await.unwrap_err()
        };
        let error = open("postgres://me:hunter2@[/x".to_owned()).await;
        assert!(matches!(error, OpenError::Address(_)), "{error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
        let error = open(format!("{}&sslmode=require", server.url("postgres"))).await;
        assert!(error.to_string().contains("without a name, such as a socket"), "{error}");
        let error = open(server.url("nothing")).await;
        assert!(error.to_string().contains("\"nothing\" does not exist"), "{error}");
        let url = server.new_database().await;
        drop(Store::open(options(&url, Duration::from_secs(5))).await.unwrap());
        execute(&url, "INSERT INTO toolwire_store VALUES (99)").await;
        assert_eq!(open(url).await, OpenError::Newer { found: 99, known: 2 });
    });
}
