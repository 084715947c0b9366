//! Stores of earlier versions, brought up to date.

use rusqlite::{Connection, params};
use toolwire_store::{Item, Options, Order, Page, Store, Tenant};

use crate::engines::{Folder, run};
use crate::postgres_server::{PostgresServer, execute, is_left_out, number};

/// A chain of two responses and a conversation, as the first version stored them.
/// `BYTES` is the engine's type for them.
const FIRST_VERSION: &str = "
INSERT INTO toolwire_lineage (key, expires) VALUES (1, 9000000000000000), (2, 9000000000000000);
INSERT INTO toolwire_record (key, lineage, tenant, kind, id, created, updated, expires, previous, conversation,
    status, model, next, items, bytes, context, owner, lease, internal, body) VALUES
    (1, 1, 'everybody', 'response', 'resp_1', 1, 1, 9000000000000000, NULL, NULL, 'completed', 'm', 0, 2, 16, 14,
     NULL, NULL, CAST('' AS BYTES), CAST('{}' AS BYTES)),
    (2, 1, 'everybody', 'response', 'resp_2', 2, 2, 9000000000000000, 'resp_1', NULL, 'completed', 'm', 0, 1, 9, 7,
     NULL, NULL, CAST('' AS BYTES), CAST('{}' AS BYTES)),
    (3, 2, 'everybody', 'conversation', 'conv_1', 3, 3, 9000000000000000, NULL, NULL, 'completed', '', 1, 1, 9, 7,
     NULL, NULL, CAST('' AS BYTES), CAST('{}' AS BYTES));
INSERT INTO toolwire_item (record, section, position, tenant, id, tag, body) VALUES
    (1, 0, 0, 'everybody', 'item1', '', CAST('[1]' AS BYTES)),
    (1, 1, 0, 'everybody', 'msg_1', '', CAST('[2]' AS BYTES)),
    (1, 3, 0, 'everybody', '', '', CAST('[0]' AS BYTES)),
    (2, 0, 0, 'everybody', 'item2', '', CAST('[3]' AS BYTES)),
    (3, 2, 0, 'everybody', 'item3', '', CAST('[4]' AS BYTES));
";

/// What the second version has instead of rows, except for the packed items.
const SECOND_VERSION_IDS: &str = "
DELETE FROM toolwire_item WHERE section < 2;
INSERT INTO toolwire_packed_id (tenant, id, record) VALUES
    ('everybody', 'item1', 1), ('everybody', 'msg_1', 1), ('everybody', 'item2', 2);
";

/// Proves that everything is found, in tables of this version.
async fn check(options: Options, version: i64) {
    let (store, tenant) = (Store::open(options).await.unwrap(), Tenant::single());
    let chain = store.chain(&tenant, "resp_2").await.unwrap().unwrap();
    let items: Vec<_> =
        chain.iter().flat_map(|link| link.input.iter().chain(&link.output)).collect();
    let expected =
        [Item::new("item1", "[1]"), Item::new("msg_1", "[2]"), Item::new("item2", "[3]")];
    assert_eq!(items, expected.iter().collect::<Vec<_>>());
    for (id, body) in [("item1", "[1]"), ("msg_1", "[2]"), ("item2", "[3]"), ("item3", "[4]")] {
        assert_eq!(store.item(&tenant, id).await.unwrap(), Some(Item::new(id, body)));
    }
    let first = Page { after: None, limit: 10, order: Order::OldestFirst };
    let page = store.input_items(&tenant, "resp_1", &first).await.unwrap().unwrap();
    assert_eq!(page.items, [Item::new("item1", "[1]")]);
    let events = store.events(&tenant, "resp_1", None, 10).await.unwrap().unwrap();
    assert_eq!(events.events, [(0, "[0]".into())]);
    let mut export = Vec::new();
    store.export(&mut export).await.unwrap();
    let export = String::from_utf8(export).unwrap();
    assert_eq!(export.matches("\"section\"").count(), 5, "{export}");
    assert_eq!(store.stats().await.unwrap().version, version);
    assert!(store.delete_response(&tenant, "resp_1").await.unwrap());
    assert_eq!(store.item(&tenant, "msg_1").await.unwrap(), None);
}

