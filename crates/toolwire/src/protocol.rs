//! Protocols, and everything the rest of a program wants to know about one.
//!
//! A protocol describes itself: its codec answers for its wire format, and its
//! [`Description`] holds the facts around it, such as paths and headers. Nothing
//! outside a codec's folder asks which protocol it deals with.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::codec::{Codec, chat, messages, responses};
use crate::facts::ModelFacts;
use crate::model::ErrorKind;

/// Declares the protocols from the one list of them.
macro_rules! protocols {
    ($( $(#[$doc:meta])* $name:ident => $codec:ident, )*) => {
        /// A wire protocol that clients and models speak.
        #[derive(Clone, Copy)]
        #[non_exhaustive]
        pub enum Protocol {
            $( $(#[$doc])* $name, )*
            /// A protocol that is defined outside this crate.
            #[doc(hidden)]
            Custom(&'static Codec),
        }

        impl Protocol {
            /// The built-in protocols, in the order used everywhere.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];

            /// Reads and writes the protocol.
            #[doc(hidden)]
            pub const fn codec(self) -> &'static Codec {
                match self {
                    $( Self::$name => &$codec::CODEC, )*
                    Self::Custom(codec) => codec,
                }
            }
        }
    };
}

protocols! {
    /// OpenAI Chat Completions, `/v1/chat/completions`.
    Chat => chat,
    /// OpenAI Responses, `/v1/responses`.
    Responses => responses,
    /// Anthropic Messages, `/v1/messages`.
    Messages => messages,
}

impl Protocol {
    /// The protocol's name in configuration, on the command line and in file names.
    pub fn as_str(self) -> &'static str {
        self.describe().name
    }

    /// The built-in protocol with that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.as_str() == name)
    }

    /// Whether both are protocols of one vendor, which share keys, headers and
    /// stored files.
    #[doc(hidden)]
    pub fn same_vendor(self, other: Self) -> bool {
        self.describe().vendor == other.describe().vendor
    }

    /// What its documents mean without saying it.
    #[doc(hidden)]
    pub fn conventions(self) -> &'static Conventions {
        &self.describe().conventions
    }

    /// The facts around the wire format.
    #[doc(hidden)]
    pub fn describe(self) -> &'static Description {
        self.codec().description
    }
}

impl PartialEq for Protocol {
    fn eq(&self, other: &Self) -> bool {
        if let (Self::Custom(one), Self::Custom(another)) = (self, other) {
            return one.description.name == another.description.name;
        }
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl Eq for Protocol {}

impl Hash for Protocol {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The facts around a protocol's wire format.
#[derive(Debug)]
pub struct Description {
    /// In configuration, on the command line and in file names.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// Whose protocol it is.
    pub vendor: &'static Vendor,
    /// The path prefix that carries the API's version, such as `/v1`.
    pub prefix: &'static str,
    /// Where a request for an answer goes.
    pub answers: Endpoint,
    /// Where a request goes that only asks how many tokens it has.
    pub token_count: Option<Endpoint>,
    /// The query that asks for a list of models, with as many on a page as there
    /// can be.
    pub models_query: &'static str,
    /// Whether a stream states the number of input tokens in its first event,
    /// before other protocols have counted them.
    pub counts_input_first: bool,
    /// The member of an answer that holds what the model said.
    pub answer_member: &'static str,
    /// The member that names the model in an answer and in the events of a
    /// stream.
    pub model_member: &'static str,
    /// The member that holds an error.
    pub error_member: &'static str,
    /// The members of a request that hold the conversation.
    pub conversation_members: &'static [&'static str],
    /// The members of a request that limit its answer, the current name first
    /// and the oldest last. None if the limit is not at the top.
    pub limit_members: &'static [&'static str],
    /// The members of a request that declare tools.
    pub tool_members: &'static [&'static str],
    /// The members of a request that say which tools to call.
    pub choice_members: &'static [&'static str],
    /// Whether answers repeat the settings of the request.
    pub echoes_request: bool,
    /// Errors that its API finds when a stream has begun, so that some clients look for them
    /// only there.
    pub streamed_errors: &'static [ErrorKind],
    /// What its documents mean without saying it.
    pub conventions: Conventions,
}

