//! A model's answer while it is being given.
//!
//! Every protocol's stream is read into these events and written from them.
//! The grammar, which [`crate::pipe`] checks in debug builds:
//!
//! ```text
//! stream  = Start answer* Stop (About | Usage)* End
//! answer  = Open | Delta | Close | Whole | About | Usage
//! ```
//!
//! - `Error` may take the place of any event, the first included, and is the
//!   last. After `End` and `Error` comes nothing.
//! - Blocks are numbered from 0 in the order in which they open. A block is
//!   opened once, grows by deltas of its own kind, and is closed once. Several
//!   may be open at a time. All are closed before `Stop`.
//! - A stream that was cut has no `End`: only a reader that saw its protocol's
//!   own end marker gives one, so a writer that ends its stream well only at
//!   `End` cannot make an ending up.
//!
//! Events borrow the bytes of the server-sent event they were read from, and
//! positions are those in its data.

use super::{
    ApiError, Arguments, Call, Item, Own, Protocol, Response, ResponseOverview, Sealed, Stop, Turn,
    Usage,
};
use crate::wire::sse::Frame;
use crate::wire::{At, Extra, Pos, Raw, Str};

/// One step of an answer.
#[derive(Clone, Debug)]
pub enum Event<'e> {
    /// The answer begins.
    Start(Start<'e>),
    /// A block begins.
    Open {
        /// Its number.
        block: usize,
        /// What it is.
        head: Head<'e>,
    },
    /// A block grows.
    Delta {
        /// Its number.
        block: usize,
        /// By what.
        piece: Piece<'e>,
    },
    /// A block is over. Whether it is whole is known at [`Event::Stop`] only:
    /// Messages closes the block before it says that the limit was reached.
    Close {
        /// Its number.
        block: usize,
        /// What is known of it at its end.
        tail: Tail<'e>,
    },
    /// Something that comes in one piece: a vendor's own tool at work, a call
    /// whose shape a vendor fixed, withheld reasoning, an item of a kind that
    /// toolwire does not know.
    Whole(Turn<'e>),
    /// Members that belong to the answer as a whole. May come several times;
    /// the last tier counts.
    About {
        /// The tier it is processed in, in the words of its protocol.
        tier: Option<Str<'e>>,
        /// Other members.
        extra: Vec<Extra<'e>>,
    },
    /// Tokens used so far. The last one counts.
    Usage(Usage<'e>),
    /// Why the model stopped.
    Stop {
        /// The reason.
        stop: At<Stop<'e>>,
        /// Other members beside it.
        extra: Vec<Extra<'e>>,
    },
    /// The protocol's own end marker has come.
    End,
    /// It failed.
    Error(ApiError),
}

/// The beginning of an answer.
#[derive(Clone, Debug)]
pub struct Start<'e> {
    /// The protocol the stream is written in.
    pub origin: Protocol,
    /// The answer's id.
    pub id: Option<Str<'e>>,
    /// The model that answers.
    pub model: Option<Str<'e>>,
    /// When, in seconds since 1970.
    pub created: Option<At<u64>>,
}

/// What a block is.
#[derive(Clone, Debug)]
pub enum Head<'e> {
    /// Text. Grows by [`Piece::Text`] and [`Piece::Citation`].
    Text(Part<'e>),
    /// The model declines. Grows by [`Piece::Text`].
    Refusal(Part<'e>),
    /// The model reasons. Grows by [`Piece::Summary`] and [`Piece::Reasoning`].
    Reasoning {
        /// The item's own id (Responses).
        id: Option<Str<'e>>,
    },
    /// The model calls a tool that the client runs. Grows by
    /// [`Piece::Arguments`].
    Call(CallHead<'e>),
}

/// A piece of a message.
#[derive(Clone, Debug, Default)]
pub struct Part<'e> {
    /// Which message of the answer it belongs to. Only Responses has several.
    pub message: usize,
    /// Commentary or final answer (Responses).
    pub phase: Option<Str<'e>>,
    /// Other members of the part or, at the first part, of its message.
    pub extra: Vec<Extra<'e>>,
}

/// A call before its arguments.
#[derive(Clone, Debug)]
pub struct CallHead<'e> {
    /// The id its result answers to, if the upstream gave one.
    pub id: Option<Str<'e>>,
    /// The tool's name, whole.
    pub name: Str<'e>,
    /// The tool's namespace (Responses).
    pub namespace: Option<Str<'e>>,
    /// What its arguments are.
    pub form: CallForm,
    /// Who calls: the model, or a program of the model's (vendor's words).
    pub caller: Option<Raw<'e>>,
    /// Other members.
    pub extra: Vec<Extra<'e>>,
}

impl<'e> CallHead<'e> {
    /// The beginning of a whole call.
    pub fn of(call: &'e Call<'_>) -> Self {
        let Call { at: _, id, name, namespace, arguments, caller, cache: _, extra } = call;
        let form = match arguments {
            Arguments::Freeform(_) => CallForm::Freeform,
            Arguments::Text(_) | Arguments::Json(_) | Arguments::Native(_, _) => CallForm::Json,
        };
        Self {
            id: id.as_ref().map(Str::borrowed),
            name: name.borrowed(),
            namespace: namespace.as_ref().map(Str::borrowed),
            form,
            caller: caller.as_ref().map(Raw::borrowed),
            extra: extra.clone(),
        }
    }

    /// The whole call, with arguments of any form.
    pub fn into_call(self, at: Pos, arguments: Arguments<'e>) -> Call<'e> {
        let Self { id, name, namespace, form: _, caller, extra } = self;
        Call { at, id, name, namespace, arguments, caller, cache: None, extra }
    }

    /// Arguments of the call's own form, as they were streamed.
    pub fn arguments<'t>(&self, text: Str<'t>) -> Arguments<'t> {
        match self.form {
            CallForm::Json if text.is_empty() => Arguments::Text(Str::plain("{}")),
            CallForm::Json => Arguments::Text(text),
            CallForm::Freeform => Arguments::Freeform(text),
        }
    }
}

