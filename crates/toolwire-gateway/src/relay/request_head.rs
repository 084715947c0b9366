//! The few fields of a request that the gateway itself needs: the model, the
//! stream flag, and the size of the tool definitions.

use std::ops::Range;

use toolwire::model::{ApiError, ErrorKind};
use toolwire::wire::{Kind, ReadError, Reader, What, pointer};

use super::Failure;
use crate::config::Limits;

/// What routing needs to know about a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestHead {
    /// The model, as the client names it.
    pub(super) model: String,
    /// The bytes of the name in the body, quotes included. There is no second
    /// `model`.
    pub(super) model_at: Range<usize>,
    /// Whether the client wants a stream.
    pub(super) stream: bool,
}

impl RequestHead {
    /// Reads the top level of a request. The rest is only checked to be JSON.
    pub(super) fn read(body: &[u8], limits: &Limits) -> Result<Self, Failure> {
        let text = std::str::from_utf8(body).map_err(|_| {
            Failure::new(ApiError::new(ErrorKind::InvalidRequest, "The request is not UTF-8."))
        })?;
        let TopLevel { model, model_at, stream, tools, schemas } =
            top_level(text).map_err(|error| malformed(text, &error))?;
        if tools > limits.tools {
            let limit = limits.tools;
            let message = format!("The request has {tools} tools; the limit here is {limit}.");
            return Err(invalid("tools", message));
        }
        if schemas > limits.schemas {
            let limit = limits.schemas;
            let message = format!(
                "The tools of the request are {schemas} bytes long; the limit here is {limit}."
            );
            return Err(invalid("tools", message));
        }
        match (model, model_at) {
            (Some(model), Some(model_at)) if !model.is_empty() => {
                Ok(Self { model, model_at, stream })
            }
            (_, _) => Err(invalid("model", "The request must name a model.".to_owned())),
        }
    }
}

/// The top level of a request, before it is checked.
#[derive(Default)]
struct TopLevel {
    model: Option<String>,
    model_at: Option<Range<usize>>,
    stream: bool,
    /// The number of tools.
    tools: usize,
    /// The total length of their definitions, in bytes.
    schemas: usize,
}

fn top_level(text: &str) -> Result<TopLevel, ReadError> {
    let mut reader = Reader::new(text);
    let mut members = reader.object()?;
    let mut top = TopLevel::default();
    while let Some(key) = members.next(&mut reader)? {
        match key.decode().as_ref() {
            "model" => top.read_model(&mut reader)?,
            "stream" if reader.peek() == Kind::Bool => top.stream = reader.boolean()?,
            "tools" | "functions" if reader.peek() == Kind::Array => {
                let mut items = reader.array()?;
                while items.more(&mut reader)? {
                    top.schemas += reader.raw()?.text().len();
                    top.tools += 1;
                }
            }
            _other => reader.skip()?,
        }
    }
    reader.finish()?;
    Ok(top)
}

impl TopLevel {
    /// Reads the model's name and refuses a second one. If the upstream speaks
    /// the client's protocol, no later step decodes the request, so the check
    /// must happen here.
    fn read_model(&mut self, reader: &mut Reader<'_>) -> Result<(), ReadError> {
        if self.model_at.is_some() {
            return Err(reader.error(What::Duplicate("model".to_owned())));
        }
        let start = reader.here().offset().unwrap_or_default();
        if reader.peek() == Kind::String {
            self.model = Some(reader.string()?.into_decoded().into_owned());
        } else {
            reader.skip()?;
        }
        self.model_at = reader.behind().offset().map(|end| start..end);
        Ok(())
    }
}

fn malformed(text: &str, error: &ReadError) -> Failure {
    let pointer = pointer(text, error.pos);
    let offset = error.pos.offset().unwrap_or_default();
    let message = match pointer.as_str() {
        "" => format!("The request cannot be read: {error} (byte {offset})."),
        path => format!("The request cannot be read at {path}: {error} (byte {offset})."),
    };
    Failure::new(ApiError::new(ErrorKind::InvalidRequest, message))
}

fn invalid(param: &str, message: String) -> Failure {
    let mut error = ApiError::new(ErrorKind::InvalidRequest, message);
    error.param = Some(param.to_owned());
    Failure::new(error)
}

#[cfg(test)]
mod tests;
