//! A disk without room.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use toolwire::Protocol;
use toolwire_gateway::config::{LogFormat, StoreConfig};
use toolwire_store::Options;

use super::{TempStore, respond};
use crate::log::logging;
use crate::upstream::{Server, whole};
use crate::{at, client, config, fixtures, ms};

/// Storing fails by name before a model is asked, everything else goes on, and
/// storing works again as soon as there is room.
#[tokio::test]
async fn storing_stops_and_serving_goes_on() {
    let folder = TempStore::new("full");
    let Some(disk) = SmallDisk::new(&folder.0) else { return };
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let mut config = config(vec![at(&server)]);
    config.store = StoreConfig::On(Options::sqlite(disk.0.join("store.db")));
    let (gateway, lines) = logging(config, LogFormat::Text).await;
    let to = gateway.address();
    let long = |store| json!({"model": "m", "input": "x".repeat(400_000), "store": store});
    let mut stored = Vec::new();
    let refused = loop {
        let got = respond(to, &long(true)).await;
        if got.status != 200 {
            break got;
        }
        stored.push(got.json());
        assert!(stored.len() < 40, "the disk has room for everything");
    };
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.header("retry-after").is_some());
    assert!(refused.body.contains("full"), "{refused:?}");
    // What is too small for an answer may be enough for the store to find that it
    // works again, and a second later it tries.
    disk.fill();
    let asked = server.seen_count();
    for _ in 0..5 {
        assert_eq!(respond(to, &long(true)).await.status, 503);
    }
    assert_eq!(server.seen_count(), asked, "no model is asked for what would be lost");
    assert_eq!(respond(to, &long(false)).await.status, 200);
    for response in &stored {
        let path = format!("/v1/responses/{}", response["id"].as_str().unwrap());
        assert_eq!(client::get(to, &path, &[]).await.json(), *response);
    }
    disk.grow();
    let grown = Instant::now();
    while respond(to, &long(true)).await.status != 200 {
        assert!(grown.elapsed() < Duration::from_secs(5), "it does not recover");
        tokio::time::sleep(ms(100)).await;
    }
    let log = lines.text();
    assert!(log.contains(" the disk of the store is full: "), "{log}");
    assert!(log.contains(" reason=store_full\n"), "{log}");
}

/// A disk of a few megabytes. Only root can have one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn new(folder: &Path) -> Option<Self> {
        let path = folder.join("disk");
        std::fs::create_dir(&path).unwrap();
        mount(&["-t", "tmpfs", "-o", "size=6m", "tmpfs"], &path).then_some(Self(path))
    }

    /// Takes what room is left.
    fn fill(&self) {
        let mut rest = std::fs::File::create(self.0.join("rest")).unwrap();
        while rest.write_all(&[0; 4096]).is_ok() {}
    }

    fn grow(&self) {
        assert!(mount(&["-o", "remount,size=32m"], &self.0));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(arguments: &[&str], path: &Path) -> bool {
    let mut mount = Command::new("mount");
    let output = mount.args(arguments).arg(path).output();
    output.is_ok_and(|output| output.status.success())
}
