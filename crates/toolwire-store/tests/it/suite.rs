//! What every engine does alike.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bytes::Bytes;
use toolwire_store::{
    Cap, Item, ItemPage, Lease, Limits, NewResponse, NewThread, Order, Page, Status, Store,
    StoreError, Tenant, ThreadKind, Update, Write, random_id,
};

use crate::engines::{Subject, TTL, prune_all, run, subjects, subjects_with};

const SESSION: ThreadKind = ThreadKind::Session;
const CONVERSATION: ThreadKind = ThreadKind::Conversation;

fn tenant() -> Tenant {
    Tenant::of_key("mine")
}

fn items(names: &[&str]) -> Vec<Item> {
    names.iter().map(|name| Item::new(*name, format!("body of {name}"))).collect()
}

fn response(id: &str, previous: Option<&str>) -> NewResponse {
    NewResponse {
        previous: previous.map(str::to_owned),
        model: "model".to_owned(),
        internal: Bytes::from_static(b"internal"),
        input: items(&[&format!("{id}-in-1"), &format!("{id}-in-2")]),
        output: items(&[&format!("{id}-out")]),
        ..NewResponse::new(id, Status::Completed, format!("response {id}"))
    }
}

fn thread(kind: ThreadKind, id: &str, names: &[&str]) -> Write {
    let metadata = Bytes::from_static(b"{}");
    Write::Thread(NewThread { kind, id: id.to_owned(), metadata, items: items(names) })
}

fn append(kind: ThreadKind, id: &str, expected: Option<u64>, names: &[&str]) -> Write {
    Write::Append { kind, id: id.to_owned(), expected, items: items(names) }
}

fn page(after: Option<&str>, limit: usize, order: Order) -> Page {
    Page { after: after.map(str::to_owned), limit, order }
}

async fn write(store: &Store, writes: Vec<Write>) {
    store.write(&tenant(), writes).await.unwrap();
}

fn ids(page: &ItemPage) -> Vec<&str> {
    page.items.iter().map(|item| item.id.as_str()).collect()
}

/// However writes are put together, one that is refused does not touch the others.
#[test]
fn a_taken_id_is_refused_among_others() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            write(&store, vec![Write::Response(response("first", None))]).await;
            let tasks = (0..30).map(|number| {
                let id = if number % 10 == 5 { "first".to_owned() } else { format!("r{number}") };
                let new = Write::Response(response(&id, (id != "first").then_some("first")));
                let store = store.clone();
                tokio::spawn(async move { store.write(&tenant(), vec![new]).await })
            });
            for (number, task) in tasks.collect::<Vec<_>>().into_iter().enumerate() {
                let written = task.await.unwrap();
                if number % 10 == 5 {
                    assert_eq!(written, Err(StoreError::Conflict), "{name}");
                    continue;
                }
                assert_eq!(written, Ok(()), "{name}");
                let chain = store.chain(&tenant(), &format!("r{number}")).await.unwrap().unwrap();
                assert_eq!(chain.len(), 2, "{name}");
            }
        }
    });
}

/// Messages, what they replace and what is counted change together, and only in
/// the version that somebody has seen.
#[test]
fn a_turn_of_a_session_is_one_change() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            write(&store, vec![thread(SESSION, "s", &["system", "question"])]).await;
            let turn = |expected, names: &[&str], metadata: &'static str| {
                let (kind, id) = (SESSION, "s".to_owned());
                let item = "system".to_owned();
                let metadata = Bytes::from_static(metadata.as_bytes());
                vec![
                    append(kind, "s", Some(expected), names),
                    Write::RemoveItem { kind, id: id.clone(), item },
                    Write::Metadata { kind, id, metadata },
                ]
            };
            write(&store, turn(2, &["new system", "answer"], "{\"turns\":1}")).await;
            let seen = || async {
                let found = store.thread_with_items(&tenant(), SESSION, "s").await;
                found.unwrap().unwrap()
            };
            let (before, items) = seen().await;
            let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
            assert_eq!(ids, ["question", "new system", "answer"], "{name}");
            assert_eq!(before.metadata, "{\"turns\":1}", "{name}");
            assert_eq!((before.items, before.version > 2), (3, true), "{name}");
            // An older version, and a message that is gone.
            for expected in [2, before.version] {
                let late = turn(expected, &["late"], "{\"turns\":2}");
                assert!(store.write(&tenant(), late).await.is_err(), "{name} {expected}");
                assert_eq!(seen().await, (before.clone(), items.clone()), "{name} {expected}");
            }
        }
    });
}

