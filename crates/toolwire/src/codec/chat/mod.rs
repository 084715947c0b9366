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
mod lenient_in;
mod logprobs_out;
mod overview_in;
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

use crate::codec::Codec;
use crate::codec::openai::{models_in, models_out};
use crate::model::{Protocol, ResponseContext};
use crate::registry::SchemaMember;
use crate::session::SessionCodec;
use crate::wire::Object;

/// The Chat Completions protocol.
pub static CODEC: Codec = Codec {
    protocol: Protocol::Chat,
    description: &description::DESCRIPTION,
    default_profile: description::profile,
    read_request: request_in::decode,
    encode_request: request_out::encode,
    foreign_reasoning: foreign_reasoning_in::find,
    decode_response: response_in::decode,
    response_overview: overview_in::response,
    response_context: ResponseContext::of,
    encode_response: response_out::encode,
    stream_reader: || Box::<stream_in::ChatStreamReader>::default(),
    stream_writer: |context| Box::new(stream_out::ChatStreamWriter::new(context)),
    stream_observer: || Box::<stream_in::observer::ChatStreamObserver>::default(),
    stream_accumulator: || Box::<stream_in::accumulator::ChatAccumulator>::default(),
    opens_stream: stream_in::observer::opens_stream,
    event_place: stream_in::event_place,
    model_path: &["model"],
    answer_in_event: |_data| None,
    stream_from_response: stream_out::from_response::stream_from_response,
    stateful: None,
    session: Some(&SessionCodec {
        list_member: "messages",
        groups_results: false,
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
    schema_member: SchemaMember { name: "parameters", required: false },
    dispositions: dispositions::TABLE,
    answer_dispositions: answer_dispositions::TABLE,
};
