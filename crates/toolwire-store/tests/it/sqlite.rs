//! What only a file can do wrong.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;
use toolwire_store::{
    Item, NewResponse, OpenError, Options, Status, Store, StoreError, Tenant, Write,
};

use crate::engines::{Folder, TTL, TestClock, run};
use crate::shared::{part, with_part};

fn response(id: &str, length: usize) -> Vec<Write> {
    let input = vec![Item::new(format!("{id}-in"), vec![b'x'; length])];
    vec![Write::Response(NewResponse { input, ..NewResponse::new(id, Status::Completed, "{}") })]
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn only_the_owner_can_read_the_file() {
    run(async {
        let folder = Folder::new("mode");
        let path = folder.path().join("state/toolwire/store.db");
        let store = Store::open(Options::sqlite(&path)).await.unwrap();
        store.write(&Tenant::single(), response("r", 10)).await.unwrap();
        for name in ["store.db", "store.db-wal", "store.db-shm"] {
            assert_eq!(mode(&path.with_file_name(name)), 0o600, "{name}");
        }
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        drop(store);

        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        let _store = Store::open(Options::sqlite(&path)).await.unwrap();
        assert_eq!(mode(&path), 0o600);
    });
}

#[test]
fn what_was_written_is_there_after_a_restart() {
    run(async {
        let folder = Folder::new("restart");
        let path = folder.path().join("store.db");
        for number in 0..5 {
            let store = Store::open(Options::sqlite(&path)).await.unwrap();
            for earlier in 0..number {
                let id = format!("r{earlier}");
                assert!(store.response(&Tenant::single(), &id).await.unwrap().is_some());
            }
            store.write(&Tenant::single(), response(&format!("r{number}"), 10)).await.unwrap();
        }
    });
}

#[test]
fn a_file_of_a_newer_toolwire_is_refused() {
    run(async {
        let folder = Folder::new("newer");
        let path = folder.path().join("store.db");
        drop(Store::open(Options::sqlite(&path)).await.unwrap());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let error = Store::open(Options::sqlite(&path)).await.unwrap_err();
        assert_eq!(error, OpenError::Newer { found: 99, known: 6 });
        assert!(error.to_string().contains("version 99"), "{error}");
    });
}

/// Somebody may use a newer program on the file of a gateway that runs.
#[test]
fn a_file_that_a_newer_toolwire_has_changed_is_left_alone() {
    run(async {
        let folder = Folder::new("changed");
        let path = folder.path().join("store.db");
        let (store, tenant) =
            (Store::open(Options::sqlite(&path)).await.unwrap(), Tenant::single());
        store.write(&tenant, response("a", 10)).await.unwrap();
        assert!(store.response(&tenant, "a").await.unwrap().is_some());
        let version = |version: i64| {
            Connection::open(&path).unwrap().pragma_update(None, "user_version", version).unwrap();
        };
        version(99);
        let errors = [
            store.response(&tenant, "a").await.unwrap_err(),
            store.write(&tenant, response("b", 10)).await.unwrap_err(),
            store.delete_response(&tenant, "a").await.unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, StoreError::Unavailable { retry: false, .. }), "{error}");
            assert!(error.to_string().contains("version 99"), "{error}");
        }
        version(6);
        assert!(store.response(&tenant, "a").await.unwrap().is_some());
        assert!(store.response(&tenant, "b").await.unwrap().is_none());
    });
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    run(async {
        let folder = Folder::new("foreign");
        let path = folder.path().join("other.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
        let error = Store::open(Options::sqlite(&path)).await.unwrap_err();
        assert!(error.to_string().contains("another program"), "{error}");
        let tables = "SELECT group_concat(name) FROM sqlite_schema";
        let tables: String =
            Connection::open(&path).unwrap().query_row(tables, [], |row| row.get(0)).unwrap();
        assert_eq!(tables, "mine");

        let text = folder.path().join("notes.txt");
        std::fs::write(&text, "not a database, but longer than the header of one is\n".repeat(9))
            .unwrap();
        let error = Store::open(Options::sqlite(&text)).await.unwrap_err();
        assert!(error.to_string().contains("notes.txt"), "{error}");
        assert!(std::fs::read_to_string(&text).unwrap().starts_with("not a database"));

        let error = Store::open(Options::sqlite("/proc/nothing/store.db")).await.unwrap_err();
        assert!(error.to_string().contains("/proc/nothing/store.db"), "{error}");
    });
}

