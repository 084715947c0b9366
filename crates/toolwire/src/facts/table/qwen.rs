//! What is published about Qwen: table only.

use super::super::{Accepts, Media, Row, RowFacts, Source, ThinkingControl, ThinkingOff};
use super::{CHAT_AND_MESSAGES, IMAGE, IMAGE_AND_VIDEO, NOTHING};

use Accepts::Always;

const QWEN: Source = Source { document: "models.dev: Alibaba", protocols: CHAT_AND_MESSAGES };

pub(super) const ROWS: &[Row] = &[
    QWEN.row(
        &["qwen-max"],
        RowFacts {
            context_window: Some(32_768),
            max_output: Some(8_192),
            media: Some(Media::TEXT),
            ..QWEN_WITHOUT_THINKING
        },
    ),
    QWEN.row(
        &["qwen-plus", "qwen-flash"],
        RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(32_768),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    ),
    QWEN.row(
        &["qwen-turbo"],
        RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(16_384),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    ),
    QWEN.row(
        &["qwen-vl-max", "qwen-vl-plus"],
        RowFacts {
            context_window: Some(131_072),
            max_output: Some(8_192),
            media: Some(IMAGE),
            ..QWEN_WITHOUT_THINKING
        },
    ),
    QWEN.row(
        &["qwen2.5-*b-instruct"],
        RowFacts {
            context_window: Some(131_072),
            max_output: Some(8_192),
            ..QWEN_WITHOUT_THINKING
        },
    ),
    QWEN.row(
        &["qwen3-8b", "qwen3-14b"],
        RowFacts {
            context_window: Some(131_072),
            max_output: Some(8_192),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    ),
    QWEN.row(
        &["qwen3-32b", "qwen3-30b-a3b", "qwen3-235b-a22b"],
        RowFacts {
            context_window: Some(131_072),
            max_output: Some(16_384),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    ),
    QWEN.row(
        &["qwen3-coder-30b-a3b-instruct", "qwen3-coder-480b-a35b-instruct"],
        RowFacts {
            context_window: Some(262_144),
            max_output: Some(65_536),
            media: Some(Media::TEXT),
            ..QWEN_WITHOUT_THINKING
        },
    ),
    QWEN.row(
        &["qwen3-coder-flash", "qwen3-coder-plus"],
        RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(65_536),
            media: Some(Media::TEXT),
            ..QWEN_WITHOUT_THINKING
        },
    ),
    QWEN.row(
        &["qwen3-max"],
        RowFacts {
            context_window: Some(262_144),
            max_output: Some(65_536),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    ),
    QWEN.row(
        &["qwen3-next-80b-a3b-instruct"],
        RowFacts {
            context_window: Some(131_072),
            max_output: Some(32_768),
            media: Some(Media::TEXT),
            ..QWEN_WITHOUT_THINKING
        },
    ),
    QWEN.row(
        &["qwen3-next-80b-a3b-thinking"],
        RowFacts {
            context_window: Some(131_072),
            max_output: Some(32_768),
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            temperature: Some(Always),
            top_p: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    ),
    QWEN.row(
        &["qwen3-vl-plus"],
        RowFacts {
            context_window: Some(262_144),
            max_output: Some(32_768),
            media: Some(IMAGE),
            ..QWEN_WITH_SWITCH
        },
    ),
    QWEN.row(
        &[
            "qwen3.5-27b", "qwen3.5-35b-a3b", "qwen3.5-122b-a10b", "qwen3.5-397b-a17b",
            "qwen3.6-27b", "qwen3.6-35b-a3b",
        ],
        RowFacts { context_window: Some(262_144), max_output: Some(65_536), ..QWEN_WITH_SWITCH },
    ),
    QWEN.row(
        &["qwen3.5-plus", "qwen3.6-plus", "qwen3.6-flash", "qwen3.7-plus"],
        RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(65_536),
            media: Some(IMAGE_AND_VIDEO),
            ..QWEN_WITH_SWITCH
        },
    ),
    QWEN.row(
        &["qwen3.6-max-preview"],
        RowFacts {
            context_window: Some(262_144),
            max_output: Some(65_536),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    ),
    QWEN.row(
        &["qwen3.7-max"],
        RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(65_536),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    ),
    Row {
        models: &["qwen3.8-max"],
        source: Source {
            document: "qwencloud.com: Qwen3.8-Max; docs.apiyi.com: Qwen3.8-Max",
            ..QWEN
        },
        facts: RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(131_072),
            media: Some(IMAGE_AND_VIDEO),
            ..QWEN_WITH_SWITCH
        },
    },
];

const QWEN_WITHOUT_THINKING: RowFacts = RowFacts {
    thinking: Some(ThinkingControl::None),
    temperature: Some(Always),
    top_p: Some(Always),
    ..NOTHING
};

const QWEN_WITH_SWITCH: RowFacts = RowFacts {
    thinking: Some(ThinkingControl::Switch),
    thinking_off: Some(ThinkingOff::Disabled),
    temperature: Some(Always),
    top_p: Some(Always),
    ..NOTHING
};
