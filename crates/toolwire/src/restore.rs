//! What went up renamed or wrapped comes down as the client declared it.
//!
//! Everything here is worked out from the client's own request, so no state is
//! kept between the request and its answer, and a later turn gives the same.

mod ids;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use self::ids::distinct;
pub(crate) use self::ids::{Ids, REPEATED};

use crate::model::{Arguments, Call, Item, NativeKind, Protocol, Request, Response, ToolKind};
use crate::native;
use crate::profile::Profile;
use crate::schema::RootChange;
use crate::toolset::{Declared, ToolMapping, Toolset};
use crate::wire::{Kind, Pos, Read, ReadError, Reader, Str, What, Write};

/// The way back for the calls of one answer.
#[derive(Clone, Debug, Default)]
pub struct Restore {
    /// By the name toward the upstream, only those that went up changed.
    tools: BTreeMap<String, Original>,
}

/// A tool as the client declared it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// How its arguments went up.
    pub shape: ArgumentShape,
}

/// How a tool's arguments went up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentShape {
    /// As they are.
    Same,
    /// A freeform tool as a function of one text, `input`.
    Freeform,
    /// A tool whose shape its vendor fixed, as a function.
    Native(NativeKind),
    /// Arguments that are not an object, as the property `value` of one.
    Wrapped,
}

impl Restore {
    /// The way back for answers to `request` from an upstream.
    pub fn new(request: &Request<'_>, profile: &Profile) -> Self {
        Self::of(&Toolset::new(request, profile), request.origin, profile)
    }

    /// The same for tools of which it is known how they crossed.
    pub(crate) fn of(set: &Toolset<'_, '_>, origin: Protocol, profile: &Profile) -> Self {
        let mut tools = BTreeMap::new();
        if set.written.is_some() {
            return Self { tools };
        }
        for declared in set.entries.iter().filter(|declared| declared.crosses()) {
            let Declared { tool, namespace, inline: _, crossing: _, root: _ } = declared;
            let name = tool.name.decode();
            // An upstream that has namespaces names them itself.
            let namespace =
                namespace.filter(|_| !profile.namespaces).map(|space| space.name.decode());
            let is_passed = origin == profile.protocol && profile.tool_calls.is_native();
            let shape = ArgumentShape::of(declared, is_passed);
            let wire = set.names.declared(namespace.as_deref(), &name);
            if shape == ArgumentShape::Same && namespace.is_none() && wire == name {
                continue;
            }
            // Where two tools share a name, the first is the one that crossed.
            tools.entry(wire.into_owned()).or_insert_with(|| Original {
                name: name.into_owned(),
                namespace: namespace.map(Cow::into_owned),
                shape,
            });
        }
        Self { tools }
    }

    /// Whether every tool went up as it was declared.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Adds the way back of more tools. Where two have a name, the first stays.
    pub(crate) fn extend(&mut self, more: Self) {
        for (wire, original) in more.tools {
            self.tools.entry(wire).or_insert(original);
        }
    }

    /// The tool that went up under this name, if it went up changed.
    pub fn original(&self, wire: &str) -> Option<&Original> {
        self.tools.get(wire)
    }

    /// Turns the calls of an answer back into what the client declared. A call
    /// of a tool that nobody declared stays as it is.
    pub fn apply(&self, response: &mut Response<'_>) {
        let turns = response.candidates.iter_mut().flat_map(|candidate| &mut candidate.turns);
        for item in turns.flat_map(|turn| &mut turn.items) {
            if let Item::Call(call) = item {
                self.call(call);
            }
        }
    }

    /// Turns one call back.
    pub(crate) fn call(&self, call: &mut Call<'_>) {
        if let Some(raw) = unwrap_raw(&call.arguments) {
            call.arguments = Arguments::Text(raw);
        }
        if self.tools.is_empty() {
            return;
        }
        let Some(original) = self.tools.get(call.name.decode().as_ref()) else { return };
        let Original { name, namespace, shape } = original;
        call.name = Str::plain(name.clone()).at(call.name.pos());
        if let Some(namespace) = namespace {
            call.namespace = Some(Str::plain(namespace.clone()).at(call.name.pos()));
        }
        if let Some(arguments) = shape.restore(&call.arguments) {
            call.arguments = arguments;
        }
    }
}

