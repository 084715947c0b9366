//! The providers that LiteLLM names before a model: table only.

/// Where a provider is, and how it is spoken to.
pub(super) struct Provider {
    /// The names that LiteLLM knows it by.
    pub(super) names: &'static [&'static str],
    pub(super) protocol: &'static str,
    /// Its address. Empty if every user has their own.
    pub(super) base_url: &'static str,
    /// The variable that LiteLLM reads if there is no `api_key`. Empty if none is
    /// needed.
    pub(super) key_variable: &'static str,
    pub(super) profile: &'static str,
}

/// The provider that LiteLLM knows by a name.
pub(super) fn find(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.names.contains(&name))
}

/// The provider that LiteLLM takes a model without one for.
pub(super) fn of_model(model: &str) -> Option<&'static Provider> {
    let begins = |starts: &[&str]| starts.iter().any(|start| model.starts_with(start));
    if begins(&["gpt-", "chatgpt-", "o1", "o3", "o4", "text-embedding-", "ft:gpt-", "codex-"]) {
        find("openai")
    } else if begins(&["claude-"]) {
        find("anthropic")
    } else {
        None
    }
}

/// What a server that speaks Chat beside OpenAI's own does not accept.
pub(super) const COMPATIBLE: &str =
    "allowed_tools = false, freeform_tools = false, strict = false, legacy_max_tokens = true";

/// The same for one that wants its reasoning back.
pub(super) const REASONING_CONTENT: &str = "allowed_tools = false, freeform_tools = false, \
     strict = false, legacy_max_tokens = true, reasoning_field = \"reasoning_content\"";

pub(super) const OPENROUTER: &str =
    "allowed_tools = false, freeform_tools = false, reasoning_field = \"reasoning\"";

const fn chat(
    names: &'static [&'static str],
    base_url: &'static str,
    key_variable: &'static str,
) -> Provider {
    Provider { names, protocol: "chat", base_url, key_variable, profile: COMPATIBLE }
}

const PROVIDERS: &[Provider] = &[
    Provider {
        names: &["openai"],
        protocol: "responses",
        base_url: "https://api.openai.com/v1",
        key_variable: "OPENAI_API_KEY",
        profile: "",
    },
    Provider {
        names: &["anthropic"],
        protocol: "messages",
        base_url: "https://api.anthropic.com/v1",
        key_variable: "ANTHROPIC_API_KEY",
        profile: "",
    },
    Provider {
        profile: OPENROUTER,
        ..chat(&["openrouter"], "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY")
    },
    chat(&["gemini"], "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    chat(&["groq"], "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Provider {
        profile: REASONING_CONTENT,
        ..chat(&["deepseek"], "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY")
    },
    chat(&["mistral"], "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    chat(&["xai"], "https://api.x.ai/v1", "XAI_API_KEY"),
    chat(&["together_ai"], "https://api.together.xyz/v1", "TOGETHERAI_API_KEY"),
    chat(&["fireworks_ai"], "https://api.fireworks.ai/inference/v1", "FIREWORKS_AI_API_KEY"),
    chat(&["cerebras"], "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    Provider {
        profile: REASONING_CONTENT,
        ..chat(&["moonshot"], "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY")
    },
    Provider {
        profile: REASONING_CONTENT,
        ..chat(&["zai"], "https://api.z.ai/api/paas/v4", "ZAI_API_KEY")
    },
    chat(&["deepinfra"], "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    chat(&["nvidia_nim"], "https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY"),
    chat(&["sambanova"], "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
    chat(
        &["dashscope"],
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
    ),
    chat(&["volcengine"], "https://ark.cn-beijing.volces.com/api/v3", "VOLCENGINE_API_KEY"),
    chat(&["ollama", "ollama_chat"], "http://127.0.0.1:11434/v1", ""),
    chat(&["lm_studio"], "http://127.0.0.1:1234/v1", ""),
    chat(&["hosted_vllm", "vllm"], "", ""),
    chat(&["litellm_proxy"], "", "LITELLM_PROXY_API_KEY"),
    chat(&["openai_like", "custom_openai", "llamafile", "xinference"], "", ""),
];
