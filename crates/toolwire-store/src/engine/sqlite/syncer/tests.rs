//! Which file the disk has to confirm.

use super::*;
use crate::engine::sqlite::connection::Connector;
use crate::options::{SqliteOptions, Sync};

/// Proves that the log is found behind a link. Without it, nothing would be confirmed and
/// nobody would know.
#[test]
fn the_log_is_that_of_the_real_file() {
    let folder = std::env::temp_dir().join(format!("toolwire-syncer-{}", std::process::id()));
    fs::create_dir_all(folder.join("real")).unwrap();
    let link = folder.join("link.db");
    std::os::unix::fs::symlink("real/store.db", &link).unwrap();
    let connector = Connector::new(SqliteOptions { path: link.clone(), sync: Sync::Normal });
    let connection = connector.open_to_write().unwrap();
    assert!(log_of(&link).unwrap().is_file());
    drop(connection);
    // What is no file cannot be confirmed, so it shows what was opened.
    fs::create_dir(folder.join("real/store.db-wal")).unwrap();
    let error = sync_log(&link).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    fs::remove_dir_all(folder).unwrap();
}
