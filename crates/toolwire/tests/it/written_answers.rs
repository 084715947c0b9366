//! What is known of an answer that was just written is what reading it says.

use toolwire::Protocol;
use toolwire::stateful::{WrittenAnswer, read_answer, read_written_answer};
use toolwire::translate::{Options, PreparedRequest};

use crate::documents::streams;
use crate::vectors::inputs;

const CLIENT: Protocol = Protocol::Responses;

#[test]
fn what_is_known_of_a_written_answer_is_what_reading_it_says() {
    let requests = requests();
    let (mut written, mut items) = (0, 0);
    // Each answer is for another request, as long as there are some.
    for ((path, upstream, answer), request) in
        inputs("responses").into_iter().zip(requests.iter().cycle())
    {
        let path = path.display().to_string();
        let Ok(prepared) = PreparedRequest::new(CLIENT, upstream, request) else { continue };
        let translator = prepared.response_translator(&Options::new());
        let Ok(translated) = translator.translate(&answer) else { continue };
        let Some(known) = translated.written else {
            assert_eq!(upstream, CLIENT, "{path}");
            continue;
        };
        items += check(&path, &translated.body, known);
        written += 1;
    }
    assert!(written > 50 && items > 50, "{written} answers with {items} items");
}

/// The same of the answer in the last event of a stream, whatever it came as.
#[test]
fn what_is_known_of_a_held_answer_is_what_reading_it_says() {
    let requests = requests();
    let streamed =
        streams().into_iter().map(|stream| (stream.name(), stream.from, stream.bytes, true));
    let whole = inputs("responses").into_iter();
    let whole = whole.map(|(path, from, body)| (path.display().to_string(), from, body, false));
    let (mut written, mut items) = (0, 0);
    for ((name, upstream, bytes, is_stream), request) in
        streamed.chain(whole).zip(requests.iter().cycle())
    {
        let Ok(prepared) = PreparedRequest::new(CLIENT, upstream, request) else { continue };
        let mut pipe = prepared.pipe(&Options::new()).with_held_ending();
        let mut out = Vec::new();
        if is_stream {
            pipe.push(&bytes, &mut out);
            pipe.finish(&mut out);
        } else {
            pipe.whole(&bytes, &mut out);
        }
        let Some(held) = pipe.held_answer() else { continue };
        let Some(known) = held.written else {
            assert_eq!(upstream, CLIENT, "{name}");
            continue;
        };
        items += check(&name, held.text.as_bytes(), known);
        let mut ending = Vec::new();
        pipe.release_ending(&mut ending);
        let ending = String::from_utf8(ending).unwrap();
        let event = format!("\"response\":{}}}\n\n", held.text);
        assert!(ending.contains(&event), "{name}: {ending}");
        written += 1;
    }
    assert!(written > 50 && items > 50, "{written} answers with {items} items");
}

/// Checks what is known of an answer. Returns how many items it has.
fn check(name: &str, body: &[u8], known: WrittenAnswer) -> usize {
    let echo = std::str::from_utf8(&body[known.repeats.clone()]).unwrap();
    assert!(echo.starts_with("\"instructions\":"), "{name}: {echo}");
    let behind = std::str::from_utf8(&body[known.repeats.end..]).unwrap();
    assert!(behind.starts_with(",\"previous_response_id\":"), "{name}: {behind}");
    let known = read_written_answer(CLIENT, body, known).unwrap().unwrap();
    let read = read_answer(CLIENT, body).unwrap().unwrap();
    assert_eq!((&known.id, &known.status), (&read.id, &read.status), "{name}");
    assert_eq!(known.output, read.output, "{name}");
    read.output.len()
}

#[test]
fn what_is_known_of_another_answer_is_refused() {
    let body = br#"{"output":[{"id":"a"},{"id":"b"}]}"#;
    let read = |output: [std::ops::Range<usize>; 2]| {
        let known = WrittenAnswer::new("r".to_owned(), "completed", output.to_vec(), 0..0);
        read_written_answer(CLIENT, body, known)
    };
    let known = read([11..21, 22..32]).unwrap().unwrap();
    assert_eq!(
        known.output.iter().map(|item| item.id.as_deref()).collect::<Vec<_>>(),
        [Some("a"), Some("b")]
    );
    for output in [[11..21, 22..99], [22..32, 11..21], [11..21, 22..22], [11..99, 22..32]] {
        assert!(read(output.clone()).is_err(), "{output:?}");
    }
}

fn requests() -> Vec<Vec<u8>> {
    let requests = inputs("requests").into_iter();
    requests.filter(|(_, protocol, _)| *protocol == CLIENT).map(|(_, _, body)| body).collect()
}
