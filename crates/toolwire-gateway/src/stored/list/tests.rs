use toolwire_store::{Order, Page};

use super::{parameters, read_page};

#[test]
fn a_page_by_default() {
    let page = read_page("").unwrap();
    assert_eq!(page, Page { after: None, limit: 20, order: Order::NewestFirst });
}

#[test]
fn a_page_as_asked_for() {
    let page = read_page("limit=100&order=asc&after=msg%5F1&include[]=x").unwrap();
    let after = Some("msg_1".to_owned());
    assert_eq!(page, Page { after, limit: 100, order: Order::OldestFirst });
}

#[test]
fn a_page_that_there_is_not() {
    for query in ["limit=0", "limit=101", "limit=-1", "limit=x", "order=up", "order="] {
        assert!(read_page(query).is_err(), "{query}");
    }
}

#[test]
fn what_a_url_does_to_a_text() {
    let read: Vec<_> = parameters("a=1+2&b=%zz&c=%C3%A4&d=%&&e").collect();
    let expected = [("a", "1 2"), ("b", "%zz"), ("c", "ä"), ("d", "%"), ("e", "")];
    assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}
