//! The contract that toolwire was asked for in, rule by rule.
//!
//! Where real APIs contradict a rule, the test asserts what they accept and says
//! why.

use serde_json::{Value, json};
use toolwire::calls::{self, ToolOutput};
use toolwire::registry::{Error, OnInvalid, Reason, Registry};
use toolwire::{Options, Protocol, translate};

fn filtered(list: &Value) -> Registry {
    let mut registry = Registry::new(OnInvalid::Filter);
    registry.add_json(list.to_string().as_bytes()).unwrap();
    registry
}

fn rendered(registry: &Registry, to: Protocol) -> (Vec<Value>, Vec<String>) {
    let rendered = registry.render(to, &Options::default()).unwrap();
    let ledger = rendered.ledger.iter().map(|entry| format!("{} {}", entry.path, entry.code));
    (serde_json::from_slice(&rendered.body).unwrap(), ledger.collect())
}

fn render(list: &Value, to: Protocol) -> Vec<Value> {
    rendered(&Registry::from_json(list.to_string().as_bytes()).unwrap(), to).0
}

fn flat(list: &Value) -> Vec<Value> {
    render(list, Protocol::Responses)
}

fn nested(list: &Value) -> Vec<Value> {
    render(list, Protocol::Chat)
}

fn refused(list: &Value) -> String {
    match Registry::from_json(list.to_string().as_bytes()).unwrap_err() {
        error @ Error::Invalid { .. } => error.to_string(),
        error => panic!("{error}"),
    }
}

/// A request or an answer in another protocol.
fn translated(
    kind: fn(Protocol, Protocol, &[u8]) -> Result<translate::Translated, translate::Error>,
    from: Protocol,
    to: Protocol,
    body: &Value,
) -> Value {
    let translated = kind(from, to, body.to_string().as_bytes()).unwrap();
    serde_json::from_slice(&translated.body).unwrap()
}

fn request(
    from: Protocol,
    to: Protocol,
    body: &[u8],
) -> Result<translate::Translated, translate::Error> {
    translate::request(from, to, body, &Options::default())
}

fn response(
    from: Protocol,
    to: Protocol,
    body: &[u8],
) -> Result<translate::Translated, translate::Error> {
    translate::response(from, to, body, &Options::new())
}

fn browser_dom() -> Value {
    json!([{
        "type": "function",
        "function": {
            "name": "browser_dom",
            "description": "Interact with DOM elements",
            "parameters": {"type": "object", "properties": {"action": {"type": "string"}}}
        }
    }])
}

#[test]
fn tr_1_flatten_function_wrapper() {
    let schema = json!({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false});
    let list = json!([{"type":"function","function":
        {"name":"tool_name","description":"Tool description","strict":true,"parameters":schema}}]);
    assert_eq!(
        flat(&list),
        [json!({"type":"function","name":"tool_name","description":"Tool description",
                "strict":true,"parameters":schema})],
    );
}

#[test]
fn tr_2_preserve_type_field() {
    assert_eq!(flat(&browser_dom())[0]["type"], "function");
}

