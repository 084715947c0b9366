//! What a streamed answer loses reaches the client: as a comment before the
//! ending, and as a trailer if it takes trailers.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use toolwire::{LossPolicy, Protocol};
use toolwire_gateway::config::{Config, LogFormat};

use crate::log::logging;
use crate::upstream::{Server, Step, chunk, stream, stream_head, whole};
use crate::{at, client, config, fixtures, ms, pairs, start};

/// The answer with a member that no other protocol has.
fn lossy(protocol: Protocol) -> Vec<String> {
    let odd =
        |event: String| event.replace(r#""role":"assistant""#, r#""role":"assistant","odd":1"#);
    fixtures::events(protocol).into_iter().map(odd).collect()
}

async fn ask(
    (to, from): (Protocol, Protocol),
    steps: Vec<Step>,
    headers: &[&str],
    set: impl Fn(&mut Config),
) -> client::ReceivedResponse {
    let server = Server::new(from, steps).await;
    let mut config = config(vec![at(&server)]);
    set(&mut config);
    let gateway = start(config).await;
    client::post(gateway.address(), fixtures::path(to), headers, &fixtures::question(to, true))
        .await
}

/// The list in the comment of a stream, and the line behind it.
fn comment(body: &str) -> Option<(&str, &str)> {
    let mut comments = body.split("\n").filter(|line| line.starts_with(':'));
    let line = comments.next()?;
    assert_eq!(comments.next(), None, "{body}");
    let (before, behind) = body.split_once(&format!("{line}\n")).unwrap();
    assert!(before.is_empty() || before.ends_with("\n\n"), "{body}");
    let list = line.strip_prefix(": toolwire-loss ").unwrap();
    Some((list, behind.split('\n').next().unwrap_or_default()))
}

/// How the event begins that ends a stream well.
fn last_event(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "data: [DONE]",
        Protocol::Responses => "event: response.completed",
        Protocol::Messages => "event: message_stop",
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

#[tokio::test]
async fn a_comment_comes_before_the_last_event() {
    for (to, from) in pairs() {
        let got = ask((to, from), stream(&lossy(from)), &[], |_| ()).await;
        assert_eq!(got.status, 200, "{to} {from} {got:?}");
        if to == from {
            assert_eq!(got.body, lossy(from).concat());
            continue;
        }
        let (list, next) = comment(&got.body).unwrap_or_else(|| panic!("{to} {from} {got:?}"));
        assert!(list.contains("code=only:odd;action=dropped;side=response"), "{to} {from} {list}");
        assert_eq!(next, last_event(to), "{to} {from} {got:?}");
        assert!(got.header("trailer").is_none() && got.trailers == "\r\n", "{got:?}");
    }
}

#[tokio::test]
async fn a_comment_comes_before_the_error_of_a_stream_that_is_cut() {
    for (to, from) in pairs().filter(|(to, from)| to != from) {
        let mut steps = vec![stream_head("")];
        let events = lossy(from);
        steps.extend(events[..events.len() - 2].iter().map(chunk));
        steps.push(Step::Close);
        let got = ask((to, from), steps, &[], |_| ()).await;
        let (list, next) = comment(&got.body).unwrap_or_else(|| panic!("{to} {from} {got:?}"));
        assert!(list.contains("code=only:odd"), "{to} {from} {list}");
        let is_error = next == "event: error" || next.starts_with("data: {\"error\"");
        assert!(is_error, "{to} {from} {next}");
    }
}

#[tokio::test]
async fn the_policy_decides_as_it_does_for_a_header() {
    let pair = (Protocol::Chat, Protocol::Messages);
    let steps = || stream(&lossy(Protocol::Messages));
    // The answer is paid for, and the model may have called tools.
    for header in ["toolwire-on-loss: refuse", "toolwire-on-loss: report"] {
        let got = ask(pair, steps(), &[header], |_| ()).await;
        assert!(got.status == 200 && comment(&got.body).is_some(), "{got:?}");
    }
    let got = ask(pair, steps(), &["toolwire-on-loss: ignore", "te: trailers"], |_| ()).await;
    assert!(got.status == 200 && comment(&got.body).is_none(), "{got:?}");
    assert_eq!(got.trailers, "\r\n");
    let ignore = |config: &mut Config| config.on_loss = LossPolicy::Ignore;
    assert_eq!(comment(&ask(pair, steps(), &[], ignore).await.body), None);
}

#[tokio::test]
async fn a_client_that_takes_trailers_gets_one() {
    for (to, from) in pairs() {
        let got = ask((to, from), stream(&lossy(from)), &["te: gzip, Trailers"], |_| ()).await;
        assert_eq!(got.header("trailer"), Some("toolwire-loss"), "{to} {from} {got:?}");
        assert!(got.whole, "{got:?}");
        let Some((list, _)) = comment(&got.body) else {
            assert_eq!((to, got.trailers.as_str()), (from, "\r\n"));
            continue;
        };
        assert_eq!(got.trailers, format!("toolwire-loss: {list}\r\n\r\n"), "{to} {from}");
    }
}

#[tokio::test]
async fn a_trailer_comes_over_http_2() {
    for (to, from) in pairs() {
        let server = Server::new(from, stream(&lossy(from))).await;
        let gateway = start(config(vec![at(&server)])).await;
        let tcp = tokio::net::TcpStream::connect(gateway.address()).await.unwrap();
        let shake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(tcp));
        let (mut sender, connection) = shake.await.unwrap();
        tokio::spawn(connection);
        let url = format!("http://{}{}", gateway.address(), fixtures::path(to));
        let request = hyper::Request::post(url)
            .header("content-type", "application/json")
            .header("te", "trailers")
            .body(Full::<Bytes>::from(fixtures::question(to, true)))
            .unwrap();
        let got = sender.send_request(request).await.unwrap().into_body().collect().await.unwrap();
        let trailers = got.trailers().cloned().unwrap_or_default();
        let trailer = trailers.get("toolwire-loss").map(|value| value.to_str().unwrap().to_owned());
        let body = String::from_utf8(got.to_bytes().to_vec()).unwrap();
        let list = comment(&body).map(|(list, _)| list.to_owned());
        assert_eq!(trailer, list, "{to} {from} {body}");
        assert_eq!(list.is_none(), to == from, "{to} {from} {body}");
    }
}

/// An upstream that does not stream gives the losses before the head is sent.
/// The stream made of its answer says them too, like any other.
#[tokio::test]
async fn a_whole_answer_as_a_stream_has_the_header_and_the_comment() {
    for (to, from) in pairs().filter(|(to, from)| to != from) {
        let answer = fixtures::answer(from).replace("\"m-1\"", "\"m-1\",\"odd\":1");
        let got = ask((to, from), whole(200, "", answer), &["te: trailers"], |_| ()).await;
        let (list, next) = comment(&got.body).unwrap_or_else(|| panic!("{to} {from} {got:?}"));
        assert!(list.contains("code=only:odd;action=dropped;side=response"), "{to} {from} {list}");
        assert_eq!(next, last_event(to), "{to} {from} {got:?}");
        assert!(got.header("toolwire-loss").unwrap().contains(list), "{to} {from} {got:?}");
        assert_eq!(got.trailers, format!("toolwire-loss: {list}\r\n\r\n"), "{to} {from}");
    }
}

/// The log and the metrics know what the client knows.
#[tokio::test]
async fn the_log_and_the_metrics_have_them() {
    let server = Server::new(Protocol::Chat, stream(&lossy(Protocol::Chat))).await;
    let (gateway, lines) = logging(config(vec![at(&server)]), LogFormat::Json).await;
    let question = fixtures::question(Protocol::Messages, true);
    let to = gateway.address();
    client::post(to, "/v1/messages", &[], &question).await;
    let line: serde_json::Value = serde_json::from_str(&lines.wait(1).await[0]).unwrap();
    let losses: Vec<_> = line["losses"].as_array().unwrap().iter().collect();
    let codes: Vec<_> = losses.iter().map(|loss| loss["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["only:created", "only:odd"], "{line}");
    assert_eq!((&losses[0]["level"], &losses[1]["level"]), (&"info".into(), &().into()), "{line}");
    let metrics = client::get(to, "/metrics", &[]).await.body;
    for counted in ["losses_total", "lesser_losses_total"] {
        let sample = format!("toolwire_{counted}{{upstream=\"chat\"}} 1\n");
        assert!(metrics.contains(&sample), "{metrics}");
    }
}

/// A head that is sent before the upstream has answered announces the trailer
/// too.
#[tokio::test]
async fn a_stream_whose_head_comes_early_has_the_comment_and_the_trailer() {
    let (to, from) = (Protocol::Messages, Protocol::Chat);
    let mut steps = vec![Step::Wait(ms(200))];
    steps.extend(stream(&lossy(from)));
    let early = |config: &mut Config| config.limits.early_head = ms(20);
    let got = ask((to, from), steps, &["te: trailers"], early).await;
    assert!(got.body.starts_with(": ping\n"), "{got:?}");
    let body = got.body.replace(": ping\n", "");
    let body = body.split_inclusive('\n').filter(|line| !line.starts_with(": toolwire-loss: "));
    let body: String = body.collect();
    let (list, next) = comment(&body).unwrap();
    assert_eq!(next, last_event(to), "{body}");
    assert_eq!(got.header("trailer"), Some("toolwire-loss"), "{got:?}");
    assert_eq!(got.trailers, format!("toolwire-loss: {list}\r\n\r\n"));
}
