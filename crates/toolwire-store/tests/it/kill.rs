//! Processes that are killed while they write.

use std::collections::BTreeSet;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use toolwire_store::{
    Item, NewResponse, NewThread, Options, Status, Store, StoreError, Tenant, ThreadKind, Write,
    random_id,
};

use crate::engines::{Folder, run};

/// How many processes are killed, unless `TOOLWIRE_KILL_ROUNDS` says otherwise.
const ROUNDS: usize = 200;

/// How many writes are under way at a time.
pub(crate) const WRITERS: u64 = 8;

/// Proves that however a process ends, each of its writes is wholly there or
/// wholly absent, none that was acknowledged is lost, and the store is ready
/// again within a second.
#[test]
fn nothing_acknowledged_is_lost() {
    let rounds = std::env::var("TOOLWIRE_KILL_ROUNDS").ok();
    let rounds = rounds.map_or(ROUNDS, |rounds| rounds.parse().expect("a number of rounds"));
    let folder = Folder::new("kill");
    let path = folder.path().join("store.db");
    let (mut acknowledged, mut unacknowledged, mut opened) = (0, 0, Vec::new());
    for round in 0..rounds {
        let acks = kill_one(&path, round);
        acknowledged += acks.len();
        run(async {
            let start = Instant::now();
            let store = Store::open(Options::sqlite(&path)).await.unwrap();
            opened.push(start.elapsed());
            unacknowledged += check(&store, round, &acks).await;
            forget(&store, round, &acks).await;
        });
    }
    let intact = "PRAGMA integrity_check";
    let connection = rusqlite::Connection::open(&path).unwrap();
    let intact: String = connection.query_row(intact, [], |row| row.get(0)).unwrap();
    assert_eq!(intact, "ok");
    assert!(acknowledged > rounds, "{acknowledged} writes in {rounds} rounds");
    opened.sort();
    // Now and then the machine is busy with something else.
    let (usual, slowest) = (opened[rounds / 2], opened[rounds - 1]);
    assert!(usual < Duration::from_secs(1), "{usual:?}");
    println!(
        "{rounds} rounds: {acknowledged} acknowledged writes, 0 lost; {unacknowledged} more were \
         there; ready after {usual:?}, and {slowest:?} at most"
    );
}

/// The process that is killed. Without its variables it is a test that has
/// nothing to do.
#[test]
fn the_process_that_is_killed() {
    let Ok(path) = std::env::var("TOOLWIRE_KILL_PATH") else { return };
    let round: usize = std::env::var("TOOLWIRE_KILL_ROUND").unwrap().parse().unwrap();
    run(async {
        let store = Store::open(Options::sqlite(path)).await.unwrap();
        begin(&store, round).await;
        let writers = (0..WRITERS).map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for number in (writer..).step_by(usize::try_from(WRITERS).unwrap()) {
                    store.write(&Tenant::single(), turn(round, number)).await.unwrap();
                    let mut out = std::io::stdout().lock();
                    out.write_all(format!("ack {number}\n").as_bytes()).unwrap();
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
    });
}

/// Starts a process, kills it at a random moment, and returns what it has
/// acknowledged.
fn kill_one(path: &Path, round: usize) -> BTreeSet<u64> {
    let mut child = start_child(path, round);
    let mut out = child.stdout.take().unwrap();
    let random = u64::from_str_radix(&random_id("").unwrap()[40..], 16).unwrap();
    // Half of the processes die before or soon after they have opened the file.
    std::thread::sleep(Duration::from_micros(random % 60_000));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut said = Vec::new();
    out.read_to_end(&mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    // A line without an end was not written whole.
    let lines = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.filter_map(|line| line.trim().rsplit_once("ack ")?.1.parse().ok()).collect()
}

fn start_child(path: &Path, round: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::the_process_that_is_killed", "--nocapture"])
        .env("TOOLWIRE_KILL_PATH", path)
        .env("TOOLWIRE_KILL_ROUND", round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Makes the thread that the turns of a round are appended to.
pub(crate) async fn begin(store: &Store, round: usize) {
    let (kind, id) = (ThreadKind::Session, format!("s{round}"));
    let thread = NewThread { kind, id, metadata: Bytes::new(), items: Vec::new() };
    store.write(&Tenant::single(), vec![Write::Thread(thread)]).await.unwrap();
}

/// A response object, of which all have a part in common.
fn body(id: &str) -> String {
    format!("body:{}:{id}", "x".repeat(SHARED))
}

const SHARED: usize = 5000;

/// A write of several parts, whose bytes follow from its number.
pub(crate) fn turn(round: usize, number: u64) -> Vec<Write> {
    let id = format!("r{round}-{number}");
    let items = |part: &str, count: u64| {
        let item = |index| {
            let length = usize::try_from((number * 7919 + index * 104_729) % 20_000).unwrap();
            Item::new(
                format!("{id}-{part}{index}"),
                format!("{id}{part}{index}").repeat(length / 8),
            )
        };
        (0..count).map(item).collect::<Vec<_>>()
    };
    let response = NewResponse {
        input: items("i", 1 + number % 3),
        output: items("o", 1),
        repeats: Some(5..5 + SHARED),
        ..NewResponse::new(&id, Status::Completed, body(&id))
    };
    let entry = vec![Item::new(&id, "turn")];
    vec![
        Write::Response(response),
        Write::Append {
            kind: ThreadKind::Session,
            id: format!("s{round}"),
            expected: None,
            items: entry,
        },
    ]
}

/// Checks every write of a round. Returns how many were there without having
/// been acknowledged.
pub(crate) async fn check(store: &Store, round: usize, acks: &BTreeSet<u64>) -> usize {
    let tenant = Tenant::single();
    let session = format!("s{round}");
    let session = store.thread_with_items(&tenant, ThreadKind::Session, &session).await;
    let entries = session.unwrap().map(|(_, entries)| entries).unwrap_or_default();
    let entries: BTreeSet<_> = entries.into_iter().map(|entry| entry.id).collect();
    let last = acks.last().map_or(0, |last| last + 1);
    let mut unacknowledged = 0;
    for number in 0..last + 3 * WRITERS {
        let [Write::Response(expected), _] = &turn(round, number)[..] else { unreachable!() };
        let found = store.response(&tenant, &expected.id).await.unwrap();
        assert!(found.is_some() || !acks.contains(&number), "{} is lost", expected.id);
        assert_eq!(entries.contains(&expected.id), found.is_some(), "{}", expected.id);
        let Some(found) = found else { continue };
        assert_eq!(found.body, expected.body);
        let chain = store.chain(&tenant, &expected.id).await.unwrap().unwrap();
        assert_eq!((&chain[0].input, &chain[0].output), (&expected.input, &expected.output));
        unacknowledged += usize::from(!acks.contains(&number));
    }
    unacknowledged
}

/// Deletes a round, so that the file stays small.
async fn forget(store: &Store, round: usize, acks: &BTreeSet<u64>) {
    let tenant = Tenant::single();
    for number in acks {
        let deleted = store.delete_response(&tenant, &format!("r{round}-{number}")).await;
        assert_eq!(deleted, Ok(true));
    }
    let thread = store.delete_thread(&tenant, ThreadKind::Session, &format!("s{round}")).await;
    assert!(matches!(thread, Ok(_) | Err(StoreError::NotFound)));
}
