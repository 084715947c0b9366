//! Random documents keep the laws.

use toolwire::{Protocol, laws};

use crate::splice;

#[test]
fn spliced_requests_keep_the_laws() {
    check(
        "requests",
        &[laws::nothing_is_lost_in_silence, laws::identity, laws::the_same_bytes_every_time],
    );
}

#[test]
fn spliced_answers_are_readable() {
    check("responses", &[laws::answers_are_readable]);
}

type Law = fn(Protocol, &str) -> Result<(), String>;

fn check(kind: &str, laws: &[Law]) {
    let documents = splice::documents(kind);
    arbtest::arbtest(|random| {
        let (from, text) = splice::document(random, &documents)?;
        for law in laws {
            if let Err(what) = law(from, &text) {
                panic!("{from}: {what}\n{text}");
            }
        }
        Ok(())
    })
    .size_min(2_000)
    .budget_ms(4_000);
}
