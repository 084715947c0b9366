//! Corpora of our own, each with other tools. The detector was made with
//! `development` and `classes`, corrected with `probes`, and measured with `held_out`
//! and `unseen`. The class of a case says what kind of language it is.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::super::Tools;
use super::{Intent, detect};

const DEVELOPMENT: Corpus = Corpus {
    tools: include_str!("corpus/development_tools.json"),
    cases: include_str!("corpus/development.jsonl"),
};

const PROBES: Corpus = Corpus {
    tools: include_str!("corpus/probes_tools.json"),
    cases: include_str!("corpus/probes.jsonl"),
};

const HELD_OUT: Corpus = Corpus {
    tools: include_str!("corpus/held_out_tools.json"),
    cases: include_str!("corpus/held_out.jsonl"),
};

const CLASSES: Corpus = Corpus {
    tools: include_str!("corpus/classes_tools.json"),
    cases: include_str!("corpus/classes.jsonl"),
};

const UNSEEN: Corpus = Corpus {
    tools: include_str!("corpus/unseen_tools.json"),
    cases: include_str!("corpus/unseen.jsonl"),
};

#[test]
fn announcements_that_the_detector_was_made_with() {
    let score = DEVELOPMENT.score();
    assert_eq!((score.false_calls, score.missed, score.inexact), (0, 0, 0), "{score:#?}");
}

/// Idioms such as "turn on the charm" are still taken literally.
#[test]
fn announcements_that_the_detector_was_corrected_with() {
    let score = PROBES.score();
    assert_eq!((score.missed, score.negatives), (0, 101), "{score:#?}");
    assert!(score.false_texts <= 3 && score.inexact <= 1, "{score:#?}");
}

/// Some announcements are too vague on purpose: "check the tests with `npm test`".
#[test]
fn announcements_of_every_class_of_language() {
    let score = CLASSES.score();
    assert_eq!(score.false_calls, 0, "{score:#?}");
    assert!(score.missed <= 7 && score.inexact <= 3, "{score:#?}");
}

#[test]
fn announcements_that_the_detector_was_not_made_with() {
    HELD_OUT.score().check_targets();
    UNSEEN.score().check_targets();
}

/// What a speaker does not commit to is no call, whatever it is.
#[test]
fn no_frame_but_a_commitment_announces() {
    let tools = CLASSES.definitions();
    for (case, action) in announced_actions(CLASSES) {
        for frame in NO_COMMITMENTS {
            let text = frame.replace("{}", &action);
            assert_eq!(detect_with(&tools, &case, &text).calls, [], "{text}");
        }
    }
}

/// However a speaker commits to an action, it is the same call.
#[test]
fn every_commitment_announces_the_same() {
    let tools = CLASSES.definitions();
    for (case, action) in announced_actions(CLASSES) {
        let expected = detect_with(&tools, &case, &format!("I'll {action}.")).calls;
        for frame in COMMITMENTS {
            let text = frame.replace("{}", &action);
            assert_eq!(detect_with(&tools, &case, &text).calls, expected, "{text}");
        }
    }
}

/// What comes long before the end of an answer is not what the model does next.
#[test]
fn only_the_end_of_a_long_answer_counts() {
    let tools = DEVELOPMENT.definitions();
    let declared = Tools::read(&json!([tools["list_folder"]]).to_string()).unwrap();
    let announcement = "I'll list the folder src/.";
    let filler = "Nothing to see here.\n\n".repeat(4000);
    assert_eq!(detect(&format!("{announcement}\n\n{filler}"), &declared).calls, []);
    assert_eq!(detect(&format!("{filler}{announcement}"), &declared).calls.len(), 1);
    let fenced = format!("```\n{filler}{announcement}");
    assert_eq!(detect(&fenced, &declared).calls, []);
}

