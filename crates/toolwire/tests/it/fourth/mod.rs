//! A fourth protocol, made up for the tests: one folder, and one line in
//! [`crate::PROTOCOLS`].
//!
//! Nothing in the library knows it, so whatever works for it works for any
//! protocol. It is also the template for a new codec: the files have the names
//! that every codec has, and the format is as unlike the others as a real one
//! may be. The model and the wish for a stream are in the URL, events say what
//! they are only in their names, and no member is called what another protocol
//! calls it.
//!
//! ```text
//! POST /v4/models/{model}:ask     (or :stream, or :measure)
//! {"charter":"Be brief.",
//!  "dialogue":[
//!    {"by":"human","says":"Weather?"},
//!    {"by":"machine","says":[{"think":["Paris."],"seal":"…"},
//!                            {"do":{"ref":"c1","tool":"weather","with":{"city":"Paris"}}}]},
//!    {"by":"tool","ref":"c1","gave":"sunny"}],
//!  "instruments":[{"tool":"weather","about":"The weather.","takes":{"type":"object"}}],
//!  "must":"some","limits":{"tokens":100},"heat":0.5}
//!
//! {"ref":"a1","by":"m-1","when":1,"reply":[{"say":"Sunny."}],"because":"done",
//!  "spent":{"in":9,"out":2}}
//!
//! {"fault":{"kind":"busy","words":"Come back later."}}
//! ```

mod calls_out;
mod choice_in;
mod choice_out;
mod content_in;
mod content_out;
mod continuation_out;
pub(crate) mod description;
mod dispositions;
pub(crate) mod error_in;
mod error_out;
mod foreign_reasoning_in;
mod models_in;
mod models_out;
mod reasoning_in;
mod reasoning_out;
mod recognize_in;
mod request_in;
mod request_out;
mod response_in;
mod response_out;
mod stop_in;
mod stop_out;
mod stream_in;
mod stream_out;
mod tools_in;
mod tools_out;
mod turns_in;
mod turns_out;
mod usage_in;
mod usage_out;
mod wire;

use std::ops::Range;

use toolwire::calls::{AnsweredCall, Continuation, Error};
use toolwire::codec::{EventPlace, StreamObserver, StreamReader, StreamWriter};
use toolwire::disposition::Row;
use toolwire::guess::{Certainty, DocumentKind, Fields};
use toolwire::model::{ApiError, Request, Response, ResponseContext, Tool};
use toolwire::protocol::{Description, ListedModel, ModelPage};
use toolwire::registry::{SchemaMember, ToolForm};
use toolwire::toolset::Toolset;
use toolwire::wire::sse::Frame;
use toolwire::wire::{Object, ReadError, Str, string_under};
use toolwire::{Codec, Ledger, Profile, Protocol};

/// The protocol.
pub(crate) const FOURTH: Protocol = Protocol::Custom(&Fourth);

/// Its codec.
pub(crate) struct Fourth;

impl Codec for Fourth {
    fn protocol(&self) -> Protocol {
        FOURTH
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
        Box::<stream_in::FourthStreamReader>::default()
    }

    fn stream_writer(&self, context: ResponseContext) -> Box<dyn StreamWriter> {
        Box::new(stream_out::FourthStreamWriter::new(context))
    }

    fn opens_stream(&self, frame: &Frame<'_>) -> bool {
        frame.name == Some("opened")
    }

    fn stream_observer(&self) -> Box<dyn StreamObserver> {
        Box::<stream_in::observer::FourthStreamObserver>::default()
    }

    fn event_place(&self, data: &str) -> EventPlace {
        EventPlace::of(data, ["n", "part"])
    }

    fn find_model<'d>(&self, data: &'d str) -> Option<Str<'d>> {
        string_under(data, &["by"])
    }

    fn stream_from_response(&self, body: &str) -> Result<Vec<u8>, ReadError> {
        stream_out::from_response::write(body)
    }

    fn decode_error(&self, status: Option<u16>, body: &str) -> Result<ApiError, ReadError> {
        error_in::decode(status, body)
    }

    fn encode_error(&self, error: &ApiError, out: &mut Vec<u8>) -> u16 {
        error_out::encode(error, out)
    }

    fn decode_tools<'a>(&self, body: &'a str) -> Result<Vec<Tool<'a>>, ReadError> {
        tools_in::decode_list(body)
    }

    fn encode_tools(
        &self,
        tools: &[Tool<'_>],
        origin: Protocol,
        profile: &Profile,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        tools_out::encode_list(tools, origin, profile, out, ledger);
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

    fn write_token_count(&self, tokens: u64, out: &mut Vec<u8>) {
        Object::new(out).object("spent").put("in", &tokens);
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

    fn recognize_event(&self, kind: &str, _data: &str) -> bool {
        recognize_in::event(kind)
    }

    fn recognize_tool(&self, fields: &Fields<'_>) -> Option<(ToolForm, Certainty)> {
        recognize_in::tool(fields)
    }

    fn schema_member(&self) -> SchemaMember {
        SchemaMember { name: "takes", required: false }
    }

    fn dispositions(&self) -> &'static [Row] {
        dispositions::TABLE
    }
}
