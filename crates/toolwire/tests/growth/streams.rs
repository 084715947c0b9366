//! The streams that hurt, by name: each for every entry point that takes a
//! stream, in every pair of protocols.

use std::fmt::Write;

use toolwire::Protocol::{self, Chat, Messages, Responses};

use super::entry_points::Kind;
use super::sweep::measure;

/// A stream of so many of something.
struct Stream {
    shape: &'static str,
    protocol: Protocol,
    /// How many there are of it in the shorter stream.
    size: usize,
    make: fn(usize) -> String,
}

#[test]
fn streams_that_hurt() {
    let mut over = Vec::new();
    for Stream { shape, protocol, size, make } in STREAMS {
        let case = format!("{shape} (Stream, {protocol})");
        measure(Kind::Stream, *protocol, &case, *size, |size| make(size).into_bytes(), &mut over);
    }
    assert!(over.is_empty(), "{} cases:\n{}", over.len(), over.join("\n"));
}

const STREAMS: &[Stream] = &[
    Stream {
        shape: "many members of a detail of reasoning",
        protocol: Chat,
        size: 1000,
        make: |size| {
            let mut out = String::new();
            let members = each(size, |number, out| write!(out, r#","x{number}":1"#).unwrap());
            let detail = format!(
                r#""reasoning_details":[{{"type":"reasoning.text","index":0,"text":"t"{members}}}]"#
            );
            // The second is the next piece of the first.
            chat(&detail, &mut out);
            chat(&detail, &mut out);
            out
        },
    },
    Stream {
        shape: "many calls",
        protocol: Chat,
        size: 300,
        make: |size| {
            each(size, |number, out| {
                chat(
                    &format!(
                        r#""tool_calls":[{{"index":{number},"id":"call_{number}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]"#
                    ),
                    out,
                )
            })
        },
    },
    Stream {
        shape: "many calls of one index",
        protocol: Chat,
        size: 300,
        make: |size| {
            each(size, |number, out| {
                chat(
                    &format!(
                        r#""tool_calls":[{{"index":0,"id":"call_{number}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]"#
                    ),
                    out,
                )
            })
        },
    },
    Stream {
        shape: "many calls of one id",
        protocol: Chat,
        size: 300,
        make: |size| {
            each(size, |number, out| {
                chat(
                    &format!(
                        r#""tool_calls":[{{"index":{number},"id":"call","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]"#
                    ),
                    out,
                )
            })
        },
    },
    Stream {
        shape: "many calls without an id, all open",
        protocol: Chat,
        size: 300,
        make: |size| {
            each(size, |number, out| {
                chat(
                    &format!(
                        r#""tool_calls":[{{"index":{number},"function":{{"name":"f","arguments":"{{\"a"}}}}]"#
                    ),
                    out,
                )
            })
        },
    },
    Stream {
        shape: "many calls, all open",
        protocol: Chat,
        size: 300,
        make: |size| {
            each(size, |number, out| {
                chat(
                    &format!(
                        r#""tool_calls":[{{"index":{number},"id":"c{number}","function":{{"name":"f","arguments":"{{\"a"}}}}]"#
                    ),
                    out,
                )
            })
        },
    },
    Stream {
        shape: "a name in many pieces",
        protocol: Chat,
        size: 500,
        make: |size| {
            each(size, |_, out| {
                chat(r#""tool_calls":[{"index":0,"id":"c","function":{"name":"\u00e9"}}]"#, out)
            })
        },
    },
    Stream {
        shape: "many blanks before arguments",
        protocol: Chat,
        size: 500,
        make: |size| {
            let mut out = String::new();
            chat(
                r#""tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]"#,
                &mut out,
            );
            out + &each(size, |_, out| {
                chat(r#""tool_calls":[{"index":0,"function":{"arguments":" "}}]"#, out)
            })
        },
    },
    Stream {
        shape: "many tiny events, many losses",
        protocol: Chat,
        size: 500,
        make: |size| {
            each(size, |number, out| chat(&format!(r#""content":"a","x{number}":1"#), out))
        },
    },
    Stream {
        shape: "many keys in an event",
        protocol: Chat,
        size: 600,
        make: |size| {
            let keys = each(size, |number, out| write!(out, r#","x{number}":1"#).unwrap());
            let mut out = String::new();
            chat(&format!(r#""content":"a"{keys}"#), &mut out);
            out
        },
    },
    Stream {
        shape: "one huge event",
        protocol: Chat,
        size: 30_000,
        make: |size| {
            let mut out = String::new();
            chat(&format!(r#""content":"{}""#, "a\\n".repeat(size)), &mut out);
            out
        },
    },
    Stream {
        shape: "many comments and empty lines",
        protocol: Chat,
        size: 3_000,
        make: |size| each(size, |_, out| out.push_str(": ping\n\nid: 1\n\n")),
    },
    Stream {
        shape: "an event of many lines",
        protocol: Chat,
        size: 3_000,
        make: |size| each(size, |_, out| out.push_str("data: \n")) + "\n",
    },
    Stream {
        shape: "many pieces of reasoning",
        protocol: Chat,
        size: 300,
        make: |size| {
            each(size, |number, out| {
                chat(
                    &format!(
                        r#""reasoning_details":[{{"type":"reasoning.text","text":"t","index":{number},"x{number}":1}}]"#
                    ),
                    out,
                )
            })
        },
    },
    Stream {
        shape: "many calls",
        protocol: Responses,
        size: 100,
        make: |size| {
            each(size, |number, out| {
                let item = |more: &str| {
                    format!(
                        r#""output_index":{number},"item":{{"type":"function_call","id":"fc_{number}","call_id":"call_{number}","name":"f","arguments":"{more}"}}"#
                    )
                };
                event("response.output_item.added", &item(""), out);
                let delta =
                    format!(r#""output_index":{number},"item_id":"fc_{number}","delta":"{{}}""#);
                event("response.function_call_arguments.delta", &delta, out);
                event("response.output_item.done", &item("{}"), out);
            })
        },
    },
    Stream {
        shape: "many calls, all open, many losses",
        protocol: Responses,
        size: 300,
        make: |size| {
            each(size, |number, out| {
                event(
                    "response.output_item.added",
                    &format!(
                        r#""output_index":{number},"x{number}":1,"item":{{"type":"function_call","id":"fc_{number}","call_id":"call","name":"f","arguments":""}}"#
                    ),
                    out,
                )
            })
        },
    },
    Stream {
        shape: "many parts of one message",
        protocol: Responses,
        size: 300,
        make: |size| {
            each(size, |number, out| {
                event(
                    "response.output_text.delta",
                    &format!(
                        r#""output_index":0,"content_index":{number},"item_id":"msg","delta":"a""#
                    ),
                    out,
                )
            })
        },
    },
    Stream {
        shape: "many tiny events",
        protocol: Responses,
        size: 500,
        make: |size| {
            each(size, |_, out| {
                event(
                    "response.output_text.delta",
                    r#""output_index":0,"content_index":0,"item_id":"msg","delta":"a""#,
                    out,
                )
            })
        },
    },
    Stream {
        shape: "one huge event",
        protocol: Responses,
        size: 30_000,
        make: |size| {
            let mut out = String::new();
            event(
                "response.output_text.delta",
                &format!(
                    r#""output_index":0,"content_index":0,"item_id":"m","delta":"{}""#,
                    "a\\n".repeat(size)
                ),
                &mut out,
            );
            out
        },
    },
    Stream {
        shape: "many calls",
        protocol: Messages,
        size: 100,
        make: |size| {
            start()
                + &each(size, |number, out| {
                    event(
                        "content_block_start",
                        &format!(
                            r#""index":{number},"content_block":{{"type":"tool_use","id":"call_{number}","name":"f","input":{{}}}}"#
                        ),
                        out,
                    );
                    event(
                        "content_block_delta",
                        &format!(
                            r#""index":{number},"delta":{{"type":"input_json_delta","partial_json":"{{}}"}}"#
                        ),
                        out,
                    );
                    event("content_block_stop", &format!(r#""index":{number}"#), out);
                })
        },
    },
    Stream {
        shape: "many calls of one id, all open, many losses",
        protocol: Messages,
        size: 300,
        make: |size| {
            start()
                + &each(size, |number, out| {
                    event(
                        "content_block_start",
                        &format!(
                            r#""index":{number},"x{number}":1,"content_block":{{"type":"tool_use","id":"call","name":"f","input":{{}}}}"#
                        ),
                        out,
                    )
                })
        },
    },
    Stream {
        shape: "many tiny events",
        protocol: Messages,
        size: 500,
        make: |size| {
            let mut out = start();
            event(
                "content_block_start",
                r#""index":0,"content_block":{"type":"text","text":""}"#,
                &mut out,
            );
            out + &each(size, |_, out| {
                event(
                    "content_block_delta",
                    r#""index":0,"delta":{"type":"text_delta","text":"a"}"#,
                    out,
                )
            })
        },
    },
    Stream {
        // Each count is passed on with those before it, up to a number. They are
        // there from the start, so that every further one costs the same.
        shape: "many counts of tokens",
        protocol: Messages,
        size: 100,
        make: |size| {
            let mut out = start();
            let kept = each(70, |number, out| write!(out, r#","y{number}":1"#).unwrap());
            let first = format!(r#""delta":{{}},"usage":{{"output_tokens":1{kept}}}"#);
            event("message_delta", &first, &mut out);
            out + &each(size, |number, out| {
                event(
                    "message_delta",
                    &format!(r#""delta":{{}},"usage":{{"output_tokens":{number},"x{number}":1}}"#),
                    out,
                )
            })
        },
    },
];

fn each(size: usize, write: impl Fn(usize, &mut String)) -> String {
    let mut out = String::new();
    (0..size).for_each(|number| write(number, &mut out));
    out
}

fn chat(delta: &str, out: &mut String) {
    write!(
        out,
        "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\"finish_reason\":null}}]}}\n\n"
    )
    .unwrap();
}

fn event(kind: &str, members: &str, out: &mut String) {
    write!(out, "event: {kind}\ndata: {{\"type\":\"{kind}\",{members}}}\n\n").unwrap();
}

fn start() -> String {
    let mut out = String::new();
    let message = r#""message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}"#;
    event("message_start", message, &mut out);
    out
}