#[test]
fn tr_3_preserve_parameters_schema() {
    // Every byte of it: key order and the spelling of numbers too.
    let schema = r##"{"type":"object","properties":{"z":{"default":5e3},"a":{"anyOf":[{"const":12345678901234567890},{"$ref":"#/$defs/d"}]}}, "$defs":{"d":{"type":"null"}}}"##;
    let list =
        format!(r#"[{{"type":"function","function":{{"name":"f","parameters":{schema}}}}}]"#);
    let registry = Registry::from_json(list.as_bytes()).unwrap();
    for to in Protocol::ALL {
        let rendered = registry.render(to, &Options::default()).unwrap();
        assert!(String::from_utf8(rendered.body).unwrap().contains(schema), "{to}");
    }
}

#[test]
fn tr_4_strict_is_kept_when_present() {
    let with = |strict: bool| {
        let schema =
            json!({"type":"object","properties":{},"required":[],"additionalProperties":false});
        flat(
            &json!([{"type":"function","function":{"name":"f","strict":strict,"parameters":schema}}]),
        )
    };
    assert_eq!(with(true)[0]["strict"], true);
    assert_eq!(with(false)[0]["strict"], false);
}

#[test]
fn tr_4_strict_left_out_is_false() {
    // Contract rule TR-4 would leave it out here too, but Responses then tries
    // to be strict, which Chat does not.
    assert_eq!(flat(&browser_dom())[0]["strict"], false);
    assert_eq!(nested(&browser_dom())[0]["function"].get("strict"), None);
}

#[test]
fn tr_5_name_is_required() {
    assert_eq!(
        refused(&json!([{"type":"function","function":{"description":"d"}}])),
        "definition 0, /0/function: required field `name` is missing",
    );
    assert_eq!(
        refused(&json!([{"type":"function","function":{"name":""}}])),
        "definition 0, /0/function/name: field `name` is empty",
    );
    assert_eq!(
        refused(&json!([{"type":"function"}])),
        "definition 0, /0: required field `name` is missing",
    );
}

#[test]
fn tr_5_type_is_required() {
    assert_eq!(
        refused(&json!([{"function":{"name":"f","description":"d"}}])),
        "definition 0, /0: required field `type` is missing",
    );
}

#[test]
fn tr_5_parameters_are_a_schema() {
    assert_eq!(
        refused(&json!([{"type":"function","function":{"name":"f","parameters":"string"}}])),
        "definition 0 (f), /0/function/parameters: expected an object, found a string",
    );
}

#[test]
fn tr_5_description_is_optional() {
    // Contract rule TR-5 asks for a description; no protocol does.
    let list = json!([{"type":"function","function":{"name":"test"}}]);
    assert_eq!(
        flat(&list),
        [json!({"type":"function","name":"test","strict":false,
                "parameters":{"type":"object","properties":{}}})],
    );
}

#[test]
fn test_1_basic_transformation() {
    let output = flat(&browser_dom());
    assert_eq!(
        output,
        [json!({
            "type": "function",
            "name": "browser_dom",
            "description": "Interact with DOM elements",
            "strict": false,
            "parameters": {"type": "object", "properties": {"action": {"type": "string"}}}
        })],
    );
    assert!(output[0].get("function").is_none());
}

#[test]
fn test_2_preserve_optional_fields() {
    // The contract's own case has the schema `{}`, which OpenAI refuses under
    // `strict`: it is sent without, and the ledger says so.
    let list = json!([{"type":"function","function":
        {"name":"test_tool","description":"Test","strict":true,"parameters":{}}}]);
    let registry = Registry::from_json(list.to_string().as_bytes()).unwrap();
    let (output, ledger) = rendered(&registry, Protocol::Responses);
    assert_eq!(output[0]["strict"], false);
    assert!(ledger.contains(&"/0/function/strict strict_downgraded".to_owned()), "{ledger:?}");
}

#[test]
fn test_3_handle_missing_fields() {
    let registry = filtered(&json!([
        {"type":"function","function":{"name":"valid","description":"Valid tool","parameters":{}}},
        {"type":"function","function":{"name":"undescribed"}},
        {"type":"function"},
        null
    ]));
    let (output, _) = rendered(&registry, Protocol::Responses);
    // The second is valid too: descriptions are optional in every protocol.
    let names: Vec<&Value> = output.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["valid", "undescribed"]);
    let dropped: Vec<usize> = registry.diagnostics().iter().map(|problem| problem.index).collect();
    assert_eq!(dropped, [2, 3]);
}

#[test]
fn test_4_preserve_parameters_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["query", "click"]},
            "selector": {"type": "string"},
            "options": {"type": "object", "properties": {"timeout": {"type": "number", "default": 5000}}}
        },
        "required": ["action"],
        "additionalProperties": false
    });
    let list = json!([{"type":"function","function":
        {"name":"dom_tool","description":"DOM operations","parameters":schema}}]);
    assert_eq!(flat(&list)[0]["parameters"], schema);
}

fn everything() -> Value {
    json!([
        {"type":"function","function":{"name":"a","description":"A","parameters":{"type":"object","properties":{}}}},
        {"type":"function","function":{"name":"b"}},
        {"type":"function","name":"c","description":"C"},
        {"name":"d","input_schema":{"type":"object","properties":{}}},
        {"type":"custom","custom":{"name":"e"}},
        {"type":"local_shell"},
        {"type":"web_search"},
        {"type":"invalid"},
        {"type":"function"},
        null
    ])
}

