//! What tells a call of a stream from the others.

use super::fragment::CallFragment;
use super::json_balance::JsonBalance;
use crate::model::CallForm;
use crate::wire::{Pos, Str, TextBuffer};

/// What is known of a call, as far as it takes to find it.
#[derive(Debug)]
pub(super) struct CallIdentity {
    pub(super) index: Option<u64>,
    pub(super) place: Option<usize>,
    pub(super) id: Option<Str<'static>>,
    pub(super) name: TextBuffer,
    pub(super) form: CallForm,
    pub(super) legacy: bool,
    balance: JsonBalance,
    /// Whether the arguments have begun.
    has_text: bool,
    /// Whether a piece of its arguments alone came with its index.
    has_own_pieces: bool,
}

impl CallIdentity {
    pub(super) fn new(fragment: &CallFragment<'_>) -> Self {
        Self {
            index: fragment.index,
            place: fragment.place,
            id: None,
            name: TextBuffer::default(),
            form: CallForm::Json,
            legacy: fragment.legacy,
            balance: JsonBalance::default(),
            has_text: false,
            has_own_pieces: false,
        }
    }

    pub(super) fn has_id(&self, id: &Str<'_>) -> bool {
        self.id.as_ref().is_some_and(|own| own == id)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.form == CallForm::Json && self.balance.is_whole()
    }

    pub(super) fn is_cut(&self) -> bool {
        self.form == CallForm::Json && self.balance.is_cut()
    }

    /// Whether it calls a tool and may get more arguments. The input of a freeform tool
    /// has no end of its own.
    pub(super) fn is_unfinished(&self) -> bool {
        !self.name.is_empty() && !self.is_whole()
    }

    /// Whether a text can be the next of its arguments, which are an object, although it came
    /// with the index of another call.
    pub(super) fn takes_misnumbered(&self, text: &Str<'_>) -> bool {
        let fits = || self.has_text || text.decode().trim_start().starts_with('{');
        self.is_unfinished() && !self.has_own_pieces && fits()
    }

    /// Whether it has arguments and names no tool.
    pub(super) fn is_unnamed(&self) -> bool {
        self.has_text && self.name.is_empty()
    }

    /// Whether a name comes too late, or again. It may come in pieces until the
    /// arguments begin.
    pub(super) fn refuses_name(&self, name: &Str<'_>) -> bool {
        self.has_text || self.name.text() == *name
    }

    /// Notes what a fragment says.
    pub(super) fn take(&mut self, fragment: &CallFragment<'_>) {
        let CallFragment { index, id, name, form, text, place: _, legacy: _, extra: _ } = fragment;
        self.index = self.index.or(*index);
        if self.id.is_none() {
            self.id = id.as_ref().map(|id| id.borrowed().into_owned());
        }
        if let Some(name) = name
            && !self.refuses_name(name)
        {
            self.name.push(name);
        }
        if let Some(form) = form
            && !self.has_text
        {
            self.form = *form;
        }
        self.has_own_pieces |= index.is_some() && self.index == *index && fragment.is_bare();
        if let Some(text) = text {
            self.has_text = true;
            self.balance.push(text);
        }
    }

    pub(super) fn forget_positions(&mut self) {
        self.id = self.id.take().map(|id| id.at(Pos::NONE));
    }
}
