//! What is known of an answer that was just written is what reading it says.

use toolwire::Protocol;
use toolwire::stateful::{read_answer, read_written_answer};
use toolwire::translate::{Options, PreparedRequest};

use crate::vectors::inputs;

#[test]
fn what_is_known_of_a_written_answer_is_what_reading_it_says() {
    let client = Protocol::Responses;
    let requests: Vec<_> =
        inputs("requests").into_iter().filter(|(_, protocol, _)| *protocol == client).collect();
    let (mut written, mut items) = (0, 0);
    // Each answer is for another request, as long as there are some.
    for ((path, upstream, answer), (_, _, request)) in
        inputs("responses").into_iter().zip(requests.iter().cycle())
    {
        let path = path.display();
        let Ok(prepared) = PreparedRequest::new(client, upstream, request) else { continue };
        let translator = prepared.response_translator(&Options::new());
        let Ok(translated) = translator.translate(&answer) else { continue };
        let body = &translated.body;
        let Some(known) = translated.written else {
            assert_eq!(upstream, client, "{path}");
            continue;
        };
        let echo = std::str::from_utf8(&body[known.repeats.clone()]).unwrap();
        assert!(echo.starts_with("\"instructions\":"), "{path}: {echo}");
        let behind = std::str::from_utf8(&body[known.repeats.end..]).unwrap();
        assert!(behind.starts_with(",\"previous_response_id\":"), "{path}: {behind}");
        let known = read_written_answer(client, body, known).unwrap().unwrap();
        let read = read_answer(client, body).unwrap().unwrap();
        assert_eq!((&known.id, &known.status), (&read.id, &read.status), "{path}");
        assert_eq!(known.output, read.output, "{path}");
        written += 1;
        items += read.output.len();
    }
    assert!(written > 50 && items > 50, "{written} answers with {items} items");
}
