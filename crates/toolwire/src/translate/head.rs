//! What the top of a request says, before anybody translates it.

mod input_items;
mod tool_lists;

use std::ops::Range;

pub(crate) use self::input_items::InputItem;
use self::input_items::InputItems;
use self::tool_lists::ToolList;
pub use self::tool_lists::ToolLists;
pub(crate) use self::tool_lists::{KnownTools, WrittenTools};

use super::{Error, invalid, utf8};
use crate::ledger::Ledger;
use crate::model::Protocol;
use crate::protocol::PathMatch;
use crate::session::SESSION_MEMBER;
use crate::stateful::StatefulCodec;
use crate::wire::{Keys, Kind, ReadError, Reader, Str, ValueEnds};

/// The facts about a request that a relay needs before it knows the upstream.
///
/// They come out of one scan, which also proves that the body is one JSON
/// object. Where the bytes pass, nothing else reads them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestHead {
    /// The model's name, whether the body or the URL has it.
    pub model: Option<String>,
    /// Where the body names the model, quotes included.
    pub model_span: Option<Range<usize>>,
    /// Whether the client wants a stream.
    pub stream: bool,
    /// How many tools it declares, those inside namespaces and inside the
    /// conversation too.
    pub tools: usize,
    /// How many bytes the declarations have together.
    pub tool_bytes: usize,
    /// Whether it may hold reasoning that toolwire sealed for another vendor, or wrote
    /// for one that seals none.
    pub has_envelope: bool,
    /// Whether the client wants the answer to be kept, if it says so. Only a
    /// protocol whose servers remember has this and the next.
    pub store: Option<bool>,
    /// Whether it may refer to something that was kept, or asks for the answer
    /// later.
    pub has_state: bool,
    /// The session that it names.
    pub session: Option<String>,
    /// Whether it has the member that names a session, and names none.
    pub has_null_session: bool,
    /// Where the long values of the body end, for whoever reads it next.
    ends: ValueEnds,
    /// What the client adds to the conversation, if its protocol's servers remember.
    input: InputItems,
    /// The list of tools, if it came before. Of it, `ends` has only where it ends.
    known_tools: Option<KnownTools>,
}

/// Whether a list of tools came before does not matter.
impl PartialEq for RequestHead {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            model,
            model_span,
            stream,
            tools,
            tool_bytes,
            has_envelope,
            store,
            has_state,
            session,
            has_null_session,
            ends: _,
            input: _,
            known_tools: _,
        } = self;
        *model == other.model
            && *model_span == other.model_span
            && *stream == other.stream
            && *tools == other.tools
            && *tool_bytes == other.tool_bytes
            && *has_envelope == other.has_envelope
            && *store == other.store
            && *has_state == other.has_state
            && *session == other.session
            && *has_null_session == other.has_null_session
            && self.all_ends() == other.all_ends()
    }
}

impl Eq for RequestHead {}

impl RequestHead {
    /// Scans a request. `path` is what the URL says of it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the body is not one JSON object, or if a member
    /// comes twice in it or in an element of its lists, such as a message or a
    /// tool.
    pub fn read(protocol: Protocol, path: &PathMatch, body: &[u8]) -> Result<Self, Error> {
        Self::read_with(&ToolLists::default(), protocol, path, body)
    }

