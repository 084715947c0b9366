//! A database that dies, freezes or refuses, while gateways use it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio_postgres::NoTls;
use toolwire_store::{
    EngineOptions, Item, NewResponse, OpenError, Options, Status, Store, StoreError, Tenant, Write,
};

use crate::engines::run;
use crate::kill::{WRITERS, begin, check, turn};
use crate::postgres_server::{
    PATIENCE, PostgresServer, WAITING, execute, is_left_out, number, wait_for_connections_to_end,
    wait_for_number,
};

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

/// A time that is enough on a machine that is busy.
const PATIENT: Duration = Duration::from_secs(20);

/// Writes until it succeeds. Returns the id: each attempt has its own, since one that was
/// given up may still be written, and would have taken it.
async fn write_in_the_end(store: &Store, name: &str) -> String {
    let start = Instant::now();
    for attempt in 0.. {
        let id = format!("{name}-{attempt}");
        match store.write(&Tenant::single(), response(&id)).await {
            Ok(()) => return id,
            Err(error) => {
                assert!(matches!(error, StoreError::Unavailable { retry: true, .. }), "{error}");
                assert!(start.elapsed() < PATIENCE, "{error}");
            }
        }
    }
    unreachable!()
}

/// A response that is all there is to write, which is stored together with others.
fn lone_response(round: usize, number: u64) -> NewResponse {
    let (id, item) = (format!("a{round}-{number}"), Item::new(format!("i{number}"), "item"));
    let body = format!("{{\"number\":{number}}}");
    NewResponse { output: vec![item], ..NewResponse::new(id, Status::Completed, body) }
}

/// Writers that go on whatever happens, and note what was acknowledged and what
/// went wrong.
struct Load {
    acks: Arc<Mutex<BTreeSet<u64>>>,
    /// Of what is written alone.
    alone: Arc<Mutex<BTreeSet<u64>>>,
    errors: Arc<Mutex<Vec<StoreError>>>,
    stop: Arc<AtomicBool>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    fn start(store: &Store, round: usize) -> Self {
        let (acks, alone, errors) = (Arc::default(), Arc::default(), Arc::default());
        let stop = Arc::new(AtomicBool::new(false));
        let mut load = Self { acks, alone, errors, stop, tasks: Vec::new() };
        for writer in 0..WRITERS {
            let turn = move |number| turn(round, number);
            let alone = move |number| vec![Write::Response(lone_response(round, number))];
            load.write(store, writer, Arc::clone(&load.acks), turn);
            load.write(store, writer, Arc::clone(&load.alone), alone);
        }
        load
    }

