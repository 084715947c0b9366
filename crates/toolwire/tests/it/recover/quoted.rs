//! Calls that are only talked about: quotations, code samples, examples, tool
//! definitions, results that somebody quotes. None of them is a call.

use serde_json::json;
use toolwire_laws::recover::{self as laws, Reading};

use super::dialects::{Call, all, call, tools};

/// A text that quotes a call.
struct Quotation {
    name: &'static str,
    write: fn(&str) -> String,
    /// Whether it also turns calls without markers into text.
    takes_soft: bool,
}

const fn quotation(name: &'static str, write: fn(&str) -> String) -> Quotation {
    Quotation { name, write, takes_soft: true }
}

const QUOTATIONS: [Quotation; 30] = [
    quotation("inline code", |call| format!("Write `{}` to book.", one_line(call))),
    quotation("inline code in double backticks", |call| {
        format!("Write ``{}`` to book.", one_line(call))
    }),
    quotation("python fence", |call| {
        format!("This is how it is done:\n\n```python\nprint('''{call}''')\n```\n\nThat is all.")
    }),
    quotation("bash fence", |call| format!("Run this:\n```bash\necho '{}'\n```\n", one_line(call))),
    quotation("long fence", |call| format!("See below.\n\n````markdown\n{call}\n````\n")),
    quotation("fence with more in it", |call| {
        format!("The log says:\n\n```\n12:01 request\n{call}\n12:02 done\n```\n")
    }),
    quotation("open fence", |call| {
        format!("The log says:\n\n```log\n12:01 request\n{call}\n12:02 done")
    }),
    quotation("block quote", |call| {
        format!("The user wrote:\n\n{}\n\nI did nothing.", quote(call))
    }),
    quotation("for example", |call| {
        format!("A model calls a tool like this. For example:\n\n{call}\n\nThen it waits.")
    }),
    quotation("an example", |call| {
        format!("Here is an example of a call:\n{call}\nNote the format.")
    }),
    quotation("for instance", |call| format!("For instance, the following is a call:\n\n{call}\n")),
    quotation("looks like", |call| {
        format!("In this dialect a call looks like this:\n\n{call}\n\nIs that what you meant?")
    }),
    quotation("you would", |call| format!("To book a table you would write:\n\n{call}\n")),
    quotation("syntax", |call| format!("The syntax is:\n\n{call}\n")),
    quotation("the format is", |call| format!("**The format is:**\n\n{call}\n")),
    quotation("sample output", |call| format!("Sample output:\n\n{call}\n")),
    quotation("double quotes", |call| {
        format!("The page says \"{}\" and nothing else.", one_line(call))
    }),
    quotation("single quotes", |call| {
        format!("The page says '{}' and nothing else.", one_line(call))
    }),
    quotation("curly quotes", |call| {
        format!("The page says “{}” and nothing else.", one_line(call))
    }),
    quotation("guillemets", |call| format!("La page dit «{}» et rien d'autre.", one_line(call))),
    quotation("in a document", |call| format!("{}\n", json!({"status": 200, "body": call}))),
    quotation("in a fenced document", |call| {
        format!("The result:\n\n```json\n{:#}\n```\n", json!({"role": "tool", "output": call}))
    }),
    quotation("in a list of documents", |call| {
        format!("{}\n", json!([{"path": "a.txt", "content": call}]))
    }),
    quotation("thought", |call| {
        format!("<think>I could write {call} here, or not.</think>\n\nIt is 5 o'clock.")
    }),
    quotation("thought to the end", |call| format!("<think>I could write\n{call}")),
    quotation("analysis channel", |call| {
        format!(
            "<|channel|>analysis<|message|>I could write {} here<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>",
            one_line(call).replace("<|channel|>", "").replace("<|start|>", "")
        )
    }),
    quotation("indented fence", |call| {
        format!("1. Call it:\n\n   ```xml\n   first\n{}\n   ```\n2. Wait.", indent(call))
    }),
    quotation("e.g.", |call| format!("Use a tool, e.g.: {}", one_line(call))),
    quotation("tilde fence", |call| format!("See:\n\n~~~\nfirst\n{call}\n~~~\n")),
    quotation("html code", |call| {
        format!("<pre><code>{}</code></pre>", call.replace('&', "&amp;").replace('<', "&lt;"))
    }),
];

fn one_line(text: &str) -> String {
    text.replace('\n', " ").replace('`', "")
}

fn quote(text: &str) -> String {
    text.lines().map(|line| format!("> {line}\n")).collect()
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("   {line}\n")).collect()
}

fn quoted_calls() -> Vec<Call> {
    vec![
        call("book_table", json!({"restaurant": "Chez Léon", "guests": 4})),
        call("write_note", json!({"title": "a {b}", "body": "line 1\nline 2"})),
        call("ping_server", json!({})),
    ]
}

fn texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for dialect in all() {
        for call in quoted_calls() {
            let written = dialect.render(std::slice::from_ref(&call));
            for quotation in &QUOTATIONS {
                if !quotation.takes_soft && !dialect.marked {
                    continue;
                }
                // A fence inside a fence ends it.
                if written.contains("```") && quotation.name.contains("fence") {
                    continue;
                }
                let name = format!("{} in {}", dialect.name, quotation.name);
                texts.push((name, (quotation.write)(&written)));
            }
        }
    }
    texts
}

#[test]
fn quotations_are_not_calls() {
    let tools = tools();
    let texts = texts();
    assert!(texts.len() > 1_000, "only {}", texts.len());
    let mut wrong = Vec::new();
    for (name, text) in &texts {
        let reading = Reading::of(&tools, text);
        if !reading.calls.is_empty() || !reading.incomplete.is_empty() {
            wrong.push(format!("{name}:\n{text}\n{:?}\n", reading.calls));
        }
        if let Err(what) = laws::nothing_vanishes(text, &reading) {
            wrong.push(format!("{name}: {what}\n{text}\n"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn quotations_read_the_same_in_pieces() {
    let tools = tools();
    for (name, text) in &texts() {
        let whole = Reading::of(&tools, text);
        for size in [1, 3, 7, 64] {
            let parts = Reading::of_pieces(&tools, laws::pieces(text, size));
            laws::same(&whole, &parts)
                .unwrap_or_else(|what| panic!("{name} in {size}: {what}\n{text}"));
        }
    }
}

/// A call whose argument quotes another call is one call.
#[test]
fn calls_in_arguments_are_arguments() {
    let tools = tools();
    let mut wrong = Vec::new();
    for outer in all() {
        for inner in all() {
            let quoted = inner.render(&quoted_calls()[..1]);
            // Raw values end where their own tags do.
            let same_tags = outer.raw && inner.raw;
            if same_tags || (quoted.contains("<escape>") || quoted.contains("<|\"|>")) {
                continue;
            }
            let call = call(
                "write_note",
                json!({"title": "how to", "body": format!("see {quoted} there")}),
            );
            let text = outer.render(std::slice::from_ref(&call));
            let reading = Reading::of(&tools, &text);
            let [found] = &reading.calls[..] else {
                wrong.push(format!("{} in {}: {text}\n{reading:?}\n", inner.name, outer.name));
                continue;
            };
            let arguments: serde_json::Value = serde_json::from_str(&found.arguments).unwrap();
            if arguments != serde_json::Value::Object(call.arguments.clone()) {
                wrong.push(format!("{} in {}: {text}\n{arguments}\n", inner.name, outer.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
