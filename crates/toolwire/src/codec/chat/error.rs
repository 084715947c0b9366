//! Errors.

use super::wire::{ErrorBody, ErrorObject};
use crate::model::{ApiError, ErrorKind};
use crate::wire::{Kind, Object, Raw, Read, ReadError, Reader};

/// Reads an error body. Vendors that leave the envelope out, or that put a
/// bare text into it, are understood too.
pub(super) fn decode(status: Option<u16>, body: &str) -> Result<ApiError, ReadError> {
    let mut reader = Reader::new(body);
    let ErrorBody { at: _, error, message, detail, extra: _ } = ErrorBody::read(&mut reader)?;
    reader.finish()?;
    let mut found = Found { status, message: None, kind: None, code: None, param: None };
    match &error {
        Some(raw) if raw.kind() == Kind::Object => {
            let ErrorObject { at: _, message, kind, code, param, extra: _ } =
                ErrorObject::read(&mut raw.reader())?;
            found.message = message.as_ref().and_then(text);
            found.kind = kind.as_ref().and_then(text);
            found.param = param.as_ref().and_then(text);
            found.set_code(code.as_ref());
        }
        Some(raw) => found.message = text(raw),
        None => found.message = message.as_ref().or(detail.as_ref()).and_then(text),
    }
    let kind = found.kind();
    let Found { status, message, kind: vendor_type, code, param } = found;
    let mut error = ApiError::new(kind, message.unwrap_or_default());
    error.status = status;
    error.vendor_type = vendor_type;
    error.code = code;
    error.param = param;
    Ok(error)
}

/// Writes an error body and gives its status.
pub(super) fn encode(error: &ApiError, out: &mut Vec<u8>) -> u16 {
    let ApiError {
        kind,
        blame: _,
        retry: _,
        message,
        status,
        vendor_type,
        code,
        param,
        // The gateway sends it in a header; the body has no place for it.
        request_id: _,
    } = error;
    let (usual_status, usual_type, usual_code) = usual(*kind);
    // Only types of Messages need another word; a Chat vendor's own is kept.
    let own = vendor_type.as_deref().filter(|word| !MESSAGES_TYPES.contains(word));
    let code = match (code.as_deref(), own) {
        (Some(code), _) => Some(code),
        // Clients act on these codes, and Messages says them in words only.
        (None, Some(_)) => match kind {
            ErrorKind::ContextLength | ErrorKind::InvalidToolSchema => usual_code,
            ErrorKind::InvalidRequest
            | ErrorKind::Unsupported
            | ErrorKind::Auth
            | ErrorKind::Quota
            | ErrorKind::Permission
            | ErrorKind::NotFound
            | ErrorKind::Conflict
            | ErrorKind::TooLarge
            | ErrorKind::RateLimit
            | ErrorKind::Overloaded
            | ErrorKind::Timeout
            | ErrorKind::Server
            | ErrorKind::Truncated
            | ErrorKind::ContentFilter => None,
        },
        (None, None) => usual_code,
    };
    let mut object = Object::new(out);
    let mut error = object.object("error");
    error.put("message", message);
    error.put("type", own.unwrap_or(usual_type));
    error.put("param", param);
    error.put("code", &code);
    match (kind, status) {
        // Other statuses of the same kind say more: 422, for one.
        (ErrorKind::InvalidRequest | ErrorKind::Unsupported, Some(status @ 400..=499))
        | (ErrorKind::Server, Some(status @ 500..=502)) => *status,
        (_, _) => usual_status,
    }
}

/// What is known about an error.
struct Found {
    status: Option<u16>,
    message: Option<String>,
    kind: Option<String>,
    code: Option<String>,
    param: Option<String>,
}

impl Found {
    /// Some vendors repeat the HTTP status as the code.
    fn set_code(&mut self, code: Option<&Raw<'_>>) {
        let Some(code) = code else { return };
        if code.kind() == Kind::Number {
            let status = code.text().parse().ok().filter(|status| (400..600).contains(status));
            self.status = self.status.or(status);
        } else {
            self.code = text(code);
        }
    }

    fn kind(&self) -> ErrorKind {
        let message = self.message.as_deref().unwrap_or_default();
        // Messages has no code for it, and vendors without codes have only the
        // words: vLLM says the second.
        if message.starts_with("prompt is too long") || message.contains("maximum context length") {
            return ErrorKind::ContextLength;
        }
        let word = |word: &Option<String>| word.as_deref().and_then(by_word);
        word(&self.code)
            .or_else(|| word(&self.kind))
            .or_else(|| self.status.map(by_status))
            .unwrap_or(match self.kind.as_deref() {
                Some("invalid_request_error") => ErrorKind::InvalidRequest,
                Some(_) | None => ErrorKind::Server,
            })
    }
}

