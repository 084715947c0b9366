//! A call with its output, and the ways to write an output that several
//! protocols share.

use std::borrow::Cow;

use super::{Content, Error, ToolOutput};
use crate::model::Call;
use crate::wire::{Kind, Raw, Str, Write};

/// A call and the output that answers it.
#[doc(hidden)]
#[derive(Debug)]
pub struct AnsweredCall<'a> {
    /// The call's id, made up if the call came without one.
    pub id: Cow<'a, str>,
    /// The call as it was read from the answer.
    pub call: &'a Call<'a>,
    /// What running it gave.
    pub output: &'a ToolOutput,
    /// What precedes the text of a failure in a protocol that cannot flag it.
    pub error_prefix: &'static str,
}

impl AnsweredCall<'_> {
    /// Writes the output as a text, which says itself if the tool failed, or as
    /// a list of content parts.
    pub fn write_content(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        match &self.output.content {
            Content::Text(text) if !self.output.is_error => text.write(out),
            Content::Text(_) => self.labeled_text().write(out),
            Content::Json(_) if self.output.is_error => {
                return Err(self.unfit("the protocol has no error flag: say it in a text"));
            }
            Content::Json(_) => self.write_parts(out)?,
        }
        Ok(())
    }

    /// Writes the output as a text or as a list of content parts, for a protocol
    /// that flags failures elsewhere.
    pub fn write_unlabeled_content(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        match &self.output.content {
            Content::Text(text) => text.write(out),
            Content::Json(_) => self.write_parts(out)?,
        }
        Ok(())
    }

    /// Writes the caller's JSON as it is, if it is of the kind wanted.
    pub fn write_json(&self, wanted: Kind, what: &str, out: &mut Vec<u8>) -> Result<(), Error> {
        let Content::Json(json) = &self.output.content else {
            return Err(self.unfit(&format!("it must be JSON: {what}")));
        };
        match Raw::parse(json) {
            Ok(value) if value.kind() == wanted => {
                value.write(out);
                Ok(())
            }
            Ok(value) => Err(self.unfit(&format!("expected {what}, found {}", value.kind()))),
            Err(error) => Err(self.unfit(&format!("it is not JSON: {error}"))),
        }
    }

    /// The output as text, with a prefix if the tool failed.
    pub fn labeled_text(&self) -> Str<'_> {
        let text = self.text();
        if self.output.is_error {
            return Str::plain(format!("{}{text}", self.error_prefix));
        }
        Str::plain(text)
    }

    /// The output as text.
    pub fn text(&self) -> &str {
        match &self.output.content {
            Content::Text(text) | Content::Json(text) => text,
        }
    }

    fn write_parts(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.write_json(Kind::Array, "a list of content parts", out)
    }

    fn unfit(&self, reason: &str) -> Error {
        Error::Content { id: self.id.clone().into_owned(), reason: reason.to_owned() }
    }
}
