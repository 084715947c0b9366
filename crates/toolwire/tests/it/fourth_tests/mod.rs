//! What the protocol is held to beyond the laws that every protocol keeps.

mod accumulate;

use serde_json::{Value, json};
use toolwire::calls::{self, ToolOutput};
use toolwire::codec::EventOutcome;
use toolwire::fold::Fold;
use toolwire::guess::{Certainty, DocumentKind, Fields};
use toolwire::model::{ApiError, ResponseSummary, Stop};
use toolwire::pipe::Pipe;
use toolwire::protocol::ListedModel;
use toolwire::registry::Registry;
use toolwire::translate::{self, Error, Options, PreparedRequest, RequestHead};
use toolwire::wire::Reader;
use toolwire::wire::sse::{Frame, Frames};
use toolwire::{Action, Code, Entry, Ledger, Protocol, codec};

use crate::documents::documents;
use crate::fourth::error_in::KINDS;
use crate::fourth::{FOURTH, description};
use crate::json::without_nulls;
use crate::streams::laws::{PLAIN_REQUEST, folded};
use crate::streams::{recorded, translated};
use crate::vectors::inputs;
use accumulate::accumulate;

const REQUEST: &str = r#"{"charter":"Be brief.","dialogue":[{"by":"human","says":"Weather?"}],
    "instruments":[{"tool":"weather","about":"The weather.","takes":{"type":"object"}}]}"#;

/// The model and whether to stream come from the path, wherever a request
/// goes.
#[test]
fn the_url_says_which_model_and_whether_to_stream() {
    let endpoint = &FOURTH.describe().answers;
    for (path, stream) in [("/v4/models/m-1:ask", false), ("/v4/models/m-1:stream", true)] {
        let found = endpoint.matches(path).unwrap();
        let head = RequestHead::read(FOURTH, &found, REQUEST.as_bytes()).unwrap();
        assert_eq!(
            (head.model.as_deref(), head.stream, head.tools, head.model_span.is_some()),
            (Some("m-1"), stream, 1, false)
        );
        for to in Protocol::ALL {
            let body = REQUEST.as_bytes();
            let mut prepared = PreparedRequest::with_head(FOURTH, to, &head, body).unwrap();
            let sent: Value =
                serde_json::from_slice(&prepared.translate(&Options::new()).unwrap().body).unwrap();
            assert_eq!((&sent["model"], &sent["stream"]), (&json!("m-1"), &json!(stream)), "{to}");
            // The operator's name for the model goes into the body.
            let renamed = Options::new().model("theirs");
            let sent: Value =
                serde_json::from_slice(&prepared.translate(&renamed).unwrap().body).unwrap();
            assert_eq!(sent["model"], "theirs", "{to}");
        }
    }
    assert_eq!(endpoint.matches("/v4/models/m-1:measure"), None);
    assert_eq!(endpoint.matches("/v4/models/:ask"), None);
}

/// A name may have any characters; the path has it so that it comes out again.
#[test]
fn a_path_keeps_the_name_of_the_model() {
    let endpoint = &FOURTH.describe().answers;
    for model in ["m-1", "meta/llama 3", "a:ask", "50%", "ü?#", "{model}", "..", "a+b"] {
        let path = endpoint.fill(model, true);
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"/:-._~%".contains(&byte);
        assert!(path.bytes().all(legal), "{path}");
        assert_eq!(path.matches('/').count(), 3, "{path}");
        let found = endpoint.matches(&path).unwrap();
        assert_eq!((found.model.as_deref(), found.stream), (Some(model), Some(true)), "{path}");
    }
}

/// Between two that both speak the protocol the body passes, and the name that
/// the operator gives the model has no place in it.
#[test]
fn the_bytes_of_a_request_pass() {
    let options = Options::new().model("theirs");
    let passed = translate::request(FOURTH, FOURTH, REQUEST.as_bytes(), &options).unwrap();
    assert_eq!((passed.body.as_slice(), passed.ledger), (REQUEST.as_bytes(), Vec::new()));
}

/// A whole answer and a stream that pass name the model as the operator does.
#[test]
fn an_answer_that_passes_names_the_model_as_told() {
    let options = Options::new().model("ours");
    let answer = r#"{"ref":"a1","by":"m-1","reply":[{"say":"by"}],"because":"done"}"#;
    let passed = translate::response(FOURTH, FOURTH, answer.as_bytes(), &options).unwrap();
    assert_eq!(String::from_utf8(passed.body).unwrap(), answer.replace("m-1", "ours"));

    let mut pipe = Pipe::new(FOURTH, FOURTH, &options).unwrap();
    let stream = String::from_utf8((codec(FOURTH).stream_from_response)(answer).unwrap()).unwrap();
    let mut out = Vec::new();
    pipe.push(stream.as_bytes(), &mut out);
    pipe.finish(&mut out);
    assert_eq!(String::from_utf8(out).unwrap(), stream.replace("m-1", "ours"));
    assert!(pipe.summary().complete);
    assert_eq!(pipe.summary().model.as_deref(), Some("m-1"));
}

