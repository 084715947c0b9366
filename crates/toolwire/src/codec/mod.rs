//! One folder per protocol, the same files in each, and the list of them.
//!
//! A codec decodes its protocol into the model and encodes the model into its
//! protocol. No codec knows another: nine pairs come from six translators.

pub mod chat;
#[doc(hidden)]
pub mod context;
pub(crate) mod losses_out;
pub mod messages;
mod openai;
pub mod responses;
#[doc(hidden)]
mod sampling_out;
pub mod sent_tools;

use std::ops::Range;

use crate::calls::{self, AnsweredCall, Continuation};
use crate::disposition::Row;
use crate::guess::{Certainty, DocumentKind, Fields};
use crate::ledger::Ledger;
use crate::model::{
    ApiError, Event, Protocol, Request, Response, ResponseContext, ResponseOverview,
    ResponseSummary, Start, Tool,
};
use crate::profile::Profile;
use crate::protocol::{Description, ListedModel, ModelPage};
use crate::registry::{SchemaMember, ToolForm};
use crate::session::SessionCodec;
use crate::stateful::{StatefulCodec, WrittenAnswer, WrittenEnding};
use crate::toolset::Toolset;
use crate::wire::sse::Frame;
use crate::wire::{Raw, ReadError, Reader};

/// The two directions of one protocol, as a table of its functions.
///
/// Decoding fails only on documents that are not JSON or have the wrong shape
/// where the protocol is fixed. Encoding never fails: what cannot be carried is
/// a line of the ledger, and what makes the request meaningless a refusal there.
#[expect(clippy::type_complexity, reason = "the types are signatures, to be read as such")]
pub struct Codec {
    /// Which protocol it is.
    pub protocol: Protocol,

    /// The facts around the wire format.
    pub description: &'static Description,

    /// What the vendor's own API accepts.
    pub default_profile: fn() -> Profile,