    /// Scans a request whose list of tools may have come before.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_with(
        lists: &ToolLists,
        protocol: Protocol,
        path: &PathMatch,
        body: &[u8],
    ) -> Result<Self, Error> {
        let source = utf8(body)?;
        Self::scan(lists, protocol, path, source).map_err(|error| invalid(source, error))
    }

    /// Reads the body, of which much is known.
    pub(crate) fn reader<'a>(&'a self, source: &'a str) -> Reader<'a> {
        Reader::again(source, &self.ends, self.known_tools.as_ref())
    }

    /// The items that the client adds to the conversation, if they are known of a body of this
    /// length.
    pub(crate) fn input_items(&self, length: usize) -> Option<&[InputItem]> {
        self.input.list(length)
    }

    /// Where the long values of the body are, in order, for whoever looks for what the ledger
    /// is about.
    pub(super) fn long_values(&self, source: &str, ledger: &Ledger) -> Vec<Range<usize>> {
        let is_in_list = |known: &KnownTools| ledger.points_into(known.range());
        if self.known_tools.as_ref().is_some_and(is_in_list) {
            self.all_ends().ranges(source.len())
        } else {
            self.ends.ranges(source.len())
        }
    }

    /// Where the long values of the body end, those in its list of tools too.
    fn all_ends(&self) -> ValueEnds {
        let known = self.known_tools.as_ref();
        known.map_or(self.ends.clone(), |known| self.ends.with_part(known.ends(), known.start()))
    }

    /// Scans the text of a request.
    pub(super) fn scan(
        lists: &ToolLists,
        protocol: Protocol,
        path: &PathMatch,
        source: &str,
    ) -> Result<Self, ReadError> {
        let description = protocol.describe();
        let model_in_body = !description.answers.names_model();
        let stream_in_body = description.answers.stream_path.is_none();
        let mut head = Self { ends: ValueEnds::of(source.len()), ..Self::default() };
        let stateful = protocol.codec().stateful;
        let has_sessions = protocol.codec().session.is_some();
        let mut reader = Reader::new(source);
        let mut members = reader.object()?;
        // Nobody reads a request of the upstream's own protocol again. Which of
        // two members of one name counts would be up to the upstream, so they
        // are refused here as they are where a request is translated.
        let (mut keys, mut inner) = (Keys::default(), Keys::default());
        while let Some(key) = members.next(&mut reader)? {
            keys.add(&key, &mut reader)?;
            match key.decode().as_ref() {
                "model" if model_in_body => head.read_model(&mut reader)?,
                "stream" if stream_in_body && reader.peek() == Kind::Bool => {
                    head.stream = reader.boolean()?
                }
                name if stateful.is_some_and(|state| state.store_member == name)
                    && reader.peek() == Kind::Bool =>
                {
                    head.store = Some(reader.boolean()?);
                }
                name if stateful.is_some_and(|state| state.state_members.contains(&name)) => {
                    let value = reader.raw()?;
                    head.has_state |= value.kind() != Kind::Null && value.text() != "false";
                }
                SESSION_MEMBER if reader.peek() == Kind::Null => {
                    reader.skip()?;
                    head.has_null_session = true;
                }
                SESSION_MEMBER if has_sessions || reader.peek() == Kind::String => {
                    head.session = Some(reader.string()?.into_decoded().into_owned());
                }
                name if description.tool_members.contains(&name)
                    && reader.peek() == Kind::Array =>
                {
                    head.pass_tool_list(&mut reader, lists, protocol)?;
                }
                name if reader.peek() == Kind::Array => {
                    let is_input = stateful.is_some_and(|state| state.input_member == name);
                    if is_input {
                        head.input.begin(source.len());
                    }
                    head.ends.open_container(reader.offset());
                    let mut items = reader.array()?;
                    while items.more(&mut reader)? {
                        let tools = description.tool_members;
                        head.pass_element(&mut reader, tools, stateful, &mut inner)?;
                        if is_input {
                            head.input.end_item(reader.offset());
                        }
                    }
                    head.ends.close_container(reader.offset());
                    if is_input {
                        head.input.end(source.len());
                    }
                }
                _other => reader.skip_noting(&mut head.ends)?,
            }
        }
        reader.finish()?;
        let tools = head.known_tools.as_ref();
        head.has_envelope =
            head.ends.has_envelope() || tools.is_some_and(|tools| tools.ends().has_envelope());
        head.model = head.model.or_else(|| path.model.clone());
        head.stream = path.stream.unwrap_or(head.stream);
        Ok(head)
    }

    /// Passes over a part of the conversation, which may declare tools too, or refer to
    /// something that was kept.
    fn pass_element<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        tool_members: &[&str],
        stateful: Option<&StatefulCodec>,
        keys: &mut Keys<'a>,
    ) -> Result<(), ReadError> {
        let is_object = reader.peek() == Kind::Object;
        self.input.begin_item(reader.offset());
        if !is_object {
            return reader.skip_noting(&mut self.ends);
        }
        keys.clear();
        let (place, mark) = (reader.offset(), self.ends.mark());
        let mut members = reader.object()?;
        while let Some(key) = members.next(reader)? {
            keys.add(&key, reader)?;
            if reader.peek() == Kind::Array && tool_members.contains(&key.decode().as_ref()) {
                self.pass_tools(reader, tool_members)?;
            } else {
                reader.skip_noting(&mut self.ends)?;
            }
        }
        // Few items have an id, and what is long in them is not looked at again.
        if let Some(stateful) = stateful.filter(|stateful| keys.has(stateful.id_member)) {
            let item = reader.again_from(place, &self.ends, mark);
            self.has_state |= (stateful.is_reference)(item)?;
            self.input.note_id();
        }
        Ok(())
    }

    /// Passes over the list of tools that the request itself has.
    fn pass_tool_list(
        &mut self,
        reader: &mut Reader<'_>,
        lists: &ToolLists,
        protocol: Protocol,
    ) -> Result<(), ReadError> {
        let start = reader.clone();
        self.ends.open_container(start.offset());
        if let Some(list) = lists.find(protocol, start.rest()) {
            reader.advance(list.text.len());
            self.tools += list.tools;
            self.tool_bytes += list.tool_bytes;
            if self.known_tools.is_none() {
                self.known_tools = Some(KnownTools::new(start.offset(), list));
            } else {
                self.ends.append(&list.ends, start.offset());
            }
            self.ends.close_container(reader.offset());
            return Ok(());
        }
        let (mark, had_envelope) = (self.ends.mark(), self.ends.take_envelope());
        let (tools, tool_bytes) =
            count_tools(reader, protocol.describe().tool_members, &mut self.ends)?;
        self.tools += tools;
        self.tool_bytes += tool_bytes;
        let list = reader.raw_since(&start);
        let text = list.text();
        if lists.keeps(text.len()) {
            let ends = self.ends.since(mark, start.offset(), text.len());
            lists.keep(ToolList::new(protocol, text, (tools, tool_bytes), ends));
        }
        self.ends.note_envelope(had_envelope);
        self.ends.close_container(reader.offset());
        Ok(())
    }

    fn pass_tools(
        &mut self,
        reader: &mut Reader<'_>,
        tool_members: &[&str],
    ) -> Result<(), ReadError> {
        let (count, bytes) = count_tools(reader, tool_members, &mut self.ends)?;
        self.tools += count;
        self.tool_bytes += bytes;
        Ok(())
    }

    fn read_model(&mut self, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        let start = reader.here().offset().unwrap_or_default();
        if reader.peek() == Kind::String {
            self.model = Some(Str::into_decoded(reader.string()?).into_owned());
        } else {
            reader.skip()?;
        }
        self.model_span = reader.behind().offset().map(|end| start..end);
        Ok(())
    }
}

/// Passes over a list of tools. How many there are, where a namespace counts as
/// its members, and how many bytes they have.
fn count_tools(
    reader: &mut Reader<'_>,
    members: &[&str],
    ends: &mut ValueEnds,
) -> Result<(usize, usize), ReadError> {
    let mut keys = Keys::default();
    let (mut count, mut bytes) = (0, 0);
    let mut items = reader.array()?;
    while items.more(reader)? {
        let start = reader.clone();
        let mut nested = 0;
        if reader.peek() == Kind::Object {
            keys.clear();
            let mut fields = reader.object()?;
            while let Some(key) = fields.next(reader)? {
                keys.add(&key, reader)?;
                if reader.peek() == Kind::Array && members.contains(&key.decode().as_ref()) {
                    nested += count_tools(reader, members, ends)?.0;
                } else {
                    reader.skip_noting(ends)?;
                }
            }
        } else {
            reader.skip_noting(ends)?;
        }
        count += nested.max(1);
        bytes += reader.raw_since(&start).text().len();
    }
    Ok((count, bytes))
}

#[cfg(test)]
mod tests;
