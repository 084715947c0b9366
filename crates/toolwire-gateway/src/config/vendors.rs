//! The vendors that need no settings: table only.
//!
//! A vendor is a row, never code. `preset` says how a row becomes upstreams.

use toolwire::Protocol;
use toolwire::wire::ids::IdRule;

use super::preset::{Address, Api, Quirks, Vendor};

pub(super) const VENDORS: &[Vendor] = &[
    Vendor {
        name: "openai",
        title: "OpenAI",
        address: Address::Remote("https://api.openai.com/v1"),
        url_variable: "OPENAI_BASE_URL",
        key_variables: &["OPENAI_API_KEY"],
        // Both APIs serve the same models. A client of either gets its own. Clients
        // of Messages get Responses, which can express more of what they send.
        apis: &[
            Api { suffix: "", protocol: Protocol::Responses, models: GPT, weight: 1 },
            Api { suffix: "-chat", protocol: Protocol::Chat, models: GPT, weight: 0 },
        ],
        ..VENDOR
    },
    Vendor {
        name: "anthropic",
        title: "Anthropic",
        address: Address::Remote("https://api.anthropic.com/v1"),
        url_variable: "ANTHROPIC_BASE_URL",
        key_variables: &["ANTHROPIC_API_KEY"],
        apis: &[Api { suffix: "", protocol: Protocol::Messages, models: &["claude-*"], weight: 1 }],
        ..VENDOR
    },
    Vendor {
        name: "openrouter",
        title: "OpenRouter",
        address: Address::Remote("https://openrouter.ai/api/v1"),
        url_variable: "OPENROUTER_BASE_URL",
        key_variables: &["OPENROUTER_API_KEY"],
        apis: ANY_CHAT,
        quirks: Quirks {
            strict: true,
            legacy_max_tokens: false,
            reasoning_field: Some("reasoning"),
            // Claude is behind it too, and refuses what others take. What is known about a
            // model that reads the ids of its calls counts for more.
            ids: None,
            ..COMPATIBLE
        },
        note: "earlier reasoning goes back as `reasoning`; its list says what each model accepts",
        ..VENDOR
    },
    Vendor {
        name: "gemini",
        title: "Google Gemini",
        address: Address::Remote("https://generativelanguage.googleapis.com/v1beta/openai"),
        url_variable: "GEMINI_BASE_URL",
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        apis: &[Api {
            suffix: "",
            protocol: Protocol::Chat,
            models: &["gemini-*", "gemma-*"],
            weight: 1,
        }],
        quirks: Quirks { unsigned_calls: true, ..COMPATIBLE },
        note: "its OpenAI-compatible API; models are listed as `models/NAME`; earlier calls carry \
               Google's mark for calls without a thought signature",
        ..VENDOR
    },
    Vendor {
        name: "groq",
        title: "Groq",
        address: Address::Remote("https://api.groq.com/openai/v1"),
        url_variable: "GROQ_BASE_URL",
        key_variables: &["GROQ_API_KEY"],
        apis: ANY_CHAT,
        quirks: Quirks { legacy_max_tokens: false, ..COMPATIBLE },
        ..VENDOR
    },
    Vendor {
        name: "deepseek",
        title: "DeepSeek",
        address: Address::Remote("https://api.deepseek.com/v1"),
        url_variable: "DEEPSEEK_BASE_URL",
        key_variables: &["DEEPSEEK_API_KEY"],
        apis: &[Api { suffix: "", protocol: Protocol::Chat, models: &["deepseek-*"], weight: 1 }],
        quirks: Quirks { reasoning_field: Some("reasoning_content"), ..COMPATIBLE },
        note: "wants `reasoning_content` back beside the calls it made",
        ..VENDOR
    },
    Vendor {
        name: "mistral",
        title: "Mistral",
        address: Address::Remote("https://api.mistral.ai/v1"),
        url_variable: "MISTRAL_BASE_URL",
        key_variables: &["MISTRAL_API_KEY"],
        apis: &[Api { suffix: "", protocol: Protocol::Chat, models: MISTRAL, weight: 1 }],
        quirks: Quirks { ids: Some(IdRule::MISTRAL), ..COMPATIBLE },
        note: "call ids have exactly nine letters and digits; refuses `max_completion_tokens`",
        ..VENDOR
    },
    Vendor {
        name: "xai",
        title: "xAI",
        address: Address::Remote("https://api.x.ai/v1"),
        url_variable: "XAI_BASE_URL",
        key_variables: &["XAI_API_KEY"],
        apis: &[Api { suffix: "", protocol: Protocol::Chat, models: &["grok-*"], weight: 1 }],
        quirks: Quirks { legacy_max_tokens: false, ..COMPATIBLE },
        ..VENDOR
    },
    Vendor {
        name: "together",
        title: "Together",
        address: Address::Remote("https://api.together.xyz/v1"),
        url_variable: "TOGETHER_BASE_URL",
        key_variables: &["TOGETHER_API_KEY"],
        apis: ANY_CHAT,
        quirks: COMPATIBLE,
        note: "its list of models is a bare array",
        ..VENDOR
    },
    Vendor {
        name: "fireworks",
        title: "Fireworks",
        address: Address::Remote("https://api.fireworks.ai/inference/v1"),
        url_variable: "FIREWORKS_BASE_URL",
        key_variables: &["FIREWORKS_API_KEY"],
        apis: ANY_CHAT,
        quirks: COMPATIBLE,
        ..VENDOR
    },
    Vendor {
        name: "cerebras",
        title: "Cerebras",
        address: Address::Remote("https://api.cerebras.ai/v1"),
        url_variable: "CEREBRAS_BASE_URL",
        key_variables: &["CEREBRAS_API_KEY"],
        apis: ANY_CHAT,
        quirks: Quirks { legacy_max_tokens: false, ..COMPATIBLE },
        ..VENDOR
    },
    Vendor {
        name: "moonshot",
        title: "Moonshot (Kimi)",
        address: Address::Remote("https://api.moonshot.ai/v1"),
        url_variable: "MOONSHOT_BASE_URL",
        key_variables: &["MOONSHOT_API_KEY"],
        apis: &[Api {
            suffix: "",
            protocol: Protocol::Chat,
            models: &["kimi-*", "moonshot-*"],
            weight: 1,
        }],
        quirks: Quirks { reasoning_field: Some("reasoning_content"), ..COMPATIBLE },
        note: "wants `reasoning_content` back beside the calls it made",
        ..VENDOR
    },
    Vendor {
        name: "zai",
        title: "Z.ai (GLM)",
        address: Address::Remote("https://api.z.ai/api/paas/v4"),
        url_variable: "ZAI_BASE_URL",
        key_variables: &["ZAI_API_KEY"],
        apis: &[Api { suffix: "", protocol: Protocol::Chat, models: &["glm-*"], weight: 1 }],
        quirks: Quirks { reasoning_field: Some("reasoning_content"), ..COMPATIBLE },
        note: "the version in its address is `v4`; earlier reasoning goes back as \
               `reasoning_content`",
        ..VENDOR
    },
    Vendor {
        name: "azure",
        title: "Azure OpenAI",
        address: Address::Resource("/openai/v1"),
        url_variable: "AZURE_OPENAI_ENDPOINT",
        key_variables: &["AZURE_OPENAI_API_KEY"],
        key_header: Some("api-key"),
        query: &[("api-version", "preview")],
        // The list holds every model of the region, not the deployments.
        lists_models: false,
        apis: &[
            Api { suffix: "", protocol: Protocol::Responses, models: &["*"], weight: 1 },
            Api { suffix: "-chat", protocol: Protocol::Chat, models: &["*"], weight: 0 },
        ],
        note: "the model is the name of a deployment; sends `api-key` and `api-version=preview`",
        ..VENDOR
    },
    Vendor {
        name: "ollama",
        title: "Ollama",
        address: Address::Local { url: "http://127.0.0.1:11434/v1", path: "/", says: "Ollama" },
        url_variable: "OLLAMA_HOST",
        apis: LOCAL_CHAT,
        quirks: COMPATIBLE,
        ..VENDOR
    },
    Vendor {
        name: "vllm",
        title: "vLLM",
        address: Address::Local {
            url: "http://127.0.0.1:8000/v1",
            path: "/v1/models",
            says: "\"vllm\"",
        },
        url_variable: "VLLM_BASE_URL",
        apis: LOCAL_CHAT,
        quirks: COMPATIBLE,
        ..VENDOR
    },
    Vendor {
        name: "llamacpp",
        title: "llama.cpp",
        address: Address::Local {
            url: "http://127.0.0.1:8080/v1",
            path: "/v1/models",
            says: "\"llamacpp\"",
        },
        url_variable: "LLAMACPP_BASE_URL",
        apis: LOCAL_CHAT,
        quirks: COMPATIBLE,
        ..VENDOR
    },
    Vendor {
        name: "lmstudio",
        title: "LM Studio",
        address: Address::Local {
            url: "http://127.0.0.1:1234/v1",
            path: "/v1/models",
            says: "\"organization_owner\"",
        },
        url_variable: "LMSTUDIO_BASE_URL",
        apis: LOCAL_CHAT,
        quirks: COMPATIBLE,
        ..VENDOR
    },
];

