//! What is published about GLM: table only.

use super::super::{Accepts, Efforts, Media, Row, RowFacts, Source, ThinkingControl, ThinkingOff};
use super::{CHAT_AND_MESSAGES, IMAGE_AND_VIDEO, NOTHING};

use Accepts::Always;

const GLM: Source =
    Source { document: "docs.z.ai: models; models.dev", protocols: CHAT_AND_MESSAGES };

pub(super) const ROWS: &[Row] = &[
    GLM.row(
        &["glm-4.5", "glm-4.5-air", "glm-4.5-flash"],
        RowFacts {
            context_window: Some(131_072),
            max_output: Some(98_304),
            media: Some(Media::TEXT),
            ..GLM_WITH_SWITCH
        },
    ),
    GLM.row(
        &["glm-4.5v"],
        RowFacts {
            context_window: Some(64_000),
            max_output: Some(16_384),
            media: Some(IMAGE_AND_VIDEO),
            ..GLM_WITH_SWITCH
        },
    ),
    GLM.row(
        &["glm-4.6v"],
        RowFacts {
            context_window: Some(128_000),
            max_output: Some(32_768),
            media: Some(IMAGE_AND_VIDEO),
            ..GLM_WITH_SWITCH
        },
    ),
    GLM.row(
        &[
            "glm-4.6", "glm-4.7", "glm-4.7-flash", "glm-4.7-flashx", "glm-5", "glm-5-turbo",
            "glm-5.1",
        ],
        RowFacts {
            context_window: Some(200_000),
            max_output: Some(131_072),
            media: Some(Media::TEXT),
            ..GLM_WITH_SWITCH
        },
    ),
    GLM.row(
        &["glm-5v-turbo"],
        RowFacts {
            context_window: Some(200_000),
            max_output: Some(131_072),
            media: Some(IMAGE_AND_VIDEO.and(Media::DOCUMENT)),
            ..GLM_WITH_SWITCH
        },
    ),
    GLM.row(
        &["glm-5.2"],
        RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(131_072),
            efforts: Some(Efforts::HIGH.and(Efforts::MAX)),
            media: Some(Media::TEXT),
            ..GLM_WITH_SWITCH
        },
    ),
    GLM.row(
        &["glm-5.3"],
        RowFacts {
            context_window: Some(1_048_576),
            max_output: Some(131_072),
            thinking: Some(ThinkingControl::Effort),
            thinking_off: Some(ThinkingOff::Never),
            efforts: Some(Efforts::LOW.and(Efforts::HIGH).and(Efforts::MAX)),
            temperature: Some(Always),
            top_p: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    ),
];

const GLM_WITH_SWITCH: RowFacts = RowFacts {
    thinking: Some(ThinkingControl::Switch),
    thinking_off: Some(ThinkingOff::Disabled),
    temperature: Some(Always),
    top_p: Some(Always),
    ..NOTHING
};
