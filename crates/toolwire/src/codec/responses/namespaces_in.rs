//! Namespaces that are only the name of their tool.

use crate::model::{Call, Item, Request, Tool, ToolKind};
use crate::wire::Str;

/// Takes the namespace off calls of tools that were declared without one. The
/// API calls a deferred tool as the one tool of a namespace of its own name.
pub(super) fn drop_own_names(request: &mut Request<'_>) {
    let (turns, tools) = (&mut request.turns, &request.tools);
    let named = |item: &Item<'_>| own_name(item).is_some();
    if !turns.iter().flat_map(|turn| &turn.items).any(named) {
        return;
    }
    let inline = turns.iter().flat_map(|turn| &turn.items).flat_map(inline_tools);
    let spaces: Vec<String> = tools
        .iter()
        .chain(inline)
        .filter(|tool| matches!(tool.kind, ToolKind::Namespace { tools: _ }))
        .map(|tool| tool.name.decode().into_owned())
        .collect();
    for item in turns.iter_mut().flat_map(|turn| &mut turn.items) {
        if own_name(item).is_none_or(|name| spaces.iter().any(|space| *name == **space)) {
            continue;
        }
        if let Item::Call(call) = item {
            call.namespace = None;
        } else if let Item::Result(result) = item {
            result.namespace = None;
        }
    }
}

/// Does the same for a call of an answer. Its client knows no namespaces.
pub(super) fn drop_own_name(call: &mut Call<'_>) {
    if call.namespace.as_ref() == Some(&call.name) {
        call.namespace = None;
    }
}

/// The name of a tool that is its namespace too.
fn own_name<'i, 'a>(item: &'i Item<'a>) -> Option<&'i Str<'a>> {
    let (name, namespace) = if let Item::Call(call) = item {
        (Some(&call.name), call.namespace.as_ref())
    } else if let Item::Result(result) = item {
        (result.name.as_ref(), result.namespace.as_ref())
    } else {
        return None;
    };
    name.filter(|name| namespace == Some(name))
}

/// The tools that an item of the conversation declares.
fn inline_tools<'i, 'a>(item: &'i Item<'a>) -> &'i [Tool<'a>] {
    let declared = |item: &'i Item<'a>| {
        if let Item::Tools(tools) = item { Some(tools.as_slice()) } else { None }
    };
    let found = if let Item::Result(result) = item {
        result.content.iter().find_map(declared)
    } else {
        declared(item)
    };
    found.unwrap_or_default()
}
