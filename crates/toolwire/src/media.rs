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

/// The name of a file with the ending of its media type, if the name has none of its
/// own and that of the type is known. A title is no file name, and OpenAI judges a
/// file by its ending.
pub(crate) fn name_with_ending(name: &Str<'_>, media: &Str<'_>) -> Option<String> {
    let name = name.decode();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let is_ending = |ending: &str| {
        ending.len() <= LONGEST_ENDING
            && ending.starts_with(|first: char| first.is_ascii_alphabetic())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if name.is_empty() || ending.is_some_and(is_ending) {
        return None;
    }
    Some(format!("{name}.{}", ending_of(&media.decode())?))
}

/// The ending of the names of files of a type.
fn ending_of(media: &str) -> Option<&'static str> {
    match media {
        "application/pdf" => Some("pdf"),
        "application/json" => Some("json"),
        "text/plain" => Some("txt"),
        "text/markdown" => Some("md"),
        "text/html" => Some("html"),
        "text/csv" => Some("csv"),
        _other => None,
    }
}

/// Longer than `markdown`, and shorter than most words behind a dot.
const LONGEST_ENDING: usize = 8;

#[cfg(test)]
mod tests;
