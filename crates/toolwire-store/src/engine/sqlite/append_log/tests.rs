//! What moves into the tables, and what does not.

use std::fs;
use std::time::{Duration, Instant};

use super::*;
use crate::change::Moment;
use crate::engine::sqlite::connection::Connector;
use crate::options::{SqliteOptions, Sync};
use crate::plan::Plan;
use crate::{Item, NewResponse, Status, Write, random_id};

/// A database of its own, gone at the end.
struct Database {
    path: PathBuf,
    shared: SharedParts,
}

impl Database {
    fn new(name: &str) -> Self {
        let name = format!("toolwire-log-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self { path: folder.join("store.db"), shared: SharedParts::default() }
    }

    fn connect(&self) -> Connection {
        let options = SqliteOptions { path: self.path.clone(), sync: Sync::Normal };
        Connector::new(options).open_to_write().unwrap()
    }

    /// Appends a response with so many bytes. Returns its id.
    fn append(&self, log: &AppendLog, length: usize) -> String {
        let id = random_id("resp_").unwrap();
        let new = NewResponse {
            output: vec![Item::new("", vec![b'x'; length])],
            ..NewResponse::new(&id, Status::Completed, "{}")
        };
        self.must_append(log, new);
        id
    }

    fn must_append(&self, log: &AppendLog, new: NewResponse) {
        // The machine that runs the tests may be slow.
        log.state().slow_until = None;
        assert!(log.append(&changes(new), &self.shared));
    }

    /// The same with a part that others have too.
    fn append_with_part(&self, log: &AppendLog) -> String {
        let id = random_id("resp_").unwrap();
        let (part, end) = ("tools".repeat(400), &id);
        let new = NewResponse {
            repeats: Some(1..1 + part.len()),
            ..NewResponse::new(&id, Status::Completed, format!("{{{part}{end}"))
        };
        self.must_append(log, new);
        id
    }

    fn logs(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.path.parent().unwrap()).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        paths.filter(|path| path.to_str().unwrap().contains("-append-")).collect()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.path.parent().unwrap());
    }
}

fn changes(new: NewResponse) -> Vec<Change> {
    let moment = Moment { now: 1, expires: i64::MAX };
    Plan::new("tenant", vec![Write::Response(new)], moment, u64::MAX).unwrap().changes
}

