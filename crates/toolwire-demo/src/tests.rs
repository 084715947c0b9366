use serde_json::{Value, json};
use toolwire::calls::{self, ToolOutput};
use toolwire::{Options, Protocol, translate};

use super::{Response, TokenEstimator};

fn answer(protocol: Protocol, body: &[u8]) -> Response {
    super::respond(protocol, body, ESTIMATOR)
}

/// Two tokens for every five bytes.
const ESTIMATOR: TokenEstimator =
    TokenEstimator { request: |_| 100, text: |text| (text.len() as u64 * 2).div_ceil(5) };

fn ask(request: &Value) -> Value {
    let Response { status, content_type, chunks } =
        answer(Protocol::Chat, request.to_string().as_bytes());
    assert_eq!((status, content_type), (200, "application/json"), "{}", text(&chunks));
    serde_json::from_slice(&chunks.concat()).unwrap()
}

fn text(chunks: &[Vec<u8>]) -> String {
    String::from_utf8(chunks.concat()).unwrap()
}

fn function(name: &str, about: &str, schema: Value) -> Value {
    json!({"type": "function", "function": {"name": name, "description": about, "parameters": schema}})
}

fn weather() -> Value {
    function(
        "get_weather",
        "The weather in a city",
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
    )
}

fn request(tools: &[Value], said: &str) -> Value {
    json!({"model": "demo", "tools": tools, "messages": [{"role": "user", "content": said}]})
}

/// The calls of an answer as name and arguments.
fn calls(answer: &Value) -> Vec<(String, Value)> {
    let list =
        answer["choices"][0]["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
    list.iter()
        .map(|call| {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            let name = call["function"]["name"].as_str().unwrap().to_owned();
            (name, serde_json::from_str(arguments).unwrap())
        })
        .collect()
}

/// The arguments that one tool with these properties, all required, gets.
fn check(said: &str, properties: Value, expected: Value) {
    let names: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
    let schema = json!({"type": "object", "properties": properties, "required": names});
    let answer = ask(&request(&[function("look_up", "", schema)], said));
    assert_eq!(calls(&answer), [("look_up".to_owned(), expected)], "{said}");
}

#[test]
fn arguments_come_from_the_users_words() {
    let text = json!({"type": "string"});
    for (said, city) in [
        ("What is the weather in Paris?", "Paris"),
        ("weather in paris", "paris"),
        ("How is New York doing today?", "New York"),
        ("Paris, please: how's the weather in Oslo right now?", "Oslo"),
        ("Look up \"San José\"", "San José"),
        ("天気", "天気"),
    ] {
        check(said, json!({"city": text}), json!({"city": city}));
    }
    check(
        "Find a flight from Berlin to San Francisco for 3 people on 2026-12-24",
        json!({"to": text, "origin": text, "passengers": {"type": "integer"}, "date": text}),
        json!({"to": "San Francisco", "origin": "Berlin", "passengers": 3, "date": "2026-12-24"}),
    );
    check(
        "Write to ada@example.org about https://example.org/x.",
        json!({"email": text, "link": {"type": "string", "format": "uri"}}),
        json!({"email": "ada@example.org", "link": "https://example.org/x"}),
    );
    check(
        "How much is 12.5 plus 1,000?",
        json!({"a": {"type": "number"}, "b": {"type": "number"}, "c": {"type": "number"}}),
        json!({"a": 12.5, "b": 1000, "c": 1}),
    );
    check("Add -.5 to -0.5", json!({"a": {"type": "number"}}), json!({"a": -0.5}));
    check("Who wrote it?", json!({"query": text}), json!({"query": "Who wrote it?"}));
}

#[test]
fn arguments_fit_the_schema() {
    for (schema, value) in [
        (json!({"enum": ["c", "celsius", "fahrenheit"]}), json!("celsius")),
        (json!({"enum": ["x", 2]}), json!("x")),
        (json!({"enum": ["x", "y"], "default": "y"}), json!("y")),
        (json!({"const": {"a": [1.50]}}), json!({"a": [1.5]})),
        (json!({"type": "integer", "minimum": 10, "maximum": 20}), json!(10)),
        (json!({"type": "number", "default": 0.25}), json!(0.25)),
        (json!({"type": "boolean"}), json!(false)),
        (json!({"type": ["null", "boolean"], "default": true}), json!(true)),
        (json!({"type": "null"}), json!(null)),
        (json!({"anyOf": [{"type": "null"}, {"type": "integer"}]}), json!(1)),
        (json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}), json!([1, 1])),
        (json!({"type": "array", "maxItems": 0}), json!([])),
        (json!({"type": "string", "format": "date-time"}), json!("2026-01-01T12:00:00Z")),
        (json!({"type": "string", "maxLength": 3}), json!("Cel")),
        (
            json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}),
            json!({"a": 1}),
        ),
        (
            json!({"allOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}]}),
            json!({"a": 1}),
        ),
        (json!({"$ref": "#/nowhere"}), json!("Celsius")),
    ] {
        check("in Celsius", json!({"x": schema}), json!({ "x": value }));
    }
}