fn text(raw: &Raw<'_>) -> Option<String> {
    match raw.kind() {
        Kind::String => raw.reader().string().ok().map(|text| text.into_decoded().into_owned()),
        Kind::Null => None,
        Kind::Bool | Kind::Number | Kind::Array | Kind::Object | Kind::Invalid | Kind::End => {
            Some(raw.text().to_owned())
        }
    }
}

/// The kind that a code or a type says by itself.
fn by_word(word: &str) -> Option<ErrorKind> {
    Some(match word {
        "context_length_exceeded" => ErrorKind::ContextLength,
        "invalid_function_parameters" => ErrorKind::InvalidToolSchema,
        "unsupported_parameter" | "unsupported_value" | "unsupported_tool" => {
            ErrorKind::Unsupported
        }
        "invalid_api_key" | "authentication_error" => ErrorKind::Auth,
        "insufficient_quota"
        | "billing_hard_limit_reached"
        | "billing_not_active"
        | "billing_error"
        | "usage_not_included" => ErrorKind::Quota,
        "permission_denied" | "permission_error" => ErrorKind::Permission,
        "model_not_found" | "not_found" | "not_found_error" => ErrorKind::NotFound,
        "conflict_error" => ErrorKind::Conflict,
        "request_too_large" => ErrorKind::TooLarge,
        "rate_limit_exceeded" | "rate_limit_error" | "requests" | "tokens" => ErrorKind::RateLimit,
        "server_is_overloaded" | "slow_down" | "overloaded_error" => ErrorKind::Overloaded,
        "timeout" | "timeout_error" => ErrorKind::Timeout,
        "upstream_truncated" => ErrorKind::Truncated,
        "content_filter" | "content_policy_violation" => ErrorKind::ContentFilter,
        other => {
            return (other == "api_error").then_some(ErrorKind::Server);
        }
    })
}

fn by_status(status: u16) -> ErrorKind {
    match status {
        401 => ErrorKind::Auth,
        402 => ErrorKind::Quota,
        403 => ErrorKind::Permission,
        404 => ErrorKind::NotFound,
        408 | 504 => ErrorKind::Timeout,
        409 => ErrorKind::Conflict,
        413 => ErrorKind::TooLarge,
        429 => ErrorKind::RateLimit,
        503 | 529 => ErrorKind::Overloaded,
        500..=u16::MAX => ErrorKind::Server,
        0..=499 => ErrorKind::InvalidRequest,
    }
}

/// The status, type and code that OpenAI gives to a kind of error.
fn usual(kind: ErrorKind) -> (u16, &'static str, Option<&'static str>) {
    let invalid = "invalid_request_error";
    match kind {
        ErrorKind::InvalidRequest => (400, invalid, None),
        ErrorKind::Unsupported => (400, invalid, Some("unsupported_parameter")),
        ErrorKind::InvalidToolSchema => (400, invalid, Some("invalid_function_parameters")),
        ErrorKind::ContextLength => (400, invalid, Some("context_length_exceeded")),
        ErrorKind::Auth => (401, invalid, Some("invalid_api_key")),
        ErrorKind::Quota => (429, "insufficient_quota", Some("insufficient_quota")),
        ErrorKind::Permission => (403, invalid, Some("permission_denied")),
        ErrorKind::NotFound => (404, invalid, Some("not_found")),
        ErrorKind::Conflict => (409, invalid, Some("conflict")),
        ErrorKind::TooLarge => (413, invalid, Some("request_too_large")),
        ErrorKind::RateLimit => (429, "requests", Some("rate_limit_exceeded")),
        ErrorKind::Overloaded => (503, "server_error", Some("server_is_overloaded")),
        ErrorKind::Timeout => (504, "server_error", Some("timeout")),
        ErrorKind::Server => (500, "server_error", None),
        ErrorKind::Truncated => (502, "server_error", Some("upstream_truncated")),
        ErrorKind::ContentFilter => (400, invalid, Some("content_filter")),
    }
}

/// The types that only Messages has.
const MESSAGES_TYPES: &[&str] = &[
    "authentication_error",
    "billing_error",
    "permission_error",
    "not_found_error",
    "conflict_error",
    "request_too_large",
    "rate_limit_error",
    "timeout_error",
    "api_error",
    "overloaded_error",
];
