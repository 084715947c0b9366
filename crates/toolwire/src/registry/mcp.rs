//! Tools of an MCP server as functions.

use super::shape::find;
use crate::schema::EMPTY;
use crate::wire::{Extra, Object, Raw};

/// An MCP tool in Responses' spelling, and the members that no protocol has a
/// place for: title, annotations, icons, `_meta`.
///
/// Responses has the one protocol with schemas of results. There a function
/// without `strict` may be made strict, which MCP servers do not ask for, so it
/// is said.
pub(super) fn responses(fields: &[Extra<'_>]) -> (String, Vec<Extra<'static>>) {
    let mut out = Vec::new();
    {
        let mut tool = Object::new(&mut out);
        tool.put("type", "function");
        tool.maybe("name", find(fields, "name"));
        tool.maybe("description", find(fields, "description"));
        match find(fields, "inputSchema") {
            Some(schema) => tool.put("parameters", schema),
            None => tool.put("parameters", &Raw::made(EMPTY)),
        }
        tool.put("strict", &false);
        tool.maybe("output_schema", find(fields, "outputSchema"));
    }
    let extra = fields
        .iter()
        .filter(|field| !CARRIED.iter().any(|key| field.key == *key))
        .map(|field| field.clone().into_owned())
        .collect();
    // Everything written above is text.
    (String::from_utf8(out).unwrap_or_default(), extra)
}

const CARRIED: [&str; 4] = ["name", "description", "inputSchema", "outputSchema"];
