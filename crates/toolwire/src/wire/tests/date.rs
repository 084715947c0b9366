use crate::wire::date::{format, parse};

#[test]
fn every_day_reads_as_it_is_written() {
    for day in 0..60_000 {
        let seconds = day * 86_400 + day % 86_400;
        assert_eq!(parse(&format(seconds)), Some(seconds));
    }
    assert_eq!(format(1_759_104_000), "2025-09-29T00:00:00Z");
    assert_eq!(format(u64::MAX), "9999-12-31T23:59:59Z");
}

#[test]
fn other_spellings() {
    assert_eq!(parse("2025-09-29T02:30:00.123456+02:30"), Some(1_759_104_000));
    assert_eq!(parse("2025-09-28 22:00:00-02:00"), Some(1_759_104_000));
    for broken in ["", "2025-09-29", "T", "2025-13-01T00:00:00Z", "1969-12-31T00:00:00Z", "é-"] {
        assert_eq!(parse(broken), None, "{broken}");
    }
}
