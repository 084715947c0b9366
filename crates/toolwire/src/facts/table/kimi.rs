//! What is published about Kimi: table only.

use super::super::{Accepts, Efforts, Media, Row, RowFacts, Source, ThinkingControl, ThinkingOff};
use super::{CHAT_AND_MESSAGES, IMAGE_AND_VIDEO, NOTHING};

use Accepts::{Always, Never};

const KIMI: Source = Source {
    document: "platform.kimi.ai: models, parameters; models.dev",
    protocols: CHAT_AND_MESSAGES,
};

pub(super) const ROWS: &[Row] = &[
    KIMI.row(
        &["kimi-k2-0711-preview"],
        RowFacts {
            context_window: Some(131_072),
            thinking: Some(ThinkingControl::None),
            reads_call_ids: Some(true),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    ),
    KIMI.row(
        &["kimi-k2-0905-preview", "kimi-k2-turbo-preview", "kimi-k2-instruct-0905", "kimi-k2-0905"],
        RowFacts {
            context_window: Some(262_144),
            thinking: Some(ThinkingControl::None),
            temperature: Some(Always),
            reads_call_ids: Some(true),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    ),
    KIMI.row(
        &["kimi-k2-thinking", "kimi-k2-thinking-turbo"],
        RowFacts {
            context_window: Some(262_144),
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            temperature: Some(Always),
            reads_call_ids: Some(true),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    ),
    KIMI.row(
        &["kimi-k2.5"],
        RowFacts {
            context_window: Some(262_144),
            thinking: Some(ThinkingControl::Switch),
            thinking_off: Some(ThinkingOff::Disabled),
            temperature: Some(Never),
            reads_call_ids: Some(true),
            media: Some(IMAGE_AND_VIDEO),
            ..NOTHING
        },
    ),
    KIMI.row(
        &["kimi-k2.6"],
        RowFacts {
            context_window: Some(262_144),
            thinking: Some(ThinkingControl::Switch),
            thinking_off: Some(ThinkingOff::Disabled),
            reads_call_ids: Some(true),
            media: Some(IMAGE_AND_VIDEO),
            ..NOTHING
        },
    ),
    KIMI.row(
        &["kimi-k2.7-code", "kimi-k2.7-code-highspeed"],
        RowFacts {
            context_window: Some(262_144),
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            temperature: Some(Never),
            reads_call_ids: Some(true),
            media: Some(IMAGE_AND_VIDEO),
            ..NOTHING
        },
    ),
    KIMI.row(
        &["kimi-k3", "kimi-k3.1-pro", "kimi-k3.1-pro-highspeed"],
        RowFacts {
            context_window: Some(1_048_576),
            thinking: Some(ThinkingControl::Effort),
            thinking_off: Some(ThinkingOff::Never),
            efforts: Some(Efforts::LOW.and(Efforts::HIGH).and(Efforts::MAX)),
            temperature: Some(Never),
            top_p: Some(Never),
            ..NOTHING
        },
    ),
];
