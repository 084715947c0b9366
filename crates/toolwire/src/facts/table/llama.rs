//! What is published about Llama: table only. How long an answer may be is up to whoever runs it.

use super::super::{Accepts, Media, Row, RowFacts, Source, ThinkingControl};
use super::{CHAT, IMAGE, NOTHING};

use Accepts::Always;

const LLAMA: Source = Source { document: "llama.com: model cards; models.dev", protocols: CHAT };

pub(super) const ROWS: &[Row] = &[
    LLAMA.row(
        &[
            "llama-3.1-*b-instruct",
            "meta-llama-3.1-*b-instruct",
            "llama3.1-*b-instruct",
            "llama-3.1-8b-instant",
            "llama-3.3-70b-instruct",
            "llama3.3-70b-instruct",
            "llama-3.3-70b-versatile",
            "llama-3.2-1b-instruct",
            "llama-3.2-3b-instruct",
            "llama3.1",
            "llama3.3",
        ],
        RowFacts { context_window: Some(131_072), media: Some(Media::TEXT), ..LLAMA_ANY },
    ),
    LLAMA.row(
        &["llama-3.2-*b-vision-instruct"],
        RowFacts { context_window: Some(131_072), media: Some(IMAGE), ..LLAMA_ANY },
    ),
    LLAMA.row(
        &["llama-4-scout*", "llama-4-maverick*", "llama4-scout*", "llama4-maverick*"],
        RowFacts { media: Some(IMAGE), ..LLAMA_ANY },
    ),
];

const LLAMA_ANY: RowFacts = RowFacts {
    thinking: Some(ThinkingControl::None),
    temperature: Some(Always),
    top_p: Some(Always),
    ..NOTHING
};
