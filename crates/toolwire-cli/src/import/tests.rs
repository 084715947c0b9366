use std::time::{Duration, Instant};

use toolwire_gateway::config::{Config, file};

use super::draft::EverySecret;
use super::{draft, output};

/// What is written for a configuration, which toolwire accepts.
fn import(text: &str) -> (String, Config) {
    let draft = draft(text, &|name| (name == "MY_BASE").then(|| "https://mine.test/v1".to_owned()));
    let written = output::write(&draft.unwrap());
    let config = file::parse("toolwire.toml", &written, &EverySecret);
    let config = config.unwrap_or_else(|problems| panic!("{problems}\n{written}"));
    (written, config)
}

/// Checks the upstreams with their models, the aliases, and what is not taken over.
fn check(text: &str, upstreams: &[&str], aliases: &[&str], left_out: &[&str]) {
    let (written, config) = import(text);
    let models = |models: &[toolwire_gateway::config::Pattern]| {
        models.iter().map(|pattern| pattern.0.as_str()).collect::<Vec<_>>().join(" ")
    };
    let found: Vec<_> = config
        .upstreams
        .iter()
        .map(|one| format!("{} {}: {}", one.name, one.protocol.as_str(), models(&one.models)))
        .collect();
    assert_eq!(found, upstreams, "{written}");
    let found: Vec<_> =
        config.aliases.iter().map(|alias| format!("{} = {}", alias.name.0, alias.model)).collect();
    assert_eq!(found, aliases, "{written}");
    let found: Vec<_> = written
        .lines()
        .skip_while(|line| *line != "# Not taken over:")
        .skip(1)
        .map_while(|line| line.strip_prefix("#   "))
        .map(|line| line.split(": ").next().unwrap_or_default())
        .collect();
    assert_eq!(found, left_out, "{written}");
    assert_eq!(config.warnings(), Vec::<String>::new(), "{written}");
    assert_eq!(import(text).0, written, "the output is not always the same");
}

#[test]
fn litellm_with_two_vendors() {
    check(
        "model_list:
  - model_name: gpt-5
    litellm_params: {model: openai/gpt-5, api_key: os.environ/OPENAI_API_KEY}
  - model_name: smart
    litellm_params:
      model: anthropic/claude-sonnet-5
      temperature: 0.2
litellm_settings: {drop_params: true, callbacks: [langfuse]}
general_settings: {master_key: os.environ/MASTER}
",
        &[
            "openai responses: gpt-5",
            "openai-chat chat: gpt-5",
            "anthropic messages: claude-sonnet-5",
        ],
        &["smart = claude-sonnet-5"],
        &["model_list[].litellm_params.temperature of smart", "litellm_settings.callbacks"],
    );
}

#[test]
fn litellm_balances_one_model_and_keeps_others_apart() {
    check(
        "model_list:
  - {model_name: llama, litellm_params: {model: hosted_vllm/llama-4, api_base: 'http://127.0.0.1:8001/v1'}}
  - {model_name: llama, litellm_params: {model: hosted_vllm/llama-4, api_base: 'http://127.0.0.1:8002/v1'}}
  - {model_name: llama, litellm_params: {model: groq/llama-4-fast}}
  - {model_name: quick, litellm_params: {model: groq/llama-4-fast}}
  - {model_name: mine, litellm_params: {model: openai/own, api_base: os.environ/MY_BASE, api_key: none}}
router_settings:
  model_group_alias: {gpt-4: llama, hidden: {model: quick, hidden: true}, gone: nothing}
  fallbacks: [{llama: [quick]}]
",
        &[
            "hosted_vllm chat: llama-4",
            "hosted_vllm-2 chat: llama-4",
            "groq chat: llama-4-fast",
            "openai chat: own",
        ],
        &[
            "llama = llama-4",
            "quick = llama-4-fast",
            "mine = own",
            "gpt-4 = llama-4",
            "hidden = llama-4-fast",
        ],
        &["model_list[2] of llama", "router_settings.model_group_alias.gone", "router_settings.fallbacks"],
    );
}

#[test]
fn litellm_wildcards() {
    check(
        "model_list:
  - {model_name: '*', litellm_params: {model: 'openrouter/*'}}
  - {model_name: 'anthropic/*', litellm_params: {model: 'anthropic/*'}}
  - {model_name: 'my-*', litellm_params: {model: 'groq/*'}}
  - {model_name: cloud, litellm_params: {model: bedrock/claude}}
",
        &["openrouter chat: *", "anthropic messages: claude-*", "groq chat: *"],
        &[],
        &["model_list[3] of cloud", "model_list[2] of my-*"],
    );
}

#[test]
fn litellm_anchors_and_azure() {
    check(
        "base: &base {api_key: os.environ/AZ, rpm: 5}
model_list:
  - model_name: gpt-4o
    litellm_params: {<<: *base, model: azure/eu, api_base: 'https://eu.openai.azure.com/', api_version: '2024'}
",
        &["azure responses: eu", "azure-chat chat: eu"],
        &["gpt-4o = eu"],
        &[
            "model_list[].litellm_params.api_version of gpt-4o",
            "model_list[].litellm_params.rpm of gpt-4o",
            "base",
        ],
    );
}

