use super::*;

fn limits(all: usize, each: Option<usize>) -> Limits {
    Limits { connections: all, connections_per_address: each, ..Limits::default() }
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn connections_are_counted_in_total_and_by_address() {
    let limiter = Arc::new(ConnectionLimiter::default());
    let acquire = |from: &str| limiter.acquire(address(from), &limits(3, Some(2)));
    let one = acquire("192.0.2.1").unwrap();
    let _two = acquire("192.0.2.1").unwrap();
    assert_eq!(acquire("192.0.2.1").err(), Some(LimitExceeded::PerAddress(2)));
    // The same address, as a listener on IPv6 sees it.
    assert_eq!(acquire("::ffff:192.0.2.1").err(), Some(LimitExceeded::PerAddress(2)));
    let _three = acquire("192.0.2.2").unwrap();
    assert_eq!(acquire("192.0.2.3").err(), Some(LimitExceeded::Total(3)));
    drop(one);
    let _four = acquire("192.0.2.1").unwrap();
}

#[test]
fn an_ipv6_network_counts_as_one_address() {
    let limiter = Arc::new(ConnectionLimiter::default());
    let acquire = |from: &str| limiter.acquire(address(from), &limits(9, Some(1)));
    let _one = acquire("2001:db8:1:2::1").unwrap();
    assert_eq!(acquire("2001:db8:1:2:ffff::2").err(), Some(LimitExceeded::PerAddress(1)));
    let _two = acquire("2001:db8:1:3::1").unwrap();
}

#[test]
fn this_machine_has_a_limit_only_if_one_is_set() {
    for (from, most) in [("127.0.0.1", 300), ("::1", 300), ("192.0.2.1", DEFAULT_PER_ADDRESS)] {
        let limiter = Arc::new(ConnectionLimiter::default());
        let acquire = |_| limiter.acquire(address(from), &limits(300, None)).ok();
        let permits: Vec<_> = (0..301).map_while(acquire).collect();
        assert_eq!(permits.len(), most, "{from}");
    }
    let limiter = Arc::new(ConnectionLimiter::default());
    let _one = limiter.acquire(address("127.0.0.1"), &limits(300, Some(1))).unwrap();
    let two = limiter.acquire(address("127.0.0.1"), &limits(300, Some(1)));
    assert_eq!(two.err(), Some(LimitExceeded::PerAddress(1)));
}

#[test]
fn closed_connections_leave_no_entry() {
    let limiter = Arc::new(ConnectionLimiter::default());
    for last in 0..=255 {
        let peer = address(&format!("192.0.2.{last}"));
        drop(limiter.acquire(peer, &limits(1, Some(1))).unwrap());
    }
    assert!(limiter.lock().by_address.is_empty());
}
