//! What is published about GPT and o: table only.

use super::super::{Accepts, Efforts, Media, Row, RowFacts, Source, ThinkingControl, ThinkingOff};
use super::{
    IMAGE, IMAGE_AND_DOCUMENT, LOW_TO_HIGH, LOW_TO_MAX, LOW_TO_XHIGH, NOTHING, OPENAI_APIS,
};

use Accepts::{Always, Never, WithoutThinking};

const OPENAI: Source = Source {
    document: "developers.openai.com: models, reasoning guide, file inputs",
    protocols: OPENAI_APIS,
};
const OPENAI_6: Source = Source {
    document: "developers.openai.com: models, using GPT-6; docs.litellm.ai: GPT-6",
    protocols: OPENAI_APIS,
};

pub(super) const ROWS: &[Row] = &[
    OPENAI.row(
        &["gpt-3.5-turbo"],
        RowFacts {
            context_window: Some(16_385),
            max_output: Some(4_096),
            media: Some(Media::TEXT),
            ..GPT_WITHOUT_THINKING
        },
    ),
    OPENAI.row(
        &["gpt-4", "gpt-4-0613"],
        RowFacts { context_window: Some(8_192), media: Some(Media::TEXT), ..GPT_WITHOUT_THINKING },
    ),
    OPENAI.row(
        &["gpt-4-turbo"],
        RowFacts {
            context_window: Some(128_000),
            max_output: Some(4_096),
            media: Some(IMAGE),
            ..GPT_WITHOUT_THINKING
        },
    ),
    OPENAI.row(
        &["gpt-4o", "gpt-4o-mini", "chatgpt-4o"],
        RowFacts {
            context_window: Some(128_000),
            max_output: Some(16_384),
            media: Some(IMAGE_AND_DOCUMENT),
            ..GPT_WITHOUT_THINKING
        },
    ),
    OPENAI.row(
        &["gpt-4o-2024-05-13"],
        RowFacts {
            context_window: Some(128_000),
            max_output: Some(4_096),
            media: Some(IMAGE_AND_DOCUMENT),
            ..GPT_WITHOUT_THINKING
        },
    ),
    OPENAI.row(
        &["gpt-audio", "gpt-audio-mini", "gpt-4o-audio-preview", "gpt-4o-mini-audio-preview"],
        RowFacts {
            context_window: Some(128_000),
            max_output: Some(16_384),
            media: Some(Media::AUDIO),
            ..GPT_WITHOUT_THINKING
        },
    ),
    OPENAI.row(
        &["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"],
        RowFacts {
            context_window: Some(1_047_576),
            max_output: Some(32_768),
            media: Some(IMAGE_AND_DOCUMENT),
            ..GPT_WITHOUT_THINKING
        },
    ),
    OPENAI.row(&["o1"], RowFacts { media: Some(IMAGE_AND_DOCUMENT), ..O_SERIES }),
    OPENAI.row(
        &["o3", "o4-mini"],
        RowFacts { media: Some(IMAGE_AND_DOCUMENT), stop: Some(Never), ..O_SERIES },
    ),
    OPENAI.row(&["o3-mini"], RowFacts { media: Some(Media::TEXT), ..O_SERIES }),
    OPENAI.row(
        &["o1-pro", "o3-pro"],
        RowFacts { media: Some(IMAGE_AND_DOCUMENT), chat_tools_with_reasoning: None, ..O_SERIES },
    ),
    OPENAI.row(
        &["gpt-5", "gpt-5-mini", "gpt-5-nano"],
        RowFacts {
            efforts: Some(Efforts::MINIMAL.and(LOW_TO_HIGH)),
            thinking_off: Some(ThinkingOff::Never),
            temperature: Some(Never),
            top_p: Some(Never),
            stop: Some(Never),
            chat_tools_with_reasoning: Some(true),
            ..GPT_5
        },
    ),
    OPENAI.row(
        &["gpt-5-codex", "gpt-5.1-codex", "gpt-5.1-codex-mini"],
        RowFacts { efforts: Some(LOW_TO_HIGH), thinking_off: Some(ThinkingOff::Never), ..GPT_5 },
    ),
    OPENAI.row(
        &["gpt-5.1-codex-max", "gpt-5.2-codex", "gpt-5.3-codex"],
        RowFacts { efforts: Some(LOW_TO_XHIGH), thinking_off: Some(ThinkingOff::Never), ..GPT_5 },
    ),
    OPENAI.row(
        &["gpt-5-pro"],
        RowFacts {
            max_output: Some(272_000),
            efforts: Some(Efforts::HIGH),
            thinking_off: Some(ThinkingOff::Never),
            ..GPT_5
        },
    ),
    OPENAI.row(
        &["gpt-5-chat"],
        RowFacts {
            thinking: Some(ThinkingControl::None),
            efforts: Some(Efforts::EMPTY),
            ..GPT_5_CHAT
        },
    ),
    OPENAI.row(&["gpt-5.1-chat", "gpt-5.2-chat", "gpt-5.3-chat"], GPT_5_CHAT),
    OPENAI.row(
        &["gpt-5.1"],
        RowFacts {
            efforts: Some(Efforts::NONE.and(LOW_TO_HIGH)),
            stop: Some(Never),
            chat_tools_with_reasoning: Some(true),
            ..GPT_WITH_EFFORT_NONE
        },
    ),
    OPENAI.row(
        &["gpt-5.2"],
        RowFacts {
            efforts: Some(Efforts::NONE.and(LOW_TO_XHIGH)),
            stop: Some(Never),
            ..GPT_WITH_EFFORT_NONE
        },
    ),
    OPENAI.row(
        &["gpt-5.2-pro"],
        RowFacts {
            efforts: Some(Efforts::MEDIUM.and(Efforts::HIGH).and(Efforts::XHIGH)),
            thinking_off: Some(ThinkingOff::Never),
            ..GPT_5
        },
    ),
    OPENAI.row(
        &["gpt-5.4-mini", "gpt-5.4-nano"],
        RowFacts {
            efforts: Some(Efforts::NONE.and(LOW_TO_XHIGH)),
            chat_tools_with_reasoning: Some(false),
            ..GPT_WITH_EFFORT_NONE
        },
    ),
    OPENAI.row(
        &["gpt-5.4", "gpt-5.5"],
        RowFacts {
            context_window: Some(1_050_000),
            efforts: Some(Efforts::NONE.and(LOW_TO_XHIGH)),
            chat_tools_with_reasoning: Some(false),
            ..GPT_WITH_EFFORT_NONE
        },
    ),
    OPENAI.row(
        &["gpt-5.4-pro", "gpt-5.5-pro"],
        RowFacts {
            context_window: Some(1_050_000),
            efforts: Some(Efforts::MEDIUM.and(Efforts::HIGH).and(Efforts::XHIGH)),
            thinking_off: Some(ThinkingOff::Never),
            ..GPT_5
        },
    ),
    OPENAI.row(
        &["gpt-5.6", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna"],
        RowFacts { media: Some(IMAGE_AND_DOCUMENT), ..GPT_6_WITH_EFFORT_NONE },
    ),
    OPENAI_6.row(&["gpt-6-sol", "gpt-6-luna", "gpt-6.1-terra"], GPT_6_WITH_EFFORT_NONE),
    OPENAI_6.row(
        &["gpt-6-astra"],
        RowFacts {
            efforts: Some(LOW_TO_MAX),
            thinking_off: Some(ThinkingOff::Never),
            temperature: Some(Never),
            top_p: Some(Never),
            ..GPT_6
        },
    ),
    OPENAI_6.row(&["gpt-6.1-sol"], RowFacts { thinking_off: Some(ThinkingOff::Never), ..GPT_6 }),
    OPENAI.row(
        &["gpt-oss-120b", "gpt-oss-20b", "gpt-oss-120b-1", "gpt-oss-20b-1", "gpt-oss"],
        RowFacts {
            context_window: Some(131_072),
            thinking: Some(ThinkingControl::Effort),
            thinking_off: Some(ThinkingOff::Never),
            efforts: Some(LOW_TO_HIGH),
            temperature: Some(Always),
            top_p: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    ),
];

const GPT_WITHOUT_THINKING: RowFacts = RowFacts {
    thinking: Some(ThinkingControl::None),
    efforts: Some(Efforts::EMPTY),
    temperature: Some(Always),
    top_p: Some(Always),
    temperature_with_top_p: Some(true),
    ..NOTHING
};

const O_SERIES: RowFacts = RowFacts {
    context_window: Some(200_000),
    max_output: Some(100_000),
    thinking: Some(ThinkingControl::Effort),
    thinking_off: Some(ThinkingOff::Never),
    efforts: Some(LOW_TO_HIGH),
    temperature: Some(Never),
    top_p: Some(Never),
    chat_tools_with_reasoning: Some(true),
    ..NOTHING
};

const GPT_5: RowFacts = RowFacts {
    context_window: Some(400_000),
    max_output: Some(128_000),
    thinking: Some(ThinkingControl::Effort),
    media: Some(IMAGE_AND_DOCUMENT),
    ..NOTHING
};

const GPT_5_CHAT: RowFacts = RowFacts {
    context_window: Some(128_000),
    max_output: Some(16_384),
    media: Some(IMAGE_AND_DOCUMENT),
    ..NOTHING
};

const GPT_WITH_EFFORT_NONE: RowFacts = RowFacts {
    thinking_off: Some(ThinkingOff::Disabled),
    temperature: Some(WithoutThinking),
    top_p: Some(WithoutThinking),
    ..GPT_5
};

const GPT_6: RowFacts = RowFacts {
    context_window: Some(1_050_000),
    max_output: Some(128_000),
    thinking: Some(ThinkingControl::Effort),
    chat_tools_with_reasoning: Some(false),
    ..NOTHING
};

const GPT_6_WITH_EFFORT_NONE: RowFacts = RowFacts {
    efforts: Some(Efforts::NONE.and(LOW_TO_MAX)),
    thinking_off: Some(ThinkingOff::Disabled),
    temperature: Some(WithoutThinking),
    top_p: Some(WithoutThinking),
    ..GPT_6
};
