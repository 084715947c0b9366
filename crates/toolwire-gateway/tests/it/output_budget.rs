//! A limit for answers where the client sets none, if the operator wants one.

use toolwire::Protocol;
use toolwire_tokens::BudgetPolicy;

use crate::upstream::{Server, whole};
use crate::{at, client, config, fixtures, start};

/// What an upstream got for a question to `model`, and what the client heard of it.
async fn ask(
    from: Protocol,
    to: Protocol,
    model: &str,
    question: &str,
    policy: Option<BudgetPolicy>,
) -> (serde_json::Value, Option<String>) {
    let server = Server::new(to, whole(200, "", fixtures::answer(to))).await;
    let mut config = config(vec![at(&server)]);
    config.upstreams[0].output_budget = policy;
    let gateway = start(config).await;
    let question = question.replacen(r#""m""#, &format!("{model:?}"), 1);
    let got = client::post(gateway.address(), fixtures::path(from), &[], &question).await;
    assert_eq!(got.status, 200, "{got:?}");
    let sent = serde_json::from_str(&server.only().body).unwrap();
    (sent, got.header("toolwire-loss").map(str::to_owned))
}

#[tokio::test]
async fn a_policy_limits_answers_that_the_client_does_not() {
    let (chat, messages) = (Protocol::Chat, Protocol::Messages);
    let question = fixtures::question(chat, false);
    for (to, model, policy, member, expected) in [
        // One tool: the least for any.
        (messages, "claude-sonnet-4-5", BudgetPolicy::Tools, "max_tokens", 15_000),
        (chat, "gpt-4o", BudgetPolicy::Tools, "max_completion_tokens", 15_000),
        // 4,000 times 1.7.
        (chat, "gpt-4o", BudgetPolicy::Conversation, "max_completion_tokens", 6_800),
        (messages, "my-model", BudgetPolicy::Conversation, "max_tokens", 6_800),
        // A short prompt leaves more than the longest output.
        (messages, "claude-sonnet-4-5", BudgetPolicy::Context, "max_tokens", 64_000),
        (chat, "gpt-4o", BudgetPolicy::Context, "max_completion_tokens", 16_384),
    ] {
        let (sent, loss) = ask(chat, to, model, &question, Some(policy)).await;
        assert_eq!(sent[member], expected, "{model}, {policy}: {sent}");
        let loss = loss.unwrap();
        let reported =
            r#""/max_completion_tokens";code=max_tokens_budget;action=degraded;level=info"#;
        assert!(loss.contains(reported), "{loss}");
    }
}

#[tokio::test]
async fn without_a_policy_nothing_changes() {
    let question = fixtures::question(Protocol::Chat, false);
    let (sent, loss) = ask(Protocol::Chat, Protocol::Chat, "gpt-4o", &question, None).await;
    assert_eq!((sent.get("max_completion_tokens"), loss), (None, None));
}

#[tokio::test]
async fn a_limit_of_the_client_is_its_own() {
    for policy in BudgetPolicy::ALL {
        let question = fixtures::question(Protocol::Messages, false);
        for to in [Protocol::Messages, Protocol::Chat] {
            let (sent, loss) = ask(Protocol::Messages, to, "gpt-4o", &question, Some(policy)).await;
            let member = to.describe().limit_members[0];
            assert_eq!(sent[member], 100, "{policy}, {to}: {sent}");
            assert!(!loss.unwrap_or_default().contains("max_tokens_budget"));
        }
    }
}

/// A window that nobody knows is not guessed.
#[tokio::test]
async fn the_context_of_an_unknown_model_decides_nothing() {
    let question = fixtures::question(Protocol::Chat, false);
    let policy = Some(BudgetPolicy::Context);
    let (sent, loss) = ask(Protocol::Chat, Protocol::Chat, "my-model", &question, policy).await;
    assert_eq!((sent.get("max_completion_tokens"), loss), (None, None));
}
