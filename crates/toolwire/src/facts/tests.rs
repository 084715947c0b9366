use arbtest::arbtest;

use super::table::rows;
use super::*;

/// Every pattern leads to its own row: none is written twice, and none is hidden
/// by a pattern that fits better.
#[test]
fn no_pattern_shadows_another() {
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for (index, row) in rows().enumerate() {
        for pattern in row.models {
            let twin = seen.iter().find(|(other, _)| name::same(other, pattern));
            assert!(twin.is_none(), "{pattern} is in rows {twin:?} and {index}");
            seen.push((pattern, index));
            for filling in ["", "70", "x-y"] {
                let example = pattern.replace('*', filling);
                let found = row_for(&example).unwrap();
                assert!(std::ptr::eq(found, row), "{example} is found in another row");
            }
        }
    }
    assert!(seen.len() > 150, "{} patterns", seen.len());
}

/// A pattern must be reachable: what `readings` takes off a name may not be in it.
#[test]
fn patterns_are_names_as_vendors_write_them() {
    for pattern in rows().flat_map(|row| row.models) {
        let example = pattern.replace('*', "70");
        assert_eq!(name::readings(&example).next(), Some(example.as_str()));
        assert_eq!(pattern.to_ascii_lowercase(), *pattern);
    }
}

#[test]
fn rows_are_plausible() {
    for row in rows() {
        let name = row.models.first().expect("a row has a model");
        assert!(!row.source.document.is_empty(), "{name} has no source");
        let RowFacts { context_window, max_output, thinking, thinking_off, efforts, .. } =
            row.facts;
        let facts = row.facts.with_origin(Origin::Table(row.source.document));
        assert!(!facts.list().is_empty(), "{name} has no fact");
        assert!(
            context_window.is_none_or(|window| (4_000..=10_000_000).contains(&window)),
            "{name}"
        );
        if let (Some(window), Some(longest)) = (context_window, max_output) {
            assert!(longest < window, "{name}: an answer of {longest} in {window}");
        }
        if thinking == Some(ThinkingControl::None) {
            assert!(thinking_off.is_none(), "{name} doesn't think, so nothing turns it off");
            assert!(efforts.is_none_or(|efforts| efforts == Efforts::EMPTY), "{name}");
        }
        if thinking_off == Some(ThinkingOff::Never) {
            let none = efforts.is_some_and(|efforts| efforts.names().any(|name| name == "none"));
            assert!(!none, "{name} has the effort `none`, which turns thinking off");
        }
        let may_not_think = [facts.temperature, facts.top_p, facts.prefill, facts.forced_tools];
        if may_not_think.iter().flatten().any(|fact| fact.value == Accepts::WithoutThinking) {
            assert!(thinking != Some(ThinkingControl::None), "{name}");
        }
    }
}

#[test]
fn every_family_is_there() {
    for name in [
        "claude-opus-5-5",
        "gpt-6-astra",
        "o3",
        "gemini-4-argon",
        "deepseek-v4-pro",
        "qwen3.8-max",
        "mistral-large-latest",
        "llama-3.3-70b-instruct",
        "kimi-k3",
        "glm-5.3",
        "grok-4.7",
    ] {
        assert_ne!(lookup(name), ModelFacts::default(), "{name}");
    }
}

