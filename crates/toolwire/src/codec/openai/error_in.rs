//! OpenAI's error body: wire to model. Both of its protocols have it, and so do
//! the vendors that speak them.

use crate::model::{ApiError, ErrorKind, Retry};
use crate::wire::{Extra, Kind, Raw, Read, ReadError, Reader, Str, keep_meaningful};

/// Reads an error body of OpenAI or of a compatible server.
pub(crate) fn decode(status: Option<u16>, body: &str) -> Result<ApiError, ReadError> {
    let mut reader = Reader::new(body);
    if reader.peek() == Kind::String {
        let message = reader.string()?;
        reader.finish()?;
        return Ok(finish(status, ErrorMembers::of_text(own(message))));
    }
    let ErrorBody { at: _, error, message, kind, code, param, detail, request_id, mut extra } =
        reader.document()?;
    // An error in a stream stands among the members of a chunk.
    extra.retain(|field| !CHUNK.contains(&field.key.decode().as_ref()));
    let mut fields = ErrorMembers::default();
    match &error {
        Some(error) if error.kind() == Kind::Object => {
            fields = fields_of(ErrorDetail::read(&mut error.reader())?);
        }
        Some(error) => fields.message = plain(error),
        None => {
            fields.message = message.or(detail).as_ref().map(plain).unwrap_or_default();
            fields.vendor_type = kind.as_ref().map(plain);
            fields.code = code.as_ref().map(plain);
            fields.param = param.as_ref().map(plain);
        }
    }
    fields.keep(extra);
    let mut error = finish(status, fields);
    error.request_id = request_id.as_ref().map(plain);
    Ok(error)
}

/// The error inside an answer that failed.
pub(crate) fn of_detail(detail: ErrorDetail<'_>) -> ApiError {
    finish(None, fields_of(detail))
}

/// The error in a member of an answer: an object or a text. `None` if it says nothing.
pub(crate) fn of_member(raw: &Raw<'_>) -> Option<ApiError> {
    if raw.says_nothing() {
        return None;
    }
    match raw.kind() {
        Kind::Object => ErrorDetail::read(&mut raw.reader()).ok().map(of_detail),
        Kind::String => Some(finish(None, ErrorMembers::of_text(plain(raw)))),
        Kind::Null | Kind::Bool | Kind::Number | Kind::Array | Kind::Invalid | Kind::End => None,
    }
}

/// An answer that failed and does not say why.
pub(crate) fn unexplained() -> ApiError {
    ApiError::new(ErrorKind::Server, "")
}

#[derive(Default)]
struct ErrorMembers {
    message: String,
    vendor_type: Option<String>,
    code: Option<String>,
    param: Option<String>,
    extra: Vec<Extra<'static>>,
}

impl ErrorMembers {
    /// An error that is nothing but a text.
    fn of_text(message: String) -> Self {
        Self { message, vendor_type: None, code: None, param: None, extra: Vec::new() }
    }

    /// Keeps members of the vendor's own that say something.
    fn keep(&mut self, mut extra: Vec<Extra<'_>>) {
        keep_meaningful(&mut extra);
        self.extra.extend(extra.into_iter().map(Extra::into_owned));
    }
}

fn fields_of(detail: ErrorDetail<'_>) -> ErrorMembers {
    let ErrorDetail { at: _, message, kind, code, param, extra } = detail;
    let mut message = message.as_ref().map(plain).unwrap_or_default();
    if let Some(cause) = extra.iter().find_map(cause)
        && !message.contains(&cause)
    {
        message = if message.is_empty() { cause } else { format!("{message}: {cause}") };
    }
    let mut fields = ErrorMembers {
        message,
        vendor_type: kind.as_ref().map(plain),
        code: code.as_ref().map(plain),
        param: param.as_ref().map(plain),
        extra: Vec::new(),
    };
    fields.keep(extra);
    fields
}

/// What the provider behind OpenRouter said, whose own message only says that it
/// failed. vectors/errors/chat-vendor-openrouter
fn cause(field: &Extra<'_>) -> Option<String> {
    if field.key != "metadata" {
        return None;
    }
    let [raw] = field.value.reader().pick(["raw"]).ok()?;
    let text = plain(&raw?);
    let inner = |text: &str| -> Option<String> {
        let [error, message] = Reader::new(text).pick(["error", "message"]).ok()?;
        let nested = error.as_ref().and_then(|error| error.reader().pick(["message"]).ok());
        let nested = nested.and_then(|[message]| message.as_ref().map(plain));
        nested.or_else(|| message.or(error).as_ref().map(plain))
    };
    Some(inner(&text).unwrap_or(text)).filter(|text| !text.is_empty())
}

