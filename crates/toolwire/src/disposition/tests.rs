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
            let targets: Vec<_> = row.toward.iter().map(|(target, _)| *target).collect();
            assert_eq!(targets, others);
            assert!(row.toward(protocol).is_none());
            for (target, disposition) in row.toward {
                assert_eq!(row.toward(*target), Some(disposition));
            }
        }
    }
}

#[test]
fn a_disposition_names_every_code_it_may_have() {
    let disposition = Disposition::Depends(
        &[Disposition::Carried, Disposition::Lost(Code::Stop), Disposition::Only("n")],
        "as it is",
    );
    assert_eq!(disposition.codes(), [Code::Stop, Code::Only("n".to_owned())]);
}