impl ArgumentShape {
    fn of(declared: &Declared<'_, '_>, same_protocol: bool) -> Self {
        match &declared.crossing {
            ToolMapping::Freeform => Self::Freeform,
            ToolMapping::Native(kind) => Self::Native(*kind),
            ToolMapping::Same if !same_protocol => match &declared.tool.kind {
                ToolKind::Function { schema: _ } => match declared.schema_root() {
                    (_, Some(RootChange::Wrapped)) => Self::Wrapped,
                    (_, _) => Self::Same,
                },
                ToolKind::Freeform { grammar: _ }
                | ToolKind::Namespace { tools: _ }
                | ToolKind::Native(_)
                | ToolKind::Hosted(_)
                | ToolKind::Unknown(_) => Self::Same,
            },
            ToolMapping::Same | ToolMapping::Hosted(_) | ToolMapping::Dropped(_) => Self::Same,
        }
    }

    /// The arguments in the client's shape. `None` if they stay as they are.
    pub(crate) fn restore<'a>(self, arguments: &Arguments<'a>) -> Option<Arguments<'a>> {
        match self {
            Self::Same => None,
            Self::Freeform => {
                let input = match sole_member(arguments, "input") {
                    Some(Member::Text(text)) => text,
                    // The model was cut off, or did not keep to the one text it
                    // was asked for. What it wrote is the input, rather than
                    // nothing.
                    Some(Member::Value(_)) | None => {
                        let text = json_text(arguments)?;
                        let cut = cut_input(&text.decode());
                        cut.map_or(text.clone(), |cut| Str::plain(cut).at(text.pos()))
                    }
                };
                Some(Arguments::Freeform(input))
            }
            Self::Native(kind) => {
                // The vendor's own calls of these are ordinary calls.
                if let NativeKind::Bash | NativeKind::TextEditor | NativeKind::Memory = kind {
                    return None;
                }
                let text = json_text(arguments)?;
                let action = native::action(kind, &text.decode())?;
                Some(Arguments::Native(kind, action.at(text.pos())))
            }
            Self::Wrapped => match sole_member(arguments, "value")? {
                Member::Text(text) => {
                    let mut literal = Vec::new();
                    text.write(&mut literal);
                    let literal = String::from_utf8(literal).ok()?;
                    Some(Arguments::Text(Str::plain(literal).at(text.pos())))
                }
                Member::Value(value) => Some(Arguments::Text(value)),
            },
        }
    }
}

/// The arguments inside `{"__toolwire_raw": "…"}`, which is how arguments that
/// are no JSON object go to a protocol that takes only objects. A model that
/// saw it in the conversation may write it too. `None` if it is not there.
pub fn unwrap_raw<'a>(arguments: &Arguments<'a>) -> Option<Str<'a>> {
    let text: &str = match arguments {
        Arguments::Json(json) => json.text(),
        Arguments::Text(text) => text.spelled(),
        Arguments::Freeform(_) | Arguments::Native(_, _) => return None,
    };
    memchr::memmem::find(text.as_bytes(), RAW_KEY.as_bytes())?;
    match sole_member(arguments, RAW_KEY)? {
        Member::Text(text) => Some(text),
        Member::Value(_) => None,
    }
}

/// Like [`unwrap_raw`], for arguments that are JSON and toolwire wrapped itself.
/// Only how they begin is looked at, unless they begin so.
pub(crate) fn unwrap_raw_json<'s>(json: &str, reader: Reader<'s>) -> Option<Str<'s>> {
    let name = json.strip_prefix('{')?.trim_start().strip_prefix('"')?;
    if !name.strip_prefix(RAW_KEY)?.starts_with('"') {
        return None;
    }
    match read_sole(reader, RAW_KEY)? {
        Member::Text(text) => Some(text),
        Member::Value(_) => None,
    }
}

