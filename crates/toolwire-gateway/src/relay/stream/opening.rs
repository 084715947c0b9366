//! The events that a stream opens with, before it says anything.
//!
//! Overloaded upstreams open a stream and then fail. As long as the client has
//! not got the opening, such a failure is a plain HTTP error, and another
//! upstream can be asked.

/// Whether bytes for a client are an opening and nothing else, in any of the
/// protocols.
pub(super) fn is_only(out: &[u8]) -> bool {
    if out.len() > LIMIT {
        return false;
    }
    let mut named = false;
    for line in out.split(|byte| *byte == b'\n') {
        if let Some(name) = line.strip_prefix(b"event:") {
            named = true;
            if !NAMES.contains(&name.trim_ascii()) {
                return false;
            }
        }
    }
    // Chat's events have no names. Its first says who speaks.
    let mut events = out.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"data:"));
    named || (events.next().is_some_and(only_role) && events.next().is_none())
}

fn only_role(line: &[u8]) -> bool {
    let says = |text: &[u8]| line.windows(text.len()).any(|window| window == text);
    says(b"\"role\":\"assistant\"")
        && says(b"\"finish_reason\":null")
        && (says(b"\"content\":\"\"") || says(b"\"content\":null"))
        && !says(b"\"tool_calls\"")
        && !says(b"\"reasoning")
}

const NAMES: [&[u8]; 5] =
    [b"response.created", b"response.in_progress", b"response.queued", b"message_start", b"ping"];

/// What is held back at most.
const LIMIT: usize = 1024 * 1024;

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
            assert_eq!(is_only(text.as_bytes()), only, "{text}");
        }
    }
}
