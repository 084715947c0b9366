//! The words that bind a value to a parameter.

use super::lexicon::FILLERS;
use super::stem::stem;
use super::tokens::{Kind, Token, TokenSlice};

/// The preposition before a value, and the stems between them.
pub(super) fn binding<'t>(tokens: &[Token<'t>], floor: usize, at: usize) -> (&'t str, Vec<String>) {
    let mut before = Vec::new();
    let mut preposition = "";
    for (index, token) in tokens.iter().enumerate().take(at).skip(floor).rev().take(5) {
        if matches!(token.kind, Kind::Mark(',' | ';' | ':')) {
            break;
        }
        if token.kind != Kind::Word {
            continue;
        }
        if token.is_preposition() {
            // "look for" is a verb.
            let verb = index.checked_sub(1).and_then(|verb| tokens.get(verb));
            let is_particle =
                token.is("for") && verb.is_some_and(|verb| verb.any(&["look", "looking", "hunt"]));
            if preposition.is_empty() && !is_particle {
                preposition = token.text;
            }
            // "a width of 640": what it is of comes before the preposition, and so
            // does what is called by a name.
            let counts = tokens.get(at).is_some_and(|token| token.kind == Kind::Number);
            if token.any(&["of", "to", "as"]) && !counts {
                break;
            }
            if !token.any(&[
                "of", "called", "named", "titled", "to", "as", "labeled", "labelled", "saying",
            ]) {
                break;
            }
            if token.is("to") && !before.is_empty() {
                break;
            }
            continue;
        }
        if token.any(&["and", "then", "or"]) {
            break;
        }
        if !token.any(FILLERS) {
            before.push(token.stem.clone());
        }
    }
    (preposition, before)
}

/// What is changed, in "the mode of run.sh to 755": its stem.
pub(super) fn property(tokens: &[Token<'_>], from: usize, to: usize) -> Option<String> {
    let of = (from..to.min(from + 4)).find(|at| tokens.any_at(*at, &["of", "for", "on", "in"]))?;
    let noun = tokens.get(of.checked_sub(1)?).filter(|_| of > from)?;
    (noun.kind == Kind::Word && !noun.any(FILLERS)).then(|| noun.stem.clone())
}

/// The stems of the words right behind a value.
pub(super) fn following(tokens: &[Token<'_>], next: usize, to: usize) -> Vec<String> {
    let rest = tokens.get(next..to).unwrap_or_default();
    rest.iter()
        .take(2)
        .take_while(|token| {
            token.kind == Kind::Word
                && !token.is_preposition()
                && !token.any(&["and", "or", "then"])
        })
        .flat_map(|token| token.lower.split('-').map(stem).collect::<Vec<_>>())
        .collect()
}
