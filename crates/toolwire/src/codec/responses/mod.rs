//! Responses.

mod agent_message_in;
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
mod echo_out;
mod error_in;
mod error_out;
mod foreign_reasoning_in;
mod items_out;
mod media_out;
mod namespaces_in;
mod output_in;
mod overview_in;
mod reasoning_in;
mod reasoning_out;
mod recognize_in;
mod request_in;
mod request_out;
mod response_in;
mod response_out;
mod results_out;
mod stateful_in;
mod stateful_out;
mod stop_in;
mod stop_out;
mod stream_in;
mod stream_out;
mod thinking_out;
mod tools_in;
mod tools_out;
mod turns_in;
mod turns_out;
mod usage_in;
mod usage_out;
mod wire;
mod withdrawn_out;

#[cfg(test)]
mod tests;

use crate::codec::Codec;
use crate::codec::openai::{models_in, models_out};
use crate::model::Protocol;
use crate::registry::SchemaMember;
use crate::stateful::StatefulCodec;

/// The Responses protocol.
pub static CODEC: Codec = Codec {
    protocol: Protocol::Responses,
    description: &description::DESCRIPTION,
    default_profile: description::profile,
    read_request: request_in::decode,
    encode_request: request_out::encode,
    foreign_reasoning: foreign_reasoning_in::find,
    decode_response: response_in::decode,
    response_overview: overview_in::response,
    response_context: echo_out::response_context,
    encode_response: response_out::encode,
    stream_reader: || Box::<stream_in::ResponsesStreamReader>::default(),
    stream_writer: |context| Box::new(stream_out::ResponsesStreamWriter::new(context)),
    stream_observer: || Box::<stream_in::observer::ResponsesStreamObserver>::default(),
    stream_accumulator: || Box::<stream_in::accumulator::ResponsesAccumulator>::default(),
    opens_stream: stream_in::observer::opens_stream,
    event_place: stream_in::event_place,
    model_path: &["response", "model"],
    answer_in_event: stream_in::answer_in_event,
    stream_from_response: stream_out::from_response::stream_from_response,
    stateful: Some(&StatefulCodec {
        store_member: stateful_in::STORE,
        state_members: &stateful_in::STATE,
        id_member: stateful_in::ID,
        is_reference: stateful_in::is_reference,
        read_request: stateful_in::request,
        input_member: stateful_in::INPUT,
        read_input: stateful_in::request_input,
        read_input_item: stateful_in::input_item,
        read_output_item: stateful_in::output_item,
        read_answer: stateful_in::answer,
        read_items: stateful_in::list,
        write_request: stateful_out::write_request,
        write_item: stateful_out::write_item,
        write_pending: stateful_out::write_pending,
        answer_member: "response",
        kept_members: stateful_out::kept_members,
        write_progress: stateful_out::write_progress,
        write_ending: stream_out::from_response::ending,
    }),
    session: None,
    decode_error: error_in::decode,
    encode_error: error_out::encode,
    write_models: models_out::write_models,
    write_model: models_out::write_model,
    read_models: models_in::read_models,
    write_token_count: usage_out::write_token_count,
    decode_tools: tools_in::decode,
    encode_tools: tools_out::encode,
    answer_items: continuation_out::answer_items,
    result_items: continuation_out::result_items,
    append_items: continuation_out::append,
    recognize: recognize_in::document,
    recognize_event: recognize_in::event,
    recognize_tool: recognize_in::tool,
    schema_member: SchemaMember { name: "parameters", required: true },
    dispositions: dispositions::TABLE,
    answer_dispositions: answer_dispositions::TABLE,
};
