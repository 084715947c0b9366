//! What is measured: the entry points that take bytes from a stranger.

use std::time::Duration;

use serde_json::Value;
use toolwire::calls::{self, StreamedAnswer, ToolCall, ToolOutput};
use toolwire::facts;
use toolwire::guess;
use toolwire::ledger::LossPolicy;
use toolwire::pipe::Pipe;
use toolwire::recover::{Detector, Event, Tools, intent};
use toolwire::registry::{OnInvalid, Registry};
use toolwire::session;
use toolwire::text_tools::{Dialect, ToolCalls};
use toolwire::tracker::{Tracker, answer_all};
use toolwire::translate::{self, Options, PathMatch, PreparedRequest, RequestHead, ToolLists};
use toolwire::{Profile, Protocol, json};
use toolwire_laws::signature;

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Request,
    Answer,
    Stream,
    Error,
    Tools,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] =
        [Self::Request, Self::Answer, Self::Stream, Self::Error, Self::Tools];

    /// The folder of its vectors.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Request => "requests",
            Self::Answer => "responses",
            Self::Stream => "streams",
            Self::Error => "errors",
            Self::Tools => "tools",
        }
    }
}

/// An entry point: its names in `public_api.txt`, what it takes, and a call of
/// it. The first protocol is the document's, the second another's.
pub(crate) struct EntryPoint {
    pub(crate) names: &'static [&'static str],
    pub(crate) takes: Kind,
    /// Whether the second protocol matters.
    pub(crate) pairs: bool,
    pub(crate) call: fn(Protocol, Protocol, &[u8]),
}

/// A request with a tool, in Chat.
const ASKED: &[u8] = br#"{"model":"m","messages":[{"role":"user","content":"Go"}],
    "tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}"#;

/// The options toward an upstream whose models write calls as text.
fn text_only(upstream: Protocol, dialect: Dialect) -> Options<'static> {
    let mut profile = Profile::of(upstream);
    profile.tool_calls = ToolCalls::Text(dialect);
    Options::new().profile(profile)
}

