//! One request, read once for its own translation and for its answer's.

use std::ops::Range;

use super::session::Session;
use super::{
    Error, Options, PathMatch, RequestHead, ResponseTranslator, ToolLists, Translated, invalid,
    judge, output_limit, settle, splice_model, spliced, utf8,
};
use crate::codec::codec;
use crate::ledger::{Code, Ledger, LossPolicy};
use crate::model::{KeptState, Protocol, Request};
use crate::pipe::Pipe;
use crate::profile::Profile;
use crate::protocol::Description;
use crate::restore::Restore;
use crate::session::EARLIER_MEMBER;
use crate::text_tools::{Recovery, TextRequest};
use crate::toolset::Toolset;
use crate::wire::cuts::without;
use crate::wire::envelope::Envelope;
use crate::wire::{At, Object, ReadError, Reader, Str, ids, write_str};

/// A client's request on its way to an upstream. It is decoded once, whatever is
/// made of it, and not at all where its bytes pass.
#[derive(Clone, Debug)]
pub struct PreparedRequest<'a> {
    pub(super) from: Protocol,
    pub(super) to: Protocol,
    pub(super) source: &'a str,
    /// Reads the source.
    reader: Reader<'a>,
    /// What a scan of the source has found.
    head: Option<&'a RequestHead>,
    request: Option<Request<'a>>,
    model_span: Option<Range<usize>>,
    /// Whether it is known to be one JSON object.
    is_checked: bool,
    /// How the tools come back, once the request has been translated.
    restore: Option<Restore>,
    /// How calls are read from text, if the upstream takes no tools.
    recovery: Option<Recovery>,
    /// Reasoning that another vendor sealed, to be cut out where the bytes pass,
    /// and what the ledger says about it.
    cuts: Vec<Range<usize>>,
    cut_ledger: Ledger,
    /// The session that it continues.
    pub(super) session: Option<Session>,
}

impl<'a> PreparedRequest<'a> {
    /// Reads the request of a client that speaks `from`, for an upstream that
    /// speaks `to`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it cannot be read.
    pub fn new(from: Protocol, to: Protocol, body: &'a [u8]) -> Result<Self, Error> {
        let source = utf8(body)?;
        // A request that is translated is read anyway, so nothing is searched.
        let head = (from == to).then(|| {
            let (lists, path) = (ToolLists::default(), PathMatch::default());
            RequestHead::scan(&lists, from, &path, source).ok()
        });
        let has_envelope = match &head {
            Some(Some(head)) => head.has_envelope,
            Some(None) => Envelope::may_be_in(body) || ids::may_hold_own_reasoning(body),
            None => false,
        };
        let mut prepared = Self::read(from, to, Reader::new(source), source, has_envelope)?;
        if let Some(head) = head.flatten() {
            prepared.model_span = head.model_span;
            prepared.is_checked = true;
        }
        Ok(prepared)
    }

    /// Like [`PreparedRequest::new`], for a request whose head was read.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it cannot be read.
    pub fn with_head(
        from: Protocol,
        to: Protocol,
        head: &'a RequestHead,
        body: &'a [u8],
    ) -> Result<Self, Error> {
        let source = utf8(body)?;
        let reader = head.reader(source);
        let mut prepared = Self::read(from, to, reader, source, head.has_envelope)?;
        prepared.set_head(head);
        prepared.head = Some(head);
        Ok(prepared)
    }

    /// Adds what the URL says of the request.
    pub(super) fn set_head(&mut self, head: &RequestHead) {
        self.model_span.clone_from(&head.model_span);
        self.is_checked = true;
        if let Some(request) = &mut self.request {
            let endpoint = &self.from.describe().answers;
            if endpoint.names_model() {
                request.model = head.model.clone().map(Str::plain);
            }
            if endpoint.stream_path.is_some() {
                request.stream.on = Some(At::made(head.stream));
            }
        }
    }

    /// A request that was read, whatever the upstream speaks.
    pub(super) fn of_request(
        from: Protocol,
        to: Protocol,
        source: &'a str,
        request: Request<'a>,
    ) -> Self {
        let mut prepared = Self::unread(from, to, Reader::new(source), source);
        prepared.request = Some(request);
        prepared.is_checked = true;
        prepared
    }

