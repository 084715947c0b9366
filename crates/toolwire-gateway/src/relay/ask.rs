//! What of a request the gateway itself must know, whoever it is for.

use toolwire::model::{ApiError, ErrorKind};
use toolwire::wire::{Kind, ReadError, Reader, pointer};

use super::Failure;

/// What a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ask {
    /// The model, by whatever name.
    pub(super) model: String,
    /// Whether the answer is to be a stream.
    pub(super) stream: bool,
}

impl Ask {
    /// Looks through the top of a request. The rest is only checked to be JSON.
    pub(super) fn read(body: &[u8]) -> Result<Self, Failure> {
        let text = std::str::from_utf8(body).map_err(|_| {
            Failure::of(ApiError::new(ErrorKind::InvalidRequest, "The request is not UTF-8."))
        })?;
        let (model, stream, tools) = top(text).map_err(|error| malformed(text, &error))?;
        if tools > TOOLS {
            let message = format!("The request has {tools} tools; the limit here is {TOOLS}.");
            return Err(at("tools", message));
        }
        match model {
            Some(model) if !model.is_empty() => Ok(Self { model, stream }),
            Some(_) | None => Err(at("model", "The request must name a model.".to_owned())),
        }
    }
}

fn top(text: &str) -> Result<(Option<String>, bool, usize), ReadError> {
    let mut reader = Reader::new(text);
    let mut members = reader.object()?;
    let (mut model, mut stream, mut tools) = (None, false, 0);
    while let Some(key) = members.next(&mut reader)? {
        match key.decode().as_ref() {
            "model" if reader.peek() == Kind::String => {
                model = Some(reader.string()?.into_decoded().into_owned());
            }
            "stream" if reader.peek() == Kind::Bool => stream = reader.boolean()?,
            "tools" if reader.peek() == Kind::Array => {
                let mut items = reader.array()?;
                while items.more(&mut reader)? {
                    reader.skip()?;
                    tools += 1;
                }
            }
            _other => reader.skip()?,
        }
    }
    reader.finish()?;
    Ok((model, stream, tools))
}

fn malformed(text: &str, error: &ReadError) -> Failure {
    let pointer = pointer(text, error.pos);
    let offset = error.pos.offset().unwrap_or_default();
    let message = match pointer.as_str() {
        "" => format!("The request cannot be read: {error} (byte {offset})."),
        path => format!("The request cannot be read at {path}: {error} (byte {offset})."),
    };
    Failure::of(ApiError::new(ErrorKind::InvalidRequest, message))
}

fn at(param: &str, message: String) -> Failure {
    let mut error = ApiError::new(ErrorKind::InvalidRequest, message);
    error.param = Some(param.to_owned());
    Failure::of(error)
}

/// How many tools a request may have.
const TOOLS: usize = 1024;
