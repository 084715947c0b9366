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
    let rounds = rounds();
    let folder = Folder::new("kill");
    let path = folder.path().join("store.db");
    let (mut acknowledged, mut unacknowledged, mut opened) = (0, 0, Vec::new());
    for round in 0..rounds {
        let acks = numbers(&kill_one("kill::the_process_that_is_killed", &path, round));
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

/// Proves the same of responses that are alone in their write, which are stored before they
/// are in the tables, and that none that was deleted comes back.
#[test]
fn nothing_appended_is_lost() {
    let rounds = rounds();
    let folder = Folder::new("kill-appended");
    let path = folder.path().join("store.db");
    let (mut stored, mut deleted, mut opened) = (0, 0, Vec::new());
    for round in 0..rounds {
        let said = kill_one("kill::the_process_that_appends", &path, round);
        run(async {
            let tenant = Tenant::single();
            let start = Instant::now();
            let store = Store::open(Options::sqlite(&path)).await.unwrap();
            opened.push(start.elapsed());
            let (mut last, mut gone) = (None, BTreeSet::new());
            for line in said.iter().rev() {
                let (what, id) = line.rsplit_once(' ').unwrap();
                let found = store.response(&tenant, id).await.unwrap();
                if what.ends_with("gone") {
                    assert_eq!(found, None, "{id} has come back");
                    gone.insert(id);
                    deleted += 1;
                } else if !gone.contains(id) {
                    let expected = alone(id, None);
                    // The process may have deleted it without having come to say so.
                    let Some(found) = found else {
                        assert_eq!(last.replace(id), None, "{id} is lost");
                        continue;
                    };
                    assert_eq!(found.body, expected.body);
                    let chain = store.chain(&tenant, id).await.unwrap();
                    let chain = chain.expect("nothing that it continues was deleted");
                    let link = chain.last().unwrap();
                    assert_eq!((&link.input, &link.output), (&expected.input, &expected.output));
                    stored += 1;
                }
            }
            // So that the file stays small.
            for line in &said {
                let (_, id) = line.rsplit_once(' ').unwrap();
                store.delete_response(&tenant, id).await.unwrap();
            }
        });
    }
    assert!(stored > rounds && deleted > rounds / 5, "{stored} and {deleted} in {rounds} rounds");
    opened.sort();
    let (usual, slowest) = (opened[rounds / 2], opened[rounds - 1]);
    assert!(usual < Duration::from_secs(1), "{usual:?}");
    println!(
        "{rounds} rounds: {stored} appended responses, 0 lost; {deleted} deleted ones, 0 back; ready \
         after {usual:?}, and {slowest:?} at most"
    );
}

fn rounds() -> usize {
    let rounds = std::env::var("TOOLWIRE_KILL_ROUNDS").ok();
    rounds.map_or(ROUNDS, |rounds| rounds.parse().expect("a number of rounds"))
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

/// The process that is killed while it appends.
#[test]
fn the_process_that_appends() {
    let Ok(path) = std::env::var("TOOLWIRE_KILL_PATH") else { return };
    run(async {
        let store = Store::open(Options::sqlite(path)).await.unwrap();
        let (tenant, mut previous) = (Tenant::single(), None);
        for number in 0.. {
            let id = random_id("resp_").unwrap();
            let new = alone(&id, previous.clone());
            store.write(&tenant, vec![Write::Response(new)]).await.unwrap();
            say(&format!("ack {id}\n"));
            if number % 5 == 4 {
                assert_eq!(store.delete_response(&tenant, &id).await, Ok(true));
                say(&format!("gone {id}\n"));
            } else {
                previous = Some(id);
            }
        }
    });
}

/// One system call, so that a line is there whole or not at all.
fn say(line: &str) {
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
}

/// A response whose bytes follow from its id.
fn alone(id: &str, previous: Option<String>) -> NewResponse {
    let length = usize::from_str_radix(&id[id.len() - 4..], 16).unwrap();
    NewResponse {
        previous,
        input: vec![Item::new(format!("{id}-in"), id.repeat(length / id.len()))],
        output: vec![Item::new("", "output")],
        repeats: Some(5..5 + SHARED),
        ..NewResponse::new(id, Status::Completed, body(id))
    }
}

/// Starts a process, kills it at a random moment, and returns the lines that it has said.
fn kill_one(test: &str, path: &Path, round: usize) -> Vec<String> {
    let mut child = start_child(test, path, round);
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
    let is_news = |line: &&str| line.contains("ack ") || line.contains("gone ");
    lines.map(str::trim).filter(is_news).map(str::to_owned).collect()
}

/// The numbers of the writes that were acknowledged.
fn numbers(said: &[String]) -> BTreeSet<u64> {
    said.iter().filter_map(|line| line.rsplit_once("ack ")?.1.parse().ok()).collect()
}

fn start_child(test: &str, path: &Path, round: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
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
