//! `toolwire detect`: finds the tool calls in the text of a model.

use std::io::{self, BufRead, Write};

use toolwire::recover::{Detector, Event, Tools, intent};
use toolwire::wire::{Object, Raw, ReadError, Reader};

use crate::error::CommandError;

/// Find the tool calls that a model wrote as text
///
/// Reads one case per line from standard input: an object with `id`, `tools` (an
/// array of tool definitions) and `text` (the model's whole output). Prints one
/// object per line: the calls, the text around them, and what was cut off. With
/// `"options": {"intent": true}`, a text without a call is also searched for
/// actions that it announces in plain words.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Read and write JSON lines
    #[arg(long, required = true)]
    jsonl: bool,
    /// Feed the text in pieces of this many bytes, as a stream would
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    chunk: Option<u32>,
    /// The dialect of the text. Every dialect is recognized without a hint
    #[arg(long, value_name = "NAME", default_value = "auto")]
    format: String,
}

/// Reads cases and prints what was found.
pub(crate) fn run(args: &Args) -> Result<(), CommandError> {
    let Args { jsonl: _, chunk, format: _ } = args;
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().split(b'\n') {
        let line = line?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut result = Vec::new();
        match Case::read(&line) {
            Ok(case) => case.detect(*chunk).write(&case, &mut result),
            Err(problem) => {
                let mut object = Object::new(&mut result);
                object.put("id", &None::<String>);
                object.put("error", problem.as_str());
            }
        }
        result.push(b'\n');
        out.write_all(&result)?;
        out.flush()?;
    }
    Ok(())
}

/// One line of the input.
struct Case {
    /// As JSON.
    id: String,
    tools: Tools,
    text: String,
    /// Whether announcements count if there is no call.
    wants_intent: bool,
}

/// What was found in a text.
#[derive(Default)]
struct Detection {
    calls: Vec<FoundCall>,
    content: String,
    reasoning: String,
    incomplete: Vec<(Option<String>, String)>,
    dialect: Option<&'static str>,
    /// Whether a call has begun and not ended.
    is_open: bool,
}

struct FoundCall {
    name: String,
    arguments: String,
    source: &'static str,
    repaired: bool,
}

impl Case {
    fn read(line: &[u8]) -> Result<Self, String> {
        let line = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        let (id, tools, text) = ("null".to_owned(), Tools::default(), String::new());
        let mut case = Self { id, tools, text, wants_intent: false };
        case.fill(line).map_err(|error| error.to_string())?;
        Ok(case)
    }

    fn fill(&mut self, line: &str) -> Result<(), ReadError> {
        let mut reader = Reader::new(line);
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            match &*key.decode() {
                "id" => self.id = reader.raw()?.text().to_owned(),
                "text" => self.text = reader.string()?.decode().into_owned(),
                "tools" => self.tools = Tools::read(reader.raw()?.text())?,
                "options" => self.wants_intent = wants_intent(&reader.raw()?)?,
                _ => reader.skip()?,
            }
        }
        reader.finish()
    }

    fn detect(&self, chunk: Option<u32>) -> Detection {
        let mut found = Detection::default();
        let mut detector = Detector::new(self.tools.clone());
        let length = chunk.map_or(usize::MAX, |chunk| chunk as usize);
        // A piece may end inside a character, which waits for its other bytes.
        let mut waiting = Vec::new();
        for piece in self.text.as_bytes().chunks(length.min(self.text.len().max(1))) {
            waiting.extend_from_slice(piece);
            let whole = match std::str::from_utf8(&waiting) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            let text = waiting.get(..whole).and_then(|text| std::str::from_utf8(text).ok());
            detector.push(text.unwrap_or_default(), &mut |event: Event<'_>| found.take(event));
            waiting.drain(..whole);
        }
        detector.finish(&mut |event: Event<'_>| found.take(event));
        if self.wants_intent && found.calls.is_empty() && found.incomplete.is_empty() {
            found.announced(&self.tools);
        }
        found
    }
}

/// Whether the options of a case ask for intent.
fn wants_intent(options: &Raw<'_>) -> Result<bool, ReadError> {
    let mut wants = false;
    let mut reader = options.reader();
    let mut members = reader.object()?;
    while let Some(key) = members.next(&mut reader)? {
        match &*key.decode() {
            "intent" => wants = reader.raw()?.text() == "true",
            _ => reader.skip()?,
        }
    }
    Ok(wants)
}

impl Detection {
    /// Adds the calls that the text announces. It stays as it is.
    fn announced(&mut self, tools: &Tools) {
        for call in intent::detect(&self.content, tools).calls {
            let (name, arguments) = (call.name, call.arguments);
            self.calls.push(FoundCall { name, arguments, source: "intent", repaired: false });
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) => self.content.push_str(text),
            Event::Reasoning(text) => self.reasoning.push_str(text),
            Event::CallStart { name, dialect } => {
                self.dialect.get_or_insert(dialect);
                self.is_open = true;
                let (name, arguments) = (name.to_owned(), String::new());
                self.calls.push(FoundCall { name, arguments, source: "format", repaired: false });
            }
            Event::Arguments(piece) => {
                if let Some(call) = self.calls.last_mut() {
                    call.arguments.push_str(piece);
                }
            }
            Event::CallEnd { repaired, .. } => {
                self.is_open = false;
                if let Some(call) = self.calls.last_mut() {
                    call.repaired = repaired;
                }
            }
            Event::Incomplete { name, raw } => {
                let begun = if self.is_open { self.calls.pop() } else { None };
                self.is_open = false;
                let raw = begun.map(|call| call.arguments).unwrap_or_default() + raw;
                self.incomplete.push((name.map(str::to_owned), raw));
            }
            _ => {}
        }
    }

    fn write(&self, case: &Case, out: &mut Vec<u8>) {
        let mut object = Object::new(out);
        object.put("id", &Raw::made(case.id.as_str()));
        let mut calls = object.array("calls");
        for call in &self.calls {
            let mut object = calls.object();
            object.put("name", &call.name);
            object.put("arguments", &Raw::made(call.arguments.as_str()));
            object.put("source", call.source);
            object.put("repaired", &call.repaired);
        }
        drop(calls);
        object.put("content", &self.content);
        object.put("reasoning", &(!self.reasoning.is_empty()).then_some(&self.reasoning));
        let mut incomplete = object.array("incomplete");
        for (name, raw) in &self.incomplete {
            let mut object = incomplete.object();
            object.put("name", name);
            object.put("raw", raw);
        }
        drop(incomplete);
        object.put("format", &self.dialect);
    }
}
