use bytes::Bytes;

use super::{pack, unpack};
use crate::record::{Row, Section};

fn row(section: Section, position: i64, id: &str, tag: &str, body: &[u8]) -> Row {
    let body = Bytes::copy_from_slice(body);
    Row { section, position, id: id.to_owned(), tag: tag.to_owned(), body }
}

fn rows() -> Vec<Row> {
    vec![
        row(Section::Input, 0, "item_1", "", b"{\"a\":1}"),
        row(Section::Input, 1, "", "tag", b"\xff\0"),
        row(Section::Output, 0, "msg_\u{fc}", "", b""),
        row(Section::Output, 1, "fc_1", "", b"{}"),
    ]
}

#[test]
fn what_is_packed_comes_back() {
    assert_eq!(unpack(pack(rows().iter()).into()), Some(rows()));
    assert_eq!(unpack(Bytes::new()), Some(Vec::new()));
}

#[test]
fn events_and_entries_are_not_packed() {
    let event = row(Section::Event, 0, "", "", b"{}");
    assert_eq!(pack([event].iter()), Vec::<u8>::new());
}

#[test]
fn what_was_cut_off_is_not_taken_for_items() {
    let packed = Bytes::from(pack(rows().iter()));
    let ends: Vec<_> = (1..=4).map(|count| pack(rows()[..count].iter()).len()).collect();
    for end in 1..packed.len() {
        assert_eq!(unpack(packed.slice(..end)).is_some(), ends.contains(&end), "{end} bytes");
    }
}
