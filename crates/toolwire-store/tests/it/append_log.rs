//! Responses that are stored before they are in the tables.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use toolwire_store::{
    Item, NewResponse, Options, Order, Page, Status, Store, StoreError, Tenant, Write, random_id,
};

use crate::engines::{Folder, run};

/// A response with items whose ids tell nothing and with a part that all have.
fn response(previous: Option<&str>) -> NewResponse {
    let id = random_id("resp_").unwrap();
    let (part, item) = ("tools".repeat(400), random_id("msg_").unwrap());
    NewResponse {
        previous: previous.map(str::to_owned),
        repeats: Some(1..1 + part.len()),
        input: vec![Item::new(&item, item.repeat(20))],
        output: vec![Item::new(format!("{item}_out"), "output")],
        ..NewResponse::new(&id, Status::Completed, format!("{{{part}{id}}}"))
    }
}

async fn store(store: &Store, new: &NewResponse) {
    store.write(&Tenant::single(), vec![Write::Response(new.clone())]).await.unwrap();
}

/// Asks for everything that a response has.
async fn assert_stored(store: &Store, new: &NewResponse) {
    let tenant = Tenant::single();
    let found = store.response(&tenant, &new.id).await.unwrap().unwrap();
    assert_eq!(found.body, new.body);
    let chain = store.chain(&tenant, &new.id).await.unwrap().unwrap();
    let last = chain.last().unwrap();
    assert_eq!((&last.id, &last.input, &last.output), (&new.id, &new.input, &new.output));
}

fn logs(database: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(database.parent().unwrap()).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let is_log = |path: &PathBuf| path.to_str().unwrap().contains(".db-append-");
    paths.filter(is_log).collect()
}

/// How many responses are in the tables.
fn in_tables(database: &Path) -> i64 {
    let count = "SELECT count(*) FROM toolwire_record";
    Connection::open(database).unwrap().query_row(count, [], |row| row.get(0)).unwrap()
}

