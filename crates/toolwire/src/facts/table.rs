//! What is published about models: table only.
//!
//! A fact that documents disagree about is left out. So is a longest output that
//! is only the context window again, because then nobody has published one.

use super::{
    Accepts, Efforts, Media, Protocols, Row, RowFacts, Source, ThinkingControl, ThinkingOff,
};

use Accepts::{Always, Never, WithoutThinking};

const MESSAGES: Protocols = Protocols(&["messages"]);
const OPENAI_APIS: Protocols = Protocols(&["chat", "responses"]);
const CHAT: Protocols = Protocols(&["chat"]);
const CHAT_AND_MESSAGES: Protocols = Protocols(&["chat", "messages"]);

const CLAUDE: Source = Source {
    document: "platform.claude.com: models overview, effort, extended thinking, adaptive thinking, mid-conversation system messages",
    protocols: MESSAGES,
};
const CLAUDE_5: Source = Source {
    document: "platform.claude.com: models overview, effort, thinking, migration guides",
    protocols: MESSAGES,
};
const OPENAI: Source = Source {
    document: "developers.openai.com: models, reasoning guide, file inputs",
    protocols: OPENAI_APIS,
};
const OPENAI_6: Source = Source {
    document: "developers.openai.com: models, using GPT-6; docs.litellm.ai: GPT-6",
    protocols: OPENAI_APIS,
};
const GEMINI: Source = Source {
    document: "ai.google.dev: Gemini models, thinking, OpenAI compatibility",
    protocols: CHAT,
};
const DEEPSEEK: Source = Source {
    document: "api-docs.deepseek.com: models and pricing, thinking mode; models.dev",
    protocols: CHAT_AND_MESSAGES,
};
const QWEN: Source = Source { document: "models.dev: Alibaba", protocols: CHAT_AND_MESSAGES };
const MISTRAL: Source = Source { document: "models.dev: Mistral", protocols: CHAT };
const LLAMA: Source = Source { document: "llama.com: model cards; models.dev", protocols: CHAT };
const KIMI: Source = Source {
    document: "platform.kimi.ai: models, parameters; models.dev",
    protocols: CHAT_AND_MESSAGES,
};
const GLM: Source =
    Source { document: "docs.z.ai: models; models.dev", protocols: CHAT_AND_MESSAGES };
const GROK: Source = Source { document: "docs.x.ai: models; models.dev", protocols: OPENAI_APIS };

const NOTHING: RowFacts = RowFacts::NOTHING;
const LOW_TO_HIGH: Efforts = Efforts::LOW.and(Efforts::MEDIUM).and(Efforts::HIGH);
const LOW_TO_XHIGH: Efforts = LOW_TO_HIGH.and(Efforts::XHIGH);
const LOW_TO_MAX: Efforts = LOW_TO_XHIGH.and(Efforts::MAX);
const IMAGE: Media = Media::IMAGE;
const IMAGE_AND_DOCUMENT: Media = Media::IMAGE.and(Media::DOCUMENT);
const IMAGE_AND_VIDEO: Media = Media::IMAGE.and(Media::VIDEO);
const EVERYTHING: Media = IMAGE_AND_DOCUMENT.and(Media::AUDIO).and(Media::VIDEO);

