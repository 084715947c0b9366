//! The settings of a request as Messages spells them: reasoning, limits,
//! format, sampling, identity, tier, state.

use super::content_out::Pen;
use crate::ledger::Code;
use crate::model::{
    Display, Effort, Format, Identity, JsonSchema, Output, Sampling, State, Stream, Thinking,
    ThinkingMode,
};
use crate::profile::Profile;
use crate::schema::{self, FormatChange};
use crate::wire::{At, Object, Pos, Raw, Str};

fn mode_name<'m>(mode: &'m ThinkingMode<'_>) -> Str<'m> {
    Str::plain(match mode {
        ThinkingMode::Adaptive => "adaptive",
        ThinkingMode::Enabled => "enabled",
        ThinkingMode::BetweenTools => "between_tools",
        ThinkingMode::Disabled => "disabled",
        ThinkingMode::Other(word) => return word.borrowed(),
    })
}

fn display_name<'d>(display: &'d Display<'_>) -> Str<'d> {
    Str::plain(match display {
        Display::Summary | Display::Concise | Display::Detailed => "summarized",
        Display::Omitted => "omitted",
        Display::Other(word) => return word.borrowed(),
    })
}

/// Writes `max_tokens`, which Messages cannot do without.
pub(super) fn limit(
    output: &Output<'_>,
    profile: &Profile,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    match &output.max_tokens {
        Some(limit) => object.put("max_tokens", limit),
        None => {
            object.put("max_tokens", &profile.default_max_tokens);
            pen.ledger.degraded(Pos::START, Code::MaxTokensDefault).key("max_tokens").info();
        }
    }
}

/// Writes `thinking`, `output_config` and what goes in them.
pub(super) fn thinking(
    thinking: &Thinking<'_>,
    forced: bool,
    output: &Output<'_>,
    profile: &Profile,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    let Thinking { at, effort, mode, budget, display, extra } = thinking;
    pen.ledger.only(extra);
    let thinks = match mode {
        Some(At { pos: _, value: ThinkingMode::Enabled | ThinkingMode::Adaptive }) => true,
        Some(At {
            pos: _,
            value: ThinkingMode::BetweenTools | ThinkingMode::Disabled | ThinkingMode::Other(_),
        })
        | None => false,
    };
    if thinks && forced {
        pen.ledger.dropped(*at, Code::ThinkingOffForcedTool);
    } else if let Some(mode) = mode {
        let mut target = object.object("thinking");
        target.put("type", &mode_name(&mode.value));
        target.maybe("budget_tokens", budget.as_ref());
        if let Some(display) = display {
            target.put("display", &display_name(&display.value));
        }
    } else if let Some(display) = display {
        // Saying how to show reasoning would mean switching it on, and which
        // way of thinking a model takes is its own.
        pen.ledger.dropped(display.pos, Code::ReasoningDisplay).info();
    }
    if let Some(budget) = budget.as_ref().filter(|_| mode.is_none()) {
        pen.ledger.dropped(budget.pos, Code::ThinkingBudget);
    }
    let level = level(effort.as_ref(), mode.is_some(), profile, object, pen);
    let format = format(output.format.as_ref(), pen);
    if level.is_none() && format.is_none() {
        return;
    }
    let mut config = object.object("output_config");
    config.maybe("effort", level);
    if let Some(schema) = format {
        let mut target = config.object("format");
        target.put("type", "json_schema");
        target.put("schema", &schema);
    }
}

fn level(
    effort: Option<&At<Effort<'_>>>,
    decided: bool,
    profile: &Profile,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) -> Option<&'static str> {
    let At { pos, value } = effort?;
    match value {
        Effort::None if profile.thinking_disabled && !decided => {
            object.object("thinking").put("type", "disabled");
            let note = pen.ledger.emulated(*pos, Code::Effort);
            note.detail("No effort crosses as thinking switched off.");
            None
        }
        Effort::None | Effort::Other(_) => {
            let note = pen.ledger.dropped(*pos, Code::Effort);
            note.detail("The target has no such effort level; the model's own is used.");
            None
        }
        Effort::Minimal => {
            pen.ledger.degraded(*pos, Code::Effort);
            Some("low")
        }
        Effort::Low => Some("low"),
        Effort::Medium => Some("medium"),
        Effort::High => Some("high"),
        Effort::XHigh => Some("xhigh"),
        Effort::Max => Some("max"),
    }
}

