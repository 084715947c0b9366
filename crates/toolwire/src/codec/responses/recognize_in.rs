//! What the documents and tool definitions of Responses look like.

use crate::guess::{Certainty, DocumentKind, Fields};
use crate::registry::ToolForm;
use crate::wire::Kind;

/// An error body looks like Chat's and is left to it.
pub(super) fn document(fields: &Fields<'_>) -> Option<(DocumentKind, Certainty)> {
    if fields.text("object").as_deref() == Some("response") || fields.is("output", Kind::Array) {
        return Some((DocumentKind::Response, Certainty::Certain));
    }
    // A request that also has `messages` belongs to another protocol.
    let is_request = fields.count(MEMBERS) > 0 || fields.is("prompt", Kind::Object);
    is_request.then_some((DocumentKind::Request, Certainty::Possible))
}

pub(super) fn event(kind: &str, _data: &str) -> bool {
    kind.starts_with("response.")
}

pub(super) fn tool(fields: &Fields<'_>) -> Option<(ToolForm, Certainty)> {
    let form = match fields.text("type")?.as_ref() {
        "function" | "custom" => ToolForm::Callable,
        "namespace" => ToolForm::Namespace("tools"),
        "local_shell" => ToolForm::Fixed(Some("local_shell")),
        "shell" => ToolForm::Fixed(Some("shell")),
        "apply_patch" => ToolForm::Fixed(Some("apply_patch")),
        _other => ToolForm::Fixed(None),
    };
    let foreign = ["function", "custom", "input_schema"];
    let is_own = !foreign.iter().any(|name| fields.get(name).is_some());
    // Any vendor may have flat kinds of its own. vectors/tools/chat-unknown
    let is_certain = form == ToolForm::Callable && is_own;
    Some((form, if is_certain { Certainty::Certain } else { Certainty::Likely(0) }))
}

/// Members that only this protocol has in a request.
const MEMBERS: &[&str] = &["conversation", "input", "instructions", "previous_response_id"];
