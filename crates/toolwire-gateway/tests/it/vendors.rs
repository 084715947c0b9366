//! Every vendor of the table, against a server that refuses what the vendor
//! refuses.

use std::io;
use std::path::Path;

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_gateway::config::preset::{Address, Vendor};
use toolwire_gateway::config::{Config, Environment, StoreConfig, file};

use crate::upstream::{ReceivedRequest, Server, whole};
use crate::{client, fixtures, start};

const KEY: &str = "vendor-key-0123456789";

/// What a vendor's server is like.
struct Expected {
    name: &'static str,
    /// The path of an answer's request, with its query.
    path: &'static str,
    /// The header with the key.
    header: (&'static str, &'static str),
    /// The list that it sends, and the first model of it as the gateway lists it.
    list: (fn() -> Value, &'static str),
    /// What is wrong with a body, for the server.
    refuses: &'static [Refusal],
}

/// What a server refuses.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    /// `max_completion_tokens`: Mistral answers 422.
    NewLimit,
    /// `strict`, freeform tools and subsets of tools.
    OpenAiTools,
    /// Ids of calls that haven't nine letters and digits.
    LongIds,
    /// A call without a thought signature: Gemini 3 answers 400.
    UnsignedCalls,
    /// A call without the reasoning before it, under this name.
    CallWithoutReasoning(&'static str),
}

const BEARER: (&str, &str) = ("authorization", "Bearer vendor-key-0123456789");
const CHAT: &[Refusal] = &[Refusal::NewLimit, Refusal::OpenAiTools];

const ROWS: &[Expected] = &[
    Expected {
        name: "openai",
        path: "/v1/responses",
        header: BEARER,
        list: (|| listed("gpt-5"), "gpt-5"),
        refuses: &[],
    },
    Expected {
        name: "anthropic",
        path: "/v1/messages",
        header: ("x-api-key", KEY),
        list: (|| listed("claude-opus-5"), "claude-opus-5"),
        refuses: &[],
    },
    Expected {
        name: "openrouter",
        path: "/api/v1/chat/completions",
        header: BEARER,
        list: (|| listed("anthropic/claude-opus-5"), "anthropic/claude-opus-5"),
        refuses: &[Refusal::CallWithoutReasoning("reasoning")],
    },
    Expected {
        name: "gemini",
        path: "/v1beta/openai/chat/completions",
        header: BEARER,
        list: (|| listed("models/gemini-3-pro"), "gemini-3-pro"),
        refuses: &[Refusal::NewLimit, Refusal::OpenAiTools, Refusal::UnsignedCalls],
    },
    Expected {
        name: "groq",
        path: "/openai/v1/chat/completions",
        header: BEARER,
        list: (|| listed("openai/gpt-oss-120b"), "openai/gpt-oss-120b"),
        refuses: &[Refusal::OpenAiTools],
    },
    Expected {
        name: "deepseek",
        path: "/v1/chat/completions",
        header: BEARER,
        list: (|| listed("deepseek-chat"), "deepseek-chat"),
        refuses: &[
            Refusal::NewLimit,
            Refusal::OpenAiTools,
            Refusal::CallWithoutReasoning("reasoning_content"),
        ],
    },
    Expected {
        name: "mistral",
        path: "/v1/chat/completions",
        header: BEARER,
        list: (|| listed("mistral-large-latest"), "mistral-large-latest"),
        refuses: &[Refusal::NewLimit, Refusal::OpenAiTools, Refusal::LongIds],
    },
    Expected {
        name: "xai",
        path: "/v1/chat/completions",
        header: BEARER,
        list: (|| listed("grok-4"), "grok-4"),
        refuses: &[Refusal::OpenAiTools],
    },
    Expected {
        name: "together",
        path: "/v1/chat/completions",
        header: BEARER,
        list: (
            || json!([{"id": "meta-llama/Llama-4", "display_name": "Llama 4", "context_length": 9}]),
            "meta-llama/Llama-4",
        ),
        refuses: CHAT,
    },
    Expected {
        name: "fireworks",
        path: "/inference/v1/chat/completions",
        header: BEARER,
        list: (|| listed("accounts/fireworks/models/kimi-k2"), "accounts/fireworks/models/kimi-k2"),
        refuses: CHAT,
    },
    Expected {
        name: "cerebras",
        path: "/v1/chat/completions",
        header: BEARER,
        list: (|| listed("gpt-oss-120b"), "gpt-oss-120b"),
        refuses: &[Refusal::OpenAiTools],
    },
    Expected {
        name: "moonshot",
        path: "/v1/chat/completions",
        header: BEARER,
        list: (|| listed("kimi-k2-thinking"), "kimi-k2-thinking"),
        refuses: &[
            Refusal::NewLimit,
            Refusal::OpenAiTools,
            Refusal::CallWithoutReasoning("reasoning_content"),
        ],
    },
    Expected {
        name: "zai",
        path: "/api/paas/v4/chat/completions",
        header: BEARER,
        list: (|| listed("glm-4.6"), "glm-4.6"),
        refuses: &[
            Refusal::NewLimit,
            Refusal::OpenAiTools,
            Refusal::CallWithoutReasoning("reasoning_content"),
        ],
    },
    Expected {
        name: "azure",
        path: "/openai/v1/responses?api-version=preview",
        header: ("api-key", KEY),
        list: (|| listed("not-a-deployment"), ""),
        refuses: &[],
    },
    Expected {
        name: "ollama",
        path: "/v1/chat/completions",
        header: ("authorization", ""),
        list: (|| listed("qwen3:8b"), "qwen3:8b"),
        refuses: CHAT,
    },
    Expected {
        name: "vllm",
        path: "/v1/chat/completions",
        header: ("authorization", ""),
        list: (|| listed("Qwen/Qwen3-8B"), "Qwen/Qwen3-8B"),
        refuses: CHAT,
    },
    Expected {
        name: "llamacpp",
        path: "/v1/chat/completions",
        header: ("authorization", ""),
        list: (|| listed("model.gguf"), "model.gguf"),
        refuses: CHAT,
    },
    Expected {
        name: "lmstudio",
        path: "/v1/chat/completions",
        header: ("authorization", ""),
        list: (|| listed("qwen/qwen3-8b"), "qwen/qwen3-8b"),
        refuses: CHAT,
    },
];

fn listed(name: &str) -> Value {
    json!({"object": "list", "data": [{"id": name, "object": "model", "created": 1_700_000_000}]})
}

/// The variables that people have.
struct Variables;

impl Environment for Variables {
    fn variable(&self, name: &str) -> Option<String> {
        name.ends_with("_API_KEY").then(|| KEY.to_owned())
    }