pub(super) static ROWS: &[Row] = &[
    // Claude.
    Row {
        models: &["claude-3-haiku", "claude-3-opus", "claude-3-sonnet"],
        source: CLAUDE,
        facts: RowFacts { max_output: Some(4_096), ..CLAUDE_WITHOUT_THINKING },
    },
    Row {
        models: &["claude-3-5-sonnet", "claude-3-5-haiku", "claude-3.5-sonnet-v2"],
        source: CLAUDE,
        facts: RowFacts { max_output: Some(8_192), ..CLAUDE_WITHOUT_THINKING },
    },
    Row {
        models: &["claude-3-7-sonnet"],
        source: CLAUDE,
        facts: RowFacts { max_output: Some(64_000), ..CLAUDE_WITH_BUDGET },
    },
    Row {
        models: &["claude-opus-4", "claude-opus-4-0", "claude-4-opus"],
        source: CLAUDE,
        facts: RowFacts { max_output: Some(32_000), ..CLAUDE_WITH_BUDGET },
    },
    Row {
        models: &["claude-sonnet-4", "claude-sonnet-4-0", "claude-4-sonnet"],
        source: CLAUDE,
        facts: RowFacts { max_output: Some(64_000), ..CLAUDE_WITH_BUDGET },
    },
    Row {
        models: &["claude-opus-4-1", "claude-4-1-opus"],
        source: CLAUDE,
        facts: RowFacts {
            max_output: Some(32_000),
            temperature_with_top_p: Some(false),
            ..CLAUDE_WITH_BUDGET
        },
    },
    Row {
        models: &["claude-sonnet-4-5", "claude-4-5-sonnet", "claude-haiku-4-5", "claude-4-5-haiku"],
        source: CLAUDE,
        facts: RowFacts {
            max_output: Some(64_000),
            temperature_with_top_p: Some(false),
            ..CLAUDE_WITH_BUDGET
        },
    },
    Row {
        models: &["claude-opus-4-5", "claude-4-5-opus"],
        source: CLAUDE,
        facts: RowFacts {
            max_output: Some(64_000),
            efforts: Some(LOW_TO_HIGH),
            temperature_with_top_p: Some(false),
            ..CLAUDE_WITH_BUDGET
        },
    },
    Row {
        models: &["claude-opus-4-6", "claude-4-6-opus"],
        source: CLAUDE,
        facts: RowFacts { max_output: Some(128_000), ..CLAUDE_4_6 },
    },
    Row {
        models: &["claude-sonnet-4-6", "claude-4-6-sonnet"],
        source: CLAUDE,
        facts: RowFacts { max_output: Some(64_000), ..CLAUDE_4_6 },
    },
    Row {
        models: &["claude-opus-4-7", "claude-4-7-opus"],
        source: CLAUDE_5,
        facts: RowFacts { system_turns: Some(false), ..CLAUDE_ADAPTIVE },
    },
    Row {
        models: &["claude-opus-4-8", "claude-4-8-opus"],
        source: CLAUDE_5,
        facts: RowFacts { system_turns: Some(true), ..CLAUDE_ADAPTIVE },
    },
    Row {
        models: &["claude-sonnet-5"],
        source: CLAUDE_5,
        facts: RowFacts { thinking_off: Some(ThinkingOff::Disabled), ..CLAUDE_ADAPTIVE },
    },
    Row {
        models: &["claude-opus-5", "claude-haiku-5-5"],
        source: CLAUDE_5,
        facts: RowFacts {
            thinking_off: Some(ThinkingOff::Disabled),
            system_turns: Some(true),
            ..CLAUDE_ADAPTIVE
        },
    },
    Row {
        models: &["claude-fable-5", "claude-mythos-5", "claude-mythos-5-1"],
        source: CLAUDE_5,
        facts: RowFacts {
            thinking_off: Some(ThinkingOff::Never),
            system_turns: Some(true),
            ..CLAUDE_ADAPTIVE
        },
    },
    Row {
        models: &["claude-opus-5-5", "claude-fable-5-1"],
        source: CLAUDE_5,
        facts: RowFacts {
            thinking_off: Some(ThinkingOff::Never),
            system_turns: Some(true),
            forced_tools: Some(Never),
            ..CLAUDE_ADAPTIVE
        },
    },
    Row {
        models: &["claude-sonnet-5-5"],
        source: CLAUDE_5,
        facts: RowFacts {
            thinking_off: Some(ThinkingOff::BetweenTools),
            system_turns: Some(true),
            forced_tools: Some(Never),
            ..CLAUDE_ADAPTIVE
        },
    },
    // GPT and o.
    Row {
        models: &["gpt-3.5-turbo"],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(16_385),
            max_output: Some(4_096),
            media: Some(Media::TEXT),
            ..GPT_WITHOUT_THINKING
        },
    },
    Row {
        models: &["gpt-4", "gpt-4-0613"],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(8_192),
            media: Some(Media::TEXT),
            ..GPT_WITHOUT_THINKING
        },
    },
    Row {
        models: &["gpt-4-turbo"],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(128_000),
            max_output: Some(4_096),
            media: Some(IMAGE),
            ..GPT_WITHOUT_THINKING
        },
    },
    Row {
        models: &["gpt-4o", "gpt-4o-mini", "chatgpt-4o"],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(128_000),
            max_output: Some(16_384),
            media: Some(IMAGE_AND_DOCUMENT),
            ..GPT_WITHOUT_THINKING
        },
    },
    Row {
        models: &["gpt-4o-2024-05-13"],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(128_000),
            max_output: Some(4_096),
            media: Some(IMAGE_AND_DOCUMENT),
            ..GPT_WITHOUT_THINKING
        },
    },
    Row {
        models: &[
            "gpt-audio",
            "gpt-audio-mini",
            "gpt-4o-audio-preview",
            "gpt-4o-mini-audio-preview",
        ],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(128_000),
            max_output: Some(16_384),
            media: Some(Media::AUDIO),
            ..GPT_WITHOUT_THINKING
        },
    },
    Row {
        models: &["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(1_047_576),
            max_output: Some(32_768),
            media: Some(IMAGE_AND_DOCUMENT),
            ..GPT_WITHOUT_THINKING
        },
    },
    Row {
        models: &["o1", "o3", "o4-mini"],
        source: OPENAI,
        facts: RowFacts { media: Some(IMAGE_AND_DOCUMENT), ..O_SERIES },
    },
    Row {
        models: &["o3-mini"],
        source: OPENAI,
        facts: RowFacts { media: Some(Media::TEXT), ..O_SERIES },
    },
    Row {
        models: &["o1-pro", "o3-pro"],
        source: OPENAI,
        facts: RowFacts {
            media: Some(IMAGE_AND_DOCUMENT),
            chat_tools_with_reasoning: None,
            ..O_SERIES
        },
    },
    Row {
        models: &["gpt-5", "gpt-5-mini", "gpt-5-nano"],
        source: OPENAI,
        facts: RowFacts {
            efforts: Some(Efforts::MINIMAL.and(LOW_TO_HIGH)),
            thinking_off: Some(ThinkingOff::Never),
            temperature: Some(Never),
            top_p: Some(Never),
            chat_tools_with_reasoning: Some(true),
            ..GPT_5
        },
    },
    Row {
        models: &["gpt-5-codex", "gpt-5.1-codex", "gpt-5.1-codex-mini"],
        source: OPENAI,
        facts: RowFacts {
            efforts: Some(LOW_TO_HIGH),
            thinking_off: Some(ThinkingOff::Never),
            ..GPT_5
        },
    },
    Row {
        models: &["gpt-5.1-codex-max", "gpt-5.2-codex", "gpt-5.3-codex"],
        source: OPENAI,
        facts: RowFacts {
            efforts: Some(LOW_TO_XHIGH),
            thinking_off: Some(ThinkingOff::Never),
            ..GPT_5
        },
    },
    Row {
        models: &["gpt-5-pro"],
        source: OPENAI,
        facts: RowFacts {
            max_output: Some(272_000),
            efforts: Some(Efforts::HIGH),
            thinking_off: Some(ThinkingOff::Never),
            ..GPT_5
        },
    },
    Row {
        models: &["gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat", "gpt-5.3-chat"],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(128_000),
            max_output: Some(16_384),
            media: Some(IMAGE_AND_DOCUMENT),
            ..NOTHING
        },
    },
    Row {
        models: &["gpt-5.1"],
        source: OPENAI,
        facts: RowFacts {
            efforts: Some(Efforts::NONE.and(LOW_TO_HIGH)),
            chat_tools_with_reasoning: Some(true),
            ..GPT_WITH_EFFORT_NONE
        },
    },
    Row {
        models: &["gpt-5.2"],
        source: OPENAI,
        facts: RowFacts { efforts: Some(Efforts::NONE.and(LOW_TO_XHIGH)), ..GPT_WITH_EFFORT_NONE },
    },
    Row {
        models: &["gpt-5.2-pro"],
        source: OPENAI,
        facts: RowFacts {
            efforts: Some(Efforts::MEDIUM.and(Efforts::HIGH).and(Efforts::XHIGH)),
            thinking_off: Some(ThinkingOff::Never),
            ..GPT_5
        },
    },
    Row {
        models: &["gpt-5.4-mini", "gpt-5.4-nano"],
        source: OPENAI,
        facts: RowFacts {
            efforts: Some(Efforts::NONE.and(LOW_TO_XHIGH)),
            chat_tools_with_reasoning: Some(false),
            ..GPT_WITH_EFFORT_NONE
        },
    },
    Row {
        models: &["gpt-5.4", "gpt-5.5"],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(1_050_000),
            efforts: Some(Efforts::NONE.and(LOW_TO_XHIGH)),
            chat_tools_with_reasoning: Some(false),
            ..GPT_WITH_EFFORT_NONE
        },
    },
    Row {
        models: &["gpt-5.4-pro", "gpt-5.5-pro"],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(1_050_000),
            efforts: Some(Efforts::MEDIUM.and(Efforts::HIGH).and(Efforts::XHIGH)),
            thinking_off: Some(ThinkingOff::Never),
            ..GPT_5
        },
    },
    Row {
        models: &["gpt-5.6", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna"],
        source: OPENAI,
        facts: RowFacts { media: Some(IMAGE_AND_DOCUMENT), ..GPT_6_WITH_EFFORT_NONE },
    },
    Row {
        models: &["gpt-6-sol", "gpt-6-luna", "gpt-6.1-terra"],
        source: OPENAI_6,
        facts: GPT_6_WITH_EFFORT_NONE,
    },
    Row {
        models: &["gpt-6-astra"],
        source: OPENAI_6,
        facts: RowFacts {
            efforts: Some(LOW_TO_MAX),
            thinking_off: Some(ThinkingOff::Never),
            temperature: Some(Never),
            top_p: Some(Never),
            ..GPT_6
        },
    },
    Row {
        models: &["gpt-6.1-sol"],
        source: OPENAI_6,
        facts: RowFacts { thinking_off: Some(ThinkingOff::Never), ..GPT_6 },
    },
    Row {
        models: &["gpt-oss-120b", "gpt-oss-20b", "gpt-oss-120b-1", "gpt-oss-20b-1", "gpt-oss"],
        source: OPENAI,
        facts: RowFacts {
            context_window: Some(131_072),
            thinking: Some(ThinkingControl::Effort),
            thinking_off: Some(ThinkingOff::Never),
            efforts: Some(LOW_TO_HIGH),
            temperature: Some(Always),
            top_p: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    // Gemini.
    Row {
        models: &[
            "gemini-2.0-flash",
            "gemini-2.0-flash-001",
            "gemini-2.0-flash-lite",
            "gemini-2.0-flash-lite-001",
        ],
        source: GEMINI,
        facts: RowFacts {
            max_output: Some(8_192),
            thinking: Some(ThinkingControl::None),
            ..GEMINI_ANY
        },
    },
    Row {
        models: &["gemini-2.5-pro"],
        source: GEMINI,
        facts: RowFacts {
            thinking: Some(ThinkingControl::Budget),
            thinking_off: Some(ThinkingOff::Never),
            efforts: Some(Efforts::MINIMAL.and(LOW_TO_HIGH)),
            ..GEMINI_ANY
        },
    },
    Row {
        models: &[
            "gemini-2.5-flash",
            "gemini-2.5-flash-lite",
            "gemini-2.5-flash-preview-09-2025",
            "gemini-2.5-flash-lite-preview-09-2025",
        ],
        source: GEMINI,
        facts: RowFacts {
            thinking: Some(ThinkingControl::Budget),
            thinking_off: Some(ThinkingOff::Disabled),
            efforts: Some(Efforts::NONE.and(Efforts::MINIMAL).and(LOW_TO_HIGH)),
            ..GEMINI_ANY
        },
    },
    Row {
        models: &["gemini-3-pro", "gemini-3-pro-preview"],
        source: GEMINI,
        facts: RowFacts {
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(Efforts::LOW.and(Efforts::HIGH)),
            ..GEMINI_ANY
        },
    },
    Row {
        models: &["gemini-3.1-pro", "gemini-3.1-pro-preview", "gemini-3.1-pro-preview-customtools"],
        source: GEMINI,
        facts: RowFacts {
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(LOW_TO_HIGH),
            ..GEMINI_ANY
        },
    },
    Row {
        models: &[
            "gemini-3-flash",
            "gemini-3-flash-preview",
            "gemini-3.1-flash-lite",
            "gemini-3.1-flash-lite-preview",
            "gemini-3.5-flash",
        ],
        source: GEMINI,
        facts: RowFacts {
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(Efforts::MINIMAL.and(LOW_TO_HIGH)),
            ..GEMINI_ANY
        },
    },
    Row {
        models: &["gemini-3.5-flash-lite", "gemini-3.6-flash"],
        source: GEMINI,
        facts: RowFacts { thinking: Some(ThinkingControl::Effort), ..GEMINI_ANY },
    },
    Row {
        models: &["gemini-4-argon"],
        source: GEMINI,
        facts: RowFacts {
            context_window: Some(1_048_576),
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(LOW_TO_HIGH),
            ..NOTHING
        },
    },
    // DeepSeek.
    Row {
        models: &["deepseek-chat"],
        source: DEEPSEEK,
        facts: RowFacts { thinking: Some(ThinkingControl::None), ..DEEPSEEK_V4 },
    },
    Row {
        models: &["deepseek-reasoner"],
        source: DEEPSEEK,
        facts: RowFacts {
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            ..DEEPSEEK_V4
        },
    },
    Row {
        models: &["deepseek-v4-flash", "deepseek-v4-pro"],
        source: DEEPSEEK,
        facts: RowFacts {
            thinking: Some(ThinkingControl::Switch),
            thinking_off: Some(ThinkingOff::Disabled),
            efforts: Some(Efforts::HIGH.and(Efforts::MAX)),
            ..DEEPSEEK_V4
        },
    },
    Row {
        models: &["deepseek-r1", "deepseek-r1-0528"],
        source: DEEPSEEK,
        facts: RowFacts {
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    Row {
        models: &["deepseek-v3", "deepseek-v3-0324"],
        source: DEEPSEEK,
        facts: RowFacts {
            thinking: Some(ThinkingControl::None),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    Row {
        models: &["deepseek-v3.1", "deepseek-v3.2"],
        source: DEEPSEEK,
        facts: RowFacts {
            thinking: Some(ThinkingControl::Switch),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    // Qwen.
    Row {
        models: &["qwen-max"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(32_768),
            max_output: Some(8_192),
            media: Some(Media::TEXT),
            ..QWEN_WITHOUT_THINKING
        },
    },
    Row {
        models: &["qwen-plus", "qwen-flash"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(32_768),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    },
    Row {
        models: &["qwen-turbo"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(16_384),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    },
    Row {
        models: &["qwen-vl-max", "qwen-vl-plus"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(131_072),
            max_output: Some(8_192),
            media: Some(IMAGE),
            ..QWEN_WITHOUT_THINKING
        },
    },
    Row {
        models: &["qwen2.5-*b-instruct"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(131_072),
            max_output: Some(8_192),
            ..QWEN_WITHOUT_THINKING
        },
    },
    Row {
        models: &["qwen3-8b", "qwen3-14b"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(131_072),
            max_output: Some(8_192),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    },
    Row {
        models: &["qwen3-32b", "qwen3-30b-a3b", "qwen3-235b-a22b"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(131_072),
            max_output: Some(16_384),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    },
    Row {
        models: &["qwen3-coder-30b-a3b-instruct", "qwen3-coder-480b-a35b-instruct"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(262_144),
            max_output: Some(65_536),
            media: Some(Media::TEXT),
            ..QWEN_WITHOUT_THINKING
        },
    },
    Row {
        models: &["qwen3-coder-flash", "qwen3-coder-plus"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(65_536),
            media: Some(Media::TEXT),
            ..QWEN_WITHOUT_THINKING
        },
    },
    Row {
        models: &["qwen3-max"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(262_144),
            max_output: Some(65_536),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    Row {
        models: &["qwen3-next-80b-a3b-instruct"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(131_072),
            max_output: Some(32_768),
            media: Some(Media::TEXT),
            ..QWEN_WITHOUT_THINKING
        },
    },
    Row {
        models: &["qwen3-next-80b-a3b-thinking"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(131_072),
            max_output: Some(32_768),
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            temperature: Some(Always),
            top_p: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    Row {
        models: &["qwen3-vl-plus"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(262_144),
            max_output: Some(32_768),
            media: Some(IMAGE),
            ..QWEN_WITH_SWITCH
        },
    },
    Row {
        models: &[
            "qwen3.5-27b",
            "qwen3.5-35b-a3b",
            "qwen3.5-122b-a10b",
            "qwen3.5-397b-a17b",
            "qwen3.6-27b",
            "qwen3.6-35b-a3b",
        ],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(262_144),
            max_output: Some(65_536),
            ..QWEN_WITH_SWITCH
        },
    },
    Row {
        models: &["qwen3.5-plus", "qwen3.6-plus", "qwen3.6-flash", "qwen3.7-plus"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(65_536),
            media: Some(IMAGE_AND_VIDEO),
            ..QWEN_WITH_SWITCH
        },
    },
    Row {
        models: &["qwen3.6-max-preview"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(262_144),
            max_output: Some(65_536),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    },
    Row {
        models: &["qwen3.7-max"],
        source: QWEN,
        facts: RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(65_536),
            media: Some(Media::TEXT),
            ..QWEN_WITH_SWITCH
        },
    },
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
    // Mistral.
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
    // Llama. How long an answer may be is up to whoever runs it.
    Row {
        models: &[
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
        source: LLAMA,
        facts: RowFacts { context_window: Some(131_072), media: Some(Media::TEXT), ..LLAMA_ANY },
    },
    Row {
        models: &["llama-3.2-*b-vision-instruct"],
        source: LLAMA,
        facts: RowFacts { context_window: Some(131_072), media: Some(IMAGE), ..LLAMA_ANY },
    },
    Row {
        models: &["llama-4-scout*", "llama-4-maverick*", "llama4-scout*", "llama4-maverick*"],
        source: LLAMA,
        facts: RowFacts { media: Some(IMAGE), ..LLAMA_ANY },
    },
    // Kimi.
    Row {
        models: &["kimi-k2-0711-preview"],
        source: KIMI,
        facts: RowFacts {
            context_window: Some(131_072),
            thinking: Some(ThinkingControl::None),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    Row {
        models: &[
            "kimi-k2-0905-preview",
            "kimi-k2-turbo-preview",
            "kimi-k2-instruct-0905",
            "kimi-k2-0905",
        ],
        source: KIMI,
        facts: RowFacts {
            context_window: Some(262_144),
            thinking: Some(ThinkingControl::None),
            temperature: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    Row {
        models: &["kimi-k2-thinking", "kimi-k2-thinking-turbo"],
        source: KIMI,
        facts: RowFacts {
            context_window: Some(262_144),
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            temperature: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    Row {
        models: &["kimi-k2.5"],
        source: KIMI,
        facts: RowFacts {
            context_window: Some(262_144),
            thinking: Some(ThinkingControl::Switch),
            thinking_off: Some(ThinkingOff::Disabled),
            temperature: Some(Never),
            media: Some(IMAGE_AND_VIDEO),
            ..NOTHING
        },
    },
    Row {
        models: &["kimi-k2.6"],
        source: KIMI,
        facts: RowFacts {
            context_window: Some(262_144),
            thinking: Some(ThinkingControl::Switch),
            thinking_off: Some(ThinkingOff::Disabled),
            media: Some(IMAGE_AND_VIDEO),
            ..NOTHING
        },
    },
    Row {
        models: &["kimi-k2.7-code", "kimi-k2.7-code-highspeed"],
        source: KIMI,
        facts: RowFacts {
            context_window: Some(262_144),
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            temperature: Some(Never),
            media: Some(IMAGE_AND_VIDEO),
            ..NOTHING
        },
    },
    Row {
        models: &["kimi-k3", "kimi-k3.1-pro", "kimi-k3.1-pro-highspeed"],
        source: KIMI,
        facts: RowFacts {
            context_window: Some(1_048_576),
            thinking: Some(ThinkingControl::Effort),
            thinking_off: Some(ThinkingOff::Never),
            efforts: Some(Efforts::LOW.and(Efforts::HIGH).and(Efforts::MAX)),
            temperature: Some(Never),
            top_p: Some(Never),
            ..NOTHING
        },
    },
    // GLM.
    Row {
        models: &["glm-4.5", "glm-4.5-air", "glm-4.5-flash"],
        source: GLM,
        facts: RowFacts {
            context_window: Some(131_072),
            max_output: Some(98_304),
            media: Some(Media::TEXT),
            ..GLM_WITH_SWITCH
        },
    },
    Row {
        models: &["glm-4.5v"],
        source: GLM,
        facts: RowFacts {
            context_window: Some(64_000),
            max_output: Some(16_384),
            media: Some(IMAGE_AND_VIDEO),
            ..GLM_WITH_SWITCH
        },
    },
    Row {
        models: &["glm-4.6v"],
        source: GLM,
        facts: RowFacts {
            context_window: Some(128_000),
            max_output: Some(32_768),
            media: Some(IMAGE_AND_VIDEO),
            ..GLM_WITH_SWITCH
        },
    },
    Row {
        models: &[
            "glm-4.6",
            "glm-4.7",
            "glm-4.7-flash",
            "glm-4.7-flashx",
            "glm-5",
            "glm-5-turbo",
            "glm-5.1",
        ],
        source: GLM,
        facts: RowFacts {
            context_window: Some(200_000),
            max_output: Some(131_072),
            media: Some(Media::TEXT),
            ..GLM_WITH_SWITCH
        },
    },
    Row {
        models: &["glm-5v-turbo"],
        source: GLM,
        facts: RowFacts {
            context_window: Some(200_000),
            max_output: Some(131_072),
            media: Some(IMAGE_AND_VIDEO.and(Media::DOCUMENT)),
            ..GLM_WITH_SWITCH
        },
    },
    Row {
        models: &["glm-5.2"],
        source: GLM,
        facts: RowFacts {
            context_window: Some(1_000_000),
            max_output: Some(131_072),
            efforts: Some(Efforts::HIGH.and(Efforts::MAX)),
            media: Some(Media::TEXT),
            ..GLM_WITH_SWITCH
        },
    },
    Row {
        models: &["glm-5.3"],
        source: GLM,
        facts: RowFacts {
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
    },
    // Grok.
    Row {
        models: &["grok-3", "grok-3-fast", "grok-3-beta"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(131_072),
            thinking: Some(ThinkingControl::None),
            temperature: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    Row {
        models: &["grok-3-mini", "grok-3-mini-fast", "grok-3-mini-beta"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(131_072),
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(Efforts::LOW.and(Efforts::HIGH)),
            temperature: Some(Always),
            media: Some(Media::TEXT),
            ..NOTHING
        },
    },
    Row {
        models: &["grok-4", "grok-4-0709"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(256_000),
            thinking: Some(ThinkingControl::Always),
            thinking_off: Some(ThinkingOff::Never),
            efforts: Some(Efforts::EMPTY),
            media: Some(IMAGE),
            ..NOTHING
        },
    },
    Row {
        models: &["grok-code-fast", "grok-code-fast-1", "grok-build-0.1"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(256_000),
            thinking: Some(ThinkingControl::Always),
            ..NOTHING
        },
    },
    Row {
        models: &["grok-4-fast-reasoning", "grok-4-1-fast-reasoning", "grok-4-1-fast"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(2_000_000),
            thinking: Some(ThinkingControl::Always),
            ..NOTHING
        },
    },
    Row {
        models: &["grok-4-fast-non-reasoning", "grok-4-1-fast-non-reasoning"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(2_000_000),
            thinking: Some(ThinkingControl::None),
            ..NOTHING
        },
    },
    Row {
        models: &["grok-4.20-0309-reasoning"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(1_000_000),
            thinking: Some(ThinkingControl::Always),
            temperature: Some(Always),
            media: Some(IMAGE_AND_DOCUMENT),
            ..NOTHING
        },
    },
    Row {
        models: &["grok-4.20-0309-non-reasoning"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(1_000_000),
            thinking: Some(ThinkingControl::None),
            temperature: Some(Always),
            media: Some(IMAGE_AND_DOCUMENT),
            ..NOTHING
        },
    },
    Row {
        models: &["grok-4.3"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(1_000_000),
            thinking: Some(ThinkingControl::Effort),
            thinking_off: Some(ThinkingOff::Disabled),
            efforts: Some(Efforts::NONE.and(LOW_TO_HIGH)),
            temperature: Some(Always),
            media: Some(IMAGE_AND_DOCUMENT),
            ..NOTHING
        },
    },
    Row {
        models: &["grok-4.5"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(500_000),
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(LOW_TO_HIGH),
            media: Some(IMAGE),
            ..NOTHING
        },
    },
    Row {
        models: &["grok-4.6", "grok-4.7"],
        source: GROK,
        facts: RowFacts {
            context_window: Some(500_000),
            thinking: Some(ThinkingControl::Effort),
            efforts: Some(LOW_TO_XHIGH),
            ..NOTHING
        },
    },
];

const CLAUDE_WITHOUT_THINKING: RowFacts = RowFacts {
    context_window: Some(200_000),
    thinking: Some(ThinkingControl::None),
    efforts: Some(Efforts::EMPTY),
    temperature: Some(Always),
    top_p: Some(Always),
    top_k: Some(Always),
    prefill: Some(Always),
    system_turns: Some(false),
    forced_tools: Some(Always),
    ..NOTHING
};

const CLAUDE_WITH_BUDGET: RowFacts = RowFacts {
    context_window: Some(200_000),
    thinking: Some(ThinkingControl::Budget),
    thinking_off: Some(ThinkingOff::Disabled),
    efforts: Some(Efforts::EMPTY),
    temperature: Some(WithoutThinking),
    top_p: Some(WithoutThinking),
    top_k: Some(WithoutThinking),
    prefill: Some(WithoutThinking),
    system_turns: Some(false),
    forced_tools: Some(WithoutThinking),
    media: Some(IMAGE_AND_DOCUMENT),
    ..NOTHING
};

const CLAUDE_4_6: RowFacts = RowFacts {
    context_window: Some(1_000_000),
    thinking: Some(ThinkingControl::Adaptive),
    efforts: Some(LOW_TO_HIGH.and(Efforts::MAX)),
    temperature_with_top_p: Some(false),
    prefill: Some(Never),
    ..CLAUDE_WITH_BUDGET
};

/// Claude 4.7 and later.
const CLAUDE_ADAPTIVE: RowFacts = RowFacts {
    context_window: Some(1_000_000),
    max_output: Some(128_000),
    thinking: Some(ThinkingControl::Adaptive),
    efforts: Some(LOW_TO_MAX),
    temperature: Some(Never),
    top_p: Some(Never),
    top_k: Some(Never),
    temperature_with_top_p: Some(false),
    prefill: Some(Never),
    media: Some(IMAGE_AND_DOCUMENT),
    ..NOTHING
};

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

const GEMINI_ANY: RowFacts = RowFacts {
    context_window: Some(1_048_576),
    max_output: Some(65_536),
    temperature: Some(Always),
    top_p: Some(Always),
    temperature_with_top_p: Some(true),
    media: Some(EVERYTHING),
    ..NOTHING
};

const DEEPSEEK_V4: RowFacts = RowFacts {
    context_window: Some(1_000_000),
    max_output: Some(384_000),
    temperature: Some(Always),
    top_p: Some(Always),
    media: Some(Media::TEXT),
    ..NOTHING
};

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

const LLAMA_ANY: RowFacts = RowFacts {
    thinking: Some(ThinkingControl::None),
    temperature: Some(Always),
    top_p: Some(Always),
    ..NOTHING
};

const GLM_WITH_SWITCH: RowFacts = RowFacts {
    thinking: Some(ThinkingControl::Switch),
    thinking_off: Some(ThinkingOff::Disabled),
    temperature: Some(Always),
    top_p: Some(Always),
    ..NOTHING
};
