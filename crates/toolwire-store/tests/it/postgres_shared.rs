//! Parts of bodies in a database that several gateways share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio_postgres::NoTls;
use toolwire_store::{NewThread, Options, Store, Tenant, ThreadKind, Write};

use crate::engines::{TTL, TestClock, run};
use crate::postgres_server::{PostgresServer, execute, is_left_out, number};
use crate::shared::{part, with_part};

/// Two gateways with one database.
struct Gateways {
    stores: [Store; 2],
    clock: TestClock,
    url: String,
}

impl Gateways {
    async fn start() -> Self {
        let (clock, url) = (TestClock::new(), PostgresServer::shared().new_database().await);
        let open = || async {
            let mut options = Options::postgres(&url);
            (options.clock, options.ttl) = (clock.clock(), Some(TTL));
            Store::open(options).await.unwrap()
        };
        Self { stores: [open().await, open().await], clock, url }
    }

    async fn parts(&self) -> i64 {
        number(&self.url, "SELECT count(*) FROM toolwire_shared").await
    }
}

async fn write(store: &Store, id: &str) {
    let new = with_part(id, id, &part(), "}");
    store.write(&Tenant::single(), vec![Write::Response(new)]).await.unwrap();
}

async fn check(store: &Store, id: &str) {
    let found = store.response(&Tenant::single(), id).await.unwrap().unwrap();
    assert_eq!(found.body, with_part(id, id, &part(), "}").body, "{id}");
}

async fn delete(store: &Store, ids: &[&str]) {
    for id in ids {
        assert!(store.delete_response(&Tenant::single(), id).await.unwrap(), "{id}");
    }
}

/// Proves that a part is written once by each gateway, that no body has it, that every
/// gateway reads all of them, and that the parts go with the last records.
#[test]
fn a_part_is_kept_once_by_each_gateway() {
    if is_left_out() {
        return;
    }
    run(async {
        let gateways = Gateways::start().await;
        let [one, two] = &gateways.stores;
        let ids = ["a", "b", "c", "d", "e"].map(|id| [format!("{id}1"), format!("{id}2")]);
        let written = "SELECT sum(CAST(CAST(xmin AS TEXT) AS BIGINT))::bigint FROM toolwire_shared";
        let mut first_written = None;
        for [of_one, of_two] in &ids {
            write(one, of_one).await;
            write(two, of_two).await;
            if gateways.parts().await == 2 {
                let now = number(&gateways.url, written).await;
                assert_eq!(*first_written.get_or_insert(now), now, "written again");
            }
        }
        assert!(first_written.is_some());
        let long = "SELECT count(*) FROM toolwire_record WHERE octet_length(body) > 100";
        assert_eq!(number(&gateways.url, long).await, 2, "the first of each gateway");
        for id in ids.iter().flatten() {
            check(one, id).await;
            check(two, id).await;
        }
        let bytes = "SELECT sum(bytes)::bigint FROM toolwire_record";
        let whole = 10 * (part().len() + 3);
        assert_eq!(number(&gateways.url, bytes).await, i64::try_from(whole).unwrap());
        delete(two, &["a1", "b1", "c1", "d1"]).await;
        assert_eq!(two.prune(100).await, Ok(0));
        assert_eq!(gateways.parts().await, 2);
        delete(one, &["e1"]).await;
        assert_eq!(two.prune(100).await, Ok(0));
        assert_eq!(gateways.parts().await, 1);
        check(one, "e2").await;
        gateways.clock.pass(TTL);
        while one.prune(2).await.unwrap() > 0 {}
        assert_eq!(gateways.parts().await, 0);
    });
}

/// Proves that a gateway writes a part again that another has pruned, however the
/// response comes: alone, with many others, or with a conversation.
#[test]
fn a_part_that_was_pruned_is_written_again() {
    if is_left_out() {
        return;
    }
    run(async {
        let gateways = Gateways::start().await;
        let [one, two] = &gateways.stores;
        let prune = async || {
            two.prune(100).await.unwrap();
            assert_eq!(gateways.parts().await, 0);
        };
        write(one, "a").await;
        write(one, "b").await;
        delete(one, &["a", "b"]).await;
        prune().await;

        write(one, "c").await;
        assert_eq!(gateways.parts().await, 1);
        check(one, "c").await;
        delete(one, &["c"]).await;
        prune().await;

        let ids: Vec<_> = (0..40).map(|number| format!("r{number}")).collect();
        let together = ids.iter().cloned().map(|id| {
            let store = one.clone();
            tokio::spawn(async move { write(&store, &id).await })
        });
        for task in together.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        assert_eq!(gateways.parts().await, 1);
        for id in &ids {
            check(two, id).await;
            delete(one, &[id]).await;
        }
        prune().await;

        let (kind, id) = (ThreadKind::Conversation, "conversation".to_owned());
        let thread = NewThread { kind, id, metadata: "{}".into(), items: Vec::new() };
        let new = with_part("d", "d", &part(), "}");
        let writes = vec![Write::Thread(thread), Write::Response(new)];
        one.write(&Tenant::single(), writes).await.unwrap();
        assert_eq!(gateways.parts().await, 1);
        check(two, "d").await;
    });
}

