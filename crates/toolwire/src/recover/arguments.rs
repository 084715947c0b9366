//! The arguments of one call, written as strict JSON while they arrive and
//! aligned with the tool's schema.
//!
//! A text is passed on as it comes if the schema wants a text. Any other value is
//! kept until it ends, because it may have to be converted.

use std::collections::HashSet;

use super::align;
use super::escape::{push_escaped, push_escaped_str};
use super::lexer::Token;
use super::schema::{Schema, Type};
use super::value::{Progress, ValueWriter, literal};
use crate::wire::Raw;

/// Arguments that are being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments {
    state: State,
    /// Whether they are written as Python's, `f(a=1)`.
    python: bool,
    key: String,
    /// A value that is kept until it ends.
    kept: String,
    writer: ValueWriter,
    seen: HashSet<String>,
    positional: usize,
    /// Whether the member of the next value is chosen.
    placed: bool,
    begun: bool,
    skip: bool,
    /// Whether something had to be repaired or converted.
    pub(super) repaired: bool,
    /// Whether a value does not fit the schema.
    pub(super) invalid: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Before,
    /// A key, or the end.
    Key,
    KeyText,
    Colon,
    Value,
    /// Inside a text that is passed on.
    Text,
    /// Inside a value that is kept.
    Kept,
    /// A comma, or the end.
    Comma,
    Done,
}

impl Arguments {
    /// The arguments of a call in Python's syntax, behind the parenthesis.
    pub(super) fn python() -> Self {
        Self { state: State::Key, python: true, ..Self::default() }
    }

    /// Arguments whose members are added one by one.
    pub(super) fn members() -> Self {
        Self { state: State::Key, ..Self::default() }
    }

    /// Takes the next token of an object, or of Python's argument list.
    pub(super) fn token(
        &mut self,
        token: Token<'_>,
        schema: &Schema,
        out: &mut String,
    ) -> Progress {
        match (self.state, token) {
            (State::Before, Token::Open(b'{')) => self.goto(State::Key),
            (State::Key | State::Comma, Token::Close(close)) if close == self.closing() => {
                // A comma before the bracket.
                let has_comma = self.state == State::Key && !self.seen.is_empty();
                self.repaired |= has_comma && !self.python;
                self.state = State::Done;
                Progress::Done
            }
            (State::Key, Token::Open(_) | Token::StringStart) if self.python => {
                self.next_positional(schema);
                self.state = State::Value;
                self.token(token, schema, out)
            }
            (State::Key, Token::StringStart) => {
                self.key.clear();
                self.goto(State::KeyText)
            }
            (State::Comma, Token::StringStart) => {
                // A comma that was forgotten.
                self.repaired = true;
                self.key.clear();
                self.goto(if self.python { return Progress::Bad } else { State::KeyText })
            }
            (State::KeyText, Token::StringPart(part)) => {
                self.key.push_str(part);
                Progress::More
            }
            (State::KeyText, Token::StringChar(c)) => {
                push_escaped(c, &mut self.key);
                Progress::More
            }
            (State::KeyText, Token::StringEnd) => {
                if self.key.contains('\\') {
                    let literal = format!("\"{}\"", self.key);
                    let decoded = crate::wire::Reader::new(&literal).string();
                    let Ok(decoded) = decoded else { return Progress::Bad };
                    self.key = decoded.decode().into_owned();
                }
                self.goto(State::Colon)
            }
            (State::Key, Token::Word(word)) => {
                self.repaired |= !self.python;
                self.key.clear();
                self.key.push_str(word);
                self.goto(State::Colon)
            }
            (State::Colon, Token::Colon) => self.goto(State::Value),
            (State::Colon, Token::Comma | Token::Close(_)) if self.python => {
                let word = std::mem::take(&mut self.key);
                let Some((value, _)) = literal(&word) else { return Progress::Bad };
                self.next_positional(schema);
                self.placed = false;
                self.put_kept(value, schema, out);
                self.state = State::Comma;
                self.token(token, schema, out)
            }
            (State::Value, token) => self.value(token, schema, out),
            (State::Text, Token::StringPart(part)) => {
                if !self.skip {
                    out.push_str(part);
                }
                Progress::More
            }
            (State::Text, Token::StringChar(c)) => {
                if !self.skip {
                    push_escaped(c, out);
                }
                Progress::More
            }
            (State::Text, Token::StringEnd) => {
                if !self.skip {
                    out.push('"');
                }
                self.goto(State::Comma)
            }
            (State::Kept, token) => self.keep(token, schema, out),
            (State::Comma, Token::Comma) => self.goto(State::Key),
            (_, _) => Progress::Bad,
        }
    }

