//! Calls as each dialect writes them.

use serde_json::{Map, Value, json};

/// A call to render.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) arguments: Map<String, Value>,
}

/// A way to write calls.
pub(crate) struct Dialect {
    pub(crate) name: &'static str,
    render: fn(&[Call]) -> String,
    /// Whether it can write more than one call at once.
    pub(crate) several: bool,
    /// Whether values are written raw, so that one that holds the dialect's own
    /// tags cannot be told from them.
    pub(crate) raw: bool,
    /// Whether it has markers that mean nothing but calls.
    pub(crate) marked: bool,
}

impl Dialect {
    pub(crate) fn render(&self, calls: &[Call]) -> String {
        (self.render)(calls)
    }
}

pub(crate) fn call(name: &'static str, arguments: Value) -> Call {
    let Value::Object(arguments) = arguments else { panic!("{arguments} is not an object") };
    Call { name, arguments }
}

/// The tools that the calls are of.
pub(crate) const TOOLS: [&str; 5] =
    ["book_table", "write_note", "convert_units", "ping_server", "store-record"];

pub(crate) fn tools() -> toolwire::recover::Tools {
    let text = json!([
        {"type": "function", "function": {"name": "book_table", "description": "Books a table",
            "parameters": {"type": "object", "required": ["restaurant", "guests"], "properties": {
                "restaurant": {"type": "string"}, "guests": {"type": "integer"},
                "outdoors": {"type": "boolean"}, "budget": {"type": "number"}}}}},
        {"type": "function", "function": {"name": "write_note", "description": "Writes a note",
            "parameters": {"type": "object", "required": ["title"], "properties": {
                "title": {"type": "string"}, "body": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}}}}}},
        {"name": "convert_units", "description": "Converts a quantity", "input_schema": {
            "type": "object", "required": ["amount", "unit"], "properties": {
                "amount": {"type": "number"}, "unit": {"type": "string", "enum": ["km", "mi"]}}}},
        {"type": "function", "name": "ping_server", "parameters": {"type": "object", "properties": {}}},
        {"type": "function", "function": {"name": "store-record", "parameters": {
            "type": "object", "properties": {"record": {"type": "object"}, "note": {}}}}},
    ]);
    toolwire::recover::Tools::read(&text.to_string()).unwrap()
}

