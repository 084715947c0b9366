//! Limits, approval, progress and cancellation.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use toolwire_runner::{
    Approval, Client, Error, Event, Json, NoArguments, Protocol, Request, Runner, Tool, ToolSet,
};

use crate::scripted::ScriptedModel;
use crate::{call, calls, message, read, run, runner, says};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// An answer with so many calls of a tool.
fn many(name: &str, count: usize) -> Value {
    let list: Vec<Value> = (0..count).map(|n| call(&format!("call_{n}"), name, "{}")).collect();
    message(json!({"role": "assistant", "content": null, "tool_calls": list}))
}

#[tokio::test]
async fn no_more_tools_run_at_once_than_the_limit_allows() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, peak) = (Arc::clone(&now), Arc::clone(&most));
    let work = move |_: NoArguments| {
        let (running, peak) = (Arc::clone(&running), Arc::clone(&peak));
        async move {
            peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(ms(20)).await;
            running.fetch_sub(1, Ordering::SeqCst);
        }
    };
    let tools = ToolSet::new().add(Tool::new("work", "Works", work)).unwrap();
    let runner = Runner::new(tools).concurrency(3);
    let (outcome, _model) =
        run(&runner, Protocol::Chat, vec![many("work", 10), says("Done.")]).await;
    assert_eq!(outcome.unwrap().calls().len(), 10);
    assert_eq!((now.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (0, 3));
}

#[tokio::test]
async fn rounds_are_limited_and_the_conversation_can_go_on() {
    let forever = vec![many("work", 1); 3];
    let tools = ToolSet::new().add(Tool::new("work", "", |_: NoArguments| async {})).unwrap();
    let (outcome, model) = run(&Runner::new(tools).max_rounds(3), Protocol::Chat, forever).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.to_string(), "the model still calls tools after 3 rounds");
    let Error::RoundLimit { outcome } = error else { panic!("{error}") };
    assert_eq!(model.requests().len(), 3);
    let next: Value = serde_json::from_slice(outcome.request()).unwrap();
    assert_eq!(next["messages"].as_array().unwrap().len(), 7);
}

#[tokio::test]
async fn a_call_that_is_not_approved_leaves_no_trace() {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let work = move |_: NoArguments| {
        count.fetch_add(1, Ordering::SeqCst);
        async { "done" }
    };
    let tools = ToolSet::new().add(Tool::new("work", "", work)).unwrap();
    let runner = Runner::new(tools).approve(|call| async move {
        if call.id == "call_0" { Approval::Allow } else { Approval::Deny("no".to_owned()) }
    });
    let (outcome, _model) =
        run(&runner, Protocol::Messages, vec![many("work", 2), says("Done.")]).await;
    let denied = "the call was not approved: no".to_owned();
    assert_eq!(read(&outcome.unwrap()), [("done".to_owned(), false), (denied, true)]);
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

/// The end of the stream comes late, and the tool has finished by then.
#[tokio::test]
async fn a_tool_starts_before_its_stream_ends() {
    for protocol in Protocol::ALL {
        let start = Instant::now();
        let finished: Arc<Mutex<Vec<Duration>>> = Arc::default();
        let seen = Arc::clone(&finished);
        let answers = vec![
            calls(Some("Let me look."), &[("call_1", "Paris"), ("call_2", "Rome")]),
            says("Sunny."),
        ];
        let model = ScriptedModel::paced(protocol, answers, ms(400)).await;
        let client = Client::new(protocol, &model.address).unwrap();
        let runner = runner().streaming(true).on_event(move |event| {
            if let Event::Finished { .. } = event {
                seen.lock().unwrap().push(start.elapsed());
            }
        });
        runner.run(&client, Request::new("m", "Weather?")).await.unwrap();
        let first = finished.lock().unwrap()[0];
        assert!(first < ms(400), "{protocol}: {first:?}");
    }
}

#[tokio::test]
async fn progress_is_told_in_order() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&told);
    let runner = runner().streaming(true).on_event(move |event| {
        let line = match event {
            Event::Asked { round } => format!("asked {round}"),
            Event::Text(text) => format!("text {text}"),
            Event::Called(call) => format!("called {}", call.name),
            Event::Started(call) => format!("started {}", call.id),
            Event::Finished { call, output, .. } => format!("{} {}", call.id, output.is_error),
            other @ (Event::ChoiceRelaxed | _) => panic!("{other:?}"),
        };
        log.lock().unwrap().push(line);
    });
    let answers = vec![calls(Some("Hm."), &[("call_1", "Paris")]), says("Sunny.")];
    let (outcome, _model) = run(&runner, Protocol::Messages, answers).await;
    outcome.unwrap();
    let expected = [
        "asked 0", "text Hm.", "called get_weather", "started call_1", "call_1 false", "asked 1",
        "text Sunny.",
    ];
    assert_eq!(*told.lock().unwrap(), expected);
}

struct Alarm(Arc<AtomicUsize>);

