//! What an overview says of an answer that passes is what reading all of it says.

use std::ops::Range;

use toolwire::Protocol;
use toolwire::codec::codec;
use toolwire::model::ResponseSummary;
use toolwire::translate::{self, Options};
use toolwire::wire::{Kind, Reader};

use crate::vectors::inputs;

/// Whether an overview was enough.
fn check(protocol: Protocol, answer: &str) -> bool {
    let codec = codec(protocol);
    let Some(overview) = (codec.response_overview)(answer) else { return false };
    let response = (codec.decode_response)(answer);
    let response = response.unwrap_or_else(|error| panic!("{error}: {answer}"));
    assert!(!response.is_empty(), "{answer}");
    let whole = ResponseSummary::of(&response);
    let model = overview.model.as_ref().map(|model| model.decode().into_owned());
    assert_eq!(model.filter(|model| !model.is_empty()), whole.model, "{answer}");
    assert_eq!((overview.calls, Some(overview.stop)), (whole.calls, whole.stop), "{answer}");
    assert_eq!(overview.usage, whole.usage, "{answer}");
    true
}

/// Where the values of a document are, and where its members are with their keys.
fn places(
    document: &str,
    start: usize,
    values: &mut Vec<Range<usize>>,
    members: &mut Vec<Range<usize>>,
) {
    values.push(start..start + document.len());
    let mut reader = Reader::new(document);
    let mut add = |reader: &mut Reader<'_>, key: Option<usize>| {
        let value = reader.raw().unwrap();
        let at = start + value.pos().offset().unwrap();
        if let Some(key) = key {
            members.push(start + key..at + value.text().len());
        }
        places(value.text(), at, values, members);
    };
    match reader.peek() {
        Kind::Array => {
            let mut elements = reader.array().unwrap();
            while elements.more(&mut reader).unwrap() {
                add(&mut reader, None);
            }
        }
        Kind::Object => {
            let mut fields = reader.object().unwrap();
            while let Some(key) = fields.next(&mut reader).unwrap() {
                add(&mut reader, key.pos().offset());
            }
        }
        Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Invalid | Kind::End => {}
    }
}

fn with(document: &str, place: &Range<usize>, text: &str) -> String {
    format!("{}{text}{}", &document[..place.start], &document[place.end..])
}

#[test]
fn an_overview_says_what_reading_all_of_an_answer_says() {
    let (mut overviews, mut answers, mut changed_overviews) = (0, 0, 0);
    for (_, protocol, body) in inputs("responses") {
        let answer = String::from_utf8(body).unwrap();
        answers += 1;
        overviews += usize::from(check(protocol, &answer));
        let (mut values, mut members) = (Vec::new(), Vec::new());
        places(answer.trim(), answer.len() - answer.trim_start().len(), &mut values, &mut members);
        let values_to_try = ["null", "true", "-1", "1.5", r#""""#, r#""x""#, "[]", "{}", "[{}]"];
        let changed = values
            .iter()
            .flat_map(|place| values_to_try.iter().map(|value| with(&answer, place, value)));
        let spelled = |place: &Range<usize>| answer[place.clone()].to_owned();
        let twice = members.iter().map(|place| {
            let member = spelled(place);
            with(&answer, place, &format!("{member},{member}"))
        });
        let renamed = members.iter().map(|place| {
            let member = spelled(place);
            with(&answer, place, &format!(r#""x"{}"#, &member[member.find(':').unwrap()..]))
        });
        for document in changed.chain(twice).chain(renamed) {
            changed_overviews += usize::from(check(protocol, &document));
        }
    }
    assert!(overviews * 3 > answers, "{overviews} of {answers}");
    assert!(changed_overviews > 2_000, "{changed_overviews}");
}

#[test]
fn an_ordinary_answer_needs_no_more_than_an_overview() {
    let mut seen = 0;
    for (folder, protocol, body) in inputs("responses") {
        if folder.to_string_lossy().contains("-ordinary-") {
            seen += 1;
            assert!(check(protocol, std::str::from_utf8(&body).unwrap()), "{}", folder.display());
            let options = Options::new().model("another");
            let renamed = translate::response(protocol, protocol, &body, &options).unwrap();
            assert!(String::from_utf8(renamed.body).unwrap().contains(r#""another""#));
        }
    }
    assert_eq!(seen, 2 * 3);
}