/// Every dialect.
pub(crate) const DIALECTS: [Dialect; 56] = [
    json_tags("hermes", |calls| {
        each(calls, "\n", |c| format!("<tool_call>\n{}\n</tool_call>", object(c)))
    }),
    json_tags("hermes-array", |calls| format!("<tool_call>{}</tool_call>", array(calls))),
    json_tags("longcat", |calls| {
        each(calls, "", |c| format!("<longcat_tool_call>{}</longcat_tool_call>", object(c)))
    }),
    json_tags("nemotron", |calls| format!("<TOOLCALL>{}</TOOLCALL>", array(calls))),
    json_tags("jamba", |calls| format!("<tool_calls>{}</tool_calls>", array(calls))),
    json_tags("minimax-m1", |calls| {
        format!("<tool_calls>\n{}\n</tool_calls>", each(calls, "\n", object))
    }),
    json_tags("granite3", |calls| format!("<|tool_call|>{}", array(calls))),
    json_tags("granite-20b", |calls| {
        each(calls, " ", |c| format!("<function_call> {}", object(c)))
    }),
    soft("llama3-json", |calls| each(calls, "; ", parameters)),
    json_tags("llama3-python-tag", |calls| {
        format!("<|python_tag|>{}", each(calls, "; ", parameters))
    }),
    json_tags("llama31-function", |calls| {
        each(calls, "", |c| format!("<function={}>{}</function>", c.name, arguments(c)))
    }),
    alone("functionary32", |calls| {
        each(calls, "\n", |c| format!(">>>{}\n{}", c.name, arguments(c)))
    }),
    json_tags("mistral-v7", |calls| format!("[TOOL_CALLS] {}", array(calls))),
    json_tags("mistral-v11", |calls| {
        each(calls, "", |c| {
            format!("[TOOL_CALLS]{}[CALL_ID]aB3xY9kQz[ARGS]{}", c.name, arguments(c))
        })
    }),
    json_tags("mistral-v13", |calls| {
        each(calls, "", |c| format!("[TOOL_CALLS]{}[ARGS]{}", c.name, arguments(c)))
    }),
    json_tags("cohere", |calls| {
        let list: Vec<Value> = calls.iter().enumerate().map(|(index, c)| json!({"tool_call_id": index.to_string(), "tool_name": c.name, "parameters": c.arguments})).collect();
        format!("<|START_ACTION|>{}<|END_ACTION|>", Value::Array(list))
    }),
    alone("command-r-plus", |calls| {
        let list: Vec<Value> =
            calls.iter().map(|c| json!({"tool_name": c.name, "parameters": c.arguments})).collect();
        format!("Action:\n```json\n{:#}\n```", Value::Array(list))
    }),
    soft("phi4", |calls| format!("functools{}", array(calls))),
    json_tags("internlm", |calls| {
        each(calls, "", |c| format!("<|action_start|><|plugin|>\n{}<|action_end|>", parameters(c)))
    }),
    json_tags("internlm-spaced", |calls| {
        each(calls, "", |c| format!("<|action_start|> <|plugin|>{}<|action_end|>", parameters(c)))
    }),
    json_tags("deepseek-v3", |calls| {
        format!(
            "<｜tool▁calls▁begin｜>{}<｜tool▁calls▁end｜>",
            each(calls, "\n", |c| format!(
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{}\n```json\n{}\n```<｜tool▁call▁end｜>",
                c.name,
                arguments(c)
            ))
        )
    }),
    json_tags("deepseek-v31", |calls| {
        format!(
            "<｜tool▁calls▁begin｜>{}<｜tool▁calls▁end｜>",
            each(calls, "", |c| format!(
                "<｜tool▁call▁begin｜>{}<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
                c.name,
                arguments(c)
            ))
        )
    }),
    json_tags("kimi-k2", |calls| {
        format!(
            "<|tool_calls_section_begin|>{}<|tool_calls_section_end|>",
            counted(calls, |index, c| format!(
                "<|tool_call_begin|>functions.{}:{index}<|tool_call_argument_begin|>{}<|tool_call_end|>",
                c.name,
                arguments(c)
            ))
        )
    }),
    json_tags("kimi-k2-singular", |calls| {
        format!(
            "<|tool_call_section_begin|>{}<|tool_call_section_end|>",
            counted(calls, |index, c| format!(
                "<|tool_call_begin|>{}:{index}<|tool_call_argument_begin|>{}<|tool_call_end|>",
                c.name,
                arguments(c)
            ))
        )
    }),
    one(
        "gigachat3",
        |calls| format!("function call<|role_sep|>\n{}", object(&calls[0])),
        Kind::Marked,
    ),
    one("gigachat3-tag", |calls| format!("<|function_call|>{}", object(&calls[0])), Kind::Marked),
    json_tags("apertus", |calls| {
        let list: Vec<Value> = calls.iter().map(|c| json!({c.name: c.arguments})).collect();
        format!("<|tools_prefix|>{}<|tools_suffix|>", Value::Array(list))
    }),
    json_tags("sarashina", |calls| {
        format!(
            "<|tool_calls|>[{}]",
            each(calls, ", ", |c| format!(
                "{{'name': '{}', 'arguments': {}}}",
                c.name,
                python(&Value::Object(c.arguments.clone()))
            ))
        )
    }),
    json_tags("inkling", |calls| {
        each(calls, "", |c| {
            format!(
                "<|message_model|>{}<|content_invoke_tool_json|>{}<|end_message|>",
                c.name,
                json!({"name": c.name, "args": c.arguments})
            )
        })
    }),
    json_tags("harmony", |calls| {
        each(calls, "<|start|>assistant", |c| {
            format!(
                "<|channel|>commentary to=functions.{} <|constrain|>json<|message|>{}<|call|>",
                c.name,
                arguments(c)
            )
        })
    }),
    json_tags("harmony-recipient-first", |calls| {
        each(calls, "", |c| {
            format!(
                "<|start|>assistant to=functions.{}<|channel|>commentary json<|message|>{}<|call|>",
                c.name,
                arguments(c)
            )
        })
    }),
    soft("json-array", array),
    soft("fenced-json", |calls| format!("```json\n{}\n```", array(calls))),
    soft("fenced-object", |calls| each(calls, "\n", |c| format!("```json\n{}\n```", object(c)))),
    soft("openai-shape", |calls| {
        let list: Vec<Value> = calls.iter().enumerate().map(|(index, c)| json!({"id": format!("call_{index}"), "type": "function", "function": {"name": c.name, "arguments": arguments(c)}})).collect();
        json!({"tool_calls": list}).to_string()
    }),
    one(
        "react",
        |calls| format!("Action: {}\nAction Input: {}", calls[0].name, arguments(&calls[0])),
        Kind::Soft,
    ),
    json_tags("lmstudio", |calls| {
        each(calls, "\n", |c| format!("[TOOL_REQUEST]\n{}\n[END_TOOL_REQUEST]", object(c)))
    }),
    raw("qwen3-coder", |calls| {
        each(calls, "\n", |c| {
            format!(
                "<tool_call>\n<function={}>\n{}</function>\n</tool_call>",
                c.name,
                members(c, |k, v| format!("<parameter={k}>\n{v}\n</parameter>\n"))
            )
        })
    }),
    raw("glm45", |calls| {
        each(calls, "\n", |c| {
            format!(
                "<tool_call>{}\n{}</tool_call>",
                c.name,
                members(c, |k, v| format!("<arg_key>{k}</arg_key>\n<arg_value>{v}</arg_value>\n"))
            )
        })
    }),
    raw("glm47", |calls| {
        each(calls, "", |c| {
            format!(
                "<tool_call>{}{}</tool_call>",
                c.name,
                members(c, |k, v| format!("<arg_key>{k}</arg_key><arg_value>{v}</arg_value>"))
            )
        })
    }),
    raw("hunyuan-v3", |calls| {
        format!(
            "<tool_calls>\n{}\n</tool_calls>",
            each(calls, "\n", |c| format!(
                "<tool_call>{}<tool_sep>\n{}</tool_call>",
                c.name,
                members(c, |k, v| format!("<arg_key>{k}</arg_key>\n<arg_value>{v}</arg_value>\n"))
            ))
        )
    }),
    raw("hunyuan-v4", |calls| {
        format!(
            "<tool_calls:6124c78e>\n{}\n</tool_calls:6124c78e>",
            each(calls, "\n", |c| format!(
                "<tool_call:6124c78e>{}<tool_sep:6124c78e>\n{}</tool_call:6124c78e>",
                c.name,
                members(c, |k, v| format!(
                    "<arg_key:6124c78e>{k}</arg_key:6124c78e>\n<arg_value:6124c78e>{v}</arg_value:6124c78e>\n"
                ))
            ))
        )
    }),
    raw("minimax-m2", |calls| {
        format!(
            "<minimax:tool_call>\n{}\n</minimax:tool_call>",
            each(calls, "\n", |c| invoke("", c))
        )
    }),
    raw("minimax-m3", |calls| {
        const LEAD: &str = "]<]minimax[>[";
        format!(
            "{LEAD}<tool_call>\n{}{LEAD}</tool_call>",
            each(calls, "", |c| format!(
                "{LEAD}<invoke name=\"{}\">{}{LEAD}</invoke>\n",
                c.name,
                members(c, |k, v| format!("{LEAD}<{k}>{v}{LEAD}</{k}>"))
            ))
        )
    }),
    raw("claude-xml", |calls| {
        format!("<function_calls>\n{}\n</function_calls>", each(calls, "\n", |c| invoke("", c)))
    }),
    raw("claude-xml-prefixed", |calls| {
        format!(
            "<function_calls>\n{}\n</function_calls>",
            each(calls, "\n", |c| invoke("antml:", c))
        )
    }),
    raw("deepseek-v32", |calls| {
        format!("<｜DSML｜function_calls>\n{}\n</｜DSML｜function_calls>", each(calls, "\n", dsml))
    }),
    raw("deepseek-v4", |calls| {
        format!("<｜DSML｜tool_calls>\n{}\n</｜DSML｜tool_calls>", each(calls, "\n", dsml))
    }),
    raw("dots", |calls| {
        format!("<dots_function_call>{}</dots_function_call>", each(calls, "", |c| invoke("", c)))
    }),
    raw("glimmer", |calls| {
        format!(
            "<atem:function_calls>\n{}\n</atem:function_calls>",
            each(calls, "\n", |c| invoke("atem:", c))
        )
    }),
    raw("seed-oss", |calls| {
        each(calls, "\n", |c| {
            format!(
                "<seed:tool_call>\n<function={}>\n{}</function>\n</seed:tool_call>",
                c.name,
                members(c, |k, v| format!("<parameter={k}>{v}</parameter>\n"))
            )
        })
    }),
    raw("step3", |calls| {
        format!(
            "<｜tool_calls_begin｜>{}<｜tool_calls_end｜>",
            each(calls, "", |c| format!(
                "<｜tool_call_begin｜>function<｜tool_sep｜>{}<｜tool_call_end｜>",
                invoke("steptml:", c)
            ))
        )
    }),
    raw("kimi-k3", |calls| {
        format!(
            "<|open|>tools<|sep|>{}<|close|>tools<|sep|>",
            counted(calls, |index, c| format!(
                "<|open|>call tool=\"{}\" index=\"{index}\"<|sep|>{}<|close|>call<|sep|>",
                c.name,
                typed(c)
            ))
        )
    }),
    raw("minicpm5", |calls| {
        each(calls, "\n", |c| {
            format!(
                "<function name=\"{}\">{}</function>",
                c.name,
                members(c, |k, v| format!("<param name=\"{k}\">{v}</param>"))
            )
        })
    }),
    soft("pythonic", |calls| format!("[{}]", each(calls, ", ", python_call))),
    json_tags("llama4-pythonic", |calls| {
        format!("<|python_start|>[{}]<|python_end|>", each(calls, ", ", python_call))
    }),
];

