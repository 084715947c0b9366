//! The description of a tool: from the model to Messages.

use std::borrow::Cow;

use crate::model::Tool;
use crate::wire::{Str, write_escaped};

/// The description that a tool is sent with: a text of the client's, and notes
/// behind it.
pub(super) struct DescriptionText<'d> {
    pub(super) text: Option<Str<'d>>,
    pub(super) notes: Vec<Cow<'d, str>>,
}

impl<'d> DescriptionText<'d> {
    /// The description of the tool behind that of its namespace.
    pub(super) fn new(
        tool: &'d Tool<'_>,
        namespace: Option<&'d Tool<'_>>,
        mut notes: Vec<Cow<'d, str>>,
    ) -> Self {
        let of_namespace = namespace.and_then(|namespace| namespace.description.as_ref());
        let own = tool.description.as_ref();
        if let (Some(_), Some(own)) = (of_namespace, own) {
            notes.insert(0, Cow::Borrowed("\n\n"));
            notes.insert(1, own.decode());
        }
        let text = of_namespace.or(own).map(Str::borrowed);
        if text.is_none()
            && let Some(first) = notes.first_mut()
        {
            *first = Cow::Owned(first.trim_start().to_owned());
        }
        Self { text, notes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_none() && self.notes.is_empty()
    }

    /// Writes one literal. The client's text keeps its escapes.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        if let Some(text) = &self.text {
            text.write_inside(out);
        }
        for note in &self.notes {
            write_escaped(note, out);
        }
        out.push(b'"');
    }
}
