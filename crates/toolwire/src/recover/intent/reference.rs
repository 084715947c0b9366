//! What "it" refers to: "tmp/lock is stale, so I'll delete it".

use super::candidates::{Shape, candidates};
use super::commitment::Action;
use super::fill::Phrase;
use super::matching::{Catalog, Match};
use super::sentences::Paragraph;
use super::tokens::{Kind, Token};

/// The call of an action whose object is a pronoun, if what stands before it in
/// the sentence, or else the sentence before, names one thing.
pub(super) fn resolve<'a, 's>(
    catalog: &'a Catalog<'s>,
    paragraph: &Paragraph<'_>,
    sentence: &[Token<'_>],
    action: Action,
) -> Option<Match<'a, 's>> {
    let said = sentence.get(action.verb..action.end)?;
    let has_pronoun = said.iter().skip(1).take(6).any(|token| token.any(PRONOUNS));
    if !has_pronoun || !candidates(paragraph.text, sentence, action.verb + 1, action.end).is_empty()
    {
        return None;
    }
    let start = sentence.first()?.start;
    let before = paragraph
        .sentences()
        .take_while(|other| other.first().is_some_and(|first| first.start < start));
    let here = sentence.get(..action.verb).unwrap_or_default();
    [here, before.last().unwrap_or_default()]
        .into_iter()
        .find(|clause| has_value(paragraph.text, clause))
        .filter(|clause| names_one(paragraph.text, clause))
        .and_then(|clause| {
            let mut tokens: Vec<Token<'_>> =
                said.iter().filter(|token| !token.any(PRONOUNS)).cloned().collect();
            let comma = tokens.len();
            tokens.extend(clause.iter().filter(|token| !token.any(SPEAKER)).cloned());
            tokens.insert(comma, Token::comma());
            let end = tokens.len();
            let phrase =
                Phrase { paragraph: paragraph.text, tokens: &tokens, start: 0, verb: 0, end };
            catalog.find(phrase).ok()
        })
}

fn has_value(text: &str, clause: &[Token<'_>]) -> bool {
    candidates(text, clause, 0, clause.len())
        .iter()
        .any(|candidate| !matches!(candidate.shape, Shape::Name))
}

/// Whether a clause has no more than one thing that "it" can be.
fn names_one(text: &str, clause: &[Token<'_>]) -> bool {
    let is_question = clause.last().is_some_and(|token| token.kind == Kind::Mark('?'));
    let found = candidates(text, clause, 0, clause.len());
    let things = found.iter().filter(|candidate| {
        matches!(
            candidate.shape,
            Shape::Path
                | Shape::Url
                | Shape::Code
                | Shape::Quoted
                | Shape::Email
                | Shape::Identifier
        )
    });
    !is_question && things.count() <= 1
}

const PRONOUNS: &[&str] = &["it", "its"];

/// Words that would make the clause an announcement of its own.
const SPEAKER: &[&str] = &["i", "i'll", "i'm", "i've", "let", "me", "so", "and", "then"];
