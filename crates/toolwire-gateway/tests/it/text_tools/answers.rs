//! A model's text as an answer of each protocol, and what a client reads in one.

use serde_json::{Value, json};
use toolwire::pipe::Pipe;
use toolwire::{Options, Protocol, translate};

/// Why an answer ended, in the words of Chat, Responses and Messages.
pub(super) type StopWords = [&'static str; 3];

pub(super) const HAS_CALLS: StopWords = ["tool_calls", "completed", "tool_use"];
pub(super) const ENDED: StopWords = ["stop", "completed", "end_turn"];
pub(super) const CUT: StopWords = ["length", "max_output_tokens", "max_tokens"];

/// The word of a protocol.
pub(super) fn stop_word(protocol: Protocol, words: StopWords) -> &'static str {
    let [chat, responses, messages] = words;
    match protocol {
        Protocol::Chat => chat,
        Protocol::Responses => responses,
        Protocol::Messages => messages,
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

/// An answer that is one text.
pub(super) fn answer(protocol: Protocol, text: &str) -> String {
    let chat = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}});
    let chat = chat.to_string();
    let options = Options::new();
    let translated = translate::response(Protocol::Chat, protocol, chat.as_bytes(), &options);
    String::from_utf8(translated.unwrap().body).unwrap()
}

/// The same as a stream, a few characters in each event.
pub(super) fn stream_of(protocol: Protocol, text: &str) -> Vec<String> {
    let chunk = |delta: Value, stop: Option<&str>| {
        let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]});
        format!("data: {chunk}\n\n")
    };
    let letters: Vec<char> = text.chars().collect();
    let mut events: Vec<String> = letters
        .chunks(5)
        .map(|piece| chunk(json!({"content": piece.iter().collect::<String>()}), None))
        .collect();
    events.push(chunk(json!({}), Some("stop")));
    events.push("data: [DONE]\n\n".to_owned());
    if protocol == Protocol::Chat {
        return events;
    }
    let mut pipe = Pipe::new(Protocol::Chat, protocol, &Options::new()).unwrap();
    let translate = |event: String| {
        let mut out = Vec::new();
        pipe.push(event.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    };
    events.into_iter().map(translate).filter(|out| !out.is_empty()).collect()
}

/// What a client reads in an answer.
#[derive(Debug, Default)]
pub(super) struct ClientAnswer {
    /// Id, name and arguments; arguments that are no JSON as text.
    pub(super) calls: Vec<(String, String, Value)>,
    pub(super) text: String,
    pub(super) stop: String,
}

impl ClientAnswer {
    pub(super) fn read(protocol: Protocol, is_stream: bool, body: &str) -> Self {
        match protocol {
            Protocol::Chat if is_stream => Self::of_chat(&joined_chunks(body)),
            Protocol::Chat => Self::of_chat(&parse(body)["choices"][0]),
            Protocol::Responses => Self::of_responses(&response(is_stream, body)),
            Protocol::Messages if is_stream => Self::of_messages(&joined_blocks(body)),
            Protocol::Messages => Self::of_messages(&parse(body)),
            other => panic!("not a built-in protocol: {other:?}"),
        }
    }

