//! The conversation of the tests: one question with one tool, and one answer that
//! calls it, in each protocol.

use toolwire::Protocol;

/// Where a protocol's requests go.
pub(crate) fn path(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "/v1/chat/completions",
        Protocol::Responses => "/v1/responses",
        Protocol::Messages => "/v1/messages",
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

/// The question.
pub(crate) fn question(protocol: Protocol, stream: bool) -> String {
    match protocol {
        Protocol::Chat => format!(
            r#"{{"model":"m","stream":{stream},"messages":[{{"role":"user","content":"Weather in Paris?"}}],"tools":[{{"type":"function","function":{{"name":"get_weather","parameters":{{"type":"object","properties":{{"city":{{"type":"string"}}}}}}}}}}]}}"#
        ),
        Protocol::Responses => format!(
            r#"{{"model":"m","stream":{stream},"input":"Weather in Paris?","tools":[{{"type":"function","name":"get_weather","strict":false,"parameters":{{"type":"object","properties":{{"city":{{"type":"string"}}}}}}}}]}}"#
        ),
        Protocol::Messages => format!(
            r#"{{"model":"m","stream":{stream},"max_tokens":100,"messages":[{{"role":"user","content":"Weather in Paris?"}}],"tools":[{{"name":"get_weather","input_schema":{{"type":"object","properties":{{"city":{{"type":"string"}}}}}}}}]}}"#
        ),
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

/// The answer.
pub(crate) fn answer(protocol: Protocol) -> String {
    match protocol {
        Protocol::Chat => r#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}"#,
        Protocol::Responses => r#"{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m-1","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Let me look.","annotations":[]}]},{"type":"function_call","id":"fc_1","call_id":"call_abc","name":"get_weather","arguments":"{\"city\":\"Paris\"}","status":"completed"}],"usage":{"input_tokens":11,"output_tokens":7,"total_tokens":18}}"#,
        Protocol::Messages => r#"{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"call_abc","name":"get_weather","input":{"city":"Paris"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":11,"output_tokens":7}}"#,
        other => panic!("not a built-in protocol: {other:?}"),
    }
    .to_owned()
}

/// The answer as a stream of events.
pub(crate) fn events(protocol: Protocol) -> Vec<String> {
    let plain = |data: &[&str]| data.iter().map(|data| format!("data: {data}\n\n")).collect();
    let named = |data: &[&str]| {
        let name = |data: &str| {
            let value: serde_json::Value = serde_json::from_str(data).unwrap();
            value["type"].as_str().unwrap().to_owned()
        };
        data.iter().map(|data| format!("event: {}\ndata: {data}\n\n", name(data))).collect()
    };
    match protocol {
        Protocol::Chat => plain(&[
            r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
            r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"content":"Let me look."},"finish_reason":null}]}"#,
            r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}"#,
            r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Paris\"}"}}]},"finish_reason":null}]}"#,
            r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}"#,
            "[DONE]",
        ]),
        Protocol::Responses => named(&[
            r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"m-1","output":[]}}"#,
            r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_1","status":"in_progress","role":"assistant","content":[]}}"#,
            r#"{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}"#,
            r#"{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Let me look."}"#,
            r#"{"type":"response.output_text.done","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"text":"Let me look."}"#,
            r#"{"type":"response.content_part.done","sequence_number":5,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Let me look.","annotations":[]}}"#,
            r#"{"type":"response.output_item.done","sequence_number":6,"output_index":0,"item":{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Let me look.","annotations":[]}]}}"#,
            r#"{"type":"response.output_item.added","sequence_number":7,"output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_abc","name":"get_weather","arguments":"","status":"in_progress"}}"#,
            r#"{"type":"response.function_call_arguments.delta","sequence_number":8,"item_id":"fc_1","output_index":1,"delta":"{\"city\":\"Paris\"}"}"#,
            r#"{"type":"response.function_call_arguments.done","sequence_number":9,"item_id":"fc_1","output_index":1,"arguments":"{\"city\":\"Paris\"}"}"#,
            r#"{"type":"response.output_item.done","sequence_number":10,"output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_abc","name":"get_weather","arguments":"{\"city\":\"Paris\"}","status":"completed"}}"#,
            r#"{"type":"response.completed","sequence_number":11,"response":{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m-1","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Let me look.","annotations":[]}]},{"type":"function_call","id":"fc_1","call_id":"call_abc","name":"get_weather","arguments":"{\"city\":\"Paris\"}","status":"completed"}],"usage":{"input_tokens":11,"output_tokens":7,"total_tokens":18}}}"#,
        ]),
        Protocol::Messages => named(&[
            r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":11,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me look."}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"call_abc","name":"get_weather","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Paris\"}"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":7}}"#,
            r#"{"type":"message_stop"}"#,
        ]),
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

/// What a complete stream ends with.
pub(crate) fn end_mark(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "data: [DONE]",
        Protocol::Responses => "\"type\":\"response.completed\"",
        Protocol::Messages => "\"type\":\"message_stop\"",
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

/// What an error in the middle of a stream looks like.
pub(crate) fn error_mark(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "data: {\"error\":",
        Protocol::Responses => "event: response.failed",
        Protocol::Messages => "event: error",
        other => panic!("not a built-in protocol: {other:?}"),
    }
}

/// An error.
pub(crate) fn error(protocol: Protocol, kind: &str, message: &str) -> String {
    match protocol {
        Protocol::Chat | Protocol::Responses => format!(
            r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":null}}}}"#
        ),
        Protocol::Messages => {
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
        }
        other => panic!("not a built-in protocol: {other:?}"),
    }
}
