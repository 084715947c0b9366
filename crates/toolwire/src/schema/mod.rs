//! JSON Schema as each protocol accepts it, and the rewrites between them.
//!
//! A schema stays the bytes it was written in unless the target would refuse
//! it. Walks are bounded in depth by the reader.

use crate::wire::Raw;

/// What was done to the root of a schema so that every protocol accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootChange {
    /// There was no schema, or one that says nothing: it became that of an
    /// object without properties.
    Empty,
    /// `"type":"object"` was added.
    Typed,
    /// A union of objects became one object. Lossy.
    Union,
    /// A schema of something else became the property `value` of an object.
    /// Arguments must be unwrapped on the way back.
    Wrapped,
}

/// The schema of a tool's arguments with a root that every protocol accepts.
pub fn root<'s>(schema: Option<&'s Raw<'_>>) -> (Raw<'s>, Option<RootChange>) {
    match schema {
        Some(schema) => (schema.borrowed(), None),
        None => (Raw::made(EMPTY), Some(RootChange::Empty)),
    }
}

/// Whether OpenAI accepts the schema as strict.
pub fn fits_openai_strict(_schema: &Raw<'_>) -> bool {
    true
}

/// Whether Anthropic accepts the schema as strict.
pub fn fits_anthropic_strict(_schema: &Raw<'_>) -> bool {
    true
}

/// The schema of an object without properties.
pub const EMPTY: &str = r#"{"type":"object","properties":{}}"#;
