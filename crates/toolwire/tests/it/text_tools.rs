//! Tools toward an upstream that takes none: they go up as instructions, and the
//! calls come back out of the model's text.

use serde_json::{Value, json};
use toolwire::calls;
use toolwire::model::{Arguments, Item, Response, Role, Tool, ToolKind, Turn};
use toolwire::pipe::Pipe;
use toolwire::recover::Tools;
use toolwire::text_tools::{Dialect, ToolCalls};
use toolwire::translate::{self, Options, PreparedRequest};
use toolwire::{Code, Profile, Protocol, codec};
use toolwire_laws::recover::Reading;

use crate::PROTOCOLS;
use crate::documents::documents;
use crate::recover::dialects::{Call, DIALECTS, call};
use crate::streams::laws;

/// The options toward an upstream whose models write calls as text.
fn text_only(upstream: Protocol, dialect: Dialect) -> Options<'static> {
    let mut profile = Profile::of(upstream);
    profile.tool_calls = ToolCalls::Text(dialect);
    Options::new().profile(profile)
}

#[test]
fn every_request_goes_up_without_tools_and_loses_no_call() {
    let mut calls = 0;
    for (folder, client, body) in documents("requests") {
        let source = std::str::from_utf8(&body).unwrap();
        let Ok(before) = codec(client).decode_request(source) else { continue };
        for upstream in PROTOCOLS {
            for dialect in Dialect::all() {
                let place = format!("{} to {upstream} in {dialect}", folder.display());
                let options = text_only(upstream, dialect);
                let Ok(sent) = translate::request(client, upstream, &body, &options) else {
                    continue;
                };
                let again = translate::request(client, upstream, &body, &options).unwrap();
                assert_eq!(sent, again, "{place}");
                let text = std::str::from_utf8(&sent.body).unwrap();
                let after = codec(upstream).decode_request(text).expect(&place);
                // Chat's web search is a setting of its own, which stays.
                let is_hosted = |tool: &Tool<'_>| matches!(tool.kind, ToolKind::Hosted(_));
                assert!(after.tools.iter().all(is_hosted), "{place}: {text}");
                assert!(after.choice.mode.is_none(), "{place}: {text}");
                let items = after.turns.iter().flat_map(|turn| &turn.items);
                for item in items {
                    let is_about_tools =
                        matches!(item, Item::Call(_) | Item::Result(_) | Item::Tools(_));
                    assert!(!is_about_tools, "{place}: {item:?}");
                }
                calls += found_in(&before.turns, &after.turns, &place);
            }
        }
    }
    assert!(calls > 3_000, "only {calls} calls");
}

/// Compares the calls of a conversation with those in the model's texts of
/// another, and says how many there are.
fn found_in(before: &[Turn<'_>], after: &[Turn<'_>], place: &str) -> usize {
    let calls = before.iter().flat_map(|turn| &turn.items);
    let calls =
        calls.filter_map(|item| if let Item::Call(call) = item { Some(call) } else { None });
    let made = calls.clone().count();
    // What a model wrote instead of arguments is shown as it is, and is no call.
    let is_invalid = |arguments: &Arguments<'_>| match arguments {
        Arguments::Text(text) if !text.is_blank() => {
            !serde_json::from_str::<Value>(&text.decode()).is_ok_and(|value| value.is_object())
        }
        Arguments::Text(_)
        | Arguments::Json(_)
        | Arguments::Freeform(_)
        | Arguments::Native(_, _) => false,
    };
    if calls.clone().any(|call| is_invalid(&call.arguments)) {
        return 0;
    }
    // Without the definitions any name may have been changed, so the texts are
    // searched for whatever they call.
    let mut found = 0;
    for turn in after.iter().filter(|turn| turn.role == Role::Assistant) {
        for item in &turn.items {
            let Item::Text(text) = item else { continue };
            let text = text.text.decode();
            let mut tools = Tools::default();
            for name in names(&text) {
                tools.add(&name, "", None);
            }
            found += Reading::of(&tools, &text).calls.len();
        }
    }
    assert_eq!(made, found, "{place}: {after:?}");
    made
}