/// More dialects, apart because an array of them all is long enough.
pub(crate) const MORE: [Dialect; 5] = [
    json_tags("lfm2", |calls| {
        format!("<|tool_call_start|>[{}]<|tool_call_end|>", each(calls, ", ", python_call))
    }),
    json_tags("olmo3", |calls| {
        format!("<function_calls>\n{}\n</function_calls>", each(calls, "\n", python_call))
    }),
    soft("tool-code", |calls| format!("```tool_code\n{}\n```", each(calls, "\n", python_call))),
    json_tags("functiongemma", |calls| {
        each(calls, "", |c| {
            format!(
                "<start_function_call>call:{}{}<end_function_call>",
                c.name,
                gemma(c, "<escape>")
            )
        })
    }),
    json_tags("gemma4", |calls| {
        each(calls, "", |c| {
            format!("<|tool_call>call:{}{}<tool_call|>", c.name, gemma(c, "<|\"|>"))
        })
    }),
];

pub(crate) fn all() -> impl Iterator<Item = &'static Dialect> {
    DIALECTS.iter().chain(&MORE)
}

enum Kind {
    Marked,
    Soft,
}

type Render = fn(&[Call]) -> String;

const fn json_tags(name: &'static str, render: Render) -> Dialect {
    Dialect { name, render, several: true, raw: false, marked: true }
}