#[test]
fn references_are_followed_and_end() {
    let schema = json!({
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "required": ["root"],
        "$defs": {"node": {
            "type": "object",
            "properties": {"id": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
            "required": ["id", "next"],
        }},
    });
    let answer = ask(&request(&[function("walk", "", schema)], "Go"));
    let [(_, arguments)] = &calls(&answer)[..] else { panic!("{answer}") };
    assert_eq!(arguments["root"]["next"]["next"]["id"], 1);
}

#[test]
fn the_tool_that_fits_is_called() {
    let none = json!({"type": "object", "properties": {}});
    let tools = [
        function("list_files", "Lists the files of a folder", none.clone()),
        function(
            "think",
            &format!("{} weather Rome search web cats", "Word ".repeat(40)),
            none.clone(),
        ),
        weather(),
        function("searchWeb", "Finds pages about a topic on the internet", none.clone()),
    ];
    for (said, name) in [
        ("What's the weather in Rome?", "get_weather"),
        ("Search the web for cats", "searchWeb"),
        ("Which pages are there on the internet?", "searchWeb"),
        ("files?", "list_files"),
        ("Good morning", "list_files"),
    ] {
        let answer = ask(&request(&tools, said));
        assert_eq!(calls(&answer)[0].0, name, "{said}");
    }
}

#[test]
fn an_agent_with_many_tools_may_say_hello() {
    let none = json!({"type": "object", "properties": {}});
    let tools = ["a", "b", "c", "d", "e", "wander"].map(|name| function(name, "", none.clone()));
    let answer = ask(&request(&tools, "Good morning"));
    assert_eq!(calls(&answer), []);
    let said = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(
        said.ends_with(
            "I also see 6 tools.\nAsk for something that a tool does, and I will call it."
        ),
        "{said}"
    );
    assert_eq!(calls(&ask(&request(&tools, "Wander about")))[0].0, "wander");
    let mut forced = request(&tools, "Good morning");
    forced["tool_choice"] = json!("required");
    assert_eq!(calls(&ask(&forced))[0].0, "a");
}

#[test]
fn several_things_are_several_calls() {
    let cities = |answer: &Value| {
        let calls = calls(answer);
        calls
            .iter()
            .map(|(_, arguments)| arguments["city"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let mut asked = request(&[weather()], "What is the weather in Paris, New York and Oslo?");
    let answer = ask(&asked);
    assert_eq!(cities(&answer), ["Paris", "New York", "Oslo"]);
    let ids: std::collections::HashSet<_> = answer["choices"][0]["message"]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["id"].to_string())
        .collect();
    assert_eq!(ids.len(), 3);
    asked["parallel_tool_calls"] = json!(false);
    assert_eq!(cities(&ask(&asked)), ["Paris"]);
}

#[test]
fn the_choice_is_honoured() {
    let tools = [weather(), function("clock", "Tells the time", json!({"type": "object"}))];
    let with = |choice: Value| {
        let mut asked = request(&tools, "What is the weather in Rome?");
        asked["tool_choice"] = choice;
        asked
    };
    let name = |asked: &Value| calls(&ask(asked)).first().map(|(name, _)| name.clone());
    assert_eq!(name(&with(json!("auto"))).as_deref(), Some("get_weather"));
    assert_eq!(name(&with(json!("required"))).as_deref(), Some("get_weather"));
    assert_eq!(name(&with(json!("none"))), None);
    let clock = json!({"type": "function", "function": {"name": "clock"}});
    assert_eq!(name(&with(clock.clone())).as_deref(), Some("clock"));
    let allowed = |mode: &str, tools: Value| {
        with(json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}))
    };
    assert_eq!(name(&allowed("auto", json!([clock]))).as_deref(), Some("clock"));
    assert_eq!(name(&allowed("required", json!([clock]))).as_deref(), Some("clock"));
    // A forced choice counts also when results are there.
    let mut asked = with(json!("required"));
    asked["messages"] = json!([
        {"role": "user", "content": "Weather in Rome?"},
        {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "clock", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "noon"},
    ]);
    assert_eq!(calls(&ask(&asked)).len(), 1);

    for (asked, message) in [
        (
            with(json!({"type": "function", "function": {"name": "nobody"}})),
            "`tool_choice` names `nobody`, which is not among the tools.",
        ),
        (allowed("required", json!([])), "`tool_choice` wants a call, but there is no tool."),
    ] {
        let answer = answer(Protocol::Chat, asked.to_string().as_bytes());
        let error: Value = serde_json::from_slice(&answer.chunks.concat()).unwrap();
        assert_eq!((answer.status, &error["error"]["message"]), (400, &json!(message)));
    }
}

#[test]
fn nothing_that_is_said_is_run_or_overwritten() {
    let text = json!({"type": "string"});
    let object = |properties: Value| {
        let names: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
        json!({"type": "object", "properties": properties, "required": names})
    };
    let list = json!({"type": "array", "items": text});
    for (name, properties) in [
        ("Bash", json!({"command": text, "description": text})),
        ("shell", json!({"command": list})),
        ("exec_command", json!({"cmd": text})),
        ("python", json!({"code": text})),
        ("run_sql_query", json!({"sql": text})),
        ("Write", json!({"file_path": text, "content": text})),
        ("Edit", json!({"file_path": text, "old_string": text, "new_string": text})),
        ("delete_file", json!({"path": text})),
    ] {
        let asked = request(
            &[function(name, "", object(properties))],
            "Now `rm -rf notes.txt` \"notes.txt\"",
        );
        let answer = ask(&asked);
        let [(_, mut arguments)] = <[_; 1]>::try_from(calls(&answer)).unwrap();
        // What only describes may repeat what was said.
        arguments.as_object_mut().unwrap().remove("description");
        let shown = arguments.to_string();
        assert!(!shown.contains("rm -rf") && !shown.contains("notes.txt"), "{name}: {shown}");
    }
    for name in ["shell", "apply_patch", "exec"] {
        let mut asked = request(&[], "rm -rf notes.txt");
        asked["tools"] = json!([{"type": "custom", "custom": {"name": name}}]);
        let call = ask(&asked)["choices"][0]["message"]["tool_calls"][0].clone();
        assert!(!call.to_string().contains("notes.txt"), "{call}");
    }
}

#[test]
fn freeform_tools_get_text() {
    let mut asked = request(&[], "6 * 7");
    asked["tools"] = json!([{"type": "custom", "custom": {"name": "calculate"}}]);
    let call = ask(&asked)["choices"][0]["message"]["tool_calls"][0].clone();
    assert_eq!(
        (&call["type"], &call["custom"]),
        (&json!("custom"), &json!({"name": "calculate", "input": "6 * 7"}))
    );
}

#[test]
fn deprecated_functions_are_called_their_way() {
    let mut asked = request(&[], "Weather in Rome and Oslo?");
    asked.as_object_mut().unwrap().remove("tools");
    asked["functions"] = json!([weather()["function"]]);
    let answer = ask(&asked);
    let message = &answer["choices"][0];
    assert_eq!(message["finish_reason"], "function_call");
    let expected = json!({"name": "get_weather", "arguments": "{\"city\":\"Rome\"}"});
    assert_eq!(message["message"]["function_call"], expected);
}

#[test]
fn without_tools_it_introduces_itself() {
    let answer = ask(&json!({"model": "demo-large", "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [
            {"type": "text", "text": "Hello there"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ]},
    ]}));
    let expected = "Hello. This is toolwire's demo model. It needs no key and no network, and says \
                    the same every time.\n\nYou said: “Hello there”\nI also see system instructions \
                    and an image.\nDeclare a tool in your request, and I will call it.";
    assert_eq!(answer["choices"][0]["message"]["content"], expected);
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(answer["model"], "demo-large");
    let usage = &answer["usage"];
    let sum =
        usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap();
    assert_eq!(usage["total_tokens"], sum);
}

