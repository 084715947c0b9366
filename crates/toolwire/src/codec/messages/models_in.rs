//! The list of models of an upstream.

use crate::facts::{Efforts, Fact, Media, ModelFacts, ThinkingControl, ThinkingOff};
use crate::protocol::{ModelPage, UpstreamModel, query_with};
use crate::wire::{Kind, Raw, ReadError, Reader, Str, date};

/// Reads a page of a list.
pub(super) fn read_models(body: &str) -> Result<ModelPage, ReadError> {
    let mut reader = Reader::new(body);
    let [data, has_more, last_id] = reader.pick(["data", "has_more", "last_id"])?;
    reader.finish()?;
    let elements = data.as_ref().map(Raw::elements).transpose()?.unwrap_or_default();
    let models = elements.iter().filter_map(model).collect();
    let next_query = last_id
        .filter(|_| has_more.is_some_and(|more| more.text() == "true"))
        .and_then(|id| text(Some(&id)))
        .map(|id| query_with(super::description::MODELS_QUERY, "after_id", &id));
    Ok(ModelPage { models, next_query })
}

/// One model. Something else in the list is nobody's model.
fn model(raw: &Raw<'_>) -> Option<UpstreamModel> {
    let keys =
        ["id", "display_name", "created_at", "max_tokens", "max_input_tokens", "capabilities"];
    let [id, title, created, max_output, context_window, capabilities] =
        raw.reader().pick(keys).ok()?;
    let mut facts = capabilities.as_ref().map(capabilities_of).unwrap_or_default();
    facts.context_window = number(context_window.as_ref()).map(Fact::by_upstream);
    facts.max_output = number(max_output.as_ref()).map(Fact::by_upstream);
    Some(UpstreamModel {
        name: text(id.as_ref())?,
        title: text(title.as_ref()),
        created: text(created.as_ref()).and_then(|date| date::parse(&date)),
        facts,
    })
}

/// What the vendor says that a model can do.
fn capabilities_of(raw: &Raw<'_>) -> ModelFacts {
    let mut facts = ModelFacts::default();
    let keys = ["thinking", "effort", "image_input", "pdf_input"];
    let Ok([thinking, effort, image, pdf]) = raw.reader().pick(keys) else { return facts };
    if let Some(thinking) = &thinking {
        (facts.thinking, facts.thinking_off) = thinking_of(thinking);
    }
    if let Some(Ok(levels)) = effort.as_ref().map(|effort| effort.reader().pick(EFFORTS)) {
        let is_supported = effort.as_ref().and_then(supported);
        let names = EFFORTS.iter().zip(&levels).filter_map(|(name, level)| {
            level.as_ref().and_then(supported).filter(|yes| *yes).map(|_| *name)
        });
        facts.efforts = match is_supported {
            Some(true) => Some(Efforts::from_names(names)),
            Some(false) => Some(Efforts::EMPTY),
            None => None,
        }
        .map(Fact::by_upstream);
    }
    if let (Some(image), Some(pdf)) =
        (image.as_ref().and_then(supported), pdf.as_ref().and_then(supported))
    {
        let image = if image { Media::IMAGE } else { Media::TEXT };
        let pdf = if pdf { Media::DOCUMENT } else { Media::TEXT };
        facts.media = Some(Fact::by_upstream(image.and(pdf)));
    }
    facts
}

/// How thinking is turned on and off.
fn thinking_of(raw: &Raw<'_>) -> (Option<Fact<ThinkingControl>>, Option<Fact<ThinkingOff>>) {
    let is_supported = supported(raw);
    let types = raw.reader().pick(["types"]).ok().and_then(|[types]| types);
    let accepted = types.and_then(|types| {
        let keys = ["adaptive", "enabled", "disabled", "between_tools"];
        let types = types.reader().pick(keys).ok()?;
        Some(types.map(|kind| kind.as_ref().and_then(supported)))
    });
    let [adaptive, enabled, disabled, between_tools] = accepted.unwrap_or_default();
    let control = match (is_supported, adaptive, enabled) {
        (Some(false), _, _) => Some(ThinkingControl::None),
        (_, Some(true), _) => Some(ThinkingControl::Adaptive),
        (_, _, Some(true)) => Some(ThinkingControl::Budget),
        (_, _, _) => None,
    };
    let off = match (disabled, between_tools) {
        (Some(true), _) => Some(ThinkingOff::Disabled),
        (Some(false), Some(true)) => Some(ThinkingOff::BetweenTools),
        (Some(false), Some(false)) => Some(ThinkingOff::Never),
        (Some(false), None) | (None, _) => None,
    };
    (control.map(Fact::by_upstream), off.map(Fact::by_upstream))
}

/// The member `supported` of a capability.
fn supported(raw: &Raw<'_>) -> Option<bool> {
    let [supported] = raw.reader().pick(["supported"]).ok()?;
    supported.filter(|value| value.kind() == Kind::Bool).map(|value| value.text() == "true")
}

fn text(raw: Option<&Raw<'_>>) -> Option<String> {
    let text: Str<'_> = raw?.reader().string().ok()?;
    Some(text.into_decoded().into_owned())
}

fn number(raw: Option<&Raw<'_>>) -> Option<u64> {
    raw?.text().parse().ok().filter(|number| *number > 0)
}

const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];
