//! Errors: from Messages into the model.

use super::wire::{ErrorBody, ErrorObject};
use crate::model::{ApiError, ErrorKind};
use crate::wire::{Extra, Kind, Raw, Read, ReadError, Reader, Str, keep_meaningful, read_fields};

/// Reads an error body.
pub(super) fn decode(status: Option<u16>, body: &str) -> Result<ApiError, ReadError> {
    let ErrorBody { at: _, kind: _, error, message, request_id, extra } =
        Reader::new(body).document()?;
    let mut fields = ErrorFields::default();
    match &error {
        Some(error) if error.kind() == Kind::Object => {
            fields = ErrorFields::new(ErrorObject::read(&mut error.reader())?);
        }
        // Proxies in front of the vendor send a string.
        Some(error) => fields.message = string(error),
        None => {}
    }
    let message = fields.message.or_else(|| message.map(decoded)).unwrap_or_default();
    let kind = kind(fields.kind.as_deref(), fields.code.as_deref(), status, &message);
    let mut error = ApiError::new(kind, message);
    error.status = status;
    error.param = fields.param.or_else(|| field_path(&error.message));
    error.vendor_type = fields.kind;
    error.code = fields.code;
    error.request_id = request_id.map(decoded);
    error.extra = fields.extra;
    error.extra.extend(extra.into_iter().map(Extra::into_owned));
    keep_meaningful(&mut error.extra);
    Ok(error)
}

#[derive(Default)]
struct ErrorFields {
    kind: Option<String>,
    message: Option<String>,
    code: Option<String>,
    param: Option<String>,
    extra: Vec<Extra<'static>>,
}

impl ErrorFields {
    fn new(error: ErrorObject<'_>) -> Self {
        let ErrorObject { at: _, kind, message, details, code, param, extra } = error;
        let detailed = details.as_ref().and_then(|details| {
            let code = details.reader().tag("error_code").ok()??;
            Some(decoded(code))
        });
        let mut extra: Vec<_> = extra.into_iter().map(Extra::into_owned).collect();
        let more = details.as_ref().and_then(|details| read_fields(&mut details.reader()).ok());
        let more = more.into_iter().flatten().filter(|field| field.key != "error_code");
        extra.extend(more.map(Extra::into_owned));
        Self {
            kind: kind.map(decoded),
            message: message.map(decoded),
            code: detailed.or_else(|| code.as_ref().and_then(string)),
            param: param.as_ref().and_then(string),
            extra,
        }
    }
}

fn string(raw: &Raw<'_>) -> Option<String> {
    Str::read(&mut raw.reader()).ok().map(decoded)
}

fn decoded(text: Str<'_>) -> String {
    text.into_decoded().into_owned()
}

/// The kind of an error. The type decides, or the message if the type is too
/// general, or the status if the type is unknown.
fn kind(kind: Option<&str>, code: Option<&str>, status: Option<u16>, message: &str) -> ErrorKind {
    let by_type = match kind {
        Some("invalid_request_error") => by_message(code, message),
        Some("authentication_error") => ErrorKind::Auth,
        Some("billing_error") => ErrorKind::Quota,
        Some("permission_error") => ErrorKind::Permission,
        Some("not_found_error") => ErrorKind::NotFound,
        Some("conflict_error") => ErrorKind::Conflict,
        Some("request_too_large") => ErrorKind::TooLarge,
        Some("rate_limit_error") => ErrorKind::RateLimit,
        Some("overloaded_error") => ErrorKind::Overloaded,
        Some("timeout_error") => ErrorKind::Timeout,
        Some("api_error") => ErrorKind::Server,
        Some(_) | None => return by_status(status, code, message),
    };
    // Some deployments give every error the type of an invalid request.
    match (by_type, status) {
        (ErrorKind::InvalidRequest, Some(status)) if status != 400 => {
            by_status(Some(status), code, message)
        }
        (known, _) => known,
    }
}

fn by_message(code: Option<&str>, message: &str) -> ErrorKind {
    let contains = |words: &str| message.contains(words);
    if contains("prompt is too long") || contains("exceed context limit") {
        ErrorKind::ContextLength
    } else if code.is_some_and(|code| code.contains("spend_limit"))
        || contains("credit balance is too low")
    {
        ErrorKind::Quota
    } else if contains("content filtering policy") {
        ErrorKind::ContentFilter
    } else if message.starts_with("tools.") && contains("input_schema") {
        ErrorKind::InvalidToolSchema
    } else {
        ErrorKind::InvalidRequest
    }
}

fn by_status(status: Option<u16>, code: Option<&str>, message: &str) -> ErrorKind {
    match status.and_then(ErrorKind::from_status) {
        Some(ErrorKind::InvalidRequest) => by_message(code, message),
        Some(kind) => kind,
        None => ErrorKind::Server,
    }
}

/// The path of the field at fault, if the message starts with it.
fn field_path(message: &str) -> Option<String> {
    let (head, _) = message.split_once(": ")?;
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    let starts = FIELDS.iter().any(|field| {
        head.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    (starts && head.bytes().all(word)).then(|| head.to_owned())
}

/// The fields with which a message may start.
const FIELDS: &[&str] = &[
    "messages", "tools", "system", "model", "max_tokens", "thinking", "tool_choice",
    "output_config", "output_format", "metadata", "stop_sequences", "temperature", "top_p",
    "top_k", "stream", "container", "mcp_servers", "context_management", "service_tier",
    "cache_control",
];
