//! The hosted web search: writing its options.

use super::wire::WEB_SEARCH_OPTIONS;
use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::model::Tool;
use crate::wire::{Kind, Object, Raw, Write, read_fields};

/// Writes a hosted web search as Chat's options.
pub(super) fn write_options(object: &mut Object<'_>, tool: &Tool<'_>, cx: &mut EncodeContext<'_>) {
    let mut options = object.object(WEB_SEARCH_OPTIONS);
    for field in &tool.extra {
        match field.key.decode().as_ref() {
            "search_context_size" => options.put("search_context_size", &field.value),
            "user_location" if field.value.kind() == Kind::Object => {
                write_location(&mut options, &field.value);
            }
            other => {
                let detail = format!("Chat's web search has no option `{other}`.");
                cx.ledger.dropped(field.value.pos(), Code::WebSearchOption).detail(detail);
            }
        }
    }
}

/// Writes the location, which Chat keeps one level deeper than other protocols
/// do.
fn write_location(options: &mut Object<'_>, place: &Raw<'_>) {
    let fields = read_fields(&mut place.reader()).unwrap_or_default();
    let mut location = options.object("user_location");
    location.put("type", "approximate");
    let mut approximate = location.object("approximate");
    for field in &fields {
        if field.key != "type" {
            field.value.write(approximate.foreign_key(&field.key));
        }
    }
}
