use super::*;

/// However many there are, the memory has an end, and the newest are in it.
#[test]
fn the_oldest_are_forgotten() {
    let said_again = SaidAgain::default();
    for number in 0..5 * MANY {
        said_again.note(&number.to_string());
        let oldest = number.saturating_sub(MANY - 1);
        assert!(said_again.is_behind(&oldest.to_string()), "{number}");
    }
    assert!(!said_again.is_behind("0"));
    let answers = said_again.answers.lock().unwrap();
    assert!(answers.recent.len() + answers.earlier.len() <= 2 * MANY);
}