    /// Whether their end was read.
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether a text is being passed on.
    pub(super) fn passes(&self) -> bool {
        self.state == State::Text && !self.skip
    }

    /// Whether raw text is passed on.
    pub(super) fn passes_raw(&self) -> bool {
        !self.skip
    }

    /// Ends the object if the text may end here: behind a complete value.
    pub(super) fn complete(&mut self, schema: &Schema, out: &mut String) -> bool {
        if self.state == State::Kept {
            let mut kept = std::mem::take(&mut self.kept);
            if !self.writer.complete(&mut kept) {
                return false;
            }
            self.put_kept(kept, schema, out);
            self.state = State::Comma;
        }
        if self.state != State::Comma {
            return false;
        }
        self.repaired = true;
        self.state = State::Done;
        true
    }

    /// Writes the end of the object.
    pub(super) fn finish(&mut self, out: &mut String) {
        out.push_str(if self.begun { "}" } else { "{}" });
        self.state = State::Done;
    }

    /// Whether every member that the schema requires is there.
    pub(super) fn has_required(&self, schema: &Schema) -> bool {
        schema.required.iter().all(|name| self.seen.contains(name))
    }

    /// Whether this is the schema of arguments and not arguments: a tool's
    /// definition was quoted.
    pub(super) fn is_definition(&self, schema: &Schema) -> bool {
        let has = |name: &str| self.seen.contains(name) && schema.property(name).is_none();
        has("properties") || (has("type") && has("required"))
    }

    /// Whether no member has been written.
    pub(super) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Whether a member has not been given.
    pub(super) fn lacks(&self, name: &str) -> bool {
        !self.seen.contains(name)
    }

