//! Chat Completions.

mod alike;
mod answer_live;
mod balance;
mod blocks_live;
mod calls_live;
mod calls_out;
mod choice;
mod chunk;
mod chunk_out;
mod citations;
mod content_in;
mod content_out;
mod description;
mod error;
mod events_in;
mod events_out;
mod reasoning;
mod request_in;
mod request_out;
mod response_in;
mod response_out;
mod results_out;
mod stop;
mod thoughts_live;
mod tools_in;
mod tools_out;
mod turns_in;
mod turns_out;
mod unroll;
mod usage;
mod waiting_out;
mod watch;
mod wire;

#[cfg(test)]
mod tests;

use memchr::memmem;

use self::content_in::Toward;
use self::tools_in::Tools;
use self::tools_out::Shipment;
use crate::codec::openai::models_out;
use crate::codec::{Codec, StreamObserver, StreamReader, StreamWriter};
use crate::ledger::Ledger;
use crate::model::{ApiError, Protocol, Request, Response, ResponseContext, Tool};
use crate::profile::Profile;
use crate::protocol::{Description, ListedModel};
use crate::toolset::Toolset;
use crate::wire::sse::Frame;
use crate::wire::{Array, Read, ReadError, Reader, Str, string_under};

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
        let says = |text: &str| memmem::find(frame.data.as_bytes(), text.as_bytes()).is_some();
        says(r#""role":"assistant""#)
            && says(r#""finish_reason":null"#)
            && (says(r#""content":"""#) || says(r#""content":null"#))
            && !says(r#""tool_calls""#)
            && !says(r#""reasoning"#)
    }

    fn find_model<'d>(&self, data: &'d str) -> Option<Str<'d>> {
        string_under(data, &["model"])
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
        let Tools { at: _, list } = Tools::read(&mut reader)?;
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
        let mut array = Array::new(out);
        if origin == Protocol::Chat {
            for tool in tools {
                tools_in::replay_tool(&mut array, tool, false);
            }
            return;
        }
        let toolset = Toolset::of_list(tools, origin, profile);
        let toward = &mut Toward { origin, profile, ledger };
        Shipment::new(&toolset).write_list(&mut array, toward);
    }
}
