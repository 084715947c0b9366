//! The documents that hurt, by name: each for every entry point that takes such a
//! document, in every pair of protocols.

use serde_json::Value;
use toolwire::Protocol::{self, Chat, Messages, Responses};

use super::entry_points::Kind;
use super::stretch::Stretch::{self, Alike, Escaped, Fresh, Long, Members};
use super::sweep::measure;

/// A document with a place that is stretched.
struct Row {
    shape: &'static str,
    kind: Kind,
    protocol: Protocol,
    document: &'static str,
    place: &'static str,
    stretch: Stretch,
    /// How far it is stretched at first, where that matters.
    size: Option<usize>,
}

macro_rules! rows {
    ($( $kind:ident $protocol:ident $document:expr => {
        $( $shape:literal: $place:literal $stretch:ident $($size:literal)?; )*
    } )*) => {
        &[$( $( Row {
            shape: $shape,
            kind: Kind::$kind,
            protocol: $protocol,
            document: $document,
            place: $place,
            stretch: $stretch,
            size: [$($size)?].first().copied(),
        }, )* )*]
    };
}

const ROWS: &[Row] = rows! {
    Request Chat r#"{"model":"m","messages":[{"role":"user","content":"hi","x":1},{"role":"assistant","tool_calls":[{"id":"call","type":"function","function":{"name":"f.g","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"call","content":"1"}],"tools":[{"type":"function","function":{"name":"f.g","parameters":{"type":"object","properties":{"a":{"type":"string"}}},"strict":true}}]}"# => {
        "many keys": "" Members;
        "many keys in a message": "/messages/0" Members;
        "many losses, calls and results": "/messages" Fresh;
        "many duplicates of an id": "/messages" Alike;
        "many calls at once": "/messages/1/tool_calls" Fresh;
        "many calls without results": "/messages/1/tool_calls" Alike;
        "many tools": "/tools" Fresh;
        "many duplicates of a name": "/tools" Alike;
        "many properties": "/tools/0/function/parameters/properties" Members;
        "long name": "/tools/0/function/name" Long;
        "long id": "/messages/1/tool_calls/0/id" Long;
        "long arguments": "/messages/1/tool_calls/0/function/arguments" Escaped;
        "long text": "/messages/0/content" Escaped;
    }
    Request Chat r#"{"model":"m","messages":[{"role":"tool","tool_call_id":"an id that no protocol takes as it is, because it is so very long","content":"1"}]}"# => {
        "many results without calls, long ids": "/messages" Fresh;
    }
    Request Responses r#"{"model":"m","input":[{"role":"user","content":"hi","x":1},{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"e"},{"type":"function_call","call_id":"call","name":"f.g","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"call","output":"1"}],"tools":[{"type":"function","name":"f.g","parameters":{"type":"object","properties":{"a":{"type":"string"}}}},{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"g","parameters":{}}]},{"type":"custom","name":"c"}]}"# => {
        "many keys": "" Members;
        "many keys in a message": "/input/0" Members;
        "many losses, calls and results": "/input" Fresh;
        "many duplicates of an id": "/input" Alike;
        // A list of up to 512 tools is kept, with what answers repeat of it. More are written
        // anew for each answer, so both sizes are on one side.
        "many tools, many namespaces, few enough to be kept": "/tools" Fresh 30;
        "many tools, many namespaces, too many to be kept": "/tools" Fresh 1200;
        "many duplicates of a name": "/tools" Alike;
        "many tools in a namespace": "/tools/1/tools" Fresh;
        "many keys in a tool": "/tools/0" Members;
        "long name": "/tools/0/name" Long;
        "long namespace": "/tools/1/name" Long;
        "long id": "/input/2/call_id" Long;
    }
    Request Responses r#"{"model":"m","input":[{"type":"function_call_output","call_id":"an id that no protocol takes as it is, because it is so very long","output":"1"}]}"# => {
        "many results without calls, long ids": "/input" Fresh;
    }
    Request Messages r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi","x":1},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"call","name":"f.g","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call","content":"1","is_error":true}]}],"tools":[{"name":"f.g","input_schema":{"type":"object","properties":{"a":{"type":"string"}}}}]}"# => {
        "many keys": "" Members;
        "many keys in a message": "/messages/0" Members;
        "many losses, calls and results": "/messages" Fresh;
        "many duplicates of an id": "/messages" Alike;
        "many calls at once": "/messages/1/content" Fresh;
        "many results at once": "/messages/2/content" Fresh;
        "many duplicates of a result": "/messages/2/content" Alike;
        "many tools": "/tools" Fresh;
        "many duplicates of a name": "/tools" Alike;
        "many keys in arguments": "/messages/1/content/1/input" Members;
        "long name": "/tools/0/name" Long;
        "long id": "/messages/1/content/1/id" Long;
    }
    Answer Chat r#"{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"x","tool_calls":[{"id":"call","type":"function","function":{"name":"a_b","arguments":"{\"input\":\"1\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"# => {
        "many keys, many losses": "" Members;
        "many keys in usage": "/usage" Members;
        "many calls": "/choices/0/message/tool_calls" Fresh;
        "many duplicates of an id": "/choices/0/message/tool_calls" Alike;
        "many candidates": "/choices" Fresh;
        "long id": "/choices/0/message/tool_calls/0/id" Long;
        "long text": "/choices/0/message/content" Escaped;
    }
    Answer Responses r#"{"id":"r","object":"response","model":"m","status":"completed","output":[{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"t"}]},{"type":"message","id":"msg","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[{"type":"url_citation","url":"u","title":"t","start_index":0,"end_index":1}]}]},{"type":"function_call","id":"fc","call_id":"call","name":"a_b","arguments":"{\"input\":\"1\"}","x":1}]}"# => {
        "many keys, many losses": "" Members;
        "many calls, many losses": "/output" Fresh;
        "many duplicates of an id": "/output" Alike;
        "many texts": "/output/1/content" Alike;
        "many citations": "/output/1/content/0/annotations" Alike;
        "long arguments": "/output/2/arguments" Escaped;
    }
    Answer Messages r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"x","citations":[{"type":"char_location","cited_text":"t","document_index":0,"document_title":"d","start_char_index":0,"end_char_index":1}]},{"type":"tool_use","id":"call","name":"a_b","input":{"input":"1"},"x":1}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}"# => {
        "many keys, many losses": "" Members;
        "many keys in usage": "/usage" Members;
        "many calls, many losses": "/content" Fresh;
        "many duplicates of an id": "/content" Alike;
        "many citations": "/content/1/citations" Alike;
        "many keys in arguments": "/content/2/input" Members;
        "long signature": "/content/0/signature" Long;
    }
    Error Chat r#"{"error":{"message":"m","type":"invalid_request_error","param":"p","code":"c"}}"# => {
        "many keys": "/error" Members;
        "long message": "/error/message" Escaped;
        "long parameter": "/error/param" Long;
    }
    Error Responses r#"{"error":{"message":"m","type":"invalid_request_error","param":"p","code":"c"}}"# => {
        "many keys": "" Members;
        "long message": "/error/message" Escaped;
    }
    Error Messages r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.0: bad"},"request_id":"r"}"# => {
        "many keys": "/error" Members;
        "long message": "/error/message" Escaped;
    }
    Tools Chat r#"[{"type":"function","function":{"name":"f.g","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},"strict":true}}]"# => {
        "many tools": "" Fresh;
        "many duplicates of a name": "" Alike;
        "many properties": "/0/function/parameters/properties" Members;
        "many required": "/0/function/parameters/required" Alike;
        "long name": "/0/function/name" Long;
        "long description": "/0/function/description" Escaped;
    }
    Tools Responses r##"[{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"g","parameters":{"anyOf":[{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}}}],"$defs":{"b":{"type":"string"}}}}]}]"## => {
        "many namespaces": "" Fresh;
        "many tools in a namespace": "/0/tools" Fresh;
        // Up to 256 alternatives at the root are merged into one object. More become
        // the schema of one property as they are, so both sizes are on one side.
        "many alternatives, few enough to be merged": "/0/tools/0/parameters/anyOf" Alike 25;
        "many alternatives, too many to be merged": "/0/tools/0/parameters/anyOf" Alike 900;
        "many definitions": "/0/tools/0/parameters/$defs" Members;
    }
    Tools Responses r#"[{"type":"function","name":"g","parameters":{"anyOf":[{"type":"object","properties":{"a":{"type":"string","id":"x"}}}]}}]"# => {
        "many alternatives that differ": "/0/parameters/anyOf" Fresh 25;
    }
    Tools Messages r#"[{"name":"f.g","description":"d","input_schema":{"type":"object","properties":{"a":{"enum":["x"]}}}}]"# => {
        "many tools": "" Fresh;
        "many words": "/0/input_schema/properties/a/enum" Alike;
        "long name": "/0/name" Long;
    }
};

#[test]
fn documents_that_hurt() {
    let mut over = Vec::new();
    for Row { shape, kind, protocol, document, place, stretch, size } in ROWS {
        let document: Value = serde_json::from_str(document).unwrap();
        let value = document.pointer(place).unwrap_or_else(|| panic!("{shape}: no {place}"));
        let make = |size| {
            let mut stretched = document.clone();
            stretch.apply(stretched.pointer_mut(place).unwrap(), size);
            serde_json::to_vec(&stretched).unwrap()
        };
        let case = format!("{shape} ({kind:?}, {protocol}, {place})");
        let size = size.unwrap_or_else(|| stretch.size(value));
        measure(*kind, *protocol, &case, size, make, &mut over);
    }
    assert!(over.is_empty(), "{} cases:\n{}", over.len(), over.join("\n"));
}
