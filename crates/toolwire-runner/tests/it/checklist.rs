//! The checklist and the list of errors that toolwire was asked for: a test for
//! each item, in every protocol, for whole answers and for streams.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolwire::calls::{self, ToolOutput};
use toolwire::tracker::{ResultMatch, Tracker};
use toolwire_runner::{CallState, Error, Event, Outcome, Protocol, Runner};

use crate::{call, calls, message, read, run, runner, says};

/// Runs a conversation in every protocol, whole and streamed.
async fn everywhere(
    runner: Runner,
    answers: &[Value],
    check: impl Fn(Result<Outcome, Error>, Protocol, Vec<Value>),
) {
    for protocol in Protocol::ALL {
        for stream in [false, true] {
            let runner = runner.clone().streaming(stream);
            let (outcome, model) = run(&runner, protocol, answers.to_vec()).await;
            check(outcome, protocol, model.requests());
        }
    }
}

fn states(outcome: &Outcome) -> Vec<CallState> {
    outcome.calls().iter().map(|call| call.state).collect()
}

fn fine(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

fn failed(text: &str) -> (String, bool) {
    (text.to_owned(), true)
}

#[tokio::test]
async fn single_call() {
    let answers = [calls(None, &[("call_1", "Paris")]), says("Sunny.")];
    everywhere(runner(), &answers, |outcome, protocol, requests| {
        let outcome = outcome.unwrap();
        assert_eq!(outcome.text(), "Sunny.", "{protocol}");
        assert_eq!(read(&outcome), [fine("sunny in Paris")]);
        assert_eq!((outcome.rounds(), requests.len()), (2, 2));
        assert_eq!(states(&outcome), [CallState::Completed]);
    })
    .await;
}

#[tokio::test]
async fn parallel_calls() {
    let cities = [("call_1", "Paris"), ("call_2", "Rome"), ("call_3", "Oslo")];
    everywhere(runner(), &[calls(None, &cities), says("Sunny.")], |outcome, _, _| {
        let outcome = outcome.unwrap();
        let expected = [fine("sunny in Paris"), fine("sunny in Rome"), fine("sunny in Oslo")];
        assert_eq!(read(&outcome), expected);
        assert_eq!(outcome.rounds(), 2);
    })
    .await;
}

#[tokio::test]
async fn sequential_calls() {
    let answers = [
        calls(None, &[("call_1", "Paris")]),
        calls(None, &[("call_2", "Rome")]),
        says("Sunny in both."),
    ];
    everywhere(runner(), &answers, |outcome, _, _| {
        let outcome = outcome.unwrap();
        assert_eq!(read(&outcome), [fine("sunny in Paris"), fine("sunny in Rome")]);
        assert_eq!(outcome.rounds(), 3);
        let turns: Vec<usize> = outcome.calls().iter().map(|call| call.turn).collect();
        assert_eq!(turns, [0, 1]);
    })
    .await;
}

#[tokio::test]
async fn failed_call() {
    let answers = [calls(None, &[("call_1", "Atlantis")]), says("No idea.")];
    everywhere(runner(), &answers, |outcome, protocol, requests| {
        let outcome = outcome.unwrap();
        assert_eq!(read(&outcome), [failed("no such city")]);
        assert_eq!(states(&outcome), [CallState::Failed]);
        // Messages has a flag for it, the others a text that is agreed on.
        let sent = requests[1].to_string();
        let flagged = protocol == Protocol::Messages;
        assert_eq!(sent.contains(r#""is_error":true"#), flagged, "{sent}");
        assert_eq!(sent.contains("Error: no such city"), !flagged, "{sent}");
    })
    .await;
}

#[tokio::test]
async fn timed_out_call() {
    let answers = [calls(None, &[("call_1", "Avalon")]), says("No idea.")];
    everywhere(runner(), &answers, |outcome, _, _| {
        let outcome = outcome.unwrap();
        assert_eq!(read(&outcome), [failed("the tool timed out after 0.2 seconds")]);
        assert_eq!(states(&outcome), [CallState::TimedOut]);
        assert!(outcome.calls()[0].is_answered());
    })
    .await;
}

/// Progress tells a tool that ran out of time from one that failed.
#[tokio::test]
async fn timed_out_and_failed_calls_are_told_apart() {
    let told: Arc<Mutex<Vec<(String, CallState)>>> = Arc::default();
    let log = Arc::clone(&told);
    let runner = runner().on_event(move |event| {
        if let Event::Finished { call, state, .. } = event {
            log.lock().unwrap().push((call.id.clone(), state));
        }
    });
    let cities = [("a", "Avalon"), ("b", "Atlantis"), ("c", "Paris"), ("d", "Pompeii")];
    let answers = vec![calls(None, &cities), says("Done.")];
    let (outcome, _model) = run(&runner, Protocol::Chat, answers).await;
    let (late, failed, done) = (CallState::TimedOut, CallState::Failed, CallState::Completed);
    assert_eq!(states(&outcome.unwrap()), [late, failed, done, failed]);
    let mut told = told.lock().unwrap().clone();
    told.sort_by(|one, other| one.0.cmp(&other.0));
    let told: Vec<CallState> = told.into_iter().map(|(_, state)| state).collect();
    assert_eq!(told, [late, failed, done, failed]);
}

#[tokio::test]
async fn text_with_calls() {
    let answers = [calls(Some("Let me look."), &[("call_1", "Paris")]), says("Sunny.")];
    everywhere(runner(), &answers, |outcome, protocol, requests| {
        assert_eq!(outcome.unwrap().text(), "Sunny.");
        // What the model said goes back to it, beside its call.
        let sent = requests[1].to_string();
        assert!(sent.contains("Let me look."), "{protocol}: {sent}");
    })
    .await;
}

/// The id of a call comes back with its result, in the member of the protocol.
#[tokio::test]
async fn round_trip() {
    let answers = [calls(None, &[("call_xyz", "Paris")]), says("Sunny.")];
    everywhere(runner(), &answers, |outcome, protocol, requests| {
        outcome.unwrap();
        let sent = &requests[1];
        let (call, result) = match protocol {
            Protocol::Chat => {
                (&sent["messages"][1]["tool_calls"][0]["id"], &sent["messages"][2]["tool_call_id"])
            }
            Protocol::Responses => (&sent["input"][1]["call_id"], &sent["input"][2]["call_id"]),
            Protocol::Messages | _ => (
                &sent["messages"][1]["content"][0]["id"],
                &sent["messages"][2]["content"][0]["tool_use_id"],
            ),
        };
        assert_eq!((call, result), (&json!("call_xyz"), &json!("call_xyz")), "{sent}");
    })
    .await;
}

#[tokio::test]
async fn missing_name() {
    let nameless = message(json!({"role": "assistant", "content": null,
        "tool_calls": [call("call_1", "", "{}"), call("call_2", "forecast", "{}")]}));
    for (protocol, stream) in [(Protocol::Chat, false), (Protocol::Responses, false)] {
        let answers = vec![nameless.clone(), says("Sorry.")];
        let (outcome, _model) = run(&runner().streaming(stream), protocol, answers).await;
        let expected = [
            failed("the call names no tool; the tools are `get_weather`"),
            failed("there is no tool `forecast`; the tools are `get_weather`"),
        ];
        assert_eq!(read(&outcome.unwrap()), expected, "{protocol}");
    }
}

#[tokio::test]
async fn invalid_arguments() {
    let wrong = |arguments: &str| {
        let call = call("call_1", "get_weather", arguments);
        message(json!({"role": "assistant", "content": null, "tool_calls": [call]}))
    };
    for (arguments, expected) in [
        (
            r#"{"city": 5}"#,
            "the arguments do not fit the schema: /city: 5 is not of type \"string\"",
        ),
        (
            "{}",
            "the arguments do not fit the schema: the arguments: \"city\" is a required property",
        ),
        ("", "the arguments do not fit the schema: the arguments: \"city\" is a required property"),
    ] {
        everywhere(runner(), &[wrong(arguments), says("Sorry.")], |outcome, protocol, _| {
            assert_eq!(read(&outcome.unwrap()), [failed(expected)], "{protocol} {arguments}");
        })
        .await;
    }
    let (outcome, _model) =
        run(&runner(), Protocol::Chat, vec![wrong(r#"{"city": "Par"#), says("Sorry.")]).await;
    let (text, is_error) = &read(&outcome.unwrap())[0];
    assert!(text.starts_with("the arguments are not valid JSON: "), "{text}");
    assert!(is_error);
}

/// A result that answers no call is found, and is not sent.
#[test]
fn orphaned_results() {
    for protocol in Protocol::ALL {
        let answer = calls(None, &[("call_1", "Paris")]).to_string();
        let answer = match protocol {
            Protocol::Chat => answer.into_bytes(),
            other @ (Protocol::Responses | Protocol::Messages | _) => {
                let options = toolwire::Options::new();
                let from = Protocol::Chat;
                toolwire::translate::response(from, other, answer.as_bytes(), &options)
                    .unwrap()
                    .body
            }
        };
        let mut tracker = Tracker::new();
        let made = tracker.answer(protocol, &answer, Duration::ZERO).unwrap();
        let orphan = ToolOutput::text("call_9", "?");
        assert_eq!(tracker.result(&orphan, Duration::ZERO), ResultMatch::Orphan);
        let answered = toolwire::tracker::answer_all(&made, vec![orphan.clone()]);
        assert_eq!(answered.orphaned, [orphan]);
        let continuation = calls::continuation(protocol, &answer, &answered.outputs).unwrap();
        let items: String = continuation.results().collect();
        assert!(items.contains("no result supplied") && !items.contains("call_9"), "{items}");
    }
}

#[tokio::test]
async fn partial_parallel_failure() {
    let cities =
        [("call_1", "Paris"), ("call_2", "Atlantis"), ("call_3", "Avalon"), ("call_4", "Pompeii")];
    everywhere(runner(), &[calls(None, &cities), says("Sunny.")], |outcome, _, _| {
        let outcome = outcome.unwrap();
        let expected = [
            fine("sunny in Paris"),
            failed("no such city"),
            failed("the tool timed out after 0.2 seconds"),
            failed("the tool panicked: the volcano"),
        ];
        assert_eq!(read(&outcome), expected);
        let (done, failed, late) = (CallState::Completed, CallState::Failed, CallState::TimedOut);
        assert_eq!(states(&outcome), [done, failed, late, failed]);
    })
    .await;
}

/// Definitions reach the model in the shape of its protocol.
#[tokio::test]
async fn tool_definitions() {
    everywhere(runner(), &[says("Hello.")], |outcome, protocol, requests| {
        outcome.unwrap();
        let tool = &requests[0]["tools"][0];
        let (name, schema) = match protocol {
            Protocol::Chat => (&tool["function"]["name"], &tool["function"]["parameters"]),
            Protocol::Responses => (&tool["name"], &tool["parameters"]),
            Protocol::Messages | _ => (&tool["name"], &tool["input_schema"]),
        };
        assert_eq!((name, schema), (&json!("get_weather"), &crate::city()), "{protocol}");
    })
    .await;
}
