//! `thinking` and `output_config`: from the model to Messages.

use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{Display, Effort, Format, JsonSchema, Output, Thinking, ThinkingMode};
use crate::schema::{self, FormatChange};
use crate::wire::{At, Object, Raw, Str};

/// Writes `thinking` and `output_config`.
///
/// `is_tool_forced` says that the model must call a tool, which the API refuses
/// together with thinking.
pub(super) fn write_thinking(
    thinking: &Thinking<'_>,
    is_tool_forced: bool,
    output: &Output<'_>,
    object: &mut Object<'_>,
    context: &mut EncodeContext<'_>,
) {
    let Thinking { at, effort, mode, budget, display, extra } = thinking;
    context.lose(extra);
    let thinks = match mode {
        Some(At { pos: _, value: ThinkingMode::Enabled | ThinkingMode::Adaptive }) => true,
        Some(At {
            pos: _,
            value: ThinkingMode::BetweenTools | ThinkingMode::Disabled | ThinkingMode::Other(_),
        })
        | None => false,
    };
    if thinks && is_tool_forced {
        context.ledger.dropped(*at, Code::ThinkingOffForcedTool);
    } else if let Some(mode) = mode {
        let mut target = object.object("thinking");
        target.put("type", &mode_name(&mode.value));
        target.maybe("budget_tokens", budget.as_ref());
        if let Some(display) = display {
            target.put("display", &display_name(&display.value));
        }
    } else if let Some(display) = display {
        // `display` cannot be sent without a mode of thinking, and which modes
        // a model takes is not known here.
        context.ledger.dropped(display.pos, Code::ReasoningDisplay).info();
    }
    if let Some(budget) = budget.as_ref().filter(|_| mode.is_none()) {
        context.ledger.dropped(budget.pos, Code::ThinkingBudget);
    }
    let level = effort_level(effort.as_ref(), mode.is_some(), object, context);
    let schema = format_schema(output.format.as_ref(), context.ledger);
    if level.is_none() && schema.is_none() {
        return;
    }
    let mut config = object.object("output_config");
    config.maybe("effort", level);
    if let Some(schema) = schema {
        let mut target = config.object("format");
        target.put("type", "json_schema");
        target.put("schema", &schema);
    }
}

/// The effort as the API names it. Says no effort by switching `thinking` off,
/// unless `has_mode` says that `thinking` is decided.
fn effort_level(
    effort: Option<&At<Effort<'_>>>,
    has_mode: bool,
    object: &mut Object<'_>,
    context: &mut EncodeContext<'_>,
) -> Option<&'static str> {
    let At { pos, value } = effort?;
    match value {
        Effort::None if context.profile.thinking_disabled && !has_mode => {
            object.object("thinking").put("type", "disabled");
            let note = context.ledger.emulated(*pos, Code::Effort);
            note.detail("No effort crosses as thinking switched off.");
            None
        }
        Effort::None | Effort::Other(_) => {
            let note = context.ledger.dropped(*pos, Code::Effort);
            note.detail("The target has no such effort level; the model's own is used.");
            None
        }
        Effort::Minimal => {
            context.ledger.degraded(*pos, Code::Effort);
            Some("low")
        }
        Effort::Low => Some("low"),
        Effort::Medium => Some("medium"),
        Effort::High => Some("high"),
        Effort::XHigh => Some("xhigh"),
        Effort::Max => Some("max"),
    }
}

/// The schema that output must fit, if the format is one that the API knows.
fn format_schema<'f>(format: Option<&'f At<Format<'_>>>, ledger: &mut Ledger) -> Option<Raw<'f>> {
    let At { pos, value } = format?;
    match value {
        Format::Text => {
            let note = ledger.emulated(*pos, Code::FormatName);
            note.detail("Free text is what the target gives anyway.");
            None
        }
        Format::JsonObject => {
            ledger.dropped(*pos, Code::JsonMode);
            None
        }
        Format::Other(raw) => {
            ledger.dropped(raw.pos(), Code::UnknownValue);
            None
        }
        Format::JsonSchema(JsonSchema { name, description, schema, strict, extra }) => {
            for label in [name, description].into_iter().flatten() {
                ledger.dropped(label.pos(), Code::FormatName).info();
            }
            if let Some(strict) = strict {
                let note = ledger.emulated(strict.pos, Code::FormatName);
                note.detail("The target always holds the output to its schema.");
            }
            ledger.only(extra);
            let Some(own) = schema else {
                ledger.dropped(*pos, Code::JsonMode);
                return None;
            };
            let moved = schema::definitions(own);
            if moved.is_some() {
                ledger.emulated(own.pos(), Code::SchemaDefinitions);
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
                    let note = ledger.degraded(own.pos(), Code::FormatSchema);
                    note.detail("The target's output formats are of closed objects, so the answer has the listed properties and no others.").info();
                }
                Some(FormatChange::Loosened) => {
                    let note = ledger.degraded(own.pos(), Code::FormatSchema);
                    note.detail("The target cannot hold an answer to bounds, exclusive choices or properties of any name; the schema was sent without.");
                }
                None => {}
            }
            Some(schema)
        }
    }
}

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
