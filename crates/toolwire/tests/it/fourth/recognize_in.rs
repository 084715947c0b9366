//! What the documents and tool definitions of the protocol look like.

use toolwire::guess::{Certainty, DocumentKind, Fields};
use toolwire::registry::ToolForm;
use toolwire::wire::Kind;

pub(super) fn document(fields: &Fields<'_>) -> Option<(DocumentKind, Certainty)> {
    let document = if fields.is("reply", Kind::Array) {
        DocumentKind::Response
    } else if fields.is("fault", Kind::Object) {
        DocumentKind::Error
    } else if fields.is("dialogue", Kind::Array) {
        DocumentKind::Request
    } else {
        return None;
    };
    Some((document, Certainty::Certain))
}

pub(super) fn event(kind: &str, _data: &str) -> bool {
    kind == "opened"
}

pub(super) fn tool(fields: &Fields<'_>) -> Option<(ToolForm, Certainty)> {
    fields.get("tool").map(|_name| (ToolForm::Callable, Certainty::Certain))
}