#[test]
fn structured_output_fits_its_schema() {
    let schema = json!({"type": "object", "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["km", "miles"]}},
        "required": ["city", "days", "unit"], "additionalProperties": false});
    let mut asked = json!({"model": "demo", "messages": [
        {"role": "user", "content": "I go to Rome for 4 days"}]});
    asked["response_format"] =
        json!({"type": "json_schema", "json_schema": {"name": "trip", "schema": schema}});
    let content = ask(&asked)["choices"][0]["message"]["content"].clone();
    let found: Value = serde_json::from_str(content.as_str().unwrap()).unwrap();
    assert_eq!(found, json!({"city": "Rome", "days": 4, "unit": "km"}));
    asked["response_format"] = json!({"type": "json_object"});
    let content = ask(&asked)["choices"][0]["message"]["content"].clone();
    serde_json::from_str::<Value>(content.as_str().unwrap()).unwrap();
}

#[test]
fn a_limit_cuts_the_text() {
    let mut asked = request(&[], "Hello");
    asked["max_completion_tokens"] = json!(5);
    let answer = ask(&asked);
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
    assert_eq!(answer["choices"][0]["message"]["content"], "Hello. This ");
    assert!(answer["usage"]["completion_tokens"].as_u64().unwrap() <= 5);
}