#[test]
fn inv_1_no_nested_function_property() {
    let (output, _) = rendered(&filtered(&everything()), Protocol::Responses);
    assert!(!output.is_empty());
    for tool in output {
        assert!(tool.get("function").is_none(), "{tool}");
        assert!(tool.get("custom").is_none(), "{tool}");
    }
}

#[test]
fn inv_2_all_required_fields_present() {
    let (output, _) = rendered(&filtered(&everything()), Protocol::Responses);
    let functions: Vec<&Value> = output.iter().filter(|tool| tool["type"] == "function").collect();
    assert_eq!(functions.len(), 4);
    for tool in functions {
        assert!(tool["name"].as_str().is_some_and(|name| !name.is_empty()), "{tool}");
        assert!(tool["parameters"].is_object(), "{tool}");
        // A description is carried where there is one and never made up.
        assert_ne!(tool.get("description"), Some(&json!("")), "{tool}");
    }
}

#[test]
fn inv_3_one_to_one_or_filtered_mapping() {
    let list = everything();
    let registry = filtered(&list);
    let offered = list.as_array().unwrap().len();
    assert_eq!(registry.len() + registry.diagnostics().len(), offered);
    for to in Protocol::ALL {
        let (output, ledger) = rendered(&registry, to);
        assert!(output.len() <= registry.len(), "{to}");
        // Whatever did not come through is told.
        assert!(output.len() + ledger.len() >= registry.len(), "{to}");
    }
}

#[test]
fn error_case_1_invalid_tool_type() {
    let registry = filtered(&json!([{"type":"invalid"}]));
    assert_eq!(rendered(&registry, Protocol::Responses).0, [json!(null); 0]);
    assert_eq!(registry.diagnostics()[0].reason, Reason::Unknown { kind: "invalid".into() });
    // Without the filter a new kind of tool passes to its own protocol and is
    // reported toward the others.
    let registry = Registry::from_json(br#"[{"type":"invalid"}]"#).unwrap();
    assert_eq!(rendered(&registry, Protocol::Responses).0, [json!({"type":"invalid"})]);
    assert_eq!(rendered(&registry, Protocol::Chat), (vec![], vec!["/0 unknown_tool".to_owned()]));
}

#[test]
fn error_case_2_missing_required_fields() {
    // A missing description is no error in any real API.
    assert_eq!(filtered(&json!([{"type":"function","function":{"name":"test"}}])).len(), 1);
    assert_eq!(filtered(&json!([{"type":"function","function":{"description":"d"}}])).len(), 0);
}

#[test]
fn error_case_3_null_tools() {
    let registry = filtered(&json!([null, null, {"type":"function","function":{"name":"f"}}]));
    assert_eq!(registry.len(), 1);
    assert_eq!(registry.diagnostics().len(), 2);
    assert_eq!(registry.diagnostics()[1].pointer, "/1");
}

#[test]
fn convert_function_tool() {
    // `strict` is kept: it is a member of Chat's functions.
    let list = json!([{
        "type": "function",
        "function": {
            "name": "browser_tab",
            "description": "Manage browser tabs",
            "strict": false,
            "parameters": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "description": "Action to perform"},
                    "tabId": {"type": "number", "description": "Tab ID"}
                },
                "required": ["action"],
                "additionalProperties": false
            }
        }
    }]);
    assert_eq!(nested(&list), *list.as_array().unwrap());
}

#[test]
fn convert_local_shell() {
    // The command is a list of words, as in the calls that come back, where the
    // contract has one text.
    let output = nested(&json!([{"type":"local_shell"}]));
    assert_eq!(output[0]["type"], "function");
    let function = &output[0]["function"];
    assert_eq!(function["name"], "local_shell");
    assert!(function["description"].is_string());
    assert_eq!(function["parameters"]["properties"]["command"]["type"], "array");
    let required = function["parameters"]["required"].as_array().unwrap();
    assert!(required.contains(&json!("command")));
}

