//! What a careful client makes of a stream, written without toolwire's own
//! readers: its own framing, serde_json, and each protocol's rules as the
//! vendors' SDKs enforce them or ought to.
//!
//! The same eyes read what an upstream sent (leniently) and what the client
//! gets (strictly), so the two can be compared.

use std::collections::BTreeMap;

use serde_json::Value;
use toolwire::Protocol;

/// How a stream ended, as far as its protocol says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It did not.
    None,
    /// Well, and what came is complete.
    Success,
    /// At a limit or a filter: what came last may be cut, and the client knows.
    Short,
    /// With an error.
    Error,
}

/// A call as the client would run it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeenCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    pub(crate) freeform: bool,
}

/// A stream as a client sees it.
#[derive(Clone, Debug)]
pub(crate) struct Oracle {
    protocol: Protocol,
    strict: bool,
    /// How many bytes have been looked at.
    pub(crate) read: usize,
    pub(crate) ending: Ending,
    /// In the order in which they began.
    pub(crate) calls: Vec<SeenCall>,
    /// What is wrong with the stream, if anything.
    pub(crate) fault: Option<String>,
    pub(crate) text: String,
    pub(crate) reasoning: String,
    /// Whether the protocol's end marker came.
    pub(crate) marked: bool,
    // Chat.
    finish: Option<String>,
    // Messages.
    open: Option<(u64, String)>,
    blocks: u64,
    begun: bool,
    delivered: bool,
    // Responses.
    sequence: Option<u64>,
    items: BTreeMap<u64, Item>,
}

#[derive(Clone, Debug, Default)]
struct Item {
    id: String,
    kind: String,
    call: Option<usize>,
    text: String,
    done: bool,
}

impl Oracle {
    /// A client that holds the stream to every rule.
    pub(crate) fn strict(protocol: Protocol) -> Self {
        Self::new(protocol, true)
    }

    /// A reader that makes the best of what an upstream sends.
    pub(crate) fn lenient(protocol: Protocol) -> Self {
        Self::new(protocol, false)
    }

    fn new(protocol: Protocol, strict: bool) -> Self {
        Self {
            protocol,
            strict,
            read: 0,
            ending: Ending::None,
            calls: Vec::new(),
            fault: None,
            text: String::new(),
            reasoning: String::new(),
            marked: false,
            finish: None,
            open: None,
            blocks: 0,
            begun: false,
            delivered: false,
            sequence: None,
            items: BTreeMap::new(),
        }
    }

