//! Names of files, where OpenAI's protocols write a request.

use crate::codec::context::EncodeContext;
use crate::ledger::Code;
use crate::media;
use crate::wire::{Object, Str};

/// Writes the name of a file whose bytes stand beside it, with an ending that says
/// what they are.
pub(crate) fn write_file_name(
    name: &Str<'_>,
    media: &Str<'_>,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    match media::name_with_ending(name, media) {
        Some(whole) => {
            object.put("filename", &whole);
            let note = cx.ledger.emulated(name.pos(), Code::MediaType);
            note.detail("The target judges a file by the ending of its name, so the name got one.");
        }
        None => object.put("filename", name),
    }
}
