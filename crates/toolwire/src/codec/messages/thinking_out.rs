//! `thinking` and `output_config`: from the model to Messages.

use crate::codec::context::EncodeContext;
use crate::facts::ThinkingControl;
use crate::ledger::{Code, Ledger};
use crate::model::{
    Display, Effort, Format, Issuer, Item, JsonSchema, Output, Role, Thinking, ThinkingMode, Turn,
};
use crate::schema::{self, FormatChange};
use crate::wire::{At, Object, Pos, Raw, Str};

/// How the model is to think.
///
/// A client of another protocol that asks for reasoning is asking for thinking. How
/// a model is made to think is a fact about the model, and where it is not known,
/// nothing is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThinkingPlan {
    /// As the model does when nothing is said.
    Unspecified,
    /// As the client says in the target's own words.
    Own { thinks: bool },
    /// As the model sees fit.
    Adaptive,
    /// With this many tokens.
    Budget(u64),
    /// Not, because the API refuses it together with something else.
    Refused,
}

impl ThinkingPlan {
    /// Decides. `is_tool_forced` says that the model must call a tool, which the API
    /// refuses together with thinking.
    pub(super) fn of(
        thinking: &Thinking<'_>,
        is_tool_forced: bool,
        turns: &[Turn<'_>],
        output: &Output<'_>,
        cx: &mut EncodeContext<'_>,
    ) -> Self {
        let Thinking { at, effort, mode, budget: _, display, extra: _ } = thinking;
        if let Some(mode) = mode {
            let thinks = match mode.value {
                ThinkingMode::Enabled | ThinkingMode::Adaptive => true,
                ThinkingMode::BetweenTools | ThinkingMode::Disabled | ThinkingMode::Other(_) => {
                    false
                }
            };
            if thinks && is_tool_forced {
                cx.ledger.dropped(*at, Code::ThinkingOffForcedTool);
                return Self::Refused;
            }
            return Self::Own { thinks };
        }
        let Some(asked) = asked_at(effort.as_ref(), display.as_ref()) else {
            return Self::Unspecified;
        };
        let control = match cx.profile.model.thinking.map(|fact| fact.value) {
            Some(control @ (ThinkingControl::Budget | ThinkingControl::Adaptive)) => control,
            Some(
                ThinkingControl::None
                | ThinkingControl::Always
                | ThinkingControl::Switch
                | ThinkingControl::Effort,
            )
            | None => return Self::Unspecified,
        };
        if is_tool_forced {
            cx.ledger.dropped(asked, Code::ThinkingOffForcedTool);
            return Self::Refused;
        }
        if control == ThinkingControl::Adaptive {
            return Self::Adaptive;
        }
        if forgets_thinking(turns) {
            let note = cx.ledger.dropped(asked, Code::ThinkingMode);
            note.detail("The model goes on thinking behind its calls only if it gets back what it thought before them.");
            return Self::Refused;
        }
        let limit = output.max_tokens.map_or(cx.profile.default_max_tokens, |most| most.value);
        match budget_for(effort.as_ref().map(|effort| &effort.value), limit) {
            Some(budget) => Self::Budget(budget),
            None => {
                let note = cx.ledger.dropped(asked, Code::ThinkingMode);
                note.detail("The limit on tokens is too low for thinking.");
                Self::Refused
            }
        }
    }

    /// Whether the model is made to think.
    pub(super) fn thinks(self) -> bool {
        match self {
            Self::Own { thinks } => thinks,
            Self::Adaptive | Self::Budget(_) => true,
            Self::Unspecified | Self::Refused => false,
        }
    }

    /// Writes `thinking` and `output_config`.
    pub(super) fn write(
        self,
        thinking: &Thinking<'_>,
        output: &Output<'_>,
        object: &mut Object<'_>,
        cx: &mut EncodeContext<'_>,
    ) {
        let Thinking { at: _, effort, mode, budget, display, extra } = thinking;
        cx.ledger.only(extra);
        self.write_mode(mode.as_ref(), budget.as_ref(), display.as_ref(), object, cx);
        if let Some(budget) = budget.as_ref().filter(|_| mode.is_none()) {
            cx.ledger.dropped(budget.pos, Code::ThinkingBudget);
        }
        let level = self.effort_level(effort.as_ref(), object, cx);
        let schema = format_schema(output.format.as_ref(), cx.ledger);
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

    fn write_mode(
        self,
        mode: Option<&At<ThinkingMode<'_>>>,
        budget: Option<&At<u64>>,
        display: Option<&At<Display<'_>>>,
        object: &mut Object<'_>,
        cx: &mut EncodeContext<'_>,
    ) {
        let made = At::made;
        let (mode, budget) = match (self, mode) {
            (Self::Own { thinks: _ }, Some(mode)) => (mode_name(&mode.value), budget.copied()),
            (Self::Adaptive, _) => (mode_name(&ThinkingMode::Adaptive), None),
            (Self::Budget(tokens), _) => (mode_name(&ThinkingMode::Enabled), Some(made(tokens))),
            (Self::Own { thinks: _ } | Self::Unspecified | Self::Refused, _) => {
                // `display` cannot be sent without a mode of thinking.
                if let Some(display) = display.filter(|_| mode.is_none()) {
                    cx.ledger.dropped(display.pos, Code::ReasoningDisplay).info();
                }
                return;
            }
        };
        let mut target = object.object("thinking");
        target.put("type", &mode);
        target.maybe("budget_tokens", budget.as_ref());
        if let Some(display) = display {
            target.put("display", &display_name(&display.value));
        }
    }

    /// The effort as the API names it. Says no effort by switching `thinking` off,
    /// unless `thinking` is decided.
    fn effort_level(
        self,
        effort: Option<&At<Effort<'_>>>,
        object: &mut Object<'_>,
        cx: &mut EncodeContext<'_>,
    ) -> Option<&'static str> {
        let At { pos, value } = effort?;
        let facts = cx.profile.model;
        if *value == Effort::None && self == Self::Unspecified {
            let thinks_unasked = match facts.thinking.map(|fact| fact.value) {
                Some(ThinkingControl::Budget | ThinkingControl::None) => false,
                Some(
                    ThinkingControl::Always
                    | ThinkingControl::Switch
                    | ThinkingControl::Effort
                    | ThinkingControl::Adaptive,
                )
                | None => true,
            };
            if !thinks_unasked {
                let note = cx.ledger.emulated(*pos, Code::Effort);
                note.detail("The model does not think unless it is asked to.");
                return None;
            }
            if cx.profile.thinking_disabled {
                object.object("thinking").put("type", "disabled");
                let note = cx.ledger.emulated(*pos, Code::Effort);
                note.detail("No effort crosses as thinking switched off.");
                return None;
            }
        }
        if matches!(value, Effort::None | Effort::Other(_)) {
            let note = cx.ledger.dropped(*pos, Code::Effort);
            note.detail("The target has no such effort level; the model's own is used.");
            return None;
        }
        let Some(known) = facts.efforts.map(|fact| fact.value) else {
            return plain_level(value, *pos, cx.ledger);
        };
        match (known.nearest(value), self) {
            (Some(level), _) => {
                if !known.contains(value) {
                    cx.ledger.degraded(*pos, Code::Effort);
                }
                Some(level)
            }
            (None, Self::Budget(_)) => {
                let note = cx.ledger.degraded(*pos, Code::Effort).info();
                note.detail("The model takes a number of tokens instead of an effort.");
                None
            }
            // It is reported why the model does not think.
            (None, Self::Refused) => None,
            (None, _) => {
                let note = cx.ledger.dropped(*pos, Code::Effort);
                note.detail("The model takes no effort.");
                None
            }
        }
    }
}

/// The level for a model about which nothing is known.
fn plain_level(effort: &Effort<'_>, at: Pos, ledger: &mut Ledger) -> Option<&'static str> {
    match effort {
        Effort::None | Effort::Other(_) => None,
        Effort::Minimal => {
            ledger.degraded(at, Code::Effort);
            Some("low")
        }
        Effort::Low => Some("low"),
        Effort::Medium => Some("medium"),
        Effort::High => Some("high"),
        Effort::XHigh => Some("xhigh"),
        Effort::Max => Some("max"),
    }
}

/// Where a client asks for reasoning, if it does.
fn asked_at(effort: Option<&At<Effort<'_>>>, display: Option<&At<Display<'_>>>) -> Option<Pos> {
    let effort = effort.map(|effort| match effort.value {
        Effort::None | Effort::Other(_) => None,
        Effort::Minimal
        | Effort::Low
        | Effort::Medium
        | Effort::High
        | Effort::XHigh
        | Effort::Max => Some(effort.pos),
    });
    let display = display.and_then(|display| match display.value {
        Display::Summary | Display::Concise | Display::Detailed => Some(display.pos),
        Display::Omitted | Display::Other(_) => None,
    });
    // No effort means no reasoning, whatever is to be shown of it.
    effort.unwrap_or(display)
}

/// Whether the model is in the middle of its calls and what it thought before them
/// is gone. A model that thinks with a budget refuses to go on then.
fn forgets_thinking(turns: &[Turn<'_>]) -> bool {
    let is_results = |turn: &&Turn<'_>| {
        !turn.items.is_empty() && turn.items.iter().all(|item| matches!(item, Item::Result(_)))
    };
    // A model that thinks gets no begun answer, so what stands before one is then the
    // end of the conversation.
    let has_calls = |turn: &Turn<'_>| turn.items.iter().any(|item| matches!(item, Item::Call(_)));
    let is_begun = |turn: &&Turn<'_>| turn.role == Role::Assistant && !has_calls(turn);
    let mut turns = turns.iter().rev().skip_while(is_begun).peekable();
    if turns.next_if(is_results).is_none() {
        return false;
    }
    let since_user = turns.take_while(|turn| turn.role == Role::Assistant || is_results(turn));
    let items: Vec<_> = since_user.flat_map(|turn| &turn.items).collect();
    let is_called = items.iter().any(|item| matches!(item, Item::Call(_)));
    let is_ours = |item: &&Item<'_>| {
        let sealed = item.reasoning().and_then(|reasoning| reasoning.sealed.as_ref());
        sealed.is_some_and(|sealed| sealed.issuer == Issuer::Anthropic)
    };
    is_called && !items.iter().any(is_ours)
}

/// How many tokens an effort is worth, below the limit and with room for the
/// answer. `None` if the limit leaves too little.
fn budget_for(effort: Option<&Effort<'_>>, limit: u64) -> Option<u64> {
    let wanted = match effort {
        Some(Effort::Minimal) => LEAST_BUDGET,
        Some(Effort::Low) => 2_048,
        Some(Effort::High) => 16_384,
        Some(Effort::XHigh) => 32_000,
        Some(Effort::Max) => 64_000,
        Some(Effort::Medium | Effort::None | Effort::Other(_)) | None => 8_192,
    };
    let most = (limit / 2).max(LEAST_BUDGET);
    (limit > LEAST_BUDGET).then(|| wanted.min(most))
}

/// The API refuses less.
const LEAST_BUDGET: u64 = 1_024;

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
            ledger.only(extra);
            let Some(own) = schema else {
                ledger.dropped(*pos, Code::JsonMode);
                lose_strict(strict.as_ref(), ledger);
                return None;
            };
            let moved = schema::definitions(own);
            let (schema, change) = match &moved {
                Some(moved) => {
                    let (schema, change) = schema::output_format(moved);
                    (schema.into_owned(), change)
                }
                None => schema::output_format(own),
            };
            if !schema::fits_anthropic_format(&schema) {
                let note = ledger.dropped(own.pos(), Code::JsonMode);
                note.detail("The target cannot hold an answer to a recursive schema, to references out of it or inside an allOf, or to an enum of objects or lists.");
                lose_strict(strict.as_ref(), ledger);
                return None;
            }
            if let Some(strict) = strict {
                let note = ledger.emulated(strict.pos, Code::FormatName);
                note.detail("The target always holds the output to its schema.");
            }
            if moved.is_some() {
                ledger.emulated(own.pos(), Code::SchemaDefinitions);
            }
            match change {
                Some(FormatChange::Reworded) => {
                    let note = ledger.emulated(own.pos(), Code::FormatSchema);
                    note.detail("The target takes no reference inside an allOf; an anyOf of one schema means the same.");
                }
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

/// Reports how strictly a format was meant that is not sent.
fn lose_strict(strict: Option<&At<bool>>, ledger: &mut Ledger) {
    if let Some(strict) = strict {
        ledger.dropped(strict.pos, Code::JsonMode).detail("The format was not sent.");
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