/// Every word of a text that can be a tool's name.
fn names(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let words = text.split(|c| !is_word(c)).filter(|word| !word.is_empty());
    let mut names: Vec<String> =
        words.map(|word| word.trim_start_matches("functions.").to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A request of a client with the tools of the dialects' calls.
fn asked(client: Protocol, stream: bool) -> Vec<u8> {
    let functions = [
        json!({"name": "book_table", "description": "Books a table", "parameters": {"type": "object",
            "required": ["restaurant", "guests"], "properties": {"restaurant": {"type": "string"},
            "guests": {"type": "integer"}, "outdoors": {"type": "boolean"}, "budget": {"type": "number"}}}}),
        json!({"name": "write_note", "description": "Writes a note", "parameters": {"type": "object",
            "required": ["title"], "properties": {"title": {"type": "string"}, "body": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}}}}}),
    ];
    let tools: Vec<Value> = functions
        .iter()
        .map(|function| json!({"type": "function", "function": function}))
        .collect();
    let chat = json!({"model": "m", "max_completion_tokens": 500, "stream": stream, "tools": tools,
        "messages": [{"role": "user", "content": "Book a table."}]});
    in_protocol(client, &chat.to_string(), translate::request)
}

/// A model's answer that is one text.
fn said(upstream: Protocol, text: &str) -> Vec<u8> {
    let chat = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}});
    in_protocol(upstream, &chat.to_string(), translate::response)
}

