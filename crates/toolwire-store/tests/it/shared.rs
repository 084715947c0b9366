//! Bodies that have a part in common, in every engine.

use bytes::Bytes;
use toolwire_store::{
    Item, NewResponse, NewThread, Status, Store, StoreError, Tenant, ThreadKind, Update, Write,
};

use crate::engines::{Subject, TTL, run, subjects};

/// What bodies have in common.
pub(crate) fn part() -> String {
    "tools".repeat(1000)
}

/// A response whose body has the part between two texts.
pub(crate) fn with_part(id: &str, before: &str, part: &str, behind: &str) -> NewResponse {
    let new = NewResponse::new(id, Status::Completed, format!("{before}{part}{behind}"));
    NewResponse { repeats: Some(before.len()..before.len() + part.len()), ..new }
}

/// A response that is written together with something else.
pub(crate) fn among_others(response: NewResponse) -> Vec<Write> {
    let (kind, id) = (ThreadKind::Conversation, format!("conversation of {}", response.id));
    let thread = NewThread { kind, id, metadata: "{}".into(), items: Vec::new() };
    vec![Write::Thread(thread), Write::Response(response)]
}

async fn export(store: &Store) -> String {
    let mut export = Vec::new();
    store.export(&mut export).await.unwrap();
    String::from_utf8(export).unwrap()
}

/// Proves that it cannot be seen whether a part was cut out, wherever it was.
#[test]
fn bodies_with_the_same_part_come_back_whole() {
    run(async {
        let (mut exports, part) = (Vec::new(), part());
        for Subject { store, name, .. } in subjects().await {
            let places = [("{", "}"), ("", ""), ("before", ""), ("", "behind"), ("ä", "ß")];
            for tenant in [Tenant::single(), Tenant::of_key("k")] {
                let mut bytes = 0;
                for (number, (before, behind)) in places.into_iter().cycle().take(20).enumerate() {
                    let input = vec![Item::new(format!("i{number}"), "item")];
                    let new = with_part(&format!("r{number}"), before, &part, behind);
                    let new = NewResponse { input, ..new };
                    let (id, body) = (new.id.clone(), new.body.clone());
                    let writes = if number % 3 == 2 {
                        bytes += 2;
                        among_others(new)
                    } else {
                        vec![Write::Response(new)]
                    };
                    store.write(&tenant, writes).await.unwrap();
                    bytes += body.len() + id.len() - 1 + 1 + "item".len();
                    let found = store.response(&tenant, &id).await.unwrap().unwrap();
                    assert_eq!(found.body, body, "{name} {id}");
                    let usage = store.usage(&tenant).await.unwrap();
                    assert_eq!(usage.bytes, u64::try_from(bytes).unwrap(), "{name} {id}");
                }
            }
            exports.push(export(&store).await);
        }
        for export in &exports {
            assert_eq!(export, &exports[0]);
        }
    });
}

/// Proves that an id can be used again when what had it has expired.
#[test]
fn a_response_takes_the_place_of_one_with_the_same_part() {
    run(async {
        for Subject { store, clock, name, .. } in subjects().await {
            let tenant = Tenant::single();
            for round in ["first", "second", "third", "fourth"] {
                for id in ["a", "b"] {
                    let new = with_part(id, round, &part(), id);
                    let body = new.body.clone();
                    store.write(&tenant, vec![Write::Response(new)]).await.unwrap();
                    let found = store.response(&tenant, id).await.unwrap().unwrap();
                    assert_eq!(found.body, body, "{name} {round} {id}");
                }
                clock.pass(TTL);
            }
        }
    });
}

/// Proves that the body of a response that goes on is kept whole, because another
/// body takes its place.
#[test]
fn nothing_is_cut_out_of_a_response_that_goes_on() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            let tenant = Tenant::single();
            for id in ["a", "b", "c"] {
                let new = with_part(id, "", &part(), "");
                let running = NewResponse { status: Status::InProgress, ..new };
                store.write(&tenant, vec![Write::Response(running)]).await.unwrap();
                let update = Update {
                    id: id.to_owned(),
                    owner: None,
                    status: Status::Completed,
                    body: format!("{{{id}}}").into(),
                    output: Vec::new(),
                    events: None,
                };
                store.write(&tenant, vec![Write::Update(update)]).await.unwrap();
                let found = store.response(&tenant, id).await.unwrap().unwrap();
                assert_eq!(found.body, format!("{{{id}}}"), "{name}");
            }
        }
    });
}

/// Proves the same of an output, whose items another output takes the place of.
#[test]
fn no_output_is_cut_out_of_a_response_that_goes_on() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            let (tenant, output) = (Tenant::single(), |body: &Bytes, id: &str| {
                vec![Item::new(id, body.slice(11..body.len() - 2))]
            });
            let body = Bytes::from_static(br#"{"output":[{"id":"m0","text":"half"}]}"#);
            let running = NewResponse {
                output: output(&body, "m0"),
                ..NewResponse::new("a", Status::InProgress, body.clone())
            };
            store.write(&tenant, vec![Write::Response(running)]).await.unwrap();
            let found = store.response(&tenant, "a").await.unwrap().unwrap();
            assert_eq!(found.body, body, "{name}");
            let body = Bytes::from_static(br#"{"output":[{"id":"m1","text":"whole"}]}"#);
            let update = Update {
                id: "a".to_owned(),
                owner: None,
                status: Status::Completed,
                body: body.clone(),
                output: output(&body, "m1"),
                events: None,
            };
            store.write(&tenant, vec![Write::Update(update)]).await.unwrap();
            let found = store.response(&tenant, "a").await.unwrap().unwrap();
            assert_eq!(found.body, body, "{name}");
            let bytes = body.len() + "m1".len() + (body.len() - 13);
            let usage = store.usage(&tenant).await.unwrap();
            assert_eq!(usage.bytes, u64::try_from(bytes).unwrap(), "{name}");
        }
    });
}

/// Proves that a part counts as written only if its write has happened.
#[test]
fn a_refused_write_leaves_no_part_behind() {
    run(async {
        for Subject { store, name, .. } in subjects().await {
            let write = |id: &str| Write::Response(with_part(id, "", &part(), ""));
            let tenant = Tenant::single();
            store.write(&tenant, vec![write("a")]).await.unwrap();
            let refused = store.write(&tenant, vec![write("b"), write("a")]).await;
            assert_eq!(refused, Err(StoreError::Conflict), "{name}");
            store.write(&tenant, vec![write("c")]).await.unwrap();
            for (id, is_there) in [("a", true), ("b", false), ("c", true)] {
                let found = store.response(&tenant, id).await.unwrap();
                let body = found.map(|found| found.body);
                assert_eq!(body, is_there.then(|| part().into()), "{name} {id}");
            }
        }
    });
}
