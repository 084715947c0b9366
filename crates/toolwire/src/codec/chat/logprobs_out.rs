//! Log probabilities: writing them.

use crate::wire::{Array, Extra, Kind, Object, Raw, Read, Str, Write, read_fields};

/// What the tokens belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogprobsOf {
    Content,
    Refusal,
}

/// Writes the lists of one answer or chunk as the members of `logprobs`. The
/// published type has both members, one of them null.
pub(super) fn write(mut object: Object<'_>, of: LogprobsOf, lists: &[&Raw<'_>]) {
    for (key, own) in [("content", LogprobsOf::Content), ("refusal", LogprobsOf::Refusal)] {
        if own == of {
            let mut array = object.array(key);
            for list in lists {
                write_tokens(list, &mut array);
            }
        } else {
            object.put(key, &());
        }
    }
}

/// Writes tokens. Each has its `bytes`, also if the upstream left them out, as
/// Responses does in its streams. vectors/streams/responses-logprobs-without-bytes
fn write_tokens(list: &Raw<'_>, array: &mut Array<'_>) {
    for token in list.elements().unwrap_or_default() {
        let fields = match read_fields(&mut token.reader()) {
            Ok(fields) if token.kind() == Kind::Object => fields,
            Ok(_) | Err(_) => {
                write_on_one_line(&token, array.item());
                continue;
            }
        };
        let mut object = array.object();
        let mut has_bytes = false;
        for field in &fields {
            has_bytes |= field.key == "bytes";
            if field.key == "top_logprobs" && field.value.kind() == Kind::Array {
                write_tokens(&field.value, &mut object.array("top_logprobs"));
            } else {
                write_on_one_line(&field.value, object.foreign_key(&field.key));
            }
        }
        if !has_bytes {
            write_bytes(&fields, &mut object);
        }
    }
}

/// Writes the bytes of a token, which are those of its text unless the token is
/// part of a character.
fn write_bytes(fields: &[Extra<'_>], object: &mut Object<'_>) {
    let token = fields.iter().find(|field| field.key == "token");
    let text = token.and_then(|field| Str::read(&mut field.value.reader()).ok());
    match text.as_ref().map(Str::decode) {
        Some(text) if !text.contains(PART_OF_A_CHARACTER) => {
            let mut array = object.array("bytes");
            for byte in text.bytes() {
                array.push(&u64::from(byte));
            }
        }
        Some(_) | None => object.put("bytes", &()),
    }
}

/// Writes a value of the upstream on one line, because a line end between two
/// tokens would end the data of the event.
fn write_on_one_line(raw: &Raw<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    raw.write(out);
    for byte in out.iter_mut().skip(start) {
        if let b'\n' | b'\r' = byte {
            *byte = b' ';
        }
    }
}

/// How OpenAI shows bytes that are no text: as `\\xe2`, or as the replacement
/// character.
const PART_OF_A_CHARACTER: [char; 2] = ['\\', '\u{fffd}'];
