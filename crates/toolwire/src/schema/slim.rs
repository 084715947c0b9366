//! Shorter schemas on request: fewer tokens for what a model can do
//! without.

use std::collections::BTreeMap;

use super::edit::{Edits, Span};
use super::references::{DefinitionsKeyword, escape, members, references, split_inside};
use super::walk::{Visitor, end, literal_span, walk};
use crate::ledger::{Code, Ledger};
use crate::wire::{Kind, Pos, Raw, ReadError, Reader, Str, read_fields, write_str};

/// What to leave out of schemas. Nothing, unless asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slim {
    /// Definitions that nothing refers to.
    pub(crate) unused_definitions: bool,
    /// What goes beyond this many characters in a description. It is cut
    /// between two words.
    pub(crate) long_descriptions: Option<usize>,
    /// `title`.
    pub(crate) titles: bool,
    /// `examples`.
    pub(crate) examples: bool,
    /// `$comment`.
    pub(crate) comments: bool,
    /// `$schema`.
    pub(crate) dialect: bool,
}

impl Slim {
    /// Leaves nothing out.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves out definitions that nothing refers to.
    #[must_use]
    pub fn unused_definitions(mut self) -> Self {
        self.unused_definitions = true;
        self
    }

    /// Cuts descriptions after this many characters, between two words.
    #[must_use]
    pub fn long_descriptions(mut self, limit: usize) -> Self {
        self.long_descriptions = Some(limit);
        self
    }

    /// Leaves out `title`.
    #[must_use]
    pub fn titles(mut self) -> Self {
        self.titles = true;
        self
    }

    /// Leaves out `examples`.
    #[must_use]
    pub fn examples(mut self) -> Self {
        self.examples = true;
        self
    }

    /// Leaves out `$comment`.
    #[must_use]
    pub fn comments(mut self) -> Self {
        self.comments = true;
        self
    }

    /// Leaves out `$schema`.
    #[must_use]
    pub fn dialect(mut self) -> Self {
        self.dialect = true;
        self
    }
}

/// The schema without what `wanted` leaves out. Each omission is a line of the
/// ledger. Properties and definitions of those names stay.
pub(crate) fn slim<'s>(schema: &'s Raw<'_>, wanted: &Slim, ledger: &mut Ledger) -> Raw<'s> {
    if *wanted == Slim::default() || schema.kind() != Kind::Object {
        return schema.borrowed();
    }
    let mut pass = Pass { wanted, schema, ledger, edits: Edits::default(), open: Vec::new() };
    if walk(&mut Reader::new(schema.text()), &mut pass).is_err() {
        return schema.borrowed();
    }
    if wanted.unused_definitions {
        // A schema with a duplicate or a malformed reference keeps them all.
        let _kept = pass.definitions();
    }
    pass.edits.rewrite(schema)
}

struct Pass<'p, 'r> {
    wanted: &'p Slim,
    schema: &'p Raw<'r>,
    ledger: &'p mut Ledger,
    edits: Edits,
    /// The members of the schemas that are being walked.
    open: Vec<Vec<Span>>,
}

impl<'s> Visitor<'s> for Pass<'_, '_> {
    fn keyword(&mut self, key: &Str<'s>, reader: &mut Reader<'s>) -> Result<(), ReadError> {
        let value = reader.raw()?;
        let removed = match key.decode().as_ref() {
            "title" => self.wanted.titles && value.kind() == Kind::String,
            "examples" => self.wanted.examples,
            "$comment" => self.wanted.comments,
            "$schema" => self.wanted.dialect,
            "description" => {
                self.shorten(&value);
                false
            }
            _other => false,
        };
        let start = literal_span(key).start;
        if removed {
            let at = self.absolute(value.pos());
            self.ledger.dropped(at, Code::SchemaSlimmed).info();
        }
        if let Some(spans) = self.open.last_mut() {
            spans.push(Span { start, end: end(reader), removed });
        }
        Ok(())
    }

    fn enter(&mut self) {
        self.open.push(Vec::new());
    }

    fn holder(&mut self, key: &Str<'s>) {
        let start = literal_span(key).start;
        if let Some(spans) = self.open.last_mut() {
            spans.push(Span { start, end: start, removed: false });
        }
    }

    fn held(&mut self, end: usize) {
        if let Some(span) = self.open.last_mut().and_then(|spans| spans.last_mut()) {
            span.end = end;
        }
    }

    fn leave(&mut self) {
        if let Some(spans) = self.open.pop() {
            self.edits.remove(&spans);
        }
    }
}