fn format<'f>(format: Option<&'f At<Format<'_>>>, pen: &mut Pen<'_>) -> Option<Raw<'f>> {
    let At { pos, value } = format?;
    match value {
        Format::Text => {
            let note = pen.ledger.emulated(*pos, Code::FormatName);
            note.detail("Free text is what the target gives anyway.");
            None
        }
        Format::JsonObject => {
            pen.ledger.dropped(*pos, Code::JsonMode);
            None
        }
        Format::Other(raw) => {
            pen.ledger.dropped(raw.pos(), Code::UnknownValue);
            None
        }
        Format::JsonSchema(JsonSchema { name, description, schema, strict, extra }) => {
            for label in [name, description].into_iter().flatten() {
                pen.ledger.dropped(label.pos(), Code::FormatName).info();
            }
            if let Some(strict) = strict {
                let note = pen.ledger.emulated(strict.pos, Code::FormatName);
                note.detail("The target always holds the output to its schema.");
            }
            pen.ledger.only(extra);
            let Some(own) = schema else {
                pen.ledger.dropped(*pos, Code::JsonMode);
                return None;
            };
            let moved = schema::definitions(own);
            if moved.is_some() {
                pen.ledger.emulated(own.pos(), Code::SchemaDefinitions);
            }
            let (schema, change) = match &moved {
                Some(moved) => {
                    let (schema, change) = schema::output_format(moved);
                    (schema.into_owned(), change)
                }
                None => schema::output_format(own),
            };
            match change {
                Some(FormatChange::Closed) => {
                    let note = pen.ledger.degraded(own.pos(), Code::FormatSchema);
                    note.detail("The target's output formats are of closed objects, so the answer has the listed properties and no others.").info();
                }
                Some(FormatChange::Loosened) => {
                    let note = pen.ledger.degraded(own.pos(), Code::FormatSchema);
                    note.detail("The target cannot hold an answer to bounds, exclusive choices or properties of any name; the schema was sent without.");
                }
                None => {}
            }
            Some(schema)
        }
    }
}

/// Writes `stop_sequences` and decides about the rest of the output settings.
pub(super) fn output(output: &Output<'_>, object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let Output {
        max_tokens: _,
        legacy_max_tokens: _,
        format: _,
        verbosity,
        stop,
        stop_at: _,
        n,
        logprobs,
        top_logprobs,
        max_tool_calls,
    } = output;
    let kept: Vec<&Str<'_>> = stop.iter().filter(|text| !text.is_blank()).collect();
    if !kept.is_empty() {
        object.put("stop_sequences", &kept);
    }
    for blank in stop.iter().filter(|text| text.is_blank()) {
        let note = pen.ledger.dropped(blank.pos(), Code::Stop);
        note.detail("The target refuses stop texts of nothing but spaces.");
    }
    if let Some(verbosity) = verbosity {
        pen.ledger.dropped(verbosity.pos(), Code::Verbosity).info();
    }
    match n {
        Some(At { pos, value: 0 | 1 }) => {
            let note = pen.ledger.emulated(*pos, Code::MultipleAnswers);
            note.detail("One answer is what the target gives anyway.");
        }
        Some(At { pos, value: _ }) => {
            pen.ledger.refused(*pos, Code::MultipleAnswers);
        }
        None => {}
    }
    if let Some(logprobs) = logprobs {
        let note = if logprobs.value {
            pen.ledger.dropped(logprobs.pos, Code::Logprobs)
        } else {
            pen.ledger.emulated(logprobs.pos, Code::Logprobs)
        };
        note.detail("The target gives no log probabilities.");
    }
    if let Some(top) = top_logprobs {
        pen.ledger.dropped(top.pos, Code::Logprobs);
    }
    if let Some(most) = max_tool_calls {
        pen.ledger.dropped(most.pos, Code::MaxToolCalls);
    }
}

/// Writes the sampling parameters that the upstream takes.
pub(super) fn sampling(
    sampling: &Sampling<'_>,
    profile: &Profile,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    let Sampling {
        temperature,
        top_p,
        top_k,
        frequency_penalty,
        presence_penalty,
        seed,
        logit_bias,
    } = sampling;
    let mut lost: Vec<&Raw<'_>> = Vec::new();
    if profile.sampling {
        match temperature {
            Some(value) if value.text().parse::<f64>().is_ok_and(|number| number > 1.0) => {
                pen.ledger.degraded(value.pos(), Code::TemperatureClamped);
                object.put("temperature", &1u64);
            }
            Some(value) => object.put("temperature", value),
            None => {}
        }
        match top_p {
            Some(value) if temperature.is_some() && !profile.temperature_with_top_p => {
                lost.push(value);
            }
            Some(value) => object.put("top_p", value),
            None => {}
        }
        object.maybe("top_k", top_k.as_ref());
    } else {
        lost.extend([temperature, top_p, top_k].into_iter().flatten());
    }
    lost.extend([frequency_penalty, presence_penalty, seed, logit_bias].into_iter().flatten());
    for value in lost {
        pen.ledger.dropped(value.pos(), Code::Sampling);
    }
}