/// A stream says the same as the document, in pieces.
#[test]
fn a_stream_is_the_document_in_pieces() {
    for mut asked in
        [request(&[], "Hello, whoever you are"), request(&[weather()], "Weather in Rome and Oslo?")]
    {
        let whole = ask(&asked);
        asked["stream"] = json!(true);
        asked["stream_options"] = json!({"include_usage": true});
        let Response { status, content_type, chunks } =
            answer(Protocol::Chat, asked.to_string().as_bytes());
        assert_eq!((status, content_type), (200, "text/event-stream"));
        assert_eq!(chunks.last().unwrap(), b"data: [DONE]\n\n");
        let (mut content, mut made, mut finish, mut usage) =
            (String::new(), Vec::<(String, String)>::new(), Value::Null, Value::Null);
        for chunk in &chunks[..chunks.len() - 1] {
            let data = std::str::from_utf8(chunk).unwrap().strip_prefix("data: ").unwrap();
            let event: Value = serde_json::from_str(data.strip_suffix("\n\n").unwrap()).unwrap();
            if event["choices"].as_array().unwrap().is_empty() {
                usage = event["usage"].clone();
                continue;
            }
            let choice = &event["choices"][0];
            content.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
            for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
                let index = call["index"].as_u64().unwrap() as usize;
                if made.len() == index {
                    made.push((
                        call["function"]["name"].as_str().unwrap().to_owned(),
                        String::new(),
                    ));
                }
                made[index].1.push_str(call["function"]["arguments"].as_str().unwrap());
            }
            if !choice["finish_reason"].is_null() {
                finish = choice["finish_reason"].clone();
            }
        }
        let choice = &whole["choices"][0];
        assert_eq!(content, choice["message"]["content"].as_str().unwrap_or_default());
        assert_eq!(finish, choice["finish_reason"]);
        assert_eq!(usage["completion_tokens"], whole["usage"]["completion_tokens"]);
        let made: Vec<_> = made
            .into_iter()
            .map(|(name, arguments)| (name, serde_json::from_str(&arguments).unwrap()))
            .collect();
        assert_eq!(made, calls(&whole));
    }
}

