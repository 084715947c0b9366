//! The list of models of an upstream.
//!
//! The vendors that speak OpenAI's protocols add members of their own. Those that
//! say what a model accepts are read; none of them means different things to two
//! vendors.

use crate::facts::{Accepts, Efforts, Fact, Media, ModelFacts, ThinkingControl};
use crate::protocol::{ModelPage, UpstreamModel};
use crate::wire::{Kind, Raw, ReadError, Reader};

/// Reads a list: an object, or the bare array that Together sends.
pub(in crate::codec) fn read_models(body: &str) -> Result<ModelPage, ReadError> {
    let mut reader = Reader::new(body);
    let [data] =
        if reader.peek() == Kind::Array { [Some(reader.raw()?)] } else { reader.pick(["data"])? };
    reader.finish()?;
    let elements = data.as_ref().map(Raw::elements).transpose()?.unwrap_or_default();
    Ok(ModelPage { models: elements.iter().filter_map(model).collect(), next_query: None })
}

/// One model. Something else in the list is nobody's model.
fn model(raw: &Raw<'_>) -> Option<UpstreamModel> {
    let [id, name, display_name, created, limits @ ..] = raw.reader().pick(KEYS).ok()?;
    let name = name.or(display_name).as_ref().and_then(text);
    Some(UpstreamModel {
        name: text(id.as_ref()?)?,
        title: name,
        created: created.as_ref().and_then(number),
        facts: facts(limits),
    })
}

const KEYS: [&str; 13] = [
    "id",
    // OpenRouter's and Together's names for people.
    "name",
    "display_name",
    "created",
    // OpenRouter, Together, Fireworks and Moonshot.
    "context_length",
    // Groq.
    "context_window",
    // Mistral.
    "max_context_length",
    // vLLM and SGLang.
    "max_model_len",
    // llama.cpp. Its `n_ctx_train` is what the model was trained with, not what
    // this server gives it, so it says nothing.
    "meta",
    // Groq.
    "max_completion_tokens",
    // OpenRouter.
    "top_provider",
    "supported_parameters",
    "architecture",
];

fn facts(members: [Option<Raw<'_>>; 9]) -> ModelFacts {
    let [length, window, max_context, max_model, meta, max_output, provider, parameters, media] =
        members;
    let mut facts = ModelFacts::default();
    let slots = meta.as_ref().and_then(|meta| inner(meta, "n_ctx"));
    let windows = [length, window, max_context, max_model, slots];
    facts.context_window = known(windows.iter().flatten().find_map(number));
    let of_provider =
        provider.as_ref().and_then(|provider| inner(provider, "max_completion_tokens"));
    facts.max_output = known(max_output.or(of_provider).as_ref().and_then(number));
    if let Some(parameters) = parameters.as_ref().and_then(words) {
        note_parameters(&parameters, &mut facts);
    }
    let media = media.as_ref().and_then(|media| words(&inner(media, "input_modalities")?));
    facts.media = known(media.map(|media| {
        media.iter().fold(Media::TEXT, |all, kind| {
            all.and(match kind.as_str() {
                "image" => Media::IMAGE,
                "file" => Media::DOCUMENT,
                "audio" => Media::AUDIO,
                "video" => Media::VIDEO,
                _other => Media::TEXT,
            })
        })
    }));
    facts
}

/// What a list of every parameter that a model accepts says. An empty one says
/// nothing.
fn note_parameters(parameters: &[String], facts: &mut ModelFacts) {
    if parameters.is_empty() {
        return;
    }
    let has = |name: &str| parameters.iter().any(|parameter| parameter == name);
    let accepts = |name| Some(if has(name) { Accepts::Always } else { Accepts::Never });
    facts.temperature = known(accepts("temperature"));
    facts.top_p = known(accepts("top_p"));
    facts.top_k = known(accepts("top_k"));
    // Which efforts it takes is not told, only whether it takes any.
    if !["reasoning", "include_reasoning", "reasoning_effort"].into_iter().any(has) {
        facts.thinking = known(Some(ThinkingControl::None));
        facts.efforts = known(Some(Efforts::EMPTY));
    }
}

fn known<T>(value: Option<T>) -> Option<Fact<T>> {
    value.map(Fact::by_upstream)
}

fn inner(raw: &Raw<'_>, key: &str) -> Option<Raw<'static>> {
    let [value] = raw.reader().pick([key]).ok()?;
    value.map(Raw::into_owned)
}

fn words(raw: &Raw<'_>) -> Option<Vec<String>> {
    Some(raw.elements().ok()?.iter().filter_map(text).collect())
}

fn text(raw: &Raw<'_>) -> Option<String> {
    let text = raw.reader().string().ok()?.into_decoded().into_owned();
    Some(text).filter(|text| !text.is_empty())
}

fn number(raw: &Raw<'_>) -> Option<u64> {
    raw.text().parse().ok().filter(|number| *number > 0)
}