#[test]
fn a_file_of_the_first_version_keeps_everything() {
    run(async {
        let folder = Folder::new("first-version");
        let path = folder.path().join("store.db");
        let connection = Connection::open(&path).unwrap();
        let tables = include_str!("../../src/engine/sqlite/migrations/0001.sql");
        connection.execute_batch(tables).unwrap();
        connection.execute_batch(&FIRST_VERSION.replace("BYTES", "BLOB")).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        drop(connection);
        check(Options::sqlite(&path), 6).await;
    });
}

/// Items as the second version packed them.
fn packed(items: &[(u8, &str, &str)]) -> Vec<u8> {
    let mut packed = Vec::new();
    for (section, id, body) in items {
        packed.push(*section);
        for length in [id.len(), 0, body.len()] {
            packed.extend_from_slice(&(length as u64).to_le_bytes());
        }
        packed.extend_from_slice(id.as_bytes());
        packed.extend_from_slice(body.as_bytes());
    }
    packed
}

#[test]
fn a_file_of_the_second_version_keeps_everything() {
    run(async {
        let folder = Folder::new("second-version");
        let path = folder.path().join("store.db");
        let connection = Connection::open(&path).unwrap();
        for statements in [
            include_str!("../../src/engine/sqlite/migrations/0001.sql"),
            include_str!("../../src/engine/sqlite/migrations/0002.sql"),
            &FIRST_VERSION.replace("BYTES", "BLOB"),
            SECOND_VERSION_IDS,
        ] {
            connection.execute_batch(statements).unwrap();
        }
        let insert = "INSERT INTO toolwire_packed (record, items) VALUES ($1, $2)";
        let first = packed(&[(0, "item1", "[1]"), (1, "msg_1", "[2]")]);
        connection.execute(insert, params![1, first]).unwrap();
        connection.execute(insert, params![2, packed(&[(0, "item2", "[3]")])]).unwrap();
        connection.pragma_update(None, "user_version", 2).unwrap();
        drop(connection);
        check(Options::sqlite(&path), 6).await;
    });
}

#[test]
fn a_database_of_the_first_version_keeps_everything() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        execute(&url, include_str!("../../src/engine/postgres/migrations/0001.sql")).await;
        execute(&url, &FIRST_VERSION.replace("BYTES", "BYTEA")).await;
        let version = "CREATE TABLE toolwire_store (version BIGINT NOT NULL); INSERT INTO toolwire_store \
                       VALUES (1)";
        execute(&url, version).await;
        check(Options::postgres(&url), 5).await;
    });
}

#[test]
fn a_database_of_the_second_version_keeps_everything() {
    if is_left_out() {
        return;
    }
    run(async {
        let url = PostgresServer::shared().new_database().await;
        for statements in [
            include_str!("../../src/engine/postgres/migrations/0001.sql"),
            include_str!("../../src/engine/postgres/migrations/0002.sql"),
            &FIRST_VERSION.replace("BYTES", "BYTEA"),
            SECOND_VERSION_IDS,
            "CREATE TABLE toolwire_store (version BIGINT NOT NULL); INSERT INTO toolwire_store VALUES (1), (2)",
        ] {
            execute(&url, statements).await;
        }
        let items = [
            (1, packed(&[(0, "item1", "[1]"), (1, "msg_1", "[2]")])),
            (2, packed(&[(0, "item2", "[3]")])),
        ];
        for (record, items) in items {
            let items: String = items.iter().map(|byte| format!("{byte:02x}")).collect();
            let insert = format!("INSERT INTO toolwire_packed VALUES ({record}, '\\x{items}')");
            execute(&url, &insert).await;
        }
        let file = "SELECT CAST(pg_relation_filenode('toolwire_record') AS BIGINT)";
        let before = number(&url, file).await;
        check(Options::postgres(&url), 5).await;
        assert_eq!(number(&url, file).await, before, "the table was written anew");
    });
}
