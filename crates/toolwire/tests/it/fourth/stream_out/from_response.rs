//! A whole answer as the stream it would have been, every piece as it came.

use toolwire::wire::sse::write_event;
use toolwire::wire::{Object, Raw, ReadError};

/// Writes the stream. An answer that does not say why it stopped has no end.
pub(in super::super) fn write(body: &str) -> Result<Vec<u8>, ReadError> {
    // An event is one line.
    let body = body.replace(['\n', '\r'], " ");
    let answer = Raw::parse(&body)?;
    let keys = ["ref", "by", "when", "reply", "because", "detail", "spent"];
    let [id, model, when, reply, because, detail, spent] = answer.reader().pick(keys)?;
    let mut out = Vec::with_capacity(2 * body.len());
    event(&mut out, "opened", |event| {
        event.maybe("ref", id.as_ref());
        event.maybe("by", model.as_ref());
        event.maybe("when", when.as_ref());
    });
    for piece in reply.as_ref().map_or(Ok(Vec::new()), Raw::elements)? {
        event(&mut out, "began", |event| event.put("piece", &piece));
    }
    if let Some(spent) = spent {
        write_event(Some("spent"), &mut out, |out| out.extend_from_slice(spent.text().as_bytes()));
    }
    let Some(because) = because else { return Ok(out) };
    event(&mut out, "because", |event| {
        event.put("because", &because);
        event.maybe("detail", detail.as_ref());
    });
    event(&mut out, "closed", |_event| {});
    Ok(out)
}

fn event(out: &mut Vec<u8>, name: &str, members: impl FnOnce(&mut Object<'_>)) {
    write_event(Some(name), out, |out| members(&mut Object::new(out)));
}
