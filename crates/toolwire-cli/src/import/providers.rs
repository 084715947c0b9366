//! The providers that LiteLLM names before a model: table only.

/// Where a provider is, and how it is spoken to.
pub(super) struct Provider {
    /// The names that LiteLLM knows it by.
    pub(super) names: &'static [&'static str],
    /// The preset of toolwire for it, if there is one.
    pub(super) preset: &'static str,
    pub(super) protocol: &'static str,
    /// Its address, if there is no preset. Empty if every user has their own.
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

/// The profile of one that wants its reasoning back.
pub(super) const REASONING_CONTENT: &str = "allowed_tools = false, freeform_tools = false, \
     strict = false, legacy_max_tokens = true, reasoning_field = \"reasoning_content\"";

pub(super) const OPENROUTER: &str =
    "allowed_tools = false, freeform_tools = false, reasoning_field = \"reasoning\"";

/// A vendor that toolwire knows.
const fn preset(
    names: &'static [&'static str],
    preset: &'static str,
    key_variable: &'static str,
) -> Provider {
    Provider { names, preset, protocol: "chat", base_url: "", key_variable, profile: "" }
}

const fn chat(
    names: &'static [&'static str],
    base_url: &'static str,
    key_variable: &'static str,
) -> Provider {
    Provider { names, preset: "", protocol: "chat", base_url, key_variable, profile: COMPATIBLE }
}

const PROVIDERS: &[Provider] = &[
    Provider { protocol: "responses", ..preset(&["openai"], "openai", "OPENAI_API_KEY") },
    Provider { protocol: "messages", ..preset(&["anthropic"], "anthropic", "ANTHROPIC_API_KEY") },
    Provider { protocol: "responses", ..preset(&["azure"], "azure", "AZURE_API_KEY") },
    preset(&["openrouter"], "openrouter", "OPENROUTER_API_KEY"),
    preset(&["gemini"], "gemini", "GEMINI_API_KEY"),
    preset(&["groq"], "groq", "GROQ_API_KEY"),
    preset(&["deepseek"], "deepseek", "DEEPSEEK_API_KEY"),
    preset(&["mistral"], "mistral", "MISTRAL_API_KEY"),
    preset(&["xai"], "xai", "XAI_API_KEY"),
    preset(&["together_ai"], "together", "TOGETHERAI_API_KEY"),
    preset(&["fireworks_ai"], "fireworks", "FIREWORKS_AI_API_KEY"),
    preset(&["cerebras"], "cerebras", "CEREBRAS_API_KEY"),
    preset(&["moonshot"], "moonshot", "MOONSHOT_API_KEY"),
    preset(&["zai"], "zai", "ZAI_API_KEY"),
    preset(&["ollama", "ollama_chat"], "ollama", ""),
    preset(&["lm_studio"], "lmstudio", ""),
    chat(&["deepinfra"], "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    chat(&["nvidia_nim"], "https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY"),
    chat(&["sambanova"], "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
    chat(
        &["dashscope"],
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
    ),
    chat(&["volcengine"], "https://ark.cn-beijing.volces.com/api/v3", "VOLCENGINE_API_KEY"),
    chat(&["hosted_vllm", "vllm"], "", ""),
    chat(&["litellm_proxy"], "", "LITELLM_PROXY_API_KEY"),
    chat(&["openai_like", "custom_openai", "llamafile", "xinference"], "", ""),
];