#[test]
fn members_of_an_object_are_filled() {
    let schema = r#"{"type":"object","properties":{"topic":{"type":"string"},"time":{"type":"object","properties":{"start":{"type":"string"},"zone":{"type":"string"}},"required":["start"]}},"required":["topic","time"]}"#;
    let mut tools = Tools::default();
    tools.add("schedule_meeting", "Schedule a meeting", Some(schema));
    let found = detect("I'll schedule a meeting about \"Budget\" at 2026-05-06T10:00.", &tools);
    let expected = r#"{"topic":"Budget","time":{"start":"2026-05-06T10:00"}}"#;
    assert_eq!(found.calls[0].arguments, expected);
}

#[test]
fn announcements_that_wait_for_an_answer_are_a_plan() {
    let mut tools = Tools::default();
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
    tools.add("delete_file", "Delete a file", Some(schema));
    assert_eq!(detect("I'll delete tmp/a.", &tools).calls.len(), 1);
    for after in ["Is that okay?", "Shall I proceed?", "Please confirm.", "I'll wait for your OK."]
    {
        let found = detect(&format!("I'll delete tmp/a. {after}"), &tools);
        assert_eq!(found.calls, [], "{after}");
        assert!(found.needs_tools, "{after}");
    }
}

#[test]
fn arguments_fit_the_schema_of_a_declared_tool() {
    for corpus in [DEVELOPMENT, HELD_OUT] {
        let tools = corpus.definitions();
        let all: Vec<&Value> = tools.values().collect();
        let declared = Tools::read(&json!(all).to_string()).unwrap();
        arbtest::arbtest(|u| {
            let cases = corpus.cases();
            let mut text = String::new();
            for _ in 0..u.int_in_range(1..=4)? {
                let case = u.choose(&cases)?;
                let sentence = case["text"].as_str().unwrap();
                let cut = u.int_in_range(0..=sentence.len())?;
                let cut = (0..=cut).rev().find(|cut| sentence.is_char_boundary(*cut)).unwrap();
                text.push_str(if u.ratio(1, 2)? { sentence } else { &sentence[..cut] });
                text.push_str(u.choose(&[" ", "\n", ", and ", "\"", "`", ". ", ""])?);
            }
            for call in detect(&text, &declared).calls {
                let tool = tools
                    .get(&call.name)
                    .unwrap_or_else(|| panic!("{} is not declared", call.name));
                let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).unwrap();
                check_arguments(&tool["parameters"], &arguments, &text);
            }
            Ok(())
        });
    }
}

#[test]
fn only_the_first_person_is_committed() {
    for corpus in [DEVELOPMENT, HELD_OUT] {
        for case in corpus.cases() {
            let text = case["text"].as_str().unwrap();
            let progressive =
                text.split_whitespace().any(|word| word.to_lowercase().ends_with("ing"));
            for (subject, other) in [
                ("I'll", "She'll"),
                ("Let me", "Let her"),
                ("I'm", "He's"),
                ("I will", "They will"),
                ("I need", "You need"),
                ("let me", "let them"),
                ("I have", "You have"),
            ] {
                if text.matches(subject).count() == 1
                    && !progressive
                    && text.matches("I'll").count() + text.matches("et me").count() <= 1
                {
                    let text = text.replace(subject, other);
                    assert_eq!(corpus.detect(&case, &text).calls, [], "{text}");
                }
            }
        }
    }
}

/// Whoever is quoted, shown or asked does not commit to anything.
#[test]
fn quotations_code_questions_and_conditions_are_no_announcements() {
    for corpus in [DEVELOPMENT, HELD_OUT] {
        for case in corpus.cases() {
            let text = case["text"].as_str().unwrap();
            let bare = text.trim_end_matches(['.', '\u{2026}']);
            let quoted = format!("> {}", text.replace('\n', "\n> "));
            let questions = format!("{bare}?");
            for other in [
                format!("~~~\n{text}\n~~~"),
                format!("For example:\n\n{text}"),
                format!("    {}", text.replace('\n', "\n    ")),
                quoted,
                if text.contains(". ") || text.contains("! ") { String::new() } else { questions },
                if text.contains(". ") || text.contains("! ") {
                    String::new()
                } else {
                    format!("If that helps, {bare}.")
                },
                if text.contains(". ") || text.contains("! ") {
                    String::new()
                } else {
                    format!("Once CI is green, {bare}.")
                },
                if text.contains(". ") || text.contains("! ") {
                    String::new()
                } else {
                    format!("{bare} unless you object.")
                },
            ] {
                assert_eq!(corpus.detect(&case, &other).calls, [], "{other}");
            }
        }
    }
}