fn finish(status: Option<u16>, fields: ErrorMembers) -> ApiError {
    let ErrorMembers { message, vendor_type, code, param, extra } = fields;
    // Some servers write the status where OpenAI has its code.
    let numeric = code.as_ref().and_then(|code| code.parse().ok());
    let status = status.filter(|status| *status >= 400).or(numeric);
    let kind = by_code(code.as_deref())
        .or_else(|| by_type(vendor_type.as_deref()))
        .or_else(|| by_text(status, &message))
        .or_else(|| status.and_then(ErrorKind::from_status))
        .unwrap_or(match &vendor_type {
            Some(kind) if kind == "invalid_request_error" => ErrorKind::InvalidRequest,
            Some(_) | None => ErrorKind::Server,
        });
    let mut error = ApiError::new(kind, message);
    error.status = status;
    error.vendor_type = vendor_type;
    error.code = code.filter(|_| numeric.is_none());
    error.param = param;
    error.extra = extra;
    if kind == ErrorKind::RateLimit
        && let Some(seconds) = wait(&error.message)
    {
        error.retry = Retry::After(seconds);
    }
    error
}

wire! {
    /// An error body in the shapes of OpenAI and of compatible servers.
    struct ErrorBody<'a> {
        error: Raw<'a> = "error",
        message: Raw<'a> = "message",
        kind: Raw<'a> = "type",
        code: Raw<'a> = "code",
        param: Raw<'a> = "param",
        detail: Raw<'a> = "detail",
        request_id: Raw<'a> = "request_id",
    }

    /// What went wrong, in an error body or in an answer that failed.
    pub(crate) struct ErrorDetail<'a> {
        message: Raw<'a> = "message",
        kind: Raw<'a> = "type",
        code: Raw<'a> = "code",
        param: Raw<'a> = "param",
    }
}

/// The members of a chunk of Chat, and of an event of Responses.
const CHUNK: [&str; 8] = [
    "id", "object", "created", "model", "choices", "usage", "system_fingerprint", "sequence_number",
];

/// How long to wait. OpenAI says it in the message: `try again in 1.2s`.
fn wait(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once("try again in ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = rest.split_at(end);
    let number: f64 = number.parse().ok()?;
    let seconds = if unit.starts_with("ms") {
        number / 1000.0
    } else if unit.starts_with('s') || unit.starts_with(" second") {
        number
    } else {
        return None;
    };
    // The conversion saturates at the bounds of the integer.
    Some(seconds.ceil().max(1.0) as u64)
}

fn by_code(code: Option<&str>) -> Option<ErrorKind> {
    Some(match code? {
        "context_length_exceeded" => ErrorKind::ContextLength,
        "invalid_api_key" | "missing_api_key" => ErrorKind::Auth,
        "insufficient_quota" | "billing_hard_limit_reached" | "usage_not_included" => {
            ErrorKind::Quota
        }
        "permission_denied" | "unsupported_country_region_territory" => ErrorKind::Permission,
        "model_not_found" | "not_found" | "previous_response_not_found" => ErrorKind::NotFound,
        "request_too_large" => ErrorKind::TooLarge,
        "rate_limit_exceeded" | "slow_down" => ErrorKind::RateLimit,
        "server_is_overloaded" | "overloaded" => ErrorKind::Overloaded,
        "timeout" => ErrorKind::Timeout,
        "invalid_function_parameters" => ErrorKind::InvalidToolSchema,
        "unsupported_parameter" | "unsupported_value" | "unsupported_tool" => {
            ErrorKind::Unsupported
        }
        "content_filter" | "content_policy_violation" => ErrorKind::ContentFilter,
        "invalid_prompt"
        | "string_above_max_length"
        | "missing_required_parameter"
        | "unknown_parameter"
        | "invalid_value"
        | "invalid_type" => ErrorKind::InvalidRequest,
        "server_error" => ErrorKind::Server,
        "upstream_truncated" => ErrorKind::Truncated,
        "upstream_unusable_answer" => ErrorKind::UnusableAnswer,
        _unknown => return None,
    })
}

fn by_type(kind: Option<&str>) -> Option<ErrorKind> {
    Some(match kind? {
        "authentication_error" => ErrorKind::Auth,
        "insufficient_quota" => ErrorKind::Quota,
        "permission_error" => ErrorKind::Permission,
        "not_found_error" => ErrorKind::NotFound,
        "requests" | "tokens" | "rate_limit_error" => ErrorKind::RateLimit,
        "overloaded_error" => ErrorKind::Overloaded,
        "timeout_error" => ErrorKind::Timeout,
        _unknown => return None,
    })
}

/// Compatible servers report only in words that a conversation is too long.
fn by_text(status: Option<u16>, message: &str) -> Option<ErrorKind> {
    let long = message.contains("maximum context length") || message.contains("context window");
    (long && status.is_none_or(|status| status == 400)).then_some(ErrorKind::ContextLength)
}

fn own(text: Str<'_>) -> String {
    text.into_decoded().into_owned()
}

/// The text of a string, or the JSON of anything else.
fn plain(raw: &Raw<'_>) -> String {
    match Str::read(&mut raw.reader()) {
        Ok(text) => own(text),
        Err(_) => raw.text().to_owned(),
    }
}