type Translate =
    fn(Protocol, Protocol, &[u8], &Options<'_>) -> Result<translate::Translated, translate::Error>;

fn in_protocol(protocol: Protocol, chat: &str, translate: Translate) -> Vec<u8> {
    translate(Protocol::Chat, protocol, chat.as_bytes(), &Options::new()).unwrap().body
}

/// The calls of an answer as names and values.
fn calls_of(protocol: Protocol, answer: &[u8]) -> Vec<(String, Value)> {
    let calls = calls::parse(protocol, answer).unwrap();
    let pair = |call: &calls::ToolCall| {
        let calls::Input::Arguments(arguments) = &call.input else { panic!("{call:?}") };
        (call.name.clone(), serde_json::from_str(arguments).unwrap())
    };
    calls.iter().map(pair).collect()
}

/// What a stream of a protocol adds up to, as calls, text, reasoning and reason
/// to stop.
fn folded(protocol: Protocol, bytes: &[u8]) -> Parts {
    let fold = laws::folded(protocol, bytes);
    parts(&fold.unwrap_or_else(|| panic!("{:?}", std::str::from_utf8(bytes))).response())
}

/// The calls, the text, the reasoning and the reason to stop of an answer.
type Parts = (Vec<(String, Value)>, String, String, String);

fn parts(response: &Response<'_>) -> Parts {
    let (mut calls, mut text, mut reasoning) = (Vec::new(), String::new(), String::new());
    let candidate = &response.candidates[0];
    for item in candidate.turns.iter().flat_map(|turn| &turn.items) {
        if let Item::Text(part) = item {
            text.push_str(&part.text.decode());
        } else if let Item::Reasoning(thought) = item {
            for part in thought.content.iter().chain(&thought.summary) {
                reasoning.push_str(&part.decode());
            }
        } else if let Item::Call(call) = item {
            let arguments = match &call.arguments {
                Arguments::Json(json) => json.text().to_owned(),
                Arguments::Text(text) => text.decode().into_owned(),
                Arguments::Freeform(_) | Arguments::Native(_, _) => panic!("{call:?}"),
            };
            let arguments = serde_json::from_str(&arguments).unwrap_or(Value::String(arguments));
            calls.push((call.name.decode().into_owned(), arguments));
        } else {
            panic!("{item:?}");
        }
    }
    (calls, text, reasoning, candidate.stop.value.as_str().to_owned())
}

fn expected(calls: &[Call]) -> Vec<(String, Value)> {
    let pair = |call: &Call| (call.name.to_owned(), Value::Object(call.arguments.clone()));
    calls.iter().map(pair).collect()
}

fn two_calls() -> [Call; 2] {
    [
        call("book_table", json!({"restaurant": "Chez Luc", "guests": 4})),
        call("write_note", json!({"title": "Dinner", "tags": ["a", "b"]})),
    ]
}

#[test]
fn a_call_in_any_dialect_reaches_any_client_from_any_upstream_whole_and_streamed() {
    let mut checked = 0;
    for dialect in DIALECTS.iter() {
        let calls = two_calls();
        let calls = if dialect.several { &calls[..] } else { &calls[..1] };
        let text = dialect.render(calls);
        for upstream in PROTOCOLS {
            let answer = said(upstream, &text);
            let events =
                (codec(upstream).stream_from_response)(std::str::from_utf8(&answer).unwrap())
                    .unwrap();
            for client in PROTOCOLS {
                let place = format!("{} from {upstream} to {client}", dialect.name);
                let options = text_only(upstream, Dialect::HERMES);
                let request = asked(client, false);
                let mut prepared = PreparedRequest::new(client, upstream, &request).unwrap();
                prepared.translate(&options).unwrap();
                let translator = prepared.response_translator(&options);
                let whole = translator.translate(&answer).unwrap();
                assert_eq!(calls_of(client, &whole.body), expected(calls), "{place}");
                assert!(whole.summary.recovered.is_some(), "{place}");
                let body = std::str::from_utf8(&whole.body).unwrap();
                let response = (codec(client).decode_response)(body).unwrap();
                assert_eq!(parts(&response).3, "tool_calls", "{place}: {body}");

                for size in [1, 7, 64, usize::MAX] {
                    let mut pipe = prepared.pipe(&options);
                    let mut out = Vec::new();
                    for piece in events.chunks(size.min(events.len())) {
                        pipe.push(piece, &mut out);
                    }
                    pipe.finish(&mut out);
                    assert!(pipe.is_done() && pipe.summary().complete, "{place}");
                    assert_eq!(pipe.summary().recovered, whole.summary.recovered, "{place}");
                    let (found, text, reasoning, stop) = folded(client, &out);
                    assert_eq!(found, expected(calls), "{place} in pieces of {size}");
                    assert_eq!(stop, "tool_calls", "{place}");
                    let (_, whole_text, whole_reasoning, _) = parts(&response);
                    assert_eq!((text, reasoning), (whole_text, whole_reasoning), "{place}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 3_000, "only {checked}");
}

/// Text of the answer, cut into the pieces in which an upstream streams it.
fn streamed(upstream: Protocol, text: &str, size: usize) -> Vec<u8> {
    let mut chat = String::new();
    for piece in toolwire_laws::recover::pieces(text, size) {
        let delta = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "m", "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": null}]});
        chat.push_str(&format!("data: {delta}\n\n"));
    }
    let stop = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
        "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    chat.push_str(&format!("data: {stop}\n\ndata: [DONE]\n\n"));
    if upstream == Protocol::Chat {
        return chat.into_bytes();
    }
    let mut pipe = Pipe::new(Protocol::Chat, upstream, &Options::new()).unwrap();
    let mut out = Vec::new();
    pipe.push(chat.as_bytes(), &mut out);
    pipe.finish(&mut out);
    out
}

#[test]
fn text_and_reasoning_around_calls_arrive() {
    let text = "<think>A table, then.</think>One moment. <tool_call>\n{\"name\": \"book_table\", \
        \"arguments\": {\"restaurant\": 'Luc', \"guests\": 2}}\n</tool_call>\n";
    for upstream in PROTOCOLS {
        for client in PROTOCOLS {
            let options = text_only(upstream, Dialect::HERMES);
            let request = asked(client, true);
            let mut prepared = PreparedRequest::new(client, upstream, &request).unwrap();
            prepared.translate(&options).unwrap();
            for size in [1, 3, 9, 1_000] {
                let mut pipe = prepared.pipe(&options);
                let mut out = Vec::new();
                pipe.push(&streamed(upstream, text, size), &mut out);
                pipe.finish(&mut out);
                let place = format!("{upstream} to {client} in {size}");
                let (calls, said, thought, stop) = folded(client, &out);
                assert_eq!(calls.len(), 1, "{place}");
                assert_eq!(said.trim(), "One moment.", "{place}");
                assert!(thought.is_empty() || thought == "A table, then.", "{place}: {thought}");
                assert_eq!(stop, "tool_calls", "{place}");
                let ledger = pipe.take_ledger();
                let repaired = ledger.iter().any(|entry| entry.code == Code::ArgumentsRepaired);
                assert!(repaired, "{place}: {ledger:?}");
            }
        }
    }
}

#[test]
fn calls_of_a_later_turn_have_other_ids_even_if_the_upstream_numbers_every_answer_alike() {
    let text =
        "<tool_call>{\"name\": \"write_note\", \"arguments\": {\"title\": \"a\"}}</tool_call>";
    for upstream in PROTOCOLS {
        for client in PROTOCOLS {
            let options = text_only(upstream, Dialect::HERMES);
            let mut request = asked(client, false);
            let mut ids = Vec::new();
            for _turn in 0..3 {
                let mut prepared = PreparedRequest::new(client, upstream, &request).unwrap();
                prepared.translate(&options).unwrap();
                let answer = said(upstream, text);
                let whole = prepared.response_translator(&options).translate(&answer).unwrap();
                let calls = calls::parse(client, &whole.body).unwrap();
                let outputs = calls.iter().map(|call| calls::ToolOutput::text(&call.id, "done"));
                let outputs: Vec<_> = outputs.collect();
                ids.extend(calls.iter().map(|call| call.id.clone()));
                request = calls::next_request(client, &request, &whole.body, &outputs).unwrap();
            }
            assert_eq!(ids.len(), 3);
            assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
        }
    }
}

#[test]
fn a_call_that_breaks_off_is_not_completed_and_does_not_look_finished() {
    let named = "<tool_call>\n{\"name\": \"write_note\", \"arguments\": {\"title\": \"Din";
    let [first, _] = two_calls();
    let unnamed = format!("{}\n<tool_call>\n{{\"na", DIALECTS[0].render(&[first]));
    for (upstream, text) in PROTOCOLS
        .into_iter()
        .flat_map(|upstream| [named, &unnamed].into_iter().map(move |text| (upstream, text)))
    {
        for client in PROTOCOLS {
            let options = text_only(upstream, Dialect::HERMES);
            let request = asked(client, true);
            let mut prepared = PreparedRequest::new(client, upstream, &request).unwrap();
            prepared.translate(&options).unwrap();
            let mut pipe = prepared.pipe(&options);
            let mut out = Vec::new();
            pipe.push(&streamed(upstream, text, 5), &mut out);
            pipe.finish(&mut out);
            let place = format!("{upstream} to {client}");
            let (_, said_text, _, stop) = folded(client, &out);
            assert_eq!(stop, "max_tokens", "{place}: {:?}", std::str::from_utf8(&out));
            assert_eq!(said_text, "", "{place}");
            let answer = said(upstream, text);
            let whole = prepared.response_translator(&options).translate(&answer).unwrap();
            let body = std::str::from_utf8(&whole.body).unwrap();
            let response = (codec(client).decode_response)(body).unwrap();
            assert_eq!(response.candidates[0].stop.value.as_str(), "max_tokens", "{place}");
        }
    }
}

#[test]
fn an_announcement_is_a_call_only_where_intent_is_asked_for() {
    let text = "I'll write a note titled \"Groceries\".";
    for (calls, expected) in
        [(ToolCalls::Text(Dialect::HERMES), 0), (ToolCalls::Intent(Dialect::HERMES), 1)]
    {
        for upstream in PROTOCOLS {
            for client in PROTOCOLS {
                let mut profile = Profile::of(upstream);
                profile.tool_calls = calls;
                let options = Options::new().profile(profile);
                let request = asked(client, true);
                let mut prepared = PreparedRequest::new(client, upstream, &request).unwrap();
                prepared.translate(&options).unwrap();
                let answer = said(upstream, text);
                let whole = prepared.response_translator(&options).translate(&answer).unwrap();
                assert_eq!(calls_of(client, &whole.body).len(), expected, "{upstream} to {client}");
                let mut pipe = prepared.pipe(&options);
                let mut out = Vec::new();
                pipe.push(&streamed(upstream, text, 6), &mut out);
                pipe.finish(&mut out);
                let (found, said, _, stop) = folded(client, &out);
                assert_eq!(
                    (found.len(), said.as_str()),
                    (expected, text),
                    "{upstream} to {client}"
                );
                assert_eq!(stop, if expected == 0 { "end_turn" } else { "tool_calls" });
                let source = if expected == 0 { None } else { Some("intent") };
                assert_eq!(pipe.summary().recovered, source);
            }
        }
    }
}

#[test]
fn what_has_nothing_to_do_with_tools_passes_within_one_protocol() {
    let request = json!({"model": "m", "seed": 7, "chat_template_kwargs": {"enable_thinking": false},
        "tool_choice": "required", "parallel_tool_calls": false,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]});
    let options = text_only(Protocol::Chat, Dialect::HERMES);
    let body = request.to_string();
    let sent =
        translate::request(Protocol::Chat, Protocol::Chat, body.as_bytes(), &options).unwrap();
    let sent_body: Value = serde_json::from_slice(&sent.body).unwrap();
    assert_eq!(sent_body["seed"], 7);
    assert_eq!(sent_body["chat_template_kwargs"], json!({"enable_thinking": false}));
    for gone in ["tools", "tool_choice", "parallel_tool_calls"] {
        assert!(sent_body.get(gone).is_none(), "{sent_body}");
    }
    let system = sent_body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Be brief.\n\n# Tools\n"), "{system}");
    assert!(system.contains("must call at least one tool"), "{system}");
    assert!(system.contains("no more than one call"), "{system}");
    let codes: Vec<String> =
        sent.ledger.iter().map(|entry| format!("{} {}", entry.path, entry.code)).collect();
    assert_eq!(
        codes,
        ["/tool_choice choice_asked", "/parallel_tool_calls choice_asked", "/tools tools_as_text"]
    );

    // Without tools and calls, the bytes pass.
    let plain = br#"{"model":"m",  "messages":[{"role":"user","content":"Hi"}]}"#;
    let sent = translate::request(Protocol::Chat, Protocol::Chat, plain, &options).unwrap();
    assert_eq!((sent.body.as_slice(), sent.ledger.len()), (plain.as_slice(), 0));
    // An answer without a call too.
    let asked = asked(Protocol::Chat, false);
    let mut prepared = PreparedRequest::new(Protocol::Chat, Protocol::Chat, &asked).unwrap();
    prepared.translate(&options).unwrap();
    let answer = said(Protocol::Chat, "No call here.");
    let passed = prepared.response_translator(&options).translate(&answer).unwrap();
    assert_eq!(passed.body, answer);
}

#[test]
fn an_answer_with_calls_keeps_its_id_within_one_protocol() {
    let [first, _] = two_calls();
    let text = DIALECTS[0].render(&[first]);
    for protocol in [Protocol::Chat, Protocol::Responses, Protocol::Messages] {
        let options = text_only(protocol, Dialect::HERMES);
        let asked = asked(protocol, true);
        let mut prepared = PreparedRequest::new(protocol, protocol, &asked).unwrap();
        prepared.translate(&options).unwrap();
        let answer = said(protocol, &text);
        let id = serde_json::from_slice::<Value>(&answer).unwrap()["id"].clone();
        let whole = prepared.response_translator(&options).translate(&answer).unwrap();
        assert!(whole.summary.recovered.is_some(), "{protocol}");
        assert_eq!(serde_json::from_slice::<Value>(&whole.body).unwrap()["id"], id, "{protocol}");
        let mut pipe = prepared.pipe(&options);
        let (sent, mut out) = (streamed(protocol, &text, 8), Vec::new());
        pipe.push(&sent, &mut out);
        pipe.finish(&mut out);
        assert!(pipe.summary().recovered.is_some(), "{protocol}");
        let ids = [sent, out].map(|bytes| {
            let mut events = String::from_utf8(bytes).unwrap();
            let end = events.find("\n\n").unwrap();
            events.truncate(end);
            let (_, data) = events.split_once("data: ").unwrap();
            let event: Value = serde_json::from_str(data).unwrap();
            let answer = ["message", "response"].iter().find_map(|key| event.get(key));
            answer.unwrap_or(&event)["id"].clone()
        });
        assert!(ids[0].is_string(), "{protocol}");
        assert_eq!(ids[0], ids[1], "{protocol}");
    }
}

#[test]
fn several_streamed_answers_are_refused_where_calls_are_read_from_text() {
    let options = text_only(Protocol::Chat, Dialect::HERMES);
    let [first, second] = two_calls();
    let chat = |stream: bool, n: u64| {
        let mut request: Value = serde_json::from_slice(&asked(Protocol::Chat, stream)).unwrap();
        request["n"] = json!(n);
        request.to_string().into_bytes()
    };
    let sent = |body: &[u8]| translate::request(Protocol::Chat, Protocol::Chat, body, &options);
    let error = sent(&chat(true, 2)).unwrap_err();
    let translate::Error::Refused { entries } = &error else { panic!("{error:?}") };
    let paths: Vec<_> = entries.iter().map(|entry| (entry.path.as_str(), &entry.code)).collect();
    assert!(paths.contains(&("/n", &Code::MultipleAnswers)), "{paths:?}");
    sent(&chat(true, 1)).unwrap();

    // An answer that comes whole has calls in each of its choices.
    let body = chat(false, 2);
    let mut prepared = PreparedRequest::new(Protocol::Chat, Protocol::Chat, &body).unwrap();
    prepared.translate(&options).unwrap();
    let choices: Vec<Value> = [first, second]
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let text = DIALECTS[0].render(std::slice::from_ref(call));
            json!({"index": index, "finish_reason": "stop",
                "message": {"role": "assistant", "content": text}})
        })
        .collect();
    let answer = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1,
        "model": "m", "choices": choices});
    let answer = answer.to_string();
    let got = prepared.response_translator(&options).translate(answer.as_bytes()).unwrap();
    let got: Value = serde_json::from_slice(&got.body).unwrap();
    for (choice, call) in got["choices"].as_array().unwrap().iter().zip(two_calls()) {
        assert_eq!(choice["finish_reason"], "tool_calls");
        assert_eq!(choice["message"]["tool_calls"][0]["function"]["name"], call.name);
    }
    assert_eq!(got["choices"].as_array().unwrap().len(), 2);
}

