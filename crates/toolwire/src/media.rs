//! Media between data URLs and media type beside base64.

pub(crate) mod blocks;

use crate::wire::Str;

/// Splits `data:image/png;base64,…` into media type and data. `None` if it is
/// no base64 data URL.
pub(crate) fn split_data_url<'a>(url: &Str<'a>) -> Option<(Str<'a>, Str<'a>)> {
    let (head, data) = url.split_once(";base64,")?;
    let head = head.into_decoded();
    let media = head.strip_prefix("data:")?.to_owned();
    Some((Str::plain(media).at(url.pos()), data))
}

/// Writes a data URL as a string literal.
pub(crate) fn write_data_url(media: &Str<'_>, data: &Str<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"data:");
    media.write_inside(out);
    out.extend_from_slice(b";base64,");
    data.write_inside(out);
    out.push(b'"');
}
