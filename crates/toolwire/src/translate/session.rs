//! A request behind the messages of the session that it continues.

use std::collections::HashSet;
use std::time::Duration;

use super::prepared::{AnswerUse, with_conversation};
use super::{Error, Options, PreparedRequest, RequestHead, Translated, invalid, judge, utf8};
use crate::codec::codec;
use crate::ledger::{Entry, Ledger};
use crate::model::{Item, Protocol, Request, Role, Slot, Turn};
use crate::session::{EARLIER_MEMBER, earlier_turns, is_instruction};
use crate::toolset::Toolset;
use crate::tracker::Tracker;
use crate::wire::envelope::Envelope;
use crate::wire::{Array, Object, ReadError, Reader, Str};

/// What is known of the session of a request.
#[derive(Clone, Debug)]
pub(super) struct Session {
    /// The calls of the whole conversation.
    calls: Tracker,
    /// Whether an upstream of the client's protocol takes the messages as they
    /// are.
    passes: bool,
    /// Whether several calls have the same id, which not every API takes.
    repeats_ids: bool,
    /// How many of the client's own messages come before those of the session.
    leading: usize,
    /// How many messages the session has.
    earlier: usize,
}

impl<'a> PreparedRequest<'a> {
    /// Like [`PreparedRequest::with_head`], for a document of
    /// [`SessionRequest::write_whole`](crate::session::SessionRequest::write_whole).
    /// `origins` has the protocol of each message of the session.
    ///
    /// Messages of several protocols become one conversation in the model, so a
    /// call of one can have its result in another. If all of them are of the
    /// upstream's protocol, every call has its result and the upstream takes the
    /// calls' ids, the bytes pass.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it cannot be read.
    #[doc(hidden)]
    pub fn with_session(
        from: Protocol,
        to: Protocol,
        head: &'a RequestHead,
        body: &'a [u8],
        origins: &[Protocol],
    ) -> Result<Self, Error> {
        let source = utf8(body)?;
        let fault = |error| invalid(source, error);
        let reader = head.reader(source);
        let mut request = (codec(from).read_request)(reader).map_err(fault)?;
        let earlier = earlier_turns(source, origins).map_err(fault)?;
        request.extra.retain(|field| field.key != EARLIER_MEMBER);
        let own = std::mem::take(&mut request.turns);
        let instructions = own.iter().take_while(|turn| is_instruction(turn)).count();
        let listed = |turn: &&Turn<'_>| turn.slot == Slot::Inline;
        let leading = own.iter().take(instructions).filter(listed).count();
        let mut own = own.into_iter();
        request.turns.extend(own.by_ref().take(instructions));
        request.turns.extend(earlier);
        request.turns.extend(own);
        let calls = Tracker::of_turns(&request.turns, Duration::ZERO);
        let groups_results = codec(from).session.is_some_and(|session| session.groups_results);
        let passes = origins.iter().all(|origin| *origin == from)
            && calls.is_whole()
            && results_follow(&request.turns, groups_results);
        let mut ids = HashSet::with_capacity(calls.calls().len());
        let repeats_ids = !calls.calls().iter().all(|call| ids.insert(call.id.as_str()));
        let earlier = origins.len();
        let session = Session { calls, passes, repeats_ids, leading, earlier };
        let mut prepared = Self::of_request(from, to, source, request);
        prepared.session = Some(session);
        prepared.set_head(head);
        Ok(prepared)
    }

    /// The calls of the whole conversation, if the request continues a session.
    #[doc(hidden)]
    pub fn session_calls(&self) -> Option<&Tracker> {
        self.session.as_ref().map(|session| &session.calls)
    }

