use super::{Disposition, of, table};
use crate::ledger::Code;
use crate::model::Protocol;

#[test]
fn the_first_row_that_matches_counts() {
    let row = of(Protocol::Messages, "messages[role=user].content[type=text].cache_control.ttl");
    assert_eq!(row.map(|row| row.field), Some("*cache_control*"));
    assert!(of(Protocol::Chat, "no_such_field").is_none());
}

#[test]
fn a_row_speaks_of_the_two_other_protocols() {
    for protocol in Protocol::ALL {
        let others: Vec<_> = Protocol::ALL.into_iter().filter(|other| *other != protocol).collect();
        for row in table(protocol) {
            assert_eq!(row.toward.each_ref().map(|(target, _)| *target).as_slice(), others);
        }
    }
}

#[test]
fn a_fate_names_every_code_it_may_have() {
    let fate = Disposition::Depends(
        &[Disposition::Carried, Disposition::Lost(Code::Stop), Disposition::Only("n")],
        "as it is",
    );
    assert_eq!(fate.codes(), [Code::Stop, Code::Only("n".to_owned())]);
}
