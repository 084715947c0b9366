//! What requests, and the headers of both sides, cost on their way through the
//! gateway.

pub(crate) mod responses;

use hyper::header::HeaderMap;
use toolwire::Protocol::{self, Chat, Messages, Responses};
use toolwire::protocol::PathMatch;
use toolwire::translate::ToolLists;
use toolwire::{Action, Code, Entry};
use toolwire_laws::growth::Growth;

use super::client_request::RequestDocument;
use super::request_head::CheckedHead;
use super::upstream_request::UpstreamRequest;
use super::{Failure, headers, loss};
use crate::growth::{Fixture, Row, headers as header_map};
use crate::route::Route;

pub(crate) const ROWS: &[Row] = &[
    Row {
        names: REQUEST,
        shape: "many keys",
        measure: || {
            request(300, |size| {
                (
                    Chat,
                    format!(
                        r#"{{"model":"m","messages":[{{"role":"user","content":"hi"{0}}}]{0}}}"#,
                        each(size, |n| format!(r#","x{n}":1"#))
                    ),
                )
            })
        },
    },
    Row {
        names: REQUEST,
        shape: "many tools",
        measure: || {
            request(100, |size| {
                (
                    Chat,
                    format!(
                        r#"{{"model":"m","messages":[],"tools":[{}]}}"#,
                        list(size, |n| format!(
                            r#"{{"type":"function","function":{{"name":"f.{n}","parameters":{{}}}}}}"#
                        ))
                    ),
                )
            })
        },
    },
    Row {
        names: REQUEST,
        shape: "nested namespaces",
        measure: || {
            request(30, |size| {
                let tools = |n| {
                    list(3, |m| {
                        format!(r#"{{"type":"function","name":"f{n}_{m}","parameters":{{}}}}"#)
                    })
                };
                (
                    Responses,
                    format!(
                        r#"{{"model":"m","input":[],"tools":[{}]}}"#,
                        list(size, |n| format!(
                            r#"{{"type":"namespace","name":"n{n}","description":"d","tools":[{}]}}"#,
                            tools(n)
                        ))
                    ),
                )
            })
        },
    },
    Row {
        names: REQUEST,
        shape: "namespaces in namespaces",
        measure: || {
            request(10, |size| {
                let open =
                    r#"{"type":"namespace","name":"n","description":"d","tools":["#.repeat(size);
                (
                    Responses,
                    format!(r#"{{"model":"m","input":[],"tools":[{open}{}]}}"#, "]}".repeat(size)),
                )
            })
        },
    },
    Row {
        names: REQUEST,
        shape: "many losses",
        measure: || {
            request(100, |size| {
                (
                    Messages,
                    format!(
                        r#"{{"model":"m","max_tokens":1,"messages":[{}]}}"#,
                        list(size, |n| format!(
                            r#"{{"role":"user","content":[{{"type":"text","text":"t","cache_control":{{"type":"ephemeral"}},"y{n}":1}}],"x{n}":1}}"#
                        ))
                    ),
                )
            })
        },
    },
    Row {
        names: REQUEST,
        shape: "many calls and results",
        measure: || {
            request(100, |size| {
                (
                    Messages,
                    format!(
                        r#"{{"model":"m","max_tokens":1,"messages":[{}]}}"#,
                        list(size, |n| format!(
                            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"c{n}","name":"f","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{n}","content":"1"}}]}}"#
                        ))
                    ),
                )
            })
        },
    },
    Row {
        names: REQUEST,
        shape: "long model",
        measure: || {
            request(2000, |size| {
                (Chat, format!(r#"{{"model":"{}","messages":[]}}"#, "a\\u001b".repeat(size)))
            })
        },
    },
    Row {
        names: HEADERS,
        shape: "many headers",
        measure: || {
            client_headers(100, |size| {
                header_map((0..size).map(|n| (format!("x-stainless-{n}"), "v")))
            })
        },
    },
    Row {
        names: HEADERS,
        shape: "many features in a header",
        measure: || {
            client_headers(100, |size| {
                header_map(
                    FEATURES.map(|name| (name, each(size, |n| format!("feature-{n}-2025-01-01,")))),
                )
            })
        },
    },
    Row {
        names: HEADERS,
        shape: "many values of a header",
        measure: || {
            client_headers(MOST_VALUES, |size| {
                header_map(
                    (0..size)
                        .flat_map(|n| NAMES.map(|name| (name, format!("value-{n}, trailers")))),
                )
            })
        },
    },
    Row {
        names: HEADERS,
        shape: "long values",
        measure: || {
            client_headers(100, |size| header_map(NAMES.map(|name| (name, "v".repeat(50 * size)))))
        },
    },
    Row {
        names: RESPONSE_HEADERS,
        shape: "many headers",
        measure: || {
            upstream_headers(100, |size| {
                let limits =
                    (0..size).map(|n| (format!("anthropic-ratelimit-{n}-limit"), format!("{n}")));
                header_map(limits.chain(
                    (0..size).map(|n| (format!("x-ratelimit-limit-{n}"), "é".replace('é', "!"))),
                ))
            })
        },
    },
    Row {
        names: RESPONSE_HEADERS,
        shape: "many values of a header",
        measure: || {
            upstream_headers(MOST_VALUES, |size| {
                header_map(
                    (0..size).flat_map(|n| UPSTREAM_NAMES.map(|name| (name, format!("{n}s")))),
                )
            })
        },
    },
    Row {
        names: RESPONSE_HEADERS,
        shape: "long values",
        measure: || {
            upstream_headers(100, |size| {
                header_map(UPSTREAM_NAMES.map(|name| (name, "1s".repeat(50 * size))))
            })
        },
    },
    Row {
        names: LOSSES,
        shape: "many losses with long paths",
        measure: || {
            let make = |size| -> Vec<Entry> {
                (0..size)
                    .map(|n| {
                        Entry::new(format!("/a/{n}"), Code::Only(format!("x{n}")), Action::Dropped)
                    })
                    .collect()
            };
            Growth::of(500, make, |losses| {
                let mut out = HeaderMap::new();
                loss::write_header(losses, losses, 4096, &mut out);
                let mut trailers =
                    loss::LossTrailers::new(&header_map([("te", "trailers")]), 4096).unwrap();
                losses.chunks(1).for_each(|one| trailers.add(one));
                trailers.into_headers();
            })
        },
    },
];

const REQUEST: &[&str] = &[
    "relay/request_head.rs::read",
    "relay/upstream_request.rs::build",
    "relay/mod.rs::relay",
    "relay/headers.rs::check_losses",
    "relay/failure.rs::from_translation",
];
const HEADERS: &[&str] = &[
    "relay/headers.rs::for_upstream",
    "relay/headers.rs::check_losses",
    "relay/headers/vendor.rs::lost",
    "relay/headers/vendor.rs::append_to_list",
    "relay/loss.rs::requested_policy",
    "relay/loss.rs::new",
    "relay/loss.rs::are_taken",
];
const RESPONSE_HEADERS: &[&str] = &[
    "relay/headers.rs::for_client",
    "relay/headers.rs::retry_after",
    "relay/headers/limits.rs::convert",
    "relay/headers/limits.rs::reset",
    "relay/headers/limits.rs::parse_duration",
    "relay/headers/limits.rs::parse_time",
    "relay/headers/response_values.rs::remove_invalid",
    "relay/failure.rs::with_headers",
];
const LOSSES: &[&str] = &["relay/loss.rs::write_header", "relay/loss.rs::add"];

/// Headers of clients that are looked into.
const NAMES: [&str; 6] =
    ["anthropic-beta", "openai-beta", "openai-organization", "te", "tracestate", "cookie"];
const FEATURES: [&str; 2] = ["anthropic-beta", "openai-beta"];

/// Headers of upstreams that are looked into.
const UPSTREAM_NAMES: [&str; 5] = [
    "retry-after",
    "x-request-id",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-tokens-reset",
    "set-cookie",
];

/// A request, from its bytes to those for each kind of upstream.
fn request(size: usize, make: fn(usize) -> (Protocol, String)) -> Growth {
    let fixture = Fixture::new(HeaderMap::new());
    Growth::of(size, make, |(client, body)| {
        let context = fixture.context(*client);
        let limits = &fixture.active.config.limits;
        let (lists, path) = (ToolLists::default(), PathMatch::default());
        let head = CheckedHead::read(&lists, *client, &path, body.as_bytes(), limits);
        let Ok(head) = head else { return };
        let document = RequestDocument { head, body: body.clone().into(), session: None };
        for to in Protocol::ALL {
            let upstream = fixture.upstream(to);
            let route = Route { model: "other".to_owned(), upstreams: Vec::new(), probe: None };
            for policy in [None, Some(toolwire::LossPolicy::Refuse)] {
                let kept = Some(toolwire::translate::KeptState::default());
                for kept in [None, kept] {
                    let build = UpstreamRequest::build;
                    drop(build(&context, upstream, &route, &document, kept, policy));
                }
            }
        }
    })
}

/// The headers of a request, to those for each kind of upstream.
fn client_headers(size: usize, make: fn(usize) -> HeaderMap) -> Growth {
    Growth::of(
        size,
        |size| Fixture::new(make(size)),
        |fixture| {
            for client in Protocol::ALL {
                let context = fixture.context(client);
                let _ = loss::requested_policy(&fixture.parts.headers);
                loss::LossTrailers::new(&fixture.parts.headers, 1000);
                for to in Protocol::ALL {
                    let upstream = fixture.upstream(to);
                    drop(headers::for_upstream(&context, upstream, true, &["feature-x"]));
                    let mut losses = Vec::new();
                    drop(headers::check_losses(
                        &context,
                        upstream,
                        toolwire::LossPolicy::Report,
                        &mut losses,
                    ));
                }
            }
        },
    )
}

/// The headers of a response, to those for each kind of client.
fn upstream_headers(size: usize, make: fn(usize) -> HeaderMap) -> Growth {
    let fixture = Fixture::new(HeaderMap::new());
    Growth::of(size, make, |found| {
        for client in Protocol::ALL {
            let context = fixture.context(client);
            for from in Protocol::ALL {
                let kept = headers::for_client(&context, fixture.upstream(from), found);
                headers::retry_after(found);
                let error =
                    toolwire::model::ApiError::new(toolwire::model::ErrorKind::RateLimit, "m");
                drop(Failure::new(error).with_headers(kept));
            }
        }
    })
}

fn each(size: usize, write: impl Fn(usize) -> String) -> String {
    (0..size).map(write).collect()
}

fn list(size: usize, write: impl Fn(usize) -> String) -> String {
    (0..size).map(write).collect::<Vec<_>>().join(",")
}

/// A tenth of the values that hyper lets in.
const MOST_VALUES: usize = 10;
