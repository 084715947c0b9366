//! How the database finds things before it has counted them.
//!
//! A database plans by what it knows of its tables. It counts them a minute after they have
//! changed, or never, and until then it takes any index for as good as any other.

use std::time::Duration;

use toolwire_store::{
    Item, Lease, NewResponse, NewThread, Options, Order, Page, Status, Store, Tenant, ThreadKind,
    Update, Write,
};

use crate::engines::run;
use crate::postgres_server::{
    PostgresServer, execute, is_left_out, number, wait_for_connections_to_end,
};

/// Has the database count nothing by itself.
const NEVER_COUNT: &str = "DO $$ DECLARE t text; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE tablename LIKE \
                           'toolwire%' LOOP EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', t); END \
                           LOOP; END $$";

/// How many rows were read so far, by whatever way.
const ROWS_READ: &str = "SELECT CAST(sum(seq_tup_read) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes) AS \
                         BIGINT) FROM pg_stat_user_tables";

/// How many responses there are. If each search looked at all of them, it would be seen.
const RESPONSES: u32 = 1000;

/// How many rows may be read for each thing that is done.
const ROWS_EACH: i64 = 20;

async fn new_store() -> (String, Store) {
    let url = PostgresServer::shared().new_database().await;
    let store = Store::open(Options::postgres(&url)).await.unwrap();
    execute(&url, NEVER_COUNT).await;
    (url, store)
}

/// How many rows the connections of a store have read, which ends with it.
async fn rows_read(url: &str, store: Store) -> i64 {
    drop(store);
    // A server counts at the latest when a connection ends.
    wait_for_connections_to_end(url).await;
    number(url, ROWS_READ).await
}

fn response(number: u32, previous: Option<u32>) -> Vec<Write> {
    let previous = previous.map(|number| format!("resp_{number}"));
    let output = vec![Item::new(format!("chosen_{number}"), "item")];
    let id = format!("resp_{number}");
    let new = NewResponse { previous, output, ..NewResponse::new(id, Status::Completed, "{}") };
    vec![Write::Response(new)]
}

/// Stores responses, eight at a time, of which every fourth begins a chain.
async fn fill(store: &Store, tenant: &Tenant) {
    for first in (0..RESPONSES).step_by(8) {
        // What is continued has been stored before.
        for numbers in [first..first + 4, first + 4..first + 8] {
            let together = numbers.map(|number| {
                let (store, tenant) = (store.clone(), tenant.clone());
                let previous = (number % 8 >= 4).then(|| number - 4);
                tokio::spawn(async move { store.write(&tenant, response(number, previous)).await })
            });
            for written in together.collect::<Vec<_>>() {
                written.await.unwrap().unwrap();
            }
        }
    }
}

#[test]
fn storing_reads_as_little_as_if_it_was_the_first() {
    if is_left_out() {
        return;
    }
    run(async {
        let ((url, store), tenant) = (new_store().await, Tenant::single());
        fill(&store, &tenant).await;
        let read = rows_read(&url, store).await;
        let most = i64::from(RESPONSES) * ROWS_EACH;
        assert!(read < most, "{read} rows were read to store {RESPONSES} responses");
    });
}

#[test]
fn finding_one_of_many_reads_it_alone() {
    if is_left_out() {
        return;
    }
    run(async {
        let ((url, store), tenant) = (new_store().await, Tenant::single());
        fill(&store, &tenant).await;
        let before = rows_read(&url, store).await;
        let store = Store::open(Options::postgres(&url)).await.unwrap();
        for number in (0..RESPONSES).step_by(10) {
            let id = format!("resp_{number}");
            assert!(store.response(&tenant, &id).await.unwrap().is_some());
            let chain = store.chain(&tenant, &id).await.unwrap().unwrap();
            assert_eq!(chain.len(), if number % 8 >= 4 { 2 } else { 1 });
            let item = store.item(&tenant, &format!("chosen_{number}")).await.unwrap();
            assert_eq!(item.unwrap().body, "item");
            assert!(store.thread(&tenant, ThreadKind::Session, &id).await.unwrap().is_none());
            assert!(store.delete_response(&tenant, &id).await.unwrap());
        }
        let read = rows_read(&url, store).await - before;
        let most = i64::from(RESPONSES / 10) * 5 * ROWS_EACH;
        assert!(read < most, "{read} rows were read to find {} responses", RESPONSES / 10);
    });
}

