//! What a user's sentence offers for the arguments of a tool.

/// The words of one text.
#[derive(Clone, Debug)]
pub(super) struct Words {
    /// The text itself.
    pub(super) text: String,
    /// Names and other things that are spoken of, in order.
    pub(super) things: Vec<Thing>,
    /// Numbers as they are spelled.
    pub(super) numbers: Vec<String>,
}

/// Something that is spoken of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thing {
    /// The word before it, if that is one like `in` or `from`.
    pub(super) after: Option<String>,
    /// What it is called.
    pub(super) name: String,
    /// Whether it continues a list: "Paris and London".
    pub(super) joined: bool,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let tokens: Vec<Token> = tokens(text);
        Self {
            text: text.trim().to_owned(),
            things: things(&tokens),
            numbers: tokens.iter().filter_map(|token| number(&token.word)).collect(),
        }
    }

    /// The words without what has been used.
    pub(super) fn without(&self, name: &str) -> Self {
        let mut rest = self.clone();
        rest.things.retain(|thing| thing.name != name);
        rest
    }

    /// A word that fits, as it is spelled.
    pub(super) fn find(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        self.text.split_whitespace().map(trim).find(|word| fits(word)).map(str::to_owned)
    }

    /// The words in small letters.
    pub(super) fn small(&self) -> Vec<String> {
        stems(&self.text)
    }
}

/// The words of a text or of a name in small letters, without their endings,
/// so that `get_weather` and "What is the weather?" meet.
pub(super) fn stems(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut last = ' ';
    for c in text.chars() {
        let breaks = !c.is_alphanumeric() || (c.is_uppercase() && last.is_lowercase());
        if breaks && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        last = c;
    }
    words.push(word);
    words.retain(|word| word.chars().count() > 2 && !COMMON.contains(&word.as_str()));
    for word in &mut words {
        for ending in ["ing", "ed", "es", "s"] {
            if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 3) {
                *word = stem.to_owned();
                break;
            }
        }
    }
    words
}

struct Token {
    word: String,
    /// Whether it stood in quotes.
    quoted: bool,
    /// Whether a comma follows.
    comma: bool,
    /// Whether a sentence begins with it.
    first: bool,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut first = true;
    let mut rest = text.trim_start();
    while let Some(start) = rest.chars().next() {
        let quote = QUOTES.iter().find(|(open, _)| *open == start);
        let inside = rest.get(start.len_utf8()..).unwrap_or_default();
        let quoted = quote.and_then(|(_, close)| inside.split_once(*close));
        if let Some((word, after)) = quoted.filter(|(word, _)| !word.trim().is_empty()) {
            tokens.push(Token { word: word.to_owned(), quoted: true, comma: false, first: false });
            rest = after;
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (spelled, after) = rest.split_at(end);
            let word = trim(spelled).to_owned();
            if !word.is_empty() {
                let comma = spelled.ends_with(',');
                tokens.push(Token { word, quoted: false, comma, first });
            }
            first = spelled.ends_with(['.', '!', '?', ':']);
            rest = after;
        }
        rest = rest.trim_start();
    }
    tokens
}

/// What is quoted, what has a capital inside a sentence, and what follows a
/// word like `in`.
fn things(tokens: &[Token]) -> Vec<Thing> {
    let mut things: Vec<Thing> = Vec::new();
    let mut before: Option<&Token> = None;
    let mut open = false;
    for token in tokens {
        let small = token.word.to_lowercase();
        let place = before.filter(|before| PLACES.contains(&before.word.to_lowercase().as_str()));
        let capital = token.word.starts_with(char::is_uppercase) && small != "i";
        let named = capital && (!token.first || place.is_some());
        let listed = before.is_some_and(|before| {
            before.comma || ["and", "or"].contains(&before.word.to_lowercase().as_str())
        });
        let follows = place.is_some() && !COMMON.contains(&small.as_str());
        let spoken = token.quoted || named || (follows && number(&token.word).is_none());
        if !spoken {
            // "Paris and London" is one list, "Paris is in France" is not.
            open &= ["and", "or"].contains(&small.as_str());
            before = Some(token);
            continue;
        }
        let after = place.map(|place| place.word.to_lowercase());
        let grows = named && !token.quoted && after.is_none() && !listed && open;
        match things.last_mut().filter(|_| grows) {
            // "New York" is one name.
            Some(last) => last.name = format!("{} {}", last.name, token.word),
            None => {
                let joined = open && listed && after.is_none();
                things.push(Thing { after, name: token.word.clone(), joined });
            }
        }
        open = true;
        before = Some(token);
    }
    things
}

fn number(word: &str) -> Option<String> {
    let bare = word.trim_start_matches(['$', '€', '£', '#']).trim_end_matches('%').replace(',', "");
    let fits = bare.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && bare.ends_with(|c: char| c.is_ascii_digit())
        && bare.parse::<f64>().is_ok_and(f64::is_finite)
        && !bare.contains(['e', 'E']);
    // JSON has no zeros in front.
    let plain = !bare.trim_start_matches('-').starts_with('0')
        || bare.trim_start_matches('-') == "0"
        || bare.trim_start_matches('-').starts_with("0.");
    (fits && plain).then_some(bare)
}

fn trim(word: &str) -> &str {
    let around = |c: char| "()[]{}<>,;:!?\"'“”‘’«»`".contains(c);
    word.trim_matches(around)
        .trim_end_matches(['.', ','])
        .trim_end_matches("'s")
        .trim_end_matches("’s")
}

const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('`', '`'), ('«', '»'), ('‘', '’')];

/// Words that come before a name.
const PLACES: &[&str] = &[
    "in", "at", "for", "from", "to", "near", "of", "about", "on", "with", "named", "called", "by",
];

/// Words that say nothing about what is wanted.
const COMMON: &[&str] = &[
    "the", "and", "for", "you", "your", "what", "whats", "which", "who", "how", "this", "that",
    "there", "with", "from", "are", "was", "can", "could", "would", "should", "please", "tell",
    "get", "give", "has", "have", "does", "did", "use", "using", "tool", "tools", "function",
    "call", "me", "my", "it", "its", "a", "an", "to", "of", "in", "is", "on", "at", "by", "be",
    "do", "today", "now", "tomorrow", "right", "not", "but", "into", "will", "any", "all", "one",
];