#[test]
fn claude_code_router_with_json5() {
    check(
        r#"{
  // the providers
  "APIKEY": "a-secret-that-is-long-enough", "LOG": true,
  "Providers": [
    {"name": "openrouter", "api_base_url": "https://openrouter.ai/api/v1/chat/completions",
     "api_key": "$OPENROUTER_API_KEY", "models": ["anthropic/claude-sonnet-5", "small"],
     "transformer": {"use": ["openrouter", ["maxtoken", {"max_tokens": 16384}], "mine"]}},
    {"name": "gemini", "api_base_url": "https://generativelanguage.googleapis.com/v1beta/models/",
     "api_key": "sk-literal-of-gemini", "models": ["gemini-3"], "transformer": {"use": ["gemini"]}},
  ],
  "Router": {"default": "openrouter,anthropic/claude-sonnet-5", "background": "openrouter,small",
             "think": "gemini,gemini-3", "longContextThreshold": 60000,},
}"#,
        &["openrouter chat: anthropic/claude-sonnet-5 small", "gemini chat: gemini-3"],
        &[
            "claude-*haiku* = openrouter/small",
            "claude-* = openrouter/anthropic/claude-sonnet-5",
            "openrouter,anthropic/claude-sonnet-5 = openrouter/anthropic/claude-sonnet-5",
            "openrouter,small = openrouter/small",
            "gemini,gemini-3 = gemini/gemini-3",
        ],
        &["Providers[].transformer.use", "Router.think", "Router.longContextThreshold", "LOG"],
    );
}

/// A key in the file becomes a variable, under one name for one key.
#[test]
fn keys_are_not_copied() {
    let (written, config) = import(
        "model_list:
  - {model_name: a, litellm_params: {model: openai/a, api_key: sk-first-secret}}
  - {model_name: b, litellm_params: {model: openai/b, api_key: sk-second-secret}}
  - {model_name: c, litellm_params: {model: groq/c, api_key: sk-first-secret, extra_headers: {x-token: sk-third-secret, x-team: red}}}
general_settings: {master_key: sk-fourth-secret}
",
    );
    assert!(!written.contains("-secret"), "{written}");
    assert_eq!(config.keys.len(), 1);
    for variable in ["OPENAI_API_KEY: ", "OPENAI_API_KEY_2: ", "X_TOKEN: ", "LITELLM_MASTER_KEY: "]
    {
        assert!(written.contains(&format!("#   {variable}")), "{variable}\n{written}");
    }
    assert!(
        written.contains("headers = { \"x-token\" = { env = \"X_TOKEN\" }, \"x-team\" = \"red\" }")
    );
}

/// A name cannot end its string or its comment.
#[test]
fn names_stay_names() {
    let (written, config) = import(
        "model_list:
  - {model_name: \"a\\\"b\", litellm_params: {model: 'groq/x\"]', \"new\\nlisten = 1\": 2}}
",
    );
    assert_eq!(config.listen.port(), 4000, "{written}");
    assert_eq!(config.aliases.first().map(|alias| alias.name.0.as_str()), Some("a\"b"));
}

fn refused(text: &str) -> String {
    let start = Instant::now();
    let why = draft(text, &|_| None).map(|_| ()).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    why
}

#[test]
fn hostile_files_are_refused() {
    let bomb: String = (1..30)
        .map(|level| format!("a{level}: &a{level} [{}]\n", format!("*a{}, ", level - 1).repeat(9)))
        .collect();
    let bomb = format!("a0: &a0 [x]\n{bomb}model_list: *a29\n");
    assert!(refused(&bomb).contains("100000 values"), "{}", refused(&bomb));
    assert!(refused(&"- a\n".repeat(3_000_000)).contains("longer than 1024 KiB"));
    assert!(refused(&"[".repeat(100)).contains("64 levels"));
    assert!(refused(&"[".repeat(100_000)).contains("not valid YAML"));
    assert!(refused(&"{\"a\":".repeat(100_000)).contains("not valid JSON"));
    assert!(refused(&"a: [b]\n".repeat(100_000)).contains("100000 values"));
    assert!(refused("[1, 2]").contains("not a configuration"));
    assert!(refused("hello: world").contains("not a configuration"));
    assert!(refused("").contains("empty"));
    assert!(refused("a: b: c").contains("not valid YAML"));
}

/// Twice the models take about twice the time.
#[test]
fn a_long_list_takes_its_time_and_no_more() {
    let entry = |index: usize| {
        format!(
            "  - {{model_name: m{index}, litellm_params: {{model: openai/m{index}, api_base: 'https://h{index}.test/v1', api_key: k-{index}}}}}\n"
        )
    };
    let text = |count: usize| format!("model_list:\n{}", (0..count).map(entry).collect::<String>());
    let time = |count: usize| {
        let text = text(count);
        let start = Instant::now();
        draft(&text, &|_| None).unwrap();
        start.elapsed()
    };
    let (short, long) = (time(500).min(time(500)), time(2000).min(time(2000)));
    assert!(long < short * 12, "{short:?} {long:?}");
}
