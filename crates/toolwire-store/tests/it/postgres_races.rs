//! Writers that meet in one database, and answers that get lost on the way from it.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::NoTls;
use toolwire_store::{
    EngineOptions, Item, Lease, NewResponse, NewThread, Options, Status, Store, StoreError, Tenant,
    ThreadKind, Write,
};

use crate::engines::{Folder, TTL, TestClock, prune_all, run};
use crate::postgres_server::{
    PATIENCE, PostgresServer, WAITING, execute, is_left_out, number, wait_for_connections_to_end,
    wait_for_number,
};

const CONVERSATION: ThreadKind = ThreadKind::Conversation;

async fn open(url: &str, clock: &TestClock) -> Store {
    Store::open(options(url, clock)).await.unwrap()
}

fn options(url: &str, clock: &TestClock) -> Options {
    let mut options = Options::postgres(url);
    (options.clock, options.ttl) = (clock.clock(), Some(TTL));
    if let EngineOptions::Postgres(postgres) = &mut options.engine {
        postgres.timeout = Duration::from_secs(20);
    }
    options
}

fn response(id: &str, previous: Option<&str>) -> NewResponse {
    let previous = previous.map(str::to_owned);
    NewResponse { previous, ..NewResponse::new(id, Status::Completed, "{}") }
}

/// Writes all of it at the same time.
async fn store_together(store: &Store, responses: Vec<NewResponse>) -> Vec<Result<(), StoreError>> {
    let writes = responses.into_iter().map(|new| {
        let store = store.clone();
        tokio::spawn(
            async move { store.write(&Tenant::single(), vec![Write::Response(new)]).await },
        )
    });
    let mut results = Vec::new();
    for write in writes.collect::<Vec<_>>() {
        results.push(write.await.unwrap());
    }
    results
}