    fn read(
        from: Protocol,
        to: Protocol,
        reader: Reader<'a>,
        source: &'a str,
        has_envelope: bool,
    ) -> Result<Self, Error> {
        let fault = |error| invalid(source, error);
        let mut prepared = Self::unread(from, to, reader, source);
        if from != to {
            let request = (codec(from).read_request)(prepared.reader.clone());
            prepared.request = Some(request.map_err(fault)?);
        } else if has_envelope {
            // There may be reasoning that this upstream never sealed.
            let foreign = (codec(from).foreign_reasoning)(source, &mut prepared.cut_ledger);
            prepared.cuts = foreign.map_err(fault)?;
        }
        Ok(prepared)
    }

    fn unread(from: Protocol, to: Protocol, reader: Reader<'a>, source: &'a str) -> Self {
        Self {
            from,
            to,
            source,
            reader,
            head: None,
            request: None,
            model_span: None,
            is_checked: false,
            restore: None,
            recovery: None,
            cuts: Vec::new(),
            cut_ledger: Ledger::default(),
            session: None,
        }
    }

    /// The request, unless its bytes pass unread.
    #[doc(hidden)]
    pub fn request(&self) -> Option<&Request<'a>> {
        self.request.as_ref()
    }

    /// Translates the request for the upstream.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it cannot be carried as the policy demands,
    /// [`Error::Invalid`] if it passes unread and is no JSON object.
    pub fn translate(&mut self, options: &Options<'_>) -> Result<Translated, Error> {
        self.encode(options, AnswerUse::Translated)
    }

    /// Translates the request, and works out how its tools come back if an
    /// answer is expected.
    pub(super) fn encode(
        &mut self,
        options: &Options<'_>,
        answer: AnswerUse,
    ) -> Result<Translated, Error> {
        let limit = match options.output_limit {
            Some(tokens) if !self.sets_limit()? => Some(tokens),
            Some(_) | None => None,
        };
        let Some(tokens) = limit else { return self.encode_with_own_limit(options, answer) };
        // The limit is the request's only while it is written, as the model's
        // name is.
        self.set_limit(Some(At::made(tokens)));
        let translated = self.encode_with_own_limit(options, answer);
        self.set_limit(None);
        let mut translated = translated?;
        if self.from == self.to {
            let profile = options.profile_of(self.to);
            output_limit::insert(&mut translated.body, &profile, tokens);
        }
        if options.loss_policy != LossPolicy::Ignore {
            translated.ledger.extend(output_limit::entries(self.from, tokens));
        }
        Ok(translated)
    }

    /// Whether the client limits the answer.
    fn sets_limit(&self) -> Result<bool, Error> {
        match &self.request {
            Some(request) => Ok(request.output.max_tokens.is_some()),
            None => output_limit::is_set(self.from, self.source),
        }
    }

    fn set_limit(&mut self, limit: Option<At<u64>>) {
        if let Some(request) = &mut self.request {
            request.output.max_tokens = limit;
        }
    }

    /// Translates the request with the limit that it has.
    pub(super) fn encode_with_own_limit(
        &mut self,
        options: &Options<'_>,
        answer: AnswerUse,
    ) -> Result<Translated, Error> {
        if !options.profile_of(self.to).tool_calls.is_native()
            && let Some(translated) = self.encode_as_text(options)?
        {
            return Ok(translated);
        }
        if let (Some(session), Some(request)) = (&self.session, &self.request)
            && self.from == self.to
        {
            return self.encode_within_protocol(session, request, options, answer);
        }
        let Some(request) = &mut self.request else { return self.pass(options) };
        let mut ledger = Ledger::default();
        let mut out = Vec::with_capacity(self.source.len() + self.source.len() / 8);
        // The name is another one only while the request is written: the answer
        // needs the client's.
        let own = request.model.clone();
        if let Some(model) = &options.model {
            request.model = Some(Str::plain(model.clone()));
        }
        if options.kept_state.is_some() {
            KeptState::remove_from(&mut request.state);
        }
        let profile = model_profile(options, self.to, request);
        let tools = Toolset::of_known(request, &profile, self.reader.known_list());
        (codec(self.to).encode_request)(request, &tools, &profile, &mut out, &mut ledger);
        if answer == AnswerUse::Translated {
            self.restore = Some(Restore::of(&tools, self.from, &profile));
        }
        request.model = own;
        if let Some(kept) = &options.kept_state {
            kept.put_into(&mut request.state);
        }
        let mut translated = if ledger.is_empty() {
            Translated::unchanged(out)
        } else {
            let known = long_values(self.source, self.head, request, &ledger);
            let entries = ledger.entries_past(self.source, &known);
            judge(out, entries, options.loss_policy)?
        };
        translated.required_features = ledger.required_features().to_vec();
        Ok(translated)
    }

    /// Translates the request for an upstream that takes no tools. `None` if it
    /// has neither tools nor calls.
    fn encode_as_text(&mut self, options: &Options<'_>) -> Result<Option<Translated>, Error> {
        let mut decoded = match self.request.take() {
            Some(request) => request,
            None => (codec(self.from).read_request)(self.reader.clone())
                .map_err(|error| invalid(self.source, error))?,
        };
        let mut ledger = Ledger::default();
        if options.kept_state.is_some() {
            KeptState::remove_from(&mut decoded.state);
        }
        let profile = &options.profile_of(self.to);
        let Some(mut text) = TextRequest::of(&decoded, profile, &mut ledger) else {
            let is_needed = self.from != self.to || self.session.is_some();
            self.request = Some(decoded).filter(|_| is_needed);
            return Ok(None);
        };
        if let Some(model) = &options.model {
            text.request.model = Some(Str::plain(model.clone()));
        }
        let mut out = Vec::with_capacity(self.source.len() * 2);
        let profile = &model_profile(options, self.to, &text.request);
        let tools = Toolset::new(&text.request, profile);
        (codec(self.to).encode_request)(&text.request, &tools, profile, &mut out, &mut ledger);
        if self.from == self.to && text.recovery.is_some() {
            refuse_streamed_answers(&decoded, &mut ledger);
        }
        let known = long_values(self.source, self.head, &decoded, &ledger);
        let mut entries = ledger.entries_past(self.source, &known);
        let mut required_features = ledger.required_features().to_vec();
        if self.from == self.to {
            // What has nothing to do with tools stays as the client wrote it.
            let description = self.from.describe();
            let replaced = [
                description.conversation_members,
                description.tool_members,
                description.choice_members,
                if self.session.is_some() { &[EARLIER_MEMBER] } else { &[] },
            ];
            let model = options.model.as_deref();
            out = with_conversation(description, self.source, &out, model, &replaced)
                .map_err(|error| invalid(self.source, error))?;
            entries.retain(|entry| {
                let first = entry.path.split('/').nth(1).unwrap_or_default();
                entry.code == Code::MultipleAnswers
                    || replaced.iter().any(|members| members.contains(&first))
            });
            required_features.clear();
        }
        if let Some(kept) = &options.kept_state {
            kept.put_into(&mut decoded.state);
        }
        self.request = Some(decoded);
        (self.restore, self.recovery) = (Some(text.restore), text.recovery);
        let mut translated = judge(out, entries, options.loss_policy)?;
        translated.required_features = required_features;
        Ok(Some(translated))
    }

    /// Whether the upstream gets the client's bytes, all of them and in one piece,
    /// so that nobody has to copy them.
    pub fn passes_whole(&self, options: &Options<'_>) -> bool {
        let is_named = |model: &str| {
            let span = self.model_span.clone().unwrap_or_default();
            let literal = self.source.get(span).unwrap_or_default();
            literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) == Some(model)
        };
        let in_body = !self.from.describe().answers.names_model();
        self.is_checked
            && self.request.is_none()
            && self.cuts.is_empty()
            && options.output_limit.is_none()
            && options.profile_of(self.to).tool_calls.is_native()
            && options.model.as_deref().filter(|_| in_body).is_none_or(is_named)
    }

    /// Copies the request with the upstream's name of the model and without
    /// reasoning that the upstream did not seal.
    fn pass(&self, options: &Options<'_>) -> Result<Translated, Error> {
        // A name that is in the URL does not belong in the body.
        let in_body = !self.from.describe().answers.names_model();
        let model = options.model.as_deref().filter(|_| in_body);
        if !self.cuts.is_empty() {
            let rest = without(self.source, &self.cuts);
            let body = splice_model(self.from, &rest, model)?.body;
            return settle(self.source, body, &self.cut_ledger, options.loss_policy);
        }
        match (&self.model_span, model) {
            (Some(span), Some(model)) => {
                let body = spliced(self.source, span.clone(), model);
                Ok(Translated::unchanged(body))
            }
            (_, None) if self.is_checked => {
                Ok(Translated::unchanged(self.source.as_bytes().to_vec()))
            }
            (_, model) => splice_model(self.from, self.source, model),
        }
    }

    /// Translates the answer, if it is not a stream.
    pub fn response_translator(&self, options: &Options<'_>) -> ResponseTranslator {
        let (restore, recovery) = (self.restore.clone(), self.recovery.clone());
        let request = self.request.as_ref();
        ResponseTranslator::restoring(self.to, self.from, request, restore, recovery, options)
    }

    /// Translates the answer, if it is a stream.
    pub fn pipe(&self, options: &Options<'_>) -> Pipe {
        // Some protocols repeat the request in the event that says how a stream
        // failed, even where the bytes pass.
        let repeats = self.request.is_none() && self.from.describe().echoes_request;
        let read = || (codec(self.from).read_request)(self.reader.clone()).ok();
        let read = repeats.then(read).flatten();
        let request = self.request.as_ref().or(read.as_ref());
        let (restore, recovery) = (self.restore.clone(), self.recovery.clone());
        Pipe::restoring(self.to, self.from, request, restore, recovery, options)
    }
}

