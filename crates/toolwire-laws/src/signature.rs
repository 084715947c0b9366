//! Rust as text, as far as the growth tests read it.

/// A function from its name to the end of its arguments, without lifetimes. What
/// it returns is not part of it. `None` if it does not look like a function.
pub fn arguments(function: &str) -> Option<String> {
    let (mut generics, mut parentheses) = (0_usize, 0_usize);
    let mut before = ' ';
    let end = function.char_indices().find_map(|(at, c)| {
        match c {
            '<' if parentheses == 0 => generics += 1,
            // The arrow of a closure closes nothing.
            '>' if parentheses == 0 && before != '-' => generics = generics.saturating_sub(1),
            '(' if generics == 0 => parentheses += 1,
            ')' if generics == 0 => parentheses = parentheses.saturating_sub(1),
            _other => {}
        }
        before = c;
        (c == ')' && generics == 0 && parentheses == 0).then_some(at + 1)
    })?;
    Some(without_lifetimes(function.get(..end)?))
}

/// `&'a str` is `&str`. A `&'static str` is the program's own.
fn without_lifetimes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split("&'");
    out.extend(parts.next());
    for part in parts {
        let (lifetime, rest) = part.split_once(' ').unwrap_or((part, ""));
        out.push_str(if lifetime == "static" { "&'static " } else { "&" });
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::arguments;

    #[test]
    fn arguments_end_where_the_function_begins_to_return() {
        let cases = [
            ("f(a: u8) -> &str {", "f(a: u8)"),
            ("f<'a>(a: &'a str, b: &'static str)", "f<'a>(a: &str, b: &'static str)"),
            ("f(a: impl Fn(u8) -> u8, b: &[u8]);", "f(a: impl Fn(u8) -> u8, b: &[u8])"),
            ("f<T: Fn(u8) -> u8>(a: T) -> (u8, u8)", "f<T: Fn(u8) -> u8>(a: T)"),
            ("f(\n    a: (u8, u8),\n) -> u8", "f(\n    a: (u8, u8),\n)"),
        ];
        for (function, expected) in cases {
            assert_eq!(arguments(function).as_deref(), Some(expected));
        }
        assert_eq!(arguments("f is a word of a comment"), None);
    }
}