    fn write(
        &mut self,
        store: &Store,
        writer: u64,
        acks: Arc<Mutex<BTreeSet<u64>>>,
        writes: impl Fn(u64) -> Vec<Write> + Send + 'static,
    ) {
        let errors = Arc::clone(&self.errors);
        let (store, stop) = (store.clone(), Arc::clone(&self.stop));
        self.tasks.push(tokio::spawn(async move {
            let mut numbers = (writer..).step_by(usize::try_from(WRITERS).unwrap());
            while !stop.load(Ordering::SeqCst) {
                let number = numbers.next().unwrap();
                match store.write(&Tenant::single(), writes(number)).await {
                    Ok(()) => drop(acks.lock().unwrap().insert(number)),
                    Err(error) => {
                        errors.lock().unwrap().push(error);
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                }
            }
        }));
    }

    fn acknowledged(&self) -> [usize; 2] {
        [&self.acks, &self.alone].map(|acks| acks.lock().unwrap().len())
    }

    /// Waits until writes of both kinds succeed again.
    async fn wait_for_progress(&self) {
        let (start, before) = (Instant::now(), self.acknowledged());
        while self.acknowledged().iter().zip(before).any(|(now, before)| *now < before + 5) {
            assert!(
                start.elapsed() < PATIENCE,
                "no progress: {:?}",
                self.errors.lock().unwrap().last()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Stops, and checks everything that was written. Returns how many writes failed.
    async fn finish(self, store: Store, url: &str, round: usize) -> usize {
        self.stop.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
        let errors = self.errors.lock().unwrap().clone();
        for error in &errors {
            assert!(matches!(error, StoreError::Unavailable { retry: true, .. }), "{error}");
        }
        // What was given up may still be committed, and must not be while others are read.
        drop(store);
        wait_for_connections_to_end(url).await;
        let store = &Store::open(options(url, PATIENT)).await.unwrap();
        let (acks, alone_acks) =
            (self.acks.lock().unwrap().clone(), self.alone.lock().unwrap().clone());
        check(store, round, &acks).await;
        for number in alone_acks {
            let expected = lone_response(round, number);
            let chain = store.chain(&Tenant::single(), &expected.id).await.unwrap();
            let [link] = &chain.expect("it was acknowledged")[..] else { unreachable!() };
            assert_eq!(link.output, expected.output);
            let found = store.response(&Tenant::single(), &expected.id).await.unwrap();
            assert_eq!(found.unwrap().body, expected.body);
        }
        errors.len()
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
        for round in 0..rounds {
            begin(&Store::open(options(&url, PATIENT)).await.unwrap(), round).await;
            let store = Store::open(options(&url, Duration::from_secs(2))).await.unwrap();
            let load = Load::start(&store, round);
            load.wait_for_progress().await;
            server.signal("KILL");
            tokio::time::sleep(Duration::from_millis(100)).await;
            let down = store.response(&Tenant::single(), "r").await;
            assert!(matches!(down, Err(StoreError::Unavailable { retry: true, .. })), "{down:?}");
            tokio::task::block_in_place(|| server.start_again());
            load.wait_for_progress().await;
            load.finish(store, &url, round).await;
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
        begin(&Store::open(options(&url, PATIENT)).await.unwrap(), 0).await;
        let store = Store::open(options(&url, Duration::from_millis(500))).await.unwrap();
        let load = Load::start(&store, 0);
        load.wait_for_progress().await;
        server.signal("STOP");
        for _ in 0..3 {
            let start = Instant::now();
            let frozen = store.response(&Tenant::single(), "r").await;
            assert!(matches!(frozen, Err(StoreError::Unavailable { retry: true, .. })));
            assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
        }
        server.signal("CONT");
        load.wait_for_progress().await;
        assert!(load.finish(store, &url, 0).await > 0, "nothing was held");
    });
}

/// Proves that responses that wait together are one transaction, and that one which fails,
/// fails alone.
#[test]
fn responses_that_wait_are_stored_together() {
    if is_left_out() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let url = PostgresServer::shared().new_database().await;
        let store = Store::open(options(&url, Duration::from_secs(10))).await.unwrap();
        store.write(&Tenant::single(), response("first")).await.unwrap();
        execute(&url, "ALTER TABLE toolwire_record ADD CHECK (model <> 'spoiled')").await;
        let store_all = async |round: usize, spoiled: Option<u64>| {
            let writes = (0..40).map(|number| {
                let mut response = lone_response(round, number);
                response.previous = Some("first".to_owned());
                if spoiled == Some(number) {
                    response.model = "spoiled".to_owned();
                }
                let store = store.clone();
                tokio::spawn(async move {
                    store.write(&Tenant::single(), vec![Write::Response(response)]).await.is_ok()
                })
            });
            let mut stored = Vec::new();
            for task in writes.collect::<Vec<_>>() {
                stored.push(task.await.unwrap());
            }
            stored
        };
        assert_eq!(store_all(0, None).await, [true; 40]);
        let groups = "SELECT count(DISTINCT xmin::text) FROM toolwire_record WHERE id LIKE 'a0-%'";
        assert!((1..10).contains(&number(&url, groups).await));
        let expected: Vec<_> = (0..40).map(|number| number != 17).collect();
        assert_eq!(store_all(1, Some(17)).await, expected);
        let found = "SELECT count(*) FROM toolwire_record WHERE id LIKE 'a1-%'";
        assert_eq!(number(&url, found).await, 39);
        // Ids that are taken.
        assert_eq!(store_all(0, None).await, [false; 40]);
        let lineages = "SELECT count(*) FROM toolwire_lineage";
        assert_eq!(number(&url, lineages).await, 1, "all of them continue the first");
    });
}

/// Proves that responses which come one by one, and faster than the server is asked, share
/// its transactions. A slow machine puts more of them together, never fewer.
#[test]
fn responses_that_come_one_by_one_are_put_together() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        let store = Store::open(Options::postgres(&url)).await.unwrap();
        store.write(&Tenant::single(), response("first")).await.unwrap();
        let responses = 600;
        let start = Instant::now();
        let tasks = (0..responses).map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                let due = start + number * Duration::from_micros(500);
                tokio::time::sleep_until(due.into()).await;
                let write = response(&format!("r{number}"));
                store.write(&Tenant::single(), write).await.unwrap();
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let transactions = "SELECT count(DISTINCT CAST(xmin AS TEXT)) FROM toolwire_record";
        let transactions = number(&url, transactions).await;
        assert!(transactions < i64::from(responses) / 3, "{transactions} transactions");
    });
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
        assert_eq!(open(url).await, OpenError::Newer { found: 99, known: 5 });
    });
}

