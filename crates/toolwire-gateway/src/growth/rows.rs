//! The rows of the rooms that are one file.

use std::fmt::Write;

use hyper::Request;
use toolwire::{Protocol, codec};
use toolwire_laws::growth::Growth;
use toolwire_tokens::{Tokenizer, count_request, quick_estimate};

use super::{Row, config, headers, pattern, upstream};
use crate::active_config::ActiveConfig;
use crate::config::{Alias, Config, Credential, Secret};
use crate::guard::{Access, Credentials};
use crate::observe::Metrics;
use crate::secret_mask::{SecretMask, configured_secrets};
use crate::{endpoints, guard, models, route};

const CLIENT: Protocol = Protocol::ALL[0];

pub(super) const ROWS: &[Row] = &[
    Row {
        names: &["models/mod.rs::list"],
        shape: "many models",
        measure: || Growth::of(300, many_models, |active| drop(models::list(active, "", CLIENT))),
    },
    Row {
        names: &["models/mod.rs::list"],
        shape: "many upstreams, models and aliases",
        measure: || Growth::of(50, many_upstreams, |active| drop(models::list(active, "", CLIENT))),
    },
    Row {
        names: &[
            "models/mod.rs::get",
            "route.rs::look_up",
            "config/pattern.rs::matches",
            "route/model_index.rs::best",
            "route/model_index.rs::upstream",
        ],
        shape: "many patterns",
        measure: || {
            Growth::of(100, many_models, |active| again(|| models::get(active, "p-9", CLIENT)))
        },
    },
    Row {
        names: &[
            "models/mod.rs::get",
            "models/catalog.rs::describe",
            "relay/failure.rs::no_model",
            "relay/failure.rs::into_response",
        ],
        shape: "long name",
        measure: || {
            let active = many_models(3);
            let name = |size| "a*-/".repeat(size);
            Growth::of(1000, name, |name: &String| {
                again(|| models::get(&active, name, CLIENT));
                again(|| crate::relay::no_model(name).into_response(CLIENT, "r"));
            })
        },
    },
    Row {
        names: &[
            "route.rs::find",
            "route.rs::look_up",
            "route.rs::serving",
            "route.rs::upstreams_for",
        ],
        shape: "many upstreams of one model, with weights",
        measure: || {
            Growth::of(100, many_upstreams, |active| again(|| route::find(active, "same", CLIENT)))
        },
    },
    Row {
        names: &["route.rs::find", "config/pattern.rs::matches"],
        shape: "long name, patterns with many stars",
        measure: || {
            let active = build(config(vec![upstream("u", CLIENT, &["*a*a*a*a*b", "a*a*a*c"])]));
            Growth::of(
                1000,
                |size| "a".repeat(size),
                |name: &String| again(|| route::find(&active, name, CLIENT)),
            )
        },
    },
    Row {
        names: &["config/tool_calls.rs::profile_of", "config/tool_calls.rs::of_model"],
        shape: "long name",
        measure: || {
            let upstream = upstream("u", CLIENT, &["*"]);
            let name = |size| "Mistral-Qwen3-".repeat(size);
            Growth::of(1000, name, |name: &String| again(|| upstream.profile_of(name)))
        },
    },
    Row {
        names: &[
            "active_config.rs::build",
            "upstream/mod.rs::build",
            "observe/metrics.rs::upstream",
            "state.rs::reload",
            "server/mod.rs::reload",
            "server/mod.rs::serve",
        ],
        shape: "a reload of many upstreams",
        measure: || {
            let make = |size| {
                let active = many_upstreams(size);
                (active.config.clone(), active.upstreams)
            };
            Growth::of(30, make, |(config, previous)| {
                drop(ActiveConfig::build(config.clone(), &Metrics::default(), previous));
            })
        },
    },
    Row {
        names: &["secret_mask.rs::mask", "secret_mask.rs::mask_error"],
        shape: "long error, escaped, with many secrets in it",
        measure: || {
            let mask = mask(3);
            let make =
                |size| "key \\\\\\\"secret-key-1\\u0041 secret-key-2 ".repeat(size).into_bytes();
            Growth::of(100, make, |text: &Vec<u8>| drop(mask.mask(text)))
        },
    },
    Row {
        names: &["secret_mask.rs::mask", "secret_mask.rs::configured_secrets"],
        shape: "many secrets",
        measure: || {
            let text = "no secret here, secret-key-7 \\u0041 ".repeat(20);
            Growth::of(100, mask, |mask| drop(mask.mask(text.as_bytes())))
        },
    },
    Row {
        names: &["secret_mask.rs::remove_headers"],
        shape: "many headers, each with a secret",
        measure: || {
            let mask = mask(3);
            let make =
                |size| headers((0..size).map(|n| (format!("x-{n}"), "secret-key-1 secret-key-2")));
            Growth::of(200, make, |headers| mask.remove_headers(&mut headers.clone()))
        },
    },
    Row {
        names: &["secret_mask.rs::remove_headers"],
        shape: "many values of a header, as many as hyper lets in",
        measure: || {
            let mask = mask(3);
            let make = |size| headers((0..size).map(|n| ("x-a", format!("secret-key-1 {n}"))));
            Growth::of(10, make, |headers| mask.remove_headers(&mut headers.clone()))
        },
    },
    Row {
        names: &["relay/count.rs::count_tokens"],
        shape: "many turns, calls, tools and images",
        measure: || {
            Growth::of(100, conversation, |body| {
                let request = codec(CLIENT).decode_request(body).unwrap();
                count_request(&request, Tokenizer::ESTIMATE);
                quick_estimate(&request);
            })
        },
    },
    Row {
        names: &["relay/count.rs::count_tokens"],
        shape: "long text",
        measure: || {
            let make = |size| {
                format!(
                    r#"{{"model":"m","messages":[{{"role":"user","content":"{}"}}]}}"#,
                    "wordWord 123 é\\n\\u0041".repeat(size)
                )
            };
            Growth::of(200, make, |body: &String| {
                let request = codec(CLIENT).decode_request(body).unwrap();
                count_request(&request, Tokenizer::ESTIMATE);
            })
        },
    },
    Row {
        names: &["relay/count.rs::count_tokens"],
        shape: "an image that is one long segment after the other",
        measure: || {
            // A JPEG of segments without a frame.
            let make = |size| {
                format!(
                    r#"{{"model":"m","messages":[{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:image/jpeg;base64,/9j/{}"}}}}]}}]}}"#,
                    "4AAC/+AA".repeat(size)
                )
            };
            Growth::of(500, make, |body: &String| {
                let request = codec(CLIENT).decode_request(body).unwrap();
                count_request(&request, Tokenizer::ESTIMATE);
            })
        },
    },
    Row {
        names: &["guard.rs::check", "endpoints.rs::client_protocol", "endpoints.rs::handle"],
        shape: "many headers, many cookies",
        measure: || {
            let make = |size| {
                let many = (0..size).map(|n| (format!("x-{n}"), "v".to_owned()));
                let cookies = (0..size).map(|n| ("cookie".to_owned(), format!("a{n}=b")));
                let origins = (0..size).map(|_| ("sec-fetch-site".to_owned(), "none".to_owned()));
                headers(many.chain(cookies).chain(origins))
            };
            Growth::of(100, make, |headers| {
                let (mut parts, ()) =
                    Request::post("http://localhost/v1/messages").body(()).unwrap().into_parts();
                parts.headers = headers.clone();
                again(|| guard::check(&config(Vec::new()), &parts, Access::Clients));
                again(|| endpoints::client_protocol(&Protocol::ALL, "/", &parts.headers));
            })
        },
    },
    Row {
        names: &[
            "guard.rs::check",
            "identity.rs::answer",
            "identity.rs::accepts",
            "endpoints.rs::client_protocol",
        ],
        shape: "long values",
        measure: || {
            let make = |size| {
                let long = "a".repeat(size);
                headers([
                    ("authorization", format!("Bearer {long}")),
                    ("x-api-key", long.clone()),
                    ("content-type", long.clone()),
                    ("origin", long),
                ])
            };
            let config = Config { keys: vec![Secret::new("k".repeat(40))], ..config(Vec::new()) };
            let identity = crate::identity::Identity::generate().unwrap();
            Growth::of(2000, make, |headers| {
                let (mut parts, ()) =
                    Request::get("http://localhost/v1/messages").body(()).unwrap().into_parts();
                parts.headers = headers.clone();
                again(|| guard::check(&config, &parts, Access::Clients));
                let long = parts.headers["x-api-key"].as_bytes();
                again(|| identity.answer(long).map(str::len));
                again(|| identity.accepts(std::str::from_utf8(long).unwrap()));
                again(|| {
                    endpoints::client_protocol(
                        &Protocol::ALL,
                        std::str::from_utf8(long).unwrap(),
                        headers,
                    )
                });
            })
        },
    },
    Row {
        names: &["guard.rs::check"],
        shape: "many keys",
        measure: || {
            let make = |size| Config {
                keys: (0..size).map(|n| Secret::new(format!("a-key-of-the-gateway-{n}"))).collect(),
                ..config(Vec::new())
            };
            let (mut parts, ()) = Request::get("http://localhost/").body(()).unwrap().into_parts();
            parts.headers = headers([("authorization", "Bearer a-key-of-the-gateway-7")]);
            Growth::of(300, make, |config| drop(guard::check(config, &parts, Access::Clients)))
        },
    },
];

