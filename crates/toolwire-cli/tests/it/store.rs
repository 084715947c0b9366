//! `toolwire store`.

use std::fs;

use crate::command::toolwire;
use crate::configuration::Folder;

const EXPORT: &str = include_str!("../../../toolwire-store/tests/backup.jsonl");

/// A folder with a configuration whose store is a file beside it.
fn folder(name: &str, store: &str) -> (Folder, String) {
    let folder = Folder::new(name);
    let text = format!("[[upstream]]\nname = \"demo\"\ndemo = true\n[store]\n{store}\n");
    let config = folder.write("toolwire.toml", &text).display().to_string();
    (folder, config)
}

#[test]
fn what_is_imported_is_exported_and_pruned() {
    let (folder, config) = folder("store", "path = \"mine.db\"");
    let ran = toolwire(&format!("store import --config {config}"), EXPORT);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(ran.out, "Imported 2 responses and threads; 0 were there already.\n");
    assert!(folder.0.join("mine.db").exists());

    let ran = toolwire(&format!("store export --config {config}"), "");
    assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (Some(0), "", EXPORT));

    let file = folder.0.join("backup.jsonl");
    let ran = toolwire(&format!("store export {} --config {config}", file.display()), "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(fs::read_to_string(&file).unwrap(), EXPORT);
    let ran = toolwire(&format!("store import {} --config {config}", file.display()), "");
    assert_eq!(ran.out, "Imported 0 responses and threads; 2 were there already.\n");

    let ran = toolwire(&format!("store status --config {config}"), "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    for line in ["responses      1, 0 of them running", "sessions       1", "expired        1"] {
        assert!(ran.out.lines().any(|found| found == line), "{}", ran.out);
    }
    let size = ran.out.lines().find(|line| line.starts_with("size ")).unwrap();
    assert!(size.ends_with(" bytes of 16.0 GiB"), "{size}");
    let oldest = ran.out.lines().find(|line| line.starts_with("oldest ")).unwrap();
    assert!(oldest.ends_with(" days ago"), "{oldest}");
    assert!(
        ran.out.contains("mine.db (sqlite, version 5)\nkept           30 days\n"),
        "{}",
        ran.out
    );

    let ran = toolwire(&format!("store prune --config {config}"), "");
    assert_eq!(ran.out, "Deleted 1 expired chains and threads.\n");
}

#[test]
fn a_store_that_cannot_be_used_is_explained() {
    let (_folder, config) = folder("store-off", "engine = \"off\"");
    let ran = toolwire(&format!("store status --config {config}"), "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert_eq!(ran.err, "error: the store is off; nothing is kept\n");

    let (folder, config) = folder("store-none", "path = \"mine.db\"");
    let ran = toolwire(&format!("store status --config {config}"), "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.starts_with("nothing is stored yet; there is no "), "{}", ran.out);
    let ran = toolwire(&format!("store export --config {config}"), "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.starts_with("error: nothing is stored yet; there is no "), "{}", ran.err);
    assert!(!folder.0.join("mine.db").exists());

    let ran = toolwire(&format!("store import --config {config}"), "not an export");
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), "error: line 1: this is not JSON\n"));
}
