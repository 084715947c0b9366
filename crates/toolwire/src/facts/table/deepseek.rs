//! What is published about DeepSeek: table only.

use super::super::{Accepts, Efforts, Media, Row, RowFacts, Source, ThinkingControl, ThinkingOff};
use super::{CHAT_AND_MESSAGES, NOTHING};

use Accepts::Always;

const DEEPSEEK: Source = Source {
    document: "api-docs.deepseek.com: models and pricing, thinking mode; models.dev",
    protocols: CHAT_AND_MESSAGES,
};

pub(super) const ROWS: &[Row] = &[
    DEEPSEEK
        .row(&["deepseek-chat"], RowFacts { thinking: Some(ThinkingControl::None), ..DEEPSEEK_V4 }),
    DEEPSEEK.row(
        &["deepseek-reasoner"],
        RowFacts {
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            ..DEEPSEEK_V4
        },
    ),
    DEEPSEEK.row(
        &["deepseek-v4-flash", "deepseek-v4-pro"],
        RowFacts {
            thinking: Some(ThinkingControl::Switch),
            thinking_off: Some(ThinkingOff::Disabled),
            efforts: Some(Efforts::HIGH.and(Efforts::MAX)),
            ..DEEPSEEK_V4
        },
    ),
    DEEPSEEK.row(
        &["deepseek-r1", "deepseek-r1-0528"],
        RowFacts {
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    ),
    DEEPSEEK.row(
        &["deepseek-v3", "deepseek-v3-0324"],
        RowFacts { thinking: Some(ThinkingControl::None), media: Some(Media::TEXT), ..NOTHING },
    ),
    DEEPSEEK.row(
        &["deepseek-v3.1", "deepseek-v3.2"],
        RowFacts { thinking: Some(ThinkingControl::Switch), media: Some(Media::TEXT), ..NOTHING },
    ),
];

const DEEPSEEK_V4: RowFacts = RowFacts {
    context_window: Some(1_000_000),
    max_output: Some(384_000),
    temperature: Some(Always),
    top_p: Some(Always),
    media: Some(Media::TEXT),
    ..NOTHING
};
