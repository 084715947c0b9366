//! What is published about Claude: table only.

use super::super::{Accepts, Efforts, Row, RowFacts, Source, ThinkingControl, ThinkingOff};
use super::{IMAGE_AND_DOCUMENT, LOW_TO_HIGH, LOW_TO_MAX, MESSAGES, NOTHING};

use Accepts::{Always, Never, WithoutThinking};

const CLAUDE: Source = Source {
    document: "platform.claude.com: models overview, effort, extended thinking, adaptive thinking, mid-conversation system messages",
    protocols: MESSAGES,
};
const CLAUDE_5: Source = Source {
    document: "platform.claude.com: models overview, effort, thinking, migration guides",
    protocols: MESSAGES,
};

pub(super) const ROWS: &[Row] = &[
    CLAUDE.row(
        &["claude-3-haiku", "claude-3-opus", "claude-3-sonnet"],
        RowFacts { max_output: Some(4_096), ..CLAUDE_WITHOUT_THINKING },
    ),
    CLAUDE.row(
        &["claude-3-5-sonnet", "claude-3-5-haiku", "claude-3.5-sonnet-v2"],
        RowFacts { max_output: Some(8_192), ..CLAUDE_WITHOUT_THINKING },
    ),
    CLAUDE.row(&["claude-3-7-sonnet"], RowFacts { max_output: Some(64_000), ..CLAUDE_WITH_BUDGET }),
    CLAUDE.row(
        &["claude-opus-4", "claude-opus-4-0", "claude-4-opus"],
        RowFacts { max_output: Some(32_000), ..CLAUDE_WITH_BUDGET },
    ),
    CLAUDE.row(
        &["claude-sonnet-4", "claude-sonnet-4-0", "claude-4-sonnet"],
        RowFacts { max_output: Some(64_000), ..CLAUDE_WITH_BUDGET },
    ),
    CLAUDE.row(
        &["claude-opus-4-1", "claude-4-1-opus"],
        RowFacts {
            max_output: Some(32_000),
            temperature_with_top_p: Some(false),
            ..CLAUDE_WITH_BUDGET
        },
    ),
    CLAUDE.row(
        &["claude-sonnet-4-5", "claude-4-5-sonnet", "claude-haiku-4-5", "claude-4-5-haiku"],
        RowFacts {
            max_output: Some(64_000),
            temperature_with_top_p: Some(false),
            ..CLAUDE_WITH_BUDGET
        },
    ),
    CLAUDE.row(
        &["claude-opus-4-5", "claude-4-5-opus"],
        RowFacts {
            max_output: Some(64_000),
            efforts: Some(LOW_TO_HIGH),
            temperature_with_top_p: Some(false),
            ..CLAUDE_WITH_BUDGET
        },
    ),
    CLAUDE.row(
        &["claude-opus-4-6", "claude-4-6-opus"],
        RowFacts { max_output: Some(128_000), ..CLAUDE_4_6 },
    ),
    CLAUDE.row(
        &["claude-sonnet-4-6", "claude-4-6-sonnet"],
        RowFacts { max_output: Some(64_000), ..CLAUDE_4_6 },
    ),
    CLAUDE_5.row(
        &["claude-opus-4-7", "claude-4-7-opus"],
        RowFacts { system_turns: Some(false), ..CLAUDE_ADAPTIVE },
    ),
    CLAUDE_5.row(
        &["claude-opus-4-8", "claude-4-8-opus"],
        RowFacts { system_turns: Some(true), ..CLAUDE_ADAPTIVE },
    ),
    CLAUDE_5.row(
        &["claude-sonnet-5"],
        RowFacts { thinking_off: Some(ThinkingOff::Disabled), ..CLAUDE_ADAPTIVE },
    ),
    CLAUDE_5.row(
        &["claude-opus-5", "claude-haiku-5-5"],
        RowFacts {
            thinking_off: Some(ThinkingOff::Disabled),
            system_turns: Some(true),
            ..CLAUDE_ADAPTIVE
        },
    ),
    CLAUDE_5.row(
        &["claude-fable-5", "claude-mythos-5", "claude-mythos-5-1"],
        RowFacts {
            thinking_off: Some(ThinkingOff::Never),
            system_turns: Some(true),
            ..CLAUDE_ADAPTIVE
        },
    ),
    CLAUDE_5.row(
        &["claude-opus-5-5", "claude-fable-5-1"],
        RowFacts {
            thinking_off: Some(ThinkingOff::Never),
            system_turns: Some(true),
            forced_tools: Some(Never),
            ..CLAUDE_ADAPTIVE
        },
    ),
    CLAUDE_5.row(
        &["claude-sonnet-5-5"],
        RowFacts {
            thinking_off: Some(ThinkingOff::BetweenTools),
            system_turns: Some(true),
            forced_tools: Some(Never),
            ..CLAUDE_ADAPTIVE
        },
    ),
];

const CLAUDE_WITHOUT_THINKING: RowFacts = RowFacts {
    context_window: Some(200_000),
    thinking: Some(ThinkingControl::None),
    efforts: Some(Efforts::EMPTY),
    temperature: Some(Always),
    top_p: Some(Always),
    top_k: Some(Always),
    prefill: Some(Always),
    system_turns: Some(false),
    forced_tools: Some(Always),
    ..NOTHING
};

const CLAUDE_WITH_BUDGET: RowFacts = RowFacts {
    context_window: Some(200_000),
    thinking: Some(ThinkingControl::Budget),
    thinking_off: Some(ThinkingOff::Disabled),
    efforts: Some(Efforts::EMPTY),
    temperature: Some(WithoutThinking),
    top_p: Some(WithoutThinking),
    top_k: Some(WithoutThinking),
    prefill: Some(WithoutThinking),
    system_turns: Some(false),
    forced_tools: Some(WithoutThinking),
    media: Some(IMAGE_AND_DOCUMENT),
    ..NOTHING
};

const CLAUDE_4_6: RowFacts = RowFacts {
    context_window: Some(1_000_000),
    thinking: Some(ThinkingControl::Adaptive),
    efforts: Some(LOW_TO_HIGH.and(Efforts::MAX)),
    temperature_with_top_p: Some(false),
    prefill: Some(Never),
    ..CLAUDE_WITH_BUDGET
};

/// Claude 4.7 and later.
const CLAUDE_ADAPTIVE: RowFacts = RowFacts {
    context_window: Some(1_000_000),
    max_output: Some(128_000),
    thinking: Some(ThinkingControl::Adaptive),
    efforts: Some(LOW_TO_MAX),
    temperature: Some(Never),
    top_p: Some(Never),
    top_k: Some(Never),
    temperature_with_top_p: Some(false),
    prefill: Some(Never),
    media: Some(IMAGE_AND_DOCUMENT),
    ..NOTHING
};
