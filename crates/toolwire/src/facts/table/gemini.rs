//! What is published about Gemini: table only.

use super::super::{Accepts, Efforts, Row, RowFacts, Source, ThinkingControl, ThinkingOff};
use super::{CHAT, EVERYTHING, LOW_TO_HIGH, NOTHING};

use Accepts::Always;

const GEMINI: Source = Source {
    document: "ai.google.dev: Gemini models, thinking, OpenAI compatibility",
    protocols: CHAT,
};

pub(super) const ROWS: &[Row] = &[
    GEMINI.row(
        &[
            "gemini-2.0-flash",
            "gemini-2.0-flash-001",
            "gemini-2.0-flash-lite",
            "gemini-2.0-flash-lite-001",
        ],
        RowFacts { max_output: Some(8_192), thinking: Some(ThinkingControl::None), ..GEMINI_ANY },
    ),
    GEMINI.row(
        &["gemini-2.5-pro"],
        RowFacts {
            thinking: Some(ThinkingControl::Budget),
            thinking_off: Some(ThinkingOff::Never),
            efforts: Some(Efforts::MINIMAL.and(LOW_TO_HIGH)),
            ..GEMINI_ANY
        },
    ),
    GEMINI.row(
        &[
            "gemini-2.5-flash",
            "gemini-2.5-flash-lite",
            "gemini-2.5-flash-preview-09-2025",
            "gemini-2.5-flash-lite-preview-09-2025",
        ],
        RowFacts {
            thinking: Some(ThinkingControl::Budget),
            thinking_off: Some(ThinkingOff::Disabled),
            efforts: Some(Efforts::NONE.and(Efforts::MINIMAL).and(LOW_TO_HIGH)),
            ..GEMINI_ANY
        },
    ),
    GEMINI.row(
        &["gemini-3-pro", "gemini-3-pro-preview"],
        RowFacts {
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(Efforts::LOW.and(Efforts::HIGH)),
            ..GEMINI_ANY
        },
    ),
    GEMINI.row(
        &["gemini-3.1-pro", "gemini-3.1-pro-preview", "gemini-3.1-pro-preview-customtools"],
        RowFacts {
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(LOW_TO_HIGH),
            ..GEMINI_ANY
        },
    ),
    GEMINI.row(
        &[
            "gemini-3-flash",
            "gemini-3-flash-preview",
            "gemini-3.1-flash-lite",
            "gemini-3.1-flash-lite-preview",
            "gemini-3.5-flash",
        ],
        RowFacts {
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(Efforts::MINIMAL.and(LOW_TO_HIGH)),
            ..GEMINI_ANY
        },
    ),
    GEMINI.row(
        &["gemini-3.5-flash-lite", "gemini-3.6-flash"],
        RowFacts { thinking: Some(ThinkingControl::Effort), ..GEMINI_ANY },
    ),
    GEMINI.row(
        &["gemini-4-argon"],
        RowFacts {
            context_window: Some(1_048_576),
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(LOW_TO_HIGH),
            ..NOTHING
        },
    ),
];

const GEMINI_ANY: RowFacts = RowFacts {
    context_window: Some(1_048_576),
    max_output: Some(65_536),
    temperature: Some(Always),
    top_p: Some(Always),
    temperature_with_top_p: Some(true),
    media: Some(EVERYTHING),
    ..NOTHING
};