    /// Writes the request for an upstream of the client's protocol.
    pub(super) fn encode_within_protocol(
        &self,
        session: &Session,
        request: &Request<'a>,
        options: &Options<'_>,
        answer: AnswerUse,
    ) -> Result<Translated, Error> {
        let model = request.model.as_ref().map(Str::decode);
        let profile = options.profile_for(self.to, model.as_deref());
        if session.passes && !(session.repeats_ids && profile.ids.unique) {
            // A name that is in the URL does not belong in the body.
            let in_body = !self.from.describe().answers.names_model();
            let joined = self.joined(options.model.as_deref().filter(|_| in_body));
            let joined = joined.map_err(|error| invalid(self.source, error))?;
            if !Envelope::may_be_in(&joined) {
                return Ok(Translated::unchanged(joined));
            }
            let mut plain = PreparedRequest::new(self.from, self.to, &joined)?;
            let mut translated = plain.encode_with_own_limit(options, answer)?;
            for entry in &mut translated.ledger {
                session.rename(self.list_member(), entry);
            }
            return Ok(translated);
        }
        let mut ledger = Ledger::default();
        let mut out = Vec::with_capacity(self.source.len() + self.source.len() / 8);
        let tools = Toolset::new(request, &profile);
        (codec(self.to).encode_request)(request, &tools, &profile, &mut out, &mut ledger);
        let description = self.from.describe();
        let members = [description.conversation_members, &[EARLIER_MEMBER]];
        // What is not the conversation stays as the client wrote it.
        let body =
            with_conversation(description, self.source, &out, options.model.as_deref(), &members);
        let body = body.map_err(|error| invalid(self.source, error))?;
        let mut entries = ledger.entries_past(self.source, &request.literals(self.source));
        entries.retain(|entry| {
            let first = entry.path.split('/').nth(1).unwrap_or_default();
            members.iter().any(|members| members.contains(&first))
        });
        judge(body, entries, options.loss_policy)
    }

    /// The request with the session's messages in its own list, and the
    /// upstream's name of the model.
    fn joined(&self, mut model: Option<&str>) -> Result<Vec<u8>, ReadError> {
        let mut earlier = Vec::new();
        let mut own = Vec::new();
        let mut out = Vec::with_capacity(self.source.len());
        let mut reader = Reader::new(self.source);
        let mut object = Object::new(&mut out);
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            let list = if key == EARLIER_MEMBER {
                &mut earlier
            } else if key == self.list_member() {
                &mut own
            } else {
                let value = reader.raw()?;
                if key == "model"
                    && let Some(model) = model.take()
                {
                    object.put("model", model);
                    continue;
                }
                object.foreign_key(&key).extend_from_slice(value.text().as_bytes());
                continue;
            };
            let mut elements = reader.array()?;
            while elements.more(&mut reader)? {
                list.push(reader.raw()?);
            }
        }
        object.maybe("model", model);
        let leading = self.session.as_ref().map_or(0, |session| session.leading);
        let (leading, rest) = own.split_at_checked(leading).unwrap_or_default();
        let mut list = Array::new(object.key(self.list_member()));
        for message in leading.iter().chain(&earlier).chain(rest) {
            list.push(message);
        }
        drop(list);
        drop(object);
        Ok(out)
    }

    fn list_member(&self) -> &'static str {
        self.from.codec().session.map_or("", |session| session.list_member)
    }
}

impl Session {
    /// Gives a line about the joined list the path in the document as it was.
    fn rename(&self, list_member: &str, entry: &mut Entry) {
        let Self { calls: _, passes: _, repeats_ids: _, leading, earlier } = self;
        let mut steps = entry.path.splitn(4, '/').skip(1);
        let (Some(first), Some(index)) = (steps.next(), steps.next()) else { return };
        let Ok(index) = index.parse::<usize>() else { return };
        if first != list_member || index < *leading {
            return;
        }
        let rest = steps.next().map(|rest| format!("/{rest}")).unwrap_or_default();
        entry.path = match index.checked_sub(leading + earlier) {
            Some(own) => format!("/{list_member}/{}{rest}", own + leading),
            None => format!("/{EARLIER_MEMBER}/{}{rest}", index - leading),
        };
    }
}

/// Whether the results of an answer's calls follow at once, as APIs want them.
/// Every call has one.
fn results_follow(turns: &[Turn<'_>], groups_results: bool) -> bool {
    let mut open = 0_usize;
    let mut models = false;
    for turn in turns {
        let calls = turn.items.iter().filter(|item| matches!(item, Item::Call(_))).count();
        let results = turn.items.iter().filter(|item| matches!(item, Item::Result(_))).count();
        let speaks = turn.role == Role::Assistant;
        if speaks && !models && open > 0 {
            return false;
        }
        open = (open + calls).saturating_sub(results);
        if !speaks && open > 0 && (groups_results || results < turn.items.len()) {
            return false;
        }
        models = speaks;
    }
    true
}
