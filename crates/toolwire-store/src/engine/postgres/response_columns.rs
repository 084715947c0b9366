//! Responses as the statement that inserts them binds them: a list for each column.

use super::record_values::{PackedItems, Pieces, Value};
use super::shared::NewRecord;
use crate::engine::stored_body::StoredBody;
use crate::packed;
use crate::record::{FullRecord, Record};

/// The columns of some responses.
pub(super) struct ResponseColumns<'r> {
    tenant: Vec<&'r str>,
    id: Vec<&'r str>,
    created: Vec<i64>,
    updated: Vec<i64>,
    expires: Vec<i64>,
    previous: Vec<Option<&'r str>>,
    conversation: Vec<Option<&'r str>>,
    status: Vec<&'r str>,
    model: Vec<&'r str>,
    body: Vec<Pieces<'r>>,
    internal: Vec<&'r [u8]>,
    next: Vec<i64>,
    items: Vec<i64>,
    bytes: Vec<i64>,
    context: Vec<i64>,
    owner: Vec<Option<&'r str>>,
    lease: Vec<Option<i64>>,
    shared: Vec<Option<i64>>,
    shared_at: Vec<Option<i64>>,
    output_at: Vec<Option<i64>>,
    packed: Vec<Option<PackedItems<'r>>>,
    /// The ids of items that are listed, and behind it the place of the response that
    /// each belongs to, counted from one.
    item_id: Vec<&'r str>,
    place_of_item: Vec<i64>,
}

impl<'r> ResponseColumns<'r> {
    pub(super) fn of(group: &[NewRecord<'r>]) -> Self {
        let mut columns = Self::with_capacity(group.len());
        for (place, new) in (1..).zip(group) {
            columns.push(place, *new);
        }
        columns
    }

    /// Room for so many. Few have ids that are listed.
    fn with_capacity(responses: usize) -> Self {
        Self {
            tenant: Vec::with_capacity(responses),
            id: Vec::with_capacity(responses),
            created: Vec::with_capacity(responses),
            updated: Vec::with_capacity(responses),
            expires: Vec::with_capacity(responses),
            previous: Vec::with_capacity(responses),
            conversation: Vec::with_capacity(responses),
            status: Vec::with_capacity(responses),
            model: Vec::with_capacity(responses),
            body: Vec::with_capacity(responses),
            internal: Vec::with_capacity(responses),
            next: Vec::with_capacity(responses),
            items: Vec::with_capacity(responses),
            bytes: Vec::with_capacity(responses),
            context: Vec::with_capacity(responses),
            owner: Vec::with_capacity(responses),
            lease: Vec::with_capacity(responses),
            shared: Vec::with_capacity(responses),
            shared_at: Vec::with_capacity(responses),
            output_at: Vec::with_capacity(responses),
            packed: Vec::with_capacity(responses),
            item_id: Vec::new(),
            place_of_item: Vec::new(),
        }
    }

    fn push(&mut self, place: i64, new: NewRecord<'r>) {
        let FullRecord { record, rows } = new.full;
        let Record {
            tenant,
            kind: _,
            id,
            created,
            updated,
            expires,
            previous,
            conversation,
            status,
            model,
            body: _,
            internal,
            next,
            items,
            bytes,
            context,
            owner,
            lease,
        } = record;
        let StoredBody { pieces, shared, shared_at, output_at } = StoredBody::of(new.full, new.cut);
        self.tenant.push(tenant);
        self.id.push(id);
        self.created.push(*created);
        self.updated.push(*updated);
        self.expires.push(*expires);
        self.previous.push(previous.as_deref());
        self.conversation.push(conversation.as_deref());
        self.status.push(status.as_str());
        self.model.push(model);
        self.body.push(Pieces(pieces));
        self.internal.push(internal);
        self.next.push(*next);
        self.items.push(*items);
        self.bytes.push(*bytes);
        self.context.push(*context);
        self.owner.push(owner.as_deref());
        self.lease.push(*lease);
        self.shared.push(shared);
        self.shared_at.push(shared_at);
        self.output_at.push(output_at);
        self.packed.push((!rows.is_empty()).then_some(PackedItems(rows)));
        for id in packed::listed_ids(id, rows) {
            self.item_id.push(id);
            self.place_of_item.push(place);
        }
    }

    /// All of them, in the order in which the statement has them.
    pub(super) fn values(&self) -> [Value<'_>; 23] {
        let Self {
            tenant,
            id,
            created,
            updated,
            expires,
            previous,
            conversation,
            status,
            model,
            body,
            internal,
            next,
            items,
            bytes,
            context,
            owner,
            lease,
            shared,
            shared_at,
            output_at,
            packed,
            item_id,
            place_of_item,
        } = self;
        [
            tenant, id, created, updated, expires, previous, conversation, status, model, body,
            internal, next, items, bytes, context, owner, lease, shared, shared_at, output_at,
            packed, place_of_item, item_id,
        ]
    }
}
