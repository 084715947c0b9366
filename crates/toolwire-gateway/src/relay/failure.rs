//! Errors, written for a client in the client's own protocol.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use hyper::{Response, StatusCode};
use toolwire::model::{ApiError, Blame, ErrorKind, Retry};
use toolwire::pipe::Pipe;
use toolwire::translate::KeptState;
use toolwire::{Protocol, codec, translate};
use toolwire_store::random_id;

use super::{RequestContext, headers};
use crate::observe::{Outcome, Reason};
use crate::response_body::ResponseBody;
use crate::retry::{Decision, HealthEffect, RetryPolicy};
use crate::secret_mask::SecretMask;
use crate::stored::time_of_day;
use crate::upstream::{Upstream, UpstreamError};

/// Why a client gets an error instead of a response.
#[derive(Debug)]
pub(crate) struct Failure {
    error: Box<ApiError>,
    /// The HTTP status, if it does not follow from the kind of error.
    status: Option<u16>,
    headers: Box<HeaderMap>,
    /// The upstream's own error body, for a client that speaks its protocol.
    verbatim: Option<Bytes>,
    /// Whether to try another upstream, and what this says about the upstream.
    decision: Decision,
    /// Why, if the kind of the error does not say it all.
    reason: Option<Reason>,
}

impl Failure {
    pub(crate) fn new(error: ApiError) -> Self {
        Self {
            error: Box::new(error),
            status: None,
            headers: Box::default(),
            verbatim: None,
            decision: Decision::HEALTHY,
            reason: None,
        }
    }

    pub(crate) fn with_status(status: u16, error: ApiError) -> Self {
        Self { status: Some(status), ..Self::new(error) }
    }

    /// The same with a reason that says more than the kind of error.
    pub(crate) fn because(self, reason: Option<Reason>) -> Self {
        Self { reason, ..self }
    }

    /// The request cannot be translated.
    pub(crate) fn from_translation(error: &translate::Error) -> Self {
        let mut api = ApiError::new(ErrorKind::InvalidRequest, error.to_string());
        if let translate::Error::Invalid { pointer, .. } = error {
            api.param = Some(pointer.clone()).filter(|pointer| !pointer.is_empty());
        }
        if let translate::Error::Refused { entries } = error {
            api.kind = ErrorKind::Unsupported;
            api.param = entries.first().map(|entry| entry.path.clone());
        }
        Self::new(api)
    }

    /// The upstream's response cannot be read.
    pub(super) fn unreadable_response(upstream: &Upstream, reason: &str) -> Self {
        let name = &upstream.config.name;
        let message = format!("The upstream {name} sent a response that cannot be read: {reason}.");
        let error = ApiError::new(ErrorKind::Server, message);
        Self { decision: Decision::FAILED, ..Self::with_status(502, error) }
    }

    /// There is no response, or only a part of it.
    pub(super) fn from_upstream_error(error: UpstreamError, upstream: &Upstream) -> Self {
        let decision = RetryPolicy::after_upstream_error(error);
        let api = error.to_api_error(&upstream.config.name);
        let reason = Some(Reason::Upstream(error));
        Self { decision, reason, ..Self::with_status(error.status(), api) }
    }

    /// The upstream responded with an error. `status` is its HTTP status, which
    /// is 200 for an error that came as if it were a response.
    pub(super) fn from_error_response(
        context: &RequestContext<'_>,
        upstream: &Upstream,
        status: StatusCode,
        upstream_headers: &HeaderMap,
        body: Bytes,
    ) -> Self {
        let protocol = upstream.config.protocol;
        let error_status = Some(status.as_u16()).filter(|status| *status >= 400);
        let text = std::str::from_utf8(&body).ok().filter(|text| text.len() <= MAX_ERROR);
        let decoded = text.and_then(|text| (codec(protocol).decode_error)(error_status, text).ok());
        let is_readable = decoded.is_some();
        let mut failure = Self::from_stream_error(
            decoded.unwrap_or_else(|| by_status(upstream, status)),
            upstream,
        );
        if error_status.is_some() && is_readable && protocol == context.client {
            failure.verbatim = Some(body);
            failure.status = error_status;
        }
        if let Some(status) = error_status {
            failure.decision = upstream.retry.after_status(status);
            failure.reason = Some(Reason::Status(status));
        }
        *failure.headers = headers::for_client(context, upstream, upstream_headers);
        failure.read_retry_after();
        failure
    }

