//! Chat Completions.

mod answer_dispositions;
mod cache_out;
mod calls_out;
mod choice_in;
mod choice_out;
mod citations_out;
mod content_in;
mod content_out;
mod continuation_out;
mod description;
mod dispositions;
mod documents_out;
mod error_in;
mod error_out;
mod foreign_reasoning_in;
mod logprobs_out;
mod reasoning_in;
mod reasoning_out;
mod recognize_in;
mod request_in;
mod request_out;
mod response_in;
mod response_losses_out;
mod response_out;
mod results_out;
mod session_in;
mod settings_out;
mod stop_in;
mod stop_out;
mod stream_in;
mod stream_out;
mod thinking_out;
mod tool_description_out;
mod tool_losses_out;
mod tools_in;
mod tools_out;
mod turns_in;
mod turns_out;
mod usage_in;
mod usage_out;
mod web_search_out;
mod wire;

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::calls::{AnsweredCall, Continuation, Error};
use crate::codec::openai::{models_in, models_out};
use crate::codec::{
    Codec, EventPlace, StreamAccumulator, StreamObserver, StreamReader, StreamWriter,
};
use crate::disposition::Row;
use crate::guess::{Certainty, DocumentKind, Fields};
use crate::ledger::Ledger;
use crate::model::{ApiError, Protocol, Request, Response, ResponseContext, Tool};
use crate::profile::Profile;
use crate::protocol::{Description, ListedModel, ModelPage};
use crate::registry::{SchemaMember, ToolForm};
use crate::session::SessionCodec;
use crate::toolset::Toolset;
use crate::wire::sse::Frame;
use crate::wire::{ReadError, Str, string_under};

/// The Chat Completions protocol.
pub struct Chat;

impl Codec for Chat {
    fn protocol(&self) -> Protocol {
        Protocol::Chat
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
        tools: &Toolset<'_, '_>,
        profile: &Profile,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        request_out::encode(request, tools, profile, out, ledger);
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

    fn encode_response(
        &self,
        response: &Response<'_>,
        context: Option<&ResponseContext>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        response_out::encode(response, context, out, ledger);
    }

    fn stream_reader(&self) -> Box<dyn StreamReader> {
        Box::<stream_in::ChatStreamReader>::default()
    }

    fn stream_writer(&self, context: ResponseContext) -> Box<dyn StreamWriter> {
        Box::new(stream_out::ChatStreamWriter::new(context))
    }

    fn stream_observer(&self) -> Box<dyn StreamObserver> {
        Box::<stream_in::observer::ChatStreamObserver>::default()
    }

    fn stream_accumulator(&self) -> Box<dyn StreamAccumulator> {
        Box::<stream_in::accumulator::ChatAccumulator>::default()
    }

    fn opens_stream(&self, frame: &Frame<'_>) -> bool {
        stream_in::observer::opens_stream(frame)
    }

    fn event_place(&self, data: &str) -> EventPlace {
        stream_in::event_place(data)
    }

    fn find_model<'d>(&self, data: &'d str) -> Option<Str<'d>> {
        string_under(data, &["model"])
    }

    fn stream_from_response(&self, body: &str) -> Result<Vec<u8>, ReadError> {
        stream_out::from_response::stream_from_response(body)
    }

    fn session(&self) -> Option<&'static dyn SessionCodec> {
        Some(&session_in::ChatSession)
    }

    fn decode_error(&self, status: Option<u16>, body: &str) -> Result<ApiError, ReadError> {
        error_in::decode(status, body)
    }

    fn encode_error(&self, error: &ApiError, out: &mut Vec<u8>) -> u16 {
        error_out::encode(error, out)
    }

    fn write_models(
        &self,
        models: &[ListedModel<'_>],
        _query: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), Box<ApiError>> {
        models_out::write_models(models, out);
        Ok(())
    }

    fn read_models(&self, body: &str) -> Result<ModelPage, ReadError> {
        models_in::read_models(body)
    }

    fn write_model(&self, model: ListedModel<'_>, out: &mut Vec<u8>) {
        models_out::write_model(model, out);
    }

    fn decode_tools<'a>(&self, body: &'a str) -> Result<Vec<Tool<'a>>, ReadError> {
        tools_in::decode(body)
    }

    fn encode_tools(
        &self,
        tools: &[Tool<'_>],
        origin: Protocol,
        profile: &Profile,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        tools_out::encode(tools, origin, profile, out, ledger);
    }

    fn answer_items(&self, response: &str) -> Result<Vec<String>, ReadError> {
        continuation_out::answer_items(response)
    }

    fn result_items(&self, calls: &[AnsweredCall<'_>]) -> Result<Vec<String>, Error> {
        continuation_out::result_items(calls)
    }

    fn append_items(&self, request: &str, next: &Continuation) -> Result<Vec<u8>, ReadError> {
        continuation_out::append(request, next)
    }

    fn recognize(&self, fields: &Fields<'_>) -> Option<(DocumentKind, Certainty)> {
        recognize_in::document(fields)
    }

    fn recognize_event(&self, _kind: &str, data: &str) -> bool {
        recognize_in::event(data)
    }

    fn recognize_tool(&self, fields: &Fields<'_>) -> Option<(ToolForm, Certainty)> {
        recognize_in::tool(fields)
    }

    fn schema_member(&self) -> SchemaMember {
        SchemaMember { name: "parameters", required: false }
    }

    fn dispositions(&self) -> &'static [Row] {
        dispositions::TABLE
    }

    fn answer_dispositions(&self) -> &'static [Row] {
        answer_dispositions::TABLE
    }
}