/// Writes `metadata`.
pub(super) fn identity(identity: &Identity<'_>, object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let Identity { end_user, user, metadata, metadata_extra, cache_key } = identity;
    if let Some(id) = end_user.as_ref().or(user.as_ref()) {
        object.object("metadata").put("user_id", id);
    }
    match (end_user, user) {
        (Some(_), Some(user)) => {
            pen.ledger.dropped(user.pos(), Code::User);
        }
        (None, Some(user)) => {
            let note = pen.ledger.emulated(user.pos(), Code::User);
            note.detail("The deprecated user crosses as the end user.");
        }
        (_, None) => {}
    }
    if let Some(metadata) = metadata {
        pen.ledger.dropped(metadata.pos(), Code::Metadata);
    }
    pen.ledger.only(metadata_extra);
    if let Some(key) = cache_key {
        pen.ledger.dropped(key.pos(), Code::PromptCacheKey).info();
    }
}

/// Writes `service_tier`.
pub(super) fn tier(tier: Option<&Str<'_>>, object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let Some(tier) = tier else { return };
    let word = match tier.decode().as_ref() {
        "auto" => "auto",
        "priority" => {
            let note = pen.ledger.emulated(tier.pos(), Code::Tier);
            note.detail("The target uses the priority capacity it has when the tier is auto.");
            "auto"
        }
        "default" => {
            let note = pen.ledger.emulated(tier.pos(), Code::Tier);
            note.detail("The default tier is called standard by the target.");
            "standard_only"
        }
        _other => {
            pen.ledger.degraded(tier.pos(), Code::Tier);
            "auto"
        }
    };
    object.put("service_tier", word);
}

/// Messages keeps nothing between calls.
pub(super) fn state(state: &State<'_>, pen: &mut Pen<'_>) {
    let State { store, previous, conversation, background, include, include_at: _, truncation } =
        state;
    match store {
        Some(At { pos, value: true }) => {
            pen.ledger.dropped(*pos, Code::ServerState);
        }
        Some(At { pos, value: false }) => {
            pen.ledger.emulated(*pos, Code::ServerState);
        }
        None => {}
    }
    if let Some(previous) = previous {
        pen.ledger.refused(previous.pos(), Code::PreviousResponse);
    }
    if let Some(conversation) = conversation {
        pen.ledger.refused(conversation.pos(), Code::Conversation);
    }
    match background {
        Some(At { pos, value: true }) => {
            pen.ledger.refused(*pos, Code::Background);
        }
        Some(At { pos, value: false }) => {
            let note = pen.ledger.emulated(*pos, Code::Background);
            note.detail("The target always answers at once.");
        }
        None => {}
    }
    for wanted in include {
        if *wanted == *"reasoning.encrypted_content" {
            let note = pen.ledger.emulated(wanted.pos(), Code::Include);
            note.detail("Sealed reasoning is always part of the answer.");
        } else {
            pen.ledger.dropped(wanted.pos(), Code::Include);
        }
    }
    if let Some(truncation) = truncation {
        if *truncation == *"disabled" {
            let note = pen.ledger.emulated(truncation.pos(), Code::Truncation);
            note.detail("The target never shortens a conversation by itself.");
        } else {
            pen.ledger.dropped(truncation.pos(), Code::Truncation);
        }
    }
}

/// Writes `stream`.
pub(super) fn stream(stream: &Stream<'_>, object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let Stream { on, usage, obfuscation, extra } = stream;
    object.maybe("stream", on.as_ref());
    if let Some(usage) = usage {
        let note = pen.ledger.emulated(usage.pos, Code::StreamOptions);
        note.detail("The target always counts tokens at the end of a stream.");
    }
    if let Some(obfuscation) = obfuscation {
        pen.ledger.dropped(obfuscation.pos, Code::StreamOptions).info();
    }
    pen.ledger.only(extra);
}
