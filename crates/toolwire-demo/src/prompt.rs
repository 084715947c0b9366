//! What a user's prompt offers for the arguments of a tool.

/// A prompt, and what was found in it.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    /// The text itself.
    pub(crate) text: String,
    /// The names and other things that it mentions, in order.
    pub(crate) mentions: Vec<Mention>,
    /// The numbers, as the user spelled them.
    pub(crate) numbers: Vec<String>,
}

/// Something that a prompt mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    /// The preposition in front of it, such as `in` or `from`.
    pub(crate) preposition: Option<String>,
    pub(crate) name: String,
    /// Whether it continues a list: the London of "Paris and London".
    pub(crate) in_list: bool,
}

impl Prompt {
    pub(crate) fn parse(text: &str) -> Self {
        let words = words(text);
        Self {
            text: text.trim().to_owned(),
            mentions: mentions(&words),
            numbers: words.iter().filter_map(|word| number(&word.text)).collect(),
        }
    }

    /// The prompt without a mention that has been used.
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut rest = self.clone();
        rest.mentions.retain(|mention| mention.name != name);
        rest
    }

    /// The first word that fits, as the user spelled it.
    pub(crate) fn find_word(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        self.text
            .split_whitespace()
            .map(trim_punctuation)
            .find(|word| fits(word))
            .map(str::to_owned)
    }

    /// The stems of its words.
    pub(crate) fn stems(&self) -> Vec<String> {
        stems(&self.text)
    }
}

/// The words of a text or of a name in lower case and without their endings, so
/// that `get_weather` matches "What is the weather?".
pub(crate) fn stems(text: &str) -> Vec<String> {
    let mut stems = Vec::new();
    let mut word = String::new();
    let mut last = ' ';
    for c in text.chars() {
        let ends_word = !c.is_alphanumeric() || (c.is_uppercase() && last.is_lowercase());
        if ends_word && !word.is_empty() {
            stems.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        last = c;
    }
    stems.push(word);
    stems.retain(|word| word.chars().count() > 2 && !STOP_WORDS.contains(&word.as_str()));
    for word in &mut stems {
        for ending in ["ing", "ed", "es", "s"] {
            if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 3) {
                *word = stem.to_owned();
                break;
            }
        }
    }
    stems
}

/// A word, or a quoted phrase.
struct Word {
    text: String,
    is_quoted: bool,
    before_comma: bool,
    starts_sentence: bool,
}

impl Word {
    fn is_any_of(&self, words: &[&str]) -> bool {
        words.contains(&self.text.to_lowercase().as_str())
    }
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut starts_sentence = true;
    let mut rest = text.trim_start();
    while let Some(start) = rest.chars().next() {
        let quote = QUOTES.iter().find(|(open, _)| *open == start);
        let inside = rest.get(start.len_utf8()..).unwrap_or_default();
        let quoted = quote.and_then(|(_, close)| inside.split_once(*close));
        if let Some((phrase, after)) = quoted.filter(|(phrase, _)| !phrase.trim().is_empty()) {
            words.push(Word {
                text: phrase.to_owned(),
                is_quoted: true,
                before_comma: false,
                starts_sentence: false,
            });
            rest = after;
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (spelled, after) = rest.split_at(end);
            let text = trim_punctuation(spelled).to_owned();
            if !text.is_empty() {
                let before_comma = spelled.ends_with(',');
                words.push(Word { text, is_quoted: false, before_comma, starts_sentence });
            }
            starts_sentence = spelled.ends_with(['.', '!', '?', ':']);
            rest = after;
        }
        rest = rest.trim_start();
    }
    words
}

/// What is quoted, what is capitalised inside a sentence, and what follows a
/// preposition.
fn mentions(words: &[Word]) -> Vec<Mention> {
    let mut mentions: Vec<Mention> = Vec::new();
    let mut before: Option<&Word> = None;
    // Whether the next word may still belong to the last mention or its list.
    let mut open = false;
    for word in words {
        let lower = word.text.to_lowercase();
        let preposition = before.filter(|before| before.is_any_of(PREPOSITIONS));
        let is_capitalised = word.text.starts_with(char::is_uppercase) && lower != "i";
        let is_name = is_capitalised && (!word.starts_sentence || preposition.is_some());
        let is_listed =
            before.is_some_and(|before| before.before_comma || before.is_any_of(CONJUNCTIONS));
        let is_object = preposition.is_some()
            && !STOP_WORDS.contains(&lower.as_str())
            && number(&word.text).is_none();
        if !(word.is_quoted || is_name || is_object) {
            // "Paris and London" is one list, "Paris is in France" is not.
            open &= CONJUNCTIONS.contains(&lower.as_str());
            before = Some(word);
            continue;
        }
        let preposition = preposition.map(|word| word.text.to_lowercase());
        let continues_name =
            is_name && !word.is_quoted && preposition.is_none() && !is_listed && open;
        match mentions.last_mut().filter(|_| continues_name) {
            // "New York" is one name.
            Some(last) => last.name = format!("{} {}", last.name, word.text),
            None => {
                let in_list = open && is_listed && preposition.is_none();
                mentions.push(Mention { preposition, name: word.text.clone(), in_list });
            }
        }
        open = true;
        before = Some(word);
    }
    mentions
}

/// A word as a JSON number, without a currency or percent sign and without the
/// commas between thousands.
fn number(word: &str) -> Option<String> {
    let bare = word.trim_start_matches(['$', '€', '£', '#']).trim_end_matches('%').replace(',', "");
    let is_number = bare.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && bare.ends_with(|c: char| c.is_ascii_digit())
        && bare.parse::<f64>().is_ok_and(f64::is_finite)
        && !bare.contains(['e', 'E']);
    // JSON allows no leading zeros, and wants a digit before the point.
    let digits = bare.trim_start_matches('-');
    let is_json = !digits.starts_with(['0', '.']) || digits == "0" || digits.starts_with("0.");
    (is_number && is_json).then_some(bare)
}

fn trim_punctuation(word: &str) -> &str {
    let is_punctuation = |c: char| "()[]{}<>,;:!?\"'“”‘’«»`".contains(c);
    word.trim_matches(is_punctuation)
        .trim_end_matches(['.', ','])
        .trim_end_matches("'s")
        .trim_end_matches("’s")
}

const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('`', '`'), ('«', '»'), ('‘', '’')];

const CONJUNCTIONS: &[&str] = &["and", "or"];

/// Words that come before a name.
const PREPOSITIONS: &[&str] = &[
    "in", "at", "for", "from", "to", "near", "of", "about", "on", "with", "named", "called", "by",
];

/// Words that say nothing about what is wanted.
const STOP_WORDS: &[&str] = &[
    "the", "and", "for", "you", "your", "what", "whats", "which", "who", "how", "this", "that",
    "there", "with", "from", "are", "was", "can", "could", "would", "should", "please", "tell",
    "get", "give", "has", "have", "does", "did", "use", "using", "tool", "tools", "function",
    "call", "me", "my", "it", "its", "a", "an", "to", "of", "in", "is", "on", "at", "by", "be",
    "do", "today", "now", "tomorrow", "right", "not", "but", "into", "will", "any", "all", "one",
];
