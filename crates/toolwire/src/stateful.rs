//! Documents of a protocol whose servers remember: what a server that keeps
//! answers and conversations has to know about them.
//!
//! Nothing here keeps anything. Items are the bytes that they came in.

mod kept_answer;

use std::borrow::Cow;
use std::ops::Range;

use crate::model::{ApiError, KeptState, Protocol};
use crate::translate::{Error, RequestHead, invalid, utf8};
use crate::wire::{Extra, Pos, ReadError, Reader, What};
pub(crate) use kept_answer::KeptAnswer;

/// What a codec knows of its protocol's memory.
#[non_exhaustive]
pub struct StatefulCodec {
    /// The member of a request that says whether to keep the answer.
    pub store_member: &'static str,

    /// The members of a request that refer to something that was kept, or ask
    /// for an answer later.
    pub state_members: &'static [&'static str],

    /// The member with the id of an item. An item that only names another one has it.
    pub id_member: &'static str,

    /// Whether an item, which was passed over before, only names another one.
    pub is_reference: for<'a> fn(Reader<'a>) -> Result<bool, ReadError>,

    /// Reads a request.
    pub read_request: for<'a> fn(Reader<'a>) -> Result<StatefulRequest<'a>, ReadError>,

    /// The member of a request with the list of what the client adds to the conversation.
    pub input_member: &'static str,

    /// Reads only what the client adds to the conversation.
    pub read_input: for<'a> fn(Reader<'a>) -> Result<Vec<StatefulItem<'a>>, ReadError>,

    /// Reads an item of that list, of which it is known whether it has an id.
    pub read_input_item: for<'a> fn(&'a str, has_id: bool) -> Result<StatefulItem<'a>, ReadError>,

    /// Reads a whole answer, which was read or written before.
    pub read_answer: for<'a> fn(&'a str) -> Result<StatefulAnswer<'a>, ReadError>,

    /// Reads an item of an answer, which was written before.
    pub read_output_item: for<'a> fn(&'a str) -> Result<StatefulItem<'a>, ReadError>,

    /// Reads an object with a list of items in one member, and others. The items are read as
    /// those of a request are.
    pub read_items: for<'a> fn(&'a str) -> Result<StatefulItems<'a>, ReadError>,

    /// Writes a request with these items as its whole conversation and without
    /// anything that refers to what was kept. If it says anything about keeping the answer,
    /// then that it is not to be kept.
    pub write_request:
        fn(&StatefulRequest<'_>, items: &mut dyn Iterator<Item = &[u8]>, out: &mut Vec<u8>),

    /// Writes an item as lists show it, complete and with its id.
    pub write_item: fn(id: &str, item: &str, out: &mut Vec<u8>),

    /// Writes the answer to a request of which nothing is there yet.
    pub write_pending:
        fn(request: &str, kept: &KeptState, out: &mut Vec<u8>) -> Result<(), ReadError>,

    /// The member with the answer in an event of a stream.
    pub answer_member: &'static str,

    /// The members of an answer that say what is kept of it, for one whose bytes pass.
    pub kept_members: fn(&KeptState) -> Vec<KeptMember>,

    /// Writes an answer with another status.
    pub write_progress:
        fn(answer: &str, progress: Progress<'_>, out: &mut Vec<u8>) -> Result<(), ReadError>,

    /// Writes the last events of the stream of an answer that is not made any further.
    pub write_ending: WriteEnding,
}

/// Writes events from this number on, each on its own.
pub type WriteEnding =
    fn(answer: &str, failure: Option<&ApiError>, number: u64) -> Result<Vec<Vec<u8>>, ReadError>;

/// A member of an answer that says what is kept of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptMember {
    /// Its name.
    pub name: &'static str,
    /// Its value as JSON.
    pub value: String,
    /// Whether an answer that lacks it gets it.
    pub is_required: bool,
}

impl KeptMember {
    /// A member that every answer has.
    pub fn new(name: &'static str, value: String) -> Self {
        Self { name, value, is_required: true }
    }

    /// A member that an answer may lack.
    pub fn optional(name: &'static str, value: String) -> Self {
        Self { name, value, is_required: false }
    }
}

/// How far an answer is that nobody waits for.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'e> {
    /// It has not begun.
    Queued,
    /// It is being made.
    InProgress,
    /// The client does not want it any more.
    Cancelled,
    /// There will be none.
    Failed(&'e ApiError),
}

