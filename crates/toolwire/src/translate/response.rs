//! A whole answer on its way back.

use std::borrow::Cow;

use super::{Error, Options, Translated, invalid, settle, utf8};
use crate::codec::codec;
use crate::ledger::{Entry, Ledger, LossPolicy};
use crate::model::{ApiError, Protocol, Request, Response, ResponseContext, ResponseSummary};
use crate::protocol::Description;
use crate::restore::{self, Restore};
use crate::stateful::{KeptAnswer, WrittenAnswer};
use crate::text_tools::{Recovery, TextRequest};
use crate::wire::edits::{Edit, write_edited};
use crate::wire::{Kind, ReadError, Reader, Str, write_str};

/// About how many bytes the members take that a client's protocol has and the upstream's
/// lacks: ids for every item, and settings that are always there.
const OWN_MEMBERS: usize = 1024;

/// Translates whole answers to one request. It borrows nothing of the request,
/// because answers take their time.
#[derive(Clone, Debug)]
pub struct ResponseTranslator {
    from: Protocol,
    to: Protocol,
    context: Option<ResponseContext>,
    restore: Restore,
    /// How calls are read from text, if the upstream takes no tools.
    recovery: Option<Recovery>,
    loss_policy: LossPolicy,
    model: Option<String>,
    /// The id of an answer whose upstream gives it none.
    fallback_id: Option<String>,
    /// What is kept of the answer, if its bytes may pass.
    kept: Option<KeptAnswer>,
}

/// A translated answer, what happened to it on the way, and what it says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TranslatedResponse<'b> {
    /// The answer. It borrows what was given where the bytes pass.
    pub body: Cow<'b, [u8]>,
    /// What changed or could not be carried.
    pub ledger: Vec<Entry>,
    /// Which model answered, what it cost, and how it ended.
    pub summary: ResponseSummary,
    /// Where a server that remembers finds what it keeps, if the body was written for a
    /// client that expects one.
    pub written: Option<WrittenAnswer>,
}

/// An answer that says that the model failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailedAnswer {
    /// Why it failed.
    pub error: ApiError,
    /// Whether there is a part of an answer, so that the model has run the request.
    pub has_content: bool,
}

impl ResponseTranslator {
    /// For answers of an upstream that speaks `from` to a client that speaks
    /// `to` and had sent `request`.
    pub(crate) fn new(
        from: Protocol,
        to: Protocol,
        request: Option<&Request<'_>>,
        options: &Options<'_>,
    ) -> Self {
        let (restore, recovery) = TextRequest::way_back(request, &options.profile_of(from));
        Self::restoring(from, to, request, restore, recovery, options)
    }

    /// The same, where it may be known how the tools come back.
    pub(super) fn restoring(
        from: Protocol,
        to: Protocol,
        request: Option<&Request<'_>>,
        restore: Option<Restore>,
        recovery: Option<Recovery>,
        options: &Options<'_>,
    ) -> Self {
        // Where the bytes pass, nothing of the request matters.
        let request = request.filter(|_| from != to || recovery.is_some());
        let restore = request.map(|request| {
            restore.unwrap_or_else(|| Restore::new(request, &options.profile_of(from)))
        });
        let context = request.map(|request| {
            let mut context = (codec(to).response_context)(request);
            context.keep(options.kept_state.as_ref());
            context.created = context.created.or(options.created);
            context
        });
        let kept = options.kept_state.as_ref().filter(|_| from == to);
        Self {
            from,
            to,
            context,
            restore: restore.unwrap_or_default(),
            recovery,
            loss_policy: options.loss_policy,
            model: options.model.clone(),
            fallback_id: options.fallback_id.clone(),
            kept: KeptAnswer::new(codec(to), kept),
        }
    }

