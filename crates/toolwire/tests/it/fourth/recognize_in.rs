//! What the documents and tool definitions of the protocol look like.

use toolwire::guess::{Certainty, Document, Fields};
use toolwire::registry::ToolForm;
use toolwire::wire::Kind;

pub(super) fn document(fields: &Fields<'_>) -> Option<(Document, Certainty)> {
    let document = if fields.is("reply", Kind::Array) {
        Document::Response
    } else if fields.is("fault", Kind::Object) {
        Document::Error
    } else if fields.is("dialogue", Kind::Array) {
        Document::Request
    } else {
        return None;
    };
    Some((document, Certainty::Certain))
}

pub(super) fn event(kind: &str) -> bool {
    kind == "opened"
}

pub(super) fn tool(fields: &Fields<'_>) -> Option<(ToolForm, Certainty)> {
    fields.get("tool").map(|_name| (ToolForm::Callable, Certainty::Certain))
}