impl Description {
    /// Whether a path belongs to the protocol, even if nothing is served there.
    pub fn owns_path(&self, path: &str) -> bool {
        let pattern = self.answers.path;
        path.starts_with(split_at_model(pattern).map_or(pattern, |(head, _)| head))
    }
}

/// A path, with the version prefix. `{model}` stands for the model's name in a
/// protocol that keeps it in the URL.
#[derive(Debug)]
pub struct Endpoint {
    /// The path.
    pub path: &'static str,
    /// The path for a streamed answer, in a protocol that asks for a stream by
    /// its URL.
    pub stream_path: Option<&'static str>,
}

/// What a path says of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathMatch {
    /// The model's name, in a protocol that keeps it in the URL.
    pub model: Option<String>,
    /// Whether a stream is wanted, in a protocol that says so in the URL.
    pub stream: Option<bool>,
}

impl Endpoint {
    /// A path that says nothing of the request.
    pub const fn fixed(path: &'static str) -> Self {
        Self { path, stream_path: None }
    }

    /// Whether the model's name is in the URL.
    pub fn names_model(&self) -> bool {
        split_at_model(self.path).is_some()
    }

    /// The path of a request for this model.
    pub fn fill(&self, model: &str, stream: bool) -> String {
        let path = self.stream_path.filter(|_| stream).unwrap_or(self.path);
        if self.names_model() { path.replace(MODEL, &encode(model)) } else { path.to_owned() }
    }

    /// What a path says, if it is one of this endpoint's.
    pub fn matches(&self, path: &str) -> Option<PathMatch> {
        let by_url = self.stream_path.is_some();
        let one = |pattern: &str, stream| {
            let model = match split_at_model(pattern) {
                None => return (pattern == path).then_some(PathMatch { model: None, stream }),
                Some((head, tail)) => path.strip_prefix(head)?.strip_suffix(tail)?,
            };
            let model = decode(model).filter(|model| !model.is_empty())?;
            Some(PathMatch { model: Some(model), stream })
        };
        let streamed = self.stream_path.and_then(|pattern| one(pattern, Some(true)));
        streamed.or_else(|| one(self.path, by_url.then_some(false)))
    }
}

const MODEL: &str = "{model}";

/// What is before and behind the model's name in the pattern of a path. Most
/// patterns have none, and not even a brace.
fn split_at_model(pattern: &str) -> Option<(&str, &str)> {
    let (head, rest) = pattern.split_at_checked(memchr::memchr(b'{', pattern.as_bytes())?)?;
    match rest.strip_prefix(MODEL) {
        Some(tail) => Some((head, tail)),
        None => pattern.split_once(MODEL),
    }
}

/// A name as one segment of a path.
fn encode(name: &str) -> String {
    let mut segment = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                segment.push(char::from(byte));
            }
            _other => segment.push_str(&format!("%{byte:02X}")),
        }
    }
    segment
}

/// The value of a parameter in the query of a URL, unless it is malformed.
pub(crate) fn query_value(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    decode(value)
}

/// A query with one more parameter.
pub(crate) fn query_with(query: &str, name: &str, value: &str) -> String {
    format!("{query}&{name}={}", encode(value))
}

/// The name in a segment of a path, unless it is malformed.
fn decode(segment: &str) -> Option<String> {
    let mut name = Vec::with_capacity(segment.len());
    let mut rest = segment;
    while let Some((before, after)) = rest.split_once('%') {
        name.extend_from_slice(before.as_bytes());
        name.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = after.get(2..)?;
    }
    name.extend_from_slice(rest.as_bytes());
    String::from_utf8(name).ok()
}

