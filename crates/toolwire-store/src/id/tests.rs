use super::*;

#[test]
fn ids_have_the_time_and_random_digits() {
    let ids = [(); 200].map(|()| random_id("resp_").unwrap());
    for id in &ids {
        let digits = id.strip_prefix("resp_").unwrap();
        assert_eq!(digits.len(), 48, "{id}");
        assert!(digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')), "{id}");
        assert!(!digits.ends_with("0000000000000000"), "{id}");
    }
    let (first, last) = (&ids[0], &ids[199]);
    assert!(first[..17] <= last[..17], "{first} was made before {last}");
    let mut distinct = ids.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len());
    assert_eq!(with_hex::<6>("x", &[0x00, 0x9a, 0xff]), "x009aff");
}

#[test]
fn an_item_tells_its_place_in_its_response() {
    for (index, id) in
        [(0, "item_1f_0"), (9, "item_1f_9"), (10, "item_1f_10"), (123_456, "item_1f_123456")]
    {
        assert_eq!(item_id("resp_1f", index), id);
        assert!(tells_response(id, "resp_1f"));
        assert_eq!(response_of_item(id).as_deref(), Some("resp_1f"));
    }
    assert_eq!(item_id("other", 1), "item_other_1");
}
