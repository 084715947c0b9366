//! What a stream says of itself is the same whether its bytes pass or are
//! translated.

use toolwire::Protocol;
use toolwire::model::{ErrorKind, Retry};
use toolwire::translate::{Options, PreparedRequest};

use super::{pipe, recorded};

#[test]
fn a_stream_that_passes_is_summed_up_like_one_that_is_translated() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for stream in recorded() {
        let told = stream.folder.display();
        let summary = |to| {
            let mut pipe = pipe(stream.from, to, None);
            let mut out = Vec::new();
            pipe.push(&stream.bytes, &mut out);
            pipe.finish(&mut out);
            let summary = pipe.summary();
            let usage = summary.usage.as_ref().map(|usage| (usage.input, usage.output));
            summary.complete.then_some((summary.stop, summary.calls, usage, summary.has_content))
        };
        let passed = summary(stream.from);
        for to in Protocol::ALL.into_iter().filter(|to| *to != stream.from) {
            let translated = summary(to);
            if let (Some(passed), Some(translated)) = (passed, translated) {
                compared += 1;
                if passed != translated || passed.0.is_none() {
                    wrong.push(format!("{told} to {to}: {passed:?} {translated:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 100, "{compared}");
}

/// The bytes of an answer that its vendor broke off pass within Chat, and what is logged of
/// it says that it failed.
#[test]
fn an_answer_that_was_broken_off_passes_and_is_summed_up_as_an_error() {
    for word in ["insufficient_system_resource", "abort", "error"] {
        let stream = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"I will\"}},\
             \"finish_reason\":null}}]}}\n\n\
             data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{word}\"}}]}}\n\n\
             data: [DONE]\n\n"
        );
        let mut pipe = pipe(Protocol::Chat, Protocol::Chat, None);
        let mut out = Vec::new();
        pipe.push(stream.as_bytes(), &mut out);
        pipe.finish(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), stream);
        assert!(pipe.summary().error.is_some() && !pipe.summary().complete, "{word}");

        let answer = format!(
            r#"{{"choices":[{{"index":0,"message":{{"role":"assistant","content":"I will"}},"finish_reason":"{word}"}}]}}"#
        );
        let request = br#"{"messages":[]}"#;
        let options = Options::new();
        let prepared = PreparedRequest::new(Protocol::Chat, Protocol::Chat, request).unwrap();
        let translator = prepared.response_translator(&options);
        let passed = translator.translate(answer.as_bytes()).unwrap();
        assert_eq!(passed.body, answer.as_bytes());
        assert_eq!(passed.summary.error.map(|error| error.retry), Some(Retry::Later), "{word}");
    }
}

/// The delta of a role is no answer.
#[test]
fn a_stream_that_says_nothing_is_cut_off() {
    let stream = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n\
                  data: [DONE]\n\n";
    for to in [Protocol::Responses, Protocol::Messages] {
        let mut pipe = pipe(Protocol::Chat, to, None);
        let mut out = Vec::new();
        pipe.push(stream.as_bytes(), &mut out);
        pipe.finish(&mut out);
        let kind = pipe.summary().error.as_ref().map(|error| error.kind);
        assert_eq!(kind, Some(ErrorKind::Truncated), "{to}");
    }
}
