//! Tool definitions.

use super::Cache;
use crate::wire::{At, Extra, Pos, Raw, Str};

/// A tool that a model may call.
#[derive(Clone, Debug)]
pub struct Tool<'a> {
    /// Where the definition stood.
    pub at: Pos,
    /// The name the model calls it by. Hosted tools that have none get their
    /// type.
    pub name: Str<'a>,
    /// What it is for.
    pub description: Option<Str<'a>>,
    /// What kind of tool it is.
    pub kind: ToolKind<'a>,
    /// Whether arguments must fit the schema exactly. Left out is a third
    /// state: Responses then tries, Chat and Messages do not.
    pub strict: Option<At<bool>>,
    /// Whether the definition is loaded only when searched for.
    pub defer: Option<At<bool>>,
    /// Who may call it, in the words of its protocol.
    pub callers: Option<Raw<'a>>,
    /// Examples of arguments (Messages' `input_examples`).
    pub examples: Option<Raw<'a>>,
    /// The schema of its results (Responses).
    pub output_schema: Option<Raw<'a>>,
    /// Whether it answers later (Responses' `async`).
    pub deferred_result: Option<At<bool>>,
    /// Whether arguments stream before they are checked (Messages).
    pub eager: Option<At<bool>>,
    /// A cache marker behind the definition.
    pub cache: Option<Cache<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

impl<'a> Tool<'a> {
    /// A tool of a kind, with everything else left out.
    pub fn new(at: Pos, name: Str<'a>, kind: ToolKind<'a>) -> Self {
        Self {
            at,
            name,
            description: None,
            kind,
            strict: None,
            defer: None,
            callers: None,
            examples: None,
            output_schema: None,
            deferred_result: None,
            eager: None,
            cache: None,
            extra: Vec::new(),
        }
    }

    /// Whether it is a function with a name, a description and a schema, and nothing else
    /// but how strictly its arguments fit.
    pub(crate) fn is_plain_function(&self) -> bool {
        let Self {
            at: _,
            name: _,
            description: _,
            kind,
            strict: _,
            defer,
            callers,
            examples,
            output_schema,
            deferred_result,
            eager,
            cache,
            extra,
        } = self;
        matches!(kind, ToolKind::Function { schema: _ })
            && [defer, deferred_result, eager].into_iter().all(Option::is_none)
            && [callers, examples, output_schema].into_iter().all(Option::is_none)
            && cache.is_none()
            && extra.is_empty()
    }
}

/// The kinds of tools.
#[derive(Clone, Debug)]
pub enum ToolKind<'a> {
    /// Takes JSON arguments that fit a schema; without a schema it takes none.
    Function {
        /// The schema of its arguments.
        schema: Option<Raw<'a>>,
    },
    /// Takes any text, or text of a grammar.
    Freeform {
        /// The grammar, if not any text.
        grammar: Option<Grammar<'a>>,
    },
    /// A group of tools under one name (Responses). Its members are functions
    /// and freeform tools.
    Namespace {
        /// The members.
        tools: Vec<Tool<'a>>,
    },
    /// Run by the client, with a shape that its vendor fixed.
    Native(Native<'a>),
    /// Run by the vendor.
    Hosted(Hosted<'a>),
    /// A kind toolwire does not know: the whole definition as it came.
    Unknown(Raw<'a>),
}

/// The grammar of a freeform tool.
#[derive(Clone, Debug)]
pub struct Grammar<'a> {
    /// Where the format stood.
    pub at: Pos,
    /// `lark` or `regex`.
    pub syntax: Option<Str<'a>>,
    /// The grammar itself.
    pub definition: Option<Str<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

/// A tool whose shape its vendor fixed and that the client runs.
#[derive(Clone, Debug)]
pub struct Native<'a> {
    /// Which one.
    pub kind: super::NativeKind,
    /// Its type as spelled, with the version (`bash_20250124`).
    pub kind_text: Str<'a>,
}

/// A tool that the vendor runs.
#[derive(Clone, Debug)]
pub struct Hosted<'a> {
    /// What it does.
    pub class: HostedClass,
    /// Its type as spelled, with the version (`web_search_20260318`).
    pub kind_text: Str<'a>,
}

/// What a hosted tool does, whoever hosts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names say it")]
pub enum HostedClass {
    WebSearch,
    WebFetch,
    Code,
    FileSearch,
    ImageGeneration,
    Mcp,
    Computer,
    ToolSearch,
    Advisor,
    Other,
}

impl HostedClass {
    /// The class as it appears in ledger codes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WebSearch => "web_search",
            Self::WebFetch => "web_fetch",
            Self::Code => "code",
            Self::FileSearch => "file_search",
            Self::ImageGeneration => "image_generation",
            Self::Mcp => "mcp",
            Self::Computer => "computer",
            Self::ToolSearch => "tool_search",
            Self::Advisor => "advisor",
            Self::Other => "other",
        }
    }
}
