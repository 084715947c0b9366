//! What a connection promises.

use super::Connector;
use crate::options::{SqliteOptions, Sync};

/// Proves that SQLite has taken the settings: it ignores what comes at the
/// wrong moment.
#[test]
fn settings_are_in_effect() {
    for (sync, expected) in [(Sync::Full, 2), (Sync::Normal, 1)] {
        let name = format!("toolwire-store-settings-{expected}-{}.db", std::process::id());
        let path = std::env::temp_dir().join(name);
        let connector = Connector::new(SqliteOptions { path: path.clone(), sync });
        let connection = connector.open_to_write().unwrap();
        let setting = |name: &str| -> String {
            let read = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
            format!("{:?}", connection.query_row(&format!("PRAGMA {name}"), [], read).unwrap())
        };
        assert_eq!(setting("synchronous"), format!("Integer({expected})"));
        assert_eq!(setting("journal_mode"), "Text(\"wal\")");
        assert_eq!(setting("foreign_keys"), "Integer(1)");
        assert_eq!(setting("auto_vacuum"), "Integer(2)");
        assert_eq!(setting("journal_size_limit"), "Integer(67108864)");
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", path.display()));
        }
    }
}

/// Proves that a second connection leaves the locks of the first one alone. Without them,
/// another process deletes the log when it is done with the file, and whatever this process
/// writes from then on is lost with it.
#[cfg(target_os = "linux")]
#[test]
fn opening_a_file_again_keeps_its_locks() {
    use std::os::unix::fs::MetadataExt;

    let name = format!("toolwire-store-locks-{}.db", std::process::id());
    let path = std::env::temp_dir().join(name);
    let connector = Connector::new(SqliteOptions { path: path.clone(), sync: Sync::Normal });
    drop(connector.open_to_write().unwrap());
    let end = format!(":{}", std::fs::metadata(&path).unwrap().ino());
    let locks = || {
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.split_whitespace().filter(|word| word.ends_with(&end)).count()
    };
    let reader = connector.open_to_read().unwrap();
    let tables: i64 =
        reader.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    let held = locks();
    assert!(tables > 0 && held > 0, "{tables} tables, {held} locks");
    let writer = connector.open_to_write().unwrap();
    assert!(locks() >= held, "{} instead of {held}", locks());
    drop((reader, writer));
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
}