    /// The only member that has not been given: of those that must be, or else of
    /// all.
    pub(super) fn only_missing<'s>(&self, schema: &'s Schema) -> Option<&'s str> {
        let required = schema.required.iter().find(|name| self.lacks(name));
        let mut missing = schema.properties.iter().map(|(name, _)| name).filter(|name| {
            self.lacks(name) && (required.is_none() || schema.required.contains(name))
        });
        let first = missing.next()?;
        missing.next().is_none().then_some(first)
    }

    /// Remembers the key of a member whose value follows.
    pub(super) fn set_raw_key(&mut self, key: &str) {
        self.key = key.to_owned();
    }

    /// The key that was remembered.
    pub(super) fn raw_key(&self) -> &str {
        &self.key
    }

    /// Begins a member that is written as raw text. Whether the text can be
    /// passed on as it comes; else the whole of it goes to [`Arguments::put_raw`].
    pub(super) fn open_raw(&mut self, key: &str, schema: &Schema, out: &mut String) -> bool {
        self.set_key(key, schema);
        let property = schema.property(&self.key);
        let text = property.is_some_and(|property| {
            !property.types.is_empty()
                && property.types.iter().all(|kind| *kind == Type::String)
                && property.choices.is_empty()
        });
        if text && !self.skip {
            self.write_key(out);
            out.push('"');
        }
        text
    }

    /// Passes on a piece of a raw text.
    pub(super) fn raw_piece(&self, piece: &str, out: &mut String) {
        if !self.skip {
            push_escaped_str(piece, out);
        }
    }

    /// Ends a raw text.
    pub(super) fn close_raw(&mut self, out: &mut String) {
        if !self.skip {
            out.push('"');
        }
    }

    /// Writes the member that was begun with its whole raw text.
    /// `is_text` is what its tag says about the value.
    pub(super) fn put_raw(
        &mut self,
        text: &str,
        is_text: Option<bool>,
        schema: &Schema,
        out: &mut String,
    ) {
        if self.is_wrapper(schema)
            && let Some(object) = align::lenient(text.trim())
            && self.unwrap(&object, schema, out)
        {
            return;
        }
        let property = schema.property(&self.key);
        let json = match (property, is_text) {
            (None, Some(true)) => Some(align::quoted(text)),
            (property, _) => align::raw_text(property, text),
        };
        let Some(json) = json else {
            self.seen.remove(&self.key);
            return;
        };
        self.put(&json, schema, out);
    }

    fn goto(&mut self, state: State) -> Progress {
        self.state = state;
        Progress::More
    }

    fn closing(&self) -> u8 {
        if self.python { b')' } else { b'}' }
    }

    fn value(&mut self, token: Token<'_>, schema: &Schema, out: &mut String) -> Progress {
        if !std::mem::take(&mut self.placed) {
            let key = std::mem::take(&mut self.key);
            self.set_key(&key, schema);
        }
        if token == Token::StringStart {
            let streams = schema
                .property(&self.key)
                .is_none_or(|property| property.takes(Type::String) && property.choices.is_empty());
            if streams {
                if !self.skip {
                    self.write_key(out);
                    out.push('"');
                }
                return self.goto(State::Text);
            }
        }
        self.kept.clear();
        self.writer = ValueWriter::default();
        self.state = State::Kept;
        self.keep(token, schema, out)
    }

    fn keep(&mut self, token: Token<'_>, schema: &Schema, out: &mut String) -> Progress {
        match self.writer.token(token, &mut self.kept) {
            Progress::Done => {
                let kept = std::mem::take(&mut self.kept);
                if !(self.is_wrapper(schema) && self.unwrap(&kept, schema, out)) {
                    self.put_kept(kept, schema, out);
                }
                self.goto(State::Comma)
            }
            other @ (Progress::More | Progress::Bad) => other,
        }
    }

    /// Whether the member can only be meant to hold the arguments themselves.
    fn is_wrapper(&self, schema: &Schema) -> bool {
        matches!(&*self.key, "arguments" | "parameters" | "properties" | "input" | "args")
            && self.seen.len() == 1
            && !self.begun
            && !schema.properties.is_empty()
            && schema.property(&self.key).is_none()
    }

    /// Writes the members of an object as arguments, if one of them is declared.
    fn unwrap(&mut self, object: &str, schema: &Schema, out: &mut String) -> bool {
        let members = align::members(object).unwrap_or_default();
        if !members.iter().any(|(key, _)| schema.known_name(key).is_some()) {
            return false;
        }
        self.seen.clear();
        self.repaired = true;
        for (key, value) in members {
            self.set_key(&key, schema);
            self.put_kept(value, schema, out);
        }
        true
    }

    fn put_kept(&mut self, kept: String, schema: &Schema, out: &mut String) {
        self.repaired |= self.writer.repaired;
        let aligned = schema.property(&self.key).and_then(|property| align::value(property, &kept));
        self.repaired |= aligned.is_some();
        self.put(&aligned.unwrap_or(kept), schema, out);
    }

    fn put(&mut self, json: &str, schema: &Schema, out: &mut String) {
        if self.skip {
            return;
        }
        if let Some(property) = schema.property(&self.key) {
            self.invalid |= !Raw::parse(json).is_ok_and(|raw| align::fits(property, &raw, 0));
        }
        self.write_key(out);
        out.push_str(json);
    }

    /// Chooses the member that the next value belongs to. A member that comes
    /// again is skipped.
    fn set_key(&mut self, key: &str, schema: &Schema) {
        let key = match schema.known_name(key) {
            Some(known) => {
                self.repaired |= known != key;
                known
            }
            None => key,
        };
        self.key = key.to_owned();
        self.skip = !self.seen.insert(self.key.clone());
        self.repaired |= self.skip;
    }

    fn next_positional(&mut self, schema: &Schema) {
        let free = schema.properties.get(self.positional).map(|(name, _)| name.clone());
        self.positional += 1;
        self.repaired = true;
        let key = free.unwrap_or_else(|| format!("arg{}", self.positional));
        self.set_key(&key, schema);
        self.placed = true;
    }

    fn write_key(&mut self, out: &mut String) {
        out.push(if self.begun { ',' } else { '{' });
        self.begun = true;
        out.push('"');
        push_escaped_str(&self.key, out);
        out.push_str("\":");
    }
}
