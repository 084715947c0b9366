//! A stream: its items, from the first event about them to the last.

use super::ResponsesStreamWriter;
use super::blocks::BlockKind;
use super::event_writer::{EventWriter, part_place};
use crate::codec::context::EncodeContext;
use crate::codec::responses::calls_out::call_type;
use crate::codec::responses::content_out::{PartRole, crosses, is_content, is_silent, write_part};
use crate::codec::responses::items_out::{ItemProgress, ItemWriter};
use crate::codec::responses::turns_out::lose_turn;
use crate::fold::Fold;
use crate::ledger::Ledger;
use crate::model::{Item, Turn};
use crate::wire::{Array, Object, Pos, Raw, Write};

/// Items of the model that become one item of the output.
#[derive(Debug)]
pub(super) struct ItemGroup {
    pub(super) kind: GroupKind,
    /// How many items are before it, including those that do not cross.
    index: u64,
    /// What it is made of, in order.
    pub(super) members: Vec<GroupMember>,
    /// Its place in the output, once the client has been told about it.
    pub(super) place: Option<u64>,
    /// Its own id, if events name it.
    pub(super) id: String,
    /// How many of its members the client has been told about.
    announced: usize,
    /// How many of them are parts of the message.
    pub(super) parts: u64,
    /// How many blocks of it are open.
    pub(super) open: usize,
    pub(super) done: bool,
    /// How far it had come when it was done.
    pub(super) progress: ItemProgress,
}

/// What kind of item a group becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupKind {
    Message,
    Reasoning,
    Call,
    Whole,
}

/// A member of a group: an entry of the fold, or an item of a turn that came
/// whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupMember {
    pub(super) entry: usize,
    pub(super) nth: usize,
    /// The block it grows by, unless it came whole.
    pub(super) block: Option<usize>,
}

impl GroupMember {
    pub(super) fn new(entry: usize, nth: usize, block: Option<usize>) -> Self {
        Self { entry, nth, block }
    }
}

impl ItemGroup {
    fn new(kind: GroupKind, index: u64) -> Self {
        Self {
            kind,
            index,
            members: Vec::new(),
            announced: 0,
            place: None,
            id: String::new(),
            parts: 0,
            open: 0,
            done: false,
            progress: ItemProgress::Whole,
        }
    }

    /// The approximate length of its texts, for reserving memory.
    pub(super) fn size(&self, fold: &Fold) -> usize {
        self.members.iter().map(|member| fold.text(member.entry).size_hint()).sum()
    }

    /// Writes it as an item.
    pub(super) fn write(
        &self,
        response: &str,
        fold: &Fold,
        mut items: Array<'_>,
        cx: &mut EncodeContext<'_>,
    ) {
        let items = &mut items;
        let mut writer = ItemWriter::new(response, self.index);
        writer.progress = self.progress;
        if self.kind == GroupKind::Reasoning {
            writer.reasoning_id = Some(&self.id);
        }
        if let [GroupMember { entry, nth, block: _ }] = self.members.as_slice()
            && let Some(whole) = fold.whole(*entry)
            && let Some(item) = whole.items.get(*nth)
        {
            return writer.write(std::slice::from_ref(item), items, cx);
        }
        let content: Vec<Item<'_>> =
            self.members.iter().filter_map(|member| member.item(fold)).collect();
        writer.write(&content, items, cx);
    }
}

impl GroupMember {
    fn item<'f>(&self, fold: &'f Fold) -> Option<Item<'f>> {
        match fold.whole(self.entry) {
            Some(turn) => turn.items.get(self.nth).cloned(),
            None => fold.item(self.entry),
        }
    }
}

impl ResponsesStreamWriter {
    /// Begins an item. The one before it is done unless a block of it is open.
    pub(super) fn begin_group(
        &mut self,
        kind: GroupKind,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) -> usize {
        if let Some(last) = self.groups.len().checked_sub(1)
            && self.groups.last().is_some_and(|group| group.open == 0)
        {
            self.finish_group(last, ItemProgress::Whole, out, ledger);
        }
        let index = self.groups.len() as u64;
        self.groups.push(ItemGroup::new(kind, index));
        self.groups.len() - 1
    }

