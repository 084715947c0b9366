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