/// Proves that a turn of a conversation costs what it is long, however many there are.
#[test]
fn going_on_with_one_of_many_threads_reads_it_alone() {
    if is_left_out() {
        return;
    }
    run(async {
        let ((url, store), tenant) = (new_store().await, Tenant::single());
        let (kind, threads) = (ThreadKind::Conversation, RESPONSES / 4);
        let (metadata, page) =
            ("{}".into(), |limit| Page { after: None, limit, order: Order::NewestFirst });
        let first = |number| format!("item_{number}_1");
        let second = |number| format!("item_{number}_2");
        for number in 0..threads {
            let (id, items) = (format!("conv_{number}"), vec![Item::new(first(number), "first")]);
            let new = NewThread { kind, id, metadata: Clone::clone(&metadata), items };
            store.write(&tenant, vec![Write::Thread(new)]).await.unwrap();
        }
        for number in 0..threads {
            let (id, items) = (format!("conv_{number}"), vec![Item::new(second(number), "second")]);
            let append = Write::Append { kind, id: id.clone(), expected: Some(1), items };
            store.write(&tenant, vec![append]).await.unwrap();
            let (thread, items) =
                store.thread_with_items(&tenant, kind, &id).await.unwrap().unwrap();
            assert_eq!((thread.version, items.len()), (2, 2));
            let found = store.thread_items(&tenant, kind, &id, &page(1)).await.unwrap().unwrap();
            assert_eq!(found.items, [Item::new(second(number), "second")]);
            let change = Write::Metadata { kind, id: id.clone(), metadata: "[]".into() };
            let remove = Write::RemoveItem { kind, id, item: first(number) };
            store.write(&tenant, vec![change, remove]).await.unwrap();
            assert_eq!(store.threads(&tenant, kind, &page(2)).await.unwrap().threads.len(), 2);
        }
        let read = rows_read(&url, store).await;
        let most = i64::from(threads) * 8 * ROWS_EACH;
        assert!(read < most, "{read} rows were read to go on with {threads} threads");
    });
}

/// Proves the same of responses that are made in the background.
#[test]
fn working_on_one_of_many_responses_reads_it_alone() {
    if is_left_out() {
        return;
    }
    run(async {
        let ((url, store), tenant) = (new_store().await, Tenant::single());
        let (owner, duration) = ("gateway".to_owned(), Duration::from_secs(600));
        let lease = Lease { owner: owner.clone(), duration };
        let jobs = RESPONSES / 4;
        let id = |number: u32| format!("resp_{number}");
        for number in 0..jobs {
            let new = NewResponse::new(id(number), Status::InProgress, "{}");
            let new = NewResponse { lease: Some(lease.clone()), ..new };
            store.write(&tenant, vec![Write::Response(new)]).await.unwrap();
        }
        for number in 0..jobs {
            let events = vec!["event".into()];
            let events = Write::Events { id: id(number), owner: owner.clone(), first: 0, events };
            store.write(&tenant, vec![events]).await.unwrap();
            let events = store.events(&tenant, &id(number), None, 10).await.unwrap().unwrap();
            assert_eq!(events.events, [(0, "event".into())]);
            let update = Update {
                id: id(number),
                owner: Some(owner.clone()),
                status: Status::Completed,
                body: "{}".into(),
                output: vec![Item::new("item", "item")],
                events: None,
            };
            store.write(&tenant, vec![Write::Update(update)]).await.unwrap();
        }
        let ids: Vec<_> = (0..jobs).map(id).collect();
        // None is left, because they have ended.
        assert!(store.renew(&lease, &ids).await.unwrap().is_empty());
        let read = rows_read(&url, store).await;
        let most = i64::from(jobs) * 4 * ROWS_EACH;
        assert!(read < most, "{read} rows were read to work on {jobs} responses");
    });
}
