//! What is left of a call that cannot be read, up to the next marker.

use super::Step;
use super::markers::{Tag, tag};
use super::text::{beginning, from};

/// Skips the rest of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct BrokenItem;

impl BrokenItem {
    /// Without a marker in reach, the call has no rest and what follows is text.
    pub(super) fn step(self, text: &str, end: bool) -> (usize, Step) {
        let near = beginning(text, FARTHEST);
        let is_all = end || near.len() < text.len() || near.len() == FARTHEST;
        for at in memchr::memchr3_iter(b'<', b'[', b']', near.as_bytes()) {
            match tag(from(near, at), is_all) {
                Tag::Marker(_) | Tag::Edge(_) | Tag::Call => return (at, Step::Done),
                Tag::More => return (0, Step::More),
                Tag::Think(..) | Tag::Channel | Tag::Frame(_) | Tag::Other => {}
            }
        }
        (0, if is_all { Step::Done } else { Step::More })
    }
}

/// How much of a broken call is skipped.
const FARTHEST: usize = 512;