    /// Translates an answer.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it cannot be read, [`Error::Refused`] if it cannot
    /// be carried as the policy demands, [`Error::NotAnAnswer`] if it is an
    /// error that came as if it were an answer, or says that the model failed.
    pub fn translate<'b>(&self, body: &'b [u8]) -> Result<TranslatedResponse<'b>, Error> {
        let source = utf8(body)?;
        if let Some(passed) = self.pass_with_overview(source) {
            return Ok(passed);
        }
        let decoded = (codec(self.from).decode_response)(source);
        let response = decoded.as_ref().ok();
        // Only a client of the same protocol can be sure to know a failed answer.
        let failed = self.from != self.to && response.is_some_and(Response::is_failure);
        if failed || is_not_an_answer(self.from, source, response) {
            return Err(Error::NotAnAnswer);
        }
        self.finish(source, decoded)
    }

    /// How the model failed, as an answer in whose place an error belongs says. Such an
    /// answer is refused where it does not pass. `None` for any other document.
    pub fn failure(&self, body: &[u8]) -> Option<FailedAnswer> {
        let response = (codec(self.from).decode_response)(utf8(body).ok()?).ok()?;
        let error = response.failure()?.clone();
        Some(FailedAnswer { error, has_content: !response.is_empty() })
    }

    /// Translates an answer that may be an error.
    pub(super) fn translate_any<'b>(
        &self,
        body: &'b [u8],
    ) -> Result<TranslatedResponse<'b>, Error> {
        let source = utf8(body)?;
        if let Some(passed) = self.pass_with_overview(source) {
            return Ok(passed);
        }
        self.finish(source, (codec(self.from).decode_response)(source))
    }

    fn finish<'b>(
        &self,
        source: &'b str,
        decoded: Result<Response<'b>, ReadError>,
    ) -> Result<TranslatedResponse<'b>, Error> {
        if self.passes() {
            return self.pass(source, decoded.ok());
        }
        let mut response = decoded.map_err(|error| invalid(source, error))?;
        if response.id.as_ref().is_none_or(Str::is_empty)
            && let Some(fallback) = &self.fallback_id
        {
            response.id = Some(Str::plain(fallback.clone()));
        }
        let mut ledger = Ledger::default();
        let recovery = self.recovery.as_ref();
        let found = recovery.map(|recovery| recovery.apply(&mut response, &mut ledger));
        let found = found.unwrap_or_default();
        if self.from == self.to && !found.has_changed {
            return self.pass(source, Some(response));
        }
        let recovered = found.dialect;
        let summary = ResponseSummary { recovered, ..ResponseSummary::of(&response) };
        if self.context.is_some() {
            self.restore.apply(&mut response);
        }
        if let Some(model) = &self.model {
            response.model = Some(Str::plain(model.as_str()));
        }
        restore::distinct(&mut response, &mut ledger);
        let repeated = self.context.as_ref().map_or(0, |context| context.echo.len());
        // If the buffer had to grow in the end, all of it would be copied.
        let mut out = Vec::with_capacity(source.len() + source.len() / 4 + repeated + OWN_MEMBERS);
        let encode = codec(self.to).encode_response;
        let written = encode(&response, self.context.as_ref(), &mut out, &mut ledger);
        let Translated { body, ledger, required_features: _ } =
            settle(source, out, &ledger, self.loss_policy)?;
        Ok(TranslatedResponse { body: Cow::Owned(body), ledger, summary, written })
    }

    /// Passes an answer on, with the client's name for the model if it has one, and
    /// with what is kept of it. An answer that only its own vendor understands passes
    /// too.
    fn pass<'b>(
        &self,
        source: &'b str,
        response: Option<Response<'_>>,
    ) -> Result<TranslatedResponse<'b>, Error> {
        // An error says nothing about what is kept.
        let is_answer = |_: &&KeptAnswer| !is_not_an_answer(self.from, source, response.as_ref());
        let kept = self.kept.as_ref().filter(is_answer);
        let Some(response) = response else {
            Reader::new(source).skip().map_err(|error| invalid(source, error))?;
            let (body, ledger) = (edited(source, None, kept), Vec::new());
            let (summary, written) = (ResponseSummary::default(), None);
            return Ok(TranslatedResponse { body, ledger, summary, written });
        };
        let mut summary = ResponseSummary::of(&response);
        summary.passes_failure = summary.error.is_some();
        let body = edited(source, self.renamed(source, response.model.as_ref()), kept);
        Ok(TranslatedResponse { body, ledger: Vec::new(), summary, written: None })
    }

    /// Passes an answer on, if it does pass and is an ordinary one.
    fn pass_with_overview<'b>(&self, source: &'b str) -> Option<TranslatedResponse<'b>> {
        let overview = self.passes().then(|| (codec(self.from).response_overview)(source))??;
        let name = self.renamed(source, overview.model.as_ref());
        let body = edited(source, name, self.kept.as_ref());
        let summary = ResponseSummary::of_overview(overview);
        Some(TranslatedResponse { body, ledger: Vec::new(), summary, written: None })
    }

    /// Whether an answer passes, whatever it says.
    fn passes(&self) -> bool {
        self.from == self.to && self.recovery.is_none()
    }

    /// The client's name for the model in place of the upstream's.
    fn renamed(&self, source: &str, upstreams: Option<&Str<'_>>) -> Option<Edit<'static>> {
        let name = self.model.as_ref()?;
        let place = upstreams?.span(source)?;
        let mut text = Vec::with_capacity(name.len() + 2);
        write_str(name, &mut text);
        Some(Edit { place, text: Cow::Owned(text) })
    }
}

/// An answer with another name for the model, and with what is kept of it.
fn edited<'b>(source: &'b str, name: Option<Edit<'_>>, kept: Option<&KeptAnswer>) -> Cow<'b, [u8]> {
    let kept = kept.and_then(|kept| kept.edits(Reader::new(source)).ok());
    let mut edits = kept.unwrap_or_default();
    edits.extend(name);
    if edits.is_empty() {
        return Cow::Borrowed(source.as_bytes());
    }
    edits.sort_unstable_by_key(|edit| edit.place.start);
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut out = Vec::with_capacity(source.len() + added);
    write_edited(source.as_bytes(), edits, &mut out);
    Cow::Owned(out)
}

/// Whether a document has an error and no answer. Some vendors send one with a
/// good status, and OpenRouter with an empty place for the answer.
/// vectors/errors/chat-vendor-null-choices
/// A document with an answer in it is not looked at again.
pub(crate) fn is_not_an_answer(
    protocol: Protocol,
    source: &str,
    response: Option<&Response<'_>>,
) -> bool {
    if response.is_some_and(|response| !response.is_empty()) {
        return false;
    }
    let has_error = || -> Result<bool, ReadError> {
        let Description { answer_member, error_member, .. } = protocol.describe();
        let mut reader = Reader::new(source);
        let mut members = reader.object()?;
        let (mut error, mut answered) = (false, false);
        while let Some(key) = members.next(&mut reader)? {
            error |= key == *error_member && reader.peek() != Kind::Null;
            let is_answer = key == *answer_member;
            let value = reader.raw()?;
            // An answer that can be read may have nothing to say.
            let is_empty = value.kind() == Kind::Null
                || (response.is_none() && value.kind() == Kind::Array && value.is_empty());
            answered |= is_answer && !is_empty;
        }
        reader.finish()?;
        Ok(error && !answered)
    };
    has_error().unwrap_or_default()
}