/// What a client gets of a text, whole and streamed in pieces of every size.
fn received(
    calls: ToolCalls,
    upstream: Protocol,
    client: Protocol,
    text: &str,
) -> Vec<(Parts, Option<&'static str>)> {
    let mut profile = Profile::of(upstream);
    profile.tool_calls = calls;
    let options = Options::new().profile(profile);
    let request = asked(client, true);
    let mut prepared = PreparedRequest::new(client, upstream, &request).unwrap();
    prepared.translate(&options).unwrap();
    let answer = said(upstream, text);
    let whole = prepared.response_translator(&options).translate(&answer).unwrap();
    let body = std::str::from_utf8(&whole.body).unwrap();
    let response = (codec(client).decode_response)(body).unwrap();
    let mut all = vec![(parts(&response), whole.summary.recovered)];
    for size in [1, 2, 3, 5, 8, 1_000] {
        let mut pipe = prepared.pipe(&options);
        let mut out = Vec::new();
        pipe.push(&streamed(upstream, text, size), &mut out);
        pipe.finish(&mut out);
        all.push((folded(client, &out), pipe.summary().recovered));
    }
    all
}

#[test]
fn white_space_beside_calls_and_thoughts_is_no_text() {
    let call =
        "<tool_call>{\"name\": \"write_note\", \"arguments\": {\"title\": \"a\"}}</tool_call>";
    for (text, said, thought, count) in [
        (format!("Hi.\n\n{call}\n"), "Hi.", "", 1),
        (format!("\n{call}\n\n{call}"), "", "", 2),
        // Chat joins the texts, so what separates them stays.
        (format!("One.\n{call}\n\nTwo.\n"), "One.\n\nTwo.\n", "", 1),
        (format!("{call}\nDone. \n"), "Done. \n", "", 1),
        (
            "<think>\n Hm.\n\nYes.\n</think>\n\nHello \n you\n".to_owned(),
            "Hello \n you\n",
            "Hm.\n\nYes.",
            0,
        ),
        ("<think>\n\n</think>\n\nHello".to_owned(), "Hello", "", 0),
        (format!("<think>a</think>\n{call}"), "", "a", 1),
        ("  Hello\n\n".to_owned(), "  Hello\n\n", "", 0),
    ] {
        for upstream in PROTOCOLS {
            for client in PROTOCOLS {
                let all = received(ToolCalls::Text(Dialect::HERMES), upstream, client, &text);
                for ((calls, text_parts, reasoning, _), _) in all {
                    let place = format!("{text:?} from {upstream} to {client}");
                    assert_eq!(
                        (text_parts.as_str(), reasoning.as_str(), calls.len()),
                        (said, thought, count),
                        "{place}"
                    );
                }
            }
        }
    }
}