    /// Reads the stream from where it was left to the end of `bytes`.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let rest = &bytes[self.read..];
        for (name, data, end) in events(rest, self.strict) {
            self.event(name.as_deref(), &data);
            self.read += end;
        }
        if self.strict && self.read != bytes.len() && self.fault.is_none() {
            self.fault = Some("the stream ends inside an event".to_owned());
        }
    }

    /// The stream has ended. A Chat upstream need not say `[DONE]` once it has
    /// said why it stopped.
    pub(crate) fn close(&mut self) {
        if self.ending == Ending::None && self.finish.is_some() && self.protocol == Protocol::Chat {
            self.chat_done();
        }
    }

    fn event(&mut self, name: Option<&str>, data: &str) {
        if data.is_empty() || (self.fault.is_some() && !self.strict) {
            return;
        }
        let over = self.ending != Ending::None;
        if over && self.protocol == Protocol::Responses && data == "[DONE]" && !self.delivered {
            self.delivered = true;
            return;
        }
        if over {
            if self.strict {
                self.wrong(format!("an event after the last: {data}"));
            }
            return;
        }
        if data == "[DONE]" {
            match self.protocol {
                Protocol::Chat => self.chat_done(),
                Protocol::Responses | Protocol::Messages if self.strict => {
                    self.wrong("[DONE] before the end".to_owned());
                }
                Protocol::Responses | Protocol::Messages => {}
                other => panic!("not a built-in protocol: {other:?}"),
            }
            return;
        }
        // Some servers write what they like into a ping.
        if !self.strict && name == Some("ping") && !data.trim_start().starts_with('{') {
            return;
        }
        let event: Value = match serde_json::from_str(data) {
            Ok(event) => event,
            Err(error) => return self.wrong(format!("{error}: {data}")),
        };
        if !event.is_object() {
            return self.wrong(format!("not an object: {data}"));
        }
        if self.strict && self.protocol != Protocol::Chat && name != event["type"].as_str() {
            self.wrong(format!("the event line {name:?} does not say what the data says: {data}"));
        }
        match self.protocol {
            Protocol::Chat => self.chat(&event),
            Protocol::Responses => self.responses(&event, name),
            Protocol::Messages => self.messages(&event, name),
            other => panic!("not a built-in protocol: {other:?}"),
        }
    }

    fn wrong(&mut self, what: String) {
        self.fault.get_or_insert(what);
    }

    fn demand(&mut self, holds: bool, what: &str, event: &Value) {
        if self.strict && !holds {
            self.wrong(format!("{what}: {event}"));
        }
    }

    fn chat_done(&mut self) {
        self.marked = true;
        if self.strict && self.finish.is_none() {
            self.wrong("[DONE] without a finish reason".to_owned());
        }
        self.ending = match self.finish.as_deref() {
            Some("length" | "content_filter") => Ending::Short,
            Some(_) | None => Ending::Success,
        };
    }

    fn chat(&mut self, event: &Value) {
        if !event["error"].is_null() {
            self.ending = Ending::Error;
            self.demand(event["error"]["message"].is_string(), "an error without a message", event);
            return;
        }
        self.demand(event["object"] == "chat.completion.chunk", "not a chunk", event);
        self.demand(event["id"].is_string() && event["created"].is_u64(), "no id", event);
        let Some(choices) = event["choices"].as_array() else {
            return self.demand(false, "a chunk without choices", event);
        };
        for choice in choices.iter().filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            let delta = &choice["delta"];
            self.demand(delta.is_object(), "a choice without a delta", event);
            if let Some(text) = delta["content"].as_str() {
                self.text.push_str(text);
            }
            if let Some(text) = delta["reasoning_content"].as_str() {
                self.reasoning.push_str(text);
            }
            for call in delta["tool_calls"].as_array().into_iter().flatten() {
                self.chat_call(call);
            }
            let filled =
                |key: &str| delta["function_call"][key].as_str().is_some_and(|s| !s.is_empty());
            if filled("name") || filled("arguments") {
                self.legacy_call(&delta["function_call"]);
            }
            if let Some(word) = choice["finish_reason"].as_str() {
                self.demand(self.finish.is_none(), "a second finish reason", event);
                self.finish = Some(word.to_owned());
                self.marked = true;
            }
        }
    }

    /// The deprecated shape has one call and no id.
    fn legacy_call(&mut self, call: &Value) {
        if self.calls.is_empty() {
            self.calls.push(SeenCall::default());
        }
        let Some(seen) = self.calls.last_mut() else { return };
        seen.name.push_str(call["name"].as_str().unwrap_or_default());
        seen.arguments.push_str(call["arguments"].as_str().unwrap_or_default());
    }

    fn chat_call(&mut self, call: &Value) {
        let index = call["index"].as_u64().unwrap_or(0) as usize;
        self.demand(call["index"].is_u64(), "a call without an index", call);
        self.demand(self.finish.is_none(), "a call after the finish reason", call);
        if index >= self.calls.len() {
            self.demand(index == self.calls.len(), "an index was left out", call);
            self.demand(call["id"].as_str().is_some_and(|id| !id.is_empty()), "no id", call);
            self.calls.push(SeenCall {
                id: call["id"].as_str().unwrap_or_default().to_owned(),
                freeform: call["custom"].is_object(),
                ..SeenCall::default()
            });
        } else {
            self.demand(call["id"].is_null() && call["type"].is_null(), "a second head", call);
        }
        let last = self.calls.len() - 1;
        let Some(seen) = self.calls.get_mut(index.min(last)) else { return };
        let part = if seen.freeform { &call["custom"] } else { &call["function"] };
        seen.name.push_str(part["name"].as_str().unwrap_or_default());
        let key = if seen.freeform { "input" } else { "arguments" };
        seen.arguments.push_str(part[key].as_str().unwrap_or_default());
        let named = !seen.name.is_empty();
        self.demand(named, "a call without a name", call);
    }

    fn messages(&mut self, event: &Value, name: Option<&str>) {
        let kind = event["type"].as_str().or(name).unwrap_or_default().to_owned();
        if kind == "error" {
            self.ending = Ending::Error;
            self.demand(event["error"]["message"].is_string(), "an error without a message", event);
            self.demand(event["error"]["type"].is_string(), "an error without a type", event);
            return;
        }
        if kind == "message_start" {
            self.demand(!self.begun, "a second start", event);
            self.demand(event["message"]["usage"]["input_tokens"].is_u64(), "no usage", event);
            self.demand(event["message"]["content"] == serde_json::json!([]), "content", event);
            self.begun = true;
            for block in event["message"]["content"].as_array().into_iter().flatten() {
                if block["type"] == "tool_use" {
                    self.calls.push(SeenCall {
                        id: block["id"].as_str().unwrap_or_default().to_owned(),
                        name: block["name"].as_str().unwrap_or_default().to_owned(),
                        arguments: block["input"].to_string(),
                        freeform: false,
                    });
                }
            }
            return;
        }
        self.demand(self.begun || kind == "ping", "an event before the start", event);
        self.demand(!self.delivered || kind == "message_stop", "an event after the delta", event);
        let index = event["index"].as_u64().unwrap_or_default();
        match kind.as_str() {
            "content_block_start" => {
                let block = &event["content_block"];
                let kind = block["type"].as_str().unwrap_or_default().to_owned();
                self.demand(self.open.is_none(), "two blocks open", event);
                self.demand(index == self.blocks, "a block out of number", event);
                self.blocks = index + 1;
                if kind == "tool_use" {
                    let empty = block["input"] == serde_json::json!({});
                    self.demand(empty, "early input", event);
                    self.calls.push(SeenCall {
                        id: block["id"].as_str().unwrap_or_default().to_owned(),
                        name: block["name"].as_str().unwrap_or_default().to_owned(),
                        arguments: if empty { String::new() } else { block["input"].to_string() },
                        freeform: false,
                    });
                }
                self.text.push_str(block["text"].as_str().unwrap_or_default());
                self.open = Some((index, kind));
            }
            "content_block_delta" => {
                let open = self.open.clone().unwrap_or_default();
                self.demand(self.open.is_some() && index == open.0, "no such block", event);
                let delta = &event["delta"];
                let fits = match delta["type"].as_str().unwrap_or_default() {
                    "text_delta" | "citations_delta" => open.1 == "text",
                    "input_json_delta" => open.1 == "tool_use" || open.1 == "server_tool_use",
                    "thinking_delta" | "signature_delta" => open.1 == "thinking",
                    _other => !self.strict,
                };
                self.demand(fits, "a delta of another kind than its block", event);
                self.text.push_str(delta["text"].as_str().unwrap_or_default());
                self.reasoning.push_str(delta["thinking"].as_str().unwrap_or_default());
                if open.1 == "tool_use"
                    && let (Some(call), Some(json)) =
                        (self.calls.last_mut(), delta["partial_json"].as_str())
                {
                    call.arguments.push_str(json);
                }
            }
            "content_block_stop" => {
                let known = self.open.take().is_some_and(|(open, _)| open == index);
                self.demand(known, "a stop of no open block", event);
            }
            "message_delta" => {
                self.demand(self.open.is_none(), "the end while a block is open", event);
                self.delivered = true;
                self.finish = event["delta"]["stop_reason"].as_str().map(str::to_owned);
                let counted = event["usage"]["output_tokens"].is_u64();
                self.demand(self.finish.is_some() && counted, "no stop reason or usage", event);
            }
            "message_stop" => {
                self.marked = true;
                self.demand(self.delivered, "a stop without its delta", event);
                self.ending = match self.finish.as_deref() {
                    Some("max_tokens" | "refusal" | "model_context_window_exceeded") => {
                        Ending::Short
                    }
                    Some(_) | None => Ending::Success,
                };
            }
            "ping" => {}
            _other => self.demand(false, "an unknown event", event),
        }
    }

    fn responses(&mut self, event: &Value, name: Option<&str>) {
        let kind = event["type"].as_str().or(name).unwrap_or_default().to_owned();
        if self.strict {
            let number = event["sequence_number"].as_u64();
            let next = self.sequence.map_or(0, |last| last + 1);
            self.demand(number == Some(next), "the sequence has a gap", event);
            self.sequence = number;
        }
        let index = event["output_index"].as_u64().unwrap_or(u64::MAX);
        match kind.as_str() {
            "response.created" => {
                self.demand(!self.begun, "a second start", event);
                self.begun = true;
            }
            "response.output_item.added" => {
                let item = &event["item"];
                let new = !self.items.contains_key(&index);
                self.demand(new && index == self.items.len() as u64, "an index left out", event);
                let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
                let mut seen = Item { id: text("id"), kind: text("type"), ..Item::default() };
                self.demand(!seen.id.is_empty(), "an item without an id", event);
                if seen.kind == "function_call" || seen.kind == "custom_tool_call" {
                    seen.call = Some(self.calls.len());
                    self.calls.push(SeenCall {
                        id: text("call_id"),
                        name: text("name"),
                        freeform: seen.kind == "custom_tool_call",
                        ..SeenCall::default()
                    });
                }
                self.items.insert(index, seen);
            }
            "response.function_call_arguments.delta"
            | "response.custom_tool_call_input.delta"
            | "response.output_text.delta"
            | "response.refusal.delta"
            | "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta" => self.responses_delta(event, index),
            "response.function_call_arguments.done" => {
                self.same_text(event, index, "arguments");
            }
            "response.custom_tool_call_input.done" => self.same_text(event, index, "input"),
            "response.output_item.done" => self.responses_done(event, index),
            "response.cancelled" => {
                self.marked = true;
                self.ending = Ending::Short;
            }
            "response.completed" | "response.incomplete" => {
                self.marked = true;
                self.ending =
                    if kind == "response.completed" { Ending::Success } else { Ending::Short };
                let all = self.items.values().all(|item| item.done);
                self.demand(all, "the end while an item is open", event);
                let ids: Vec<&str> = event["response"]["output"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|item| item["id"].as_str().unwrap_or_default())
                    .collect();
                let known: Vec<&str> = self.items.values().map(|item| item.id.as_str()).collect();
                self.demand(ids == known, "the answer has other items than the stream", event);
                self.demand(event["response"]["status"].is_string(), "no status", event);
            }
            "response.failed" => {
                self.ending = Ending::Error;
                let told = event["response"]["error"]["message"].is_string();
                self.demand(told, "a failure without a message", event);
            }
            // What follows an error event is `response.failed`, except from
            // servers that know only the first.
            "error" if !self.strict => self.ending = Ending::Error,
            _other => {}
        }
    }

    fn responses_delta(&mut self, event: &Value, index: u64) {
        let delta = event["delta"].as_str().unwrap_or_default();
        let known = self.items.get_mut(&index).filter(|item| {
            !item.done && (!self.strict || Some(item.id.as_str()) == event["item_id"].as_str())
        });
        let Some(item) = known else {
            return self.demand(false, "a delta of no open item", event);
        };
        item.text.push_str(delta);
        match (item.call, item.kind.as_str()) {
            (Some(call), _) => self.calls[call].arguments.push_str(delta),
            (None, "reasoning") => self.reasoning.push_str(delta),
            (None, _) => self.text.push_str(delta),
        }
    }

    fn same_text(&mut self, event: &Value, index: u64, key: &str) {
        let text = self.items.get(&index).map(|item| item.text.clone()).unwrap_or_default();
        self.demand(event[key].as_str() == Some(&text), "the whole is not its parts", event);
    }

    fn responses_done(&mut self, event: &Value, index: u64) {
        let item = &event["item"];
        let Some(seen) = self.items.get_mut(&index) else {
            return self.demand(false, "the end of no item", event);
        };
        let twice = std::mem::replace(&mut seen.done, true);
        let (id, call) = (seen.id.clone(), seen.call);
        self.demand(!twice, "an item ends twice", event);
        self.demand(item["id"].as_str() == Some(&id), "an item with another id", event);
        if let Some(call) = call {
            let key = if self.calls[call].freeform { "input" } else { "arguments" };
            let whole = item[key].as_str().unwrap_or_default().to_owned();
            if self.strict {
                let same = whole == self.calls[call].arguments;
                self.demand(same, "the whole is not its parts", event);
            } else {
                self.calls[call].arguments = whole;
            }
        }
    }
}

/// The events of a stream: name, data, and how many bytes up to their end. An
/// event without its empty line counts only for lenient eyes.
pub(crate) fn events(bytes: &[u8], strict: bool) -> Vec<(Option<String>, String, usize)> {
    let mut found = Vec::new();
    let (mut name, mut data, mut some, mut last) = (None, String::new(), false, 0);
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = rest.iter().position(|byte| *byte == b'\n' || *byte == b'\r');
        if end.is_none() && strict {
            break;
        }
        let line = &rest[..end.unwrap_or(rest.len())];
        at += line.len();
        if end.is_some() {
            at += if rest[line.len()..].starts_with(b"\r\n") { 2 } else { 1 };
        }
        // Such a line makes data that is not JSON, whatever field it is.
        let line = std::str::from_utf8(line).unwrap_or("data: not UTF-8");
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        if line.is_empty() {
            found.push((name.take(), std::mem::take(&mut data), at - last));
            last = at;
            some = false;
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        if field == "data" {
            if some {
                data.push('\n');
            }
            data.push_str(value);
            some = true;
        } else if field == "event" {
            name = Some(value.to_owned());
        }
    }
    if !strict && some {
        found.push((name, data, at - last));
    }
    found
}