#[test]
fn a_response_comes_back_as_it_went_in() {
    run(async {
        for Subject { store, clock, name, .. } in subjects().await {
            let body: Vec<u8> = (0..=255).cycle().take(100_000).collect();
            let mut new = response("resp_1", None);
            new.body = Bytes::from(body.clone());
            new.input[0].body = Bytes::from(body);
            new.input[1].body = Bytes::new();
            new.input[1].tag = "chat".to_owned();
            write(&store, vec![Write::Response(new.clone())]).await;
            assert_eq!(store.flush().await, Ok(()), "{name}");
            let found = store.response(&tenant(), "resp_1").await.unwrap().expect(name);
            assert_eq!((found.id, found.body, found.internal), (new.id, new.body, new.internal));
            assert_eq!((found.status, found.model.as_str()), (Status::Completed, "model"));
            assert_eq!((found.previous, found.conversation, found.owner), (None, None, None));
            assert_eq!(found.created, clock.now());
            assert_eq!(found.expires.0, clock.now().0 + 1_000_000);
            let chain = store.chain(&tenant(), "resp_1").await.unwrap().expect(name);
            assert_eq!(chain.len(), 1);
            assert_eq!((&chain[0].input, &chain[0].output), (&new.input, &new.output));
        }
    });
}

#[test]
fn a_chain_is_read_whole_and_may_branch() {
    run(async {
        for Subject { store, .. } in subjects().await {
            write(&store, vec![Write::Response(response("a", None))]).await;
            write(&store, vec![Write::Response(response("b", Some("a")))]).await;
            write(&store, vec![Write::Response(response("c", Some("b")))]).await;
            write(&store, vec![Write::Response(response("d", Some("a")))]).await;
            for (id, expected) in [("c", vec!["a", "b", "c"]), ("d", vec!["a", "d"])] {
                let chain = store.chain(&tenant(), id).await.unwrap().unwrap();
                let found: Vec<_> = chain.iter().map(|link| link.id.as_str()).collect();
                assert_eq!(found, expected);
                for link in &chain {
                    let new = response(&link.id, None);
                    assert_eq!((&link.input, &link.output), (&new.input, &new.output));
                    assert_eq!(link.internal, new.internal);
                }
            }
        }
    });
}

#[test]
fn a_chain_with_a_part_deleted_is_gone() {
    run(async {
        for Subject { store, .. } in subjects().await {
            write(&store, vec![Write::Response(response("a", None))]).await;
            write(&store, vec![Write::Response(response("b", Some("a")))]).await;
            write(&store, vec![Write::Response(response("c", Some("b")))]).await;
            assert!(store.delete_response(&tenant(), "b").await.unwrap());
            assert_eq!(store.chain(&tenant(), "c").await.unwrap(), None);
            assert!(store.response(&tenant(), "c").await.unwrap().is_some());
            assert!(store.chain(&tenant(), "a").await.unwrap().is_some());
        }
    });
}

/// Proves that an id of another tenant, an expired, a deleted, a malformed and
/// an unknown one cannot be told apart in any call.
#[test]
fn what_is_not_mine_is_not_there() {
    run(async {
        for Subject { store, clock, name, .. } in subjects().await {
            let other = Tenant::of_key("another");
            for (id, owner) in [("expired", tenant()), ("foreign", other), ("gone", tenant())] {
                if id == "foreign" {
                    clock.pass(TTL);
                }
                let lease = Lease { owner: "g".to_owned(), duration: TTL };
                let running = NewResponse {
                    status: Status::InProgress,
                    lease: Some(lease),
                    ..response(id, None)
                };
                let writes = vec![
                    Write::Response(running),
                    thread(SESSION, id, &["x"]),
                    thread(CONVERSATION, id, &["x"]),
                ];
                store.write(&owner, writes).await.unwrap();
            }
            for kind in [SESSION, CONVERSATION] {
                assert!(store.delete_thread(&tenant(), kind, "gone").await.unwrap());
            }
            assert!(store.delete_response(&tenant(), "gone").await.unwrap());
            let long = "x".repeat(100_000);
            for id in ["foreign", "expired", "gone", "unknown", "", "\0", "nul\0nul", &long] {
                nothing_there(&store, id, name).await;
            }
        }
    });
}

