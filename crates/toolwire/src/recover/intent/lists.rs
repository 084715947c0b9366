//! Lists in plain words: "with tofu, rice and peas", "the tags work and home".

use super::lexicon::{FILLERS, VAGUE};
use super::parameters::Parameter;
use super::plain::Words;
use super::tokens::{Kind, Token, TokenSlice};

impl Words<'_, '_> {
    /// The items of a list, and the tokens that they are made of.
    pub(super) fn list(&self, parameter: &Parameter<'_>) -> Option<(Vec<String>, usize, usize)> {
        if parameter.is_email() || parameter.is_link() {
            return None;
        }
        let is_noun = |token: &Token<'_>| {
            token.kind == Kind::Word && parameter.stems.contains(&token.stem) && !token.any(FILLERS)
        };
        let behind_noun = self.find(is_noun).and_then(|noun| self.items(noun + 1, true));
        let leads = |token: &Token<'_>| {
            parameter.takes_preposition(&token.lower)
                || (parameter.is_required && token.any(&["with", "for", "on", "from"]))
        };
        let behind_preposition =
            || self.find(leads).and_then(|preposition| self.items(preposition + 1, false));
        // "install requests and flask"
        let object = || {
            let is_bare = self.tokens.get(self.from).is_some_and(|token| !token.any(FILLERS));
            (parameter.is_required && is_bare).then(|| self.items(self.from, false)).flatten()
        };
        behind_noun.or_else(behind_preposition).or_else(object)
    }

    fn find(&self, is_meant: impl Fn(&Token<'_>) -> bool) -> Option<usize> {
        (self.from..self.to).find(|at| {
            self.used.get(*at) != Some(&true) && self.tokens.get(*at).is_some_and(&is_meant)
        })
    }

    /// The items that begin at a token. Behind the noun that they are, they may be
    /// words of the tool.
    fn items(&self, from: usize, may_be_known: bool) -> Option<(Vec<String>, usize, usize)> {
        let mut items = Vec::new();
        let (mut at, mut end) = (from, from);
        while let Some((item, next)) = self.list_item(at, may_be_known) {
            items.push(item);
            end = next;
            let links = (next..self.to)
                .take_while(|at| {
                    self.tokens.get(*at).is_some_and(|token| {
                        token.kind == Kind::Mark(',') || token.any(&["and", "plus"])
                    })
                })
                .count();
            if links == 0 {
                break;
            }
            at = next + links;
        }
        (!items.is_empty()).then_some((items, from, end))
    }

    /// An item of up to three words that is followed by another item, a
    /// preposition, or nothing.
    fn list_item(&self, from: usize, may_be_known: bool) -> Option<(String, usize)> {
        let article = self.tokens.any_at(from, &["the", "my", "your", "our", "some"]);
        let start = from + usize::from(article);
        let count = (start..self.to).take(4).take_while(|at| self.is_value(*at)).count();
        let end = start + count;
        let is_end = end >= self.to
            || self.tokens.get(end).is_some_and(|token| {
                token.is_mark()
                    || token.is_preposition()
                    || token.any(&[
                        "and", "plus", "that", "now", "then", "first", "using", "right", "please",
                    ])
            });
        let (first, last) = (self.tokens.get(start)?, self.tokens.get(end.checked_sub(1)?)?);
        let says_nothing = first.any(VAGUE)
            || !may_be_known
                && (start..end).all(|at| {
                    self.tokens.get(at).is_some_and(|token| self.vocabulary.contains(&token.stem))
                });
        if !(1..=3).contains(&count) || !is_end || says_nothing {
            return None;
        }
        self.paragraph.get(first.start..last.end).map(|item| (item.to_owned(), end))
    }
}