/// Refuses several answers in one stream, of which calls are read only from the first.
fn refuse_streamed_answers(request: &Request<'_>, ledger: &mut Ledger) {
    let is_streamed = request.stream.on.is_some_and(|on| on.value);
    if let Some(At { value: 2.., pos }) = request.output.n.filter(|_| is_streamed) {
        let note = ledger.refused(pos, Code::MultipleAnswers);
        note.detail("Calls that a model writes as text are read from one streamed answer.");
    }
}

/// Where the long values of a request are, in order, for whoever looks for what the ledger
/// is about. If nobody has scanned it, those are known that it was translated from.
fn long_values(
    source: &str,
    head: Option<&RequestHead>,
    request: &Request<'_>,
    ledger: &Ledger,
) -> Vec<Range<usize>> {
    match head {
        Some(head) => head.long_values(source, ledger),
        None => request.literals(source),
    }
}

/// What the upstream accepts for the model that a request names.
fn model_profile(options: &Options<'_>, to: Protocol, request: &Request<'_>) -> Profile {
    let model = request.model.as_ref().map(Str::decode);
    options.profile_for(to, model.as_deref())
}

/// A request with the conversation of another document of the same protocol, and
/// without the members that it replaces.
pub(super) fn with_conversation(
    description: &Description,
    source: &str,
    other: &[u8],
    model: Option<&str>,
    replaced: &[&[&str]],
) -> Result<Vec<u8>, ReadError> {
    let other = std::str::from_utf8(other).unwrap_or_default();
    let conversation = description.conversation_members;
    let mut out = Vec::with_capacity(other.len() + source.len());
    {
        let mut object = Object::new(&mut out);
        let mut reader = Reader::new(source);
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            let value = reader.raw()?;
            let name = key.decode();
            let is_left_out = replaced.iter().any(|members| members.contains(&name.as_ref()));
            match model {
                _ if is_left_out => {}
                Some(model) if name == "model" => write_str(model, object.foreign_key(&key)),
                _ => object.foreign_key(&key).extend_from_slice(value.text().as_bytes()),
            }
        }
        reader.finish()?;
        let mut reader = Reader::new(other);
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            let value = reader.raw()?;
            if conversation.contains(&key.decode().as_ref()) {
                object.foreign_key(&key).extend_from_slice(value.text().as_bytes());
            }
        }
    }
    Ok(out)
}

/// Whether the answer to a request will be translated too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerUse {
    Translated,
    Ignored,
}