async fn nothing_there(store: &Store, id: &str, name: &str) {
    let mine = &tenant();
    let all = page(None, 10, Order::OldestFirst);
    assert_eq!(store.response(mine, id).await, Ok(None), "{name} {id}");
    assert_eq!(store.chain(mine, id).await, Ok(None), "{name} {id}");
    assert_eq!(store.input_items(mine, id, &all).await, Ok(None), "{name} {id}");
    assert_eq!(store.events(mine, id, None, 10).await, Ok(None), "{name} {id}");
    assert_eq!(store.item(mine, &format!("{id}-out")).await, Ok(None), "{name} {id}");
    assert_eq!(store.delete_response(mine, id).await, Ok(false), "{name} {id}");
    let update = Update {
        id: id.to_owned(),
        owner: None,
        status: Status::Cancelled,
        body: Bytes::new(),
        output: Vec::new(),
        events: None,
    };
    let events =
        Write::Events { id: id.to_owned(), owner: "g".to_owned(), first: 0, events: Vec::new() };
    for write in [Write::Update(update), events] {
        assert_eq!(store.write(mine, vec![write]).await, Err(StoreError::NotFound), "{name} {id}");
    }
    for kind in [SESSION, CONVERSATION] {
        assert_eq!(store.thread(mine, kind, id).await, Ok(None), "{name} {id}");
        assert_eq!(store.thread_with_items(mine, kind, id).await, Ok(None), "{name} {id}");
        assert_eq!(store.thread_items(mine, kind, id, &all).await, Ok(None), "{name} {id}");
        assert_eq!(store.delete_thread(mine, kind, id).await, Ok(false), "{name} {id}");
        assert_eq!(store.threads(mine, kind, &all).await.unwrap().threads, [], "{name} {id}");
        let after = page(Some(id), 10, Order::OldestFirst);
        assert_eq!(store.threads(mine, kind, &after).await, Err(StoreError::Cursor), "{name} {id}");
        let metadata = Bytes::new();
        for write in [
            append(kind, id, None, &["y"]),
            Write::Metadata { kind, id: id.to_owned(), metadata },
            Write::RemoveItem { kind, id: id.to_owned(), item: "x".to_owned() },
        ] {
            let refused = store.write(mine, vec![write]).await;
            assert_eq!(refused, Err(StoreError::NotFound), "{name} {id}");
        }
    }
}

