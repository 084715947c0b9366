//! Every wait has a timeout, which restarts with the bytes that arrive.

use tokio::time::Instant;
use toolwire::Protocol;
use toolwire_gateway::config::Timeouts;

use crate::client::ReceivedResponse;
use crate::upstream::{Server, Step, chunk, stream_end, stream_head, whole};
use crate::{at, client, config, fixtures, ms, start};

async fn ask(
    steps: Vec<Step>,
    stream: bool,
    set: impl Fn(&mut Timeouts),
) -> (ReceivedResponse, Server, u128) {
    let server = Server::new(Protocol::Chat, steps).await;
    let mut upstream = at(&server);
    set(&mut upstream.timeouts);
    let gateway = start(config(vec![upstream])).await;
    let body = fixtures::question(Protocol::Chat, stream);
    let began = Instant::now();
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &body).await;
    (got, server, began.elapsed().as_millis())
}

#[track_caller]
fn check(got: &ReceivedResponse, took: u128) {
    assert_eq!(got.status, 504, "{got:?}");
    assert!((90..5000).contains(&took), "{took} ms");
}

#[tokio::test]
async fn head() {
    let (got, server, took) = ask(vec![Step::Hang], true, |t| t.headers = ms(100)).await;
    check(&got, took);
    server.left(1).await;
}

#[tokio::test]
async fn head_of_a_whole_answer() {
    let (got, server, took) = ask(vec![Step::Hang], false, |t| t.whole = ms(100)).await;
    check(&got, took);
    server.left(1).await;
}

/// The head of a whole answer comes when the model is done.
#[tokio::test]
async fn a_whole_answer_may_take_longer_than_the_head_of_a_stream() {
    let answer = whole(200, "", fixtures::answer(Protocol::Chat));
    let steps = [vec![Step::Wait(ms(300))], answer].concat();
    let (got, _, _) = ask(steps, false, |t| t.headers = ms(100)).await;
    assert_eq!(got.status, 200, "{got:?}");
}

#[tokio::test]
async fn first_event() {
    let steps = vec![stream_head(""), Step::Hang];
    let (got, server, took) = ask(steps, true, |t| t.first_event = ms(100)).await;
    check(&got, took);
    server.left(1).await;
}

#[tokio::test]
async fn comments_are_not_a_first_event() {
    let mut steps = vec![stream_head("")];
    for _ in 0..20 {
        steps.extend([chunk(": still here\n"), Step::Wait(ms(20))]);
    }
    let (got, _, took) = ask(steps, true, |t| t.first_event = ms(100)).await;
    check(&got, took);
}

#[tokio::test]
async fn idle_in_a_whole_answer() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";
    let steps = vec![Step::Send(head.as_bytes().to_vec()), Step::Hang];
    let (got, server, took) = ask(steps, false, |t| t.idle = ms(100)).await;
    check(&got, took);
    server.left(1).await;
}

#[tokio::test]
async fn idle_in_a_stream() {
    let event = &fixtures::events(Protocol::Chat)[1];
    let steps = vec![stream_head(""), chunk(event), Step::Hang];
    let (got, server, took) = ask(steps, true, |t| t.idle = ms(100)).await;
    assert!((90..5000).contains(&took), "{took} ms");
    assert_eq!(got.status, 200);
    assert!(got.body.contains("\"error\""), "{got:?}");
    assert!(!got.body.contains("[DONE]"), "{got:?}");
    server.left(1).await;
}

#[tokio::test]
async fn idle_restarts_with_every_byte() {
    let mut steps = vec![stream_head("")];
    for event in fixtures::events(Protocol::Chat) {
        steps.extend([chunk(event), Step::Wait(ms(200))]);
    }
    steps.push(stream_end());
    let (got, _, took) = ask(steps, true, |t| t.idle = ms(1000)).await;
    assert!(took > 1000, "{took} ms");
    assert!(got.body.contains("[DONE]"), "{got:?}");
}

/// A model may work on what is posted, as on an answer that is not a stream.
#[tokio::test]
async fn head_of_a_response_that_passes() {
    let server = Server::new(Protocol::Chat, vec![Step::Hang]).await;
    for (is_posted, set) in
        [(true, (|t| t.whole = ms(100)) as fn(&mut Timeouts)), (false, |t| t.headers = ms(100))]
    {
        let mut upstream = at(&server);
        set(&mut upstream.timeouts);
        let gateway = start(config(vec![upstream])).await;
        let (to, began) = (gateway.address(), Instant::now());
        let got = if is_posted {
            client::post(to, "/v1/embeddings", &[], r#"{"model":"m","input":"Hi"}"#).await
        } else {
            client::get(to, "/v1/files", &[]).await
        };
        check(&got, began.elapsed().as_millis());
    }
}

#[tokio::test]
async fn total() {
    let event = &fixtures::events(Protocol::Chat)[1];
    let mut steps = vec![stream_head("")];
    for _ in 0..100 {
        steps.extend([chunk(event), Step::Wait(ms(20))]);
    }
    let (got, server, took) = ask(steps, true, |t| t.total = ms(150)).await;
    assert!((140..1900).contains(&took), "{took} ms");
    assert!(got.body.contains("complete its response"), "{got:?}");
    server.left(1).await;
}

#[tokio::test]
async fn connect() {
    // A listener whose queue is full neither accepts nor refuses a connection.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(tokio::spawn(tokio::net::TcpStream::connect(address)));
    }
    tokio::time::sleep(ms(50)).await;
    let server = Server::new(Protocol::Chat, Vec::new()).await;
    let mut upstream = at(&server);
    upstream.timeouts.connect = ms(100);
    upstream.origin = toolwire_gateway::config::Origin::Http {
        base: format!("http://{address}"),
        path: "/v1".to_owned(),
    };
    let gateway = start(config(vec![upstream])).await;
    let body = fixtures::question(Protocol::Chat, false);
    let began = Instant::now();
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &body).await;
    check(&got, began.elapsed().as_millis());
}