/// The value of the one member of an object.
enum Member<'a> {
    /// A string, as its text.
    Text(Str<'a>),
    /// Anything else, as its JSON.
    Value(Str<'a>),
}

/// The value of `key` if the arguments are an object with that member only.
fn sole_member<'a>(arguments: &Arguments<'a>, key: &str) -> Option<Member<'a>> {
    match arguments {
        Arguments::Json(json) => match json.source_reader() {
            Some(reader) => read_sole(reader, key),
            None => Some(read_sole(json.reader(), key)?.into_owned()),
        },
        Arguments::Text(text) => match text.clone().into_decoded() {
            Cow::Borrowed(json) => Some(read_sole(Reader::new(json), key)?.at(text.pos())),
            Cow::Owned(json) => {
                Some(read_sole(Reader::new(&json), key)?.at(text.pos()).into_owned())
            }
        },
        Arguments::Freeform(_) | Arguments::Native(_, _) => None,
    }
}

fn read_sole<'s>(mut reader: Reader<'s>, key: &str) -> Option<Member<'s>> {
    let mut read = || -> Result<Option<Member<'s>>, ReadError> {
        let mut members = reader.object()?;
        match members.next(&mut reader)? {
            Some(found) if found == *key => {}
            Some(_) | None => return Ok(None),
        }
        let member = Member::read(&mut reader)?;
        Ok(members.next(&mut reader)?.is_none().then_some(member))
    };
    let member = read().ok()??;
    reader.finish().ok()?;
    Some(member)
}

impl<'a> Read<'a> for Member<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        if reader.peek() == Kind::String {
            return reader.string().map(Self::Text);
        }
        let pos = reader.here();
        Ok(Self::Value(Str::plain(reader.raw()?.into_text()).at(pos)))
    }
}

impl<'a> Member<'a> {
    fn map<'b>(self, change: impl FnOnce(Str<'a>) -> Str<'b>) -> Member<'b> {
        match self {
            Self::Text(text) => Member::Text(change(text)),
            Self::Value(value) => Member::Value(change(value)),
        }
    }

    fn at(self, pos: Pos) -> Self {
        self.map(|text| text.at(pos))
    }

    fn into_owned(self) -> Member<'static> {
        self.map(Str::into_owned)
    }
}

/// The text under `input` of an object that ends in the middle, as far as it
/// goes. `None` if the object is whole or malformed.
fn cut_input(json: &str) -> Option<String> {
    let mut reader = Reader::new(json);
    let mut members = reader.object().ok()?;
    if members.next(&mut reader).ok()?? != "input" || reader.peek() != Kind::String {
        return None;
    }
    let start = reader.here().offset()?;
    match reader.string() {
        Ok(text) => {
            let ended = members.next(&mut reader).err()?.what == What::End;
            ended.then(|| text.into_decoded().into_owned())
        }
        Err(error) if error.what != What::End => None,
        Err(_) => {
            // The cut may go through an escape, of which a pair is the longest.
            let inside = json.get(start..)?;
            (0..12.min(inside.len())).find_map(|short| {
                let closed = format!("{}\"", inside.get(..inside.len() - short)?);
                let text = Reader::new(&closed).string().ok()?.into_decoded().into_owned();
                Some(text)
            })
        }
    }
}

/// The arguments as JSON text. `None` if they have another shape already.
fn json_text<'a>(arguments: &Arguments<'a>) -> Option<Str<'a>> {
    match arguments {
        Arguments::Text(text) => Some(text.clone()),
        Arguments::Json(json) => Some(Str::plain(json.clone().into_text()).at(json.pos())),
        Arguments::Freeform(_) | Arguments::Native(_, _) => None,
    }
}

/// What [`unwrap_raw`] looks for.
pub(crate) const RAW_KEY: &str = "__toolwire_raw";

#[cfg(test)]
mod tests;
