//! A request that is read once crosses like one that is read again and again,
//! and so does its answer.

use toolwire::pipe::Pipe;
use toolwire::protocol::PathMatch;
use toolwire::translate::{self, Options, PreparedRequest, RequestHead};
use toolwire::{Profile, Protocol};

use crate::PROTOCOLS;
use crate::documents::{documents, streams};

fn options(model: &str) -> Options<'static> {
    Options::new().model(model)
}

#[test]
fn requests_and_their_answers() {
    let answers = documents("responses");
    for (number, (folder, from, body)) in documents("requests").into_iter().enumerate() {
        for to in PROTOCOLS {
            let told = format!("{} to {to}", folder.display());
            let mut prepared = PreparedRequest::new(from, to, &body).unwrap();
            let once = prepared.translate(&options("theirs"));
            assert_eq!(once, translate::request(from, to, &body, &options("theirs")), "{told}");
            // What went up under another name does not change the way back, also
            // where the answer names no model and gets the client's name for it.
            let mut given = answers.iter().filter(|(_, protocol, _)| *protocol == to);
            let (_, _, answer) = given.nth(number % 7).unwrap();
            let mut answer: serde_json::Value = serde_json::from_slice(answer).unwrap();
            answer.as_object_mut().unwrap().shift_remove(to.describe().model_member);
            let answer = answer.to_string();
            let answer = answer.as_bytes();
            let once = prepared.response_translator(&Options::new()).translate(answer);
            let again = translate::response(to, from, answer, &Options::new().request(&body));
            let once = once.map(|done| (done.body.into_owned(), done.ledger));
            let again = again.map(|done| (done.body, done.ledger));
            assert_eq!(once, again, "{told}");
        }
    }
}

#[test]
fn requests_whose_model_was_found() {
    for (folder, from, body) in documents("requests") {
        // What the URL says is no part of the body.
        if from.describe().answers.names_model() {
            continue;
        }
        let head = RequestHead::read(from, &PathMatch::default(), &body).unwrap();
        for to in PROTOCOLS {
            let mut prepared = PreparedRequest::with_head(from, to, &head, &body).unwrap();
            let found = prepared.translate(&options("theirs"));
            let looked_for = translate::request(from, to, &body, &options("theirs"));
            assert_eq!(found, looked_for, "{} to {to}", folder.display());
        }
    }
}

#[test]
fn requests_and_their_streams() {
    let streams = streams();
    for (number, (folder, from, body)) in documents("requests").into_iter().enumerate() {
        for to in PROTOCOLS {
            let mut prepared = PreparedRequest::new(from, to, &body).unwrap();
            let _ = prepared.translate(&options("theirs"));
            let stream = streams.iter().filter(|stream| stream.from == to).nth(number % 7).unwrap();
            // Cut in the middle, so that it is toolwire that ends it.
            let half = &stream.bytes[..stream.bytes.len() / 2];
            let run = |mut pipe: Pipe| {
                let mut out = Vec::new();
                pipe.push(half, &mut out);
                pipe.finish(&mut out);
                String::from_utf8(out).unwrap()
            };
            let once = run(prepared.pipe(&Options::default()));
            let again = run(Pipe::new(to, from, &Options::new().request(&body)).unwrap());
            assert_eq!(once, again, "{} to {to}", folder.display());
        }
    }
}

/// Where the bytes pass, nothing is read into the model.
#[test]
fn what_is_read() {
    for (folder, from, body) in documents("requests") {
        for to in PROTOCOLS {
            let prepared = PreparedRequest::new(from, to, &body).unwrap();
            let read = prepared.request().is_some();
            assert_eq!(read, from != to, "{} to {to}", folder.display());
        }
    }
}

/// A system turn inside the conversation needs a feature of the upstream, which
/// a client of another protocol cannot know.
#[test]
fn a_translation_says_which_features_it_needs() {
    let mut profile = Profile::of(Protocol::Messages);
    profile.mid_system = true;
    let accepting = Options::new().profile(profile);
    let feature = ["mid-conversation-system-2026-04-07"];
    for (role, options, needed) in [
        ("system", &accepting, &feature[..]),
        ("developer", &accepting, &feature),
        ("user", &accepting, &[]),
        ("system", &Options::new(), &[]),
    ] {
        let chat = format!(
            r#"{{"model":"m","messages":[{{"role":"system","content":"Be brief."}},{{"role":"user","content":"Hi"}},{{"role":"assistant","content":"Hello."}},{{"role":"user","content":"Go on"}},{{"role":"{role}","content":"Now rhyme."}}]}}"#
        );
        let chat = chat.as_bytes();
        let done = translate::request(Protocol::Chat, Protocol::Messages, chat, options).unwrap();
        assert_eq!(done.required_features, needed, "{role}");
    }
    let own = br#"{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"system","content":"Rhyme."}]}"#;
    let passed =
        translate::request(Protocol::Messages, Protocol::Messages, own, &accepting).unwrap();
    assert_eq!(passed.required_features, [""; 0]);
}