#[test]
fn the_same_request_gets_the_same_answer() {
    let asked = request(&[weather()], "Weather in Rome?").to_string();
    assert_eq!(answer(Protocol::Chat, asked.as_bytes()), answer(Protocol::Chat, asked.as_bytes()));
}

#[test]
fn what_cannot_be_read_is_refused() {
    for (protocol, body) in [
        (Protocol::Chat, &b"{"[..]),
        (Protocol::Chat, b"\xff"),
        (Protocol::Chat, br#"{"model":"demo","n":2,"messages":[]}"#),
        (Protocol::Messages, b"{}"),
    ] {
        let answer = answer(protocol, body);
        assert_eq!((answer.status, answer.content_type), (400, "application/json"));
        serde_json::from_slice::<Value>(&answer.chunks.concat()).unwrap();
    }
}

/// A client of any protocol sees a complete loop: it asks, gets a call, answers
/// it, and gets a text that quotes the answer.
#[test]
fn a_loop_in_every_protocol() {
    for (client, asked) in [
        (Protocol::Chat, request(&[weather()], "What is the weather in Paris?")),
        (
            Protocol::Responses,
            json!({"model": "demo", "input": "What is the weather in Paris?", "tools": [
                {"type": "function", "name": "get_weather", "parameters": weather()["function"]["parameters"]}]}),
        ),
        (
            Protocol::Messages,
            json!({"model": "demo", "max_tokens": 500,
                "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
                "tools": [{"name": "get_weather", "input_schema": weather()["function"]["parameters"]}]}),
        ),
    ] {
        let asked = asked.to_string().into_bytes();
        let first = relay(client, &asked);
        let made = calls::parse(client, &first).unwrap();
        let [call] = &made[..] else { panic!("{client}: {}", text(std::slice::from_ref(&first))) };
        assert_eq!(
            (call.name.as_str(), call.arguments()),
            ("get_weather", Some(r#"{"city":"Paris"}"#))
        );
        let results = [ToolOutput::text(call.id.clone(), "18 degrees, sunny")];
        let next = calls::next_request(client, &asked, &first, &results).unwrap();
        let last = relay(client, &next);
        let said = text(&[last]);
        assert!(said.contains("get_weather returned: 18 degrees, sunny"), "{client}: {said}");
    }
}

/// The request up and the answer down, as the gateway does it.
fn relay(client: Protocol, asked: &[u8]) -> Vec<u8> {
    let options = Options::default();
    let up = translate::request(client, Protocol::Chat, asked, &options).unwrap();
    let given = answer(Protocol::Chat, &up.body);
    assert_eq!(given.status, 200, "{}", text(&given.chunks));
    let body = given.chunks.concat();
    translate::response(Protocol::Chat, client, &body, &options.clone().request(asked))
        .unwrap()
        .body
}

/// "In Paris, then in Rome" is two answers with one call each, and "in Paris and
/// Rome" one answer with two.
#[test]
fn steps_are_called_one_after_the_other() {
    let mut asked = request(&[weather()], "The weather in Paris, then in Rome and then in Oslo?");
    let mut made = Vec::new();
    for _ in 0..4 {
        let answer = ask(&asked);
        let found = calls(&answer);
        if found.is_empty() {
            let said = answer["choices"][0]["message"]["content"].as_str().unwrap();
            assert!(said.contains("sunny"), "{said}");
            break;
        }
        made.push(found);
        let message = answer["choices"][0]["message"].clone();
        let result = json!({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"],
            "content": "sunny"});
        asked["messages"].as_array_mut().unwrap().extend([message, result]);
    }
    let city = |name: &str| vec![("get_weather".to_owned(), json!({"city": name}))];
    assert_eq!(made, [city("Paris"), city("Rome"), city("Oslo")]);
}
