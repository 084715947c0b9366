//! Whether a sentence says that what follows is an example.

/// Whether the text before a block says that an example follows.
pub(super) fn introduces_example(recent: &str) -> bool {
    let line = recent.trim_end().rsplit('\n').next().unwrap_or_default().to_lowercase();
    let line = line.replace('’', "'");
    if !line.trim_end_matches(['*', '_']).ends_with([':', '.', ',', '(']) {
        return false;
    }
    let sentence = line.trim_end_matches([':', '.', ',', '(', ' ', '*', '_']);
    let sentence = sentence.rsplit(['.', '!', '?']).next().unwrap_or_default();
    if ["i'll", "i will", "let me", "i'm going to", "i am going to", "now i"]
        .iter()
        .any(|own| sentence.contains(own))
    {
        return false;
    }
    let quotes = line.trim_end_matches(['*', '_', ' ']).ends_with(':')
        && QUOTING.iter().any(|word| sentence.contains(word));
    let word = |word: &str| word.trim_matches(|c: char| !c.is_alphabetic()).to_owned();
    let mut words = sentence.split_whitespace();
    let is_heading = [words.next(), words.next_back()]
        .into_iter()
        .flatten()
        .any(|edge| matches!(word(edge).as_str(), "example" | "examples"));
    quotes || is_heading || EXAMPLES.iter().any(|word| sentence.contains(word)) || ends_eg(&line)
}

fn ends_eg(line: &str) -> bool {
    let line = line.trim_end_matches([',', ':', ' ', '(']);
    line.ends_with("e.g.") || line.ends_with("e.g") || line.ends_with("i.e.")
}

/// Words of a sentence that introduces an example.
const EXAMPLES: [&str; 18] = [
    "for example", "an example", "example of", "for instance", "look like", "looks like",
    "such as", "syntax", "you would", "you could", "you can", "would write", "declared as",
    "defined as", "the format is", "sample", "should start like", "models emit",
];

/// Words of a sentence that introduces what somebody else has said.
const QUOTING: [&str; 11] = [
    "returned", "tool result", "tool output", " says", " said", " wrote", "file contains",
    "page contains", "document contains", "printed", "replied",
];