    fn read_file(&self, _: &Path) -> io::Result<String> {
        Err(io::Error::other("there are no files"))
    }
}

/// A configuration with one preset, at a server of ours.
fn preset(vendor: &Vendor, server: &Server) -> Config {
    let path = vendor.url().map_or("", |url| {
        let (_, rest) = url.split_once("://").unwrap();
        rest.find('/').map_or("", |slash| &rest[slash..])
    });
    let text = format!(
        "[[upstream]]\npreset = \"{}\"\nbase_url = \"http://{}{path}\"\n",
        vendor.name, server.address
    );
    let config = file::parse("toolwire.toml", &text, &Variables).unwrap_or_else(|e| panic!("{e}"));
    Config { listen: "127.0.0.1:0".parse().unwrap(), store: StoreConfig::Off, ..config }
}

/// What is wrong with a request, for a server that refuses this.
fn wrong(refusal: Refusal, body: &Value) -> Option<String> {
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    match refusal {
        Refusal::NewLimit => {
            body.get("max_completion_tokens").map(|_| "the limit's name".to_owned())
        }
        Refusal::OpenAiTools => tools
            .iter()
            .find(|tool| tool["type"] != "function" || tool["function"].get("strict").is_some())
            .or(body.get("tool_choice").filter(|choice| choice["type"] == "allowed_tools"))
            .map(Value::to_string),
        Refusal::LongIds => {
            let calls = messages
                .iter()
                .flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
            let ids = calls.map(|call| &call["id"]);
            let results = messages.iter().filter_map(|message| message.get("tool_call_id"));
            let fits =
                |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
            ids.chain(results).find(|id| !fits(id.as_str().unwrap())).map(Value::to_string)
        }
        Refusal::UnsignedCalls => {
            let calls = messages
                .iter()
                .flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
            let mark =
                |call: &&Value| call["extra_content"]["google"]["thought_signature"].is_null();
            calls.clone().find(mark).map(Value::to_string)
        }
        Refusal::CallWithoutReasoning(name) => {
            let mut calls = messages.iter().filter(|message| message.get("tool_calls").is_some());
            calls.find(|message| message[name] != "It is about Paris.").map(Value::to_string)
        }
    }
}

/// A conversation after a call, as Claude Code and Codex send it.
fn question(client: Protocol, model: &str) -> Value {
    if client == Protocol::Messages {
        return json!({"model": model, "max_tokens": 100, "messages": [
            {"role": "user", "content": "Weather in Paris?"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "It is about Paris.", "signature": ""},
                {"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9x", "name": "get_weather", "input": {"city": "Paris"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01A09q90qw90lq917835lq9x", "content": "Sunny"}]}],
            "tools": [{"name": "get_weather", "strict": true, "input_schema": {"type": "object", "properties": {"city": {"type": "string"}},
                "required": ["city"], "additionalProperties": false}}]});
    }
    json!({"model": model, "max_output_tokens": 100, "input": [
        {"role": "user", "content": "Weather in Paris?"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "It is about Paris."}]},
        {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{\"city\":\"Paris\"}"},
        {"type": "function_call_output", "call_id": "c", "output": "Sunny"}],
        "tools": [{"type": "custom", "name": "patch"},
            {"type": "function", "name": "get_weather", "strict": true, "parameters": {"type": "object",
                "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false}}],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "get_weather"}]}})
}

#[tokio::test]
async fn every_vendor_gets_what_it_accepts() {
    let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
    let vendors: Vec<&str> = Vendor::all().iter().map(|vendor| vendor.name).collect();
    assert_eq!(names, vendors, "every row of the table has one here");
    for Expected { name, path, header, list, refuses } in ROWS {
        let vendor = Vendor::named(name).unwrap();
        let models = list.0().to_string();
        let protocol = vendor.apis[0].protocol;
        let refuses = *refuses;
        let server = Server::scripted(protocol, move |_, request: &ReceivedRequest| {
            if request.head.starts_with("GET ") {
                return whole(200, "", &models);
            }
            let body = request.json();
            match refuses.iter().find_map(|refusal| wrong(*refusal, &body)) {
                Some(wrong) => whole(400, "", json!({"error": {"message": wrong}}).to_string()),
                None => whole(200, "", fixtures::answer(protocol)),
            }
        })
        .await;
        let gateway = start(preset(vendor, &server)).await;
        let models = client::get(gateway.address(), "/v1/models", &[]).await.json();
        assert_eq!(models["data"][0]["id"].as_str().unwrap_or_default(), list.1, "{name}");
        let model = if list.1.is_empty() { "my-deployment" } else { list.1 };
        for to in [Protocol::Messages, Protocol::Responses] {
            if vendor.apis.iter().any(|api| api.protocol == to) {
                continue;
            }
            let question = question(to, model).to_string();
            let got = client::post(gateway.address(), fixtures::path(to), &[], &question).await;
            assert_eq!(got.status, 200, "{name}: {}", got.body);
            let sent = server.seen().last().unwrap().clone();
            assert_eq!((sent.path.as_str(), sent.json()["model"].as_str()), (*path, Some(model)));
            assert_eq!(sent.header(header.0).unwrap_or_default(), header.1, "{name}");
        }
        for request in server.seen() {
            assert!(!request.head.contains(KEY) || request.header(header.0) == Some(header.1));
        }
    }
}

/// Without the preset's quirks, the servers refuse: they are as strict as meant.
#[tokio::test]
async fn the_servers_would_refuse_without_the_quirks() {
    for Expected { name, refuses, .. } in ROWS {
        for refusal in *refuses {
            let plain = toolwire::Profile::of(Protocol::Chat);
            let options = toolwire::translate::Options::new().profile(plain);
            let refused = [Protocol::Messages, Protocol::Responses].into_iter().any(|from| {
                let question = question(from, "m").to_string();
                let sent = toolwire::translate::request(
                    from,
                    Protocol::Chat,
                    question.as_bytes(),
                    &options,
                );
                let sent: Value = serde_json::from_slice(&sent.unwrap().body).unwrap();
                wrong(*refusal, &sent).is_some()
            });
            assert!(refused, "{name} has no need of {refusal:?}");
        }
    }
}

/// Settings beside a preset override it.
#[test]
fn settings_override_a_preset() {
    let read = |text: &str| file::parse("toolwire.toml", text, &Variables);
    let config = read("[[upstream]]\npreset = \"openai\"\n").unwrap();
    let names: Vec<&str> = config.upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
    assert_eq!(names, ["openai", "openai-chat"]);
    let config = read(
        "[[upstream]]\npreset = \"mistral\"\nname = \"m\"\nmodels = [\"a\"]\nkey_header = \"X-Key\"\n\
         query = { v = \"1\" }\nlist_models = false\nweight = 3\nprofile = { strict = true }\n",
    )
    .unwrap();
    let [one] = &config.upstreams[..] else { panic!("{config:?}") };
    assert_eq!((one.name.as_str(), one.weight, one.list_models), ("m", 3, false));
    assert_eq!(
        (one.key_header.as_deref(), one.query.as_slice()),
        (Some("x-key"), &["v=1".to_owned()][..])
    );
    assert!(one.profile.strict && one.profile.legacy_max_tokens && one.profile.ids.exact);
    let config = read(
        "[[upstream]]\npreset = \"azure\"\nprotocol = \"chat\"\nbase_url = \"https://r.example\"\n",
    );
    assert_eq!(config.unwrap().upstreams[0].weight, 1, "the only one is used");
    for (text, expected) in [
        ("preset = \"openrooter\"", "did you mean \"openrouter\"?"),
        ("preset = \"groq\"\nprotocol = \"messages\"", "it speaks chat"),
        ("preset = \"azure\"", "this upstream has no `base_url`"),
        ("preset = \"groq\"\nquery = { \"a b\" = \"1\" }", "invalid value for `query`"),
        ("preset = \"groq\"\nkey_header = \"host\"", "invalid value for `key_header`"),
    ] {
        let problems = read(&format!("[[upstream]]\n{text}\n")).unwrap_err().to_string();
        assert!(problems.contains(expected), "{text}: {problems}");
    }
    struct Nothing;
    impl Environment for Nothing {
        fn variable(&self, _: &str) -> Option<String> {
            None
        }
        fn read_file(&self, _: &Path) -> io::Result<String> {
            Err(io::Error::other("there are no files"))
        }
    }
    let problems =
        file::parse("t.toml", "[[upstream]]\npreset = \"groq\"\n", &Nothing).unwrap_err();
    assert!(problems.to_string().contains("GROQ_API_KEY is not set"), "{problems}");
}

/// Servers on this machine are found by what they answer, not by their port.
#[test]
fn servers_on_this_machine_are_found_by_their_answer() {
    use std::io::{Read, Write};
    struct Here(Vec<(&'static str, String)>);
    impl Environment for Here {
        fn variable(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
        }
        fn read_file(&self, _: &Path) -> io::Result<String> {
            Err(io::Error::other("there are no files"))
        }
        fn ask_local(&self, places: &[(String, &str)]) -> Vec<Option<String>> {
            toolwire_gateway::config::ProcessEnvironment::default().ask_local(places)
        }
    }
    let locals =
        Vendor::all().iter().filter(|vendor| matches!(vendor.address, Address::Local { .. }));
    for vendor in locals {
        let Address::Local { says, .. } = vendor.address else { continue };
        for (answer, found) in
            [(format!("[{{\"owned_by\": {says}}}]"), true), ("hello".to_owned(), false)]
        {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.read(&mut [0; 1024]);
                let _ = write!(stream, "HTTP/1.1 200 OK\r\n\r\n{answer}");
            });
            // The others are looked for where nobody is.
            let mut variables: Vec<(&str, String)> = Vendor::all()
                .iter()
                .filter(|other| matches!(other.address, Address::Local { .. }))
                .map(|other| (other.url_variable, "http://127.0.0.1:9".to_owned()))
                .collect();
            variables.retain(|(name, _)| *name != vendor.url_variable);
            variables.push((vendor.url_variable, format!("127.0.0.1:{port}")));
            let config = toolwire_gateway::config::environment::find(None, &Here(variables)).config;
            let names: Vec<&str> = config.upstreams.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, if found { vec!["demo", vendor.name] } else { vec!["demo"] });
        }
    }
}