    /// The message that a part belongs to. Other protocols do not tell one
    /// message of an answer from the next.
    pub(super) fn message_group(&mut self, out: &mut Vec<u8>, ledger: &mut Ledger) -> usize {
        if self.groups.last().is_some_and(|last| last.kind == GroupKind::Message && !last.done) {
            return self.groups.len() - 1;
        }
        self.begin_group(GroupKind::Message, out, ledger)
    }

    /// Gives an item its place in the output and an id with this prefix.
    pub(super) fn place_group(&mut self, group: usize, prefix: &str) -> u64 {
        let index = group as u64;
        let id = ItemWriter::new(&self.id, index).id(prefix);
        let place = self.placed;
        self.placed += 1;
        if let Some(group) = self.groups.get_mut(group) {
            group.place = Some(place);
            group.id = id;
        }
        place
    }

    /// Ends an item and tells the client.
    pub(super) fn finish_group(
        &mut self,
        number: usize,
        progress: ItemProgress,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        if self.mark_done(number, progress, out, ledger) {
            self.write_done(number, out);
        }
    }

    /// Marks an item as done and returns whether the client must be told.
    pub(super) fn mark_done(
        &mut self,
        number: usize,
        progress: ItemProgress,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) -> bool {
        let Some(group) = self.groups.get_mut(number).filter(|group| !group.done) else {
            return false;
        };
        group.done = true;
        group.progress = progress;
        if let GroupKind::Message = group.kind {
            if group.place.is_none() {
                let fold = &self.fold;
                let content: Vec<Item<'_>> =
                    group.members.iter().filter_map(|member| member.item(fold)).collect();
                is_silent(&content, &mut self.settings.context(ledger));
                return false;
            }
            self.announce(number, None, out);
        }
        true
    }

    /// Writes the event that says that an item is done.
    pub(super) fn write_done(&mut self, number: usize, out: &mut Vec<u8>) {
        let (fold, events) = (&self.fold, &mut self.events);
        let Some(group) = self.groups.get(number) else { return };
        let Some(place) = group.place else { return };
        EventWriter::make_room(group.size(fold), out);
        let mut unreported = Ledger::default();
        let mut cx = self.settings.context(&mut unreported);
        events.write("response.output_item.done", b"", out, |event| {
            event.put("output_index", &place);
            group.write(&self.id, fold, Array::elements_only(event.key("item")), &mut cx);
        });
    }

    /// Writes the events that begin a message and its parts, up to the part of
    /// the block `until`.
    pub(super) fn announce(&mut self, number: usize, until: Option<usize>, out: &mut Vec<u8>) {
        if self.groups.get(number).is_some_and(|group| group.place.is_none()) {
            self.place_group(number, "msg");
            self.begin_item_added(number, out);
            if let Some(group) = self.groups.get(number) {
                let mut item = Object::new(out);
                item.put("type", "message");
                item.put("id", &group.id);
                item.put("status", "in_progress");
                item.put("role", "assistant");
                item.array("content");
            }
            EventWriter::end(out);
        }
        if until.is_some_and(|block| self.is_announced(block)) {
            return;
        }
        while let Some(group) = self.groups.get_mut(number)
            && let Some(&member) = group.members.get(group.announced)
        {
            group.announced += 1;
            self.announce_part(number, member, out);
            if until.is_some() && member.block == until {
                return;
            }
        }
    }

    /// Whether the client has been told about the part of a block.
    fn is_announced(&self, block: usize) -> bool {
        let kind = self.blocks.get(block).map(|block| &block.kind);
        matches!(kind, Some(BlockKind::Part(part)) if part.place.is_some())
    }

