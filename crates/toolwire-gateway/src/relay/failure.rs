//! Errors, on their way to a client in the client's own protocol.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use tokio::time::Instant;
use toolwire::model::{ApiError, Blame, ErrorKind, Retry};
use toolwire::wire::{Kind, Reader};
use toolwire::{Protocol, codec, translate};

use super::headers;
use crate::observe::Ending;
use crate::response_body::Body;
use crate::retry::LONGEST_PAUSE;
use crate::upstream::{Trouble, Upstream};

/// Why a client gets no answer.
#[derive(Debug)]
pub(crate) struct Failure {
    error: Box<ApiError>,
    /// The status, where the kind of error does not say it.
    status: Option<u16>,
    headers: Box<HeaderMap>,
    /// The upstream's own words, for a client who speaks its protocol.
    verbatim: Option<Bytes>,
    /// What it says about the upstream.
    verdict: Verdict,
}

/// What a failure says about the upstream, and about the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Nothing.
    Innocent,
    /// It asks for a pause. Another may have none.
    Busy,
    /// It failed, and has not begun to answer. Another may do better.
    Down,
    /// It failed, and may have run the request already.
    Failed,
}

impl Failure {
    pub(crate) fn of(error: ApiError) -> Self {
        Self {
            error: Box::new(error),
            status: None,
            headers: Box::default(),
            verbatim: None,
            verdict: Verdict::Innocent,
        }
    }

    pub(crate) fn with_status(status: u16, error: ApiError) -> Self {
        Self { status: Some(status), ..Self::of(error) }
    }

    /// The request cannot be translated.
    pub(super) fn of_request(error: &translate::Error) -> Self {
        let mut api = ApiError::new(ErrorKind::InvalidRequest, error.to_string());
        match error {
            translate::Error::Invalid { pointer, .. } => {
                api.param = Some(pointer.clone()).filter(|pointer| !pointer.is_empty());
            }
            translate::Error::Refused { entries } => {
                api.kind = ErrorKind::Unsupported;
                api.param = entries.first().map(|entry| entry.path.clone());
            }
        }
        Self::of(api)
    }

    /// The upstream's answer cannot be read.
    pub(super) fn of_answer(upstream: &Upstream, why: &str) -> Self {
        let name = &upstream.config.name;
        let message = format!("The upstream {name} sent an answer that cannot be read: {why}.");
        let error = ApiError::new(ErrorKind::Server, message);
        Self { verdict: Verdict::Failed, ..Self::with_status(502, error) }
    }

    /// There is no answer.
    pub(super) fn of_trouble(trouble: Trouble, upstream: &Upstream) -> Self {
        let verdict = if trouble.is_unsent() { Verdict::Down } else { Verdict::Failed };
        let error = trouble.error(&upstream.config.name);
        Self { verdict, ..Self::with_status(trouble.status(), error) }
    }

    /// The upstream answered with an error. `status` is its HTTP status, and
    /// 200 for an error that came as if it were an answer.
    pub(super) fn of_error(
        upstream: &Upstream,
        client: Protocol,
        status: StatusCode,
        head: &HeaderMap,
        body: Bytes,
    ) -> Self {
        let protocol = upstream.config.protocol;
        let known = Some(status.as_u16()).filter(|status| *status >= 400);
        let text = std::str::from_utf8(&body).ok();
        let read = text.and_then(|text| codec(protocol).decode_error(known, text).ok());
        let readable = read.is_some();
        let mut failure = Self::of_event(read.unwrap_or_else(|| by_status(upstream, status)));
        if known.is_some() && readable && protocol == client {
            failure.verbatim = Some(body);
            failure.status = known;
        }
        if let Some(status) = known {
            failure.verdict = match status {
                429 => Verdict::Busy,
                500.. => Verdict::Down,
                _refused => Verdict::Innocent,
            };
        }
        *failure.headers = headers::inbound(protocol, client, head);
        failure.know_pause();
        failure
    }