/// An error that comes as if it were an answer is found, whatever the protocol
/// calls it.
#[test]
fn an_error_is_no_answer() {
    let fault = br#"{"fault":{"kind":"busy","words":"Come back later."}}"#;
    for to in crate::PROTOCOLS {
        let prepared = PreparedRequest::new(to, FOURTH, PLAIN_REQUEST.as_bytes());
        let translator = prepared.unwrap().response_translator(&Options::new());
        assert!(matches!(translator.translate(fault), Err(Error::NotAnAnswer)), "{to}");
    }
}

/// The answer that a client puts together from a stream is the unary
/// translation of the same answer.
#[test]
fn a_folded_stream_is_the_unary_answer() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for stream in recorded() {
        let Some(source) = folded(stream.from, &stream.bytes) else { continue };
        let (out, _) = translated(stream.from, FOURTH, None, [stream.bytes.as_slice()]);
        let unary = without_nulls(&encoded(&source));
        let streamed = without_nulls(&accumulate(&out));
        seen += 1;
        if unary != streamed {
            wrong.push(format!("{}\n  unary  {unary}\n  stream {streamed}", stream.name()));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen > 30, "only {seen} streams");
}

fn encoded(fold: &Fold) -> Value {
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    let mut response = fold.response();
    toolwire::restore::distinct(&mut response, &mut ledger);
    (codec(FOURTH).encode_response)(&response, None, &mut out, &mut ledger);
    serde_json::from_slice(&out).unwrap()
}

/// A stream of the protocol's own is the same answer in every other protocol,
/// whether it comes as a stream or whole.
#[test]
fn a_stream_and_its_answer_cross_alike() {
    for (folder, from, body) in inputs("responses") {
        let Ok(answer) = translate::response(from, FOURTH, &body, &Options::new()) else {
            continue;
        };
        // An event is one line.
        let text = String::from_utf8(answer.body).unwrap().replace('\n', " ");
        let stream = (codec(FOURTH).stream_from_response)(&text).unwrap();
        let whole = (codec(FOURTH).decode_response)(&text).unwrap();
        let Some(folded) = folded(FOURTH, &stream) else {
            // An answer that is not finished has no end.
            assert_eq!(whole.candidates[0].stop.value, Stop::Running, "{}", folder.display());
            continue;
        };
        for to in Protocol::ALL {
            let of_stream = unary(to, &folded.response());
            let of_answer = unary(to, &whole);
            assert_eq!(of_stream, of_answer, "{} to {to}", folder.display());
        }
    }
}

fn unary(to: Protocol, response: &toolwire::model::Response<'_>) -> Value {
    let (mut out, mut ledger) = (Vec::new(), Ledger::default());
    let context = (codec(to).response_context)(&codec(to).decode_request(PLAIN_REQUEST).unwrap());
    (codec(to).encode_response)(response, Some(&context), &mut out, &mut ledger);
    crate::streams::laws::normalized(serde_json::from_slice(&out).unwrap())
}

/// The observer of a stream that passes sees what its reader reads.
#[test]
fn the_observer_sees_the_end() {
    for stream in recorded() {
        let (bytes, _) = translated(stream.from, FOURTH, None, [stream.bytes.as_slice()]);
        let mut observer = (codec(FOURTH).stream_observer)();
        let mut summary = ResponseSummary::default();
        let mut last = EventOutcome::GoesOn;
        let mut frames = Frames::default();
        let each = |frame: Frame<'_>| {
            assert_eq!(last, EventOutcome::GoesOn, "{}", stream.name());
            last = observer.frame(&frame, &mut summary).unwrap();
            std::ops::ControlFlow::Continue(())
        };
        frames.push(&bytes, each).unwrap();
        let folded = folded(FOURTH, &bytes);
        let expected = if folded.is_some() { EventOutcome::End } else { EventOutcome::Failed };
        assert_eq!(last, expected, "{}", stream.name());
        if let Some(folded) = folded {
            let whole = ResponseSummary::of(&folded.response());
            assert_eq!((summary.calls, summary.usage), (whole.calls, whole.usage));
        }
    }
}

