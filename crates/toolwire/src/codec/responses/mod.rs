//! Responses.

mod alike;
mod cache_out;
mod calls_out;
mod choice;
mod citations;
mod content_in;
mod content_out;
mod continuation_out;
mod description;
mod dispositions;
mod echo;
mod error;
mod events_in;
mod events_out;
mod foreign_reasoning_in;
mod groups_out;
mod items_in;
mod items_out;
mod live;
mod media_out;
mod parts_out;
mod pen;
mod reasoning;
mod recognize_in;
mod request_in;
mod request_out;
mod response_in;
mod response_out;
mod rest_in;
#[cfg(test)]
mod tests;
mod thinking_out;
mod thoughts_out;
mod tools_in;
mod tools_out;
mod turns_in;
mod turns_out;
mod unroll;
mod usage;
mod watch;
mod wire;
mod withdrawn_out;

use std::borrow::Cow;
use std::ops::Range;

use crate::calls::{AnsweredCall, Continuation, Error};
use crate::codec::openai::models_out;
use crate::codec::{Codec, StreamObserver, StreamReader, StreamWriter};
use crate::disposition::Row;
use crate::guess::{Certainty, Document, Fields};
use crate::ledger::{Code, Ledger};
use crate::model::{ApiError, Display, Protocol, Request, Response, ResponseContext, Tool};
use crate::profile::Profile;
use crate::protocol::{Description, ListedModel};
use crate::registry::{SchemaMember, ToolForm};
use crate::toolset::Toolset;
use crate::wire::names::Names;
use crate::wire::sse::Frame;
use crate::wire::{Array, Extra, Object, Read, ReadError, Reader, Str, Write, string_under};

/// The Responses protocol.
pub struct Responses;

impl Codec for Responses {
    fn protocol(&self) -> Protocol {
        Protocol::Responses
    }

    fn describe(&self) -> &'static Description {
        &description::DESCRIPTION
    }

    fn default_profile(&self) -> Profile {
        description::profile()
    }

    fn decode_request<'a>(&self, body: &'a str) -> Result<Request<'a>, ReadError> {
        request_in::decode(body)
    }

    fn encode_request(
        &self,
        request: &Request<'_>,
        profile: &Profile,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        request_out::encode(request, profile, out, ledger);
    }

    fn foreign_reasoning(
        &self,
        source: &str,
        ledger: &mut Ledger,
    ) -> Result<Vec<Range<usize>>, ReadError> {
        foreign_reasoning_in::find(source, ledger)
    }

    fn decode_response<'a>(&self, body: &'a str) -> Result<Response<'a>, ReadError> {
        response_in::decode(body)
    }

    fn response_context(&self, request: &Request<'_>) -> ResponseContext {
        let mut asked = ResponseContext::of(request);
        echo::write(request, &mut asked.echo);
        // The client's own spacing would end the line of an event. Inside a
        // text no line end can stand.
        for byte in &mut asked.echo {
            if let b'\n' | b'\r' = byte {
                *byte = b' ';
            }
        }
        asked
    }

    fn encode_response(
        &self,
        response: &Response<'_>,
        asked: Option<&ResponseContext>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        response_out::encode(response, asked, out, ledger);
    }

    fn stream_reader(&self) -> Box<dyn StreamReader> {
        Box::<events_in::Reading>::default()
    }

    fn stream_writer(&self, asked: ResponseContext) -> Box<dyn StreamWriter> {
        Box::new(events_out::Writing::new(asked))
    }

    fn stream_observer(&self) -> Box<dyn StreamObserver> {
        Box::<watch::Watching>::default()
    }

    fn opens_stream(&self, frame: &Frame<'_>) -> bool {
        let opening = ["response.created", "response.in_progress", "response.queued"];
        frame.name.is_some_and(|name| opening.contains(&name))
    }

    fn find_model<'d>(&self, data: &'d str) -> Option<Str<'d>> {
        string_under(data, &["response", "model"])
    }

    fn stream_from_response(&self, body: &str) -> Result<Vec<u8>, ReadError> {
        unroll::unroll(body)
    }

    fn decode_error(&self, status: Option<u16>, body: &str) -> Result<ApiError, ReadError> {
        error::decode(status, body)
    }

    fn encode_error(&self, error: &ApiError, out: &mut Vec<u8>) -> u16 {
        error::encode(error, out)
    }

    fn write_models(&self, models: &[ListedModel<'_>], out: &mut Vec<u8>) {
        models_out::write_models(models, out);
    }

    fn write_model(&self, model: ListedModel<'_>, out: &mut Vec<u8>) {
        models_out::write_model(model, out);
    }

    fn write_token_count(&self, tokens: u64, out: &mut Vec<u8>) {
        let mut object = Object::new(out);
        object.put("object", "response.input_tokens");
        object.put("input_tokens", &tokens);
    }

    fn decode_tools<'a>(&self, body: &'a str) -> Result<Vec<Tool<'a>>, ReadError> {
        let mut reader = Reader::new(body);
        let tools_in::ToolList { at: _, list } = Read::read(&mut reader)?;
        reader.finish()?;
        Ok(list)
    }

    fn encode_tools(
        &self,
        tools: &[Tool<'_>],
        origin: Protocol,
        profile: &Profile,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let toolset = Toolset::of_list(tools, origin, profile);
        let tool_search = tools_out::has_search(tools, origin, profile);
        let cx = Out { origin, profile, names: &toolset.names, tool_search };
        tools_out::write_tools(tools, &mut Array::new(out), &cx, ledger);
    }

    fn answer_items(&self, response: &str) -> Result<Vec<String>, ReadError> {
        continuation_out::answer_items(response)
    }

    fn result_items(
        &self,
        _answer: &[String],
        calls: &[AnsweredCall<'_>],
    ) -> Result<Vec<String>, Error> {
        continuation_out::result_items(calls)
    }

    fn append_items(&self, request: &str, next: &Continuation) -> Result<Vec<u8>, ReadError> {
        continuation_out::append(request, next)
    }

    fn recognize(&self, fields: &Fields<'_>) -> Option<(Document, Certainty)> {
        recognize_in::document(fields)
    }

    fn recognize_event(&self, kind: &str, _data: &str) -> bool {
        recognize_in::event(kind)
    }

    fn recognize_tool(&self, fields: &Fields<'_>) -> Option<(ToolForm, Certainty)> {
        recognize_in::tool(fields)
    }

    fn schema_member(&self) -> SchemaMember {
        SchemaMember { name: "parameters", required: true }
    }

    fn dispositions(&self) -> &'static [Row] {
        dispositions::TABLE
    }
}

