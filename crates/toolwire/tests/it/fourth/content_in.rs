//! What somebody says, piece by piece: from the protocol into the model.

use toolwire::model::{Arguments, Call, Image, Item, Opaque, Refusal, Source, Text};
use toolwire::wire::{Extra, Kind, Pos, Raw, Read, ReadError, Str};

use super::reasoning_in;
use super::wire::{Do, Piece, See};

/// Reads a string or a list of pieces.
pub(super) fn decode(says: Raw<'_>) -> Result<Vec<Item<'_>>, ReadError> {
    let Some(mut reader) = says.source_reader() else { return Ok(vec![opaque(says)]) };
    match says.kind() {
        Kind::String => Ok(vec![Item::Text(Text::new(reader.string()?))]),
        Kind::Array => Vec::<Raw<'_>>::read(&mut reader)?.into_iter().map(decode_piece).collect(),
        Kind::Object | Kind::Number | Kind::Bool | Kind::Null | Kind::End | Kind::Invalid => {
            Ok(vec![opaque(says)])
        }
    }
}

/// Reads one piece. One of a kind that toolwire does not know is kept as it is.
pub(super) fn decode_piece(raw: Raw<'_>) -> Result<Item<'_>, ReadError> {
    let Some(mut reader) = raw.source_reader().filter(|_| raw.kind() == Kind::Object) else {
        return Ok(opaque(raw));
    };
    let Piece { at, say, see, decline, think, gist, seal, action, extra } =
        Piece::read(&mut reader)?;
    let thinks = think.is_some() || gist.is_some() || seal.is_some();
    let mut found = Vec::new();
    if thinks {
        let reasoning = reasoning_in::decode(at, think, gist, seal, extra.clone());
        found.push(Item::Reasoning(reasoning));
    }
    found.extend(say.map(|text| said(at, text, extra.clone())));
    found.extend(decline.map(|text| Item::Refusal(Refusal { at, text, extra: extra.clone() })));
    if let Some(see) = see {
        found.extend(image(at, see, extra.clone()).map(Item::Image));
    }
    if let Some(action) = action {
        found.push(Item::Call(call(at, action, extra)?));
    }
    let known = found.len() == 1;
    Ok(found.pop().filter(|_| known).unwrap_or(opaque(raw)))
}

fn said<'a>(at: Pos, text: Str<'a>, extra: Vec<Extra<'a>>) -> Item<'a> {
    Item::Text(Text { at, text, citations: None, logprobs: None, cache: None, extra })
}

fn image<'a>(at: Pos, see: See<'a>, mut extra: Vec<Extra<'a>>) -> Option<Image<'a>> {
    let See { at: _, url, kind, data, extra: more } = see;
    extra.extend(more);
    let source = match (url, kind, data) {
        (Some(url), None, None) => Source::Url(url),
        (None, Some(media), Some(data)) => Source::Base64 { media, data },
        (_, _, _) => return None,
    };
    Some(Image { at, source, detail: None, cache: None, extra })
}

/// Reads a call.
pub(super) fn call<'a>(
    at: Pos,
    action: Do<'a>,
    mut extra: Vec<Extra<'a>>,
) -> Result<Call<'a>, ReadError> {
    let Do { at: inside, reference, tool, with, write, extra: more } = action;
    extra.extend(more);
    let arguments = match (with, write) {
        (with, Some(text)) => {
            extra.extend(with.map(|value| Extra { key: Str::plain("with"), value }));
            Arguments::Freeform(text)
        }
        (Some(raw), None) => arguments(raw)?,
        (None, None) => Arguments::Text(Str::plain("")),
    };
    Ok(Call {
        at,
        id: reference,
        name: tool.ok_or_else(|| ReadError::missing(inside, "tool"))?,
        namespace: None,
        arguments,
        caller: None,
        cache: None,
        extra,
    })
}

/// A string holds arguments that are no object.
fn arguments(raw: Raw<'_>) -> Result<Arguments<'_>, ReadError> {
    match raw.source_reader().filter(|_| raw.kind() == Kind::String) {
        Some(mut reader) => Ok(Arguments::Text(reader.string()?)),
        None => Ok(Arguments::Json(raw)),
    }
}

fn opaque(raw: Raw<'_>) -> Item<'_> {
    Item::Opaque(Opaque { kind: None, raw })
}