/// What takes next to no time is done more often.
fn again<T>(run: impl Fn() -> T) {
    (0..10).for_each(|_| drop(run()));
}

fn build(config: Config) -> ActiveConfig {
    ActiveConfig::build(config, &Metrics::default(), &[]).unwrap()
}

/// One upstream with many names and patterns.
fn many_models(size: usize) -> ActiveConfig {
    let mut one = upstream("u", CLIENT, &[]);
    let names = (0..size).map(|n| pattern(&format!("name-of-a-model-{n}")));
    one.models = names.chain((0..size).map(|n| pattern(&format!("p-{n}*")))).collect();
    build(config(vec![one]))
}

/// Many upstreams, each with a model of its own and one that all have.
fn many_upstreams(size: usize) -> ActiveConfig {
    let upstreams = (0..size).map(|n| {
        let mut one = upstream(&format!("u{n}"), Protocol::ALL[n % 3], &["same"]);
        one.models.push(pattern(&format!("model-{n}")));
        one.weight = n as u32 % 5 + 1;
        one
    });
    let mut config = config(upstreams.collect());
    config.aliases = (0..size)
        .map(|n| Alias { name: pattern(&format!("alias-{n}")), model: format!("model-{n}") })
        .collect();
    build(config)
}

fn mask(size: usize) -> SecretMask {
    let upstreams = (0..size).map(|n| {
        let mut one = upstream(&format!("u{n}"), CLIENT, &["m"]);
        one.credential = Credential::Key(Secret::new(format!("secret-key-{n}")));
        one
    });
    let secrets = configured_secrets(&config(upstreams.collect()));
    SecretMask::new(&secrets, &Credentials::default())
}

fn conversation(size: usize) -> String {
    let mut messages = String::new();
    let mut tools = String::new();
    for n in 0..size {
        write!(messages, r#"{{"role":"user","content":[{{"type":"text","text":"hi"}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAA"}}}}]}},{{"role":"assistant","tool_calls":[{{"id":"c{n}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"c{n}","content":"1"}},"#).unwrap();
        write!(tools, r#"{{"type":"function","function":{{"name":"f{n}","parameters":{{"type":"object"}}}}}},"#).unwrap();
    }
    let (messages, tools) = (messages.trim_end_matches(','), tools.trim_end_matches(','));
    format!(r#"{{"model":"m","messages":[{messages}],"tools":[{tools}]}}"#)
}