const fn soft(name: &'static str, render: Render) -> Dialect {
    Dialect { name, render, several: true, raw: false, marked: false }
}

/// Calls that are known by the line they begin.
const fn alone(name: &'static str, render: Render) -> Dialect {
    soft(name, render)
}

const fn raw(name: &'static str, render: Render) -> Dialect {
    Dialect { name, render, several: true, raw: true, marked: true }
}

const fn one(name: &'static str, render: Render, kind: Kind) -> Dialect {
    Dialect { name, render, several: false, raw: false, marked: matches!(kind, Kind::Marked) }
}

fn each(calls: &[Call], between: &str, write: impl Fn(&Call) -> String) -> String {
    calls.iter().map(write).collect::<Vec<_>>().join(between)
}

fn counted(calls: &[Call], write: impl Fn(usize, &Call) -> String) -> String {
    calls.iter().enumerate().map(|(index, call)| write(index, call)).collect()
}

fn arguments(call: &Call) -> String {
    Value::Object(call.arguments.clone()).to_string()
}

fn object(call: &Call) -> String {
    format!("{{\"name\": \"{}\", \"arguments\": {}}}", call.name, arguments(call))
}

fn parameters(call: &Call) -> String {
    format!("{{\"name\": \"{}\", \"parameters\": {}}}", call.name, arguments(call))
}