#[test]
fn convert_web_search() {
    // The vendor runs it; as a function the client would have to, so it is
    // reported and not turned into one.
    let registry = Registry::from_json(br#"[{"type":"web_search"}]"#).unwrap();
    assert_eq!(
        rendered(&registry, Protocol::Chat),
        (vec![], vec!["/0 hosted_tool:web_search".to_owned()]),
    );
    assert_eq!(rendered(&registry, Protocol::Responses).0, [json!({"type":"web_search"})]);
}

#[test]
fn convert_custom() {
    // Chat has freeform tools, so they stay what they are; Messages has none and
    // gets a function of one text.
    let list = json!([{"type":"custom","custom":{"name":"sql","description":"Runs SQL",
        "format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: \"a\""}}}}]);
    assert_eq!(nested(&list), *list.as_array().unwrap());
    assert_eq!(
        flat(&list),
        [json!({"type":"custom","name":"sql","description":"Runs SQL",
                "format":{"type":"grammar","syntax":"lark","definition":"start: \"a\""}})],
    );
    let wrapped = &render(&list, Protocol::Messages)[0];
    assert_eq!(wrapped["input_schema"]["properties"]["input"]["type"], "string");
    assert_eq!(wrapped["input_schema"]["required"], json!(["input"]));
}

#[test]
fn convert_nested_object_and_array_schemas() {
    let schema = json!({
        "type": "object",
        "properties": {
            "config": {"type": "object", "description": "deep", "properties": {
                "inner": {"type": "object", "properties": {"leaf": {"type": "string", "enum": ["x", "y"]}},
                          "required": ["leaf"], "additionalProperties": false}}},
            "tags": {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}},
            "any": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/n"}], "x-vendor": true}
        },
        "required": ["config"],
        "$defs": {"n": {"type": "number", "minimum": 0.5}}
    });
    let list =
        json!([{"type":"function","function":{"name":"f","description":"d","parameters":schema}}]);
    assert_eq!(nested(&list)[0]["function"]["parameters"], schema);
    assert_eq!(flat(&list)[0]["parameters"], schema);
    assert_eq!(render(&list, Protocol::Messages)[0]["input_schema"], schema);
}

#[test]
fn convert_unknown_type_is_filtered() {
    let registry =
        filtered(&json!([{"type":"unknown_type"},{"type":"function","function":{"name":"f"}}]));
    assert_eq!(rendered(&registry, Protocol::Chat).0.len(), 1);
    assert_eq!(registry.diagnostics()[0].index, 0);
}

#[test]
fn convert_mixed_tools() {
    let registry = Registry::from_json(
        json!([
            {"type":"function","function":{"name":"browser_tab"}},
            {"type":"local_shell"},
            {"type":"web_search"}
        ])
        .to_string()
        .as_bytes(),
    )
    .unwrap();
    let (output, ledger) = rendered(&registry, Protocol::Chat);
    let names: Vec<&Value> = output.iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["browser_tab", "local_shell"]);
    assert!(ledger.contains(&"/2 hosted_tool:web_search".to_owned()), "{ledger:?}");
}

fn chat_answer(finish: &str) -> Value {
    json!({"choices":[{"index":0,"finish_reason":finish,"message":{"role":"assistant","content":null,"tool_calls":[
        {"id":"call_xxx","type":"function","function":{"name":"get_weather","arguments":"{\"location\":\"Paris\"}"}}]}}]})
}

