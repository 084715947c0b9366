//! Errors: from the model to the protocol.

use toolwire::model::ApiError;
use toolwire::wire::Object;

use super::error_in::KINDS;

/// Writes an error body and says which HTTP status belongs to it.
pub(super) fn encode(error: &ApiError, out: &mut Vec<u8>) -> u16 {
    // Outside the library, more members may come.
    let ApiError { kind, message, status, code, param, request_id, .. } = error;
    let known = KINDS.iter().find(|(_, of, _)| of == kind);
    let (word, usual) = known.map_or(("broken", 500), |(word, _, status)| (*word, *status));
    let mut body = Object::new(out);
    let mut fault = body.object("fault");
    fault.put("kind", word);
    fault.put("words", message);
    fault.maybe("code", code.as_ref());
    fault.maybe("field", param.as_ref());
    drop(fault);
    body.maybe("ref", request_id.as_ref());
    status.filter(|status| *status >= 400).unwrap_or(usual)
}