#[test]
fn an_intention_in_a_thought_is_not_announced() {
    for (text, count) in [
        ("<think>I'll write a note titled \"Groceries\".</think>Nothing to do.", 0),
        ("<think>Hm.</think>\nI'll write a note titled \"Groceries\".", 1),
    ] {
        for upstream in PROTOCOLS {
            for client in PROTOCOLS {
                let all = received(ToolCalls::Intent(Dialect::HERMES), upstream, client, text);
                for ((calls, _, _, _), recovered) in all {
                    let place = format!("{text:?} from {upstream} to {client}: {calls:?}");
                    assert_eq!(calls.len(), count, "{place}");
                    assert_eq!(recovered, (count > 0).then_some("intent"), "{place}");
                }
            }
        }
    }
}

#[test]
fn a_dialect_that_is_asked_for_is_recognized_by_its_name() {
    for dialect in Dialect::all() {
        let request = json!({"messages": [{"role": "user", "content": "Go"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function",
                "function": {"name": "write_note", "arguments": "{\"title\":\"a\"}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"}]});
        let options = text_only(Protocol::Chat, dialect);
        let body = request.to_string();
        let sent = translate::request(Protocol::Chat, Protocol::Chat, body.as_bytes(), &options);
        let sent: Value = serde_json::from_slice(&sent.unwrap().body).unwrap();
        let written = sent["messages"][1]["content"].as_str().unwrap();
        // Bare JSON is written by more families than Llama.
        let name = if dialect.name() == "llama3_json" { "json" } else { dialect.name() };
        let calls = ToolCalls::Text(Dialect::HERMES);
        for (_, recovered) in received(calls, Protocol::Chat, Protocol::Messages, written) {
            assert_eq!(recovered, Some(name), "{written}");
        }
    }
}