/// Proves that many answers which continue the same few do not wait for each other in a
/// circle, whichever gateway they come from.
#[test]
fn branches_of_the_same_chains_do_not_lock_each_other_out() {
    if is_left_out() {
        return;
    }
    run(async {
        let (url, clock) = (PostgresServer::shared().new_database().await, TestClock::new());
        let stores = [open(&url, &clock).await, open(&url, &clock).await];
        let tenant = Tenant::single();
        for root in 0..ROOTS {
            let root = response(&format!("root{root}"), None);
            stores[0].write(&tenant, vec![Write::Response(root)]).await.unwrap();
        }
        let writers = (0..48_u64).map(|writer| {
            let store = stores[usize::from(writer % 2 == 1)].clone();
            tokio::spawn(async move {
                for number in 0..20 {
                    let mixed = (writer * 20 + number).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
                    let root = format!("root{}", mixed % ROOTS);
                    let new = response(&format!("{writer}-{number}"), Some(&root));
                    store.write(&Tenant::single(), vec![Write::Response(new)]).await.unwrap();
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        let lineages = number(&url, "SELECT count(*) FROM toolwire_lineage").await;
        assert_eq!(lineages, i64::try_from(ROOTS).unwrap(), "each has joined its chain");
        drop(stores);
        // Connections say what has happened to them when they end.
        wait_for_connections_to_end(&url).await;
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        assert_eq!(number(&url, deadlocks).await, 0);
    });
}

const ROOTS: u64 = 8;

/// Proves that of two responses with one id, the first is stored and the second refused,
/// also if they are written together.
#[test]
fn an_id_that_comes_twice_in_a_group_is_stored_once() {
    if is_left_out() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (url, clock) = (PostgresServer::shared().new_database().await, TestClock::new());
        let (store, tenant) = (open(&url, &clock).await, Tenant::single());
        store.write(&tenant, vec![Write::Response(response("root", None))]).await.unwrap();
        let new = |id: &str, text: &'static str, previous| {
            let output = vec![Item::new(format!("item {text}"), text)];
            NewResponse { output, body: text.into(), ..response(id, previous) }
        };
        let together = vec![
            new("a", "first", None),
            new("b", "other", Some("root")),
            new("a", "second", Some("root")),
            new("a", "third", None),
        ];
        let results = store_together(&store, together).await;
        let taken = Err(StoreError::Conflict);
        assert_eq!(results, [Ok(()), Ok(()), taken.clone(), taken]);
        for (id, text) in [("a", "first"), ("b", "other")] {
            assert_eq!(store.response(&tenant, id).await.unwrap().unwrap().body, text);
            let chain = store.chain(&tenant, id).await.unwrap().unwrap();
            let item = Item::new(format!("item {text}"), text);
            assert_eq!(chain.last().unwrap().output, std::slice::from_ref(&item));
            assert_eq!(store.item(&tenant, &item.id).await, Ok(Some(item)));
        }
        for text in ["second", "third"] {
            assert_eq!(store.item(&tenant, &format!("item {text}")).await, Ok(None));
        }
    });
}

/// Proves that a response whose client was told that it is late is not stored when its turn
/// comes.
#[test]
fn what_nobody_waits_for_is_not_stored() {
    if is_left_out() {
        return;
    }
    run(async {
        let (url, clock) = (PostgresServer::shared().new_database().await, TestClock::new());
        let mut options = options(&url, &clock);
        if let EngineOptions::Postgres(postgres) = &mut options.engine {
            postgres.timeout = PATIENCE * 2;
        }
        let (store, tenant) = (Store::open(options).await.unwrap(), Tenant::single());
        let write = |id: &str| {
            let (store, response) = (store.clone(), response(id, None));
            async move { store.write(&Tenant::single(), vec![Write::Response(response)]).await }
        };
        write("counted").await.unwrap();
        let (locker, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        locker.batch_execute("BEGIN; LOCK TABLE toolwire_record").await.unwrap();
        // As many groups as there may be at a time.
        let (mut groups, waiting) = (Vec::new(), format!("{WAITING} AND query LIKE 'WITH new%'"));
        for number in 1..=4 {
            groups.push(tokio::spawn(write(&format!("group{number}"))));
            wait_for_number(&url, &waiting, number).await;
        }
        for number in 0..10 {
            let mut given_up = Box::pin(write(&format!("gone{number}")));
            let begun = std::future::poll_fn(|cx| Poll::Ready(given_up.as_mut().poll(cx))).await;
            assert!(begun.is_pending());
        }
        let last = tokio::spawn(write("last"));
        locker.batch_execute("ROLLBACK").await.unwrap();
        for write in groups.into_iter().chain([last]) {
            write.await.unwrap().unwrap();
        }
        for number in 0..10 {
            let found = store.response(&tenant, &format!("gone{number}")).await;
            assert_eq!(found, Ok(None), "{number}");
        }
    });
}

/// Proves that responses which are large together are several messages to the server.
#[test]
fn large_responses_are_not_one_message() {
    if is_left_out() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (url, clock) = (PostgresServer::shared().new_database().await, TestClock::new());
        let store = open(&url, &clock).await;
        let large = |number: usize, length| {
            let body = vec![b'x'; length];
            NewResponse { body: body.into(), ..response(&format!("{number}"), None) }
        };
        let mut responses: Vec<_> = (0..12).map(|number| large(number, 1 << 20)).collect();
        responses.push(large(12, 9 << 20));
        assert_eq!(store_together(&store, responses).await, vec![Ok(()); 13]);
        let groups = "SELECT count(DISTINCT xmin::text) FROM toolwire_record";
        assert!((4..=13).contains(&number(&url, groups).await));
        let largest = "SELECT max(CAST(n AS BIGINT)) FROM (SELECT count(*) AS n FROM toolwire_record GROUP BY \
                       xmin::text) g";
        assert!(number(&url, largest).await <= 4);
    });
}

/// Proves that a chain which goes on in the moment in which it expires stays.
#[test]
fn a_chain_that_somebody_continues_is_not_pruned() {
    if is_left_out() {
        return;
    }
    run(async {
        let (url, clock) = (PostgresServer::shared().new_database().await, TestClock::new());
        let (store, tenant) = (open(&url, &clock).await, Tenant::single());
        store.write(&tenant, vec![Write::Response(response("a", None))]).await.unwrap();
        store.write(&tenant, vec![Write::Response(response("gone", None))]).await.unwrap();
        clock.pass(TTL);
        let (mut client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let transaction = client.transaction().await.unwrap();
        let extend = "UPDATE toolwire_lineage SET expires = expires * 2 WHERE key = (SELECT lineage FROM \
                      toolwire_record WHERE id = 'a')";
        transaction.execute(extend, &[]).await.unwrap();
        // It waits for nobody: if it did, it would be late.
        assert_eq!(store.prune(100).await, Ok(1));
        transaction.commit().await.unwrap();
        assert_eq!(store.prune(100).await, Ok(0));
        drop(client);
        connection.await.unwrap().unwrap();
        assert_eq!(number(&url, "SELECT count(*) FROM toolwire_record WHERE id = 'a'").await, 1);
    });
}

/// Proves that what takes the server longer than it gives a call is deleted all the same:
/// many chains, and one that is long.
#[test]
fn what_takes_long_to_delete_is_deleted() {
    if is_left_out() {
        return;
    }
    run(async {
        let (url, clock) = (PostgresServer::shared().new_database().await, TestClock::new());
        let (patient, tenant) = (open(&url, &clock).await, Tenant::single());
        for number in 0..60 {
            let response = response(&format!("short{number}"), None);
            patient.write(&tenant, vec![Write::Response(response)]).await.unwrap();
        }
        patient.write(&tenant, vec![Write::Response(response("long", None))]).await.unwrap();
        clock.pass(TTL);
        patient.write(&tenant, vec![Write::Response(response("long2", None))]).await.unwrap();
        let slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(CASE WHEN \
                    OLD.id LIKE ''long%'' THEN 3 ELSE 0.05 END); RETURN OLD; END'; CREATE TRIGGER slow BEFORE DELETE \
                    ON toolwire_record FOR EACH ROW EXECUTE FUNCTION slow()";
        execute(&url, slow).await;
        let mut options = options(&url, &clock);
        if let EngineOptions::Postgres(postgres) = &mut options.engine {
            // The server gives up after twice that.
            postgres.timeout = Duration::from_secs(1);
        }
        let store = Store::open(options).await.unwrap();
        let start = Instant::now();
        let expired = "SELECT count(*) FROM toolwire_record WHERE id <> 'long2'";
        while number(&url, expired).await > 0 {
            match store.prune(100).await {
                // The server is still at it.
                Ok(0) => tokio::time::sleep(Duration::from_millis(100)).await,
                Ok(_) | Err(StoreError::Unavailable { retry: true, .. }) => {}
                Err(error) => panic!("{error}"),
            }
            assert!(start.elapsed() < PATIENCE, "it is still there");
        }
        let start = Instant::now();
        while let Err(error) = store.delete_response(&tenant, "long2").await {
            assert!(matches!(error, StoreError::Unavailable { retry: true, .. }), "{error}");
            assert!(start.elapsed() < PATIENCE, "{error}");
        }
        assert_eq!(number(&url, "SELECT count(*) FROM toolwire_record").await, 0);
    });
}

/// Proves that pruning looks at what has expired and at nothing else, and that chains whose
/// records were deleted hide nothing that is left.
#[test]
fn pruning_does_not_read_what_stays() {
    if is_left_out() {
        return;
    }
    run(async {
        let (url, clock) = (PostgresServer::shared().new_database().await, TestClock::new());
        let (store, tenant) = (open(&url, &clock).await, Tenant::single());
        store.write(&tenant, vec![Write::Response(response("a", None))]).await.unwrap();
        // Half of what has expired has no records any more, and comes first.
        let fill = "INSERT INTO toolwire_lineage (expires) SELECT CASE WHEN n <= 100 THEN 1 WHEN n <= 200 THEN 2 \
                    ELSE 9000000000000 END FROM generate_series(1, 20000) AS n; INSERT INTO toolwire_record (lineage, \
                    tenant, kind, id, created, updated, expires, status, model, next, items, bytes, context, internal, \
                    body) SELECT l.key, r.tenant, r.kind, CAST(l.key AS TEXT), r.created, r.updated, l.expires, \
                    r.status, r.model, r.next, r.items, r.bytes, r.context, r.internal, r.body FROM toolwire_record r \
                    CROSS JOIN toolwire_lineage l WHERE l.expires <> 1 AND l.key <> r.lineage; ANALYZE";
        execute(&url, fill).await;
        let read = "SELECT COALESCE(seq_tup_read, 0) FROM pg_stat_user_tables WHERE relname = 'toolwire_record'";
        let before = number(&url, read).await;
        assert_eq!(prune_all(&store, 20).await, 100);
        drop(store);
        wait_for_connections_to_end(&url).await;
        let read = number(&url, read).await - before;
        assert!(read < 10_000, "{read} records were read");
        assert_eq!(number(&url, "SELECT count(*) FROM toolwire_lineage").await, 19_801);
    });
}

/// Proves that work which another gateway takes over at the same moment is not taken twice.
#[test]
fn work_that_somebody_takes_is_not_taken_again() {
    if is_left_out() {
        return;
    }
    run(async {
        let (url, clock) = (PostgresServer::shared().new_database().await, TestClock::new());
        let (store, tenant) = (open(&url, &clock).await, Tenant::single());
        let lease = |owner: &str| Lease { owner: owner.to_owned(), duration: TTL / 10 };
        for id in ["a", "b"] {
            let (status, lease) = (Status::InProgress, Some(lease("g1")));
            let new = NewResponse { status, lease, ..response(id, None) };
            store.write(&tenant, vec![Write::Response(new)]).await.unwrap();
        }
        clock.pass(TTL / 5);
        let (mut client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let transaction = client.transaction().await.unwrap();
        let take = "UPDATE toolwire_record SET owner = 'g2', lease = lease * 2 WHERE id = 'a'";
        transaction.execute(take, &[]).await.unwrap();
        let claiming = store.clone();
        let claiming =
            tokio::spawn(async move { claiming.claim_abandoned(&lease("g3"), 10).await });
        wait_for_number(&url, WAITING, 1).await;
        transaction.commit().await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
        let claimed = claiming.await.unwrap().unwrap();
        let claimed: Vec<_> = claimed.iter().map(|claimed| claimed.response.id.as_str()).collect();
        assert_eq!(claimed, ["b"]);
    });
}

/// What becomes of a connection that says COMMIT.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Before,
    After,
}

/// A way to the server on which a connection can be cut.
struct Way {
    url: String,
    next: Arc<Mutex<Option<Cut>>>,
    /// Connections that were cut, whose other ends do not know it yet.
    cuts: mpsc::Receiver<oneshot::Sender<()>>,
    _folder: Folder,
}

impl Way {
    fn to(url: &str) -> Self {
        let folder = Folder::new("way");
        let (head, rest) = url.split_once("host=").unwrap();
        let (server, port) = rest.split_once('&').unwrap();
        let number = port.strip_prefix("port=").unwrap();
        let socket = |folder: &str| format!("{folder}/.s.PGSQL.{number}");
        let here = folder.path().to_str().unwrap();
        let (listener, server) = (UnixListener::bind(socket(here)).unwrap(), socket(server));
        let url = format!("{head}host={here}&{port}");
        let (next, (cut, cuts)) = (Arc::<Mutex<Option<Cut>>>::default(), mpsc::channel(16));
        let orders = Arc::clone(&next);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&server).await.unwrap();
                tokio::spawn(carry(client, server, Arc::clone(&orders), cut.clone()));
            }
        });
        Self { url, next, cuts, _folder: folder }
    }

    /// Cuts the next connection that says COMMIT.
    fn cut(&self, cut: Cut) {
        *self.next.lock().unwrap() = Some(cut);
    }
}

