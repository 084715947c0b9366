//! What is published about Mistral: table only.

use super::super::{Accepts, Efforts, Media, Row, RowFacts, Source, ThinkingControl, ThinkingOff};
use super::{CHAT, IMAGE, NOTHING};

use Accepts::Always;

const MISTRAL: Source = Source { document: "models.dev: Mistral", protocols: CHAT };

pub(super) const ROWS: &[Row] = &[
    MISTRAL.row(
        &["mistral-large-2411"],
        RowFacts {
            context_window: Some(131_072),
            media: Some(Media::TEXT),
            ..MISTRAL_WITHOUT_THINKING
        },
    ),
    MISTRAL.row(
        &["mistral-large", "mistral-large-2512", "mistral-large-3"],
        RowFacts { context_window: Some(262_144), media: Some(IMAGE), ..MISTRAL_WITHOUT_THINKING },
    ),
    MISTRAL.row(
        &["mistral-medium-2505"],
        RowFacts { context_window: Some(131_072), media: Some(IMAGE), ..MISTRAL_WITHOUT_THINKING },
    ),
    MISTRAL
        .row(&["mistral-medium-2508"], RowFacts { media: Some(IMAGE), ..MISTRAL_WITHOUT_THINKING }),
    MISTRAL.row(
        &["mistral-medium-2604", "mistral-medium-3-5"],
        RowFacts { context_window: Some(262_144), ..MISTRAL_WITH_EFFORT },
    ),
    MISTRAL.row(
        &["mistral-medium"],
        RowFacts { context_window: Some(262_144), media: Some(IMAGE), ..NOTHING },
    ),
    MISTRAL.row(
        &["mistral-small-2506"],
        RowFacts { context_window: Some(128_000), media: Some(IMAGE), ..MISTRAL_WITHOUT_THINKING },
    ),
    MISTRAL.row(
        &["mistral-small-2603", "mistral-small"],
        RowFacts { context_window: Some(256_000), ..MISTRAL_WITH_EFFORT },
    ),
    MISTRAL.row(
        &["devstral-2512", "devstral", "devstral-medium"],
        RowFacts {
            context_window: Some(262_144),
            media: Some(Media::TEXT),
            ..MISTRAL_WITHOUT_THINKING
        },
    ),
    MISTRAL.row(
        &["devstral-small-2505", "devstral-small-2507", "devstral-medium-2507"],
        RowFacts {
            context_window: Some(128_000),
            media: Some(Media::TEXT),
            ..MISTRAL_WITHOUT_THINKING
        },
    ),
    MISTRAL.row(
        &["codestral", "codestral-2508"],
        RowFacts {
            context_window: Some(256_000),
            media: Some(Media::TEXT),
            ..MISTRAL_WITHOUT_THINKING
        },
    ),
    MISTRAL.row(
        &["magistral-medium", "magistral-small"],
        RowFacts {
            thinking: Some(ThinkingControl::Always),
            temperature: Some(Always),
            top_p: Some(Always),
            prefill: Some(Always),
            ..NOTHING
        },
    ),
    MISTRAL.row(
        &["mistral-nemo", "open-mistral-nemo", "open-mistral-nemo-2407"],
        RowFacts {
            context_window: Some(128_000),
            media: Some(Media::TEXT),
            ..MISTRAL_WITHOUT_THINKING
        },
    ),
    MISTRAL.row(
        &["pixtral-12b", "pixtral-12b-2409", "pixtral-large", "pixtral-large-2411"],
        RowFacts { context_window: Some(128_000), media: Some(IMAGE), ..MISTRAL_WITHOUT_THINKING },
    ),
];

const MISTRAL_WITHOUT_THINKING: RowFacts = RowFacts {
    thinking: Some(ThinkingControl::None),
    temperature: Some(Always),
    top_p: Some(Always),
    prefill: Some(Always),
    ..NOTHING
};

const MISTRAL_WITH_EFFORT: RowFacts = RowFacts {
    thinking: Some(ThinkingControl::Effort),
    thinking_off: Some(ThinkingOff::Disabled),
    efforts: Some(Efforts::NONE.and(Efforts::HIGH)),
    temperature: Some(Always),
    media: Some(IMAGE),
    ..NOTHING
};
