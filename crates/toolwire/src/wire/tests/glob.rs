use crate::wire::glob::matches;

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
