//! Every call of an answer has an id of its own.
//!
//! Some servers number the calls of each message alike, or give all of them
//! one id. A client that pairs results with calls by id would answer one call
//! twice and the other never, so every repetition gets an id made from the
//! first and its number: the same for a stream and for the whole answer.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::ledger::{Code, Ledger};
use crate::model::{Item, Response};
use crate::wire::{Str, hash};

/// The ids that an answer has used, and how often each has come.
#[derive(Debug, Default)]
pub(crate) struct Ids<'a>(HashMap<Cow<'a, str>, u64>);

impl<'a> Ids<'a> {
    /// The id for a call that came with `id`, if that has been used before.
    pub(crate) fn another(&mut self, id: Cow<'a, str>) -> Option<Str<'static>> {
        if id.is_empty() {
            // The writers give an id to a call that has none.
            return None;
        }
        let uses = self.0.entry(id.clone()).or_default();
        *uses += 1;
        if *uses == 1 {
            return None;
        }
        let number = *uses;
        let made = |salt: u64| {
            let parts = [id.as_bytes(), b"again", &number.to_be_bytes(), &salt.to_be_bytes()];
            format!("call_{}", hash::base62(&parts, 24))
        };
        let fresh = (0..).map(made).find(|made| !self.0.contains_key(made.as_str()))?;
        self.0.insert(Cow::Owned(fresh.clone()), 1);
        Some(Str::plain(fresh))
    }
}

/// Gives every call of an answer an id of its own.
pub fn distinct(response: &mut Response<'_>, ledger: &mut Ledger) {
    for candidate in &mut response.candidates {
        let mut ids = Ids::default();
        for item in candidate.turns.iter_mut().flat_map(|turn| &mut turn.items) {
            let Item::Call(call) = item else { continue };
            let Some(id) = &call.id else { continue };
            if let Some(fresh) = ids.another(Cow::Owned(id.decode().into_owned())) {
                ledger.renamed(id.pos(), Code::CallId).detail(REPEATED);
                call.id = Some(fresh.at(id.pos()));
            }
        }
    }
}

/// What the ledger says of a repetition.
pub(crate) const REPEATED: &str =
    "An earlier call of the answer has the same id; this one got another.";