async fn carry(
    mut client: UnixStream,
    mut server: UnixStream,
    orders: Arc<Mutex<Option<Cut>>>,
    cuts: mpsc::Sender<oneshot::Sender<()>>,
) {
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let Ok(length @ 1..) = read else { return };
                let says_commit = up[..length].windows(6).any(|bytes| bytes == b"COMMIT");
                let order = says_commit.then(|| orders.lock().unwrap_or_else(PoisonError::into_inner).take());
                if let Some(Some(cut)) = order {
                    if cut == Cut::After {
                        server.write_all(&up[..length]).await.unwrap();
                        assert!(server.read(&mut down).await.unwrap() > 0);
                    }
                    drop(server);
                    let (known, is_known) = oneshot::channel();
                    cuts.send(known).await.unwrap();
                    let _ = is_known.await;
                    return;
                }
                server.write_all(&up[..length]).await.unwrap();
            }
            read = server.read(&mut down) => {
                let Ok(length @ 1..) = read else { return };
                client.write_all(&down[..length]).await.unwrap();
            }
        }
    }
}

fn append(expected: Option<u64>, name: &'static str) -> Write {
    let items = vec![Item::new(name, name)];
    Write::Append { kind: CONVERSATION, id: "conv".to_owned(), expected, items }
}

