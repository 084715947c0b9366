//! What a client adds to the conversation, cut out of its request where the scan has found it.

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire::protocol::PathMatch;
use toolwire::stateful::{StatefulItem, read_input};
use toolwire::translate::RequestHead;

use crate::vectors::inputs;

const CLIENT: Protocol = Protocol::Responses;

/// Cuts out the items, compares them with those that are found by reading the whole request,
/// and returns them.
fn items(body: &str) -> Vec<StatefulItem<'_>> {
    let head = RequestHead::read(CLIENT, &PathMatch::default(), body.as_bytes()).unwrap();
    let read = |head: &RequestHead| -> Vec<(Option<String>, bool, String)> {
        let items = read_input(CLIENT, head, body.as_bytes()).unwrap().unwrap();
        let plain = |item: StatefulItem<'_>| (item.id, item.is_reference, item.text.into_owned());
        items.into_iter().map(plain).collect()
    };
    let items = read(&head);
    // A head of another body knows nothing of this one.
    assert_eq!(items, read(&RequestHead::default()), "{body}");
    let whole = |(id, is_reference, text)| StatefulItem::new(id, is_reference, text);
    items.into_iter().map(whole).collect()
}

#[test]
fn items_are_those_that_reading_finds() {
    let mut compared = 0;
    for (path, protocol, body) in inputs("requests") {
        let text = String::from_utf8(body).unwrap_or_default();
        let is_whole =
            |text: &str| RequestHead::read(CLIENT, &PathMatch::default(), text.as_bytes()).is_ok();
        if protocol != CLIENT || !is_whole(&text) {
            continue;
        }
        let found = items(&text);
        let input: Value = serde_json::from_str::<Value>(&text).unwrap()["input"].clone();
        let expected = input.as_array().map_or(usize::from(!input.is_null()), Vec::len);
        assert_eq!(found.len(), expected, "{}", path.display());
        compared += found.len();
    }
    assert!(compared > 200, "{compared}");
}

/// The id and the type may be anywhere in an item, be spelled in another way, or be of
/// another kind, and an item may be no object.
#[test]
fn items_need_not_be_as_most_clients_write_them() {
    let body = r#"{"model":"m", "input" : [
        {"type":"message","role":"user","content":"x"} ,{"content":[{"id":"inner"}],"role":"user"},
        {"role":"user","content":"y","id":"msg_1"},{"i\u0064":"msg_2","type":"message"},
        {"id":7,"type":"message","role":"user"}, {"type":7,"role":"user"},
        {"id":"msg_3","role":null}, "text", 3, null, [{"id":"z"}], {}, {"type":"item_reference"},
        {"x":1,"type":"item_reference","id":"msg_4"}, {"x":{"type":"item_reference"}},
        {"typ\u0065":"item_reference"}, {"role":"user","content":"\ud83e\udd80 ü 🦀"}
    ], "stream":false}"#;
    let found = items(body);
    let ids: Vec<_> = found.iter().map(|item| item.id.as_deref()).collect();
    let msg = ["msg_1", "msg_2", "msg_3", "msg_4"].map(Some);
    let mut expected = [None; 17];
    (expected[2], expected[3], expected[6], expected[13]) = (msg[0], msg[1], msg[2], msg[3]);
    assert_eq!(ids, expected);
    let references: Vec<_> = (0..).zip(&found).filter(|(_, item)| item.is_reference).collect();
    assert_eq!(references.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [6, 12, 13, 15]);
    assert_eq!(found[7].text, "\"text\"");
}

#[test]
fn an_input_that_is_no_list_is_read() {
    assert_eq!(items(r#"{"model":"m"}"#), []);
    assert_eq!(items(r#"{"model":"m","input":[]}"#), []);
    assert_eq!(items(r#"{"model":"m","input":null}"#), []);
    let item = items(r#"{"model":"m","input":"Hi."}"#).remove(0);
    let expected = json!({"type": "message", "role": "user", "content": "Hi."});
    assert_eq!(serde_json::from_str::<Value>(&item.text).unwrap(), expected);
}

/// Nobody has to remember where millions of items are.
#[test]
fn more_items_than_are_remembered_are_read() {
    let input = vec!["{}"; 70_000].join(",");
    assert_eq!(items(&format!(r#"{{"model":"m","input":[{input}]}}"#)).len(), 70_000);
}
