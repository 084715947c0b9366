//! What the forms of an English word have in common.

/// The stem of a lower-case word. Rough on purpose: it only has to map `reads`,
/// `reading` and `read`, or `directory` and `directories`, to the same text.
pub(super) fn stem(word: &str) -> String {
    let mut word = word.trim_end_matches("'s").to_owned();
    if matches!(word.as_str(), "news" | "status" | "address" | "this" | "is" | "was" | "has" | "as")
    {
        return word;
    }
    if word.len() > 5 {
        cut(&mut word, "ly");
    }
    if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.len() > 4
        && ["ches", "shes", "xes", "sses", "zes"].iter().any(|end| word.ends_with(end))
    {
        word.truncate(word.len() - 2);
    } else if word.len() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
    {
        word.truncate(word.len() - 1);
    }
    if word.len() > 5 && word.ends_with("ing") {
        word.truncate(word.len() - 3);
    } else if word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed") {
        word.truncate(word.len() - 2);
    }
    let mut last = word.chars().rev();
    if let (Some(a), Some(b)) = (last.next(), last.next())
        && a == b
        && a.is_ascii_alphabetic()
        && word.len() > 2
    {
        word.pop();
    }
    if word.len() > 2 {
        cut(&mut word, "e");
    }
    word
}

fn cut(word: &mut String, end: &str) {
    if word.ends_with(end) {
        word.truncate(word.len() - end.len());
    }
}

/// The words of a name: `createEvent`, `create_event` and `create-event` have
/// the same.
pub(super) fn name_words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && after_lower) {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase() || c.is_numeric();
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}