/// A row without what is its own.
const VENDOR: Vendor = Vendor {
    name: "",
    title: "",
    address: Address::Remote(""),
    url_variable: "",
    key_variables: &[],
    key_header: None,
    query: &[],
    lists_models: true,
    apis: &[],
    quirks: Quirks::NONE,
    note: "",
};

/// What servers that speak Chat beside OpenAI's own have in common: functions
/// are the only tools, a choice is one tool or any, the limit of an answer has its
/// old name, which all of them know, and ids of calls are what they have made up.
const COMPATIBLE: Quirks = Quirks {
    freeform_tools: false,
    allowed_tools: false,
    strict: false,
    legacy_max_tokens: true,
    reasoning_field: None,
    unsigned_calls: false,
    ids: Some(IdRule::CHAT_COMPATIBLE),
};

const ANY_CHAT: &[Api] = &[Api { suffix: "", protocol: Protocol::Chat, models: &["*"], weight: 1 }];

/// A server on this machine comes after vendors that list the same model, because
/// any program can listen there.
const LOCAL_CHAT: &[Api] =
    &[Api { suffix: "", protocol: Protocol::Chat, models: &["*"], weight: 0 }];

const GPT: &[&str] = &["gpt-*", "chatgpt-*", "codex-*", "o1*", "o3*", "o4*"];

const MISTRAL: &[&str] = &[
    "mistral-*", "ministral-*", "magistral-*", "codestral-*", "devstral-*", "pixtral-*",
    "open-mistral-*", "open-mixtral-*",
];
