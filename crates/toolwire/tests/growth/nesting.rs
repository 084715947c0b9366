//! Documents that are nested deeper than anybody needs are refused or carried,
//! on a small stack and at once.

use toolwire::Protocol;

use super::entry_points::{ENTRY_POINTS, Kind};

#[test]
fn deep_nesting_needs_no_stack() {
    let run = || {
        for depth in [100, 120, 50_000] {
            for [open, inside, close] in [["[", "", "]"], ["{\"a\":", "1", "}"]] {
                let deep = [open.repeat(depth), inside.to_owned(), close.repeat(depth)].concat();
                for (kind, document) in documents(&deep) {
                    for entry in ENTRY_POINTS.iter().filter(|entry| entry.takes == kind) {
                        // serde_json has a limit of its own, and a value of its
                        // own to drop.
                        if entry.names.iter().all(|name| name.starts_with("json::")) {
                            continue;
                        }
                        for from in Protocol::ALL {
                            for to in Protocol::ALL {
                                (entry.call)(from, to, document.as_bytes());
                            }
                        }
                    }
                }
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(run).unwrap();
    thread.join().unwrap();
}

/// A value where strangers may put one.
fn documents(deep: &str) -> Vec<(Kind, String)> {
    let call = |arguments: &str| {
        format!(
            r#"{{"id":"c","type":"function","function":{{"name":"f","arguments":{arguments}}}}}"#
        )
    };
    let text = format!("\"{}\"", deep.replace('"', "\\\""));
    let requests = [
        deep.to_owned(),
        format!(r#"{{"model":"m","x":{deep},"messages":[],"input":[]}}"#),
        format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":{deep}}}],"input":{deep}}}"#
        ),
        format!(r#"{{"model":"m","messages":[],"input":[],"tools":{deep}}}"#),
        format!(
            r#"{{"model":"m","messages":[],"input":[],"tools":[{{"type":"function","name":"f","parameters":{deep},"input_schema":{deep},"function":{{"name":"f","parameters":{deep}}}}}]}}"#
        ),
        format!(
            r#"{{"model":"m","messages":[{{"role":"assistant","tool_calls":[{}],"content":[{{"type":"tool_use","id":"c","name":"f","input":{deep}}}]}}],"input":[{{"type":"function_call","call_id":"c","name":"f","arguments":{text}}}]}}"#,
            call(&text)
        ),
    ];
    let answers = [
        deep.to_owned(),
        format!(
            r#"{{"id":"a","x":{deep},"choices":[{{"message":{{"content":{deep},"tool_calls":[{}]}}}}],"output":[{{"type":"function_call","call_id":"c","name":"f","arguments":{text}}},{deep}],"content":[{{"type":"tool_use","id":"c","name":"f","input":{deep}}}]}}"#,
            call(&text)
        ),
    ];
    let events = [
        format!("data: {deep}\n\n"),
        format!(
            "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"x\":{deep}}}}}]}}\n\n"
        ),
        format!(
            "event: response.output_item.done\ndata: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{deep}}}\n\n"
        ),
        format!(
            "event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{deep}}}\n\n"
        ),
    ];
    let errors = [
        deep.to_owned(),
        format!(r#"{{"error":{deep}}}"#),
        format!(r#"{{"error":{{"message":{deep}}}}}"#),
    ];
    let tools = [
        deep.to_owned(),
        format!(
            r#"[{{"type":"function","name":"f","parameters":{deep},"input_schema":{deep},"inputSchema":{deep}}}]"#
        ),
    ];
    let of = |kind: Kind, all: Vec<String>| all.into_iter().map(move |document| (kind, document));
    let all = of(Kind::Request, requests.into());
    let all = all.chain(of(Kind::Answer, answers.into())).chain(of(Kind::Stream, events.into()));
    all.chain(of(Kind::Error, errors.into())).chain(of(Kind::Tools, tools.into())).collect()
}