/// Every kind of error has a word of its own and comes back as itself.
#[test]
fn errors_come_back_as_themselves() {
    for (word, kind, status) in KINDS {
        let mut body = Vec::new();
        let error = ApiError::new(kind, "what went wrong");
        assert_eq!((codec(FOURTH).encode_error)(&error, &mut body), status);
        let text = String::from_utf8(body).unwrap();
        let read = (codec(FOURTH).decode_error)(None, &text).unwrap();
        assert_eq!((read.kind, read.message.as_str()), (kind, "what went wrong"));
        assert_eq!(read.vendor_type.as_deref(), Some(word));
    }
}

/// Reasoning that another vendor sealed is cut out of a request whose bytes pass,
/// and nothing else is.
#[test]
fn an_envelope_does_not_reach_another_vendor() {
    let sealed = |issuer| {
        toolwire::wire::envelope::Envelope {
            issuer: toolwire::model::Issuer::parse(issuer),
            item_id: None,
            text: None,
            blob: Some("b".to_owned()),
            redacted: false,
            place: None,
        }
        .seal()
    };
    let (theirs, own) = (sealed("openai"), sealed(description::VENDOR_NAME));
    let before = format!(
        r#"{{"dialogue":[{{"by":"machine","says":[{{"think":["x"],"seal":"{theirs}"}}, {{"say":"y"}},{{"think":[],"seal":"{own}"}}]}}],"heat":1.0}}"#
    );
    let after = format!(
        r#"{{"dialogue":[{{"by":"machine","says":[{{"say":"y"}},{{"think":[],"seal":"{own}"}}]}}],"heat":1.0}}"#
    );
    let passed = translate::request(FOURTH, FOURTH, before.as_bytes(), &Options::new()).unwrap();
    assert_eq!(String::from_utf8(passed.body).unwrap(), after);
    assert_eq!(passed.ledger.len(), 1);
}

/// What the vendor sealed comes back to it through every client, with the calls
/// and the text, and the loop goes on.
#[test]
fn the_tool_loop_closes_through_every_client() {
    let answer = concat!(
        r#"{"ref":"a1","by":"m-1","reply":[{"think":[],"gist":["Paris it is."],"seal":"s1"},"#,
        r#"{"say":"I look."},{"do":{"ref":"c1","tool":"weather","with":{"city":"Paris","n":1.0}}}],"#,
        r#""because":"tools","spent":{"in":9,"out":2}}"#,
    );
    for client in crate::PROTOCOLS {
        let request = translate::request(FOURTH, client, REQUEST.as_bytes(), &Options::new());
        let request = request.unwrap().body;
        let options = Options::new().request(&request);
        let down = translate::response(FOURTH, client, answer.as_bytes(), &options).unwrap().body;
        let calls = calls::parse(client, &down).unwrap();
        assert_eq!((calls[0].id.as_str(), calls[0].name.as_str()), ("c1", "weather"), "{client}");
        let outputs = [ToolOutput::text("c1", "sunny")];
        let next = calls::next_request(client, &request, &down, &outputs).unwrap();
        let up = translate::request(client, FOURTH, &next, &Options::new()).unwrap().body;
        let up: Value = serde_json::from_slice(&up).unwrap();
        // Chat has instructions among its messages only.
        let among = client == Protocol::Chat;
        let charter = if among { &up["dialogue"][0]["says"] } else { &up["charter"] };
        assert_eq!(charter, "Be brief.", "{client}");
        let entries = up["dialogue"].as_array().unwrap().iter();
        let dialogue: Vec<&Value> = entries.filter(|entry| entry["by"] != "guide").collect();
        let expected = json!([
            {"by": "human", "says": "Weather?"},
            {"by": "machine", "says": [
                {"think": [], "gist": ["Paris it is."], "seal": "s1"},
                {"say": "I look."},
                {"do": {"ref": "c1", "tool": "weather", "with": {"city": "Paris", "n": 1.0}}},
            ]},
            {"by": "tool", "ref": "c1", "gave": "sunny"},
        ]);
        assert_eq!(json!(dialogue), expected, "{client}");
    }
}

