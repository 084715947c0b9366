use std::task::Waker;

use super::*;

/// Proves that the end of a long body can be sent with the body: hyper gets both before it has
/// sent anything.
#[test]
fn the_end_of_a_body_needs_no_room() {
    let exchange = Arc::<Exchange>::default();
    let long = ResponseBody::whole(vec![b'x'; 100 * 1024]);
    let mut body = ExchangeBody::new(&exchange, Version::HTTP_11, long);
    let mut cx = Context::from_waker(Waker::noop());
    let data = Pin::new(&mut body).poll_frame(&mut cx);
    assert!(matches!(data, Poll::Ready(Some(Ok(_)))));
    assert!(!exchange.unsent.poll_room(&mut cx), "there is room for more");
    assert!(matches!(Pin::new(&mut body).poll_frame(&mut cx), Poll::Ready(None)));
}