#[test]
fn ids_cannot_be_guessed() {
    let make = || (0..300).map(|_| random_id("resp_").unwrap()).collect::<Vec<_>>();
    let threads = [(); 2].map(|()| std::thread::spawn(make));
    let ids = threads.into_iter().flat_map(|thread| thread.join().unwrap());
    let ids: Vec<_> = ids.chain(make()).collect();
    let mut seen = BTreeSet::new();
    for id in &ids {
        let digits = id.strip_prefix("resp_").unwrap();
        assert!(digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        // What is in front of it is the time.
        let random = &digits[digits.len() - 2 * 18..];
        assert!(random.len() * 4 >= 128 && seen.insert(random), "{id} comes again");
        for half in [&random[..18], &random[18..]] {
            assert!(seen.insert(half), "half of {id} comes again");
        }
    }
}

#[test]
fn input_items_come_in_pages() {
    run(async {
        for Subject { store, .. } in subjects().await {
            let names = ["1", "2", "3", "4", "5"];
            let new = NewResponse { input: items(&names), ..response("r", None) };
            write(&store, vec![Write::Response(new)]).await;
            for (after, limit, order, expected, more) in [
                (None, 2, Order::OldestFirst, vec!["1", "2"], true),
                (Some("2"), 2, Order::OldestFirst, vec!["3", "4"], true),
                (Some("4"), 2, Order::OldestFirst, vec!["5"], false),
                (Some("3"), 2, Order::OldestFirst, vec!["4", "5"], false),
                (Some("5"), 2, Order::OldestFirst, vec![], false),
                (None, 2, Order::NewestFirst, vec!["5", "4"], true),
                (Some("4"), 3, Order::NewestFirst, vec!["3", "2", "1"], false),
                (None, 5, Order::NewestFirst, vec!["5", "4", "3", "2", "1"], false),
            ] {
                let found = store.input_items(&tenant(), "r", &page(after, limit, order)).await;
                let found = found.unwrap().unwrap();
                assert_eq!((ids(&found), found.more), (expected, more));
            }
            for after in ["nothing", "", "\0", "r-out"] {
                let after = page(Some(after), 2, Order::OldestFirst);
                let found = store.input_items(&tenant(), "r", &after).await;
                assert_eq!(found, Err(StoreError::Cursor));
            }
        }
    });
}

#[test]
fn an_item_is_found_by_its_id() {
    run(async {
        for Subject { store, .. } in subjects().await {
            write(&store, vec![Write::Response(response("r", None))]).await;
            write(&store, vec![thread(CONVERSATION, "c", &["entry"])]).await;
            for id in ["r-in-2", "r-out", "entry"] {
                let found = store.item(&tenant(), id).await.unwrap();
                assert_eq!(found, Some(items(&[id]).remove(0)));
            }
            let newer =
                NewResponse { input: vec![Item::new("r-out", "newer")], ..response("s", None) };
            write(&store, vec![Write::Response(newer)]).await;
            let found = store.item(&tenant(), "r-out").await.unwrap().unwrap();
            assert_eq!(found.body, "newer");
        }
    });
}

#[test]
fn a_thread_grows_and_shrinks() {
    run(async {
        for Subject { store, clock, .. } in subjects().await {
            write(&store, vec![thread(SESSION, "s", &["1", "2"])]).await;
            clock.pass(Duration::from_secs(5));
            write(&store, vec![append(SESSION, "s", Some(2), &["3"])]).await;
            let (found, entries) =
                store.thread_with_items(&tenant(), SESSION, "s").await.unwrap().unwrap();
            assert_eq!(entries, items(&["1", "2", "3"]));
            assert_eq!((found.version, found.items), (3, 3));
            assert_eq!(found.updated, clock.now());
            assert_eq!(found.expires.0, clock.now().0 + 1_000_000);
            assert_eq!(found.bytes, 2 + 3 * 10);

            let (kind, id) = (SESSION, "s".to_owned());
            let metadata = Bytes::from_static(b"other");
            write(&store, vec![Write::Metadata { kind, id: id.clone(), metadata }]).await;
            write(&store, vec![Write::RemoveItem { kind, id, item: "2".to_owned() }]).await;
            write(&store, vec![append(SESSION, "s", None, &["4"])]).await;
            let (found, entries) =
                store.thread_with_items(&tenant(), SESSION, "s").await.unwrap().unwrap();
            assert_eq!(entries, items(&["1", "3", "4"]));
            assert_eq!((found.version, found.items, found.bytes), (5, 3, 5 + 3 * 10));
            assert_eq!(found.metadata, "other");
            let usage = store.usage(&tenant()).await.unwrap();
            assert_eq!((usage.records, usage.bytes), (1, found.bytes));
        }
    });
}

#[test]
fn turns_never_interleave() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            write(&store, vec![thread(SESSION, "s", &[])]).await;
            let tasks: Vec<_> = (0..32)
                .map(|number| {
                    let store = store.clone();
                    tokio::spawn(async move {
                        let name = format!("t{number}");
                        let turn = append(SESSION, "s", Some(0), &[&name, &name]);
                        store.write(&tenant(), vec![turn]).await
                    })
                })
                .collect();
            let mut written = 0;
            for task in tasks {
                match task.await.unwrap() {
                    Ok(()) => written += 1,
                    Err(error) => assert_eq!(error, StoreError::Conflict, "{name}"),
                }
            }
            assert_eq!(written, 1, "{name}");
            let (found, entries) =
                store.thread_with_items(&tenant(), SESSION, "s").await.unwrap().unwrap();
            assert_eq!((found.version, entries.len()), (2, 2), "{name}");
            assert_eq!(entries[0].id, entries[1].id, "{name}");
        }
    });
}

