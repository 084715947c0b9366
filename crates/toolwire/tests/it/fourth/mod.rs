//! A fourth protocol, made up for the tests: one folder, and one line in
//! [`crate::PROTOCOLS`].
//!
//! Nothing in the library knows it, so whatever works for it works for any
//! protocol. It is also the template for a new codec: the files have the names
//! that every codec has, and the format is as unlike the others as a real one
//! may be. The model and whether to stream are in the URL, events say what
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

use toolwire::codec::EventPlace;
use toolwire::model::ResponseContext;
use toolwire::registry::SchemaMember;
use toolwire::wire::Object;
use toolwire::{Codec, Protocol};

/// The protocol.
pub(crate) const FOURTH: Protocol = Protocol::Custom(&CODEC);

/// Its codec.
static CODEC: Codec = Codec {
    protocol: Protocol::Custom(&CODEC),
    description: &description::DESCRIPTION,
    default_profile: description::profile,
    read_request: request_in::decode,
    encode_request: request_out::encode,
    foreign_reasoning: foreign_reasoning_in::find,
    decode_response: response_in::decode,
    response_overview: |_body| None,
    response_context: ResponseContext::of,
    encode_response: response_out::encode,
    stream_reader: || Box::<stream_in::FourthStreamReader>::default(),
    stream_writer: |context| Box::new(stream_out::FourthStreamWriter::new(context)),
    stream_observer: || Box::<stream_in::observer::FourthStreamObserver>::default(),
    stream_accumulator: || Box::<stream_in::accumulator::FourthAccumulator>::default(),
    opens_stream: |frame| frame.name == Some("opened"),
    event_place: |data| EventPlace::of(data, ["n", "part"]),
    model_path: &["by"],
    answer_in_event: |_data| None,
    stream_from_response: stream_out::from_response::write,
    stateful: None,
    session: None,
    decode_error: error_in::decode,
    encode_error: error_out::encode,
    write_models: models_out::write_models,
    write_model: models_out::write_model,
    read_models: models_in::read_models,
    write_token_count: |tokens, out| Object::new(out).object("spent").put("in", &tokens),
    decode_tools: tools_in::decode_list,
    encode_tools: tools_out::encode_list,
    answer_items: continuation_out::answer_items,
    result_items: continuation_out::result_items,
    append_items: continuation_out::append,
    recognize: recognize_in::document,
    recognize_event: recognize_in::event,
    recognize_tool: recognize_in::tool,
    schema_member: SchemaMember { name: "takes", required: false },
    dispositions: dispositions::TABLE,
    answer_dispositions: &[],
};