/// Proves that a full disk fails writes by name, that reads go on, and that
/// writing works again without a restart.
#[test]
fn a_full_disk_is_named_and_survived() {
    run(async {
        let folder = Folder::new("full");
        let Some(disk) = SmallDisk::new(&folder) else {
            println!("skipped: only root can mount a small disk");
            return;
        };
        let tenant = Tenant::single();
        let on_disk = Store::open(Options::sqlite(disk.path().join("store.db"))).await.unwrap();
        on_disk.write(&tenant, response("first", 10)).await.unwrap();
        let mut refused = None;
        for number in 0..40 {
            let written = on_disk.write(&tenant, response(&format!("r{number}"), 400_000)).await;
            match written {
                Ok(()) => {}
                Err(error) => {
                    refused = Some((number, error));
                    break;
                }
            }
        }
        let (number, error) = refused.expect("the disk is full");
        assert!(matches!(error, StoreError::Full(_)), "{error}");
        let absent = on_disk.response(&tenant, &format!("r{number}")).await;
        assert_eq!(absent, Ok(None));
        for earlier in 0..number {
            let id = format!("r{earlier}");
            assert!(on_disk.response(&tenant, &id).await.unwrap().is_some(), "{id}");
        }
        // What is left is too little for a trial.
        let mut number = 0;
        while on_disk.write(&tenant, response(&format!("small{number}"), 20_000)).await.is_ok() {
            number += 1;
        }
        let trial = on_disk.try_to_write().await;
        assert!(matches!(trial, Err(StoreError::Full(_))), "{trial:?}");
        disk.grow();
        assert_eq!(on_disk.try_to_write().await, Ok(()));
        on_disk.write(&tenant, response("after", 400_000)).await.unwrap();
        assert!(on_disk.response(&tenant, "after").await.unwrap().is_some());
    });
}

/// Proves that the file becomes smaller when what it has is deleted.
#[test]
fn what_is_deleted_goes_back_to_the_disk() {
    run(async {
        let folder = Folder::new("shrink");
        let path = folder.path().join("store.db");
        let clock = TestClock::new();
        let mut options = Options::sqlite(&path);
        (options.ttl, options.clock) = (Some(TTL), clock.clock());
        let store = Store::open(options).await.unwrap();
        for number in 0..40 {
            let write = response(&format!("r{number}"), 400_000);
            store.write(&Tenant::single(), write).await.unwrap();
        }
        let pages = || {
            let connection = Connection::open(&path).unwrap();
            connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0)).unwrap()
        };
        let full = pages();
        clock.pass(TTL * 2);
        assert_eq!(store.prune(100).await, Ok(40));
        assert!(pages() < full / 10, "{} of {full} pages", pages());
    });
}

