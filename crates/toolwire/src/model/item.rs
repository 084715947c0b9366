//! What a conversation is made of.

use super::{HostedClass, Reasoning, Tool};
use crate::ledger::Code;
use crate::wire::{At, Extra, Placed, Pos, Raw, Str};

/// One message of a conversation, or one item where the protocol has items
/// that are not messages.
///
/// Turns keep the boundaries of the protocol they were read from. Encoders
/// merge and split as their own protocol wants.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    /// Where it stood.
    pub at: Pos,
    /// Who speaks.
    pub role: Role<'a>,
    /// Whether it stood in the conversation or beside it.
    pub slot: Slot,
    /// What is said, called and answered.
    pub items: Vec<Item<'a>>,
    /// The message's or item's own id (Responses).
    pub id: Option<Str<'a>>,
    /// The speaker's name (Chat).
    pub name: Option<Str<'a>>,
    /// Whether it is complete (Responses).
    pub status: Option<Str<'a>>,
    /// Commentary or final answer (Responses).
    pub phase: Option<Str<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

impl<'a> Turn<'a> {
    /// A turn with nothing but its speaker and content.
    pub fn new(at: Pos, role: Role<'a>, items: Vec<Item<'a>>) -> Self {
        Self {
            at,
            role,
            slot: Slot::Inline,
            items,
            id: None,
            name: None,
            status: None,
            phase: None,
            extra: Vec::new(),
        }
    }
}

/// Who speaks. Tool results are the user's, as in Messages.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the vendors' own words")]
pub enum Role<'a> {
    System,
    Developer,
    User,
    Assistant,
    Other(Str<'a>),
}

/// Where instructions stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// In a field of their own: Responses' `instructions`, Messages' `system`.
    Top,
    /// Among the messages.
    Inline,
}

