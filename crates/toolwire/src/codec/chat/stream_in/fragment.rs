//! A piece of a call, as one chunk has it.

use super::chunk::{CallDelta, CustomDelta, FunctionDelta};
use crate::codec::chat::lenient_in::Index;
use crate::codec::chat::wire::nest;
use crate::model::{Arguments, CallForm};
use crate::wire::{Extra, Str};

/// A piece of a call.
#[derive(Debug, Default)]
pub(super) struct CallFragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<Str<'a>>,
    pub(super) name: Option<Str<'a>>,
    /// What its text is, if the fragment says.
    pub(super) form: Option<CallForm>,
    /// Arguments or input.
    pub(super) text: Option<Str<'a>>,
    /// Its place in a list of several, for fragments that have nothing else.
    pub(super) place: Option<usize>,
    /// Whether it is a deprecated function call, which has no id.
    pub(super) legacy: bool,
    pub(super) extra: Vec<Extra<'a>>,
}

impl<'a> CallFragment<'a> {
    /// A piece that has nothing.
    pub(super) fn empty() -> Self {
        Self::default()
    }

    /// A piece of the arguments of a function.
    pub(super) fn arguments(index: Option<u64>, text: Str<'a>) -> Self {
        let mut fragment = Self::empty();
        fragment.index = index;
        fragment.form = Some(CallForm::Json);
        fragment.text = Some(text);
        fragment
    }

    /// An element of `tool_calls`.
    pub(super) fn from_delta(call: CallDelta<'a>) -> Self {
        let CallDelta { at: _, index, id, kind: _, function, custom, extra } = call;
        let mut fragment = match (function, custom) {
            (Some(function), _) => Self::from_function(function),
            (None, Some(custom)) => Self::from_custom(*custom),
            (None, None) => Self::empty(),
        };
        fragment.index = index.and_then(|Index(index)| index);
        fragment.id = id;
        fragment.extra.extend(extra);
        fragment
    }

    /// A piece of the call of a function.
    pub(super) fn from_function(function: FunctionDelta<'a>) -> Self {
        let FunctionDelta { at: _, name, arguments, extra: nested } = function;
        let mut fragment = Self::empty();
        nest(&mut fragment.extra, "function", nested);
        fragment.form = Some(CallForm::Json);
        fragment.name = name;
        fragment.text = arguments.map(Arguments::into_text);
        fragment
    }

    /// A piece of the call of a custom tool.
    fn from_custom(custom: CustomDelta<'a>) -> Self {
        let CustomDelta { at: _, name, input, extra: nested } = custom;
        let mut fragment = Self::empty();
        nest(&mut fragment.extra, "custom", nested);
        fragment.form = Some(CallForm::Freeform);
        fragment.name = name;
        fragment.text = input;
        fragment
    }

    /// Whether it says nothing of any call.
    pub(super) fn is_empty(&self) -> bool {
        let Self { index: _, id, name, form: _, text, place: _, legacy: _, extra } = self;
        id.is_none() && name.is_none() && text.is_none() && extra.is_empty()
    }

    /// Whether it has nothing but more of the arguments of a call.
    pub(super) fn is_bare(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.text.is_some()
    }

    /// Whether its text is nothing but whitespace.
    pub(super) fn is_blank(&self) -> bool {
        self.text.as_ref().is_some_and(Str::is_blank)
    }

    /// Treats members that a vendor repeats empty as absent.
    pub(super) fn without_empty(mut self) -> Self {
        self.id = self.id.filter(|id| !id.is_empty());
        self.name = self.name.filter(|name| !name.is_empty());
        self.text = self.text.filter(|text| !text.is_empty());
        self
    }
}