async fn wait_until(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Proves that whatever a client may ask for is there as soon as its response is stored.
#[test]
fn what_was_stored_is_found_at_once() {
    run(async {
        let folder = Folder::new("at-once");
        let database = folder.path().join("store.db");
        let subject = Store::open(Options::sqlite(&database)).await.unwrap();
        let tenant = Tenant::single();
        let mut previous: Option<String> = None;
        for number in 0..100 {
            let new = response(previous.as_deref());
            store(&subject, &new).await;
            let (input, output) = (&new.input[0], &new.output[0]);
            match number % 6 {
                0 => {
                    let found = subject.response(&tenant, &new.id).await.unwrap().unwrap();
                    assert_eq!(found.body, new.body);
                }
                1 => {
                    let chain = subject.chain(&tenant, &new.id).await.unwrap().unwrap();
                    assert_eq!(chain.len(), number + 1);
                }
                2 => {
                    let page = Page { after: None, limit: 10, order: Order::OldestFirst };
                    let page = subject.input_items(&tenant, &new.id, &page).await.unwrap();
                    assert_eq!(page.unwrap().items, new.input);
                }
                3 => {
                    let found = subject.item(&tenant, &input.id).await.unwrap();
                    assert_eq!(found.as_ref(), Some(input));
                    assert_eq!(
                        subject.item(&tenant, &output.id).await.unwrap().as_ref(),
                        Some(output)
                    );
                }
                4 => assert_eq!(
                    subject.usage(&tenant).await.unwrap().records,
                    u64::try_from(number).unwrap() + 1
                ),
                _ => assert_eq!(
                    subject.stats().await.unwrap().responses,
                    u64::try_from(number).unwrap() + 1
                ),
            }
            assert_eq!(subject.response(&Tenant::of_key("other"), &new.id).await.unwrap(), None);
            previous = Some(new.id);
        }
        let last = response(previous.as_deref());
        store(&subject, &last).await;
        assert_eq!(subject.delete_response(&tenant, &last.id).await, Ok(true));
        assert_eq!(subject.response(&tenant, &last.id).await, Ok(None));
        let mut export = Vec::new();
        let last = response(previous.as_deref());
        store(&subject, &last).await;
        subject.export(&mut export).await.unwrap();
        assert!(String::from_utf8(export).unwrap().contains(&last.id));
    });
}

/// Proves that a response moves without being asked for, and that nothing is left of its way.
#[test]
fn what_was_stored_moves_by_itself() {
    run(async {
        let folder = Folder::new("moves");
        let database = folder.path().join("store.db");
        let subject = Store::open(Options::sqlite(&database)).await.unwrap();
        assert!(logs(&database).is_empty());
        store(&subject, &response(None)).await;
        let [log] = &logs(&database)[..] else { panic!("one log") };
        let mode = std::os::unix::fs::PermissionsExt::mode;
        assert_eq!(mode(&std::fs::metadata(log).unwrap().permissions()) & 0o777, 0o600);
        wait_until(|| in_tables(&database) == 1).await;
        wait_until(|| std::fs::metadata(log).unwrap().len() == 0).await;
        store(&subject, &response(None)).await;
        drop(subject);
        wait_until(|| logs(&database).is_empty()).await;
        assert_eq!(in_tables(&database), 2);
        let noted = "SELECT count(*) FROM toolwire_append_log";
        let noted: i64 =
            Connection::open(&database).unwrap().query_row(noted, [], |row| row.get(0)).unwrap();
        assert_eq!(noted, 0);
    });
}

/// Proves that whoever opens the file too, as the next version of a gateway does while the
/// last one ends, finds and deletes what the other has stored, and can go on from it.
#[test]
fn two_that_share_a_file_see_what_the_other_has_stored() {
    run(async {
        let folder = Folder::new("two");
        let path = folder.path().join("store.db");
        let open = async || Store::open(Options::sqlite(&path)).await.unwrap();
        let (tenant, stores) = (Tenant::single(), [open().await, open().await]);
        let mut previous: Option<String> = None;
        for number in 0..40 {
            let [one, other] = [&stores[number % 2], &stores[1 - number % 2]];
            let new = response(previous.as_deref());
            store(one, &new).await;
            assert_stored(other, &new).await;
            assert_eq!(other.chain(&tenant, &new.id).await.unwrap().unwrap().len(), number + 1);
            let gone = response(None);
            store(one, &gone).await;
            assert_eq!(other.delete_response(&tenant, &gone.id).await, Ok(true));
            assert_eq!(one.response(&tenant, &gone.id).await, Ok(None));
            previous = Some(new.id);
        }
        let new = response(None);
        store(&stores[0], &new).await;
        assert_stored(&open().await, &new).await;
    });
}

/// Proves that a response which was stored while the tables were locked is found afterwards,
/// and that nothing more is stored than can be moved.
#[test]
fn a_lock_delays_what_was_stored_and_loses_nothing() {
    run(async {
        let folder = Folder::new("lock");
        let database = folder.path().join("store.db");
        let subject = Store::open(Options::sqlite(&database)).await.unwrap();
        let (tenant, new) = (Tenant::single(), response(None));
        let lock = Connection::open(&database).unwrap();
        lock.execute_batch("BEGIN IMMEDIATE").unwrap();
        store(&subject, &new).await;
        let locked = subject.response(&tenant, &new.id).await;
        assert!(matches!(locked, Err(StoreError::Unavailable { retry: true, .. })), "{locked:?}");
        let late = response(None);
        let refused = subject.write(&tenant, vec![Write::Response(late.clone())]).await;
        assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
        lock.execute_batch("ROLLBACK").unwrap();
        assert_stored(&subject, &new).await;
        assert_eq!(subject.response(&tenant, &late.id).await, Ok(None));
        store(&subject, &late).await;
        assert_stored(&subject, &late).await;
        assert_eq!(in_tables(&database), 2);
    });
}

/// Proves that many who store at a time lose nothing to each other, whatever is read and
/// deleted meanwhile, and that a log does not grow without end.
#[test]
fn many_at_a_time_lose_nothing() {
    run(async {
        let folder = Folder::new("many");
        let database = folder.path().join("store.db");
        let subject = Store::open(Options::sqlite(&database)).await.unwrap();
        let tasks = (0..16).map(|task| {
            let subject = subject.clone();
            tokio::spawn(async move {
                let mut kept: Option<NewResponse> = None;
                for number in 0..60 {
                    let previous = kept.as_ref().map(|kept| kept.id.clone());
                    let new = NewResponse {
                        input: vec![Item::new("", vec![b'x'; 20_000])],
                        ..response(previous.as_deref())
                    };
                    store(&subject, &new).await;
                    match (number + task) % 10 {
                        0 => assert_stored(&subject, &new).await,
                        1 => {
                            let tenant = Tenant::single();
                            let deleted = subject.delete_response(&tenant, &new.id).await;
                            assert_eq!(deleted, Ok(true));
                            continue;
                        }
                        _ => {}
                    }
                    kept = Some(new);
                }
                assert_stored(&subject, &kept.unwrap()).await;
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let stats = subject.stats().await.unwrap();
        assert_eq!(stats.responses, 16 * 60 * 9 / 10);
        for log in logs(&database) {
            assert!(std::fs::metadata(log).unwrap().len() < 16 << 20);
        }
    });
}
