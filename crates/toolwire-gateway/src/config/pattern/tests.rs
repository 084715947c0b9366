use super::*;
use crate::growth;

/// All texts of up to four of these characters.
fn texts(characters: &str) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut longest = texts.clone();
    for _ in 0..4 {
        longest = longest
            .iter()
            .flat_map(|text| characters.chars().map(move |char| format!("{text}{char}")))
            .collect();
        texts.extend_from_slice(&longest);
    }
    texts
}

/// The index finds what comparing with each pattern finds.
#[test]
fn the_index_decides_as_the_patterns_do() {
    let names = texts("aä");
    for pattern in texts("aä*") {
        let upstream = growth::upstream("u", toolwire::Protocol::Chat, &["other-*", &pattern]);
        for name in &names {
            let expected = glob::matches(&pattern, name);
            assert_eq!(upstream.serves(name), expected, "{pattern:?} {name:?}");
        }
    }
}
