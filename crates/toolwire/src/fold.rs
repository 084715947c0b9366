//! A stream folded into the answer it amounts to.

use std::collections::BTreeMap;

use crate::model::{
    CallHead, Candidate, Event, Head, Item, Own, Part, Piece, Protocol, Reasoning, Refusal,
    Response, Role, Sealed, Start, Stop, Tail, Text, Turn, Usage,
};
use crate::wire::{At, Extra, Pos, Raw, Str, TextBuffer};

/// An answer that grows event by event.
///
/// Texts are kept as the inside of a literal and once only, so what is held is
/// about the size of what was sent.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    origin: Option<Protocol>,
    id: Option<Str<'static>>,
    model: Option<Str<'static>>,
    created: Option<At<u64>>,
    entries: Vec<FoldedItem>,
    /// The entry of each block.
    blocks: Vec<usize>,
    usage: Option<Usage<'static>>,
    tier: Option<Str<'static>>,
    /// The latest field of each name, with how many had come before it.
    extra: BTreeMap<String, (usize, Extra<'static>)>,
    /// How many fields have come.
    reported: usize,
    stop: Option<At<Stop<'static>>>,
    stop_extra: Vec<Extra<'static>>,
}

/// One item of the answer.
#[derive(Clone, Debug)]
enum FoldedItem {
    Text { part: Part<'static>, text: TextBuffer, citations: JsonList, logprobs: JsonList },
    Refusal { part: Part<'static>, text: TextBuffer },
    Reasoning(FoldedReasoning),
    Call { head: CallHead<'static>, arguments: TextBuffer, extra: Vec<Extra<'static>> },
    Whole(Turn<'static>),
}

#[derive(Clone, Debug, Default)]
struct FoldedReasoning {
    id: Option<Str<'static>>,
    summary: Vec<TextBuffer>,
    content: Vec<TextBuffer>,
    sealed: Option<Sealed<'static>>,
    extra: Vec<Extra<'static>>,
}

/// The inside of a JSON list that grows.
#[derive(Clone, Debug, Default)]
struct JsonList(String);

impl JsonList {
    fn push(&mut self, inside: &str) {
        if inside.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(inside);
    }

    fn raw(&self) -> Option<Raw<'static>> {
        (!self.0.is_empty()).then(|| Raw::made(format!("[{}]", self.0)))
    }
}

impl Fold {
    /// Takes the next event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(start) => {
                let Start { origin, id, model, created } = start;
                self.origin = Some(*origin);
                self.id = id.clone().into_owned();
                self.model = model.clone().into_owned();
                self.created = *created;
            }
            Event::Open { block: _, head } => self.open(head),
            Event::Delta { block, piece } => self.delta(*block, piece),
            Event::Close { block, tail } => self.close(*block, tail),
            Event::Whole(turn) => self.entries.push(FoldedItem::Whole(turn.clone().into_owned())),
            Event::About { tier, extra } => {
                if let Some(tier) = tier {
                    self.tier = Some(tier.clone().into_owned());
                }
                for field in extra {
                    let name = field.key.decode().into_owned();
                    self.extra.insert(name, (self.reported, field.clone().into_owned()));
                    self.reported += 1;
                }
            }
            Event::Usage(usage) => self.usage = Some(usage.clone().into_owned()),
            Event::Stop { stop, extra } => {
                self.stop = Some(stop.clone().into_owned());
                self.stop_extra = extra.clone().into_owned();
            }
            Event::End => {}
            Event::Error(error) => {
                self.stop = Some(At::made(Stop::Failed(Box::new(error.clone()))));
            }
        }
    }

    fn latest_fields(&self) -> Vec<Extra<'static>> {
        let mut fields: Vec<_> = self.extra.values().collect();
        fields.sort_by_key(|(order, _)| *order);
        fields.into_iter().map(|(_, field)| field.clone()).collect()
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no item yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// One item, as far as it has come.
    pub fn item(&self, entry: usize) -> Option<Item<'_>> {
        Some(self.entries.get(entry)?.item())
    }

    /// The turn of an item that came in one piece.
    pub fn whole(&self, entry: usize) -> Option<&Turn<'static>> {
        match self.entries.get(entry)? {
            FoldedItem::Whole(turn) => Some(turn),
            FoldedItem::Text { part: _, text: _, citations: _, logprobs: _ }
            | FoldedItem::Refusal { part: _, text: _ }
            | FoldedItem::Reasoning(_)
            | FoldedItem::Call { head: _, arguments: _, extra: _ } => None,
        }
    }

    /// The text, input or arguments of an item as the inside of a literal.
    pub fn text(&self, entry: usize) -> Str<'_> {
        match self.entries.get(entry) {
            Some(
                FoldedItem::Text { part: _, text, citations: _, logprobs: _ }
                | FoldedItem::Refusal { part: _, text }
                | FoldedItem::Call { head: _, arguments: text, extra: _ },
            ) => text.text(),
            Some(FoldedItem::Reasoning(_) | FoldedItem::Whole(_)) | None => Str::plain(""),
        }
    }

    /// The turns of the answer so far: one per item where the upstream's
    /// protocol has items, otherwise one in all.
    pub fn turns(&self) -> Vec<Turn<'_>> {
        let mut turns: Vec<Turn<'_>> = Vec::new();
        let several = self.origin.is_some_and(|origin| origin.conventions().answers_are_items);
        let mut message = None;
        for entry in &self.entries {
            let (belongs, id, phase, extra) = match entry {
                FoldedItem::Text { part, text: _, citations: _, logprobs: _ }
                | FoldedItem::Refusal { part, text: _ } => {
                    let Part { message, phase, extra } = part;
                    (Some(*message), None, phase.as_ref(), extra.as_slice())
                }
                FoldedItem::Reasoning(thought) => (None, thought.id.as_ref(), None, [].as_slice()),
                FoldedItem::Call { head: _, arguments: _, extra: _ } => {
                    (None, None, None, [].as_slice())
                }
                FoldedItem::Whole(turn) => {
                    message = None;
                    if several || turns.is_empty() {
                        turns.push(turn.clone());
                    } else if let Some(last) = turns.last_mut() {
                        last.items.extend(turn.items.iter().cloned());
                    }
                    continue;
                }
            };
            let item = entry.item();
            let joins = !several || (belongs.is_some() && belongs == message);
            match turns.last_mut().filter(|_| joins) {
                Some(turn) => turn.items.push(item),
                None => {
                    let mut turn = Turn::new(Pos::NONE, Role::Assistant, vec![item]);
                    turn.id = id.map(Str::borrowed);
                    turn.phase = phase.map(Str::borrowed);
                    turn.extra = extra.to_vec();
                    turns.push(turn);
                }
            }
            message = belongs;
        }
        turns
    }

    /// The answer so far.
    pub fn response(&self) -> Response<'_> {
        let stop = self.stop.clone().unwrap_or(At::made(Stop::Running));
        let candidate = Candidate {
            at: Pos::NONE,
            turns: self.turns(),
            stop,
            logprobs: None,
            extra: self.stop_extra.clone(),
        };
        Response { candidates: vec![candidate], ..self.outline() }
    }

    /// The answer without its items.
    pub fn outline(&self) -> Response<'_> {
        Response {
            origin: self.origin.unwrap_or(UNKNOWN),
            id: self.id.as_ref().map(Str::borrowed),
            model: self.model.as_ref().map(Str::borrowed),
            created: self.created,
            candidates: Vec::new(),
            usage: self.usage.clone(),
            tier: self.tier.as_ref().map(Str::borrowed),
            extra: self.latest_fields(),
        }
    }

    fn open(&mut self, head: &Head<'_>) {
        self.blocks.push(self.entries.len());
        self.entries.push(match head {
            Head::Text(part) => FoldedItem::Text {
                part: part.clone().into_owned(),
                text: TextBuffer::default(),
                citations: JsonList::default(),
                logprobs: JsonList::default(),
            },
            Head::Refusal(part) => {
                FoldedItem::Refusal { part: part.clone().into_owned(), text: TextBuffer::default() }
            }
            Head::Reasoning { id } => FoldedItem::Reasoning(FoldedReasoning {
                id: id.clone().into_owned(),
                ..FoldedReasoning::default()
            }),
            Head::Call(head) => FoldedItem::Call {
                head: head.clone().into_owned(),
                arguments: TextBuffer::default(),
                extra: Vec::new(),
            },
        });
    }

    fn delta(&mut self, block: usize, piece: &Piece<'_>) {
        let Some(entry) = self.blocks.get(block).and_then(|entry| self.entries.get_mut(*entry))
        else {
            return;
        };
        match (entry, piece) {
            (
                FoldedItem::Text { part: _, text: all, citations: _, logprobs: list },
                Piece::Text { text, logprobs },
            ) => {
                all.push(text);
                if let Some(logprobs) = logprobs {
                    list.push(inside_of(logprobs));
                }
            }
            (
                FoldedItem::Text { part: _, text: _, citations, logprobs: _ },
                Piece::Citation(raw),
            ) => {
                citations.push(raw.text());
            }
            (FoldedItem::Refusal { part: _, text: all }, Piece::Text { text, logprobs: _ }) => {
                all.push(text);
            }
            (FoldedItem::Reasoning(thought), Piece::Summary { part, text }) => {
                grow(&mut thought.summary, *part, text);
            }
            (FoldedItem::Reasoning(thought), Piece::Reasoning { part, text }) => {
                grow(&mut thought.content, *part, text);
            }
            (FoldedItem::Call { head: _, arguments, extra: _ }, Piece::Arguments(text)) => {
                arguments.push(text);
            }
            // The grammar gives each kind of block pieces of its own kind only.
            (_, _) => {}
        }
    }

    fn close(&mut self, block: usize, tail: &Tail<'_>) {
        let Some(entry) = self.blocks.get(block).and_then(|entry| self.entries.get_mut(*entry))
        else {
            return;
        };
        entry.settle();
        let Tail { sealed, extra } = tail;
        let more = extra.clone().into_owned();
        match entry {
            FoldedItem::Text { part, text: _, citations: _, logprobs: _ }
            | FoldedItem::Refusal { part, text: _ } => part.extra.extend(more),
            FoldedItem::Reasoning(thought) => {
                thought.sealed = sealed.clone().into_owned();
                thought.extra.extend(more);
            }
            FoldedItem::Call { head: _, arguments: _, extra } => extra.extend(more),
            FoldedItem::Whole(_) => {}
        }
    }
}