    /// The upstream's stream began with an error.
    pub(super) fn of_event(error: ApiError) -> Self {
        let verdict = match (error.kind, error.blame) {
            (ErrorKind::RateLimit, _) => Verdict::Busy,
            // It had begun, and did not say that it would not go on.
            (ErrorKind::Truncated | ErrorKind::Timeout, _) => Verdict::Failed,
            (_, Blame::Client | Blame::Gateway) => Verdict::Innocent,
            (_, Blame::Upstream) => Verdict::Down,
        };
        let mut failure = Self { verdict, ..Self::of(error) };
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

    /// Headers of the answer that it came with.
    pub(super) fn came_with(mut self, headers: HeaderMap) -> Self {
        self.headers.extend(headers);
        self.know_pause();
        self
    }

    /// Sends a header with it.
    pub(crate) fn header(&mut self, name: &'static str, value: &'static str) {
        self.headers.insert(name, HeaderValue::from_static(value));
    }

    /// Whether another upstream may do better. Never once one may have run the
    /// request: a call that is made twice is worse than an error.
    pub(super) fn is_worth_another(&self) -> bool {
        match self.verdict {
            Verdict::Busy | Verdict::Down => true,
            Verdict::Innocent | Verdict::Failed => false,
        }
    }

    /// Tells the upstream's health what this says about it.
    pub(super) fn judge(&self, upstream: &Upstream) {
        match self.verdict {
            // It refused, so it is there.
            Verdict::Innocent => upstream.succeeded(),
            Verdict::Busy => {
                if let Retry::After(seconds) = self.error.retry {
                    let pause = std::time::Duration::from_secs(seconds).min(LONGEST_PAUSE);
                    upstream.health.paused(Instant::now() + pause);
                }
            }
            Verdict::Down | Verdict::Failed => upstream.failed(),
        }
    }

    pub(super) fn ending(&self) -> Ending {
        match self.verdict {
            Verdict::Innocent if self.error.blame == Blame::Client => Ending::Refused,
            Verdict::Innocent | Verdict::Busy | Verdict::Down | Verdict::Failed => Ending::Failed,
        }
    }

    /// The whole HTTP answer.
    pub(crate) fn response(mut self, client: Protocol, id: &str) -> Response<Body> {
        self.error.request_id = Some(id.to_owned());
        let mut body = Vec::with_capacity(256);
        let by_kind = codec(client).encode_error(&self.error, &mut body);
        let body = self.verbatim.take().unwrap_or_else(|| body.into());
        let mut response = Response::new(Body::whole(body));
        let status = StatusCode::from_u16(self.status.unwrap_or(by_kind));
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        *headers = *self.headers;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers::identify(client, id, headers);
        if self.error.kind == ErrorKind::Quota && client != Protocol::Messages {
            headers.insert("x-should-retry", HeaderValue::from_static("false"));
        }
        if let Retry::After(seconds) = self.error.retry
            && !headers.contains_key("retry-after-ms")
        {
            headers.entry(RETRY_AFTER).or_insert_with(|| HeaderValue::from(seconds));
        }
        response
    }

    /// Reads from the headers how long to wait.
    fn know_pause(&mut self) {
        if self.error.retry == Retry::Later
            && let Some(pause) = headers::pause(&self.headers)
        {
            self.error.retry = Retry::After(pause.as_secs_f64().ceil() as u64);
        }
    }
}

/// Nothing serves the model.
pub(crate) fn no_model(name: &str) -> Failure {
    let name: String = name.chars().take(200).collect();
    let message = format!(
        "No upstream serves the model `{}`. GET /v1/models lists those that are known by name.",
        name.escape_debug()
    );
    let mut error = ApiError::new(ErrorKind::NotFound, message);
    error.param = Some("model".to_owned());
    error.code = Some("model_not_found".to_owned());
    Failure::of(error)
}

/// Whether an answer with a good status is an error all the same. Some vendors
/// of Chat answer so.
pub(super) fn is_error(body: &str) -> Option<bool> {
    let mut reader = Reader::new(body);
    let mut members = reader.object().ok()?;
    let (mut error, mut answer) = (false, false);
    while let Some(key) = members.next(&mut reader).ok()? {
        match key.decode().as_ref() {
            "error" => error = reader.peek() != Kind::Null,
            "choices" | "output" | "content" => answer = true,
            _other => {}
        }
        reader.skip().ok()?;
    }
    reader.finish().ok()?;
    // A response that failed has an `error` beside its `output`, and is read as
    // what it is.
    Some(error && !answer)
}

/// An error whose body says nothing that can be read.
fn by_status(upstream: &Upstream, status: StatusCode) -> ApiError {
    let kind = match status.as_u16() {
        401 => ErrorKind::Auth,
        402 => ErrorKind::Quota,
        403 => ErrorKind::Permission,
        404 => ErrorKind::NotFound,
        408 | 504 => ErrorKind::Timeout,
        409 => ErrorKind::Conflict,
        413 => ErrorKind::TooLarge,
        429 => ErrorKind::RateLimit,
        503 | 529 => ErrorKind::Overloaded,
        400..=499 => ErrorKind::InvalidRequest,
        _other => ErrorKind::Server,
    };
    let name = &upstream.config.name;
    ApiError::new(kind, format!("The upstream {name} answered with status {}.", status.as_u16()))
}
