//! The laws of recovering calls from text: whatever the text, and however it
//! arrives.

pub use crate::fragments::{FAMILIES, Family, fragments, fragments_of};
use toolwire::recover::{Detector, Event, Tools};
use toolwire::wire::Raw;

/// What a detector made of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The text outside calls.
    pub text: String,
    /// What the model thought.
    pub reasoning: String,
    /// The calls that were complete.
    pub calls: Vec<Call>,
    /// The calls that broke off: their names, if known, and what was left over.
    pub incomplete: Vec<(Option<String>, String)>,
    /// The stretches of the input that were passed on, in order.
    passed: Vec<Passed>,
    open: Option<Call>,
}

/// A complete call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The declared name.
    pub name: String,
    /// Strict JSON.
    pub arguments: String,
    /// Whether the model's text had to be repaired.
    pub repaired: bool,
    /// Whether the arguments fit the schema.
    pub valid: bool,
    /// The dialect that the call was written in.
    pub dialect: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Passed {
    Bytes(String),
    /// A call, or reasoning: markers were left out here.
    Gap,
}

impl Reading {
    /// Reads a text that arrives whole.
    pub fn of(tools: &Tools, text: &str) -> Self {
        Self::of_pieces(tools, [text])
    }

    /// Reads a text that arrives in pieces.
    pub fn of_pieces<'p>(tools: &Tools, pieces: impl IntoIterator<Item = &'p str>) -> Self {
        let mut reading = Self::default();
        let mut detector = Detector::new(tools.clone());
        for piece in pieces {
            detector.push(piece, &mut |event: Event<'_>| reading.take(event));
        }
        detector.finish(&mut |event: Event<'_>| reading.take(event));
        reading
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Text(piece) => {
                self.text.push_str(piece);
                self.pass(piece);
            }
            Event::Reasoning(piece) => {
                self.reasoning.push_str(piece);
                if self.passed.last() != Some(&Passed::Gap) {
                    self.passed.push(Passed::Gap);
                }
                self.pass(piece);
                self.passed.push(Passed::Gap);
            }
            Event::CallStart { name, dialect } => {
                self.passed.push(Passed::Gap);
                let name = name.to_owned();
                self.open = Some(Call { name, dialect, ..Call::default() });
            }
            Event::Arguments(piece) => {
                if let Some(call) = &mut self.open {
                    call.arguments.push_str(piece);
                }
            }
            Event::CallEnd { repaired, valid } => {
                let call = self.open.take();
                self.calls.extend(call.map(|call| Call { repaired, valid, ..call }));
            }
            Event::Incomplete { name, raw } => {
                self.passed.push(Passed::Gap);
                let begun = self.open.take().map(|call| call.arguments).unwrap_or_default();
                self.incomplete.push((name.map(str::to_owned), begun + raw));
            }
            _ => {}
        }
    }

    fn pass(&mut self, piece: &str) {
        match self.passed.last_mut() {
            Some(Passed::Bytes(bytes)) => bytes.push_str(piece),
            _ => self.passed.push(Passed::Bytes(piece.to_owned())),
        }
    }
}

/// A text reads the same in pieces of any size.
pub fn any_pieces_read_the_same(tools: &Tools, text: &str, size: usize) -> Result<(), String> {
    let whole = Reading::of(tools, text);
    let parts = Reading::of_pieces(tools, pieces(text, size));
    same(&whole, &parts).map_err(|what| format!("in pieces of {size}: {what}"))
}

/// Whether two readings of the same text agree.
pub fn same(whole: &Reading, parts: &Reading) -> Result<(), String> {
    let fields = |reading: &Reading| {
        let Reading { text, reasoning, calls, incomplete, passed: _, open: _ } = reading.clone();
        (text, reasoning, calls, incomplete)
    };
    let (whole, parts) = (fields(whole), fields(parts));
    if whole == parts { Ok(()) } else { Err(format!("{parts:?}\nand whole: {whole:?}")) }
}

/// The text in pieces of at most so many bytes, cut between characters.
pub fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut length = size.max(1).min(rest.len());
        while !rest.is_char_boundary(length) {
            length += 1;
        }
        let (piece, after) = rest.split_at(length);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Only declared tools are called, with arguments that are a strict JSON object,
/// and no call stays open.
pub fn calls_are_whole(tools: &[&str], reading: &Reading) -> Result<(), String> {
    if let Some(call) = &reading.open {
        return Err(format!("{} was begun and never ended", call.name));
    }
    for Call { name, arguments, .. } in &reading.calls {
        if !tools.contains(&name.as_str()) {
            return Err(format!("{name} is not declared"));
        }
        if !arguments.starts_with('{') || Raw::parse(arguments).is_err() {
            return Err(format!("{name} has the arguments {arguments}"));
        }
    }
    Ok(())
}

/// Every byte is text, reasoning, or part of a call or of a marker around one of
/// them. Outside of those nothing vanishes and nothing is made up. Behind a call,
/// markers that end one are left out wherever they are.
pub fn nothing_vanishes(text: &str, reading: &Reading) -> Result<(), String> {
    let mut rest = text;
    let (mut gap, mut behind_gap) = (false, false);
    for passed in &reading.passed {
        match passed {
            Passed::Gap => (gap, behind_gap) = (true, true),
            Passed::Bytes(bytes) => {
                rest = after(rest, bytes, gap, behind_gap)
                    .ok_or_else(|| format!("{bytes:?} is not what follows in {rest:?}"))?;
                gap = false;
            }
        }
    }
    if gap || skip_frames(rest, behind_gap).is_empty() {
        return Ok(());
    }
    // What follows a gap may have been found too early, in the gap itself.
    let last = reading.passed.iter().rev().find_map(|passed| match passed {
        Passed::Bytes(bytes) => Some(bytes.as_str()),
        Passed::Gap => None,
    });
    let ends = last.is_some_and(|last| ends_with_frames(text, last));
    if behind_gap && ends { Ok(()) } else { Err(format!("{rest:?} vanished")) }
}

