//! Timeouts, limits and breakers go by a clock that nobody can set (R-43, T-34).

use std::path::{Path, PathBuf};

/// The lint refuses every way to ask for the time of day, and only these files
/// are exempt from it: one converts headers that hold a time of day, which makes
/// a pause of at most `max_pause`, one writes the log, one tells clients when what
/// they store was made, and one finds connections from before the machine slept. A
/// clock that is set can close such a connection early, and never keep it longer.
const EXEMPT: [&str; 4] = [
    "observe/request_log.rs",
    "relay/headers/limits.rs",
    "stored/time_of_day.rs",
    "upstream/http1/moment.rs",
];

#[test]
fn only_what_is_exempt_knows_the_time_of_day() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lints = std::fs::read_to_string(package.join("../../clippy.toml")).unwrap();
    for method in ["std::time::SystemTime::now", "time::OffsetDateTime::now_utc"] {
        assert!(lints.contains(&format!("path = \"{method}\"")), "{method} is allowed");
    }
    let source = package.join("src");
    let mut found = Vec::new();
    for path in files(&source) {
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains("SystemTime::now") || text.contains("clippy::disallowed_methods") {
            found.push(path.strip_prefix(&source).unwrap().to_owned());
        }
    }
    found.sort();
    assert_eq!(found, EXEMPT.map(PathBuf::from));
}

/// All files in a folder and its folders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, mut all): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    all.extend(folders.iter().flat_map(|folder| files(folder)));
    all
}