impl Pass<'_, '_> {
    fn shorten(&mut self, value: &Raw<'_>) {
        let Some(longest) = self.wanted.long_descriptions else { return };
        let Ok(text) = value.reader().string() else { return };
        let Some(short) = cut(&text.decode(), longest) else { return };
        let Some(start) = value.pos().offset() else { return };
        let mut literal = Vec::new();
        write_str(&short, &mut literal);
        let Ok(literal) = String::from_utf8(literal) else { return };
        self.edits.replace(start..start + value.text().len(), literal);
        let at = self.absolute(value.pos());
        self.ledger
            .degraded(at, Code::SchemaSlimmed)
            .detail(format!("The description was cut to {longest} characters."));
    }

    /// Takes out the definitions that cannot be reached from the root.
    fn definitions(&mut self) -> Result<(), ReadError> {
        let text = self.schema.text();
        let holders: Vec<_> = read_fields(&mut Reader::new(text))?
            .into_iter()
            .filter_map(|field| match field.key.decode().as_ref() {
                "$defs" => Some((DefinitionsKeyword::Defs, field.value)),
                "definitions" => Some((DefinitionsKeyword::Definitions, field.value)),
                _other => None,
            })
            .collect();
        let mut all = Vec::new();
        for (place, holder) in &holders {
            for field in members(holder) {
                let start = literal_span(&field.key).start;
                let begin = field.value.pos().offset().unwrap_or_default();
                let name = (*place, escape(&field.key.decode()));
                let end = begin + field.value.text().len();
                all.push((name, Span { start, end, removed: true }, field.value.pos()));
            }
        }
        let by_name: BTreeMap<_, _> =
            all.iter().enumerate().map(|(index, (name, ..))| (name.clone(), index)).collect();
        // Definitions are in order, so the one around a reference is the last
        // that starts before it, if that has not ended.
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&index| all.get(index).map(|(_, span, _)| span.start));
        let mut uses: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for reference in references(text)? {
            // A reference that points elsewhere may pass through any of them.
            let Some((place, name, _)) = split_inside(&reference.target) else {
                if reference.target.starts_with("#/$defs")
                    || reference.target.starts_with("#/definitions")
                {
                    return Ok(());
                }
                continue;
            };
            let Some(&used) = by_name.get(&(place, name.to_owned())) else { continue };
            let at = reference.span.start;
            let before = order.partition_point(|&index| {
                all.get(index).is_some_and(|(_, span, _)| span.start < at)
            });
            let around = before.checked_sub(1).and_then(|last| order.get(last)).copied();
            let around =
                around.filter(|&index| all.get(index).is_some_and(|(_, span, _)| at < span.end));
            uses.entry(around).or_default().push(used);
        }
        let mut reached = uses.remove(&None).unwrap_or_default();
        while let Some(index) = reached.pop() {
            if let Some((_, span, _)) = all.get_mut(index)
                && std::mem::replace(&mut span.removed, false)
            {
                reached.extend(uses.remove(&Some(index)).unwrap_or_default());
            }
        }
        for (place, _) in &holders {
            let spans: Vec<Span> =
                all.iter().filter(|((of, _), ..)| of == place).map(|(_, span, _)| *span).collect();
            self.edits.remove(&spans);
        }
        for (_, _, pos) in all.iter().filter(|(_, span, _)| span.removed) {
            let at = self.absolute(*pos);
            self.ledger.dropped(at, Code::SchemaSlimmed).info();
        }
        Ok(())
    }

    /// A position in the schema as one in the whole document.
    fn absolute(&self, pos: Pos) -> Pos {
        match (self.schema.pos().offset(), pos.offset()) {
            (Some(base), Some(offset)) => Pos::new(base + offset),
            (_, _) => Pos::NONE,
        }
    }
}

/// The text cut between two words, or `None` if it is short enough. The mark
/// that something is missing counts as one of the characters.
fn cut(text: &str, longest: usize) -> Option<String> {
    text.char_indices().nth(longest)?;
    let room = text.char_indices().nth(longest.saturating_sub(1)).map_or(0, |(at, _)| at);
    let head = text.get(..room).unwrap_or_default();
    let ends_word = text.get(room..).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    let kept = match head.rfind(char::is_whitespace) {
        Some(space) if !ends_word => head.get(..space).unwrap_or_default(),
        Some(_) | None => head,
    };
    Some(format!("{}…", kept.trim_end()))
}