#[test]
fn a_write_is_whole_or_absent() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            write(&store, vec![thread(CONVERSATION, "c", &["1"])]).await;
            let before = store.stats().await.unwrap();
            for last in [
                append(CONVERSATION, "c", Some(0), &["2"]),
                append(CONVERSATION, "nothing", None, &["2"]),
                thread(CONVERSATION, "c", &[]),
                Write::Response(response("r", None)),
            ] {
                let mut stored = response("r", None);
                stored.conversation = Some("c".to_owned());
                let writes =
                    vec![append(CONVERSATION, "c", None, &["2"]), Write::Response(stored), last];
                assert!(store.write(&tenant(), writes).await.is_err(), "{name}");
                assert_eq!(store.response(&tenant(), "r").await, Ok(None), "{name}");
                assert_eq!(store.stats().await.unwrap(), before, "{name}");
            }
            let whole =
                vec![append(CONVERSATION, "c", None, &["2"]), Write::Response(response("r", None))];
            write(&store, whole).await;
            assert!(store.response(&tenant(), "r").await.unwrap().is_some());
        }
    });
}

#[test]
fn an_id_is_taken_until_it_expires() {
    run(async {
        for Subject { store, clock, name, .. } in subjects().await {
            write(&store, vec![thread(SESSION, "s", &["old"])]).await;
            let again = store.write(&tenant(), vec![thread(SESSION, "s", &["new"])]).await;
            assert_eq!(again, Err(StoreError::Conflict), "{name}");
            clock.pass(TTL);
            write(&store, vec![thread(SESSION, "s", &["new"])]).await;
            let (_, entries) =
                store.thread_with_items(&tenant(), SESSION, "s").await.unwrap().unwrap();
            assert_eq!(entries, items(&["new"]));
        }
    });
}

#[test]
fn events_are_numbered_and_can_be_resumed() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            let lease = Lease { owner: "g1".to_owned(), duration: Duration::from_secs(30) };
            let queued = NewResponse {
                status: Status::Queued,
                lease: Some(lease),
                output: Vec::new(),
                ..response("r", None)
            };
            write(&store, vec![Write::Response(queued)]).await;
            let events = |owner: &str, first, events: &[&'static str]| Write::Events {
                id: "r".to_owned(),
                owner: owner.to_owned(),
                first,
                events: events.iter().map(|event| Bytes::from(*event)).collect(),
            };
            write(&store, vec![events("g1", 0, &["zero", "one"])]).await;
            write(&store, vec![events("g1", 2, &["two"])]).await;
            for wrong in [events("g2", 3, &["x"]), events("g1", 2, &["x"]), events("g1", 4, &["x"])]
            {
                let refused = store.write(&tenant(), vec![wrong]).await;
                assert_eq!(refused, Err(StoreError::Conflict), "{name}");
            }
            let end = Update {
                id: "r".to_owned(),
                owner: Some("g1".to_owned()),
                status: Status::Completed,
                body: Bytes::from_static(b"complete"),
                output: items(&["out"]),
                events: Some((3, vec![Bytes::from_static(b"three")])),
            };
            write(&store, vec![Write::Update(end.clone())]).await;
            let found = store.events(&tenant(), "r", Some(0), 2).await.unwrap().unwrap();
            assert_eq!(found.status, Status::Completed);
            assert_eq!(found.events, [(1, Bytes::from("one")), (2, Bytes::from("two"))]);
            assert!(found.more);
            let found = store.events(&tenant(), "r", Some(2), 2).await.unwrap().unwrap();
            assert_eq!((found.events, found.more), (vec![(3, Bytes::from("three"))], false));
            let all = store.events(&tenant(), "r", None, 10).await.unwrap().unwrap();
            assert_eq!(all.events.len(), 4);
            let chain = store.chain(&tenant(), "r").await.unwrap().unwrap();
            assert_eq!(chain[0].output, items(&["out"]));
            let found = store.response(&tenant(), "r").await.unwrap().unwrap();
            assert_eq!((found.body.as_ref(), found.owner), (&b"complete"[..], None));
            for late in [Write::Update(end), events("g1", 4, &["x"])] {
                let refused = store.write(&tenant(), vec![late]).await;
                assert_eq!(refused, Err(StoreError::Conflict), "{name}");
            }
        }
    });
}

