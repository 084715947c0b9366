//! Asks an upstream for its list of models.
//!
//! Whatever an upstream sends is bounded: in time, in bytes, in models, and in
//! the length of each text. A model whose name a request could not use is left
//! out, and so is one whose name or title holds a secret.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use toolwire::codec;
use toolwire::protocol::UpstreamModel;

use super::Listing;
use crate::guard::Credentials;
use crate::heavy_work::in_place;
use crate::memory::MemoryBudget;
use crate::relay::own_headers;
use crate::secret_mask::{KnownSecret, SecretMask};
use crate::upstream::{ResponseLimit, Upstream, UpstreamError};

/// Why there is no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FetchError {
    /// The upstream's headers cannot be sent.
    #[error("its key or one of its headers cannot be sent")]
    Unsendable,
    /// The upstream could not be reached, or broke off.
    #[error("{0}")]
    Upstream(&'static str),
    /// It answered with an error.
    #[error("it answered with the status {0}")]
    Status(u16),
    /// It sent something else.
    #[error("it sent something that is not a list of models")]
    Unreadable,
}

/// Fetches all pages of an upstream's list.
pub(super) async fn fetch(
    upstream: &Upstream,
    mask: &SecretMask,
    memory: &Arc<MemoryBudget>,
) -> Result<Listing, FetchError> {
    let headers = own_headers(upstream).ok_or(FetchError::Unsendable)?;
    let deadline = Instant::now() + TIMEOUT;
    let protocol = upstream.config.protocol;
    let mut query = protocol.describe().models_query.to_owned();
    let mut models: Vec<UpstreamModel> = Vec::new();
    let mut bytes_left = MAX_BYTES;
    let mut reservation = memory.reservation();
    for _ in 0..MAX_PAGES {
        let page = async {
            let mut response = upstream.get("/models", &query, headers.clone()).await?;
            let limit = ResponseLimit { response: bytes_left, total: usize::MAX };
            let body = response.body.read_all(TIMEOUT, limit, &mut reservation).await?;
            Ok((response.status.as_u16(), body))
        };
        let (status, body) = match timeout_at(deadline, page).await {
            Ok(page) => page.map_err(|error: UpstreamError| FetchError::Upstream(reason(error)))?,
            Err(_elapsed) => return Err(FetchError::Upstream(TOO_SLOW)),
        };
        if status != 200 {
            return Err(FetchError::Status(status));
        }
        // A body in one chunk is read whatever its length.
        bytes_left = bytes_left.checked_sub(body.len()).ok_or(FetchError::Upstream(TOO_LONG))?;
        let read = || (codec(protocol).read_models)(std::str::from_utf8(&body).ok()?).ok();
        let page = in_place(body.len(), read).ok_or(FetchError::Unreadable)?;
        let usable = page.models.into_iter().filter_map(|model| usable(model, mask));
        models.extend(usable.take(MAX_MODELS - models.len()));
        match page.next_query {
            // A page that says what the last one said would come again and again.
            Some(next) if next != query && models.len() < MAX_MODELS => query = next,
            Some(_) | None => break,
        }
    }
    Ok(Listing::new(models))
}

/// Asks an upstream for one model, which may be another name for one that it
/// lists. `None` if it doesn't have it, or doesn't say.
pub(super) async fn fetch_one(
    upstream: &Upstream,
    model: &str,
    mask: &SecretMask,
    memory: &Arc<MemoryBudget>,
) -> Option<UpstreamModel> {
    let headers = own_headers(upstream)?;
    let path = ONE_MODEL.fill(model, false);
    let mut reservation = memory.reservation();
    let answer = async {
        let mut response = upstream.get(&path, "", headers).await.ok()?;
        let limit = ResponseLimit { response: MAX_ONE, total: usize::MAX };
        let body = response.body.read_all(ONE_TIMEOUT, limit, &mut reservation).await.ok()?;
        (response.status == 200).then_some(body)
    };
    let body = tokio::time::timeout(ONE_TIMEOUT, answer).await.ok()??;
    let list = format!("{{\"data\":[{}]}}", std::str::from_utf8(&body).ok()?);
    let page = (codec(upstream.config.protocol).read_models)(&list).ok()?;
    let mut found = usable(page.models.into_iter().next()?, mask)?;
    found.name = model.to_owned();
    Some(found)
}

const ONE_MODEL: toolwire::protocol::Endpoint =
    toolwire::protocol::Endpoint::fixed("/models/{model}");

/// A model with a name and a title that clients can be shown.
fn usable(mut model: UpstreamModel, mask: &SecretMask) -> Option<UpstreamModel> {
    // Gemini lists its models under the path where its own API has them.
    if let Some(name) = model.name.strip_prefix("models/") {
        model.name = name.to_owned();
    }
    let is_name = |c: char| !c.is_whitespace() && !c.is_control();
    let fits = !model.name.is_empty() && model.name.len() <= MAX_NAME;
    if !fits || !model.name.chars().all(is_name) || is_secret(&model.name, mask) {
        return None;
    }
    let is_title = |title: &String| {
        title.len() <= MAX_NAME && !title.chars().any(char::is_control) && !is_secret(title, mask)
    };
    model.title = model.title.filter(is_title);
    Some(model)
}

fn is_secret(text: &str, mask: &SecretMask) -> bool {
    mask.mask(text.as_bytes()).is_some()
}

/// The mask for everybody, because a list is made for nobody in particular.
pub(super) fn mask(secrets: &Arc<[KnownSecret]>) -> SecretMask {
    SecretMask::new(secrets, &Credentials::default())
}

fn reason(error: UpstreamError) -> &'static str {
    match error {
        UpstreamError::Connect(_) => "it cannot be reached",
        UpstreamError::Tls(_) => "its certificate is not trusted, or TLS failed",
        UpstreamError::Timeout(_) => TOO_SLOW,
        UpstreamError::TooLarge => TOO_LONG,
        UpstreamError::Undecodable => "it sent a body that cannot be decompressed",
        UpstreamError::NoMemory => "the gateway has no memory left for it",
        UpstreamError::NoSockets => "the gateway's machine has no free socket for it",
        UpstreamError::NotSent | UpstreamError::Disconnected => "the connection broke",
        UpstreamError::NotHttp => "what it sent is not HTTP",
    }
}

const TOO_SLOW: &str = "it took too long";
const TOO_LONG: &str = "its list is too long";

/// For all pages together.
const TIMEOUT: Duration = Duration::from_secs(10);

/// For all pages together, in bytes. OpenRouter's list has about one million.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// For one model, in bytes.
const MAX_ONE: usize = 64 * 1024;

/// For one model.
const ONE_TIMEOUT: Duration = Duration::from_secs(5);

const MAX_MODELS: usize = 10_000;
const MAX_PAGES: usize = 20;

/// The longest name, in bytes.
const MAX_NAME: usize = 256;