    /// Reads a request, which is the whole document of the reader.
    pub read_request: fn(Reader<'_>) -> Result<Request<'_>, ReadError>,

    /// Writes a request for an upstream. The toolset says how its tools cross.
    pub encode_request: fn(&Request<'_>, &Toolset<'_, '_>, &Profile, &mut Vec<u8>, &mut Ledger),

    /// Finds the reasoning in a request of this protocol that another vendor
    /// sealed, for a request whose bytes otherwise pass as they are. Returns the
    /// byte ranges to cut out, in order, so that what is left is the same
    /// document without that reasoning, and reports in the ledger what is lost.
    ///
    /// Only called for documents that may hold an envelope
    /// (`wire::envelope::Envelope::may_be_in`). `wire::cuts::Cuts` finds the
    /// commas to cut with each member.
    pub foreign_reasoning: fn(&str, &mut Ledger) -> Result<Vec<Range<usize>>, ReadError>,

    /// Reads an answer.
    pub decode_response: fn(&str) -> Result<Response<'_>, ReadError>,

    /// Reads what a log says of an answer whose bytes pass. `None` if the answer is unusual
    /// in any way: then all of it has to be read. Otherwise it is what
    /// [`ResponseSummary::of`] says of the answer that [`Codec::decode_response`] reads, which
    /// has content.
    pub response_overview: fn(&str) -> Option<ResponseOverview<'_>>,

    /// What of a request its answers depend on.
    pub response_context: fn(&Request<'_>) -> ResponseContext,

    /// Writes an answer for a client, who had asked for it as the context says,
    /// where that is known. In a protocol whose servers remember, it says where it wrote
    /// what they keep.
    pub encode_response: fn(
        &Response<'_>,
        Option<&ResponseContext>,
        &mut Vec<u8>,
        &mut Ledger,
    ) -> Option<WrittenAnswer>,

    /// Reads a stream of events.
    pub stream_reader: fn() -> Box<dyn StreamReader>,

    /// Writes a stream of events for a client, who had asked for it as the
    /// context says.
    pub stream_writer: fn(ResponseContext) -> Box<dyn StreamWriter>,

    /// Observes a stream of events that passes.
    pub stream_observer: fn() -> Box<dyn StreamObserver>,

    /// Puts a stream of events together to the answer that they are, as the
    /// vendor's own SDKs do.
    pub stream_accumulator: fn() -> Box<dyn StreamAccumulator>,

    /// Whether an event only opens a stream, before the model says anything.
    pub opens_stream: fn(&Frame<'_>) -> bool,

    /// Which part of the answer an event of a stream is about.
    pub event_place: fn(&str) -> EventPlace,

    /// The members that lead to the model's name in an event of a stream. What
    /// stands before the name decides alone, so that an event which begins like
    /// another names it in the same place.
    pub model_path: &'static [&'static str],

    /// The whole answer in the event with which a stream ends well, if the
    /// protocol repeats it there.
    pub answer_in_event: fn(&str) -> Option<String>,

    /// Writes a whole answer of this protocol as a stream of it, whose events
    /// have what the answer has as it came. What is not finished has no end.
    pub stream_from_response: fn(&str) -> Result<Vec<u8>, ReadError>,

    /// What a server of the protocol remembers, if it remembers anything.
    pub stateful: Option<&'static StatefulCodec>,

    /// How a server keeps conversations for clients that send only what is new,
    /// in a protocol whose servers remember nothing.
    pub session: Option<&'static SessionCodec>,

    /// Reads an error body, which came with this HTTP status, if that is known.
    pub decode_error: fn(Option<u16>, &str) -> Result<ApiError, ReadError>,

    /// Writes an error body and says which HTTP status belongs to it.
    pub encode_error: fn(&ApiError, &mut Vec<u8>) -> u16,

    /// Writes a list of models, or the page of it that a query asks for. Fails if
    /// there can be no such page.
    pub write_models: fn(&[ListedModel<'_>], &str, &mut Vec<u8>) -> Result<(), Box<ApiError>>,

    /// Writes one model, as it stands in the list.
    pub write_model: fn(ListedModel<'_>, &mut Vec<u8>),

    /// Reads a page of an upstream's list of models.
    pub read_models: fn(&str) -> Result<ModelPage, ReadError>,

    /// Writes how many tokens a request has.
    pub write_token_count: fn(u64, &mut Vec<u8>),

    /// Reads a bare array of tool definitions.
    pub decode_tools: fn(&str) -> Result<Vec<Tool<'_>>, ReadError>,

    /// Writes a bare array of tool definitions that were read from a protocol.
    pub encode_tools: fn(&[Tool<'_>], Protocol, &Profile, &mut Vec<u8>, &mut Ledger),

    /// An answer as items of a conversation, each as JSON. The model's own words
    /// stay byte for byte as they came.
    pub answer_items: fn(&str) -> Result<Vec<String>, ReadError>,

    /// The results of calls as items of a conversation, each as JSON, in the
    /// order of the calls.
    pub result_items: fn(&[AnsweredCall<'_>]) -> Result<Vec<String>, calls::Error>,

    /// A request with an answer and the results of its calls at the end of the
    /// conversation. Every other byte stays as it was.
    pub append_items: fn(&str, &Continuation) -> Result<Vec<u8>, ReadError>,

    /// What a JSON object is, if it can be a document of this protocol.
    pub recognize: fn(&Fields<'_>) -> Option<(DocumentKind, Certainty)>,

    /// Whether the first event of a stream shows that it is of this protocol, by
    /// its name, or else its `type`, and by its data.
    pub recognize_event: fn(&str, &str) -> bool,

    /// What a bare tool definition is, if it can be one of this protocol.
    pub recognize_tool: fn(&Fields<'_>) -> Option<(ToolForm, Certainty)>,

    /// Where a tool definition keeps the schema of its arguments.
    pub schema_member: SchemaMember,

    /// What happens to the fields of a request toward other protocols.
    pub dispositions: &'static [Row],

    /// What happens to the fields of an answer toward other protocols, whole, in
    /// streams and in errors.
    pub answer_dispositions: &'static [Row],
}

impl Codec {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if it is not JSON, or not a request of this protocol.
    pub fn decode_request<'a>(&self, body: &'a str) -> Result<Request<'a>, ReadError> {
        (self.read_request)(Reader::new(body))
    }
}

/// A protocol's stream, being read.
pub trait StreamReader: Send {
    /// Reads one server-sent event and hands on what it says.
    ///
    /// An event of a kind that toolwire does not know is no error. One that is
    /// not JSON, or has the wrong shape where the protocol is fixed, is.
    fn read(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) -> Result<(), ReadError>;

    /// The bytes have ended. Gives [`Event::End`] only if the answer is
    /// complete by the protocol's own rules; anything else is a cut, about
    /// which the caller tells the client.
    fn finish(&mut self, sink: &mut dyn EventSink);
}

/// Where a reader hands its events to.
pub trait EventSink {
    /// Takes the next event.
    fn event(&mut self, event: Event<'_>);

    /// Where the reader reports what it could not read into events.
    fn ledger(&mut self) -> &mut Ledger;
}

/// A protocol's stream, being written.
pub trait StreamWriter: Send {
    /// Writes what the client is to see of one event. At [`Event::End`] that is
    /// everything that comes before the protocol's last event, which
    /// [`StreamWriter::write_end`] writes. A client never takes an answer for
    /// complete before that.
    fn write(&mut self, event: &Event<'_>, out: &mut Vec<u8>, ledger: &mut Ledger);

    /// Writes the event with which a stream ends well. It comes behind
    /// [`Event::End`] and behind whatever was kept back. In a protocol whose servers
    /// remember, it says where in `out` the answer is that they keep.
    fn write_end(&mut self, out: &mut Vec<u8>) -> Option<WrittenEnding>;

    /// What [`StreamWriter::write_end`] has written never reached the client. An
    /// error takes its place.
    fn retract_end(&mut self);

    /// Whether it has kept back events that say a long text once more, so that
    /// the one before can be sent first. Whatever is written next comes behind
    /// them.
    fn has_pending(&self) -> bool {
        false
    }

    /// Writes the first event that was kept back.
    fn flush_pending(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// The client has got the beginning of the stream from somebody else: the
    /// answer that began with `start`, in `events` events. What is written
    /// from here on goes on from there.
    fn resume(&mut self, start: &Start<'_>, events: u64) {
        let _ = (start, events);
    }
}

/// A protocol's stream, watched on its way between two that both speak it.
pub trait StreamObserver: Send {
    /// Looks at an event. An event that is not JSON is an error, so that
    /// neither side takes it for an answer.
    fn frame(
        &mut self,
        frame: &Frame<'_>,
        seen: &mut ResponseSummary,
    ) -> Result<EventOutcome, ReadError>;

    /// Whether the answer is complete by the protocol's own rules if the bytes
    /// end here.
    fn is_complete(&self) -> bool;

    /// How the answer began and how many events it has had, if it has begun.
    fn begun(&self) -> Option<(Start<'_>, u64)>;
}

/// A protocol's stream, put together to an answer of the same protocol. What
/// the model said is in it as it came, signatures and members that toolwire does
/// not know included, so that it can go back to the model.
pub trait StreamAccumulator: Send {
    /// Adds an event.
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), ReadError>;

    /// The answer so far.
    fn response(&self) -> Vec<u8>;
}

/// The numbers by which a protocol tells the parts of an answer apart, such as
/// the index of an item and of the text in it. What two events with the same
/// numbers have at the same place is the same thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPlace([Option<u64>; 4]);

impl EventPlace {
    /// The numbers that an event has under these keys.
    pub fn of<const N: usize>(data: &str, keys: [&str; N]) -> Self {
        let found = Reader::new(data).pick(keys).unwrap_or([const { None }; N]);
        Self::from_numbers(found.iter().map(Option::as_ref))
    }

    /// The place with these numbers.
    pub(crate) fn from_numbers<'a, 'r: 'a>(
        numbers: impl IntoIterator<Item = Option<&'a Raw<'r>>>,
    ) -> Self {
        let mut place = Self::default();
        for (slot, number) in place.0.iter_mut().zip(numbers) {
            *slot = number.and_then(|number| number.text().parse().ok());
        }
        place
    }
}

/// What an event means for the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// More will come.
    GoesOn,
    /// It is the protocol's end marker.
    End,
    /// It says that the answer failed, and is the last.
    Failed,
    /// It is the protocol's end marker where the answer cannot end, so it is
    /// not passed on.
    Cut,
}

/// The codecs of the built-in protocols, in the order of [`Protocol::ALL`].
#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
pub const CODECS: [&Codec; Protocol::ALL.len()] = {
    let [first, ..] = Protocol::ALL;
    let mut codecs = [first.codec(); Protocol::ALL.len()];
    let mut index = 0;
    while index < codecs.len() {
        codecs[index] = Protocol::ALL[index].codec();
        index += 1;
    }
    codecs
};

/// The protocol whose tool definitions are what models read in training, for
/// upstreams that get them as text.
pub(crate) const FUNCTIONS: Protocol = Protocol::Chat;

/// The protocol whose tool definitions can say the most: grammars, schemas of
/// results, namespaces. Definitions from elsewhere are stored in its spelling.
pub(crate) const RICHEST_TOOLS: Protocol = Protocol::Responses;

/// The codec of a protocol.
pub fn codec(protocol: Protocol) -> &'static Codec {
    protocol.codec()
}