/// What follows `bytes` in the text, which begins with them, or has them behind
/// a call or markers around text.
fn after<'t>(text: &'t str, bytes: &str, gap: bool, behind_gap: bool) -> Option<&'t str> {
    let here = framed(text, bytes, behind_gap);
    if gap && here.is_none() {
        return text.char_indices().find_map(|(at, _)| framed(text.get(at..)?, bytes, behind_gap));
    }
    here
}

/// The text behind `bytes`, between whose characters markers may stand.
fn framed<'t>(text: &'t str, bytes: &str, behind_gap: bool) -> Option<&'t str> {
    let (mut text, mut bytes) = (text, bytes);
    while !bytes.is_empty() {
        let common = text.bytes().zip(bytes.bytes()).take_while(|(a, b)| a == b).count();
        let common = (0..=common).rev().find(|at| text.is_char_boundary(*at))?;
        // A marker may begin with what goes on in the text.
        let cut = (0..=common).rev().filter(|at| text.is_char_boundary(*at)).find(|at| {
            *at == bytes.len()
                || text.get(*at..).is_some_and(|rest| skip_frame(rest, behind_gap).is_some())
        })?;
        bytes = bytes.get(cut..)?;
        text = text.get(cut..)?;
        if !bytes.is_empty() {
            text = skip_frame(text, behind_gap)?;
        }
    }
    Some(text)
}

fn ends_with_frames(text: &str, last: &str) -> bool {
    text.char_indices().any(|(at, _)| {
        text.get(at..)
            .and_then(|rest| framed(rest, last, true))
            .is_some_and(|rest| skip_frames(rest, true).is_empty())
    })
}

/// The text behind the markers that enclose ordinary text.
fn skip_frames(text: &str, behind_gap: bool) -> &str {
    let mut rest = text;
    while let Some(skipped) = skip_frame(rest, behind_gap) {
        rest = skipped;
    }
    rest
}

/// The text behind one of them. Behind a call, what ends calls is one too.
fn skip_frame(text: &str, behind_gap: bool) -> Option<&str> {
    let header =
        ["<|channel|>", "<|start|>", ">>>all\n"].iter().find(|mark| text.starts_with(**mark));
    let strip = |marks: &[&str]| marks.iter().find_map(|mark| text.strip_prefix(mark));
    match header {
        Some(&">>>all\n") => text.get(">>>all\n".len()..),
        Some(_) => text.split_once("<|message|>").map(|(_, rest)| rest),
        None => strip(&FRAMES).or_else(|| behind_gap.then(|| strip(&ENDS)).flatten()),
    }
}

/// Markers that end calls, in the cases that have text before one.
const ENDS: [&str; 2] = ["</tool_call>", "</tool_calls>"];

/// A text that breaks off has no other calls than the whole text: the same ones
/// up to where it breaks off, and at most one more whose brackets were closed
/// behind a complete value.
pub fn a_cut_completes_nothing(tools: &Tools, text: &str, at: usize) -> Result<(), String> {
    let Some(prefix) = text.get(..at) else { return Ok(()) };
    let whole = Reading::of(tools, text);
    let cut = Reading::of(tools, prefix);
    cut_agrees(&whole, &cut).map_err(|what| format!("cut at {at}, behind {prefix:?}: {what}"))
}

/// Whether the reading of a text that breaks off agrees with that of the whole.
pub fn cut_agrees(whole: &Reading, cut: &Reading) -> Result<(), String> {
    for (index, call) in cut.calls.iter().enumerate() {
        let Some(wanted) = whole.calls.get(index) else {
            return Err(format!("a call that the whole text does not have: {call:?}"));
        };
        if (&call.name, &call.arguments) == (&wanted.name, &wanted.arguments) {
            continue;
        }
        let last = index + 1 == cut.calls.len();
        let begun = call.arguments.trim_end_matches(['}', ']']);
        let rest = wanted.arguments.strip_prefix(begun);
        let boundary = rest.is_some_and(|rest| rest.starts_with([',', ']', '}']));
        if call.name != wanted.name || !last || !call.repaired || !boundary {
            return Err(format!("{call:?}\nbut the whole text has {wanted:?}"));
        }
    }
    Ok(())
}

/// Markers that enclose ordinary text or reasoning.
const FRAMES: [&str; 40] = [
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "[THINK]",
    "[/THINK]",
    "<|START_THINKING|>",
    "<|END_THINKING|>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|START_TEXT|>",
    "<|END_TEXT|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|return|>",
    "<|end|>",
    "<|think|>",
    "<|/think|>",
    "<|thinking|>",
    "<return>",
    "</return>",
    "<end>",
    "</end>",
    "<｜end｜>",
    "<|im_end|>",
    "<mm:think>",
    "</mm:think>",
    "<channel|>",
    "<|eom|>",
    "<|eot|>",
    "<|message_model|>",
    "<|content_text|>",
    "<|end_message|>",
    "<|message_sep|>",
    "<|open|>response<|sep|>",
    "<|open|> response <|sep|>",
    "<|close|>response<|sep|>",
    "<|close|> response <|sep|>",
    "<|close|>tools<|sep|>",
    "<|close|>call<|sep|>",
    "<|close|>argument<|sep|>",
];

/// The tool that the fragments call, and another one.
pub fn fragment_tools() -> Tools {
    let mut tools = Tools::default();
    let schema = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}"#;
    tools.add("f", "", Some(schema));
    tools.add("g", "", None);
    tools
}