/// Proves that a program which knows only older tables does not read newer ones, not even
/// with a connection that it has.
#[test]
fn a_migration_ends_the_connections_of_older_programs() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        let tenant = Tenant::single();
        let older = Store::open(options(&url, Duration::from_secs(5))).await.unwrap();
        older.write(&tenant, response("a")).await.unwrap();
        let holder = "SELECT CAST(min(pid) AS BIGINT) FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
                      WHERE l.locktype = 'advisory' AND d.datname = current_database()";
        let held =
            format!("SELECT count(*) FROM pg_locks WHERE pid = {}", number(&url, holder).await);
        assert_eq!(number(&url, &held).await, 1);
        // The tables as an earlier program made them.
        let earlier = "DELETE FROM toolwire_store WHERE version = 5; ALTER TABLE toolwire_record ADD CONSTRAINT \
                       toolwire_record_tenant_kind_id_key UNIQUE (tenant, kind, id); DROP INDEX toolwire_record_id, \
                       toolwire_record_list; CREATE INDEX toolwire_record_list ON toolwire_record (tenant, kind, key, \
                       bytes)";
        execute(&url, earlier).await;
        let newer = Store::open(options(&url, Duration::from_secs(5))).await.unwrap();
        assert_eq!(number(&url, &held).await, 0, "a connection is older than the migration");
        assert!(newer.response(&tenant, "a").await.unwrap().is_some());
        // And now as a later one made them.
        execute(&url, "INSERT INTO toolwire_store VALUES (99)").await;
        let error = older.response(&tenant, "a").await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { retry: false, .. }), "{error}");
        assert!(error.to_string().contains("99"), "{error}");
    });
}

/// Proves that a gateway of another role, whose connections must not be ended, is named.
#[test]
fn a_migration_names_the_role_that_is_in_its_way() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        let roles = "CREATE ROLE gateway_a LOGIN; CREATE ROLE gateway_b LOGIN; GRANT ALL ON SCHEMA public TO \
                     gateway_a, gateway_b";
        execute(&url, roles).await;
        let open = |role: &str| {
            let url = url.replace("toolwire@", &format!("{role}@"));
            async move { Store::open(options(&url, Duration::from_secs(5))).await }
        };
        let older = open("gateway_a").await.unwrap();
        older.write(&Tenant::single(), response("a")).await.unwrap();
        let earlier = "GRANT SELECT ON ALL TABLES IN SCHEMA public TO gateway_b; DELETE FROM toolwire_store WHERE \
                       version = (SELECT max(version) FROM toolwire_store)";
        execute(&url, earlier).await;
        let error = open("gateway_b").await.unwrap_err().to_string();
        assert!(error.contains("(gateway_a): stop what is connected"), "{error}");
        assert!(older.response(&Tenant::single(), "a").await.unwrap().is_some());
    });
}

/// Proves that a database which takes too long to count can be written, and that only the
/// first waits for the count.
#[test]
fn a_database_that_cannot_be_counted_can_be_written() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        let first = Store::open(options(&url, PATIENT)).await.unwrap();
        for number in 0..100 {
            first.write(&Tenant::single(), response(&format!("{number}"))).await.unwrap();
        }
        // Whoever looks at a record waits for a moment.
        let slow = "CREATE FUNCTION is_there() RETURNS boolean LANGUAGE plpgsql COST 100000 AS 'BEGIN PERFORM \
                    pg_sleep(0.05); RETURN true; END'; ALTER TABLE toolwire_record RENAME TO record; CREATE VIEW \
                    toolwire_record AS SELECT * FROM record WHERE is_there()";
        execute(&url, slow).await;
        let timeout = Duration::from_secs(3);
        let store = Store::open(options(&url, timeout)).await.unwrap();
        write_in_the_end(&store, "a").await;
        let mut quickest = Duration::MAX;
        for number in 0..5 {
            let start = Instant::now();
            write_in_the_end(&store, &format!("b{number}")).await;
            quickest = quickest.min(start.elapsed());
        }
        assert!(quickest < timeout, "{quickest:?}");
        assert!(store.usage(&Tenant::single()).await.is_err(), "it can be counted");
    });
}

