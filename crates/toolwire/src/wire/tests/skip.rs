use super::random_json::RandomJson;
use crate::wire::scan;
use crate::wire::skip::container_end;

#[test]
fn ends_where_the_checking_scan_ends() {
    let mut random = RandomJson::new(7);
    for _ in 0..5_000 {
        let text = random.list() + "]}],\"";
        let end = scan::value(text.as_bytes(), 0, 0, &mut ()).ok();
        assert_eq!(Some(container_end(text.as_bytes(), 0)), end, "{text}");
    }
}

#[test]
fn ends_somewhere_whatever_it_gets() {
    for text in ["", "[", "{\"", "[\"\\", "x", "]]]", "{\"a\":[}"] {
        assert!(container_end(text.as_bytes(), 0) <= text.len());
    }
}
