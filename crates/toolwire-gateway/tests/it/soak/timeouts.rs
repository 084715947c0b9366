//! Every timeout fires at its value, whatever the value is (R-32, T-11).

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;
use toolwire::Protocol;
use toolwire_gateway::config::{Config, Limits, Timeouts};

use super::{Figures, percentile, report, size};
use crate::upstream::{Server, Step, chunk, stream_head};
use crate::{at, client, config, fixtures, ms, start};

#[derive(Clone, Copy, Debug)]
enum Phase {
    Connect,
    Headers,
    Whole,
    FirstEvent,
    Idle,
    Total,
    RequestHead,
    RequestBody,
    Stall,
    IdleConnection,
    EarlyHead,
    Heartbeat,
    Linger,
    Grace,
}

const PHASES: [Phase; 14] = [
    Phase::Connect,
    Phase::Headers,
    Phase::Whole,
    Phase::FirstEvent,
    Phase::Idle,
    Phase::Total,
    Phase::RequestHead,
    Phase::RequestBody,
    Phase::Stall,
    Phase::IdleConnection,
    Phase::EarlyHead,
    Phase::Heartbeat,
    Phase::Linger,
    Phase::Grace,
];

/// The names of all settings that are times, each of which has its phases above. A
/// new one does not compile until somebody has thought of it here.
fn is_covered(timeouts: &Timeouts, limits: &Limits) {
    let Timeouts { connect: _, headers: _, whole: _, first_event: _, idle: _, total: _ } = timeouts;
    let Limits {
        head_time: _,
        stall: _,
        idle: _,
        linger: _,
        grace: _,
        heartbeat: _,
        early_head: _,
        body: _,
        upload: _,
        head: _,
        tools: _,
        schemas: _,
        event: _,
        response: _,
        bodies_total: _,
        streams_total: _,
        connections: _,
        connections_per_address: _,
        loss_header: _,
    } = limits;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_phase_fires_at_its_value() {
    is_covered(&Timeouts::default(), &Limits::default());
    let values = [ms(size(300, 1000) as u64), ms(size(900, 4000) as u64)];
    let all: Vec<_> = PHASES
        .into_iter()
        .flat_map(|phase| values.map(|value| (phase, value)))
        .map(|(phase, value)| (phase, value, tokio::spawn(fires(phase, value))))
        .collect();
    let mut late = Vec::new();
    for (phase, value, took) in all {
        let took = took.await.unwrap();
        // A timer has steps of a millisecond, and both ends are read a little late.
        assert!(took >= value - ms(20), "{phase:?} fires after {took:?} and not after {value:?}");
        assert!(took < value + ms(2000), "{phase:?} fires after {took:?} and not after {value:?}");
        late.push(took.saturating_sub(value));
    }
    let worst = percentile(&mut late, 100);
    report(Figures {
        what: "timeouts, 14 phases with two values each, lateness".to_owned(),
        count: late.len(),
        times: late,
        remark: format!("the worst {worst:.1?}, of {values:?}"),
        ..Figures::default()
    });
}

/// How long it takes until a timeout fires that has this value.
async fn fires(phase: Phase, value: Duration) -> Duration {
    let events = fixtures::events(Protocol::Chat);
    let head = stream_head("");
    let begun = vec![head.clone(), chunk(events[..2].concat()), Step::Hang];
    match phase {
        Phase::Connect => connects(value).await,
        Phase::Headers => {
            answers(vec![Step::Hang], |config| config.upstreams[0].timeouts.headers = value).await
        }
        Phase::Whole => {
            let set = |config: &mut Config| config.upstreams[0].timeouts.whole = value;
            answers_to(false, vec![Step::Hang], set).await
        }
        Phase::FirstEvent => {
            let set = |config: &mut Config| config.upstreams[0].timeouts.first_event = value;
            answers(vec![head, Step::Hang], set).await
        }
        Phase::Idle => answers(begun, |config| config.upstreams[0].timeouts.idle = value).await,
        Phase::Total => {
            let mut steps = vec![head];
            steps.extend((0..2000).flat_map(|_| [chunk(&events[1]), Step::Wait(ms(20))]));
            answers(steps, |config| config.upstreams[0].timeouts.total = value).await
        }
        Phase::RequestHead => sends("POST /v1/messages HTTP/1.1\r\nhost: local", value).await,
        Phase::RequestBody => {
            let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: \
                        application/json\r\nconnection: close\r\ncontent-length: 9\r\n\r\n";
            sends(head, value).await
        }
        Phase::Stall => {
            let Step::Send(event) = chunk(&events[1]) else { panic!("not bytes") };
            let server =
                Server::new(Protocol::Chat, vec![head, Step::Flood(event.repeat(100))]).await;
            let mut config = config(vec![at(&server)]);
            config.limits.stall = value;
            let gateway = start(config).await;
            let question = fixtures::question(Protocol::Chat, true);
            let path = fixtures::path(Protocol::Chat);
            let began = Instant::now();
            let _open = client::open(gateway.address(), path, &[], &question).await;
            server.left_within(1, value * 10).await.saturating_duration_since(began)
        }
        Phase::IdleConnection => {
            let mut config = config(Vec::new());
            config.limits.idle = value;
            let gateway = start(config).await;
            let stream = TcpStream::connect(gateway.address()).await.unwrap();
            let (_send, connection) = h2::client::handshake(stream).await.unwrap();
            let _: &h2::client::SendRequest<bytes::Bytes> = &_send;
            let began = Instant::now();
            let _ = tokio::time::timeout(value * 10, connection).await.expect("it stays open");
            began.elapsed()
        }
        Phase::EarlyHead => {
            let set = |config: &mut Config| config.limits.early_head = value;
            until(vec![Step::Hang], set, "", "HTTP/1.1 200").await
        }
        Phase::Heartbeat => {
            let set = |config: &mut Config| config.limits.heartbeat = value;
            until(begun, set, "Let me look.", "\n:").await
        }
        Phase::Linger => {
            let gateway = start(config(Vec::new())).await;
            let began = Instant::now();
            gateway.handle().drain(value);
            gateway.stopped().await;
            began.elapsed()
        }
        Phase::Grace => {
            let server = Server::new(Protocol::Chat, begun).await;
            let mut config = config(vec![at(&server)]);
            config.limits.grace = value;
            let gateway = start(config).await;
            let question = fixtures::question(Protocol::Chat, true);
            let path = fixtures::path(Protocol::Chat);
            let mut open = client::open(gateway.address(), path, &[], &question).await;
            client::until(&mut open, "Let me look.").await;
            let began = Instant::now();
            gateway.handle().drain(Duration::ZERO);
            client::until(&mut open, "shutting down").await;
            began.elapsed()
        }
    }
}

/// The time to the end of a response.
async fn answers(steps: Vec<Step>, set: impl FnOnce(&mut Config)) -> Duration {
    answers_to(true, steps, set).await
}

/// The same for a client that wants a stream or not.
async fn answers_to(
    wants_stream: bool,
    steps: Vec<Step>,
    set: impl FnOnce(&mut Config),
) -> Duration {
    let server = Server::new(Protocol::Chat, steps).await;
    let mut config = config(vec![at(&server)]);
    set(&mut config);
    let gateway = start(config).await;
    let question = fixtures::question(Protocol::Messages, wants_stream);
    let began = Instant::now();
    let got = client::post(gateway.address(), "/v1/messages", &[], &question).await;
    let took = began.elapsed();
    let is_error = got.body.contains("\"error\"") && !got.body.contains("message_stop");
    assert!(is_error, "{got:?}");
    took
}

/// The time from one text of a response to another.
async fn until(steps: Vec<Step>, set: impl FnOnce(&mut Config), from: &str, to: &str) -> Duration {
    let server = Server::new(Protocol::Chat, steps).await;
    let mut config = config(vec![at(&server)]);
    set(&mut config);
    let gateway = start(config).await;
    let question = fixtures::question(Protocol::Chat, true);
    let path = fixtures::path(Protocol::Chat);
    let mut began = Instant::now();
    let mut open = client::open(gateway.address(), path, &[], &question).await;
    if !from.is_empty() {
        client::until(&mut open, from).await;
        began = Instant::now();
    }
    client::until(&mut open, to).await;
    began.elapsed()
}

/// The time until the gateway gives up on a client that sends no more than this.
async fn sends(begin: &str, value: Duration) -> Duration {
    let mut config = config(Vec::new());
    config.limits.head_time = value;
    let gateway = start(config).await;
    let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
    let began = Instant::now();
    stream.write_all(begin.as_bytes()).await.unwrap();
    let _ = stream.read(&mut [0; 64]).await;
    began.elapsed()
}

/// The time until the gateway gives up on an upstream that accepts no connection.
async fn connects(value: Duration) -> Duration {
    // A listener whose queue is full neither accepts nor refuses a connection.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let _held: Vec<_> = (0..8).map(|_| tokio::spawn(TcpStream::connect(address))).collect();
    tokio::time::sleep(ms(50)).await;
    let mut upstream = at(&Server::nowhere(Protocol::Chat, address));
    upstream.timeouts.connect = value;
    let gateway = start(config(vec![upstream])).await;
    let question = fixtures::question(Protocol::Chat, false);
    let path = fixtures::path(Protocol::Chat);
    let began = Instant::now();
    let got = client::post(gateway.address(), path, &[], &question).await;
    assert_eq!(got.status, 504, "{got:?}");
    began.elapsed()
}