/// What every writer of this codec needs to know.
struct Out<'c> {
    /// The protocol that the document was written in.
    origin: Protocol,
    profile: &'c Profile,
    /// The tools' names toward the target.
    names: &'c Names,
    /// Whether deferred tools can be searched for.
    tool_search: bool,
}

impl Out<'_> {
    /// Whether the document was a Responses document from the start.
    fn same(&self) -> bool {
        self.origin == Protocol::Responses
    }

    /// Whether ids of uploaded files mean something: OpenAI's two protocols
    /// share one store of files.
    fn knows_files(&self) -> bool {
        self.same_vendor()
    }

    /// Whether the document came from one of OpenAI's protocols.
    fn same_vendor(&self) -> bool {
        self.origin.same_vendor(Protocol::Responses)
    }

    /// Whether cache markers cross. Only newer models take them, but a client
    /// of OpenAI's other protocol knows that as well.
    fn takes_markers(&self) -> bool {
        self.profile.cache_breakpoints || self.same_vendor()
    }

    /// Replays members that the model has no room for, or reports them.
    fn extra(&self, object: &mut Object<'_>, extra: &[Extra<'_>], ledger: &mut Ledger) {
        if self.same() {
            object.extra(extra);
        } else {
            ledger.only(extra);
        }
    }

    /// Writes a tool's name as the target knows it.
    fn name(&self, key: &str, name: &Str<'_>, object: &mut Object<'_>, ledger: &mut Ledger) {
        match self.names.wire(None, &name.decode()) {
            Cow::Owned(wire) if !self.same() => {
                ledger.renamed(name.pos(), Code::ToolName);
                object.put(key, &wire);
            }
            Cow::Owned(_) | Cow::Borrowed(_) => object.put(key, name),
        }
    }
}

/// Writes the members of an object inside the request that are known by their
/// path.
fn replay_under(path: &str, extra: &[Extra<'_>], object: &mut Object<'_>) {
    for field in extra {
        if let Some(name) = field.name_under(path) {
            field.value.write(object.foreign_key(&Str::plain(name)));
        }
    }
}

/// `reasoning.summary` for what the client wants to see.
fn summary_word<'r>(display: &'r Display<'_>) -> Option<Str<'r>> {
    match display {
        Display::Summary => Some(Str::plain("auto")),
        Display::Concise => Some(Str::plain("concise")),
        Display::Detailed => Some(Str::plain("detailed")),
        Display::Omitted => None,
        Display::Other(word) => Some(word.borrowed()),
    }
}
