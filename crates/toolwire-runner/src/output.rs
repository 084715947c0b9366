//! What a tool's function may return.

use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;

/// What a tool has to say to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Text.
    Text(String),
    /// Content parts in the words of the protocol, as JSON: see [`Parts`].
    Parts(String),
}

/// What a tool's function may return: text, JSON, content parts, nothing, or a
/// [`Result`] of these. The model reads an error as the tool's failure.
pub trait IntoOutput {
    /// What the model reads, or why the tool failed.
    ///
    /// # Errors
    ///
    /// The text of the failure.
    fn into_output(self) -> Result<Output, String>;
}

/// A value that the model reads as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// A list of content parts in the words of the protocol, for results with images
/// or documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts(pub Value);

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output, String> {
        Ok(self)
    }
}

impl IntoOutput for String {
    fn into_output(self) -> Result<Output, String> {
        Ok(Output::Text(self))
    }
}

impl IntoOutput for &str {
    fn into_output(self) -> Result<Output, String> {
        Ok(Output::Text(self.to_owned()))
    }
}

impl IntoOutput for () {
    fn into_output(self) -> Result<Output, String> {
        Ok(Output::Text(String::new()))
    }
}

impl IntoOutput for Value {
    fn into_output(self) -> Result<Output, String> {
        Ok(Output::Text(self.to_string()))
    }
}

impl<T: Serialize> IntoOutput for Json<T> {
    fn into_output(self) -> Result<Output, String> {
        let text = serde_json::to_string(&self.0);
        text.map(Output::Text).map_err(|error| format!("the result cannot be written: {error}"))
    }
}

impl IntoOutput for Parts {
    fn into_output(self) -> Result<Output, String> {
        Ok(Output::Parts(self.0.to_string()))
    }
}

impl<T: IntoOutput, E: Display> IntoOutput for Result<T, E> {
    fn into_output(self) -> Result<Output, String> {
        // The alternate form of an error of `anyhow` has its causes too.
        self.map_err(|error| format!("{error:#}"))?.into_output()
    }
}