/// A request of a client that expects the server to remember.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StatefulRequest<'a> {
    /// Whether to keep the answer, if the client says so.
    pub store: Option<bool>,
    /// The answer that it continues.
    pub previous: Option<String>,
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// Whether the client fetches the answer later.
    pub background: bool,
    /// Whether the answer has to bring along what its server would otherwise remember of the
    /// model's reasoning.
    pub wants_sealed: bool,
    /// Whether nothing is said about keeping the answer, because it is none that could be kept.
    pub omits_store: bool,
    /// What the client adds to the conversation.
    pub input: Vec<StatefulItem<'a>>,
    /// Every other member, as it came.
    pub others: Vec<Extra<'a>>,
}

/// An item of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatefulItem<'a> {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// Whether it only names another item by that id.
    pub is_reference: bool,
    /// The item as JSON.
    pub text: Cow<'a, str>,
}

impl<'a> StatefulItem<'a> {
    /// An item with this id.
    pub fn new(id: Option<String>, is_reference: bool, text: impl Into<Cow<'a, str>>) -> Self {
        Self { id, is_reference, text: text.into() }
    }
}

/// What a server keeps of an answer besides its bytes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StatefulAnswer<'a> {
    /// Its id.
    pub id: String,
    /// How it ended, in the protocol's word.
    pub status: String,
    /// What the model said.
    pub output: Vec<StatefulItem<'a>>,
    /// Which of its bytes say again what the request said, as far as that is long.
    pub repeats: Option<Range<usize>>,
}

/// What is known of an answer that was just written, so that nobody has to look for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenAnswer {
    /// Its id.
    pub id: String,
    /// How it ended, in the protocol's word.
    pub status: &'static str,
    /// Where its items are.
    pub output: Vec<Range<usize>>,
    /// Which of its bytes say again what the request said.
    pub repeats: Range<usize>,
}

impl WrittenAnswer {
    /// An answer that was written so.
    pub fn new(
        id: String,
        status: &'static str,
        output: Vec<Range<usize>>,
        repeats: Range<usize>,
    ) -> Self {
        Self { id, status, output, repeats }
    }
}

/// What is known of the last event of a stream, which says the whole answer once more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenEnding {
    /// Where the answer is.
    pub place: Range<usize>,
    /// What is known of it. Places are counted from where it begins.
    pub answer: WrittenAnswer,
}

impl WrittenEnding {
    /// An event that was written so.
    pub fn new(place: Range<usize>, answer: WrittenAnswer) -> Self {
        Self { place, answer }
    }
}

/// Items to keep, and what belongs to them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StatefulItems<'a> {
    /// The items.
    pub items: Vec<StatefulItem<'a>>,
    /// The client's labels, as JSON of any kind.
    pub metadata: Option<Cow<'a, str>>,
}

/// Reads a request whose head was read. `None` if servers of the protocol remember
/// nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if it cannot be read.
pub fn read_request<'a>(
    protocol: Protocol,
    head: &'a RequestHead,
    body: &'a [u8],
) -> Result<Option<StatefulRequest<'a>>, Error> {
    let Some(codec) = protocol.codec().stateful else { return Ok(None) };
    let source = utf8(body)?;
    let reader = head.reader(source);
    (codec.read_request)(reader).map(Some).map_err(|error| invalid(source, error))
}

/// Reads what a client adds to the conversation in a request whose head was read. `None`
/// if servers of the protocol remember nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if it cannot be read.
pub fn read_input<'a>(
    protocol: Protocol,
    head: &'a RequestHead,
    body: &'a [u8],
) -> Result<Option<Vec<StatefulItem<'a>>>, Error> {
    let Some(codec) = protocol.codec().stateful else { return Ok(None) };
    if let Some(known) = head.input_items(body.len()) {
        let [first, last] = [known.first(), known.last()].map(|item| item.map(|item| item.place()));
        let list = ItemList::new(body, first, last)?;
        let mut input = Vec::with_capacity(known.len());
        for item in known {
            let text = list.item(item.place())?;
            let read = (codec.read_input_item)(text, item.has_id);
            input.push(read.map_err(|error| invalid(text, error))?);
        }
        return Ok(Some(input));
    }
    let source = utf8(body)?;
    let reader = head.reader(source);
    (codec.read_input)(reader).map(Some).map_err(|error| invalid(source, error))
}