async fn conversation(store: &Store) -> Vec<String> {
    let found = store.thread_with_items(&Tenant::single(), CONVERSATION, "conv").await;
    found.unwrap().unwrap().1.into_iter().map(|item| item.id).collect()
}

/// Proves what is said of a write whose end got lost: that it is stored if it is, and not
/// if somebody else was faster. One that nobody can recognise is not repeated.
#[test]
fn a_write_whose_end_got_lost_is_what_it_is_said_to_be() {
    if is_left_out() {
        return;
    }
    run(async {
        for cut in [Cut::Before, Cut::After] {
            for has_response in [true, false] {
                let (url, clock) =
                    (PostgresServer::shared().new_database().await, TestClock::new());
                let (store, tenant) = (open(&url, &clock).await, Tenant::single());
                let (kind, id) = (CONVERSATION, "conv".to_owned());
                let thread = NewThread { kind, id, metadata: "{}".into(), items: Vec::new() };
                store.write(&tenant, vec![Write::Thread(thread)]).await.unwrap();
                let mut way = Way::to(&url);
                let mut options = options(&way.url, &clock);
                if !has_response {
                    // There is room for what is appended and no more.
                    let used = store.usage(&tenant).await.unwrap().bytes;
                    options.limits.tenant = used + 2 * "mine".len() as u64;
                }
                let other = Store::open(options).await.unwrap();
                let writer = other.clone();
                way.cut(cut);
                let writing = tokio::spawn(async move {
                    let expected = has_response.then_some(0);
                    let mut writes = vec![append(expected, "mine")];
                    writes.extend(has_response.then(|| Write::Response(response("mine", None))));
                    writer.write(&Tenant::single(), writes).await
                });
                let known = way.cuts.recv().await.unwrap();
                store.write(&tenant, vec![append(None, "other")]).await.unwrap();
                known.send(()).unwrap();
                let written = writing.await.unwrap();
                let is_there = store.response(&tenant, "mine").await.unwrap().is_some();
                let items = conversation(&store).await;
                match (cut, has_response) {
                    (Cut::Before, true) => {
                        assert_eq!(written, Err(StoreError::Conflict));
                        assert_eq!((is_there, &items[..]), (false, &["other".to_owned()][..]));
                    }
                    (Cut::After, true) => {
                        assert_eq!(written, Ok(()));
                        assert!(is_there);
                        assert_eq!(items, ["mine", "other"]);
                    }
                    (_, false) => {
                        assert!(
                            matches!(written, Err(StoreError::Unavailable { .. })),
                            "{written:?}"
                        );
                        let expected = ["mine", "other"];
                        let expected = &expected[usize::from(cut == Cut::Before)..];
                        assert_eq!(items, expected);
                        assert!(!other.has_known_room(&tenant), "it may be stored");
                    }
                }
            }
        }
    });
}