/// What the documents of a protocol mean without saying it.
#[derive(Debug)]
pub struct Conventions {
    /// Whether output always fits the JSON schema of its format, even where
    /// `strict` is left out.
    pub formats_are_strict: bool,
    /// Whether a tool without `strict` is strict if its schema allows it.
    pub tools_try_strict: bool,
    /// Whether the vendor's filter and the model itself decline with the same
    /// word.
    pub filter_declines_as_model: bool,
    /// The names of the ordinary processing tier.
    pub standard_tiers: &'static [&'static str],
    /// Whether an answer is a list of items, of which several may be messages.
    pub answers_are_items: bool,
    /// The member that says when an answer was made.
    pub created_member: &'static str,
}

/// A model in a list of models for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedModel<'m> {
    /// The name that requests use.
    pub name: &'m str,
    /// The name for people.
    pub title: &'m str,
    /// Who serves it.
    pub owner: &'m str,
    /// When it was made, or at least since when it is known, in seconds since
    /// 1970.
    pub created: u64,
    /// How many tokens its context window has, if that is known.
    pub context_window: Option<u64>,
    /// Its longest answer in tokens, if that is known.
    pub max_output: Option<u64>,
}

/// A page of an upstream's list of models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelPage {
    /// Its models.
    pub models: Vec<UpstreamModel>,
    /// The query of the next page, if there is one.
    pub next_query: Option<String>,
}

/// What an upstream's list says about a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpstreamModel {
    /// The name that requests use.
    pub name: String,
    /// The name for people, if it has one.
    pub title: Option<String>,
    /// When it was made, in seconds since 1970.
    pub created: Option<u64>,
    /// What the upstream says that it accepts.
    pub facts: ModelFacts,
}

/// Who defined a protocol. Its protocols share headers, keys and stored files.
#[derive(Debug)]
pub struct Vendor {
    /// The name, in lower case.
    pub name: &'static str,
    /// How a request shows its key.
    pub auth: Auth,
    /// The header with the version of the API and the version that every model
    /// accepts.
    pub version: Option<(&'static str, &'static str)>,
    /// The header in which SDKs look for the id of a request.
    pub request_id: &'static str,
    /// The header for the caller's own id of a request.
    pub client_request_id: Option<&'static str>,
    /// Headers that pass from a client to an upstream of this vendor. A name
    /// that ends in `-` is a prefix.
    pub request_headers: &'static [&'static str],
    /// Headers that pass back to a client of this vendor. A name that ends in
    /// `-` is a prefix.
    pub response_headers: &'static [&'static str],
    /// The header that switches features on, a list.
    pub feature_header: &'static str,
    /// Features, without date or version, that only allow something in the body
    /// or change how an answer is written down. Any other may change what the
    /// model does.
    pub known_features: &'static [&'static str],
    /// Headers that choose an account that belongs to the key.
    pub account_headers: &'static [&'static str],
    /// How rate limits are told.
    pub rate_limits: RateLimitHeaders,
    /// The header that tells SDKs not to retry.
    pub should_retry: Option<&'static str>,
}

impl PartialEq for Vendor {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// How a request shows its key.
#[derive(Debug)]
pub enum Auth {
    /// In `authorization`, as a bearer token.
    Bearer,
    /// Keys in a header of their own, tokens in `authorization`.
    KeyHeader {
        /// The header for keys.
        header: &'static str,
        /// How the vendor's keys and tokens start.
        key_prefix: &'static str,
        /// How its tokens start, which also start like a key.
        token_prefix: &'static str,
    },
}

/// Headers that tell rate limits.
#[derive(Debug)]
pub struct RateLimitHeaders {
    /// The name, with `{kind}` and `{figure}` for what is limited and which
    /// figure it is: `limit`, `remaining` or `reset`.
    pub name: &'static str,
    /// The names of the limits on requests, on tokens, and on input tokens
    /// alone. A vendor that does not tell input tokens apart repeats the second.
    pub kinds: [&'static str; 3],
    /// How `reset` is written.
    pub reset: Reset,
}

impl RateLimitHeaders {
    /// The name of a header, for one of the kinds.
    pub fn header(&self, kind: &str, figure: &str) -> String {
        self.name.replace("{kind}", kind).replace("{figure}", figure)
    }
}

/// When a limit is lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// In so long: `6m0s`.
    Duration,
    /// At a time: `2026-11-15T13:05:28Z`.
    Timestamp,
}
