//! What is published about Grok: table only.

use super::super::{Accepts, Efforts, Media, Row, RowFacts, Source, ThinkingControl, ThinkingOff};
use super::{IMAGE, IMAGE_AND_DOCUMENT, LOW_TO_HIGH, LOW_TO_XHIGH, NOTHING, OPENAI_APIS};

use Accepts::Always;

const GROK: Source = Source { document: "docs.x.ai: models; models.dev", protocols: OPENAI_APIS };

pub(super) const ROWS: &[Row] = &[
    GROK.row(
        &["grok-3", "grok-3-fast", "grok-3-beta"],
        RowFacts {
            context_window: Some(131_072),
            thinking: Some(ThinkingControl::None),
            temperature: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    ),
    GROK.row(
        &["grok-3-mini", "grok-3-mini-fast", "grok-3-mini-beta"],
        RowFacts {
            context_window: Some(131_072),
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(Efforts::LOW.and(Efforts::HIGH)),
            temperature: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    ),
    GROK.row(
        &["grok-4", "grok-4-0709"],
        RowFacts {
            context_window: Some(256_000),
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            efforts: Some(Efforts::EMPTY),
            media: Some(IMAGE),
            ..NOTHING
        },
    ),
    GROK.row(
        &["grok-code-fast", "grok-code-fast-1", "grok-build-0.1"],
        RowFacts {
            context_window: Some(256_000),
            thinking: Some(ThinkingControl::Always),
            ..NOTHING
        },
    ),
    GROK.row(
        &["grok-4-fast-reasoning", "grok-4-1-fast-reasoning", "grok-4-1-fast"],
        RowFacts {
            context_window: Some(2_000_000),
            thinking: Some(ThinkingControl::Always),
            ..NOTHING
        },
    ),
    GROK.row(
        &["grok-4-fast-non-reasoning", "grok-4-1-fast-non-reasoning"],
        RowFacts {
            context_window: Some(2_000_000),
            thinking: Some(ThinkingControl::None),
            ..NOTHING
        },
    ),
    GROK.row(
        &["grok-4.20-0309-reasoning"],
        RowFacts {
            context_window: Some(1_000_000),
            thinking: Some(ThinkingControl::Always),
            temperature: Some(Always),
            media: Some(IMAGE_AND_DOCUMENT),
            ..NOTHING
        },
    ),
    GROK.row(
        &["grok-4.20-0309-non-reasoning"],
        RowFacts {
            context_window: Some(1_000_000),
            thinking: Some(ThinkingControl::None),
            temperature: Some(Always),
            media: Some(IMAGE_AND_DOCUMENT),
            ..NOTHING
        },
    ),
    GROK.row(
        &["grok-4.3"],
        RowFacts {
            context_window: Some(1_000_000),
            thinking: Some(ThinkingControl::Effort),
            thinking_off: Some(ThinkingOff::Disabled),
            efforts: Some(Efforts::NONE.and(LOW_TO_HIGH)),
            temperature: Some(Always),
            media: Some(IMAGE_AND_DOCUMENT),
            ..NOTHING
        },
    ),
    GROK.row(
        &["grok-4.5"],
        RowFacts {
            context_window: Some(500_000),
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(LOW_TO_HIGH),
            media: Some(IMAGE),
            ..NOTHING
        },
    ),
    GROK.row(
        &["grok-4.6", "grok-4.7"],
        RowFacts {
            context_window: Some(500_000),
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(LOW_TO_XHIGH),
            ..NOTHING
        },
    ),
];