/// A piece of a turn.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// Text.
    Text(Text<'a>),
    /// An image.
    Image(Image<'a>),
    /// A document or another file.
    Document(Document<'a>),
    /// Sound.
    Audio(Audio<'a>),
    /// A search result with its source.
    SearchResult(SearchResult<'a>),
    /// The model declines.
    Refusal(Refusal<'a>),
    /// The model reasons.
    Reasoning(Reasoning<'a>),
    /// The model calls a tool that the client runs.
    Call(Call<'a>),
    /// The client answers a call.
    Result(ToolResult<'a>),
    /// The vendor's own tool at work: a call, its result, or both.
    Hosted(HostedItem<'a>),
    /// Tools that become known in the middle of the conversation: Responses'
    /// `additional_tools`, or the yield of a tool search.
    Tools(Vec<Tool<'a>>),
    /// A tool named in a search result (Messages' `tool_reference`).
    ToolReference(At<Str<'a>>),
    /// Structured data: the output list of Responses' shell.
    Json(Raw<'a>),
    /// A kind toolwire does not know.
    Opaque(Opaque<'a>),
}

impl<'a> Item<'a> {
    /// The call that it is, if it is.
    pub(crate) fn call(&self) -> Option<&Call<'a>> {
        if let Self::Call(call) = self { Some(call) } else { None }
    }

    /// The reasoning that it is, if it is.
    pub fn reasoning(&self) -> Option<&Reasoning<'a>> {
        if let Self::Reasoning(reasoning) = self { Some(reasoning) } else { None }
    }

    /// Where it stood and what its loss is about, for a place that has no room
    /// for such an item at all.
    pub fn loss(&self) -> (Pos, Code) {
        match self {
            Self::Text(text) => (text.at, Code::UnknownItem),
            Self::Image(image) => (image.at, Code::MediaType),
            Self::Document(document) => (document.at, Code::MediaType),
            Self::Audio(audio) => (audio.at, Code::Audio),
            Self::SearchResult(found) => (found.at, Code::Citations),
            Self::Refusal(refusal) => (refusal.at, Code::UnknownItem),
            Self::Reasoning(reasoning) => match reasoning.sealed {
                Some(_) => (reasoning.at, Code::ReasoningForeign),
                None => (reasoning.at, Code::ReasoningUnsigned),
            },
            Self::Call(call) => (call.at, Code::UnknownItem),
            Self::Result(result) => (result.at, Code::UnknownItem),
            Self::Hosted(hosted) => (hosted.raw.pos(), Code::HostedHistory),
            Self::Tools(tools) => {
                (tools.first().map_or(Pos::NONE, |tool| tool.at), Code::UnknownItem)
            }
            Self::ToolReference(name) => (name.pos, Code::ToolSearch),
            Self::Json(raw) => (raw.pos(), Code::UnknownItem),
            Self::Opaque(opaque) => (opaque.raw.pos(), opaque.code()),
        }
    }
}

/// A marker behind which the vendor may cache the prompt.
#[derive(Clone, Debug)]
pub struct Cache<'a> {
    /// Where the marker stood.
    pub at: Pos,
    /// How long to keep it, in the words of its protocol.
    pub ttl: Option<Str<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

impl Placed for Cache<'_> {
    fn pos(&self) -> Pos {
        self.at
    }
}

/// Text.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// Where it stood.
    pub at: Pos,
    /// The text.
    pub text: Str<'a>,
    /// Citations or annotations, in the words of its protocol.
    pub citations: Option<Raw<'a>>,
    /// Log probabilities of its tokens.
    pub logprobs: Option<Raw<'a>>,
    /// A cache marker behind it.
    pub cache: Option<Cache<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

impl<'a> Text<'a> {
    /// Text without anything attached.
    pub fn new(text: Str<'a>) -> Self {
        Self {
            at: text.pos(),
            text,
            citations: None,
            logprobs: None,
            cache: None,
            extra: Vec::new(),
        }
    }

    /// Whether the text is all there is to it.
    pub fn is_bare(&self) -> bool {
        let Self { at: _, text: _, citations, logprobs, cache, extra } = self;
        citations.is_none() && logprobs.is_none() && cache.is_none() && extra.is_empty()
    }
}

/// Where media comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source<'a> {
    /// An address that the vendor fetches.
    Url(Str<'a>),
    /// The bytes themselves.
    Base64 {
        /// The media type.
        media: Str<'a>,
        /// The base64 text.
        data: Str<'a>,
    },
    /// A file uploaded to one vendor. No other vendor knows it.
    File(Str<'a>),
    /// Plain text as a document (Messages).
    Text {
        /// The media type.
        media: Str<'a>,
        /// The text.
        data: Str<'a>,
    },
    /// A list of blocks as a document (Messages), or a source toolwire does
    /// not know.
    Other(Raw<'a>),
}

/// An image.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// Where it stood.
    pub at: Pos,
    /// Where it comes from.
    pub source: Source<'a>,
    /// How closely to look (OpenAI).
    pub detail: Option<Str<'a>>,
    /// A cache marker behind it.
    pub cache: Option<Cache<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

/// A document or another file.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// Where it stood.
    pub at: Pos,
    /// Where it comes from.
    pub source: Source<'a>,
    /// OpenAI's `filename`, Messages' `title`.
    pub name: Option<Str<'a>>,
    /// What it is about (Messages).
    pub context: Option<Str<'a>>,
    /// Citation settings (Messages).
    pub citations: Option<Raw<'a>>,
    /// A cache marker behind it.
    pub cache: Option<Cache<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

/// Sound.
#[derive(Clone, Debug)]
pub struct Audio<'a> {
    /// Where it stood.
    pub at: Pos,
    /// The base64 text.
    pub data: Option<Str<'a>>,
    /// `wav`, `mp3`.
    pub format: Option<Str<'a>>,
    /// A cache marker behind it.
    pub cache: Option<Cache<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

/// A search result with its source (Messages).
#[derive(Clone, Debug)]
pub struct SearchResult<'a> {
    /// Where it stood.
    pub at: Pos,
    /// The address or name of the source.
    pub source: Option<Str<'a>>,
    /// The title.
    pub title: Option<Str<'a>>,
    /// What was found: text.
    pub content: Vec<Item<'a>>,
    /// Citation settings.
    pub citations: Option<Raw<'a>>,
    /// A cache marker behind it.
    pub cache: Option<Cache<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

impl SearchResult<'_> {
    /// Its title and source as a line of text.
    pub(crate) fn heading(&self) -> String {
        match (&self.title, &self.source) {
            (Some(title), Some(source)) => format!("{} ({})", title.decode(), source.decode()),
            (Some(only), None) | (None, Some(only)) => only.decode().into_owned(),
            (None, None) => String::new(),
        }
    }
}

/// The model declines.
#[derive(Clone, Debug)]
pub struct Refusal<'a> {
    /// Where it stood.
    pub at: Pos,
    /// What it says.
    pub text: Str<'a>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

/// The model calls a tool that the client runs.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// Where it stood.
    pub at: Pos,
    /// The id its result answers to. Legacy Chat calls have none.
    pub id: Option<Str<'a>>,
    /// The tool's name.
    pub name: Str<'a>,
    /// The tool's namespace (Responses).
    pub namespace: Option<Str<'a>>,
    /// What it is called with.
    pub arguments: Arguments<'a>,
    /// Who calls: the model, or a program of the model's (vendor's words).
    pub caller: Option<Raw<'a>>,
    /// A cache marker behind it.
    pub cache: Option<Cache<'a>>,
    /// Other members, a Chat vendor's signature for one.
    pub extra: Vec<Extra<'a>>,
}

/// What a tool is called with.
#[derive(Clone, Debug)]
pub enum Arguments<'a> {
    /// JSON as the text of a string (Chat, Responses). Not necessarily valid.
    Text(Str<'a>),
    /// A JSON value (Messages).
    Json(Raw<'a>),
    /// The input of a freeform tool.
    Freeform(Str<'a>),
    /// The action of a tool whose shape its vendor fixed (Responses'
    /// `local_shell`, `shell`, `apply_patch`, client-run `tool_search`).
    Native(NativeKind, Raw<'a>),
}

impl<'a> Arguments<'a> {
    /// The arguments as text: JSON, or the input of a freeform tool.
    pub(crate) fn into_text(self) -> Str<'a> {
        match self {
            Self::Text(text) | Self::Freeform(text) => text,
            Self::Json(raw) | Self::Native(_, raw) => {
                let pos = raw.pos();
                Str::plain(raw.into_text()).at(pos)
            }
        }
    }
}

/// Tools that the client runs and whose shape a vendor fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the vendors' own words")]
pub enum NativeKind {
    LocalShell,
    Shell,
    ApplyPatch,
    ToolSearch,
    Bash,
    TextEditor,
    Memory,
    Computer,
}

/// The client answers a call.
#[derive(Clone, Debug)]
pub struct ToolResult<'a> {
    /// Where it stood.
    pub at: Pos,
    /// The call it answers. Legacy Chat results have a name instead.
    pub call_id: Option<Str<'a>>,
    /// The tool's name, where the protocol repeats it.
    pub name: Option<Str<'a>>,
    /// The tool's namespace, where the protocol repeats it.
    pub namespace: Option<Str<'a>>,
    /// What kind of call it answers, where the protocol says.
    pub kind: ResultKind,
    /// The answer.
    pub content: Vec<Item<'a>>,
    /// Whether the tool failed. Only Messages says; elsewhere unknown, and
    /// never guessed from the text.
    pub is_error: Option<At<bool>>,
    /// A cache marker behind it.
    pub cache: Option<Cache<'a>>,
    /// Other members.
    pub extra: Vec<Extra<'a>>,
}

impl<'a> ToolResult<'a> {
    /// A result that says only what the tool returned.
    pub fn new(
        at: Pos,
        call_id: Option<Str<'a>>,
        kind: ResultKind,
        content: Vec<Item<'a>>,
    ) -> Self {
        let (name, namespace, is_error, cache) = (None, None, None, None);
        let extra = Vec::new();
        Self { at, call_id, name, namespace, kind, content, is_error, cache, extra }
    }
}

/// What kind of call a result answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// A function call, or the protocol does not say.
    Function,
    /// A freeform call.
    Freeform,
    /// A call of a tool whose shape its vendor fixed.
    Native(NativeKind),
}

/// A vendor's own tool at work.
#[derive(Clone, Debug)]
pub struct HostedItem<'a> {
    /// What the tool does.
    pub class: HostedClass,
    /// The item as it came.
    pub raw: Raw<'a>,
}

/// An item that no protocol but its own has, or of a kind that toolwire does
/// not know.
#[derive(Clone, Debug)]
pub struct Opaque<'a> {
    /// Its type, if it has one.
    pub kind: Option<Str<'a>>,
    /// The item as it came.
    pub raw: Raw<'a>,
}

impl Opaque<'_> {
    /// What its loss is about.
    pub fn code(&self) -> Code {
        match self.kind.as_ref().map(Str::decode).as_deref() {
            Some("item_reference") => Code::ServerState,
            Some("compaction" | "compaction_trigger") => Code::ContextManagement,
            Some("container_upload") => Code::FileId,
            Some("tool_addition" | "tool_removal") => Code::ToolPosition,
            Some(_) | None => Code::UnknownItem,
        }
    }
}
