//! The events that open a stream, before there is any content.
//!
//! An overloaded upstream may open a stream and then fail. While the opening is
//! held back, such a failure can still become a plain HTTP error, or the request
//! can go to another upstream.

/// Whether the bytes for a client are the opening of a stream and nothing else,
/// in any of the protocols.
pub(super) fn is_only_opening(out: &[u8]) -> bool {
    if out.len() > MAX_OPENING {
        return false;
    }
    let mut named = false;
    for line in out.split(|byte| *byte == b'\n') {
        if let Some(name) = line.strip_prefix(b"event:") {
            named = true;
            if !OPENING_EVENTS.contains(&name.trim_ascii()) {
                return false;
            }
        }
    }
    // Chat's events have no names. The first one holds the role.
    let mut events = out.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"data:"));
    named || (events.next().is_some_and(only_role) && events.next().is_none())
}

fn only_role(line: &[u8]) -> bool {
    let contains = |text: &[u8]| line.windows(text.len()).any(|window| window == text);
    contains(b"\"role\":\"assistant\"")
        && contains(b"\"finish_reason\":null")
        && (contains(b"\"content\":\"\"") || contains(b"\"content\":null"))
        && !contains(b"\"tool_calls\"")
        && !contains(b"\"reasoning")
}

const OPENING_EVENTS: [&[u8]; 5] =
    [b"response.created", b"response.in_progress", b"response.queued", b"message_start", b"ping"];

/// The most bytes that are held back.
const MAX_OPENING: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings() {
        for (text, only) in [
            (
                "event: response.created\ndata: {}\n\nevent: response.in_progress\ndata: {}\n\n",
                true,
            ),
            ("event: message_start\ndata: {}\n\nevent: ping\ndata: {}\n\n", true),
            ("event: message_start\ndata: {}\n\nevent: content_block_start\ndata: {}\n\n", false),
            ("event: response.output_item.added\ndata: {}\n\n", false),
            (
                "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
                true,
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"x\"},\"finish_reason\":null}]}\n\n",
                false,
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":null}]}\n\n",
                false,
            ),
            ("data: [DONE]\n\n", false),
        ] {
            assert_eq!(is_only_opening(text.as_bytes()), only, "{text}");
        }
    }
}
