use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::*;

/// A connection, marked so that it can be told from others.
async fn connection(mark: u8) -> (DuplexStream, DuplexStream) {
    let (server, mut client) = duplex(64);
    client.write_all(&[mark]).await.unwrap();
    assert!(client.is_quiet());
    (server, client)
}

#[tokio::test]
async fn the_one_that_was_used_last_is_used_first() {
    let pool = Pool::new(Duration::from_secs(60));
    let mut servers = Vec::new();
    for mark in 0..3 {
        let (server, client) = connection(mark).await;
        servers.push(server);
        pool.put(client, Duration::MAX);
    }
    // A server that has closed, and one that speaks without being asked.
    drop(servers.pop());
    servers[1].write_all(b"x").await.unwrap();
    let mut client = pool.take().unwrap();
    assert!(pool.take().is_none());
    client.write_all(b"y").await.unwrap();
    assert_eq!(servers[0].read_u16().await.unwrap(), 0x79);
}

#[tokio::test]
async fn nobody_gets_one_that_is_too_old() {
    let pool = Pool::new(Duration::ZERO);
    let (_server, client) = connection(0).await;
    pool.put(client, Duration::MAX);
    assert!(pool.take().is_none());
}

/// Some servers say for how long they keep theirs.
#[tokio::test]
async fn nobody_gets_one_that_its_server_is_about_to_close() {
    let pool = Pool::new(Duration::from_secs(60));
    for (keep_alive, usable) in [(40, 40), (90, 60)] {
        for (waited, is_usable) in [(usable / 2, true), (usable, false)] {
            let (_server, client) = connection(0).await;
            pool.put(client, Duration::from_secs(keep_alive));
            let taken = pool.take_at(Moment::now() + Duration::from_secs(waited));
            assert_eq!(taken.is_some(), is_usable, "{keep_alive} {waited}");
        }
    }
}

/// While the machine sleeps, its servers close their connections, and only one clock goes on.
#[tokio::test]
async fn nobody_gets_one_from_before_the_machine_slept() {
    let pool = Pool::new(Duration::from_secs(60));
    let take_after = async |change: fn(&mut Moment)| {
        let (_server, client) = connection(0).await;
        pool.put(client, Duration::MAX);
        let mut now = Moment::now();
        change(&mut now);
        pool.take_at(now).is_some()
    };
    assert!(take_after(|now| now.wall += Duration::from_secs(30)).await);
    assert!(!take_after(|now| now.wall += Duration::from_secs(60)).await);
    assert!(!take_after(|now| now.steady += Duration::from_secs(60)).await);
    // How long it was is not known of a clock that was set back.
    assert!(!take_after(|now| now.wall -= Duration::from_secs(3600)).await);
}

#[tokio::test]
async fn a_burst_leaves_no_more_than_may_wait() {
    let pool = Pool::new(Duration::from_secs(60));
    let mut servers = Vec::new();
    for _ in 0..=MAX_IDLE {
        let (server, client) = connection(7).await;
        servers.push(server);
        pool.put(client, Duration::MAX);
    }
    assert_eq!(pool.lock().queue.len(), MAX_IDLE);
    // The one that has waited longest is closed.
    let mut read = Vec::new();
    servers[0].read_to_end(&mut read).await.unwrap();
    assert_eq!(read, [7]);
}

/// Without a request, too.
#[tokio::test]
async fn unused_connections_are_closed() {
    let pool = Pool::new(Duration::from_millis(50));
    for _ in 0..2 {
        let (mut server, client) = connection(0).await;
        pool.put(client, Duration::MAX);
        let mut read = Vec::new();
        let closed = server.read_to_end(&mut read);
        tokio::time::timeout(Duration::from_secs(5), closed).await.expect("it stays").unwrap();
        assert!(!pool.lock().has_reaper);
    }
    // One that the server has closed goes earlier.
    let pool = Pool::new(Duration::from_secs(10));
    let (server, client) = connection(0).await;
    pool.put(client, Duration::MAX);
    drop(server);
    let is_empty = async {
        while !pool.lock().queue.is_empty() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(8), is_empty).await.expect("it stays");
}