impl Drop for Alarm {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn dropping_a_run_cancels_its_tools() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let alarms = Arc::clone(&dropped);
    let work = move |_: NoArguments| {
        let alarm = Alarm(Arc::clone(&alarms));
        async move {
            let _alarm = alarm;
            std::future::pending::<()>().await;
        }
    };
    let tools = ToolSet::new().add(Tool::new("work", "", work)).unwrap();
    let model = ScriptedModel::start(Protocol::Chat, vec![many("work", 2)]).await;
    let client = Client::new(Protocol::Chat, &model.address).unwrap();
    let runner = Runner::new(tools);
    let run = runner.run(&client, Request::new("m", "Go"));
    assert!(tokio::time::timeout(ms(300), run).await.is_err());
    sleep(ms(50)).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Trade {
    /// The amount in cents, which does not fit a floating-point number.
    amount: u64,
    #[serde(default)]
    note: Option<String>,
}

/// The schema comes from the type, and numbers reach the function as the model
/// wrote them.
#[tokio::test]
async fn arguments_are_a_rust_type() {
    let trade = |Trade { amount, note }: Trade| async move { Json((amount, note)) };
    let tools = ToolSet::new().add(Tool::new("trade", "Trades", trade)).unwrap();
    let rendered = tools.render(Protocol::Messages).unwrap();
    let rendered: Value = serde_json::from_slice(&rendered.body).unwrap();
    let schema = &rendered[0]["input_schema"];
    assert_eq!(schema["required"], json!(["amount"]));
    let comment = "The amount in cents, which does not fit a floating-point number.";
    assert_eq!(schema["properties"]["amount"]["description"], comment);
    let made = call("call_1", "trade", r#"{"amount": 9007199254740993}"#);
    let asked = message(json!({"role": "assistant", "content": null, "tool_calls": [made]}));
    let (outcome, _model) =
        run(&Runner::new(tools), Protocol::Messages, vec![asked, says("Done.")]).await;
    assert_eq!(read(&outcome.unwrap())[0].0, "[9007199254740993,null]");
}

#[tokio::test]
async fn an_api_that_refuses_is_an_error() {
    let body = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}});
    let answers = vec![json!({"status": 429, "body": body})];
    let (outcome, _model) = run(&runner(), Protocol::Messages, answers).await;
    let error = outcome.unwrap_err();
    let Error::Api { status: 429, error } = &error else { panic!("{error}") };
    assert_eq!(error.kind, toolwire::ErrorKind::RateLimit);
}

#[test]
fn tools_that_no_model_can_be_offered() {
    let tool = |name: &str| Tool::new(name, "", |_: NoArguments| async {});
    let twice = ToolSet::new().add(tool("f")).unwrap().add(tool("f")).unwrap_err();
    assert!(twice.to_string().contains("the name is taken"), "{twice}");
    let named = ToolSet::new().add(tool("a b")).unwrap_err();
    assert!(named.to_string().contains("1 to 64 letters"), "{named}");
    let run = |_: Value| async {};
    let broken = Tool::with_schema("f", "", json!({"type": "object", "required": 5}), run);
    let broken = ToolSet::new().add(broken).unwrap_err();
    assert!(broken.to_string().contains("schema"), "{broken}");
}

#[test]
fn a_key_does_not_show() {
    let client = Client::new(Protocol::Messages, "https://api.anthropic.com/v1/").unwrap();
    let client = client.key("sk-ant-secret").unwrap();
    assert!(!format!("{client:?}").contains("secret"));
    for wrong in ["", "ftp://x", "127.0.0.1", "http://"] {
        assert!(Client::new(Protocol::Chat, wrong).is_err(), "{wrong}");
    }
}

/// A model that must call a tool would call it in every round.
#[tokio::test]
async fn a_forced_choice_is_relaxed_after_the_first_round() {
    let tool = json!({"type": "function", "name": "get_weather"});
    let restricted = json!({"type": "allowed_tools", "mode": "required", "tools": [tool]});
    let free = json!({"type": "allowed_tools", "mode": "auto", "tools": [tool]});
    let named = json!({"type": "function", "function": {"name": "get_weather"}});
    let once = json!({"type": "any", "disable_parallel_tool_use": true});
    let then = json!({"type": "auto", "disable_parallel_tool_use": true});
    let [chat, responses, messages] = Protocol::ALL;
    let cases = [
        (chat, "tool_choice", json!("required"), json!("auto")),
        (chat, "tool_choice", named, json!("auto")),
        (chat, "function_call", json!({"name": "get_weather"}), json!("auto")),
        (responses, "tool_choice", json!("required"), json!("auto")),
        (responses, "tool_choice", tool.clone(), json!("auto")),
        (responses, "tool_choice", restricted, free),
        (messages, "tool_choice", json!({"type": "any"}), json!({"type": "auto"})),
        (messages, "tool_choice", once, then),
        // These leave the model free, and stay.
        (chat, "tool_choice", json!("auto"), json!("auto")),
        (responses, "tool_choice", json!("none"), json!("none")),
    ];
    for (protocol, member, forced, relaxed) in cases {
        let told = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&told);
        let runner = runner().on_event(move |event| {
            count.fetch_add(usize::from(matches!(event, Event::ChoiceRelaxed)), Ordering::SeqCst);
        });
        let twice = vec![
            calls(None, &[("call_1", "Paris")]),
            calls(None, &[("call_2", "Rome")]),
            says("Sunny."),
        ];
        let model = ScriptedModel::start(protocol, twice).await;
        let client = Client::new(protocol, &model.address).unwrap();
        let mut body = json!({"model": "m", "max_tokens": 9, member: forced});
        let members = protocol.describe().conversation_members;
        let conversation = if members.contains(&"input") { "input" } else { "messages" };
        body[conversation] = json!([{"role": "user", "content": "Weather?"}]);
        runner.run(&client, body).await.unwrap();
        let sent: Vec<Value> =
            model.requests().iter().map(|request| request[member].clone()).collect();
        assert_eq!(sent, [forced.clone(), relaxed.clone(), relaxed.clone()], "{protocol}");
        assert_eq!(told.load(Ordering::SeqCst), usize::from(forced != relaxed), "{protocol}");
    }
}