fn responses_answer() -> Value {
    json!({"output":[
        {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed"},
        {"type":"function_call","call_id":"call_123","name":"get_weather","arguments":"{\"location\":\"Paris\"}"}]})
}

fn messages_answer() -> Value {
    json!({"role":"assistant","stop_reason":"tool_use","content":[
        {"type":"tool_use","id":"toolu_abc","name":"get_weather","input":{"location":"Paris"}}]})
}

/// The one call of an answer, as (id, name, arguments).
fn only_call(protocol: Protocol, answer: &Value) -> (String, String, String) {
    let calls = calls::parse(protocol, answer.to_string().as_bytes()).unwrap();
    let [call] = calls.as_slice() else { panic!("{calls:?}") };
    let arguments = call.arguments().unwrap().to_owned();
    (call.id.clone(), call.name.clone(), arguments)
}

fn next(protocol: Protocol, request: Value, answer: &Value, output: ToolOutput) -> Value {
    let body = calls::next_request(
        protocol,
        request.to_string().as_bytes(),
        answer.to_string().as_bytes(),
        &[output],
    );
    serde_json::from_slice(&body.unwrap()).unwrap()
}

#[test]
fn parse_model_tool_calls() {
    let arguments = r#"{"location":"Paris"}"#;
    let check = |protocol, answer: &Value, id: &str| {
        let wanted = (id.to_owned(), "get_weather".to_owned(), arguments.to_owned());
        assert_eq!(only_call(protocol, answer), wanted, "{protocol}");
    };
    check(Protocol::Chat, &chat_answer("tool_calls"), "call_xxx");
    check(Protocol::Responses, &responses_answer(), "call_123");
    check(Protocol::Messages, &messages_answer(), "toolu_abc");
}

#[test]
fn parse_does_not_ask_for_the_finish_reason() {
    // The contract wants `tool_calls`, but OpenAI says `stop` when a tool was
    // forced by name, and a length limit can be reached behind a whole call.
    for finish in ["stop", "length", "tool_calls", "something_new"] {
        assert_eq!(only_call(Protocol::Chat, &chat_answer(finish)).0, "call_xxx");
    }
    let mut answer = messages_answer();
    answer["stop_reason"] = json!("max_tokens");
    assert_eq!(only_call(Protocol::Messages, &answer).0, "toolu_abc");
}

#[test]
fn chat_tool_message() {
    let user = json!({"role":"user","content":"Weather in Paris?"});
    let answer = chat_answer("tool_calls");
    let output = ToolOutput::text("call_xxx", "{\"temperature\":25}");
    assert_eq!(
        next(Protocol::Chat, json!({"model":"m","messages":[user]}), &answer, output),
        json!({"model":"m","messages":[
            user,
            answer["choices"][0]["message"],
            {"role":"tool","tool_call_id":"call_xxx","content":"{\"temperature\":25}"}]}),
    );
}

#[test]
fn responses_running_input_with_reasoning() {
    let user = json!({"role":"user","content":"Weather in Paris?"});
    let answer = responses_answer();
    let output = ToolOutput::text("call_123", "{\"temperature\":25}");
    assert_eq!(
        next(Protocol::Responses, json!({"model":"gpt-5","input":[user]}), &answer, output),
        json!({"model":"gpt-5","input":[
            user,
            answer["output"][0],
            answer["output"][1],
            {"type":"function_call_output","call_id":"call_123","output":"{\"temperature\":25}"}]}),
    );
}

#[test]
fn messages_tool_result_block() {
    let user = json!({"role":"user","content":"Weather in Paris?"});
    let answer = messages_answer();
    let output = ToolOutput::text("toolu_abc", "{\"temperature\":25}");
    assert_eq!(
        next(Protocol::Messages, json!({"max_tokens":9,"messages":[user]}), &answer, output),
        json!({"max_tokens":9,"messages":[
            user,
            {"role":"assistant","content":answer["content"]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_abc",
                                       "content":"{\"temperature\":25}"}]}]}),
    );
}

#[test]
fn tool_definition_transformation() {
    // `additionalProperties` and a `strict` inside the schema are not added: the
    // first changes what the tool accepts, the second means nothing there.
    let schema = json!({"type":"object","properties":{"location":{"type":"string","description":"City name"}},
        "required":["location"]});
    let list = json!([{"type":"function","function":
        {"name":"get_weather","description":"Get current weather","parameters":schema}}]);
    assert_eq!(
        flat(&list),
        [json!({"type":"function","name":"get_weather","description":"Get current weather",
                "parameters":schema,"strict":false})],
    );
}

#[test]
fn strict_inside_a_schema_is_left_there() {
    let schema = json!({"type":"object","properties":{},"strict":true});
    let list = json!([{"type":"function","name":"f","parameters":schema,"strict":false}]);
    let registry = Registry::from_json(list.to_string().as_bytes()).unwrap();
    assert_eq!(
        registry.diagnostics()[0].to_string(),
        "definition 0 (f), /0/parameters/strict: `strict` belongs beside the schema; inside it says nothing"
    );
    assert_eq!(rendered(&registry, Protocol::Responses).0[0]["parameters"], schema);
}

