//! What an upstream's responses cost: whole ones, errors and streams.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderValue};
use tokio::time::{Duration, Instant};
use toolwire::Protocol::{self, Chat, Messages, Responses};
use toolwire::pipe::Pipe;
use toolwire::translate::{Options, PreparedRequest};
use toolwire_laws::growth::Growth;

use super::super::{ClientResponse, Failure, SentRequest, stream, unary};
use super::{each, list};
use crate::growth::{Fixture, Row, chunks, headers as header_map, run};
use crate::upstream::UpstreamResponse;

pub(crate) const ROWS: &[Row] = &[
    Row {
        names: WHOLE,
        shape: "many keys",
        measure: || {
            whole(200, |size| {
                (
                    Chat,
                    format!(
                        r#"{{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":"hi"{0}}},"finish_reason":"stop"{0}}}]{0}}}"#,
                        each(size, |n| format!(r#","x{n}":1"#))
                    ),
                )
            })
        },
    },
    Row {
        names: WHOLE,
        shape: "many calls",
        measure: || {
            whole(100, |size| {
                (
                    Messages,
                    format!(
                        r#"{{"id":"m","type":"message","role":"assistant","model":"m","content":[{}],"stop_reason":"tool_use","usage":{{"input_tokens":1,"output_tokens":1}}}}"#,
                        list(size, |n| format!(
                            r#"{{"type":"tool_use","id":"c{n}","name":"f","input":{{}},"x{n}":1}}"#
                        ))
                    ),
                )
            })
        },
    },
    Row {
        names: WHOLE,
        shape: "many items",
        measure: || {
            whole(100, |size| {
                (
                    Responses,
                    format!(
                        r#"{{"id":"r","object":"response","created_at":1,"status":"completed","model":"m","output":[{}]}}"#,
                        list(size, |n| format!(
                            r#"{{"type":"function_call","id":"i{n}","call_id":"c{n}","name":"f","arguments":"{{}}","x{n}":1}}"#
                        ))
                    ),
                )
            })
        },
    },
    Row {
        names: ERRORS,
        shape: "long error that quotes itself",
        measure: || {
            failure(500, |size| {
                format!(
                    r#"{{"error":{{"message":"{}","type":"t","param":"{}","code":"c"}}}}"#,
                    r#"\\\"a\\\" "#.repeat(size),
                    "p".repeat(size)
                )
            })
        },
    },
    Row {
        names: ERRORS,
        shape: "error with many keys",
        measure: || {
            failure(300, |size| {
                format!(
                    r#"{{"error":{{"message":"m","type":"t"{}}}}}"#,
                    each(size, |n| format!(r#","x{n}":{{}}"#))
                )
            })
        },
    },
    Row {
        names: ERRORS,
        shape: "no error at all",
        measure: || failure(3000, |size| "<html>".repeat(size)),
    },
    Row {
        names: STREAM,
        shape: "many tiny events",
        measure: || streamed(300, |size| (Chat, each(size, |_| chat_event(r#""content":"a""#)))),
    },
    Row {
        names: STREAM,
        shape: "many calls, many losses",
        measure: || {
            streamed(100, |size| {
                (
                    Chat,
                    each(size, |n| {
                        chat_event(&format!(
                            r#""x{n}":1,"tool_calls":[{{"index":{n},"id":"c{n}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]"#
                        ))
                    }),
                )
            })
        },
    },
    Row {
        names: STREAM,
        shape: "one huge event",
        measure: || {
            streamed(5000, |size| {
                (Chat, chat_event(&format!(r#""content":"{}""#, "a\\n".repeat(size))))
            })
        },
    },
    Row {
        names: STREAM,
        shape: "one event with many keys",
        measure: || {
            streamed(300, |size| {
                (
                    Chat,
                    chat_event(&format!(
                        r#""content":"a"{}"#,
                        each(size, |n| format!(r#","x{n}":1"#))
                    )),
                )
            })
        },
    },
    Row {
        names: STREAM,
        shape: "many comments and empty lines",
        measure: || {
            streamed(1000, |size| {
                (Chat, format!("{}{}", chat_event(r#""content":"a""#), ": c\n\n\r\n".repeat(size)))
            })
        },
    },
    Row {
        names: STREAM,
        shape: "many fragments of a call",
        measure: || {
            streamed(200, |size| {
                let start = concat!(
                    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
                    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{}}}\n\n"
                );
                let delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"a\"}}\n\n";
                (Messages, format!("{start}{}", delta.repeat(size)))
            })
        },
    },
];

const WHOLE: &[&str] = &[
    "relay/unary.rs::finish",
    "relay/stream/from_whole.rs::begin",
    "relay/headers.rs::set_request_id",
    "relay/headers.rs::set_upstream_model",
    "upstream/response.rs::read_all",
    "memory.rs::hold",
    "response_body.rs::whole",
];
const ERRORS: &[&str] = &[
    "relay/failure.rs::from_error_response",
    "relay/failure.rs::from_stream_error",
    "relay/failure.rs::unreadable_response",
    "relay/failure.rs::into_response",
    "relay/failure.rs::into_event",
    "relay/failure.rs::without_secrets",
];
const STREAM: &[&str] = &[
    "relay/stream/opening.rs::begin",
    "relay/stream.rs::poll_chunk",
    "upstream/response.rs::poll_chunk",
];

/// A whole response, for clients that asked for one and for a stream.
fn whole(size: usize, make: fn(usize) -> (Protocol, String)) -> Growth {
    let fixture = Fixture::new(HeaderMap::new());
    Growth::of(size, make, |(from, body)| {
        run(async {
            for client in Protocol::ALL {
                let upstream = fixture.upstream(*from);
                let prepared = PreparedRequest::new(client, *from, EMPTY_REQUEST).unwrap();
                let translator = prepared.response_translator(&Options::new());
                let mut context = fixture.context(client);
                let sent = || SentRequest {
                    upstream,
                    model_renamed: true,
                    losses: Vec::new(),
                    recorder: None,
                };
                drop(unary::finish(&mut context, sent(), &translator, response(body, JSON)).await);
                let pipe = prepared.pipe(&Options::new());
                let begun =
                    stream::begin(&mut context, sent(), Box::new(pipe), response(body, JSON)).await;
                pull(begun).await;
            }
        });
    })
}

/// An error, for each kind of client.
fn failure(size: usize, make: fn(usize) -> String) -> Growth {
    let fixture = Fixture::new(HeaderMap::new());
    Growth::of(size, make, |body: &String| {
        for client in Protocol::ALL {
            let context = fixture.context(client);
            let (upstream, body) = (fixture.upstream(Chat), Bytes::from(body.clone()));
            let fail = || {
                let status = StatusCode::BAD_REQUEST;
                let failure = Failure::from_error_response(
                    &context,
                    upstream,
                    status,
                    &HeaderMap::new(),
                    body.clone(),
                );
                failure.without_secrets(&context.secret_mask())
            };
            drop(fail().into_response(client, "req_1"));
            drop(fail().into_event(client, "req_1"));
            let text = std::str::from_utf8(&body).unwrap();
            drop(Failure::unreadable_response(upstream, text));
        }
    })
}

/// A stream, for each kind of client.
fn streamed(size: usize, make: fn(usize) -> (Protocol, String)) -> Growth {
    let fixture = Fixture::new(header_map([("te", "trailers")]));
    Growth::of(size, make, |(from, body)| {
        run(async {
            for client in Protocol::ALL {
                let pipe = Pipe::new(*from, client, &Options::new()).unwrap();
                let upstream: &Arc<_> = fixture.upstream(*from);
                let sent = SentRequest {
                    upstream,
                    model_renamed: true,
                    losses: Vec::new(),
                    recorder: None,
                };
                let mut context = fixture.context(client);
                let begun =
                    stream::begin(&mut context, sent, Box::new(pipe), response(body, SSE)).await;
                pull(begun).await;
            }
        });
    })
}

fn response(body: &str, content_type: &'static str) -> UpstreamResponse {
    let response =
        toolwire_demo::Response { status: 200, content_type, chunks: chunks(body.as_bytes()) };
    let mut response =
        UpstreamResponse::from_demo(response, Instant::now() + Duration::from_secs(600));
    response.headers.insert("x-request-id", HeaderValue::from_static("r"));
    response
}

/// Reads a stream as a connection does.
async fn pull(response: Result<ClientResponse, Failure>) {
    if let Ok(ClientResponse::Stream { headers: _, mut stream }) = response {
        while let Some(Ok(_)) = poll_fn(|cx| stream.poll_chunk(cx)).await {}
        stream.take_trailers();
    }
}

fn chat_event(delta: &str) -> String {
    format!(
        "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\"finish_reason\":null}}]}}\n\n"
    )
}

const EMPTY_REQUEST: &[u8] = br#"{"model":"m","max_tokens":1,"messages":[],"input":[]}"#;
const JSON: &str = "application/json";
const SSE: &str = "text/event-stream";