fn ids(connection: &Connection) -> Vec<String> {
    let mut select = connection.prepare("SELECT id FROM toolwire_record ORDER BY key").unwrap();
    select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn delete(connection: &Connection, id: &str) {
    let deleted = connection.execute("DELETE FROM toolwire_record WHERE id = $1", [id]).unwrap();
    assert_eq!(deleted, 1);
}

fn parts(connection: &Connection) -> i64 {
    let count = "SELECT count(*) FROM toolwire_shared";
    connection.query_row(count, [], |row| row.get(0)).unwrap()
}

#[test]
fn what_was_appended_moves_once_and_in_order() {
    let database = Database::new("once");
    let (connection, log) = (database.connect(), AppendLog::new(&database.path));
    let mut appended = Vec::new();
    for round in 0..3 {
        for _ in 0..=round {
            appended.push(database.append(&log, 100));
        }
        assert!(log.may_have(appended.last().unwrap()) && log.may_have_any());
        log.apply(&connection).unwrap();
        log.apply(&connection).unwrap();
        assert!(!log.may_have_any());
        assert_eq!(ids(&connection), appended);
    }
}

/// A file is written from its start again and again, so what earlier rounds have left stands
/// behind what is there. It must not come back, least of all what was deleted.
#[test]
fn what_earlier_rounds_have_left_stays_where_it_is() {
    let database = Database::new("rounds");
    let (connection, log) = (database.connect(), AppendLog::new(&database.path));
    let [first, second, third] = [500, 500, 500].map(|length| database.append(&log, length));
    log.apply(&connection).unwrap();
    for id in [&first, &second, &third] {
        delete(&connection, id);
    }
    // As long as the first, so that the second stands right behind it.
    let fourth = database.append(&log, 500);
    let mut other = database.connect();
    assert_eq!(ids(&other), [&*fourth]);
    delete(&other, &fourth);
    recover(&mut other, &database.path).unwrap();
    log.apply(&connection).unwrap();
    assert_eq!(ids(&other), [""; 0]);
    // Also if the loss of power has taken what the tables knew of it.
    other.execute("DELETE FROM toolwire_append_log", []).unwrap();
    recover(&mut other, &database.path).unwrap();
    assert_eq!(ids(&other), [fourth]);
}

/// The process may end, and the write with it, at any byte.
#[test]
fn a_log_that_is_cut_anywhere_has_all_that_is_whole() {
    let database = Database::new("cut");
    let mut connection = database.connect();
    let log = AppendLog::new(&database.path);
    let mut ends = Vec::new();
    let appended = [10, 20, 0].map(|length| {
        let id = database.append(&log, length);
        ends.push(log.state().log.as_ref().unwrap().end);
        id
    });
    let [path] = &database.logs()[..] else { panic!("one log") };
    let whole = fs::read(path).unwrap();
    drop(log);
    fs::remove_file(path).unwrap();
    for length in 0..=whole.len() {
        let left = apply::log_path(&database.path, &random_id("").unwrap()).unwrap();
        fs::write(&left, &whole[..length]).unwrap();
        recover(&mut connection, &database.path).unwrap();
        let whole = ends.iter().filter(|end| **end <= length as u64).count();
        assert_eq!(ids(&connection), appended[..whole], "{length} bytes");
        connection.execute("DELETE FROM toolwire_record", []).unwrap();
        assert!(database.logs().is_empty(), "{length} bytes");
    }
    let noted = "SELECT count(*) FROM toolwire_append_log";
    let noted: i64 = connection.query_row(noted, [], |row| row.get(0)).unwrap();
    assert_eq!(noted, 0);
    // A file with a name that no log has is somebody else's.
    fs::write(apply::log_path(&database.path, "mine").unwrap(), &whole).unwrap();
    recover(&mut connection, &database.path).unwrap();
    assert_eq!((ids(&connection).len(), database.logs().len()), (0, 1));
}

/// Only the first response of a round brings the part that all have. If that one is deleted
/// before the others move, the table has it no longer.
#[test]
fn a_part_is_there_as_long_as_a_response_needs_it() {
    let database = Database::new("part");
    let (connection, log) = (database.connect(), AppendLog::new(&database.path));
    let whole = database.append_with_part(&log);
    let brings = database.append_with_part(&log);
    let span = log.state().begin().unwrap().unwrap();
    let needs = database.append_with_part(&log);
    span.apply(&connection, &mut Vec::new()).unwrap();
    log.state().end(&span).unwrap();
    assert_eq!((ids(&connection), parts(&connection)), (vec![whole.clone(), brings.clone()], 1));
    delete(&connection, &brings);
    assert_eq!(parts(&connection), 0);
    log.apply(&connection).unwrap();
    assert_eq!((ids(&connection), parts(&connection)), (vec![whole, needs.clone()], 1));
    // A new round brings it again.
    delete(&connection, &needs);
    let again = database.append_with_part(&log);
    log.apply(&connection).unwrap();
    let found = super::super::read::record(&connection, "tenant", Kind::Response, &again, 0);
    let (_, found) = found.unwrap().unwrap();
    assert_eq!(found.body, format!("{{{}{again}", "tools".repeat(400)));
}

/// Somebody else may have the file of a gateway that runs.
#[test]
fn a_log_in_use_is_read_and_left_alone() {
    let database = Database::new("use");
    let (mut connection, log) = (database.connect(), AppendLog::new(&database.path));
    let first = database.append(&log, 10);
    recover(&mut connection, &database.path).unwrap();
    assert_eq!(ids(&connection), [&*first]);
    assert_eq!(database.logs().len(), 1);
    let second = database.append(&log, 10);
    log.apply(&connection).unwrap();
    assert_eq!(ids(&connection), [first, second]);
    log.close(&connection).unwrap();
    assert!(database.logs().is_empty());
}

#[test]
fn a_long_log_begins_again() {
    let database = Database::new("long");
    let (connection, log) = (database.connect(), AppendLog::new(&database.path));
    let end = || log.state().log.as_ref().unwrap().end;
    let mut count = 0;
    while count == 0 || end() < LONG_LOG {
        database.append(&log, 100_000);
        count += 1;
    }
    let span = log.state().begin().unwrap().unwrap();
    // There is no moment in which nothing comes.
    database.append(&log, 10);
    span.apply(&connection, &mut Vec::new()).unwrap();
    log.state().end(&span).unwrap();
    assert!(end() > LONG_LOG);
    log.apply(&connection).unwrap();
    assert_eq!(end(), 0);
    assert_eq!(ids(&connection).len(), count + 1);
    let appended = database.append(&log, 10);
    log.apply(&connection).unwrap();
    assert_eq!(ids(&connection).last(), Some(&appended));
    log.shrink();
    let [path] = &database.logs()[..] else { panic!("one log") };
    assert_eq!(fs::metadata(path).unwrap().len(), 0);
}

/// What nobody can vouch for without asking the tables is for the tables.
#[test]
fn only_what_is_new_and_complete_is_appended() {
    let database = Database::new("which");
    let _connection = database.connect();
    let log = AppendLog::new(&database.path);
    let id = random_id("resp_").unwrap();
    let new = || NewResponse::new(&id, Status::Completed, "{}");
    let lease = crate::Lease { owner: "g".to_owned(), duration: Duration::from_secs(1) };
    let refused = [
        NewResponse { id: "resp_1".to_owned(), ..new() },
        NewResponse { id: id.to_uppercase(), ..new() },
        NewResponse { status: Status::Queued, lease: Some(lease), ..new() },
        NewResponse { status: Status::InProgress, ..new() },
        NewResponse { body: vec![b'x'; 1 << 20].into(), ..new() },
    ];
    for new in refused {
        assert!(!log.append(&changes(new.clone()), &database.shared), "{:?}", new.status);
    }
    let two = [changes(new()), changes(NewResponse::new("b", Status::Completed, ""))].concat();
    assert!(!log.append(&two, &database.shared));
    database.must_append(&log, new());
    log.state().slow_until = None;
    assert!(!log.append(&changes(new()), &database.shared), "its id is taken");
    let other = NewResponse { id: random_id("resp_").unwrap(), ..new() };
    log.state().slow_until = Some(Instant::now() + state::WHILE_SLOW);
    assert!(!log.append(&changes(other.clone()), &database.shared), "the disk is slow");
    database.must_append(&log, other);
}
