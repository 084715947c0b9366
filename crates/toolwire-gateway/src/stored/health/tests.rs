//! What is found out about a store that hangs.

use rusqlite::Connection;
use toolwire_store::{Options, Timestamp};

use super::*;

/// Proves that asking again and again leaves nothing in a store that did not answer, and
/// that the answer is heard when it comes.
#[tokio::test]
async fn a_store_that_hangs_keeps_no_trials() {
    let folder = std::env::temp_dir().join(format!("toolwire-trials-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("store.db");
    let mut options = Options::sqlite(&path);
    options.ttl = None;
    let store = Store::open(options).await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let health = StoreHealth::default();
    health.note(&Err(late()));
    for _ in 0..2 {
        assert_eq!(health.find_out(&store).await, Err(late()));
    }
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(health.find_out(&store).await, Ok(()));
    // Whatever was asked before is done by now.
    let lease = toolwire_store::Lease { owner: "g".to_owned(), duration: Duration::ZERO };
    assert_eq!(store.renew(&lease, &[]).await, Ok(Vec::new()));
    let stats = store.stats().await.unwrap();
    assert_eq!((stats.sessions, stats.bytes, stats.oldest), (0, 0, None::<Timestamp>));
    let _ = std::fs::remove_dir_all(&folder);
}