/// A disk of a few megabytes. Only root can have one.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn new(folder: &Folder) -> Option<Self> {
        let path = folder.path().join("disk");
        std::fs::create_dir(&path).unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", "size=6m", "tmpfs"], &path);
        mounted.then_some(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn grow(&self) {
        assert!(mount(&["-o", "remount,size=32m"], &self.0));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(arguments: &[&str], path: &Path) -> bool {
    let mut mount = std::process::Command::new("mount");
    let mount = mount.args(arguments).arg(path).stderr(std::process::Stdio::null());
    mount.status().is_ok_and(|status| status.success())
}

/// Proves that a chain of 500 responses is read in a time that grows with its
/// bytes, not with their square.
#[test]
fn a_long_chain_costs_what_its_bytes_cost() {
    run(async {
        let folder = Folder::new("chain");
        let store = Store::open(Options::sqlite(folder.path().join("store.db"))).await.unwrap();
        let tenant = Tenant::single();
        let mut previous = None;
        let mut times = Vec::new();
        for number in 1..=500 {
            let id = format!("r{number}");
            let input = vec![Item::new(format!("{id}-in"), vec![b'x'; 1000])];
            let response = NewResponse {
                previous: previous.clone(),
                input,
                ..NewResponse::new(&id, Status::Completed, "{}")
            };
            store.write(&tenant, vec![Write::Response(response)]).await.unwrap();
            previous = Some(id);
            if number == 50 || number == 500 {
                times.push(fastest_read(&store, previous.as_deref().unwrap(), number).await);
            }
        }
        assert!(times[1] < times[0] * 30, "{times:?}");
    });
}

async fn fastest_read(store: &Store, id: &str, length: usize) -> std::time::Duration {
    let mut fastest = std::time::Duration::MAX;
    for _ in 0..20 {
        let start = std::time::Instant::now();
        let chain = store.chain(&Tenant::single(), id).await.unwrap().unwrap();
        fastest = fastest.min(start.elapsed());
        assert_eq!(chain.len(), length);
    }
    fastest
}

/// Proves that a part that comes again is in the file once, that bodies come back
/// whole, and that the part goes with the last response that has it.
#[test]
fn what_bodies_have_in_common_is_kept_once() {
    run(async {
        let folder = Folder::new("shared");
        let path = folder.path().join("store.db");
        let store = Store::open(Options::sqlite(&path)).await.unwrap();
        let (tenants, part) = ([Tenant::single(), Tenant::of_key("k")], "tools".repeat(1000));
        let body = |id: &str| format!("{{{id}:{part}:{id}}}");
        let ids = ["a", "bb", "ccc", "dddd"];
        for tenant in &tenants {
            for id in ids {
                let repeats = Some(id.len() + 2..id.len() + 2 + part.len());
                let new = NewResponse::new(id, Status::Completed, body(id));
                let response = Write::Response(NewResponse { repeats, ..new });
                store.write(tenant, vec![response]).await.unwrap();
            }
        }
        let connection = Connection::open(&path).unwrap();
        let count = |what: &str| -> i64 {
            let select = format!("SELECT {what} FROM toolwire_shared");
            connection.query_row(&select, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(count("sum(octet_length(bytes))"), 2 * i64::try_from(part.len()).unwrap());
        for tenant in &tenants {
            for id in ids {
                let found = store.response(tenant, id).await.unwrap().unwrap();
                assert_eq!(found.body, body(id));
                assert_eq!(store.usage(tenant).await.unwrap().records, 4);
            }
        }
        let mut export = Vec::new();
        store.export(&mut export).await.unwrap();
        let copy = Store::open(Options::memory()).await.unwrap();
        copy.import(&export[..]).await.unwrap();
        assert_eq!(copy.response(&tenants[0], "dddd").await.unwrap().unwrap().body, body("dddd"));
        for (left, id) in [(2, "a"), (2, "bb"), (2, "dddd"), (1, "ccc")] {
            assert!(store.delete_response(&tenants[0], id).await.unwrap());
            assert_eq!(count("count(*)"), left, "{id}");
        }
        let new = NewResponse::new("e", Status::Completed, body("e"));
        let response = NewResponse { repeats: Some(3..3 + part.len()), ..new };
        store.write(&tenants[0], vec![Write::Response(response)]).await.unwrap();
        assert_eq!(store.response(&tenants[0], "e").await.unwrap().unwrap().body, body("e"));
        assert_eq!(count("count(*)"), 2);
    });
}

/// Proves that a body whose part is gone is an error, and not a shorter body.
#[test]
fn a_part_that_is_missing_is_noticed() {
    run(async {
        let folder = Folder::new("missing");
        let path = folder.path().join("store.db");
        let (store, tenant) =
            (Store::open(Options::sqlite(&path)).await.unwrap(), Tenant::single());
        for id in ["a", "b"] {
            let new = with_part(id, "{", &part(), "}");
            store.write(&tenant, vec![Write::Response(new)]).await.unwrap();
        }
        Connection::open(&path).unwrap().execute("DELETE FROM toolwire_shared", []).unwrap();
        assert!(store.response(&tenant, "a").await.unwrap().is_some());
        let gone = store.response(&tenant, "b").await;
        assert!(matches!(gone, Err(StoreError::Unavailable { retry: false, .. })), "{gone:?}");
        assert!(store.export(&mut Vec::new()).await.is_err());
    });
}
