//! What the top of a request says, before anybody translates it.

use std::ops::Range;

use super::{Error, invalid, utf8};
use crate::model::Protocol;
use crate::protocol::PathMatch;
use crate::wire::envelope::Envelope;
use crate::wire::{Kind, ReadError, Reader, Str, What};

/// The facts about a request that a relay needs before it knows the upstream.
///
/// They come out of one scan, which also proves that the body is one JSON
/// object. Where the bytes pass, nothing else reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestHead {
    /// The model's name, whether the body or the URL has it.
    pub model: Option<String>,
    /// Where the body names the model, quotes included.
    pub model_span: Option<Range<usize>>,
    /// Whether the client wants a stream.
    pub stream: bool,
    /// How many tools it declares.
    pub tools: usize,
    /// How many bytes the declarations have together.
    pub tool_bytes: usize,
    /// Whether it may hold reasoning that toolwire sealed for another vendor.
    pub has_envelope: bool,
}

impl RequestHead {
    /// Scans a request. `path` is what the URL says of it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the body is not one JSON object, or names the model
    /// twice.
    pub fn read(protocol: Protocol, path: &PathMatch, body: &[u8]) -> Result<Self, Error> {
        let source = utf8(body)?;
        Self::scan(protocol, path, source).map_err(|error| invalid(source, error))
    }

    fn scan(protocol: Protocol, path: &PathMatch, source: &str) -> Result<Self, ReadError> {
        let description = protocol.describe();
        let model_in_body = !description.answers.names_model();
        let stream_in_body = description.answers.stream_path.is_none();
        let has_envelope = Envelope::may_be_in(source.as_bytes());
        let mut head = Self { has_envelope, ..Self::default() };
        let mut reader = Reader::new(source);
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            match key.decode().as_ref() {
                "model" if model_in_body => head.read_model(&mut reader)?,
                "stream" if stream_in_body && reader.peek() == Kind::Bool => {
                    head.stream = reader.boolean()?
                }
                name if description.tool_members.contains(&name)
                    && reader.peek() == Kind::Array =>
                {
                    let mut items = reader.array()?;
                    while items.more(&mut reader)? {
                        head.tool_bytes += reader.raw()?.text().len();
                        head.tools += 1;
                    }
                }
                _other => reader.skip()?,
            }
        }
        reader.finish()?;
        head.model = head.model.or_else(|| path.model.clone());
        head.stream = path.stream.unwrap_or(head.stream);
        Ok(head)
    }

    /// Nobody reads a request of the upstream's own protocol again, so a second
    /// name is refused here.
    fn read_model(&mut self, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        if self.model_span.is_some() {
            return Err(reader.error(What::Duplicate("model".to_owned())));
        }
        let start = reader.here().offset().unwrap_or_default();
        if reader.peek() == Kind::String {
            self.model = Some(Str::into_decoded(reader.string()?).into_owned());
        } else {
            reader.skip()?;
        }
        self.model_span = reader.behind().offset().map(|end| start..end);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