fn array(calls: &[Call]) -> String {
    format!("[{}]", each(calls, ", ", object))
}

fn members(call: &Call, write: impl Fn(&str, &str) -> String) -> String {
    call.arguments.iter().map(|(key, value)| write(key, &plain(value))).collect()
}

/// A text as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn invoke(prefix: &str, call: &Call) -> String {
    let members =
        members(call, |k, v| format!("<{prefix}parameter name=\"{k}\">{v}</{prefix}parameter>"));
    format!("<{prefix}invoke name=\"{}\">{members}</{prefix}invoke>", call.name)
}

fn dsml(call: &Call) -> String {
    let members: String = call
        .arguments
        .iter()
        .map(|(k, v)| {
            format!(
                "<｜DSML｜parameter name=\"{k}\" string=\"{}\">{}</｜DSML｜parameter>\n",
                v.is_string(),
                plain(v)
            )
        })
        .collect();
    format!("<｜DSML｜invoke name=\"{}\">\n{members}</｜DSML｜invoke>", call.name)
}

fn typed(call: &Call) -> String {
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let write = |(k, v): (&String, &Value)| {
        format!(
            "<|open|>argument key=\"{k}\" type=\"{}\"<|sep|>{}<|close|>argument<|sep|>",
            kind(v),
            plain(v)
        )
    };
    call.arguments.iter().map(write).collect()
}

/// A value as Python writes it.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => python_text(text),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(python).collect::<Vec<_>>().join(", "))
        }
        Value::Object(object) => {
            let member = |(k, v): (&String, &Value)| format!("{}: {}", python_text(k), python(v));
            format!("{{{}}}", object.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text in single quotes, or in double ones if it holds single ones, as
/// Python's `repr` writes it.
fn python_text(text: &str) -> String {
    let quote = if text.contains('\'') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

fn python_call(call: &Call) -> String {
    let members = call.arguments.iter().map(|(k, v)| format!("{k}={}", python(v)));
    format!("{}({})", call.name, members.collect::<Vec<_>>().join(", "))
}

fn gemma(call: &Call, quote: &str) -> String {
    fn value(json: &Value, quote: &str) -> String {
        match json {
            Value::String(text) => format!("{quote}{text}{quote}"),
            Value::Array(list) => {
                format!("[{}]", list.iter().map(|v| value(v, quote)).collect::<Vec<_>>().join(","))
            }
            Value::Object(object) => members(object, quote),
            Value::Null | Value::Bool(_) | Value::Number(_) => json.to_string(),
        }
    }
    fn members(object: &Map<String, Value>, quote: &str) -> String {
        let member = |(k, v): (&String, &Value)| format!("{k}:{}", value(v, quote));
        format!("{{{}}}", object.iter().map(member).collect::<Vec<_>>().join(","))
    }
    members(&call.arguments, quote)
}