/// Proves that whoever prunes neither takes a part that a record is about to have nor
/// waits for it.
#[test]
fn a_part_in_use_is_left_alone() {
    if is_left_out() {
        return;
    }
    run(async {
        let gateways = Gateways::start().await;
        let [one, two] = &gateways.stores;
        write(one, "a").await;
        write(one, "b").await;
        let (client, connection) = tokio_postgres::connect(&gateways.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let copy = "BEGIN; INSERT INTO toolwire_record (lineage, tenant, kind, id, created, updated, expires, \
                    status, model, next, items, bytes, context, internal, body, shared, shared_at) SELECT lineage, \
                    tenant, kind, 'copy', created, updated, expires, status, model, next, items, bytes, context, \
                    internal, body, shared, shared_at FROM toolwire_record WHERE id = 'b'; SAVEPOINT copied";
        client.batch_execute(copy).await.unwrap();
        delete(one, &["a", "b"]).await;
        let start = Instant::now();
        assert_eq!(two.prune(100).await, Ok(0));
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_eq!(gateways.parts().await, 1);
        client.batch_execute("COMMIT").await.unwrap();
        assert_eq!(two.prune(100).await, Ok(0));
        let found = two.response(&Tenant::single(), "copy").await.unwrap().unwrap();
        assert_eq!(found.body, with_part("b", "b", &part(), "}").body);
        delete(one, &["copy"]).await;
        assert_eq!(two.prune(100).await, Ok(0));
        assert_eq!(gateways.parts().await, 0);
    });
}

/// Proves that each step looks at a bounded number of parts, and that the steps come to
/// all of them.
#[test]
fn parts_are_pruned_in_bounded_steps() {
    if is_left_out() {
        return;
    }
    run(async {
        let gateways = Gateways::start().await;
        let [store, _] = &gateways.stores;
        write(store, "a").await;
        let parts = "INSERT INTO toolwire_shared SELECT n, '' FROM generate_series(1, 2500) AS n; INSERT INTO \
                     toolwire_record (lineage, tenant, kind, id, created, updated, expires, status, model, next, \
                     items, bytes, context, internal, body, shared, shared_at) SELECT lineage, tenant, kind, \
                     CAST(n AS TEXT), created, updated, expires, status, model, next, items, bytes, context, \
                     internal, body, n, 0 FROM toolwire_record CROSS JOIN generate_series(1, 1200) AS n";
        execute(&gateways.url, parts).await;
        let mut left = Vec::new();
        for _ in 0..6 {
            assert_eq!(store.prune(100).await, Ok(0));
            left.push(gateways.parts().await);
        }
        assert_eq!(left, [2500, 1700, 1200, 1200, 1200, 1200]);
    });
}

/// Proves that nothing is lost or refused while parts come and go.
#[test]
fn writes_go_on_while_another_gateway_prunes() {
    if is_left_out() {
        return;
    }
    run(async {
        let gateways = Gateways::start().await;
        let [one, two] = &gateways.stores;
        let is_over = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for task in 0..6 {
            let (store, other, is_over) = (one.clone(), two.clone(), Arc::clone(&is_over));
            tasks.push(tokio::spawn(async move {
                let tenant = Tenant::of_key(["x", "y", "z"][task % 3]);
                let mut number = 0;
                while !is_over.load(Ordering::SeqCst) {
                    number += 1;
                    let id = format!("{task}-{number}");
                    let new = with_part(&id, &id, &part(), "}");
                    let body = new.body.clone();
                    store.write(&tenant, vec![Write::Response(new)]).await.unwrap();
                    let found = other.response(&tenant, &id).await.unwrap();
                    assert_eq!(found.unwrap().body, body);
                    assert!(other.delete_response(&tenant, &id).await.unwrap());
                }
            }));
        }
        // The server counts now and then, so it is not asked each time.
        let pruned = "SELECT n_tup_del FROM pg_stat_user_tables WHERE relname = 'toolwire_shared'";
        let start = Instant::now();
        while number(&gateways.url, pruned).await < 20 {
            assert!(start.elapsed() < Duration::from_secs(60), "hardly any part was pruned");
            for _ in 0..200 {
                assert_eq!(two.prune(100).await, Ok(0));
            }
        }
        is_over.store(true, Ordering::SeqCst);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(two.prune(100).await, Ok(0));
        assert_eq!(gateways.parts().await, 0);
    });
}
