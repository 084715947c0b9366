use super::limits::{parse_duration, parse_time, write_time};
use super::*;

#[test]
fn durations() {
    for (text, want) in [
        ("6m0s", Some(360.0)),
        ("1s", Some(1.0)),
        ("20ms", Some(0.02)),
        ("1h2m3.5s", Some(3723.5)),
        ("0s", Some(0.0)),
        ("1d", Some(86_400.0)),
        ("", None),
        ("5", None),
        ("s", None),
        ("1x", None),
        ("-1s", None),
        ("999999999999h", None),
    ] {
        assert_eq!(parse_duration(text).map(|left| left.as_secs_f64()), want, "{text}");
    }
}

#[test]
fn times() {
    for (text, want) in [
        ("1970-01-01T00:00:00Z", Some(0)),
        ("2000-02-29T12:34:56Z", Some(951_827_696)),
        ("2026-11-15T13:05:28.123Z", Some(1_794_747_928)),
        ("2026-11-15T14:05:28+01:00", Some(1_794_747_928)),
        ("2026-11-15T12:35:28-00:30", Some(1_794_747_928)),
        ("2026-13-15T12:35:28Z", None),
        ("1969-12-31T23:59:59Z", None),
        ("2026-11-15 13:05:28", None),
        ("tomorrow", None),
        ("", None),
        ("2026-11-15T13:05:2é", None),
    ] {
        assert_eq!(parse_time(text).map(|time| time.as_secs()), want, "{text}");
    }
    for seconds in [0, 951_827_696, 1_794_747_928, 4_102_444_800] {
        let time = Duration::from_secs(seconds);
        assert_eq!(parse_time(&write_time(time).unwrap()), Some(time));
    }
}

#[test]
fn pauses() {
    let headers = |pairs: &[(&'static str, &'static str)]| {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        retry_after(&headers).map(|pause| pause.as_secs_f64())
    };
    assert_eq!(headers(&[("retry-after", "7")]), Some(7.0));
    assert_eq!(headers(&[("retry-after", "7"), ("retry-after-ms", "1500")]), Some(1.5));
    assert_eq!(headers(&[("retry-after", "-1")]), None);
    assert_eq!(headers(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]), None);
    assert_eq!(headers(&[("x-ratelimit-reset-tokens", "9s")]), None);
}

#[test]
fn ids_differ() {
    assert_ne!(request_id(), request_id());
    assert_eq!(request_id().len(), 28);
}

#[test]
fn ids_are_lower_case_hexadecimal() {
    let id = request_id();
    let digits = id.strip_prefix("req_").unwrap();
    assert!(digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)));
}