/// Proves that a call which nobody waits for any more ends on the server too. It would hold
/// its connection there for as long as it has to wait, and each attempt one more.
#[test]
fn calls_that_were_given_up_leave_the_server() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        let store = Store::open(options(&url, Duration::from_secs(2))).await.unwrap();
        write_in_the_end(&store, "a").await;
        let (locker, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        locker.batch_execute("BEGIN; LOCK TABLE toolwire_record").await.unwrap();
        for number in 0..3 {
            let late = store.write(&Tenant::single(), response(&format!("b{number}"))).await;
            assert!(matches!(late, Err(StoreError::Unavailable { retry: true, .. })), "{late:?}");
        }
        wait_for_number(&url, WAITING, 0).await;
        locker.batch_execute("ROLLBACK").await.unwrap();
        write_in_the_end(&store, "c").await;
    });
}

/// Proves the same of connections that wait for a migration to end.
#[test]
fn connections_that_wait_for_a_migration_leave_the_server() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        drop(Store::open(options(&url, PATIENT)).await.unwrap());
        let (locker, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        locker.execute("SELECT pg_advisory_lock($1)", &[&MIGRATION_LOCK]).await.unwrap();
        let store = Store::open(options(&url, Duration::from_secs(2))).await.unwrap();
        for number in 0..3 {
            let late = store.write(&Tenant::single(), response(&format!("a{number}"))).await;
            assert!(matches!(late, Err(StoreError::Unavailable { retry: true, .. })), "{late:?}");
        }
        wait_for_number(&url, WAITING, 0).await;
        locker.execute("SELECT pg_advisory_unlock($1)", &[&MIGRATION_LOCK]).await.unwrap();
        write_in_the_end(&store, "b").await;
    });
}

/// The lock of migrations: "toolwire" in ASCII.
const MIGRATION_LOCK: i64 = 0x746f_6f6c_7769_7265;

/// Proves that a migration may take its time, but that the server ends it if its gateway has
/// disappeared.
#[test]
fn a_migration_has_limits_of_its_own() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        let note = "CREATE TABLE noted (setting TEXT); CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql \
                    AS 'BEGIN INSERT INTO noted SELECT name || '' '' || setting FROM pg_settings WHERE name IN \
                    (''statement_timeout'', ''lock_timeout'', ''idle_in_transaction_session_timeout''); END'; CREATE \
                    EVENT TRIGGER note ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION note()";
        execute(&url, note).await;
        drop(Store::open(options(&url, PATIENT)).await.unwrap());
        let unlimited = "SELECT count(DISTINCT setting) FROM noted WHERE setting IN ('statement_timeout 0', \
                         'lock_timeout 0', 'idle_in_transaction_session_timeout 60000')";
        assert_eq!(number(&url, unlimited).await, 3);
        assert_eq!(number(&url, "SELECT count(DISTINCT setting) FROM noted").await, 3);
    });
}

/// Proves that gateways which start together on an empty database do not disturb each other.
#[test]
fn gateways_that_start_together_wait_for_one_migration() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        let starts = (0..6).map(|number| {
            let url = url.clone();
            tokio::spawn(async move {
                let store = Store::open(options(&url, Duration::from_secs(20))).await.unwrap();
                let id = format!("resp_{number}");
                store.write(&Tenant::single(), response(&id)).await.unwrap();
                assert!(store.response(&Tenant::single(), &id).await.unwrap().is_some());
            })
        });
        for start in starts.collect::<Vec<_>>() {
            start.await.unwrap();
        }
        assert_eq!(number(&url, "SELECT count(*) FROM toolwire_store").await, 5);
    });
}

/// Proves that a migration which takes longer than a call is not begun anew with each call.
#[test]
fn a_long_migration_goes_on_while_calls_are_given_up() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        let slow = "CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM \
                    pg_sleep(0.3); END'; CREATE EVENT TRIGGER slow ON ddl_command_end EXECUTE FUNCTION slow()";
        execute(&url, slow).await;
        let (timeout, start) = (Duration::from_secs(1), Instant::now());
        let store = Store::open(options(&url, timeout)).await.unwrap();
        let written = write_in_the_end(&store, "a").await;
        // There are more than ten such commands.
        assert!(start.elapsed() > timeout * 3, "it was not long");
        let patient = Store::open(options(&url, PATIENT)).await.unwrap();
        let found = patient.response(&Tenant::single(), &written).await;
        assert!(found.unwrap().is_some());
    });
}
