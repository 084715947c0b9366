//! The headers of the Harmony format, and of Muse, which borrows from it.

use super::scan::Found;
use super::text::{beginning, from, may_become, upto};
use super::tools::Tools;

/// A header of the Harmony format: who speaks on which channel, to whom.
pub(super) fn channel(text: &str, end: bool, tools: &Tools) -> Option<Found> {
    let Some(stop) = beginning(text, LONGEST_HEADER).find(MESSAGE) else {
        return (!end && text.len() < LONGEST_HEADER).then_some(Found::More);
    };
    let header = upto(text, stop);
    let skip = stop + MESSAGE.len();
    let recipient =
        header.split("to=").nth(1).map(|rest| rest.split([' ', '<']).next().unwrap_or_default());
    match recipient {
        Some("self") => return Some(Found::Reasoning { skip, close: "<|eom|>" }),
        Some("user" | "all") => return Some(Found::Frame { skip }),
        Some(name) if tools.find(name).is_some() => {
            let name = name.to_owned();
            // Muse names the tool again, in tags.
            let near = beginning(text, LONGEST_HEADER + LONGEST_GAP);
            return Some(match from(near, skip).trim_start().bytes().next() {
                None if !end && text.len() < LONGEST_HEADER + LONGEST_GAP => Found::More,
                Some(b'<') => Found::Frame { skip },
                Some(_) | None => Found::Call { skip, name, dialect: "harmony", is_quoted: false },
            });
        }
        Some(_) => return None,
        None => {}
    }
    if header.contains("analysis") {
        return Some(Found::Reasoning { skip, close: "<|end|>" });
    }
    Some(Found::Frame { skip })
}

/// Whether an answer begins with the rest of a header whose first words are in
/// the prompt: `to=NAME<|message|>`. `None` if more text is needed to tell.
pub(super) fn is_rest_of_header(text: &str, end: bool) -> Option<bool> {
    let Some(recipient) = text.strip_prefix(TO) else {
        return if !end && may_become(text, TO) { None } else { Some(false) };
    };
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name = recipient.trim_start_matches(is_name);
    let after = name.trim_start_matches(' ');
    if recipient.len() - name.len() > LONGEST_NAME {
        return Some(false);
    }
    let marks = [MESSAGE, "<|channel|>", "<|constrain|>"];
    if marks.iter().any(|mark| after.starts_with(mark)) {
        return Some(true);
    }
    let more = !end && (after.is_empty() || marks.iter().any(|mark| may_become(after, mark)));
    if more { None } else { Some(false) }
}

const TO: &str = "to=";
const MESSAGE: &str = "<|message|>";
const LONGEST_HEADER: usize = 256;
/// How much white space may be between a header and its message.
const LONGEST_GAP: usize = 32;
const LONGEST_NAME: usize = 64;