/// Whatever comes out, nobody looks: only what it costs counts.
pub(crate) const ENTRY_POINTS: &[EntryPoint] = &[
    EntryPoint {
        names: &["translate::request", "translate::PreparedRequest::new"],
        takes: Kind::Request,
        pairs: true,
        call: |from, to, body| drop(translate::request(from, to, body, &Options::new())),
    },
    EntryPoint {
        // A session, which only the gateway keeps: half of a conversation in front
        // of the other half.
        names: &["translate::PreparedRequest::translate"],
        takes: Kind::Request,
        pairs: true,
        call: |from, to, body| {
            let Ok(Some(request)) = session::read_request(from, body) else { return };
            let messages = || request.messages.iter().map(|message| message.text.text().as_bytes());
            let mut whole = Vec::new();
            request.write_whole(messages(), &mut whole);
            let Ok(head) = RequestHead::read(from, &PathMatch::default(), &whole) else { return };
            let origins = vec![from; messages().count()];
            let prepared = PreparedRequest::with_session(from, to, &head, &whole, &origins);
            let Ok(mut prepared) = prepared else { return };
            drop(prepared.translate(&Options::new()));
        },
    },
    EntryPoint {
        names: &[
            "translate::RequestHead::read",
            "translate::RequestHead::read_with",
            "translate::PreparedRequest::with_head",
        ],
        takes: Kind::Request,
        pairs: true,
        call: |from, to, body| {
            // There is room for the longest list that is made here.
            let (lists, path) = (ToolLists::with_room(1 << 24), PathMatch::default());
            drop(RequestHead::read_with(&lists, from, &path, body));
            // The list of tools comes again.
            let Ok(head) = RequestHead::read_with(&lists, from, &path, body) else { return };
            let prepared = PreparedRequest::with_head(from, to, &head, body);
            let Ok(mut prepared) = prepared else { return };
            let options = Options::new().model("m").on_loss(LossPolicy::Refuse);
            if let Err(refused) = prepared.translate(&options) {
                refused.to_string();
            }
            drop(prepared.pipe(&options));
            drop(prepared.response_translator(&options));
        },
    },
    EntryPoint {
        names: &["text_tools::Dialect::named", "text_tools::Dialect::of_model", "facts::lookup"],
        takes: Kind::Request,
        pairs: true,
        call: |from, to, body| {
            let name = std::str::from_utf8(body).unwrap_or_default();
            assert_eq!(Dialect::named(name), None);
            let options = text_only(to, Dialect::of_model(name)).facts(facts::lookup(name));
            let Ok(mut prepared) = PreparedRequest::new(from, to, body) else { return };
            drop(prepared.translate(&options));
            drop(prepared.pipe(&options));
        },
    },
    EntryPoint {
        names: &["pipe::Pipe::push"],
        takes: Kind::Stream,
        pairs: true,
        call: |from, to, body| {
            let asked = translate::request(Protocol::Chat, to, ASKED, &Options::new());
            let asked = asked.map_or(ASKED.to_vec(), |asked| asked.body);
            let options = text_only(from, Dialect::HERMES).request(&asked);
            let Ok(mut pipe) = Pipe::new(from, to, &options) else { return };
            let mut out = Vec::new();
            pipe.push(body, &mut out);
            pipe.finish(&mut out);
        },
    },
    EntryPoint {
        names: &["translate::Options::request"],
        takes: Kind::Request,
        pairs: true,
        call: |client, upstream, body| {
            let options = Options::new().request(body);
            drop(translate::response(upstream, client, b"{}", &options));
            drop(Pipe::new(upstream, client, &options));
        },
    },
    EntryPoint {
        names: &["guess::guess"],
        takes: Kind::Request,
        pairs: false,
        call: |_, _, body| drop(guess::guess(body)),
    },
    EntryPoint {
        names: &["json::request"],
        takes: Kind::Request,
        pairs: true,
        call: |from, to, body| {
            let Ok(body) = serde_json::from_slice::<Value>(body) else { return };
            drop(json::request(from, to, &body, &Options::new()));
        },
    },
    EntryPoint {
        names: &[
            "translate::response",
            "translate::ResponseTranslator::translate",
            "translate::ResponseTranslator::failure",
        ],
        takes: Kind::Answer,
        pairs: true,
        call: |from, to, body| {
            let request = br#"{"model":"m","max_tokens":1,"messages":[],"input":[]}"#;
            let Ok(prepared) = PreparedRequest::new(to, from, request) else { return };
            let translator = prepared.response_translator(&Options::new());
            drop(translator.translate(body));
            let _ = translator.failure(body);
            drop(translate::response(from, to, body, &Options::new()));
        },
    },
    EntryPoint {
        names: &["pipe::Pipe::whole", "pipe::Pipe::try_whole"],
        takes: Kind::Answer,
        pairs: true,
        call: |from, to, body| {
            let mut pipe = Pipe::new(from, to, &Options::new()).unwrap();
            pipe.whole(body, &mut Vec::new());
            pipe.take_ledger();
        },
    },
    EntryPoint {
        names: &[
            "calls::parse",
            "calls::continuation",
            "calls::Continuation::append_to",
            "calls::next_request",
        ],
        takes: Kind::Answer,
        pairs: false,
        call: |protocol, _, body| {
            let Ok(found) = calls::parse(protocol, body) else { return };
            let outputs: Vec<ToolOutput> =
                found.iter().map(|call| ToolOutput::text(&call.id, "done")).collect();
            let request = br#"{"model":"m","messages":[],"input":[]}"#;
            drop(calls::next_request(protocol, request, body, &outputs));
            drop(calls::continuation(protocol, body, &[]));
        },
    },
    EntryPoint {
        names: &["calls::StreamedAnswer::push"],
        takes: Kind::Stream,
        pairs: false,
        call: |protocol, _, body| {
            let mut answer = StreamedAnswer::new(protocol);
            for chunk in body.chunks(CHUNK) {
                drop(answer.push(chunk));
            }
            drop(answer.finish());
        },
    },
    EntryPoint {
        names: &["tracker::Tracker::of_request"],
        takes: Kind::Request,
        pairs: false,
        call: |protocol, _, body| drop(Tracker::of_request(protocol, body, Duration::ZERO)),
    },
    EntryPoint {
        names: &["tracker::Tracker::answer"],
        takes: Kind::Answer,
        pairs: false,
        call: |protocol, _, body| {
            let mut tracker = Tracker::new().timeout(Duration::ZERO);
            let Ok(made) = tracker.answer(protocol, body, Duration::ZERO) else { return };
            let output = |call: &ToolCall| ToolOutput::text(&call.id, "done");
            let outputs: Vec<ToolOutput> = made.iter().rev().map(output).collect();
            for output in outputs.iter().chain(&outputs) {
                tracker.result(output, Duration::ZERO);
            }
            tracker.expire(Duration::MAX);
            tracker.end_turn();
            drop(answer_all(&made, outputs));
        },
    },
    EntryPoint {
        names: &["json::response", "json::parse", "json::next_request"],
        takes: Kind::Answer,
        pairs: true,
        call: |from, to, body| {
            let Ok(body) = serde_json::from_slice::<Value>(body) else { return };
            drop(json::response(from, to, &body, &Options::new()));
            drop(json::parse(from, &body));
            drop(json::next_request(from, &serde_json::json!({}), &body, &[]));
        },
    },
    EntryPoint {
        names: &["registry::Registry::calls"],
        takes: Kind::Answer,
        pairs: false,
        call: |protocol, _, body| {
            let list = br#"[{"type":"function","name":"a.b","parameters":{}},{"type":"custom","name":"c"}]"#;
            let registry = Registry::from_json(list).unwrap();
            drop(registry.calls(protocol, body, &Options::new()));
        },
    },
    EntryPoint {
        names: &["pipe::Pipe::push", "pipe::Pipe::step", "pipe::Pipe::stream"],
        takes: Kind::Stream,
        pairs: true,
        call: |from, to, body| {
            let mut pipe = Pipe::new(from, to, &Options::new()).unwrap();
            let mut out = Vec::new();
            for mut chunk in body.chunks(CHUNK) {
                while pipe.step(&mut chunk, &mut out) {
                    out.clear();
                }
                out.clear();
            }
            pipe.finish(&mut out);
            pipe.take_ledger();
        },
    },
    EntryPoint {
        names: &["translate::error"],
        takes: Kind::Error,
        pairs: true,
        call: |from, to, body| {
            let mut options = Options::new();
            options.status = Some(400);
            drop(translate::error(from, to, body, &options));
        },
    },
    EntryPoint {
        names: &["json::error"],
        takes: Kind::Error,
        pairs: true,
        call: |from, to, body| {
            let Ok(body) = serde_json::from_slice::<Value>(body) else { return };
            drop(json::error(from, to, &body, &Options::new()));
        },
    },
    EntryPoint {
        names: &["translate::tools"],
        takes: Kind::Tools,
        pairs: true,
        call: |from, to, body| drop(translate::tools(from, to, body, &Options::new())),
    },
    EntryPoint {
        names: &["json::tools"],
        takes: Kind::Tools,
        pairs: true,
        call: |from, to, body| {
            let Ok(body) = serde_json::from_slice::<Value>(body) else { return };
            drop(json::tools(from, to, &body, &Options::new()));
        },
    },
    EntryPoint {
        names: &[
            "registry::Registry::from_json",
            "registry::Registry::add_json",
            "registry::Registry::from_value",
            "registry::Registry::add_value",
            "registry::Registry::add_mcp",
        ],
        takes: Kind::Tools,
        pairs: true,
        call: |_, to, body| {
            let mut registry = Registry::new(OnInvalid::Filter);
            drop(registry.add_json(body));
            drop(registry.add_mcp("server", body));
            drop(registry.render(to, &Options::new()));
        },
    },
    EntryPoint {
        names: &["recover::Tools::read", "recover::Tools::add"],
        takes: Kind::Tools,
        pairs: false,
        call: |_, _, body| {
            drop(std::str::from_utf8(body).map(Tools::read));
        },
    },
    EntryPoint {
        names: &["recover::Detector::push"],
        takes: Kind::Answer,
        pairs: false,
        call: |_, _, body| {
            let mut detector = Detector::new(declared());
            detector.push(std::str::from_utf8(body).unwrap_or_default(), &mut |_: Event<'_>| {});
            detector.finish(&mut |_: Event<'_>| {});
        },
    },
    EntryPoint {
        names: &["recover::intent::detect"],
        takes: Kind::Answer,
        pairs: false,
        call: |_, _, body| {
            drop(intent::detect(std::str::from_utf8(body).unwrap_or_default(), &declared()));
        },
    },
];

/// The tools of a request whose answer is text.
fn declared() -> Tools {
    let mut tools = Tools::default();
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    tools.add("read_file", "Reads a file", Some(schema));
    tools
}

/// Functions with a text for an argument that is no stranger's, each with the
/// reason.
pub(crate) const NOT_FROM_STRANGERS: &[(&str, &str)] = &[
    ("Protocol::parse", "a word of the command line"),
    ("guess::DocumentKind::parse", "a word of the command line"),
    ("profile::IdRule::original", "part of translate::response, which has long ids in its table"),
    ("profile::IdRule::accepts", "part of translate::request, which has long ids in its table"),
    ("profile::IdRule::render", "part of translate::request, which has long ids in its table"),
    ("profile::NameRule::accepts", "part of translate::request, which has long names in its table"),
    ("profile::NameRule::rename", "part of translate::request, which has long names in its table"),
    ("calls::ToolOutput::value", OWN),
    ("ApiError::new", OWN),
    ("translate::Options::fallback_id", OWN),
    ("calls::ToolCall::namespace", OWN),
    ("calls::ToolCall::new", OWN),
    ("calls::ToolOutput::error", OWN),
    ("calls::ToolOutput::json", OWN),
    ("calls::ToolOutput::text", OWN),
    ("facts::Efforts::from_names", "looks up each name once, in a table of five"),
    ("ledger::Entry::new", OWN),
    ("registry::Definition::description", OWN),
    ("registry::Definition::freeform", OWN),
    ("registry::Definition::function", OWN),
    ("registry::Definition::grammar", OWN),
    ("registry::Definition::namespace", OWN),
    ("registry::Definition::output_schema", OWN),
    ("registry::Definition::schema", OWN),
    ("registry::Definition::typed", OWN),
    ("translate::Options::model", OWN),
];

const OWN: &str = "only keeps what the program itself has made";

/// A network gives a few kilobytes at a time.
const CHUNK: usize = 4096;

/// Whoever adds a function that takes bytes, a text or a JSON value says here
/// what it costs.
#[test]
fn every_entry_point_is_in_the_table() {
    let api = include_str!("../public_api.txt");
    let takes = [
        "[u8]", ": Vec<u8>", "&str", "String", "Cow<str", "AsRef<", "Value", "Stream", "Bytes",
        "Read>", "Read)", "Read,",
    ];
    let mut missing = Vec::new();
    for line in api.lines() {
        let Some((path, signature)) = line.split_once(": pub fn ") else { continue };
        let arguments = signature::arguments(signature).unwrap();
        if !takes.iter().any(|kind| arguments.contains(kind)) {
            continue;
        }
        let name = path.strip_prefix("toolwire::").unwrap();
        let measured = ENTRY_POINTS.iter().any(|entry| entry.names.contains(&name));
        if !measured && !NOT_FROM_STRANGERS.iter().any(|(known, _)| *known == name) {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "without a growth test: {missing:?}");
    let named = ENTRY_POINTS.iter().flat_map(|entry| entry.names);
    for name in named.copied().chain(NOT_FROM_STRANGERS.iter().map(|(name, _)| *name)) {
        let line = format!("toolwire::{name}: pub fn ");
        assert!(api.lines().any(|known| known.starts_with(&line)), "there is no {name}");
    }
}
