//! The settings of a request: from the protocol into the model.

use toolwire::model::{Effort, Format, JsonSchema, Request};
use toolwire::wire::{At, Kind, Raw, Read, ReadError, Reader};

use super::wire::{Body, Limits, List, Shape};
use super::{FOURTH, choice_in, tools_in, turns_in};

/// Reads a request. The model and whether to stream are in its URL.
pub(super) fn decode(mut reader: Reader<'_>) -> Result<Request<'_>, ReadError> {
    let Body {
        at: _,
        charter,
        dialogue,
        instruments,
        must,
        only,
        alone,
        limits,
        heat,
        nucleus,
        shape,
        ponder,
        asker,
        extra,
    } = Body::read(&mut reader)?;
    reader.finish()?;
    let mut request = Request::new(FOURTH);
    if let Some(charter) = charter {
        request.turns.push(turns_in::charter(charter)?);
    }
    for entry in dialogue.into_iter().flatten() {
        request.turns.push(turns_in::decode(entry)?);
    }
    if let Some(List { at, items }) = instruments {
        request.tools_at = at;
        request.tools = items.into_iter().map(tools_in::decode).collect::<Result<_, _>>()?;
    }
    request.choice = choice_in::decode(must, only, alone)?;
    request.extra = extra;
    if let Some(Limits { at: _, tokens, stops, extra }) = limits {
        request.output.max_tokens = tokens;
        if let Some(List { at, items }) = stops {
            request.output.stop_at = at;
            request.output.stop = items;
        }
        request.extra.extend(extra);
    }
    if let Some(shape) = shape {
        request.output.format = Some(At::new(shape.pos(), decode_shape(shape)?));
    }
    request.thinking.effort = ponder.map(|level| At::new(level.pos(), Effort::parse(level)));
    request.sampling.temperature = heat;
    request.sampling.top_p = nucleus;
    request.identity.end_user = asker;
    Ok(request)
}

fn decode_shape(raw: Raw<'_>) -> Result<Format<'_>, ReadError> {
    if raw.kind() == Kind::Object
        && let Some(mut reader) = raw.source_reader()
    {
        let Shape { at: _, name, about, schema, exact, extra } = Shape::read(&mut reader)?;
        let schema = JsonSchema { name, description: about, schema, strict: exact, extra };
        return Ok(Format::JsonSchema(schema));
    }
    Ok(match raw.text() {
        "\"text\"" => Format::Text,
        "\"json\"" => Format::JsonObject,
        _other => Format::Other(raw),
    })
}
