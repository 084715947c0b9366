//! No client ever gets anything of another's response (R-46, T-35).

use std::time::Instant;

use toolwire::Protocol;

use super::{Figures, KeepAlive, report, size};
use crate::upstream::{Server, Step, chunk, stream_end, stream_head, whole};
use crate::{at, config, fixtures, pairs, start};

/// The mark of a request. No mark is part of another.
fn mark(number: usize) -> String {
    format!("nonce{number}ecnon")
}

/// Answers with the mark of the request in every place where text can be.
fn echo(from: Protocol, body: &str) -> Vec<Step> {
    let start = body.find("nonce").unwrap();
    let end = body.find("ecnon").unwrap();
    let mark = &body[start..end + 5];
    let fill = |text: &str| text.replace("Let me look.", mark).replace("Paris", mark);
    if body.contains("\"stream\":true") {
        let mut steps = vec![stream_head("")];
        steps.extend(fixtures::events(from).iter().map(|event| chunk(fill(event))));
        steps.push(stream_end());
        return steps;
    }
    whole(200, "", fill(&fixtures::answer(from)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn marks_come_back_to_who_sent_them() {
    let count = size(2700, 100_000);
    let mut workers = Vec::new();
    let each = count / 9;
    for (pair, (to, from)) in pairs().enumerate() {
        let server = Server::scripted(from, move |_, asked| echo(from, &asked.body)).await;
        let gateway = start(config(vec![at(&server)])).await;
        for worker in 0..4 {
            let address = gateway.address();
            workers.push(tokio::spawn(async move {
                let mut client = KeepAlive::new(address);
                let mut times = Vec::new();
                for number in (worker..each).step_by(4) {
                    let mark = mark(pair * each + number);
                    let stream = number % 2 == 0;
                    let question = fixtures::question(to, stream).replace("Paris", &mark);
                    let began = Instant::now();
                    let got = client.post(fixtures::path(to), &question).await;
                    times.push(began.elapsed());
                    assert_eq!(got.status, 200, "{got:?}");
                    let marks = got.body.matches("nonce").count();
                    let own = got.body.matches(&mark).count();
                    assert!(own >= 2 && own == marks, "{to} {from} {mark}: {got:?}");
                }
                times
            }));
        }
    }
    let mut times = Vec::new();
    for worker in workers {
        times.extend(worker.await.unwrap());
    }
    report(Figures {
        what: "interleaved requests with marks".to_owned(),
        count: times.len(),
        times,
        remark: "0 foreign marks".to_owned(),
        ..Figures::default()
    });
}
