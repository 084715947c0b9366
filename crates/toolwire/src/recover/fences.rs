//! Which code blocks may hold calls.

/// Whether models write calls into a code block with this word behind its fence.
pub(super) fn is_call_fence(info: &str) -> bool {
    let info = info.trim().to_ascii_lowercase();
    CALL_FENCES.contains(&info.as_str())
}

/// Code blocks that models write calls into.
const CALL_FENCES: [&str; 11] = [
    "", "json", "jsonc", "json5", "tool_code", "tool_call", "tool_calls", "tool", "function_call",
    "xml", "text",
];
