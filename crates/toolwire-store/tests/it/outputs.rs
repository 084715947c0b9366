//! Bodies that repeat the items of their output, in every engine.

use bytes::Bytes;
use rusqlite::Connection;
use toolwire_store::{Item, NewResponse, Options, Order, Page, Status, Store, Tenant, Write};

use crate::engines::{Folder, Subject, run, subjects};
use crate::postgres_server::{PostgresServer, is_left_out, number};
use crate::shared::{among_others, part};

/// A response whose items are parts of its body, which has a long part too if it is to.
fn response(number: usize, previous: Option<String>, repeats: bool) -> NewResponse {
    let texts = ["", r#"{"id":"msg_1","text":"ä"}"#, r#"{"id":"msg_1"},{"id":"fc_1","n":1}"#];
    let output = texts[number % texts.len()];
    let part = if repeats { part() } else { String::new() };
    let (before, behind) =
        if number.is_multiple_of(2) { ("", part) } else { (part.as_str(), String::new()) };
    let head = format!(r#"{{"n":{number},"before":"{before}","output":["#);
    let body = Bytes::from(format!(r#"{head}{output}],"behind":"{behind}"}}"#));
    let at = body.windows(5).position(|bytes| bytes == b"tools");
    let items = output.split_inclusive("},").scan(head.len(), |start, item| {
        let place = *start..*start + item.trim_end_matches(',').len();
        *start += item.len();
        Some(place)
    });
    let items: Vec<_> = items.filter(|place| !place.is_empty()).collect();
    let output = items.into_iter().zip(["msg", "fc"]);
    let output =
        output.map(|(place, kind)| Item::new(format!("{kind}_{number}"), body.slice(place)));
    let output = output.collect();
    let input = vec![Item::new(format!("item_{number}"), format!("[{number}]"))];
    let repeats = at.map(|at| at..at + self::part().len());
    let new = NewResponse::new(format!("resp_{number}"), Status::Completed, body);
    NewResponse { previous, input, output, repeats, ..new }
}

/// Proves that nobody can see whether an output was cut out of its body.
#[test]
fn responses_come_back_as_they_were() {
    run(async {
        let mut exports = Vec::new();
        for Subject { store, name, .. } in subjects().await {
            let tenant = Tenant::single();
            let mut previous = None;
            let mut said = Vec::new();
            for number in 0..24 {
                let new = response(number, previous.take(), number % 4 > 1);
                previous = Some(new.id.clone());
                said.extend(new.input.iter().chain(&new.output).cloned());
                let writes = match number % 5 {
                    4 => among_others(new.clone()),
                    _alone => vec![Write::Response(new.clone())],
                };
                store.write(&tenant, writes).await.unwrap();
                let found = store.response(&tenant, &new.id).await.unwrap().unwrap();
                assert_eq!(found.body, new.body, "{name} {number}");
                for item in new.input.iter().chain(&new.output) {
                    let found = store.item(&tenant, &item.id).await.unwrap();
                    assert_eq!(found.as_ref(), Some(item), "{name} {number}");
                }
                let page = Page { after: None, limit: 10, order: Order::OldestFirst };
                let page = store.input_items(&tenant, &new.id, &page).await.unwrap().unwrap();
                assert_eq!(page.items, new.input, "{name} {number}");
            }
            let chain = store.chain(&tenant, "resp_23").await.unwrap().unwrap();
            let items = chain.iter().flat_map(|link| link.input.iter().chain(&link.output));
            assert!(items.eq(&said), "{name}");
            let mut export = Vec::new();
            store.export(&mut export).await.unwrap();
            exports.push((name, export));
        }
        for (name, export) in &exports {
            assert_eq!(export, &exports[0].1, "{name}");
            // What comes from elsewhere is the same too.
            let store = Store::open(Options::memory()).await.unwrap();
            store.import(&export[..]).await.unwrap();
            let mut again = Vec::new();
            store.export(&mut again).await.unwrap();
            assert_eq!(&again, export, "{name}");
        }
    });
}

/// Proves that an output is stored once.
#[test]
fn an_output_is_stored_once() {
    run(async {
        let (text, tenant) = ("word ".repeat(1000), Tenant::single());
        let body = Bytes::from(format!(r#"{{"output":[{{"text":"{text}"}}]}}"#));
        let output = vec![Item::new("msg_1", body.slice(11..body.len() - 2))];
        let new = NewResponse { output, ..NewResponse::new("a", Status::Completed, body.clone()) };
        let length = i64::try_from(body.len()).unwrap();
        let folder = Folder::new("once");
        let path = folder.path().join("store.db");
        let store = Store::open(Options::sqlite(&path)).await.unwrap();
        store.write(&tenant, vec![Write::Response(new.clone())]).await.unwrap();
        let sizes = "SELECT octet_length(body) + octet_length(packed) FROM toolwire_record";
        let connection = Connection::open(&path).unwrap();
        let stored: i64 = connection.query_row(sizes, [], |row| row.get(0)).unwrap();
        assert!((length..length + 100).contains(&stored), "{stored} of {length}");
        if is_left_out() {
            return;
        }
        let url = PostgresServer::shared().new_database().await;
        let store = Store::open(Options::postgres(&url)).await.unwrap();
        store.write(&tenant, vec![Write::Response(new)]).await.unwrap();
        let sizes = "SELECT CAST(octet_length(r.body) + octet_length(p.items) AS BIGINT) FROM toolwire_record \
                     r JOIN toolwire_packed p ON p.record = r.key";
        let stored = number(&url, sizes).await;
        assert!((length..length + 100).contains(&stored), "{stored} of {length}");
    });
}