impl FoldedItem {
    /// Gives back the room that its texts do not need, now that they are whole.
    fn settle(&mut self) {
        match self {
            Self::Text { part: _, text, citations: _, logprobs: _ }
            | Self::Refusal { part: _, text }
            | Self::Call { head: _, arguments: text, extra: _ } => text.settle(),
            Self::Reasoning(FoldedReasoning { id: _, summary, content, sealed: _, extra: _ }) => {
                summary.iter_mut().chain(content).for_each(TextBuffer::settle);
            }
            Self::Whole(_) => {}
        }
    }

    fn item(&self) -> Item<'_> {
        match self {
            Self::Text { part: _, text, citations, logprobs } => Item::Text(Text {
                at: Pos::NONE,
                text: text.text(),
                citations: citations.raw(),
                logprobs: logprobs.raw(),
                cache: None,
                extra: Vec::new(),
            }),
            Self::Refusal { part: _, text } => {
                Item::Refusal(Refusal { at: Pos::NONE, text: text.text(), extra: Vec::new() })
            }
            Self::Reasoning(thought) => {
                let FoldedReasoning { id: _, summary, content, sealed, extra } = thought;
                Item::Reasoning(Reasoning {
                    at: Pos::NONE,
                    summary: summary.iter().map(TextBuffer::text).collect(),
                    content: content.iter().map(TextBuffer::text).collect(),
                    sealed: sealed.clone(),
                    place: None,
                    extra: extra.clone(),
                })
            }
            Self::Call { head, arguments, extra: more } => {
                let arguments = head.arguments(arguments.text());
                let mut call = head.clone().into_call(Pos::NONE, arguments);
                call.extra.extend(more.iter().cloned());
                Item::Call(call)
            }
            // Callers take a whole turn's items themselves.
            Self::Whole(turn) => {
                turn.items.first().cloned().unwrap_or(Item::Json(Raw::made("null")))
            }
        }
    }
}

/// The elements of a list without its brackets.
fn inside_of<'r>(list: &'r Raw<'_>) -> &'r str {
    let text = list.text().trim();
    text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text).trim()
}

/// Adds to the text with that number, which is the last one or a new one.
fn grow(texts: &mut Vec<TextBuffer>, part: usize, text: &Str<'_>) {
    // An upstream that skips numbers skips texts that have nothing in them.
    let wanted = part.min(texts.len()) + 1;
    if texts.len() < wanted {
        texts.push(TextBuffer::default());
    }
    if let Some(last) = texts.last_mut() {
        last.push(text);
    }
}

/// Before the answer has begun nothing depends on where it comes from.
const UNKNOWN: Protocol = {
    let [first, ..] = Protocol::ALL;
    first
};