#[test]
fn tool_call_output_processing() {
    let answer = json!({"id":"resp_1","status":"completed","output":[
        {"id":"fc_123","type":"function_call","name":"get_weather",
         "arguments":"{\"location\": \"New York\"}","call_id":"call_abc","status":"completed"}]});
    let message = &translated(response, Protocol::Responses, Protocol::Chat, &answer)["choices"][0]
        ["message"];
    assert_eq!(message["role"], "assistant");
    assert_eq!(message["content"], json!(null));
    assert_eq!(
        message["tool_calls"],
        json!([{"id":"call_abc","type":"function","function":
            {"name":"get_weather","arguments":"{\"location\": \"New York\"}"}}]),
    );
}

fn weather_conversation() -> Value {
    json!({"model":"m","messages":[
        {"role":"user","content":"Weather?"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"call_abc","type":"function",
            "function":{"name":"get_weather","arguments":"{}"}}]},
        {"role":"tool","content":"{\"temperature\": 72, \"condition\": \"sunny\"}","tool_call_id":"call_abc"}],
        "tools":[{"type":"function","function":{"name":"get_weather"}}]})
}

#[test]
fn tool_result_handling() {
    // The contract shows Messages' block here; Responses has items for results.
    let body = translated(request, Protocol::Chat, Protocol::Responses, &weather_conversation());
    let input = body["input"].as_array().unwrap();
    let output = input.last().unwrap();
    assert_eq!(output["type"], "function_call_output");
    assert_eq!(output["call_id"], "call_abc");
    assert_eq!(output["output"], "{\"temperature\": 72, \"condition\": \"sunny\"}");
}