/// A failure has a flag, as in Messages.
#[test]
fn a_failed_result_says_so() {
    let answer = br#"{"reply":[{"do":{"ref":"c1","tool":"f","with":{}}}],"because":"tools"}"#;
    let outputs = [ToolOutput::error("c1", "no such city")];
    let next = calls::continuation(FOURTH, answer, &outputs).unwrap();
    assert_eq!(
        next.results().collect::<Vec<_>>(),
        [r#"{"by":"tool","ref":"c1","gave":"no such city","failed":true}"#]
    );
}

/// The protocol knows its own documents and no other's, and no other protocol is
/// certain of one of these.
#[test]
fn documents_are_recognized() {
    let kinds = [
        ("requests", DocumentKind::Request),
        ("responses", DocumentKind::Response),
        ("errors", DocumentKind::Error),
    ];
    for (kind, document) in kinds {
        for (folder, protocol, body) in documents(kind) {
            let text = std::str::from_utf8(&body).unwrap();
            let fields = Fields::read(&mut Reader::new(text)).unwrap();
            let known = (codec(FOURTH).recognize)(&fields);
            if protocol != FOURTH {
                assert_eq!(known, None, "{}", folder.display());
                continue;
            }
            assert_eq!(known, Some((document, Certainty::Certain)), "{}", folder.display());
            for other in Protocol::ALL {
                let claims = (codec(other).recognize)(&fields);
                let certain = claims.is_some_and(|(_, claim)| claim == Certainty::Certain);
                assert!(!certain, "{other} claims {}", folder.display());
            }
        }
    }
}

/// A registry renders its tools for the protocol and finds the calls of them.
#[test]
fn a_registry_speaks_the_protocol() {
    let name = "a_name_that_is_too_long_for_the_fourth_protocol";
    let tools = format!(
        r#"[{{"type":"function","function":{{"name":"{name}","parameters":{{"type":"object","properties":{{}}}}}}}}]"#
    );
    let registry = Registry::from_json(tools.as_bytes()).unwrap();
    let rendered = registry.render(FOURTH, &Options::new()).unwrap();
    let list: Value = serde_json::from_slice(&rendered.body).unwrap();
    let wire = list[0]["tool"].as_str().unwrap();
    assert!(wire.len() <= 40 && wire != name, "{wire}");
    let answer = json!({"reply": [{"do": {"ref": "c1", "tool": wire, "with": {}}}]}).to_string();
    let found = registry.calls(FOURTH, answer.as_bytes(), &Options::new()).unwrap();
    assert_eq!(found[0].name, name);
}

#[test]
fn models_and_token_counts() {
    let models = [ListedModel {
        name: "m-1",
        title: "M 1",
        owner: "example",
        created: 1,
        context_window: None,
        max_output: None,
    }];
    let mut out = Vec::new();
    (codec(FOURTH).write_models)(&models, "", &mut out).unwrap();
    assert_eq!(out, br#"{"machines":[{"by":"m-1"}]}"#);
    let read = (codec(FOURTH).read_models)(std::str::from_utf8(&out).unwrap()).unwrap();
    assert_eq!(read.models.iter().map(|model| &model.name).collect::<Vec<_>>(), ["m-1"]);
    out.clear();
    (codec(FOURTH).write_token_count)(7, &mut out);
    assert_eq!(out, br#"{"spent":{"in":7}}"#);
}

/// A request with every field of the table.
const EVERY_FIELD: &str = r#"{"charter":"Be brief.","dialogue":[{"by":"human","says":"Weather?"},
    {"by":"machine","says":[{"do":{"ref":"c1","tool":"f","with":{}}}]},
    {"by":"tool","ref":"c1","gave":"no such city","failed":true}],
    "instruments":[{"tool":"f","about":"Finds.","takes":{"type":"object","properties":{}}},{"tool":"g"}],
    "must":"some","only":["f"],"alone":true,"limits":{"tokens":100,"stops":["END"]},
    "shape":{"name":"n","schema":{"type":"object","properties":{},"additionalProperties":false}},
    "heat":0.5,"nucleus":0.9,"ponder":"low","asker":"u1"}"#;

/// The table says what the ledger says.
#[test]
fn the_table_tells_the_truth() {
    for to in Protocol::ALL {
        let done = translate::request(FOURTH, to, EVERY_FIELD.as_bytes(), &Options::new()).unwrap();
        for row in codec(FOURTH).dispositions {
            let (field, disposition) = (row.field, row.toward(to).unwrap());
            let is_about = |entry: &&Entry| {
                let words: Vec<&str> = entry.path.split('/').skip(1).collect();
                let names =
                    words.iter().map(|word| if word.parse::<u64>().is_ok() { "[]" } else { word });
                let path = names.collect::<Vec<_>>().join(".").replace(".[]", "[]");
                path == field || path.starts_with(&format!("{field}["))
            };
            let losses = done
                .ledger
                .iter()
                .filter(is_about)
                .filter(|entry| !matches!(entry.action, Action::Emulated | Action::Renamed));
            let codes: Vec<Code> = losses.map(|entry| entry.code.clone()).collect();
            assert_eq!(codes, disposition.codes(), "{field} to {to}: {:?}", done.ledger);
        }
    }
}
