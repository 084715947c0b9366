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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        for (pattern, text, expected) in [
            ("n", "n", true),
            ("n", "name", false),
            ("a", "a", true),
            ("a", "aa", false),
            ("*", "", true),
            ("*", "x", true),
            ("a*", "a", true),
            ("a*", "ba", false),
            ("*a", "ba", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("a*bc", "abcbc", true),
            ("a*b*c", "abbc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "ac", false),
            ("a*b*c", "a-c-b", false),
            ("a**c", "abc", true),
            ("stop*", "stop", true),
            ("stop*", "stop[]", true),
            ("*.strict", "tools[type=function].function.strict", true),
            ("*.strict", "strict", false),
            ("tools[type=*]", "tools[type=custom]", true),
            ("tools[type=*]", "tools[type=custom].name", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
