//! One request and the way back of its answer, with the request read once.

use std::ops::Range;

use super::{Error, Options, Translated, invalid, judge, settle, splice_model, spliced, utf8};
use crate::codec::codec;
use crate::ledger::{Ledger, LossPolicy};
use crate::model::{Protocol, Request, ResponseContext};
use crate::pipe::Pipe;
use crate::restore::{self, Restore};
use crate::wire::cuts::without;
use crate::wire::envelope::Envelope;
use crate::wire::{Reader, Str, string_under};

/// A client's request on its way to an upstream. It is read once, whatever is
/// made of it, and not at all where its bytes pass as they are.
#[derive(Clone, Debug)]
pub struct PreparedRequest<'a> {
    from: Protocol,
    to: Protocol,
    source: &'a str,
    request: Option<Request<'a>>,
    model_at: Option<Range<usize>>,
    /// Where the bytes pass: the reasoning that another vendor sealed, which is
    /// cut out, and what the ledger says about it.
    cuts: Vec<Range<usize>>,
    cut_ledger: Ledger,
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
        let mut prepared = Self {
            from,
            to,
            source,
            request: None,
            model_at: None,
            cuts: Vec::new(),
            cut_ledger: Ledger::default(),
        };
        let fault = |error| invalid(source, error);
        if from != to {
            prepared.request = Some(codec(from).decode_request(source).map_err(fault)?);
        } else if Envelope::may_be_in(body) {
            let ledger = &mut prepared.cut_ledger;
            prepared.cuts = codec(from).foreign_reasoning(source, ledger).map_err(fault)?;
        }
        Ok(prepared)
    }

    /// Says where the only `model` of the document stands, quotes included. The
    /// caller vouches that the document is JSON to its end; where its bytes pass,
    /// nobody looks at them again.
    #[must_use]
    pub fn with_model_at(mut self, span: Range<usize>) -> Self {
        self.model_at = Some(span);
        self
    }

    /// The request, unless its bytes pass unread.
    pub fn request(&self) -> Option<&Request<'a>> {
        self.request.as_ref()
    }

    /// Writes the request for the upstream.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it cannot be carried as the policy demands,
    /// [`Error::Invalid`] if it passes unread and is no JSON object.
    pub fn write(&mut self, options: &Options) -> Result<Translated, Error> {
        let Some(request) = &mut self.request else { return self.pass(options) };
        let mut ledger = Ledger::default();
        let mut out = Vec::with_capacity(self.source.len() + self.source.len() / 8);
        // The name is another for as long as it is written; the way back wants
        // the client's.
        let own = request.model.clone();
        if let Some(model) = &options.model {
            request.model = Some(Str::plain(model.clone()));
        }
        codec(self.to).encode_request(request, &options.profile(self.to), &mut out, &mut ledger);
        request.model = own;
        let entries = match ledger.is_empty() {
            true => Vec::new(),
            false => ledger.entries_past(self.source, &request.literals(self.source)),
        };
        let mut translated = judge(out, entries, options.policy)?;
        translated.required_features = ledger.required().to_vec();
        Ok(translated)
    }

    /// Copies the request with the upstream's name of the model and without
    /// reasoning that the upstream did not seal.
    fn pass(&self, options: &Options) -> Result<Translated, Error> {
        if !self.cuts.is_empty() {
            let rest = without(self.source, &self.cuts);
            let body = splice_model(&rest, options.model.as_deref())?.body;
            return settle(self.source, body, &self.cut_ledger, options.policy);
        }
        match (&self.model_at, &options.model) {
            (Some(span), Some(model)) => {
                let body = spliced(self.source, span.clone(), model);
                Ok(Translated::new(body, Vec::new()))
            }
            (_, model) => splice_model(self.source, model.as_deref()),
        }
    }

    /// The way back of a whole answer.
    pub fn back(&self, options: &Options) -> ResponseTranslator {
        ResponseTranslator::new(self.to, self.from, self.request.as_ref(), options)
    }

    /// The way back of a stream.
    pub fn pipe(&self, options: &Options) -> Pipe {
        // Of streams that pass as they are, only one of Responses repeats the
        // request, in the event that says how it failed.
        let repeats = self.request.is_none() && self.from == Protocol::Responses;
        let read = if repeats { codec(self.from).decode_request(self.source).ok() } else { None };
        let request = self.request.as_ref().or(read.as_ref());
        Pipe::new(self.to, self.from, request, options)
    }
}

/// The way back of a whole answer: what of the request it depends on. It
/// borrows nothing, because answers take their time.
#[derive(Clone, Debug)]
pub struct ResponseTranslator {
    from: Protocol,
    to: Protocol,
    asked: Option<ResponseContext>,
    restore: Restore,
    policy: LossPolicy,
    model: Option<String>,
}

impl ResponseTranslator {
    /// The way of an answer from an upstream that speaks `from` to a client
    /// that speaks `to` and had sent `request`.
    pub fn new(
        from: Protocol,
        to: Protocol,
        request: Option<&Request<'_>>,
        options: &Options,
    ) -> Self {
        // Where the bytes pass, nothing of the request matters.
        let request = request.filter(|_| from != to);
        let restore = request.map(|request| Restore::new(request, &options.profile(from)));
        Self {
            from,
            to,
            asked: request.map(|request| codec(to).response_context(request)),
            restore: restore.unwrap_or_default(),
            policy: options.policy,
            model: options.model.clone(),
        }
    }

    /// Translates an answer.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it cannot be read, [`Error::Refused`] if it cannot
    /// be carried as the policy demands.
    pub fn translate(&self, body: &[u8]) -> Result<Translated, Error> {
        let source = utf8(body)?;
        if self.from == self.to {
            return self.pass(source);
        }
        let mut response =
            codec(self.from).decode_response(source).map_err(|error| invalid(source, error))?;
        if self.asked.is_some() {
            self.restore.apply(&mut response);
        }
        if let Some(model) = &self.model {
            response.model = Some(Str::plain(model.as_str()));
        }
        let mut ledger = Ledger::default();
        restore::distinct(&mut response, &mut ledger);
        let mut out = Vec::with_capacity(body.len() + body.len() / 4);
        codec(self.to).encode_response(&response, self.asked.as_ref(), &mut out, &mut ledger);
        settle(source, out, &ledger, self.policy)
    }

    /// Copies an answer, with the client's name for the model if it has one.
    fn pass(&self, source: &str) -> Result<Translated, Error> {
        Reader::new(source).skip().map_err(|error| invalid(source, error))?;
        let renamed = self.model.as_ref().and_then(|model| {
            let span = string_under(source, &["model"])?.span(source)?;
            Some(spliced(source, span, model))
        });
        let body = renamed.unwrap_or_else(|| source.as_bytes().to_vec());
        Ok(Translated::new(body, Vec::new()))
    }
}
