//! Tools of an MCP server as functions.

use crate::guess::Fields;
use crate::schema::EMPTY;
use crate::wire::{Extra, Object, Raw, written};

/// An MCP tool as it is stored, and the members that no protocol has a place
/// for: title, annotations, icons, `_meta`.
///
/// Responses would make a function without `strict` strict, which MCP servers do
/// not ask for, so `strict` is always written.
pub(super) fn definition(fields: &Fields<'_>) -> (String, Vec<Extra<'static>>) {
    let text = written(|out| {
        let mut tool = Object::new(out);
        tool.put("type", "function");
        tool.maybe("name", fields.get("name"));
        tool.maybe("description", fields.get("description"));
        match fields.get("inputSchema") {
            Some(schema) => tool.put("parameters", schema),
            None => tool.put("parameters", &Raw::made(EMPTY)),
        }
        tool.put("strict", &false);
        tool.maybe("output_schema", fields.get("outputSchema"));
    });
    let extra = fields
        .iter()
        .filter(|field| !CARRIED.iter().any(|key| field.key == *key))
        .map(|field| field.clone().into_owned())
        .collect();
    (text, extra)
}

const CARRIED: [&str; 4] = ["name", "description", "inputSchema", "outputSchema"];