#[test]
fn spellings_of_one_model() {
    for (spelling, model) in [
        ("anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ("openrouter/anthropic/claude-opus-4.5:thinking", "claude-opus-4-5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("global.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0",
            "claude-haiku-4-5",
        ),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-opus-4-5@latest", "claude-opus-4-5"),
        ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ("Claude-Opus-4-5", "claude-opus-4-5"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("openai/gpt-5.1", "gpt-5.1"),
        ("ft:gpt-4o-2024-08-06:my-org::abc", "gpt-4o"),
        ("gpt-5-chat-latest", "gpt-5-chat"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("publishers/google/models/gemini-2.5-flash@default", "gemini-2.5-flash"),
        ("deepseek-ai/DeepSeek-V3.2", "deepseek-v3.2"),
        ("meta.llama3-1-70b-instruct-v1:0", "llama3.1-70b-instruct"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b-instruct"),
        ("accounts/fireworks/models/kimi-k2p5", "a-model-nobody-knows"),
        ("moonshotai/Kimi-K3", "kimi-k3"),
        ("zai-org/GLM-5.3", "glm-5.3"),
        ("x-ai/grok-4.7", "grok-4.7"),
        ("grok-4-7", "grok-4.7"),
    ] {
        assert_eq!(lookup(spelling), lookup(model), "{spelling}");
    }
}

/// The same model under a date may have had another limit.
#[test]
fn a_dated_row_wins() {
    let longest = |name| lookup(name).max_output.unwrap().value;
    assert_eq!(longest("gpt-4o-2024-05-13"), 4_096);
    assert_eq!(longest("gpt-4o-2024-08-06"), 16_384);
    assert_eq!(longest("openai/gpt-4o"), 16_384);
}

#[test]
fn unknown_models_have_no_facts() {
    for name in [
        "",
        "/",
        ":",
        "@",
        "-",
        "demo",
        "gpt",
        "claude",
        "my-claude-opus-4-5",
        "claude-opus-4-5-of-mine",
        "claude-opus-9",
        "gpt-5-search-api",
        "gpt-5.1.2",
        "o",
        "text-embedding-3-large",
        "qwen2.5-instruct",
    ] {
        assert_eq!(lookup(name), ModelFacts::default(), "{name}");
    }
}

#[test]
fn spot_checks() {
    let sonnet = lookup("claude-sonnet-4-5-20250929");
    assert_eq!(sonnet.context_window.unwrap().value, 200_000);
    assert_eq!(sonnet.thinking.unwrap().value, ThinkingControl::Budget);
    assert_eq!(sonnet.efforts.unwrap().value, Efforts::EMPTY);
    assert!(sonnet.temperature.unwrap().value.while_thinking(false));
    assert!(!sonnet.temperature.unwrap().value.while_thinking(true));
    assert!(!sonnet.temperature_with_top_p.unwrap().value);

    let opus = lookup("claude-opus-5-5");
    assert_eq!(opus.thinking.unwrap().value, ThinkingControl::Adaptive);
    assert_eq!(opus.thinking_off.unwrap().value, ThinkingOff::Never);
    assert_eq!(opus.efforts.unwrap().value.to_string(), "low, medium, high, xhigh, max");
    assert_eq!(opus.temperature.unwrap().value, Accepts::Never);
    assert_eq!(opus.forced_tools.unwrap().value, Accepts::Never);
    assert!(opus.system_turns.unwrap().value);

    let gpt = lookup("gpt-5.6");
    assert!(!gpt.chat_tools_with_reasoning.unwrap().value);
    assert_eq!(gpt.context_window.unwrap().value, 1_050_000);
    assert_eq!(gpt.prefill, None);

    assert!(lookup("moonshotai/kimi-k2.5").reads_call_ids.unwrap().value);

    let gemini = lookup("gemini-2.5-pro");
    assert!(gemini.media.unwrap().value.contains(Media::VIDEO.and(Media::DOCUMENT)));
    assert!(!lookup("o3-mini").media.unwrap().value.contains(Media::IMAGE));
}

#[test]
fn the_operator_is_believed_over_the_upstream_over_the_table() {
    let table = lookup("gpt-4o");
    let upstream = ModelFacts {
        context_window: Some(Fact { value: 64_000, origin: Origin::Upstream }),
        max_output: Some(Fact { value: 4_000, origin: Origin::Upstream }),
        ..ModelFacts::default()
    };
    let operator = ModelFacts {
        max_output: Some(Fact { value: 1_000, origin: Origin::Operator }),
        ..ModelFacts::default()
    };
    let facts = table.overlaid_with(upstream).overlaid_with(operator);
    assert_eq!(facts.context_window, upstream.context_window);
    assert_eq!(facts.max_output, operator.max_output);
    assert_eq!(facts.media, table.media);
    assert_eq!(facts.overlaid_with(ModelFacts::default()), facts);

    let listed = facts.list();
    let longest = listed.iter().find(|fact| fact.name == "max_output").unwrap();
    assert_eq!((longest.value.as_str(), longest.origin), ("1000", Origin::Operator));
    let media = listed.iter().find(|fact| fact.name == "media").unwrap();
    assert_eq!(media.value, "image, document");
    assert!(matches!(media.origin, Origin::Table(source) if source.contains("openai")));
}

#[test]
fn efforts_by_name() {
    let efforts = Efforts::from_names(["high", "ultra", "low"]);
    assert_eq!(efforts, Efforts::LOW.and(Efforts::HIGH));
    assert!(efforts.contains(&crate::model::Effort::High));
    assert!(!efforts.contains(&crate::model::Effort::Medium));
    assert_eq!(Efforts::EMPTY.to_string(), "not accepted");
    assert_eq!(Media::TEXT.to_string(), "text only");
}

#[test]
fn any_text_can_be_looked_up() {
    arbtest(|u| {
        let mut name = String::new();
        for _ in 0..u.int_in_range(0..=6)? {
            name.push_str(u.choose(&["us.", "-v1", ":", "/", "@", "-latest", "é", "*", "ft:"])?);
            name.push_str(u.arbitrary::<&str>()?);
        }
        lookup(&name);
        Ok(())
    });
}