#[test]
fn abandoned_work_is_claimed_once() {
    run(async {
        for Subject { store, clock, name, .. } in subjects().await {
            let lease =
                |owner: &str| Lease { owner: owner.to_owned(), duration: Duration::from_secs(30) };
            for (id, owner) in [("a", "g1"), ("b", "g1"), ("c", "g2")] {
                let running = NewResponse {
                    status: Status::InProgress,
                    lease: Some(lease(owner)),
                    ..response(id, None)
                };
                write(&store, vec![Write::Response(running)]).await;
            }
            assert_eq!(store.claim_abandoned(&lease("g3"), 10).await.unwrap(), []);
            clock.pass(Duration::from_secs(20));
            let renew = async |owner: &str, ids: &[&str]| {
                let ids: Vec<_> = ids.iter().map(|id| (*id).to_owned()).collect();
                store.renew(&lease(owner), &ids).await.unwrap()
            };
            assert_eq!(renew("g1", &["b", "a", "c", "x"]).await, ["a", "b"]);
            clock.pass(Duration::from_secs(20));
            let claimed = store.claim_abandoned(&lease("g3"), 10).await.unwrap();
            assert_eq!(claimed.len(), 1, "{name}");
            assert_eq!((&claimed[0].tenant, claimed[0].next_event), (&tenant(), 0));
            assert_eq!(
                (claimed[0].response.id.as_str(), &claimed[0].response.body[..]),
                ("c", &b"response c"[..])
            );
            assert_eq!(store.claim_abandoned(&lease("g4"), 10).await.unwrap(), []);
            assert_eq!(renew("g2", &["c"]).await, Vec::<String>::new());
            assert_eq!(store.stats().await.unwrap().running, 3);
            // A gateway says of one of its responses alone that it works on it.
            assert_eq!(renew("g1", &["b"]).await, ["b"]);
            clock.pass(Duration::from_secs(20));
            let claimed = store.claim_abandoned(&lease("g4"), 10).await.unwrap();
            let claimed: Vec<_> = claimed.iter().map(|found| found.response.id.as_str()).collect();
            assert_eq!(claimed, ["a"], "{name}");
        }
    });
}

#[test]
fn a_chain_lives_as_long_as_its_newest_part() {
    run(async {
        for Subject { store, clock, name, .. } in subjects().await {
            write(&store, vec![Write::Response(response("a", None))]).await;
            write(&store, vec![Write::Response(response("lonely", None))]).await;
            clock.pass(TTL / 2);
            write(&store, vec![Write::Response(response("b", Some("a")))]).await;
            clock.pass(TTL / 2);
            assert_eq!(store.response(&tenant(), "a").await, Ok(None), "{name}");
            assert_eq!(store.stats().await.unwrap().expired, 2, "{name}");
            assert_eq!(store.prune(10).await, Ok(1), "{name}");
            assert_eq!(store.prune(10).await, Ok(0), "{name}");
            let chain = store.chain(&tenant(), "b").await.unwrap().unwrap();
            assert_eq!(chain.len(), 2, "{name}");
            clock.pass(TTL / 2);
            assert_eq!(store.chain(&tenant(), "b").await, Ok(None), "{name}");
            assert_eq!(store.prune(10).await, Ok(1), "{name}");
            let stats = store.stats().await.unwrap();
            assert_eq!((stats.responses, stats.bytes, stats.items), (0, 0, 0), "{name}");
        }
    });
}

