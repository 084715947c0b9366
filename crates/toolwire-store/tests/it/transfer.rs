//! Copying a store into another one.

use std::time::Duration;

use bytes::Bytes;
use toolwire_store::{
    Imported, Item, Lease, NewResponse, NewThread, Options, Status, Store, Tenant, ThreadKind,
    TransferError, Write,
};

use crate::engines::{Subject, TTL, prune_all, run, subjects};

/// Fills a store with one of everything.
async fn fill(store: &Store) {
    for key in ["one", "two"] {
        let tenant = Tenant::of_key(key);
        let lease = Lease { owner: "g".to_owned(), duration: Duration::from_secs(30) };
        let first = NewResponse {
            model: "modèle \"m\"\n".to_owned(),
            internal: Bytes::from_static(&[0, 159, 146, 150]),
            input: vec![
                Item::new("i1", r#"{"n":1.0, "big":12345678901234567890, "e":"\u00e9é"}"#),
                Item { tag: "chat".to_owned(), ..Item::new("i2", vec![0xff, 0x00, 0x7f]) },
            ],
            output: vec![Item::new("o", "\u{2028}\r\n\t\"\\")],
            ..NewResponse::new("r1", Status::Completed, "{\"a\" : 1e2}")
        };
        let second = NewResponse {
            previous: Some("r1".to_owned()),
            conversation: Some("c".to_owned()),
            lease: Some(lease),
            ..NewResponse::new("r2", Status::InProgress, "")
        };
        let thread = |kind, id: &str| {
            let (metadata, items) = (Bytes::from_static(b"{}"), vec![Item::new("e", "entry")]);
            Write::Thread(NewThread { kind, id: id.to_owned(), metadata, items })
        };
        let event = Bytes::from_static(b"event: x\n\n");
        let (id, owner) = ("r2".to_owned(), "g".to_owned());
        let writes = vec![
            Write::Response(first),
            Write::Response(second),
            Write::Events { id, owner, first: 0, events: vec![event] },
            thread(ThreadKind::Conversation, "c"),
            thread(ThreadKind::Session, "s"),
        ];
        store.write(&tenant, writes).await.unwrap();
    }
}

async fn export(store: &Store) -> Vec<u8> {
    let mut file = Vec::new();
    let records = store.export(&mut file).await.unwrap();
    let stats = store.stats().await.unwrap();
    assert_eq!(records, stats.responses + stats.conversations + stats.sessions);
    file
}

/// Proves that a copy of a copy is the same to the byte, from every engine into
/// every other.
#[test]
fn a_copy_has_every_byte() {
    run(async {
        for Subject { store, name: from, .. } in subjects().await {
            fill(&store).await;
            let file = export(&store).await;
            let text = String::from_utf8(file.clone()).unwrap();
            assert!(text.starts_with("{\"toolwire_store\":1}\n"), "{text}");
            for Subject { store: copy, clock: copy_clock, name: to, .. } in subjects().await {
                let imported = copy.import(&file[..]).await.unwrap();
                assert_eq!(imported, Imported { stored: 8, present: 0 }, "{from} to {to}");
                assert_eq!(export(&copy).await, file, "{from} to {to}");
                let again = copy.import(&file[..]).await.unwrap();
                assert_eq!(again, Imported { stored: 0, present: 8 }, "{from} to {to}");
                assert_eq!(export(&copy).await, file, "{from} to {to}");
                let tenant = Tenant::of_key("one");
                assert_eq!(copy.chain(&tenant, "r2").await, store.chain(&tenant, "r2").await);
                assert_eq!(copy.usage(&tenant).await, store.usage(&tenant).await);
                let stats = [copy.stats().await.unwrap(), store.stats().await.unwrap()];
                assert_eq!(stats[0].items, stats[1].items, "{from} to {to}");
                // A chain of two and two threads for each of the two tenants.
                copy_clock.pass(TTL);
                assert_eq!(prune_all(&copy, 100).await, 6, "{from} to {to}");
            }
        }
    });
}

/// Proves that a copy is whole which is written and read in several pages.
#[test]
fn a_copy_may_be_of_several_pages() {
    run(async {
        for Subject { store, name: from, .. } in subjects().await {
            let mut previous = None;
            for number in 0..40 {
                let id = format!("r{number}");
                let response = NewResponse {
                    previous: previous.replace(id.clone()),
                    ..NewResponse::new(&id, Status::Completed, format!("{number}"))
                };
                store.write(&Tenant::single(), vec![Write::Response(response)]).await.unwrap();
            }
            let file = export(&store).await;
            for Subject { store: copy, name: to, .. } in subjects().await {
                let imported = copy.import(&file[..]).await.unwrap();
                assert_eq!(imported, Imported { stored: 40, present: 0 }, "{from} to {to}");
                assert_eq!(export(&copy).await, file, "{from} to {to}");
                let chain = copy.chain(&Tenant::single(), "r39").await.unwrap().unwrap();
                assert_eq!(chain.len(), 40, "{from} to {to}");
            }
        }
    });
}

#[test]
fn a_broken_export_is_refused() {
    run(async {
        let store = Store::open(Options::memory()).await.unwrap();
        fill(&store).await;
        let file = String::from_utf8(export(&store).await).unwrap();
        let lines: Vec<_> = file.lines().collect();
        let last = lines.len() - 1;
        let cut = lines[..last].join("\n");
        let without_a_record = [&lines[..1], &lines[last..]].concat().join("\n");
        let without_a_header = lines[1..].join("\n");
        let newer = file.replacen(":1}", ":2}", 1);
        let nothing = String::new();
        for (broken, reason) in [
            (cut, "the file ends early"),
            (without_a_record, "records are missing"),
            (without_a_header, "not an export"),
            (newer, "a newer toolwire"),
            (nothing, "the file ends early"),
            ("{}\n".to_owned(), "neither a record nor an item"),
            (format!("{}\n[\n", lines[0]), "not JSON"),
            (format!("{}\n{}\n", lines[0], lines[2]), "an item without its record"),
            (format!("{file}{}\n{}\n", lines[0], lines[2]), "an item without its record"),
            (format!("{file}garbage\n"), "something behind the end"),
            (format!("{file}{}\n", lines[1]), "something behind the end"),
            (format!("{file}{}\n", lines[0]), "the file ends early"),
            (format!("{}\n{file}", lines[..last].join("\n")), "a second beginning"),
            ("SQLite format 3\0".to_owned(), "a SQLite file"),
        ] {
            let copy = Store::open(Options::memory()).await.unwrap();
            let error = copy.import(broken.as_bytes()).await.unwrap_err();
            assert!(matches!(error, TransferError::Malformed { .. }), "{error}");
            assert!(error.to_string().contains(reason), "{error} instead of {reason}");
        }
    });
}

/// `cat one.jsonl two.jsonl` is an export, however the files begin and end.
#[test]
fn exports_behind_each_other_are_all_imported() {
    run(async {
        let store = Store::open(Options::memory()).await.unwrap();
        fill(&store).await;
        let file = String::from_utf8(export(&store).await).unwrap();
        let lines: Vec<_> = file.split_inclusive('\n').collect();
        // The records of the second tenant begin where its name first appears.
        let tenant = Tenant::of_key("two");
        let middle = lines.iter().position(|line| line.contains(tenant.as_str())).unwrap();
        let [header, end] = [lines[0], "{\"end\":{\"records\":4}}\n"];
        let one = [lines[..middle].concat().as_str(), end].concat();
        let two = [header, &lines[middle..lines.len() - 1].concat(), end].concat();
        for both in [format!("{one}{two}"), format!("\u{feff}{one}\r\n\n\u{feff}{two}\n")] {
            let copy = Store::open(Options::memory()).await.unwrap();
            let imported = copy.import(both.as_bytes()).await.unwrap();
            assert_eq!(imported, Imported { stored: 8, present: 0 });
            assert_eq!(export(&copy).await, file.as_bytes());
        }
    });
}
