//! `toolwire store`.

use std::fs;
#[cfg(unix)]
use std::process::Command;
#[cfg(unix)]
use std::time::{Duration, Instant};

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
        ran.out.contains("mine.db (sqlite, version 6)\nkept           30 days\n"),
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
    let said = "error: cannot import standard input: line 1: this is not JSON\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), said));
}

/// A folder with a store that has something in it, and the flag for its configuration.
fn filled(name: &str) -> (Folder, String) {
    let (folder, config) = folder(name, "path = \"mine.db\"");
    let config = format!("--config {config}");
    let ran = toolwire(&format!("store import {config}"), EXPORT);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    (folder, config)
}

/// What is in a folder, without what SQLite keeps beside the store.
#[cfg(unix)]
fn files(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(&folder.0).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with("mine.db-"));
    names.sort();
    names
}

#[test]
fn an_export_never_writes_over_its_own_store() {
    let (folder, config) = filled("store-onto-itself");
    let at = |name: &str| folder.0.join(name);
    fs::create_dir(at("store")).unwrap();
    let mut targets =
        vec!["mine.db", "mine.db-wal", "mine.db-shm", "mine.db-append-1", "store/../mine.db"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(at("mine.db"), at("link.jsonl")).unwrap();
        fs::hard_link(at("mine.db"), at("twin.jsonl")).unwrap();
        std::os::unix::fs::symlink(&folder.0, at("store/here")).unwrap();
        targets.extend(["link.jsonl", "twin.jsonl", "store/here/mine.db"]);
    }
    for target in targets {
        let target = at(target);
        let ran = toolwire(&format!("store export {} {config}", target.display()), "");
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", target.display());
        let said =
            format!("error: cannot export to {}: it belongs to the store ", target.display());
        assert!(ran.err.starts_with(&said), "{}", ran.err);
        let ran = toolwire(&format!("store export {config}"), "");
        assert_eq!((ran.out.as_str(), ran.err.as_str()), (EXPORT, ""), "{}", target.display());
    }
}

#[cfg(unix)]
#[test]
fn an_export_that_fails_leaves_the_older_backup() {
    let (folder, config) = folder("store-no-room", "path = \"mine.db\"");
    let long = EXPORT.replace("1.0", &format!("1.{}", "0".repeat(400_000)));
    let ran = toolwire(&format!("store import --config {config}"), long);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let backup = folder.write("backup.jsonl", "the last good one");
    let before = files(&folder);
    // No file may grow beyond 128 KiB, as if the disk was full.
    let (program, backup_name) = (env!("CARGO_BIN_EXE_toolwire"), backup.display());
    let limited = format!(
        "trap '' XFSZ; ulimit -f 256; exec {program} store export {backup_name} --config {config}"
    );
    let ran = Command::new("sh").args(["-c", &limited]).output().unwrap();
    let err = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{err}");
    assert_eq!(fs::read_to_string(&backup).unwrap(), "the last good one", "{err}");
    assert!(err.starts_with(&format!("error: cannot write {backup_name}: ")), "{err}");
    assert_eq!(files(&folder), before);
}

/// A reader may stop reading, or never begin.
#[cfg(unix)]
#[test]
fn an_export_to_a_pipe_can_be_interrupted() {
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;

    let (folder, config) = folder("store-pipe", "path = \"mine.db\"");
    // More than a pipe holds.
    let long = EXPORT.replace("1.0", &format!("1.{}", "0".repeat(400_000)));
    let ran = toolwire(&format!("store import --config {config}"), long);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let pipe = folder.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["store", "export", pipe.to_str().unwrap(), "--config", &config])
        .spawn()
        .unwrap();
    let mut reader = fs::File::open(&pipe).unwrap();
    reader.read_exact(&mut [0]).unwrap();
    let id = child.id().to_string();
    // Shells let what runs in the background ignore an interrupt.
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let end = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}

