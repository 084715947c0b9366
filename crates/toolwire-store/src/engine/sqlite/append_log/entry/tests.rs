//! What is written is what is read, and nothing else is.

use super::*;

fn row<'r>(listed: &[&'r str], packed: Option<&'r [u8]>, text: Option<&'r str>) -> NewRow<'r> {
    let number = text.map(|text| text.len() as i64);
    NewRow {
        tenant: "key_1",
        kind: "response",
        id: "resp_1",
        created: -1,
        updated: i64::MAX,
        expires: i64::MIN,
        previous: text,
        conversation: text,
        status: "completed",
        model: "",
        body: Cow::Borrowed(b"{\"object\":\"response\"}"),
        internal: &[0, 255],
        next: 0,
        items: 3,
        bytes: 4,
        context: 5,
        owner: None,
        lease: None,
        packed: packed.map(Cow::Borrowed),
        shared: number,
        shared_at: number,
        output_at: number,
        listed: listed.to_vec(),
    }
}

/// Entries of every shape.
fn logs() -> Vec<Vec<u8>> {
    let mut logs = Vec::new();
    for listed in [&[][..], &["a", ""]] {
        for value in [None, Some("größer")] {
            for part in [None, Some(&b"tools"[..])] {
                let row = row(listed, value.map(str::as_bytes), value);
                let mut log = Vec::new();
                let place = Entry { number: 7, row, part }.write(&mut log);
                assert_eq!(place.map(|place| &log[place]), part);
                logs.push(log);
            }
        }
    }
    logs
}

fn columns(entry: &Entry<'_>) -> String {
    let mut out = Vec::new();
    put_row(&mut out, &entry.row);
    format!("{} {:?} {}", entry.number, entry.part, out.escape_ascii())
}

#[test]
fn what_is_written_is_read() {
    let mut seen = std::collections::BTreeSet::new();
    for log in logs() {
        let (entry, length) = Entry::read(&log).unwrap();
        assert_eq!(length, log.len());
        let mut again = Vec::new();
        Entry { number: entry.number, part: entry.part, row: entry.row }.write(&mut again);
        assert_eq!(again, log);
        seen.insert(again);
    }
    assert_eq!(seen.len(), 8);
}

#[test]
fn every_column_comes_back() {
    let mut log = Vec::new();
    let written = Entry { number: 1, row: row(&["x"], Some(b"items"), Some("t")), part: None };
    written.write(&mut log);
    let (read, _) = Entry::read(&log).unwrap();
    assert_eq!(columns(&read), columns(&written));
    let NewRow { tenant, kind, id, previous, body, internal, packed, shared_at, listed, .. } =
        read.row;
    assert_eq!((tenant, kind, id), ("key_1", "response", "resp_1"));
    assert_eq!((previous, shared_at), (Some("t"), Some(1)));
    assert_eq!((&*body, internal), (&b"{\"object\":\"response\"}"[..], &[0, 255][..]));
    assert_eq!((packed.as_deref(), listed), (Some(&b"items"[..]), vec!["x"]));
}

/// A process may end in the middle of a write, and a disk that loses power may have written
/// some of its blocks and not others.
#[test]
fn nothing_that_is_cut_or_changed_is_read() {
    for log in logs() {
        for end in 0..log.len() {
            assert!(Entry::read(&log[..end]).is_none(), "cut at {end}");
        }
        for place in 0..log.len() {
            let mut changed = log.clone();
            changed[place] ^= 0x10;
            assert!(Entry::read(&changed).is_none(), "changed at {place}");
        }
    }
}

/// What has the right checksum was still written by somebody who may have been wrong.
#[test]
fn content_of_any_shape_does_no_harm() {
    let log = logs().pop().unwrap();
    for place in HEADER..log.len() {
        for value in [0, 1, 2, 127, 255] {
            let mut changed = log.clone();
            changed[place] = value;
            let checksum = crc32fast::hash(&changed[HEADER..]);
            changed[8..HEADER].copy_from_slice(&checksum.to_le_bytes());
            if let Some((_, length)) = Entry::read(&changed) {
                assert_eq!(length, changed.len());
            }
        }
    }
}
