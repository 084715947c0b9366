//! The arguments of a call, checked against the tool's schema.

use std::fmt::Write;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// A schema that arguments are checked against.
pub(crate) struct ArgumentCheck(Validator);

impl ArgumentCheck {
    /// Compiles a schema. A pattern is matched in linear time, because a model
    /// writes what it is matched against.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
        let validator = options.build(schema);
        validator.map(Self).map_err(|error| format!("its schema is not valid: {error}"))
    }

    /// Reads the arguments. An error is a sentence that helps the model to do
    /// better.
    pub(crate) fn parse(&self, json: &str) -> Result<Value, String> {
        // Models leave the arguments of a tool without parameters empty.
        let json = if json.trim().is_empty() { "{}" } else { json };
        let arguments: Value = serde_json::from_str(json)
            .map_err(|error| format!("the arguments are not valid JSON: {error}"))?;
        let mut wrong = String::new();
        for error in self.0.iter_errors(&arguments).take(MOST_PROBLEMS) {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "the arguments".to_owned() } else { place };
            let message: String = error.to_string().chars().take(LONGEST_PROBLEM).collect();
            let _ = write!(wrong, "; {place}: {message}");
        }
        match wrong.strip_prefix("; ") {
            Some(wrong) => Err(format!("the arguments do not fit the schema: {wrong}")),
            None => Ok(arguments),
        }
    }
}

const MOST_PROBLEMS: usize = 5;
const LONGEST_PROBLEM: usize = 300;
