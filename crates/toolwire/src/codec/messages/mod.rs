//! Messages.

mod alike;
mod blocks;
mod blocks_in;
mod blocks_out;
mod call_live;
mod calls_out;
mod choice;
mod content_in;
mod content_out;
mod continuation_out;
mod description;
mod dispositions;
mod error;
mod events;
mod events_in;
mod events_out;
mod models_out;
mod reasoning;
mod recognize_in;
mod replay;
mod request_in;
mod request_out;
mod response_in;
mod response_out;
mod settings;
mod talk;
#[cfg(test)]
mod tests;
mod text_live;
mod thinking_live;
mod tools_in;
mod tools_out;
mod turns_in;
mod turns_out;
mod unroll;
mod watch;
mod wire;

use crate::calls::{AnsweredCall, Continuation, Error};
use crate::codec::sent_tools::SentTools;
use crate::codec::{Codec, StreamObserver, StreamReader, StreamWriter};
use crate::disposition::Row;
use crate::guess::{Certainty, Document, Fields};
use crate::ledger::Ledger;
use crate::model::{ApiError, Protocol, Request, Response, ResponseContext, Tool};
use crate::profile::Profile;
use crate::protocol::{Description, ListedModel};
use crate::registry::{SchemaMember, ToolForm};
use crate::toolset::Toolset;
use crate::wire::sse::Frame;
use crate::wire::{Array, Read, ReadError, Reader, Str, string_under};

/// The Messages protocol.
pub struct Messages;

impl Codec for Messages {
    fn protocol(&self) -> Protocol {
        Protocol::Messages
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

    fn decode_response<'a>(&self, body: &'a str) -> Result<Response<'a>, ReadError> {
        response_in::decode(body)
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
        frame.name.is_some_and(|name| name == "message_start" || name == "ping")
    }

    fn find_model<'d>(&self, data: &'d str) -> Option<Str<'d>> {
        string_under(data, &["message", "model"])
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

    fn decode_tools<'a>(&self, body: &'a str) -> Result<Vec<Tool<'a>>, ReadError> {
        let mut reader = Reader::new(body);
        let list = Vec::<tools_in::Definition<'_>>::read(&mut reader)?;
        reader.finish()?;
        Ok(list.into_iter().map(|tools_in::Definition(tool)| tool).collect())
    }

    fn encode_tools(
        &self,
        tools: &[Tool<'_>],
        origin: Protocol,
        profile: &Profile,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let mut pen = content_out::Pen::new(origin == Protocol::Messages, ledger);
        if pen.same {
            let mut list = Array::new(out);
            for tool in tools {
                tools_in::encode_own(tool, list.item(), &mut pen);
            }
            return;
        }
        let toolset = Toolset::of_list(tools, origin, profile);
        let sent = SentTools::new(&toolset, None, tools_out::hosted_name, pen.ledger);
        tools_out::encode(&sent, profile, out, &mut pen);
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
        SchemaMember { name: "input_schema", required: true }
    }

    fn dispositions(&self) -> &'static [Row] {
        dispositions::TABLE
    }
}