#[test]
fn a_name_is_no_ticker_symbol() {
    let mut tools = Tools::default();
    let schema = r#"{"type":"object","properties":{"symbol":{"type":"string","description":"Ticker symbol"}},"required":["symbol"]}"#;
    tools.add("get_stock_price", "Get the latest price of a stock", Some(schema));
    let text = "Let me check the price of a used 2019 Honda Civic.";
    assert_eq!(detect(text, &tools).calls, [], "{text}");
    assert_eq!(detect("Let me check the stock price of NVDA.", &tools).calls.len(), 1);
}

#[test]
fn no_tools_no_calls() {
    for case in DEVELOPMENT.cases() {
        let found = detect(case["text"].as_str().unwrap(), &Tools::default());
        assert_eq!(found, Intent::default());
    }
}

#[test]
fn an_announcement_without_its_arguments_needs_tools() {
    let tools = DEVELOPMENT.definitions();
    let declared = Tools::read(&json!([tools["resize_image"]]).to_string()).unwrap();
    let found = detect("I'll resize banner.png.", &declared);
    assert!(found.needs_tools && found.calls.is_empty(), "{found:?}");
    let found = detect("I'll resize banner.png to 10x20. Wait a moment.", &declared);
    assert_eq!(found.reasoning, "I'll resize banner.png to 10x20.");
    assert!(found.needs_tools && found.confidence > 0.5, "{found:?}");
}

#[derive(Clone, Copy)]
struct Corpus {
    tools: &'static str,
    cases: &'static str,
}

#[derive(Debug, Default)]
struct Score {
    right: usize,
    inexact: usize,
    missed: usize,
    false_calls: usize,
    false_texts: usize,
    negatives: usize,
    wrong: Vec<String>,
}

impl Score {
    fn check_targets(&self) {
        let found = self.right + self.inexact;
        let wanted = found + self.missed;
        assert!(self.false_calls * 100 <= 3 * (found + self.false_calls), "precision: {self:#?}");
        assert!(found * 100 >= 80 * wanted, "recall: {self:#?}");
        assert!(self.right * 100 >= 85 * found, "arguments: {self:#?}");
        assert!(self.false_texts * 36 <= self.negatives, "false calls: {self:#?}");
    }
}

/// Some cases of one announcement, "I'll …", and what it announces.
fn announced_actions(corpus: Corpus) -> impl Iterator<Item = (Value, String)> {
    let of_one = |case: &Value| case["calls"].as_array().unwrap().len() == 1;
    let cases = corpus.cases().into_iter().filter(of_one).filter_map(|case| {
        let action = case["text"].as_str().unwrap().strip_prefix("I'll ")?.strip_suffix('.')?;
        let is_plain = [". ", "! ", "I'll", " if ", "remind", "task"];
        let action =
            (!is_plain.iter().any(|word| action.contains(word))).then(|| action.to_owned());
        action.map(|action| (case, action))
    });
    cases.step_by(5)
}

