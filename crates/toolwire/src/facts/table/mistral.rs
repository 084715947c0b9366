//! What is published about Mistral: table only.

use super::super::{Accepts, Efforts, Media, Row, RowFacts, Source, ThinkingControl, ThinkingOff};
use super::{CHAT, IMAGE, NOTHING};

use Accepts::Always;

const MISTRAL: Source = Source { document: "models.dev: Mistral", protocols: CHAT };

pub(super) const ROWS: &[Row] = &[
    Row {
        models: &["mistral-large-2411"],
        source: MISTRAL,
        facts: RowFacts {
            context_window: Some(131_072),
            media: Some(Media::TEXT),
            ..MISTRAL_WITHOUT_THINKING
        },
    },
    Row {
        models: &["mistral-large", "mistral-large-2512", "mistral-large-3"],
        source: MISTRAL,
        facts: RowFacts {
            context_window: Some(262_144),
            media: Some(IMAGE),
            ..MISTRAL_WITHOUT_THINKING
        },
    },
    Row {
        models: &["mistral-medium-2505"],
        source: MISTRAL,
        facts: RowFacts {
            context_window: Some(131_072),
            media: Some(IMAGE),
            ..MISTRAL_WITHOUT_THINKING
        },
    },
    Row {
        models: &["mistral-medium-2508"],
        source: MISTRAL,
        facts: RowFacts { media: Some(IMAGE), ..MISTRAL_WITHOUT_THINKING },
    },
    Row {
        models: &["mistral-medium-2604", "mistral-medium-3-5"],
        source: MISTRAL,
        facts: RowFacts { context_window: Some(262_144), ..MISTRAL_WITH_EFFORT },
    },
    Row {
        models: &["mistral-medium"],
        source: MISTRAL,
        facts: RowFacts { context_window: Some(262_144), media: Some(IMAGE), ..NOTHING },
    },
    Row {
        models: &["mistral-small-2506"],
        source: MISTRAL,
        facts: RowFacts {
            context_window: Some(128_000),
            media: Some(IMAGE),
            ..MISTRAL_WITHOUT_THINKING
        },
    },
    Row {
        models: &["mistral-small-2603", "mistral-small"],
        source: MISTRAL,
        facts: RowFacts { context_window: Some(256_000), ..MISTRAL_WITH_EFFORT },
    },
    Row {
        models: &["devstral-2512", "devstral", "devstral-medium"],
        source: MISTRAL,
        facts: RowFacts {
            context_window: Some(262_144),
            media: Some(Media::TEXT),
            ..MISTRAL_WITHOUT_THINKING
        },
    },
    Row {
        models: &["devstral-small-2505", "devstral-small-2507", "devstral-medium-2507"],
        source: MISTRAL,
        facts: RowFacts {
            context_window: Some(128_000),
            media: Some(Media::TEXT),
            ..MISTRAL_WITHOUT_THINKING
        },
    },
    Row {
        models: &["codestral", "codestral-2508"],
        source: MISTRAL,
        facts: RowFacts {
            context_window: Some(256_000),
            media: Some(Media::TEXT),
            ..MISTRAL_WITHOUT_THINKING
        },
    },
    Row {
        models: &["magistral-medium", "magistral-small"],
        source: MISTRAL,
        facts: RowFacts {
            thinking: Some(ThinkingControl::Always),
            temperature: Some(Always),
            top_p: Some(Always),
            prefill: Some(Always),
            ..NOTHING
        },
    },
    Row {
        models: &["mistral-nemo", "open-mistral-nemo", "open-mistral-nemo-2407"],
        source: MISTRAL,
        facts: RowFacts {
            context_window: Some(128_000),
            media: Some(Media::TEXT),
            ..MISTRAL_WITHOUT_THINKING
        },
    },
    Row {
        models: &["pixtral-12b", "pixtral-12b-2409", "pixtral-large", "pixtral-large-2411"],
        source: MISTRAL,
        facts: RowFacts {
            context_window: Some(128_000),
            media: Some(IMAGE),
            ..MISTRAL_WITHOUT_THINKING
        },
    },
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
