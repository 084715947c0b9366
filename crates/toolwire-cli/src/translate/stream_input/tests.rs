use std::time::Duration;

use super::parse_delay;

#[test]
fn delays() {
    assert_eq!(parse_delay(b": +250ms\n"), Some(Duration::from_millis(250)));
    assert_eq!(parse_delay(b": ping\n"), None);
    assert_eq!(parse_delay(b"data: : +250ms\n"), None);
}
