//! The tokens of a text.

use crate::merge::Merger;
use crate::split::{Rules, pieces};
use crate::vocabulary::Vocabulary;

/// How the tokens of a model are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokenizer {
    encoding: Encoding,
    /// How many tokens are counted for a hundred of the vocabulary's.
    percent: u64,
}

/// One of OpenAI's vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Cl100k,
    O200k,
}

impl Tokenizer {
    /// For a model whose vocabulary isn't published.
    ///
    /// Newer Claude models need up to 1.6 times as many tokens for a page as
    /// OpenAI's (huggingface.co/datasets/JOHNISKING/pdf-token-cost), and nobody
    /// else is known to need more.
    pub const ESTIMATE: Self = Self { encoding: Encoding::O200k, percent: 160 };

    /// The tokenizer of a model. Those of OpenAI's models up to GPT-5 are known;
    /// for all others it is [`Tokenizer::ESTIMATE`].
    pub fn for_model(name: &str) -> Self {
        let name = name.strip_prefix("ft:").unwrap_or(name);
        let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        let known = ENCODINGS.iter().find(|(start, _)| is_of_family(&name, start));
        known.map_or(Self::ESTIMATE, |(_, encoding)| Self { encoding: *encoding, percent: 100 })
    }

    /// Whether the model counts a text just the same.
    pub fn is_exact(&self) -> bool {
        self.percent == 100
    }

    /// The vocabulary's name.
    pub fn vocabulary(&self) -> &'static str {
        match self.encoding {
            Encoding::Cl100k => "cl100k_base",
            Encoding::O200k => "o200k_base",
        }
    }

    /// The number of tokens in a text.
    pub fn count(&self, text: &str) -> u64 {
        let (vocabulary, rules) = match self.encoding {
            Encoding::Cl100k => (Vocabulary::cl100k(), Rules::Cl100k),
            Encoding::O200k => (Vocabulary::o200k(), Rules::O200k),
        };
        let mut merger = Merger::new(vocabulary);
        let tokens: u64 = pieces(text, rules).map(|piece| merger.count(piece)).sum();
        (tokens * self.percent).div_ceil(100)
    }
}

/// Whether a name is a family's, or continues it with something else than another
/// version: `gpt-4` is not the family of `gpt-4.1`.
fn is_of_family(name: &str, family: &str) -> bool {
    let rest = name.strip_prefix(family);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '@', ':']))
}

/// From github.com/openai/tiktoken, `tiktoken/model.py`.
const ENCODINGS: &[(&str, Encoding)] = &[
    ("chatgpt-4o", Encoding::O200k),
    ("gpt-3.5", Encoding::Cl100k),
    ("gpt-3.5-turbo", Encoding::Cl100k),
    ("gpt-4", Encoding::Cl100k),
    ("gpt-4.1", Encoding::O200k),
    ("gpt-4.5", Encoding::O200k),
    ("gpt-4o", Encoding::O200k),
    ("gpt-5", Encoding::O200k),
    ("gpt-5.1", Encoding::O200k),
    ("gpt-5.2", Encoding::O200k),
    ("gpt-5.3", Encoding::O200k),
    ("gpt-5.4", Encoding::O200k),
    ("gpt-5.5", Encoding::O200k),
    ("gpt-5.6", Encoding::O200k),
    ("gpt-oss", Encoding::O200k),
    ("o1", Encoding::O200k),
    ("o3", Encoding::O200k),
    ("o4-mini", Encoding::O200k),
];
