//! Documents as [`serde_json::Value`], for programs that have them as values.
//!
//! Needs the feature `serde_json`. The functions are those of [`translate`] and
//! [`calls`] with values in place of bytes.
//!
//! A value is not the bytes it was read from. serde_json reads numbers into 64
//! bits, so `1e2` becomes `100.0` and a longer number loses digits, and it sorts
//! keys unless its own feature `preserve_order` is on. If that matters, because
//! of prompt caches or signed content for example, keep the bytes and use
//! [`translate`] and [`calls`].

use serde_json::Value;

use crate::calls::{self, ToolCall, ToolOutput};
use crate::ledger::Entry;
use crate::model::Protocol;
use crate::registry::{self, Registry};
use crate::translate::{self, Error, Options, Translated};

/// A translated document as a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TranslatedValue {
    /// The document.
    pub body: Value,
    /// What changed or could not be carried.
    pub ledger: Vec<Entry>,
    /// Features that the upstream must switch on for it, in the vendor's own
    /// header for them: Anthropic's `anthropic-beta`.
    pub required_features: Vec<&'static str>,
}

/// A translated error as a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TranslatedErrorValue {
    /// The body.
    pub body: Value,
    /// The HTTP status that belongs to it.
    pub status: u16,
}

/// Translates a client's request for an upstream, as [`translate::request`].
///
/// ```
/// use serde_json::json;
/// use toolwire::Protocol::{Chat, Messages};
/// use toolwire::Options;
///
/// let request = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
/// let sent = toolwire::json::request(
///     Chat,
///     Messages,
///     &request,
///     &Options::new().model("claude-haiku-4-5"),
/// )?;
/// assert_eq!(sent.body["model"], "claude-haiku-4-5");
/// assert_eq!(sent.ledger[0].code.to_string(), "max_tokens_default");
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
///
/// As [`translate::request`].
pub fn request(
    from: Protocol,
    to: Protocol,
    body: &Value,
    options: &Options<'_>,
) -> Result<TranslatedValue, Error> {
    translated(translate::request(from, to, &bytes(body), options)?)
}

/// Translates an upstream's answer for a client, as [`translate::response`].
///
/// # Errors
///
/// As [`translate::response`].
pub fn response(
    from: Protocol,
    to: Protocol,
    body: &Value,
    options: &Options<'_>,
) -> Result<TranslatedValue, Error> {
    translated(translate::response(from, to, &bytes(body), options)?)
}

/// Translates an upstream's error body for a client, as [`translate::error`].
///
/// # Errors
///
/// As [`translate::error`].
pub fn error(
    from: Protocol,
    to: Protocol,
    body: &Value,
    options: &Options<'_>,
) -> Result<TranslatedErrorValue, Error> {
    let translated = translate::error(from, to, &bytes(body), options)?;
    Ok(TranslatedErrorValue { body: value(&translated.body)?, status: translated.status })
}

/// Translates a bare array of tool definitions, as [`translate::tools`].
///
/// # Errors
///
/// As [`translate::tools`].
pub fn tools(
    from: Protocol,
    to: Protocol,
    body: &Value,
    options: &Options<'_>,
) -> Result<TranslatedValue, Error> {
    translated(translate::tools(from, to, &bytes(body), options)?)
}

/// The calls in a model's answer, as [`calls::parse`].
///
/// # Errors
///
/// As [`calls::parse`].
pub fn parse(protocol: Protocol, response: &Value) -> Result<Vec<ToolCall>, calls::Error> {
    calls::parse(protocol, &bytes(response))
}

/// The body of the next request, as [`calls::next_request`].
///
/// # Errors
///
/// As [`calls::next_request`].
pub fn next_request(
    protocol: Protocol,
    request: &Value,
    response: &Value,
    outputs: &[ToolOutput],
) -> Result<Value, calls::Error> {
    let next = calls::next_request(protocol, &bytes(request), &bytes(response), outputs)?;
    Ok(value(&next)?)
}

impl Registry {
    /// A registry of the definitions in a list, as [`Registry::from_json`].
    ///
    /// # Errors
    ///
    /// As [`Registry::from_json`].
    pub fn from_value(list: &Value) -> Result<Self, registry::Error> {
        Self::from_json(&bytes(list))
    }

    /// Adds the definitions of a list, as [`Registry::add_json`].
    ///
    /// # Errors
    ///
    /// As [`Registry::add_json`].
    pub fn add_value(&mut self, list: &Value) -> Result<(), registry::Error> {
        self.add_json(&bytes(list))
    }

    /// The definitions for a protocol, as [`Registry::render`].
    ///
    /// # Errors
    ///
    /// As [`Registry::render`].
    pub fn render_value(
        &self,
        to: Protocol,
        options: &Options<'_>,
    ) -> Result<TranslatedValue, Error> {
        translated(self.render(to, options)?)
    }
}

impl ToolCall {
    /// What the tool is called with: its arguments, an empty object if the model
    /// wrote nothing, or the text for a freeform tool as a string.
    ///
    /// # Errors
    ///
    /// serde_json's error if the model's arguments are not JSON.
    pub fn arguments_value(&self) -> serde_json::Result<Value> {
        match (self.arguments(), self.freeform()) {
            (Some(json), _) if !json.trim().is_empty() => serde_json::from_str(json),
            (None, Some(text)) => Ok(Value::from(text)),
            (Some(_) | None, _) => Ok(Value::Object(serde_json::Map::new())),
        }
    }
}

impl ToolOutput {
    /// A result that is a value. The model gets it as JSON text.
    pub fn value(id: impl Into<String>, value: &Value) -> Self {
        Self::text(id, value.to_string())
    }
}

fn translated(translated: Translated) -> Result<TranslatedValue, Error> {
    let Translated { body, ledger, required_features } = translated;
    Ok(TranslatedValue { body: value(&body)?, ledger, required_features })
}

fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// Reads what the library wrote. serde_json takes fewer levels of nesting than
/// toolwire does.
fn value(body: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(body).map_err(|error| Error::Invalid {
        pointer: String::new(),
        offset: error.column().saturating_sub(1),
        message: error.to_string(),
    })
}
