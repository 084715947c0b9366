//! A request that is read once crosses like one that is read again and again,
//! and so does its answer.

use toolwire::pipe::Pipe;
use toolwire::protocol::PathMatch;
use toolwire::translate::{self, KeptState, Options, PreparedRequest, RequestHead, ToolLists};
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
            let translator = prepared.response_translator(&Options::new());
            let once = translator.translate(answer);
            // A failed answer is an error to whoever expects an answer.
            if from != to && translator.failure(answer).is_some() {
                assert!(matches!(once, Err(translate::Error::NotAnAnswer)), "{told}");
                continue;
            }
            let again = translate::response(to, from, answer, &Options::new().request(&body));
            let once = once.map(|done| (done.body.into_owned(), done.ledger));
            let again = again.map(|done| (done.body, done.ledger));
            assert_eq!(once, again, "{told}");
        }
    }
}

/// An error that comes with a good status is no answer, whoever sends it and whoever waits
/// for one.
#[test]
fn errors_are_not_answers() {
    for (folder, from, body) in documents("errors") {
        let document: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let names_error = document.get(from.describe().error_member).is_some();
        for to in PROTOCOLS {
            let prepared = PreparedRequest::new(to, from, br#"{"messages":[],"input":[]}"#);
            let translator = prepared.unwrap().response_translator(&Options::new());
            let error = translator.translate(&body).err();
            let is_refused = match error {
                Some(translate::Error::NotAnAnswer) => true,
                // Nothing in it says that it is an error.
                Some(translate::Error::Invalid { .. }) => !names_error,
                _ => from == to && !names_error,
            };
            assert!(is_refused, "{} to {to}: {error:?}", folder.display());
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
fn requests_whose_tools_came_before() {
    let lists = ToolLists::with_room(1 << 24);
    for (folder, from, body) in documents("requests") {
        let once = RequestHead::read(from, &PathMatch::default(), &body).unwrap();
        for _ in 0..2 {
            let head = RequestHead::read_with(&lists, from, &PathMatch::default(), &body).unwrap();
            assert_eq!(head, once, "{}", folder.display());
        }
    }
}

/// Upstreams that take tools in other ways.
fn upstreams(to: Protocol) -> [Options<'static>; 5] {
    let profile = |change: fn(&mut Profile)| {
        let mut profile = Profile::of(to);
        change(&mut profile);
        options("theirs").profile(profile)
    };
    [
        options("theirs"),
        options("o3-mini"),
        profile(|profile| profile.strict = !profile.strict),
        profile(|profile| profile.allowed_tools = !profile.allowed_tools),
        profile(|profile| profile.names.max = 12),
    ]
}

/// What is kept of a list is the same wherever the list is in the next request and whoever
/// gets it, and so is what the ledger says about it and how its calls come back.
#[test]
fn translations_of_tools_that_came_before() {
    let lists = ToolLists::with_room(1 << 24);
    for (folder, from, body) in documents("requests") {
        if from.describe().answers.names_model() {
            continue;
        }
        RequestHead::read_with(&lists, from, &PathMatch::default(), &body).unwrap();
        for space in [0, 1, 100] {
            let body = [" ".repeat(space).as_bytes(), body.as_slice()].concat();
            let head = RequestHead::read_with(&lists, from, &PathMatch::default(), &body).unwrap();
            for to in PROTOCOLS {
                let told = format!("{} to {to}", folder.display());
                let mut prepared = PreparedRequest::with_head(from, to, &head, &body).unwrap();
                let mut afresh = PreparedRequest::new(from, to, &body).unwrap();
                let debug = |prepared: &PreparedRequest<'_>| format!("{:?}", prepared.request());
                assert_eq!(debug(&prepared), debug(&afresh), "{told}");
                for options in upstreams(to) {
                    let known = prepared.translate(&options);
                    assert_eq!(known, afresh.translate(&options), "{told}");
                    let [known, afresh] = [&prepared, &afresh]
                        .map(|request| format!("{:?}", request.response_translator(&options)));
                    assert_eq!(known, afresh, "{told}");
                }
            }
        }
    }
}

#[test]
fn what_passes_whole_is_translated_into_itself() {
    let mut passed = 0;
    for (folder, from, body) in documents("requests") {
        let head = RequestHead::read(from, &PathMatch::default(), &body).unwrap();
        for to in PROTOCOLS {
            let mut prepared = PreparedRequest::with_head(from, to, &head, &body).unwrap();
            assert!(!prepared.passes_whole(&options("theirs")) || head.model.is_none());
            let own = options(head.model.as_deref().unwrap_or_default());
            if !prepared.passes_whole(&own) {
                continue;
            }
            passed += 1;
            let translated = prepared.translate(&own).unwrap();
            assert_eq!(translated.body, body, "{}", folder.display());
            assert_eq!(translated.ledger, []);
        }
    }
    assert!(passed > 100, "{passed}");
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

/// Where the caller keeps the conversation, the upstream hears nothing of it,
/// nothing is refused, and the answer says what the caller says.
#[test]
fn state_that_the_caller_keeps() {
    let body = br#"{"model":"m","input":"Hi","max_output_tokens":9,"store":true,"previous_response_id":"resp_1",
        "conversation":"conv_1","background":true}"#;
    for (to, answer) in [(Protocol::Chat, CHAT_ANSWER), (Protocol::Messages, MESSAGES_ANSWER)] {
        let refused = translate::request(Protocol::Responses, to, body, &Options::new());
        assert!(matches!(refused, Err(translate::Error::Refused { .. })), "{to}");
        let mut prepared = PreparedRequest::new(Protocol::Responses, to, body).unwrap();
        let kept = KeptState {
            id: Some("resp_2".to_owned()),
            created: Some(7),
            store: true,
            previous: Some("resp_1".to_owned()),
            conversation: Some("conv_1".to_owned()),
            background: false,
        };
        let options = Options::new().kept_state(kept);
        let translated = prepared.translate(&options).unwrap();
        assert_eq!(translated.ledger, [], "{to}");
        let sent = String::from_utf8(translated.body).unwrap();
        for word in ["store", "resp_1", "conv_1", "background"] {
            assert!(!sent.contains(word), "{to}: {word} in {sent}");
        }
        let translator = prepared.response_translator(&options);
        let answered = translator.translate(answer.as_bytes()).unwrap().body.into_owned();
        let answered: serde_json::Value = serde_json::from_slice(&answered).unwrap();
        let mut pipe = prepared.pipe(&options).with_held_ending();
        pipe.whole(answer.as_bytes(), &mut Vec::new());
        let streamed: serde_json::Value =
            serde_json::from_str(&pipe.held_answer().unwrap().text).unwrap();
        for answer in [answered, streamed] {
            assert_eq!(answer["id"], "resp_2", "{to}");
            assert_eq!(answer["created_at"], 7, "{to}");
            assert_eq!(answer["store"], true, "{to}");
            assert_eq!(answer["background"], false, "{to}");
            assert_eq!(answer["previous_response_id"], "resp_1", "{to}");
            assert_eq!(answer["conversation"], serde_json::json!({"id": "conv_1"}), "{to}");
        }
    }
}

const CHAT_ANSWER: &str = r#"{"id":"c1","object":"chat.completion","created":5,"model":"m",
    "choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},
    "finish_reason":"stop"}]}"#;

const MESSAGES_ANSWER: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m",
    "content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","stop_sequence":null,
    "usage":{"input_tokens":1,"output_tokens":1}}"#;