    fn of_chat(choice: &Value) -> Self {
        let message = &choice["message"];
        let mut answer = Self { stop: text(&choice["finish_reason"]), ..Self::default() };
        answer.text = message["content"].as_str().unwrap_or_default().to_owned();
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            assert_eq!(call["type"], "function");
            let function = &call["function"];
            answer.add_call(&call["id"], &function["name"], &text(&function["arguments"]));
        }
        answer
    }

    fn of_responses(response: &Value) -> Self {
        let reason = &response["incomplete_details"]["reason"];
        let stop = reason.as_str().map_or_else(|| text(&response["status"]), str::to_owned);
        let mut answer = Self { stop, ..Self::default() };
        for item in response["output"].as_array().unwrap() {
            match item["type"].as_str().unwrap() {
                "message" => {
                    for part in item["content"].as_array().unwrap() {
                        answer.text.push_str(part["text"].as_str().unwrap());
                    }
                }
                "function_call" => {
                    answer.add_call(&item["call_id"], &item["name"], &text(&item["arguments"]));
                }
                other => panic!("{other}"),
            }
        }
        answer
    }

    fn of_messages(message: &Value) -> Self {
        let mut answer = Self { stop: text(&message["stop_reason"]), ..Self::default() };
        for block in message["content"].as_array().unwrap() {
            match block["type"].as_str().unwrap() {
                "text" => answer.text.push_str(block["text"].as_str().unwrap()),
                "tool_use" => {
                    let input = &block["input"];
                    let json = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
                    answer.add_call(&block["id"], &block["name"], &json);
                }
                other => panic!("{other}"),
            }
        }
        answer
    }

    fn add_call(&mut self, id: &Value, name: &Value, arguments: &str) {
        let value = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
        self.calls.push((text(id), text(name), value));
    }

    /// The answer as its client sends it back.
    pub(super) fn whole(&self, protocol: Protocol) -> Vec<u8> {
        let calls: Vec<Value> = self
            .calls
            .iter()
            .map(|(id, name, arguments)| {
                json!({"id": id, "type": "function",
                    "function": {"name": name, "arguments": arguments.to_string()}})
            })
            .collect();
        let chat = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1,
            "model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls",
                "message": {"role": "assistant", "content": self.text, "tool_calls": calls}}]});
        let chat = chat.to_string();
        let options = Options::new();
        translate::response(Protocol::Chat, protocol, chat.as_bytes(), &options).unwrap().body
    }
}

/// The response of Responses, which the last event of a stream repeats.
pub(super) fn response(is_stream: bool, body: &str) -> Value {
    if is_stream { data(body).pop().unwrap()["response"].take() } else { parse(body) }
}

fn joined_chunks(body: &str) -> Value {
    let (mut content, mut stop) = (String::new(), Value::Null);
    let mut calls: Vec<Value> = Vec::new();
    for chunk in data(body) {
        let choice = &chunk["choices"][0];
        if choice["finish_reason"].is_string() {
            stop = choice["finish_reason"].clone();
        }
        content.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        for delta in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(delta["index"].as_u64().unwrap()).unwrap();
            if index == calls.len() {
                calls.push(delta.clone());
                continue;
            }
            let so_far = text(&calls[index]["function"]["arguments"]);
            let more = delta["function"]["arguments"].as_str().unwrap();
            calls[index]["function"]["arguments"] = format!("{so_far}{more}").into();
        }
    }
    json!({"finish_reason": stop, "message": {"content": content, "tool_calls": calls}})
}

/// A message of Messages; the input of a call as the text that was sent.
fn joined_blocks(body: &str) -> Value {
    let (mut blocks, mut stop): (Vec<Value>, Value) = (Vec::new(), Value::Null);
    for mut event in data(body) {
        let index = usize::try_from(event["index"].as_u64().unwrap_or_default()).unwrap();
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(index, blocks.len());
                let mut block = event["content_block"].take();
                if block["type"] == "tool_use" {
                    block["input"] = "".into();
                }
                blocks.push(block);
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let (key, more) = match delta["type"].as_str().unwrap() {
                    "text_delta" => ("text", &delta["text"]),
                    "input_json_delta" => ("input", &delta["partial_json"]),
                    other => panic!("{other}"),
                };
                let so_far = text(&blocks[index][key]);
                blocks[index][key] = format!("{so_far}{}", more.as_str().unwrap()).into();
            }
            "message_delta" => stop = event["delta"]["stop_reason"].take(),
            _other => {}
        }
    }
    json!({"content": blocks, "stop_reason": stop})
}

/// The data of all events that are JSON.
fn data(body: &str) -> Vec<Value> {
    let lines = body.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.filter(|data| *data != "[DONE]").map(parse).collect()
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