    /// The upstream responded with an answer that says that it failed.
    pub(super) fn from_failed_response(
        context: &RequestContext<'_>,
        upstream: &Upstream,
        upstream_headers: &HeaderMap,
        error: ApiError,
    ) -> Self {
        let failure = Self::from_stream_error(error, upstream);
        failure.with_headers(headers::for_client(context, upstream, upstream_headers))
    }

    /// An upstream's error that passes as it is.
    pub(super) fn from_passed_error(
        upstream: &Upstream,
        status: StatusCode,
        headers: HeaderMap,
        body: Bytes,
    ) -> Self {
        let text = std::str::from_utf8(&body).ok().filter(|text| text.len() <= MAX_ERROR);
        let code = status.as_u16();
        let codec = codec(upstream.config.protocol);
        let decoded = text.and_then(|text| (codec.decode_error)(Some(code), text).ok());
        let mut failure = Self::from_stream_error(
            decoded.unwrap_or_else(|| by_status(upstream, status)),
            upstream,
        );
        failure.decision = upstream.retry.after_status(code);
        failure.reason = Some(Reason::Status(code));
        *failure.headers = headers;
        // The gateway follows no redirects, so one is no response.
        if !status.is_redirection() && !body.is_empty() {
            failure.verbatim = Some(body);
            failure.status = Some(code);
        } else {
            failure.headers.remove(CONTENT_TYPE);
            failure.status = Some(if status.is_redirection() { 502 } else { code });
        }
        failure.headers.remove(CONTENT_LENGTH);
        failure.read_retry_after();
        failure
    }

