//! In which order parts are written.

use super::*;
use crate::change::Moment;
use crate::model::Status;
use crate::plan::Plan;
use crate::write::{NewResponse, Write};

/// Proves that parts come in the order of their keys, each once, whatever order the records
/// have. Two groups that write the same ones in different orders would wait for each other.
#[test]
fn parts_are_written_in_one_order() {
    let moment = Moment { now: 0, expires: 1 };
    let write = Write::Response(NewResponse::new("a", Status::Completed, "0123456789"));
    let plan = Plan::new("t", vec![write], moment, 1000).unwrap();
    let Some(Change::Insert { full, .. }) = plan.changes.into_iter().next() else {
        panic!("it is inserted");
    };
    let keys = [7, 3, 9, 1, 3, 8, 2, 6, 7, 5, 4];
    let cuts = keys.map(|key| Cut::new(key, 0..usize::try_from(key).unwrap()));
    let records = cuts.iter().map(|cut| NewRecord { full: &full, cut: Some(cut) });
    let parts = SharedParts::new().new_parts(records, KnownParts::Trusted);
    assert_eq!(parts.keys, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let lengths: Vec<_> = parts.bytes.iter().map(|part| part.len()).collect();
    assert_eq!(lengths, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}
