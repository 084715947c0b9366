//! Hosted tools of other vendors, as the API's own tools of the same class.

use super::content_out::write_cache;
use crate::codec::context::EncodeContext;
use crate::ledger::{Code, Ledger};
use crate::model::{HostedClass, Tool, ToolKind};
use crate::wire::{Array, Kind, Object, Raw, read_fields};

/// Writes the hosted tool of the API that has the same class as another vendor's.
pub(super) fn write_hosted_tool(
    tool: &Tool<'_>,
    class: HostedClass,
    list: &mut Array<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Some((kind, name)) = hosted_type(class) else {
        cx.ledger.dropped(tool.at, Code::HostedTool(class));
        return;
    };
    let Tool {
        at,
        name: _,
        description,
        kind: declared,
        strict: _,
        defer: _,
        callers: _,
        examples: _,
        output_schema: _,
        deferred_result: _,
        eager: _,
        cache,
        extra,
    } = tool;
    let note = cx.ledger.emulated(*at, Code::HostedTool(class));
    note.detail(HOSTED_SUBSTITUTE);
    if let Some(description) = description {
        cx.ledger.dropped(description.pos(), Code::Only("description".to_owned())).info();
    }
    if let ToolKind::Hosted(hosted) = declared
        && hosted.kind_text.decode().ends_with(|last: char| last.is_ascii_digit())
    {
        let note = cx.ledger.degraded(hosted.kind_text.pos(), Code::WebSearchOption);
        note.detail("The date names a version of its vendor's tool.").info();
    }
    let mut object = list.object();
    object.put("type", kind);
    object.put("name", name);
    for field in extra.iter().filter(|field| field.value.kind() != Kind::Null) {
        match (class, field.key.decode().as_ref()) {
            (HostedClass::WebSearch, "filters") => {
                write_filters(&field.value, &mut object, cx.ledger);
            }
            (HostedClass::WebSearch, "user_location") => {
                write_user_location(&field.value, &mut object, cx.ledger);
            }
            (HostedClass::WebSearch, _other) => {
                cx.ledger.dropped(field.value.pos(), Code::WebSearchOption);
            }
            // The vendor runs its search in either protocol.
            (HostedClass::ToolSearch, "execution") => {}
            (_class, _other) => cx.ledger.only(std::slice::from_ref(field)),
        }
    }
    write_cache(cache.as_ref(), &mut object, cx);
}

/// The type and the name of the hosted tool that replaces another vendor's of
/// that class, in the version that every deployment knows.
fn hosted_type(class: HostedClass) -> Option<(&'static str, &'static str)> {
    match class {
        HostedClass::WebSearch => Some(("web_search_20250305", "web_search")),
        HostedClass::ToolSearch => {
            Some(("tool_search_tool_bm25_20251119", "tool_search_tool_bm25"))
        }
        HostedClass::WebFetch
        | HostedClass::Code
        | HostedClass::FileSearch
        | HostedClass::ImageGeneration
        | HostedClass::Mcp
        | HostedClass::Computer
        | HostedClass::Advisor
        | HostedClass::Other => None,
    }
}

/// The name of the hosted tool that replaces another vendor's of that class.
pub(super) fn hosted_name(class: HostedClass) -> Option<&'static str> {
    hosted_type(class).map(|(_, name)| name)
}

fn write_filters(filters: &Raw<'_>, object: &mut Object<'_>, ledger: &mut Ledger) {
    let Ok(fields) = read_fields(&mut filters.reader()) else {
        ledger.dropped(filters.pos(), Code::WebSearchOption);
        return;
    };
    for field in &fields {
        match field.key.decode().as_ref() {
            // The API refuses both lists at once, so only the first is sent.
            "allowed_domains" if field.value.kind() == Kind::Array => {
                if !field.value.is_empty() {
                    object.put("allowed_domains", &field.value);
                }
            }
            "allowed_domains" if field.value.kind() == Kind::Null => {}
            _other => {
                ledger.dropped(field.value.pos(), Code::WebSearchOption);
            }
        }
    }
}

/// Writes a location. Its members may stand one level deeper, in `approximate`.
fn write_user_location(location: &Raw<'_>, object: &mut Object<'_>, ledger: &mut Ledger) {
    let Ok(fields) = read_fields(&mut location.reader()) else {
        ledger.dropped(location.pos(), Code::WebSearchOption);
        return;
    };
    let inner = fields.iter().find(|field| field.key == *"approximate");
    let mut target = object.object("user_location");
    target.put("type", "approximate");
    let nested = inner.map(|field| read_fields(&mut field.value.reader()));
    let members = match &nested {
        Some(Ok(members)) => members,
        Some(Err(_)) | None => &fields,
    };
    for field in members {
        match field.key.decode().as_ref() {
            "type" => {}
            "city" | "country" | "region" | "timezone" => {
                if field.value.kind() != Kind::Null {
                    target.extra(std::slice::from_ref(field));
                }
            }
            _other => {
                ledger.dropped(field.value.pos(), Code::WebSearchOption);
            }
        }
    }
}

pub(super) const HOSTED_SUBSTITUTE: &str = "The target's own tool of the same kind stands for it.";
