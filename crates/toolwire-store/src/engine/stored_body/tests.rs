use bytes::Bytes;

use super::*;
use crate::change::{Change, Moment};
use crate::engine::shared_parts::Cut;
use crate::model::{Item, Status};
use crate::plan::Plan;
use crate::write::{NewResponse, Write};

/// A response with this body, whose items are the parts of it at these places.
fn response(body: &Bytes, items: &[Range<usize>]) -> FullRecord {
    let items = items.iter().map(|place| Item::new("", body.slice(place.clone())));
    let new = NewResponse::new("resp_1", Status::Completed, body.clone());
    let writes = vec![Write::Response(NewResponse { output: items.collect(), ..new })];
    let plan = Plan::new("t", writes, Moment { now: 0, expires: 1 }, 1000).unwrap();
    match plan.changes.into_iter().next() {
        Some(Change::Insert { full, .. }) => full,
        other => panic!("{other:?}"),
    }
}

/// Puts a body together as a database does that has the part on its own.
fn restored(full: &FullRecord, stored: &StoredBody<'_>, part: &[u8]) -> Bytes {
    let mut body = stored.to_bytes().into_owned();
    if let Some(at) = stored.shared_at {
        let at = usize::try_from(at).unwrap();
        body.splice(at..at, part.iter().copied());
    }
    match stored.output_at {
        Some(at) => with_output(&body, at, &full.rows).unwrap(),
        None => body.into(),
    }
}

/// Wherever the output and the shared part are, every byte comes back.
#[test]
fn every_body_comes_back() {
    let body = Bytes::from_static(b"0,1,2,3,4,5");
    let ranges = |body: &Bytes| {
        let end = body.len();
        (0..end).flat_map(move |start| (start + 1..=end).map(move |stop| start..stop))
    };
    let mut cut_out = 0;
    for output in ranges(&body) {
        for part in ranges(&body).map(Some).chain([None]) {
            let full = response(&body, std::slice::from_ref(&output));
            let cut = part.clone().map(|place| Cut::new(7, place));
            let stored = StoredBody::of(&full, cut.as_ref());
            let bytes = part.clone().map_or(&[][..], |place| &body[place]);
            assert_eq!(restored(&full, &stored, bytes), body, "{output:?} {part:?}");
            let left = stored.to_bytes().len();
            let expected = body.len() - bytes.len();
            let output = stored.output_at.map_or(0, |_| output.len());
            assert_eq!(left, expected - output);
            cut_out += usize::from(stored.output_at.is_some());
        }
    }
    assert!(cut_out > 500, "{cut_out}");
}

#[test]
fn several_items_come_back() {
    let body = Bytes::from_static(br#"{"output":[{"a":1},{"b":2}],"x":[]}"#);
    let full = response(&body, &[11..18, 19..26]);
    let stored = StoredBody::of(&full, None);
    assert_eq!(stored.to_bytes(), &br#"{"output":[],"x":[]}"#[..]);
    assert_eq!(restored(&full, &stored, b""), body);
}

/// Only what is sure to come back is cut out.
#[test]
fn what_is_not_just_the_output_stays() {
    let body = Bytes::from_static(br#"[{"a":1}, {"b":2},{"c":3}]"#);
    // A space between two items, one that is left out, and the wrong order.
    for items in [&[1..8, 10..17][..], &[1..8, 18..25], &[18..25, 10..17]] {
        let full = response(&body, items);
        let stored = StoredBody::of(&full, None);
        assert_eq!((stored.output_at, stored.to_bytes().len()), (None, body.len()), "{items:?}");
    }
    // The same bytes in another place of the memory, none at all, and no item.
    let mut full = response(&body, std::slice::from_ref(&(1..8)));
    full.rows[0].body = Bytes::copy_from_slice(&body[1..8]);
    assert_eq!(StoredBody::of(&full, None).output_at, None);
    full.rows[0].body = Bytes::new();
    assert_eq!(StoredBody::of(&full, None).output_at, None);
    full.rows.clear();
    assert_eq!(StoredBody::of(&full, None).output_at, None);
}
