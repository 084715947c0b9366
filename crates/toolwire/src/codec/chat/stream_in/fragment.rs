//! A piece of a call, as one chunk has it.

use super::chunk::{CustomDelta, FunctionDelta};
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
    pub(super) fn from_custom(custom: CustomDelta<'a>) -> Self {
        let CustomDelta { at: _, name, input, extra: nested } = custom;
        let mut fragment = Self::empty();
        nest(&mut fragment.extra, "custom", nested);
        fragment.form = Some(CallForm::Freeform);
        fragment.name = name;
        fragment.text = input;
        fragment
    }

    /// Treats members that a vendor repeats empty as absent.
    pub(super) fn without_empty(mut self) -> Self {
        self.id = self.id.filter(|id| !id.is_empty());
        self.name = self.name.filter(|name| !name.is_empty());
        self.text = self.text.filter(|text| !text.is_empty());
        self
    }
}