    /// The upstream's stream began with an error.
    pub(super) fn from_stream_error(error: ApiError, upstream: &Upstream) -> Self {
        let decision = upstream.retry.after_error(&error);
        let mut failure = Self { decision, ..Self::new(error) };
        let Self { error, headers, .. } = &mut failure;
        for (name, value) in [
            ("toolwire-upstream-type", &error.vendor_type),
            ("toolwire-upstream-code", &error.code),
            ("toolwire-upstream-request-id", &error.request_id),
        ] {
            if let Some(value) =
                value.as_deref().and_then(|value| HeaderValue::from_str(value).ok())
            {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        failure
    }

    /// Adds headers of the upstream's response.
    pub(super) fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers.extend(headers);
        self.read_retry_after();
        self
    }

    /// The same behind a part of an answer: the upstream has run the request, so no
    /// other may get it.
    pub(super) fn after_answer(mut self) -> Self {
        self.decision.try_another = false;
        self
    }

    /// The same without the secrets that an upstream may have quoted.
    pub(super) fn without_secrets(mut self, mask: &SecretMask) -> Self {
        mask.mask_error(&mut self.error);
        mask.remove_headers(&mut self.headers);
        if let Some(masked) = self.verbatim.as_deref().and_then(|body| mask.mask(body)) {
            self.verbatim = Some(masked.into());
        }
        self
    }

    /// Sets a header of the error response.
    pub(crate) fn set_header(&mut self, name: &'static str, value: &'static str) {
        self.headers.insert(name, HeaderValue::from_static(value));
    }

    /// The same for a value that is made.
    pub(crate) fn set_header_value(&mut self, name: &'static str, value: HeaderValue) {
        self.headers.insert(name, value);
    }

    /// Whether another upstream may get the request.
    pub(super) fn may_try_another(&self) -> bool {
        self.decision.try_another
    }

    /// Records in the upstream's health what this says about it.
    pub(super) fn update_health(&self, upstream: &Upstream) {
        match self.decision.health {
            HealthEffect::Healthy => upstream.succeeded(),
            HealthEffect::Paused => {
                if let Retry::After(seconds) = self.error.retry {
                    upstream.pause(Duration::from_secs(seconds));
                }
            }
            HealthEffect::Failed => upstream.failed(),
            HealthEffect::Unknown => {}
        }
    }

    /// What the client is told.
    pub(super) fn message(&self) -> &str {
        &self.error.message
    }

    /// Why it failed, for the log.
    pub(super) fn reason(&self) -> Reason {
        self.reason.unwrap_or(Reason::Kind(self.error.kind))
    }

    pub(super) fn outcome(&self) -> Outcome {
        match self.decision.health {
            HealthEffect::Healthy if self.error.blame == Blame::Client => Outcome::Refused,
            HealthEffect::Healthy
            | HealthEffect::Paused
            | HealthEffect::Failed
            | HealthEffect::Unknown => Outcome::Failed,
        }
    }

    /// Whether a client that looks for it there gets this as the end of its stream. What an
    /// upstream has said to a client of its own protocol stays as it is.
    pub(super) fn belongs_in_stream(&self, client: Protocol) -> bool {
        let streamed = client.describe().streamed_errors;
        self.verbatim.is_none() && streamed.contains(&self.error.kind)
    }

    /// A stream that begins, and ends with the error.
    pub(super) fn into_stream(mut self, client: Protocol, id: &str) -> Response<ResponseBody> {
        let mut headers = std::mem::take(&mut *self.headers);
        let mut response = Response::new(ResponseBody::whole(self.into_event(client, id)));
        super::set_headers(&mut headers);
        headers::set_request_id(client, id, &mut headers);
        *response.headers_mut() = headers;
        response
    }

    /// The same for a request that is not read to its end. Its connection ends,
    /// because what follows is the rest of it.
    pub(super) fn unread(mut self) -> Self {
        self.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        self
    }

    /// The whole HTTP response.
    pub(crate) fn into_response(mut self, client: Protocol, id: &str) -> Response<ResponseBody> {
        self.error.request_id = Some(id.to_owned());
        let mut body = Vec::with_capacity(256);
        let status_by_kind = (codec(client).encode_error)(&self.error, &mut body);
        let body = self.verbatim.take().unwrap_or_else(|| body.into());
        let mut response = Response::new(ResponseBody::whole(body));
        let status = StatusCode::from_u16(self.status.unwrap_or(status_by_kind));
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        *headers = *self.headers;
        headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        headers::set_request_id(client, id, headers);
        if self.error.kind == ErrorKind::Quota
            && let Some(name) = client.describe().vendor.should_retry
        {
            headers.insert(name, HeaderValue::from_static("false"));
        }
        if let Retry::After(seconds) = self.error.retry
            && !headers.contains_key("retry-after-ms")
        {
            headers.entry(RETRY_AFTER).or_insert_with(|| HeaderValue::from(seconds));
        }
        response
    }

    /// The error that the client gets.
    pub(super) fn error(&self) -> &ApiError {
        &self.error
    }

    /// The error itself.
    pub(super) fn into_error(self) -> ApiError {
        *self.error
    }

    /// The body of the error alone.
    pub(super) fn into_body(mut self, client: Protocol, id: &str) -> Vec<u8> {
        self.error.request_id = Some(id.to_owned());
        let mut body = Vec::with_capacity(256);
        (codec(client).encode_error)(&self.error, &mut body);
        body
    }

    /// The event of a stream whose head has been sent.
    pub(super) fn into_event(mut self, client: Protocol, id: &str) -> Bytes {
        self.error.request_id = Some(id.to_owned());
        let mut event = Vec::with_capacity(256);
        let mut options = translate::Options::new();
        // A response that is nothing but this error has an id of its own, like any other.
        options.kept_state = Some(KeptState {
            id: random_id("resp_").ok(),
            created: Some(time_of_day::now()),
            store: false,
            previous: None,
            conversation: None,
            background: false,
        });
        if let Ok(mut pipe) = Pipe::new(client, client, &options) {
            pipe.fail(*self.error, &mut event);
        }
        event.into()
    }

    /// Takes the time to wait from the headers, if the error does not say it.
    fn read_retry_after(&mut self) {
        if self.error.retry == Retry::Later
            && let Some(pause) = headers::retry_after(&self.headers)
        {
            self.error.retry = Retry::After(pause.as_secs_f64().ceil() as u64);
        }
    }
}

/// No upstream serves the model.
pub(crate) fn no_model(name: &str) -> Failure {
    let name: String = name.chars().take(200).collect();
    let message = format!(
        "No upstream serves the model `{}`. GET /v1/models lists the models.",
        name.escape_debug()
    );
    let mut error = ApiError::new(ErrorKind::NotFound, message);
    error.param = Some("model".to_owned());
    error.code = Some("model_not_found".to_owned());
    Failure::new(error)
}

/// The error for a body that cannot be read.
fn by_status(upstream: &Upstream, status: StatusCode) -> ApiError {
    let kind = ErrorKind::from_status(status.as_u16()).unwrap_or(ErrorKind::Server);
    let name = &upstream.config.name;
    ApiError::new(kind, format!("The upstream {name} responded with status {}.", status.as_u16()))
}

/// The longest error that is passed on, in bytes.
const MAX_ERROR: usize = 256 * 1024;