/// What the arguments of a call are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallForm {
    /// JSON. No text at all stands for an empty object.
    Json,
    /// The input of a freeform tool.
    Freeform,
}

/// What a block grows by.
#[derive(Clone, Debug)]
pub enum Piece<'e> {
    /// More text.
    Text {
        /// The text.
        text: Str<'e>,
        /// Log probabilities of its tokens: a list.
        logprobs: Option<Raw<'e>>,
    },
    /// A citation or annotation, in the words of its protocol.
    Citation(Raw<'e>),
    /// More of what the vendor shows of the reasoning: Messages' `thinking`,
    /// Responses' `summary`.
    Summary {
        /// Which text of the summary. Never less than before.
        part: usize,
        /// The text.
        text: Str<'e>,
    },
    /// More of the reasoning itself, unsigned: Responses' `reasoning_text`,
    /// the `reasoning_content` of Chat vendors.
    Reasoning {
        /// Which text of the reasoning. Never less than before.
        part: usize,
        /// The text.
        text: Str<'e>,
    },
    /// More of a call's arguments: JSON text, or freeform input.
    Arguments(Str<'e>),
}

/// What is known of a block at its end.
#[derive(Clone, Debug, Default)]
pub struct Tail<'e> {
    /// The seal of reasoning.
    pub sealed: Option<Sealed<'e>>,
    /// Other members that came only with the end.
    pub extra: Vec<Extra<'e>>,
}

/// What went by, for logs and accounts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ResponseSummary {
    /// The last token counts.
    pub usage: Option<Usage<'static>>,
    /// The model that answered, as the upstream names it. Where the bytes of a
    /// stream pass, only if the client knows the model by another name.
    pub model: Option<String>,
    /// How many calls were made.
    pub calls: usize,
    /// Whether the answer has begun: the upstream has sent more than what opens a
    /// stream, such as words, or that a server tool is at work. Upstreams that
    /// are overloaded open a stream and fail before that.
    pub has_content: bool,
    /// Why the model stopped, in one word for every protocol: `end_turn`,
    /// `tool_calls`, `max_tokens`, …
    pub stop: Option<&'static str>,
    /// How it failed, if it did.
    pub error: Option<ApiError>,
    /// Whether the client gets the bytes that say how it failed, as the vendor wrote them
    /// among those of an answer, instead of an error.
    pub passes_failure: bool,
    /// Whether the upstream's own end marker came.
    pub complete: bool,
    /// The dialect of the first call that was read from the model's text, if one
    /// was; `intent` if it was announced in plain words.
    pub recovered: Option<&'static str>,
}

impl ResponseSummary {
    /// What a whole answer says.
    #[doc(hidden)]
    pub fn of(response: &Response<'_>) -> Self {
        let turns = response.candidates.iter().flat_map(|candidate| &candidate.turns);
        let items = turns.flat_map(|turn| &turn.items);
        let mut summary = Self {
            usage: response.usage.clone().map(Own::into_owned),
            calls: items.filter(|item| matches!(item, Item::Call(_))).count(),
            has_content: true,
            stop: response.candidates.first().map(|candidate| candidate.stop.value.as_str()),
            error: response.failure().cloned(),
            complete: true,
            ..Self::default()
        };
        summary.called(response.model.as_ref());
        summary
    }

    /// What a whole answer says whose bytes pass.
    pub(crate) fn of_overview(response: ResponseOverview<'_>) -> Self {
        let ResponseOverview { model, usage, calls, stop } = response;
        let mut summary = Self {
            usage: usage.map(Own::into_owned),
            calls,
            has_content: true,
            stop: Some(stop),
            complete: true,
            ..Self::default()
        };
        summary.called(model.as_ref());
        summary
    }

    /// Notes what the upstream calls the model. The first name counts; some
    /// upstreams have none in their first event.
    pub(crate) fn called(&mut self, name: Option<&Str<'_>>) {
        if let (None, Some(name)) = (&self.model, name.filter(|name| !name.is_empty())) {
            self.model = Some(name.decode().into_owned());
        }
    }

    /// Notes that an event of the upstream came, and was read.
    pub(crate) fn note_frame(&mut self, frame: &Frame<'_>, opens_stream: fn(&Frame<'_>) -> bool) {
        // An error is no part of an answer.
        if !self.has_content && self.error.is_none() {
            self.has_content = !opens_stream(frame);
        }
    }

    /// Notes what an event says.
    #[doc(hidden)]
    pub fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Open { block: _, head: Head::Call(_) } => {
                self.calls += 1;
                self.has_content = true;
            }
            Event::Whole(turn) => {
                self.has_content = true;
                let calls = turn.items.iter().filter(|item| matches!(item, Item::Call(_)));
                self.calls += calls.count();
            }
            Event::Usage(usage) => self.usage = Some(usage.clone().into_owned()),
            Event::End => self.complete = true,
            Event::Error(error) => self.error = Some(error.clone()),
            Event::Start(_)
            | Event::Open { block: _, head: Head::Text(_) | Head::Refusal(_) }
            | Event::Open { block: _, head: Head::Reasoning { id: _ } }
            | Event::Close { block: _, tail: _ }
            | Event::About { tier: _, extra: _ } => {}
            Event::Delta { block: _, piece: _ } => self.has_content = true,
            Event::Stop { stop, extra: _ } => self.stop = Some(stop.value.as_str()),
        }
    }
}