    fn announce_part(&mut self, number: usize, member: GroupMember, out: &mut Vec<u8>) {
        let Some(group) = self.groups.get_mut(number) else { return };
        let Some(output) = group.place else { return };
        let place = part_place(&group.id, output, "content_index", group.parts);
        if let Some(block) = member.block {
            group.parts += 1;
            let Some(block_state) = self.blocks.get_mut(block) else { return };
            let BlockKind::Part(part) = &mut block_state.kind else { return };
            let empty = Raw::made(part.empty());
            let kind = "response.content_part.added";
            self.events.write(kind, &place, out, |event| event.put("part", &empty));
            part.place = Some(place);
            if !block_state.open {
                self.close_part(block, out);
            }
            return;
        }
        let mut unreported = Ledger::default();
        let mut cx = self.settings.context(&mut unreported);
        let Some(item) =
            member.item(&self.fold).filter(|item| crosses(item, PartRole::Answer, &cx))
        else {
            return;
        };
        group.parts += 1;
        for kind in ["response.content_part.added", "response.content_part.done"] {
            self.events.write(kind, &place, out, |event| {
                let part = &mut Array::elements_only(event.key("part"));
                write_part(&item, PartRole::Answer, part, &mut cx);
            });
        }
    }

    /// Begins the event that adds an item, up to the item itself.
    pub(super) fn begin_item_added(&mut self, number: usize, out: &mut Vec<u8>) {
        let place = self.groups.get(number).and_then(|group| group.place);
        self.events.begin("response.output_item.added", out);
        out.extend_from_slice(b",\"output_index\":");
        place.unwrap_or_default().write(out);
        out.extend_from_slice(b",\"item\":");
    }

    /// Writes a turn that came whole.
    pub(super) fn whole(&mut self, turn: &Turn<'_>, out: &mut Vec<u8>, ledger: &mut Ledger) {
        lose_turn(turn, ledger);
        let entry = self.fold.len().saturating_sub(1);
        for (nth, item) in turn.items.iter().enumerate() {
            self.refused |= matches!(item, Item::Refusal(_));
            if is_content(item, Pos::NONE) {
                self.whole_part(entry, nth, item, out, ledger);
            } else {
                self.whole_item(entry, nth, item, out, ledger);
            }
        }
    }

    fn whole_part(
        &mut self,
        entry: usize,
        nth: usize,
        item: &Item<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let number = self.message_group(out, ledger);
        let mut cx = self.settings.context(ledger);
        // Writing the part into nothing reports its losses once.
        write_part(item, PartRole::Answer, &mut Array::new(&mut Vec::new()), &mut cx);
        let silent = matches!(item, Item::Text(text) if text.text.is_empty());
        let shows = crosses(item, PartRole::Answer, &cx) && !silent;
        if let Some(group) = self.groups.get_mut(number) {
            group.members.push(GroupMember::new(entry, nth, None));
        }
        if shows {
            self.announce(number, None, out);
        }
    }

    fn whole_item(
        &mut self,
        entry: usize,
        nth: usize,
        item: &Item<'_>,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let number = self.begin_group(GroupKind::Whole, out, ledger);
        let (before, events) = (out.len(), self.events);
        let prefix = if let Item::Call(call) = item {
            call_type(&call.arguments, &self.settings.profile).1
        } else if let Item::Reasoning(_) = item {
            "rs"
        } else if let Item::Tools(_) = item {
            "at"
        } else {
            "msg"
        };
        self.place_group(number, prefix);
        self.begin_item_added(number, out);
        let empty = out.len();
        let mut writer = ItemWriter::new(&self.id, number as u64);
        writer.progress = ItemProgress::Running;
        let mut cx = self.settings.context(ledger);
        let item = std::slice::from_ref(item);
        writer.write(item, &mut Array::elements_only(out), &mut cx);
        if let Some(group) = self.groups.get_mut(number) {
            group.members.push(GroupMember::new(entry, nth, None));
            if out.len() == empty {
                // Nothing of it crosses, so the client is not told about it.
                group.place = None;
                group.done = true;
                self.placed -= 1;
                self.events = events;
                out.truncate(before);
                return;
            }
        }
        EventWriter::end(out);
    }
}
