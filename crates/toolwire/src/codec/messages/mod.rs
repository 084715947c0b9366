//! Anthropic Messages.

mod answer_dispositions;
mod assistant_out;
mod blocks_out;
mod calls_out;
mod choice_in;
mod choice_out;
mod content_in;
mod content_out;
mod continuation_out;
mod conversation_out;
mod description;
mod dispositions;
mod error_in;
mod error_out;
mod foreign_reasoning_in;
mod hosted_tools_out;
mod models_in;
mod models_out;
mod overview_in;
mod reasoning_in;
mod reasoning_out;
mod recognize_in;
mod request_in;
mod request_out;
mod response_in;
mod response_out;
mod results_out;
mod session_in;
mod settings_out;
mod stop_in;
mod stop_out;
mod stream_in;
mod stream_out;
#[cfg(test)]
mod tests;
mod thinking_out;
mod tool_description_out;
mod tools_in;
mod tools_out;
mod turns_in;
mod turns_out;
mod usage_in;
mod usage_out;
mod wire;

use crate::codec::{Codec, EventPlace};
use crate::model::{Protocol, ResponseContext};
use crate::registry::SchemaMember;
use crate::session::SessionCodec;
use crate::wire::Object;

/// The Messages protocol.
pub static CODEC: Codec = Codec {
    protocol: Protocol::Messages,
    description: &description::DESCRIPTION,
    default_profile: description::profile,
    read_request: request_in::decode,
    encode_request: request_out::encode,
    foreign_reasoning: foreign_reasoning_in::find,
    decode_response: response_in::decode,
    response_overview: overview_in::response,
    response_context: ResponseContext::of,
    encode_response: response_out::encode,
    stream_reader: || Box::<stream_in::MessagesStreamReader>::default(),
    stream_writer: |context| Box::new(stream_out::MessagesStreamWriter::new(context)),
    stream_observer: || Box::<stream_in::observer::MessagesStreamObserver>::default(),
    stream_accumulator: || Box::<stream_in::accumulator::MessagesAccumulator>::default(),
    opens_stream: stream_in::observer::opens_stream,
    event_place: |data| EventPlace::of(data, ["index"]),
    model_path: &["message", "model"],
    answer_in_event: |_data| None,
    stream_from_response: stream_out::from_response::stream_from_response,
    stateful: None,
    session: Some(&SessionCodec {
        list_member: "messages",
        groups_results: true,
        read_message: session_in::message,
    }),
    decode_error: error_in::decode,
    encode_error: error_out::encode,
    write_models: models_out::write_models,
    write_model: models_out::write_model,
    read_models: models_in::read_models,
    write_token_count: |tokens, out| Object::new(out).put("input_tokens", &tokens),
    decode_tools: tools_in::decode,
    encode_tools: tools_out::encode,
    answer_items: continuation_out::answer_items,
    result_items: continuation_out::result_items,
    append_items: continuation_out::append,
    recognize: recognize_in::document,
    recognize_event: recognize_in::event,
    recognize_tool: recognize_in::tool,
    schema_member: SchemaMember { name: "input_schema", required: true },
    dispositions: dispositions::TABLE,
    answer_dispositions: answer_dispositions::TABLE,
};