/// The file has conversations in it, whatever was there before.
#[cfg(unix)]
#[test]
fn an_export_is_private_also_in_the_place_of_a_file_that_others_read() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, config) = filled("store-private");
    let backup = folder.write("backup.jsonl", "older");
    fs::set_permissions(&backup, fs::Permissions::from_mode(0o644)).unwrap();
    let link = folder.0.join("latest.jsonl");
    std::os::unix::fs::symlink("backup.jsonl", &link).unwrap();
    let ran = toolwire(&format!("store export {} {config}", link.display()), "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&backup).unwrap(), EXPORT);
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(files(&folder), ["backup.jsonl", "latest.jsonl", "mine.db", "toolwire.toml"]);

    let ran = toolwire(&format!("store export /dev/stdout {config}"), "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.starts_with(EXPORT), "{}", ran.out);

    fs::set_permissions(&backup, fs::Permissions::from_mode(0o400)).unwrap();
    let ran = toolwire(&format!("store export {} {config}", backup.display()), "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.ends_with("backup.jsonl: it may only be read\n"), "{}", ran.err);
}

/// Writes into the memory of a command that ends, and reads from it, would look
/// like success.
#[test]
fn what_only_the_gateway_has_in_memory_is_not_copied() {
    let (folder, config) = folder("store-memory", "engine = \"memory\"");
    let file = folder.0.join("backup.jsonl");
    for command in [&format!("export {}", file.display()), "import", "status", "prune"] {
        let ran = toolwire(&format!("store {command} --config {config}"), EXPORT);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{command}");
        assert!(ran.err.starts_with("error: with engine = \"memory\" "), "{}", ran.err);
    }
    assert!(!file.exists());
}

#[test]
fn an_import_that_cannot_be_read_is_named_and_makes_no_store() {
    let (folder, config) = folder("store-unread", "path = \"mine.db\"");
    let at = |name: &str| folder.0.join(name).display().to_string();
    for (file, reason) in [("missing.jsonl", "No such file"), ("", "Is a directory")] {
        let file = at(file);
        let ran = toolwire(&format!("store import {file} --config {config}"), "");
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
        assert!(
            ran.err.starts_with(&format!("error: cannot read {file}: {reason}")),
            "{}",
            ran.err
        );
        assert!(!folder.0.join("mine.db").exists());
    }

    folder.write("broken.jsonl", &format!("{EXPORT}{{}}\n"));
    let file = at("broken.jsonl");
    let ran = toolwire(&format!("store import {file} --config {config}"), "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    let reason = "line 6: there is something behind the end of the export";
    assert_eq!(ran.err, format!("error: cannot import {file}: {reason}\n"));

    let ran = toolwire(&format!("store import --config {config}"), [EXPORT, EXPORT].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(ran.out, "Imported 2 responses and threads; 2 were there already.\n");
}

/// A store behind a path that nobody can follow may be full.
#[test]
fn a_store_that_cannot_be_looked_at_is_not_called_empty() {
    let (folder, config) = folder("store-hidden", "path = \"file/mine.db\"");
    folder.write("file", "no folder");
    for command in ["status", "prune", "export", "import"] {
        let ran = toolwire(&format!("store {command} --config {config}"), EXPORT);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{command}");
        let place = folder.0.join("file/mine.db");
        let said = format!("error: cannot open {}: Not a directory", place.display());
        assert!(ran.err.starts_with(&said), "{command}: {}", ran.err);
    }
}

/// `check` says that a gateway would start.
#[test]
fn a_store_that_could_not_be_opened_is_no_valid_configuration() {
    for (name, store, said) in [
        ("store-folder", "path = \".\"", "`path` is not the name of a file"),
        ("store-nameless", "path = \"\"", "`path` is not the name of a file"),
        (
            "store-mysql",
            "engine = \"postgres\"\nurl = \"mysql://db/toolwire\"",
            "`url` is not the address of a Postgres database",
        ),
    ] {
        let (_folder, config) = folder(name, store);
        let ran = toolwire(&format!("check --config {config}"), "");
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{store}");
        assert!(ran.err.starts_with(&format!("error: {said}\n")), "{}", ran.err);
    }
}

#[test]
fn times_are_said_as_they_are() {
    let (_folder, config) = folder("store-time", "path = \"mine.db\"\nttl = \"36h\"");
    let ran = toolwire(&format!("store import --config {config}"), EXPORT);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let ran = toolwire(&format!("store status --config {config}"), "");
    assert!(ran.out.contains("\nkept           36 hours\n"), "{}", ran.out);
}
