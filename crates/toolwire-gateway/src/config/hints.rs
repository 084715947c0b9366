//! What people write who know another program's configuration, and what it is
//! called here.

/// What to write instead of a name for a protocol.
pub(super) fn protocol(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "anthropic" | "claude" | "anthropic-messages" => {
            "Anthropic's protocol is \"messages\"; `name` is the place for the vendor"
        }
        "openai" | "gpt" => {
            "OpenAI has two protocols: \"responses\", and \"chat\", which most other servers speak too"
        }
        "openai-compatible" | "openai_compatible" | "openai-chat" | "completions"
        | "chat-completions" | "chat_completions" | "ollama" | "vllm" | "openrouter" => {
            "it is called \"chat\" here"
        }
        "openai-responses" => "it is called \"responses\" here",
        "gemini" | "google" | "vertex" => {
            "use \"chat\" with the vendor's OpenAI-compatible address"
        }
        _other => return None,
    })
}

/// What to write instead of a setting that toolwire does not have, where the
/// right one is among `known`.
pub(super) fn setting(name: &str, known: &[&str]) -> Option<&'static str> {
    let (right, help) = match name.to_ascii_lowercase().replace('-', "_").as_str() {
        "api_key" | "apikey" | "token" | "secret" | "key_env" | "api_key_env" | "auth" => {
            ("key", "write key = { env = \"NAME\" }, with the name of the variable that holds it")
        }
        "url" | "endpoint" | "api_base" | "baseurl" | "host" | "address"
            if known.contains(&"base_url") =>
        {
            ("base_url", "write base_url = \"https://…\"")
        }
        "model" => ("models", "write models = [\"…\"], a list"),
        "type" | "provider" | "kind" | "api" | "format" => {
            ("protocol", "write protocol = \"chat\", \"responses\" or \"messages\"")
        }
        "timeout" => ("timeouts", "write timeouts = { total = \"10m\" }"),
        "port" | "host" | "bind" | "address" => ("listen", "write listen = \"127.0.0.1:8787\""),
        "upstreams" | "providers" | "provider_list" | "model_list" => {
            ("upstream", "write one [[upstream]] for each")
        }
        "api_keys" | "master_key" | "auth_keys" => ("keys", "write keys = [{ env = \"NAME\" }]"),
        "cors" | "allowed_origins" | "cors_origins" => {
            ("origins", "write origins = [\"https://…\"]")
        }
        _other => return None,
    };
    known.contains(&right).then_some(help)
}

/// The variable that a text stands for in shells and other programs: `$NAME`,
/// `${NAME}`, `${NAME:-x}`, `os.environ/NAME`, `env:NAME`.
pub(super) fn variable(text: &str) -> Option<&str> {
    let text = text.trim();
    let inside = if let Some((_, rest)) = text.split_once("${") {
        rest.split('}').next().unwrap_or_default()
    } else {
        let prefixes = ["$", "os.environ/", "env:", "env."];
        prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))?
    };
    let name = inside.strip_prefix("env:").unwrap_or(inside);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = name.find(|c| !is_part(c)).unwrap_or(name.len());
    let (name, rest) = name.split_at(end);
    let is_whole = rest.is_empty() || rest.starts_with(':');
    (is_whole && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')).then_some(name)
}

/// What to say about a file in another format.
pub(super) fn other_format(name: &str, text: &str) -> Option<&'static str> {
    let has_end = |end: &str| name.to_ascii_lowercase().ends_with(end);
    let is_comment = |line: &&str| line.is_empty() || line.starts_with('#');
    let first = text.lines().map(str::trim).find(|line| !is_comment(line))?;
    let key = first.split_once(':').filter(|(key, value)| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        !key.is_empty() && key.chars().all(is_word) && !value.contains('=')
    });
    if has_end(".json") || first == "{" || first.starts_with("{\"") {
        return Some(
            "this looks like JSON; the configuration is TOML, and `toolwire init` writes an example",
        );
    }
    if has_end(".yaml")
        || has_end(".yml")
        || first == "---"
        || first.starts_with("- ")
        || key.is_some()
    {
        return Some(
            "this looks like YAML; the configuration is TOML, and `toolwire init` writes an example",
        );
    }
    None
}