/// Reasoning of a Chat upstream, which nobody seals, is nothing that a Responses upstream
/// takes when the conversation goes on there and it keeps nothing.
#[test]
fn reasoning_without_a_seal_does_not_reach_another_upstream() {
    let answer = br#"{"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"Hm","content":"So."},"finish_reason":"stop"}]}"#;
    let options = Options::default();
    let given = translate::response(Protocol::Chat, Protocol::Responses, answer, &options).unwrap();
    let given: serde_json::Value = serde_json::from_slice(&given.body).unwrap();
    let output = given["output"].as_array().unwrap();
    assert_eq!(output[0]["type"], "reasoning");
    for store in [false, true] {
        let body = serde_json::json!({"model": "m", "store": store, "input": output}).to_string();
        let body = body.as_bytes();
        let to = Protocol::Responses;
        let head = RequestHead::read(to, &PathMatch::default(), body).unwrap();
        let prepared = [
            PreparedRequest::new(to, to, body).unwrap(),
            PreparedRequest::with_head(to, to, &head, body).unwrap(),
        ];
        for mut prepared in prepared {
            let sent = prepared.translate(&options).unwrap();
            if store {
                assert_eq!(sent.body, body);
                continue;
            }
            let codes: Vec<String> =
                sent.ledger.iter().map(|entry| entry.code.to_string()).collect();
            assert_eq!(codes, ["item_id", "reasoning_unsigned"]);
            let sent: serde_json::Value = serde_json::from_slice(&sent.body).unwrap();
            assert_eq!(sent["input"].as_array().unwrap().len(), 1);
            assert_eq!(sent["input"][0]["content"][0]["text"], "So.");
        }
    }
}
