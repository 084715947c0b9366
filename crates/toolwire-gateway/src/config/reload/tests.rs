use std::fs;
use std::path::PathBuf;

use super::ConfigWatcher;
use crate::config::Credential;
use crate::config::file::{LoadError, load};

/// A temporary folder.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("toolwire-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn config(model: &str) -> String {
    format!(
        "[[upstream]]\nname = \"one\"\nprotocol = \"chat\"\nbase_url = \"https://x.example\"\n\
         key = {{ file = \"key\" }}\nmodels = [\"{model}\"]\n"
    )
}

#[test]
fn a_change_is_read_once_it_is_stable() {
    let folder = Folder::new("reload");
    folder.write("key", "first");
    let path = folder.write("toolwire.toml", &config("a"));
    let loaded = load(&path).unwrap();
    let files: Vec<_> = loaded.files.iter().map(|file| &file.path).collect();
    assert_eq!(files, [&path, &folder.0.join("key")]);
    let mut watcher = ConfigWatcher::new(&path, &loaded);
    assert!(watcher.check().is_none());

    folder.write("toolwire.toml", &config("longer"));
    assert!(watcher.check().is_none(), "it may still be being written");
    let change = watcher.check().unwrap().unwrap();
    assert_eq!(change.upstreams[0].models[0].0, "longer");
    assert!(watcher.check().is_none());

    // A new key is a change too.
    folder.write("key", "the second");
    assert!(watcher.check().is_none());
    let change = watcher.check().unwrap().unwrap();
    let Credential::Key(key) = &change.upstreams[0].credential else { panic!("a key") };
    assert_eq!(key.reveal(), "the second");
}

#[test]
fn a_problem_is_reported_once_and_fixed_later() {
    let folder = Folder::new("mistake");
    folder.write("key", "first");
    let path = folder.write("toolwire.toml", &config("a"));
    let mut watcher = ConfigWatcher::new(&path, &load(&path).unwrap());

    folder.write("toolwire.toml", "oops");
    assert!(watcher.check().is_none());
    let Some(Err(LoadError::Invalid(problems))) = watcher.check() else { panic!("not noticed") };
    assert!(problems.to_string().contains("toolwire.toml:1:"), "{problems}");
    assert!(watcher.check().is_none(), "told twice");

    fs::remove_file(&path).unwrap();
    watcher.check();
    assert!(matches!(watcher.check(), Some(Err(LoadError::Unreadable { .. }))));
    folder.write("toolwire.toml", &config("back"));
    watcher.check();
    assert_eq!(watcher.check().unwrap().unwrap().upstreams[0].models[0].0, "back");
}

/// The file of a key may come after the configuration that names it.
#[test]
fn a_missing_file_is_waited_for() {
    let folder = Folder::new("missing");
    folder.write("key", "first");
    let path = folder.write("toolwire.toml", &config("a"));
    let mut watcher = ConfigWatcher::new(&path, &load(&path).unwrap());

    folder.write("toolwire.toml", &config("a").replace("\"key\"", "\"another-key\""));
    assert!(watcher.check().is_none());
    assert!(matches!(watcher.check(), Some(Err(LoadError::Invalid(_)))));
    assert!(watcher.check().is_none(), "told twice");

    folder.write("another-key", "second");
    assert!(watcher.check().is_none(), "it may still be being written");
    let change = watcher.check().unwrap().unwrap();
    let Credential::Key(key) = &change.upstreams[0].credential else { panic!("a key") };
    assert_eq!(key.reveal(), "second");
}

#[test]
fn a_change_right_after_the_file_was_read_is_noticed() {
    let folder = Folder::new("between");
    folder.write("key", "first");
    let path = folder.write("toolwire.toml", &config("a"));
    let loaded = load(&path).unwrap();
    folder.write("toolwire.toml", &config("longer"));
    let mut watcher = ConfigWatcher::new(&path, &loaded);
    assert!(watcher.check().is_none());
    assert_eq!(watcher.check().unwrap().unwrap().upstreams[0].models[0].0, "longer");
}

#[cfg(unix)]
#[tokio::test]
async fn a_hangup_reads_at_once() {
    let folder = Folder::new("hangup");
    folder.write("key", "first");
    let path = folder.write("toolwire.toml", &config("a"));
    let watcher = ConfigWatcher::new(&path, &load(&path).unwrap());
    let (sender, mut changes) = tokio::sync::mpsc::channel(1);
    let task = tokio::spawn(watcher.run(sender));
    tokio::task::yield_now().await;
    // The file is unchanged; only the signal makes it read.
    let own = std::process::id().to_string();
    let sent = std::process::Command::new("kill").args(["-HUP", &own]).status().unwrap();
    assert!(sent.success());
    let wait = std::time::Duration::from_secs(1);
    let change = tokio::time::timeout(wait, changes.recv()).await.unwrap().unwrap().unwrap();
    assert_eq!(change.upstreams[0].models[0].0, "a");
    drop(changes);
    task.await.unwrap();
}