#[test]
fn pruning_takes_bounded_steps() {
    run(async {
        for Subject { store, clock, name, .. } in subjects().await {
            for number in 0..25 {
                write(&store, vec![thread(SESSION, &format!("s{number}"), &["1"])]).await;
            }
            clock.pass(TTL);
            assert!(store.prune(10).await.unwrap() > 0, "{name}");
            let left = store.stats().await.unwrap().sessions;
            assert!((15..25).contains(&left), "{name}");
            assert_eq!(prune_all(&store, 10).await, left, "{name}");
            assert_eq!(store.stats().await.unwrap().sessions, 0, "{name}");
        }
    });
}

#[test]
fn limits_are_kept() {
    run(async {
        let limits = Limits { value: 100, read: 150, tenant: 300, total: 400 };
        for Subject { store, name, .. } in
            subjects_with(|options| options.limits = limits.clone()).await
        {
            let item = |length| vec![Item::new("i", vec![b'x'; length])];
            let add = |id: &str, length| {
                let (kind, id) = (SESSION, id.to_owned());
                let metadata = Bytes::new();
                vec![Write::Thread(NewThread { kind, id, metadata, items: item(length) })]
            };
            let too_large = |cap, limit| Err(StoreError::TooLarge { cap, limit });
            let mine = tenant();
            let other = Tenant::of_key("another");
            assert_eq!(
                store.write(&mine, add("1", 101)).await,
                too_large(Cap::Value, 100),
                "{name}"
            );
            assert_eq!(store.write(&mine, add("1", 99)).await, Ok(()), "{name}");
            assert_eq!(store.write(&mine, add("2", 99)).await, Ok(()), "{name}");
            let append = Write::Append {
                kind: SESSION,
                id: "1".to_owned(),
                expected: None,
                items: item(99),
            };
            assert_eq!(store.write(&mine, vec![append]).await, Ok(()), "{name}");
            assert_eq!(
                store.write(&mine, add("3", 0)).await,
                too_large(Cap::Tenant, 300),
                "{name}"
            );
            let whole = store.thread_with_items(&mine, SESSION, "1").await;
            assert_eq!(whole.map(|_| ()), too_large(Cap::Read, 150), "{name}");
            assert_eq!(store.write(&other, add("1", 99)).await, Ok(()), "{name}");
            assert_eq!(
                store.write(&other, add("2", 99)).await,
                too_large(Cap::Total, 400),
                "{name}"
            );
            assert_eq!(store.delete_thread(&mine, SESSION, "1").await, Ok(true), "{name}");
            assert_eq!(store.write(&other, add("2", 99)).await, Ok(()), "{name}");
        }
    });
}

/// An item comes alone, however long the rest of its response is.
#[test]
fn an_item_does_not_keep_its_response_in_memory() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            let items = vec![Item::new("short", "x"), Item::new("long", vec![b'x'; 100_000])];
            let response = NewResponse {
                input: items,
                ..NewResponse::new("resp_1", Status::Completed, r#"{"object":"response"}"#)
            };
            store.write(&tenant(), vec![Write::Response(response)]).await.unwrap();
            let found = store.item(&tenant(), "short").await.unwrap().unwrap();
            assert_eq!(found, Item::new("short", "x"), "{name}");
            // Nobody else has these bytes, so this is the memory that they are in.
            let memory = Vec::from(found.body);
            assert!(memory.capacity() < 1000, "{name}: {}", memory.capacity());
        }
    });
}

#[test]
fn a_chain_for_which_there_is_no_room() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            for (id, previous) in [("resp_1", None), ("resp_2", Some("resp_1"))] {
                let response = NewResponse {
                    previous: previous.map(str::to_owned),
                    input: vec![Item::new(format!("of_{id}"), vec![b'x'; 1000])],
                    ..NewResponse::new(id, Status::Completed, r#"{"object":"response"}"#)
                };
                store.write(&tenant(), vec![Write::Response(response)]).await.unwrap();
            }
            let within = async |limit| {
                let chain = store.chain_within(&tenant(), "resp_2", limit).await;
                chain.map(|chain| chain.map(|chain| chain.len()))
            };
            assert_eq!(within(3000).await, Ok(Some(2)), "{name}");
            let refused = StoreError::TooLarge { cap: Cap::Read, limit: 2000 };
            assert_eq!(within(2000).await, Err(refused), "{name}");
        }
    });
}