#[test]
fn tool_result_block_is_read_in_responses_input() {
    // Some clients send Messages' block to Responses: it is read as the result
    // it is and written as Responses has it.
    let body = json!({"model":"m","input":[
        {"role":"user","content":"Weather?"},
        {"type":"function_call","call_id":"call_abc","name":"get_weather","arguments":"{}"},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_abc","content":"sunny"}]}],
        "tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{}}}]});
    let body = translated(request, Protocol::Responses, Protocol::Chat, &body);
    assert_eq!(
        body["messages"].as_array().unwrap().last().unwrap(),
        &json!({"role":"tool","tool_call_id":"call_abc","content":"sunny"}),
    );
}

#[test]
fn scenario_1_sequential_tool_calls() {
    let call = |id: &str, city: &str| {
        let arguments = json!({"location":city}).to_string();
        json!({"output":[{"type":"function_call","call_id":id,"name":"get_weather","arguments":arguments}]})
    };
    let (nyc, sf) = (call("call_1", "NYC"), call("call_2", "SF"));
    let user = json!({"role":"user","content":"Weather in NYC and SF?"});
    let second = next(
        Protocol::Responses,
        json!({"input":[user]}),
        &nyc,
        ToolOutput::text("call_1", "cold"),
    );
    let third = next(Protocol::Responses, second, &sf, ToolOutput::text("call_2", "warm"));
    assert_eq!(
        third,
        json!({"input":[
            user,
            nyc["output"][0],
            {"type":"function_call_output","call_id":"call_1","output":"cold"},
            sf["output"][0],
            {"type":"function_call_output","call_id":"call_2","output":"warm"}]}),
    );
}

#[test]
fn scenario_2_parallel_tool_calls() {
    let answer = json!({"output":[
        {"type":"reasoning","id":"rs_1","summary":[]},
        {"type":"function_call","call_id":"1","name":"get_weather","arguments":"{\"location\":\"NYC\"}"},
        {"type":"function_call","call_id":"2","name":"get_weather","arguments":"{\"location\":\"SF\"}"},
        {"type":"function_call","call_id":"3","name":"get_time","arguments":"{\"timezone\":\"EST\"}"}]});
    let calls = calls::parse(Protocol::Responses, answer.to_string().as_bytes()).unwrap();
    let found: Vec<(&str, &str)> =
        calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
    assert_eq!(found, [("1", "get_weather"), ("2", "get_weather"), ("3", "get_time")]);
}

#[test]
fn scenario_3_tool_calls_with_text() {
    let answer = json!({"id":"resp_1","status":"completed","output":[
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Let me check the weather..."}]},
        {"type":"function_call","call_id":"c","name":"get_weather","arguments":"{}"}]});
    let message = &translated(response, Protocol::Responses, Protocol::Chat, &answer)["choices"][0]
        ["message"];
    assert_eq!(message["content"], "Let me check the weather...");
    assert_eq!(message["tool_calls"].as_array().unwrap().len(), 1);
}

#[test]
fn scenario_4_failed_tool_calls() {
    // Only Messages has a flag for failure. Elsewhere the text says it, and what
    // the tool said stays as it is behind that.
    let text = r#"{"error":true,"message":"boom","code":7}"#;
    let messages = next(
        Protocol::Messages,
        json!({"messages":[]}),
        &messages_answer(),
        ToolOutput::error("toolu_abc", text),
    );
    assert_eq!(
        messages["messages"][1]["content"],
        json!([{"type":"tool_result","tool_use_id":"toolu_abc","content":text,"is_error":true}]),
    );
    let responses = next(
        Protocol::Responses,
        json!({"input":[]}),
        &responses_answer(),
        ToolOutput::error("call_123", text),
    );
    assert_eq!(
        responses["input"][2],
        json!({"type":"function_call_output","call_id":"call_123","output":format!("Error: {text}")}),
    );
}

#[test]
fn handles_single_tool_call() {
    // The contract's own answer has no `call_id`, so the call gets a stable id.
    let answer = json!({"output":[
        {"type":"reasoning","summary":[]},
        {"type":"function_call","name":"test_tool","arguments":"{}"}]});
    let (id, name, arguments) = only_call(Protocol::Responses, &answer);
    assert_eq!((name.as_str(), arguments.as_str()), ("test_tool", "{}"));
    assert!(id.starts_with("call_"), "{id}");
    assert_eq!(only_call(Protocol::Responses, &answer).0, id);
}

#[test]
fn handles_parallel_tool_calls() {
    let answer = json!({"output":[
        {"type":"function_call","name":"tool1","arguments":"{}"},
        {"type":"function_call","name":"tool2","arguments":"{}"}]});
    let calls = calls::parse(Protocol::Responses, answer.to_string().as_bytes()).unwrap();
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0].id, calls[1].id);
}

#[test]
fn correctly_maps_tool_results() {
    let body = translated(request, Protocol::Chat, Protocol::Messages, &weather_conversation());
    let results = &body["messages"].as_array().unwrap().last().unwrap()["content"];
    assert_eq!(results[0]["type"], "tool_result");
    assert_eq!(results[0]["tool_use_id"], "call_abc");
}

#[test]
fn tool_error_2_invalid_arguments_are_kept() {
    let answer =
        json!({"output":[{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":"}]});
    assert_eq!(only_call(Protocol::Responses, &answer).2, "{\"a\":");
}

#[test]
fn tool_error_4_result_mismatch() {
    let error = calls::continuation(
        Protocol::Responses,
        responses_answer().to_string().as_bytes(),
        &[ToolOutput::text("call_123", "r"), ToolOutput::text("call_other", "r")],
    );
    assert_eq!(error.unwrap_err(), calls::Error::Unknown { id: "call_other".into() });
}

#[test]
fn tool_error_5_parallel_failures_keep_the_rest() {
    let answer = json!({"role":"assistant","content":[
        {"type":"tool_use","id":"a","name":"f","input":{}},
        {"type":"tool_use","id":"b","name":"f","input":{}}]});
    let outputs = [ToolOutput::text("a", "fine"), ToolOutput::error("b", "boom")];
    let continuation =
        calls::continuation(Protocol::Messages, answer.to_string().as_bytes(), &outputs).unwrap();
    let results: Vec<Value> =
        continuation.results().map(|item| serde_json::from_str(item).unwrap()).collect();
    assert_eq!(
        results,
        [json!({"role":"user","content":[
            {"type":"tool_result","tool_use_id":"a","content":"fine"},
            {"type":"tool_result","tool_use_id":"b","content":"boom","is_error":true}]})],
    );
}
