//! The headers of the Harmony format.

use super::scan::Found;
use super::text::{beginning, upto};
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
    if let Some(name) = recipient {
        if tools.find(name).is_some() {
            let name = name.to_owned();
            return Some(Found::Call { skip, name, dialect: "harmony", is_quoted: false });
        }
        return None;
    }
    if header.contains("analysis") {
        return Some(Found::Reasoning { skip, close: "<|end|>" });
    }
    Some(Found::Frame { skip })
}

const MESSAGE: &str = "<|message|>";
const LONGEST_HEADER: usize = 256;