/// Proves that writes at the same time do not exceed a limit together, and that those which
/// fail or are given up leave the count as it is.
#[test]
fn limits_are_kept_by_writes_at_the_same_time() {
    run(async {
        let limits = Limits { tenant: 100_000, ..Limits::default() };
        for Subject { store, name, .. } in
            subjects_with(|options| options.limits = limits.clone()).await
        {
            let writes = (0..100).map(|number| {
                let (store, body) = (store.clone(), vec![b'x'; 10_000]);
                let new = NewResponse::new(format!("r{number}"), Status::Completed, body);
                tokio::spawn(async move {
                    store.write(&tenant(), vec![Write::Response(new)]).await.is_ok()
                })
            });
            let mut stored = 0;
            for write in writes.collect::<Vec<_>>() {
                stored += usize::from(write.await.unwrap());
            }
            assert_eq!(stored, 10, "{name}");
            assert_eq!(store.usage(&tenant()).await.unwrap().bytes, 100_000, "{name}");
            for number in 0..100 {
                if store.delete_response(&tenant(), &format!("r{number}")).await.unwrap() {
                    break;
                }
            }
            let new = |id: &str, length| {
                let new = NewResponse::new(id, Status::Completed, vec![b'x'; length]);
                vec![Write::Response(new)]
            };
            // A count that was made among so many writes may have some of them twice, and
            // is used for a second.
            let began = Instant::now();
            while let Err(error) = store.write(&tenant(), new("other", 1000)).await {
                assert!(
                    matches!(error, StoreError::TooLarge { cap: Cap::Tenant, .. }),
                    "{name}: {error}"
                );
                assert!(began.elapsed().as_secs() < 10, "{name}: the room does not come back");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            for _ in 0..20 {
                let conflict = store.write(&tenant(), new("other", 5000)).await;
                assert_eq!(conflict, Err(StoreError::Conflict), "{name}");
            }
        }
    });
}

#[test]
fn a_trial_leaves_nothing_behind() {
    run(async {
        for Subject { store, clock, name, .. } in subjects().await {
            write(&store, vec![Write::Response(response("a", None))]).await;
            let before = store.stats().await.unwrap();
            assert_eq!(store.try_to_write().await, Ok(()), "{name}");
            assert_eq!(store.stats().await.unwrap(), before, "{name}");
            clock.pass(TTL);
            assert_eq!(store.prune(10).await, Ok(1), "{name}");
            assert_eq!(store.prune(10).await, Ok(0), "{name}");
        }
    });
}

#[test]
fn text_that_no_engine_can_keep_is_refused() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            let long = "x".repeat(2000);
            for bad in ["nul\0", &long] {
                let mut writes = vec![thread(SESSION, bad, &[]), thread(SESSION, "s", &[bad])];
                writes.push(Write::Response(response(bad, None)));
                writes.push(Write::Response(response("r", Some(bad))));
                let model = NewResponse { model: bad.to_owned(), ..response("r", None) };
                writes.push(Write::Response(model));
                for write in writes {
                    let refused = store.write(&tenant(), vec![write]).await;
                    assert!(matches!(refused, Err(StoreError::Invalid(_))), "{name}: {refused:?}");
                }
            }
        }
    });
}

#[test]
fn threads_are_listed_in_pages() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            for id in ["1", "2", "3"] {
                write(&store, vec![thread(SESSION, id, &["x"])]).await;
                write(&store, vec![thread(CONVERSATION, id, &[])]).await;
            }
            for (after, limit, order, expected, more) in [
                (None, 2, Order::NewestFirst, vec!["3", "2"], true),
                (Some("2"), 2, Order::NewestFirst, vec!["1"], false),
                (None, 3, Order::OldestFirst, vec!["1", "2", "3"], false),
                (Some("1"), 1, Order::OldestFirst, vec!["2"], true),
            ] {
                let found = store.threads(&tenant(), SESSION, &page(after, limit, order)).await;
                let found = found.unwrap();
                let ids: Vec<_> = found.threads.iter().map(|thread| thread.id.as_str()).collect();
                assert_eq!((ids, found.more), (expected, more), "{name}");
                assert!(found.threads.iter().all(|thread| thread.items == 1), "{name}");
            }
        }
    });
}