const NO_COMMITMENTS: &[&str] = &[
    "I won't {}.",
    "I can {}.",
    "I could {}.",
    "I'd {}.",
    "I might {}.",
    "Should I {}?",
    "Do you want me to {}?",
    "You can {}.",
    "Please {}.",
    "To {}, you need access.",
    "If you want, I'll {}.",
    "Once you confirm, I'll {}.",
    "I'll {} if you agree.",
    "I'll {} as soon as you confirm.",
    "Say yes and I'll {}.",
    "He'll {}.",
    "The script will {}.",
    "I used to {}.",
    "I want to {}.",
    "I'm happy to {}.",
    "I refuse to {}.",
    "I was going to {}.",
    "I'm planning to {}.",
    "Let me know if I should {}.",
    "Feel free to {}.",
    "I'll let you {}.",
    "I'll ask Bob to {}.",
    "I'll have Anna {}.",
    "I'll show you how to {}.",
    "Maybe I'll {}.",
    "Tomorrow I'll {}.",
    "I'll never {}.",
    "I'm not going to {}.",
    "He said I'll {}.",
    "For example, I'll {}.",
    "A typical answer would be: I'll {}.",
    "I'll {}. Is that okay?",
];

const COMMITMENTS: &[&str] = &[
    "Let me {}.",
    "I will {}.",
    "I'm going to {}.",
    "I'm about to {}.",
    "First, I'll {}.",
    "Okay, let me {}.",
    "I need to {}.",
    "I'll go ahead and {}.",
    "To answer that, I'll {}.",
    "My next step is to {}.",
    "The first thing I'll do is {}.",
    "One moment while I {}.",
    "Give me a second, I'll {}.",
    "Got it, I'll {}.",
    "I'll {} and let you know what I find.",
    "I'll {} right away.",
];

impl Corpus {
    fn definitions(self) -> HashMap<String, Value> {
        let tools: Vec<Value> = serde_json::from_str(self.tools).unwrap();
        tools.into_iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool)).collect()
    }

    fn cases(self) -> Vec<Value> {
        self.cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What is found in a text with the tools of a case.
    fn detect(self, case: &Value, text: &str) -> Intent {
        detect_with(&self.definitions(), case, text)
    }

    fn score(self) -> Score {
        let tools = self.definitions();
        let mut score = Score::default();
        for case in self.cases() {
            let text = case["text"].as_str().unwrap();
            let mut wanted: Vec<Value> = case["calls"].as_array().unwrap().clone();
            let negative = wanted.is_empty();
            score.negatives += usize::from(negative);
            let found = detect_with(&tools, &case, text);
            score.false_texts += usize::from(negative && !found.calls.is_empty());
            let before = score.right;
            let count = wanted.len();
            for call in &found.calls {
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                let same_name = |wanted: &Value| wanted["name"] == call.name.as_str();
                let exact =
                    |wanted: &Value| same_name(wanted) && equal(&wanted["arguments"], &arguments);
                if let Some(at) = wanted.iter().position(exact) {
                    wanted.remove(at);
                    score.right += 1;
                } else if let Some(at) = wanted.iter().position(same_name) {
                    wanted.remove(at);
                    score.inexact += 1;
                } else {
                    score.false_calls += 1;
                }
            }
            score.missed += wanted.len();
            if score.right - before != count || found.calls.len() != count {
                score.wrong.push(format!("{text} -> {:?}", found.calls));
            }
        }
        score
    }
}

fn detect_with(tools: &HashMap<String, Value>, case: &Value, text: &str) -> Intent {
    let names = case["tools"].as_array().unwrap();
    let chosen: Vec<&Value> = names.iter().map(|name| &tools[name.as_str().unwrap()]).collect();
    detect(text, &Tools::read(&json!(chosen).to_string()).unwrap())
}

/// Whether two values are the same; 5 is 5.0.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| equal(value, other)))
        }
        (a, b) => a == b,
    }
}

fn check_arguments(schema: &Value, arguments: &Map<String, Value>, text: &str) {
    for name in schema["required"].as_array().unwrap() {
        assert!(arguments.contains_key(name.as_str().unwrap()), "{name} is missing: {text}");
    }
    for (name, value) in arguments {
        let property = &schema["properties"][name];
        let fits = match property["type"].as_str().unwrap() {
            "string" => value.is_string(),
            "integer" => value.is_i64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            other => panic!("{other}"),
        };
        assert!(fits, "{name} is {value}: {text}");
        if let Some(choices) = property["enum"].as_array() {
            assert!(choices.contains(value), "{name} is {value}: {text}");
        }
    }
}
