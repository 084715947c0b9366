//! Patterns with `*`.

/// Whether `pattern` matches the whole of `text`. `*` matches any run of
/// characters, including none; every other character matches itself.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    // Each piece can be matched at its first place, because the next `*` accepts
    // whatever is left. Only the last piece must be at the end.
    let mut pieces = rest.split('*');
    let last = pieces.next_back().unwrap_or_default();
    for piece in pieces {
        let Some((_, after)) = text.split_once(piece) else { return false };
        text = after;
    }
    text.ends_with(last)
}
