use super::*;

fn limits(all: usize, each: Option<usize>) -> Limits {
    Limits { connections: all, connections_per_address: each, ..Limits::default() }
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn places_are_counted_in_all_and_by_address() {
    let places = Arc::new(Places::default());
    let take = |from: &str| places.take(address(from), &limits(3, Some(2)));
    let one = take("192.0.2.1").unwrap();
    let _two = take("192.0.2.1").unwrap();
    assert_eq!(take("192.0.2.1").err(), Some(Full::Address(2)));
    // The same address, as a listener on IPv6 sees it.
    assert_eq!(take("::ffff:192.0.2.1").err(), Some(Full::Address(2)));
    let _three = take("192.0.2.2").unwrap();
    assert_eq!(take("192.0.2.3").err(), Some(Full::All(3)));
    drop(one);
    let _four = take("192.0.2.1").unwrap();
}

#[test]
fn an_ipv6_network_counts_as_one_address() {
    let places = Arc::new(Places::default());
    let take = |from: &str| places.take(address(from), &limits(9, Some(1)));
    let _one = take("2001:db8:1:2::1").unwrap();
    assert_eq!(take("2001:db8:1:2:ffff::2").err(), Some(Full::Address(1)));
    let _two = take("2001:db8:1:3::1").unwrap();
}

#[test]
fn this_machine_has_a_limit_only_if_one_is_set() {
    for (from, most) in [("127.0.0.1", 300), ("::1", 300), ("192.0.2.1", PER_ADDRESS)] {
        let places = Arc::new(Places::default());
        let take = |_| places.take(address(from), &limits(300, None)).ok();
        let taken: Vec<_> = (0..301).map_while(take).collect();
        assert_eq!(taken.len(), most, "{from}");
    }
    let places = Arc::new(Places::default());
    let _one = places.take(address("127.0.0.1"), &limits(300, Some(1))).unwrap();
    let two = places.take(address("127.0.0.1"), &limits(300, Some(1)));
    assert_eq!(two.err(), Some(Full::Address(1)));
}

#[test]
fn nothing_is_remembered_of_those_who_left() {
    let places = Arc::new(Places::default());
    for last in 0..=255 {
        let peer = address(&format!("192.0.2.{last}"));
        drop(places.take(peer, &limits(1, Some(1))).unwrap());
    }
    assert!(places.lock().by_address.is_empty());
}