/// Reads an answer that was read or written before. `None` if servers of the protocol remember nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if it cannot be read.
pub fn read_answer(protocol: Protocol, body: &[u8]) -> Result<Option<StatefulAnswer<'_>>, Error> {
    let Some(codec) = protocol.codec().stateful else { return Ok(None) };
    let source = utf8(body)?;
    (codec.read_answer)(source).map(Some).map_err(|error| invalid(source, error))
}

/// Reads an answer of which this is known. `None` if servers of the protocol remember nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if it was another answer.
pub fn read_written_answer(
    protocol: Protocol,
    body: &[u8],
    written: WrittenAnswer,
) -> Result<Option<StatefulAnswer<'_>>, Error> {
    let Some(codec) = protocol.codec().stateful else { return Ok(None) };
    let WrittenAnswer { id, status, output, repeats } = written;
    let list = ItemList::new(body, output.first().cloned(), output.last().cloned())?;
    let mut items = Vec::with_capacity(output.len());
    for place in output {
        let text = list.item(place)?;
        items.push((codec.read_output_item)(text).map_err(|error| invalid(text, error))?);
    }
    let (output, status, repeats) = (items, status.to_owned(), Some(repeats));
    Ok(Some(StatefulAnswer { id, status, output, repeats }))
}

/// The part of a body that has its items, which is all of it that is looked at.
struct ItemList<'a> {
    text: &'a str,
    /// Where it begins in the body.
    start: usize,
}

impl<'a> ItemList<'a> {
    /// From the first item to the last one.
    fn new(
        body: &'a [u8],
        first: Option<Range<usize>>,
        last: Option<Range<usize>>,
    ) -> Result<Self, Error> {
        let (start, end) = first.zip(last).map_or((0, 0), |(first, last)| (first.start, last.end));
        Ok(Self { text: utf8(body.get(start..end).unwrap_or_default())?, start })
    }

    /// The item at a place of the body.
    fn item(&self, Range { start, end }: Range<usize>) -> Result<&'a str, Error> {
        let place = start.checked_sub(self.start).zip(end.checked_sub(self.start));
        let found = place.and_then(|(start, end)| self.text.get(start..end));
        let missing = || invalid(self.text, ReadError::new(Pos::START, What::Value));
        found.filter(|item| !item.is_empty()).ok_or_else(missing)
    }
}

/// Reads a list of items to keep. `None` if servers of the protocol remember
/// nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if it cannot be read.
pub fn read_items(protocol: Protocol, body: &[u8]) -> Result<Option<StatefulItems<'_>>, Error> {
    let Some(codec) = protocol.codec().stateful else { return Ok(None) };
    let source = utf8(body)?;
    (codec.read_items)(source).map(Some).map_err(|error| invalid(source, error))
}

/// The answer to a request of which nothing is there yet, and which is being
/// made. `None` if servers of the protocol remember nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if the request cannot be read.
pub fn pending_answer(
    protocol: Protocol,
    request: &[u8],
    kept: &KeptState,
) -> Result<Option<Vec<u8>>, Error> {
    let Some(codec) = protocol.codec().stateful else { return Ok(None) };
    let source = utf8(request)?;
    let mut out = Vec::new();
    let written = (codec.write_pending)(source, kept, &mut out);
    written.map_err(|error| invalid(source, error))?;
    Ok(Some(out))
}

/// An answer with another status. `None` if servers of the protocol remember
/// nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if the answer cannot be read.
pub fn with_progress(
    protocol: Protocol,
    answer: &[u8],
    progress: Progress<'_>,
) -> Result<Option<Vec<u8>>, Error> {
    let Some(codec) = protocol.codec().stateful else { return Ok(None) };
    let source = utf8(answer)?;
    let mut out = Vec::with_capacity(answer.len() + 256);
    let written = (codec.write_progress)(source, progress, &mut out);
    written.map_err(|error| invalid(source, error))?;
    Ok(Some(out))
}

/// The last events of the stream of an answer that is not made any further, because it has
/// failed or because nobody wants it. `number` is that of the first of them; a stream that
/// has no events yet begins before it ends. `None` if servers of the protocol remember
/// nothing.
///
/// # Errors
///
/// [`Error::Invalid`] if the answer cannot be read.
pub fn ending_events(
    protocol: Protocol,
    answer: &[u8],
    failure: Option<&ApiError>,
    number: u64,
) -> Result<Option<Vec<Vec<u8>>>, Error> {
    let Some(codec) = protocol.codec().stateful else { return Ok(None) };
    let source = utf8(answer)?;
    (codec.write_ending)(source, failure, number).map(Some).map_err(|error| invalid(source, error))
}
