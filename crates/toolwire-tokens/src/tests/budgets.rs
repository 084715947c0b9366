//! Budgets, computed by hand.

use toolwire::Protocol;
use toolwire::facts::{self, Fact, ModelFacts, Origin};
use toolwire::translate::PreparedRequest;

use crate::budget::{context_budget, conversation_budget, tools_budget};
use crate::{BudgetPolicy, Tokenizer, count_request};

#[test]
fn more_for_each_tool() {
    // Without tools, the base.
    assert_eq!(tools_budget(0, 4_000), 4_000);
    assert_eq!(tools_budget(0, 0), 0);
    // 4,000 + 1,000 + 5,000 = 10,000 is less than the least.
    assert_eq!(tools_budget(1, 4_000), 15_000);
    // 4,000 + 6,000 + 5,000 is just the least; one more tool is more.
    assert_eq!(tools_budget(6, 4_000), 15_000);
    assert_eq!(tools_budget(7, 4_000), 16_000);
    // 2 × 10,000 against 10,000 + 2,000 + 5,000.
    assert_eq!(tools_budget(2, 10_000), 20_000);
    // 2 × 10,000 against 10,000 + 20,000 + 5,000.
    assert_eq!(tools_budget(20, 10_000), 35_000);
}

#[test]
fn more_in_a_conversation() {
    let budget = |base, tools, turns, model| conversation_budget(base, tools, turns, model, None);
    assert_eq!(budget(4_000, 0, 1, "gpt-4o"), 4_000);
    // 4,000 × 1.7, × 2.1, × 3.5.
    assert_eq!(budget(4_000, 1, 1, "gpt-4o"), 6_800);
    assert_eq!(budget(4_000, 3, 1, "gpt-4o"), 8_400);
    assert_eq!(budget(4_000, 10, 1, "gpt-4o"), 14_000);
    // 1,001 × 1.7 = 1,701.7, rounded down.
    assert_eq!(budget(1_001, 1, 1, "gpt-4o"), 1_701);
    // Five turns add nothing, six add 1,200.
    assert_eq!(budget(4_000, 0, 5, "gpt-4o"), 4_000);
    assert_eq!(budget(4_000, 0, 6, "gpt-4o"), 5_200);
    // Turns come on top of what the model needs.
    assert_eq!(budget(4_000, 1, 6, "o4-mini"), 21_200);
    assert_eq!(budget(4_000, 0, 1, "o4-mini-2025-04-16"), 20_000);
    assert_eq!(budget(4_000, 0, 1, "o3"), 15_000);
    assert_eq!(budget(16_000, 0, 1, "openai/o3-mini"), 16_000);
    // The model's longest output is the end.
    assert_eq!(conversation_budget(4_000, 1, 6, "o4-mini", Some(20_500)), 20_500);
}

#[test]
fn what_is_left_of_the_window() {
    assert_eq!(context_budget(200_000, 10_000, Some(64_000)), Some(64_000));
    assert_eq!(context_budget(200_000, 150_000, Some(64_000)), Some(50_000));
    assert_eq!(context_budget(200_000, 150_000, None), Some(50_000));
    assert_eq!(context_budget(200_000, 198_976, Some(64_000)), Some(1_024));
    assert_eq!(context_budget(200_000, 198_977, Some(64_000)), None);
    assert_eq!(context_budget(200_000, 300_000, None), None);
    // A model may be made for short answers.
    assert_eq!(context_budget(200_000, 10_000, Some(512)), Some(512));
}

#[test]
fn policies_on_a_request() {
    let body = br#"{"model":"m","messages":[{"role":"user","content":"Hi"}],
        "tools":[{"type":"function","function":{"name":"a"}}]}"#;
    let prepared = PreparedRequest::new(Protocol::Chat, Protocol::Messages, body).unwrap();
    let request = prepared.request().unwrap();
    let sonnet = facts::lookup("claude-sonnet-4-5");
    let limit = |policy: BudgetPolicy, facts: &ModelFacts| {
        policy.limit(request, "claude-sonnet-4-5", facts)
    };

    assert_eq!(limit(BudgetPolicy::Tools, &sonnet), Some(15_000));
    assert_eq!(limit(BudgetPolicy::Conversation, &sonnet), Some(6_800));
    assert_eq!(limit(BudgetPolicy::Context, &sonnet), Some(64_000));

    // Nothing is guessed about a model that nobody knows.
    let nothing = ModelFacts::default();
    assert_eq!(limit(BudgetPolicy::Tools, &nothing), Some(15_000));
    assert_eq!(limit(BudgetPolicy::Context, &nothing), None);

    let known = |value| Some(Fact { value, origin: Origin::Operator });
    let mut small = ModelFacts::default();
    small.context_window = known(8_192);
    let prompt = count_request(request, Tokenizer::ESTIMATE);
    assert_eq!(limit(BudgetPolicy::Context, &small), Some(8_192 - prompt));
    small.max_output = known(2_048);
    assert_eq!(limit(BudgetPolicy::Tools, &small), Some(2_048));
    assert_eq!(limit(BudgetPolicy::Conversation, &small), Some(2_048));
    assert_eq!(limit(BudgetPolicy::Context, &small), Some(2_048));
}
