//! Whether an upstream can be used: asked for its models or, if it has no list of
//! them, for one short answer.

use bytes::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use toolwire::protocol::Description;
use toolwire::wire::{Object, Raw, Read as _, Reader, Str};

use crate::config::{Credential, Origin, Pattern, SecretPlace, UpstreamConfig};
use crate::offline::OfflineGateway;
use crate::relay::upstream_headers;
use crate::upstream::{PassedRequest, ResponseLimit, Upstream, UpstreamError};

/// What was found out about an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectReport {
    /// The upstream's name.
    pub upstream: String,
    /// Whether it can be used.
    pub is_usable: bool,
    /// What was found, as a sentence without its full stop.
    pub finding: String,
}

/// Asks every upstream of a configuration, one after the other.
pub async fn check_upstreams(gateway: &OfflineGateway) -> Vec<ConnectReport> {
    let mut reports = Vec::new();
    for upstream in &gateway.active().upstreams {
        let found = check(gateway, upstream).await;
        let (is_usable, finding) = match found {
            Ok(finding) => (true, finding),
            Err(finding) => (false, finding),
        };
        let upstream = upstream.config.name.clone();
        reports.push(ConnectReport { upstream, is_usable, finding });
    }
    reports
}

async fn check(gateway: &OfflineGateway, upstream: &Upstream) -> Result<String, String> {
    if upstream.config.origin == Origin::Demo {
        return Ok("built in".to_owned());
    }
    let path = format!("{}/models", upstream.config.protocol.describe().prefix);
    let (status, body) = send(gateway, upstream, Method::GET, path, Bytes::new()).await?;
    if status.is_success() {
        return listed(&upstream.config, &body);
    }
    if is_denied(status) {
        return denied(&upstream.config, status);
    }
    let Some(model) = named_model(&upstream.config) else {
        return Err(format!(
            "it responded with status {} to a request for its models; name a model in `models` to try that",
            status.as_u16()
        ));
    };
    let description = upstream.config.protocol.describe();
    let (path, body) = (description.answers.fill(model, false), short_request(description, model));
    let (status, _) = send(gateway, upstream, Method::POST, path, body.into()).await?;
    match status {
        status if status.is_success() => Ok(format!("it answers for `{model}`")),
        status if is_denied(status) => denied(&upstream.config, status),
        StatusCode::NOT_FOUND => Err(format!(
            "it responded with status 404; check `base_url`, and whether it has the model `{model}`"
        )),
        status => Err(format!(
            "it responded with status {} to a short request for `{model}`",
            status.as_u16()
        )),
    }
}

/// Sends a request, and reads a response of a reasonable length.
async fn send(
    gateway: &OfflineGateway,
    upstream: &Upstream,
    method: Method,
    path: String,
    body: Bytes,
) -> Result<(StatusCode, Bytes), String> {
    let context = gateway.context(upstream.config.protocol);
    let mut headers: HeaderMap = upstream_headers(&context, upstream)?;
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if method == Method::GET {
        headers.remove(CONTENT_TYPE);
    }
    let failed = |error: UpstreamError| {
        let message = error.to_api_error(&upstream.config.name).message;
        message.trim_end_matches('.').to_owned()
    };
    let request = PassedRequest::whole(method, path, headers, body);
    let mut response = upstream.pass(request).await.map_err(failed)?;
    let limit = ResponseLimit { response: MAX_LIST, total: MAX_LIST };
    let mut reservation = context.state.bodies.reservation();
    let idle = upstream.config.timeouts.idle;
    let body = response.body.read_all(idle, limit, &mut reservation).await.map_err(failed)?;
    Ok((response.status, body))
}

/// What a list of models says about the configured names.
fn listed(config: &UpstreamConfig, body: &[u8]) -> Result<String, String> {
    let Some(ids) = std::str::from_utf8(body).ok().and_then(model_ids) else {
        let place = "`base_url`";
        return Err(format!("its list of models cannot be read; check {place}"));
    };
    let is_missing = |Pattern(name): &&Pattern| !name.contains('*') && !ids.contains(name);
    let missing: Vec<&str> =
        config.models.iter().filter(is_missing).map(|Pattern(name)| name.as_str()).collect();
    let count = ids.len();
    if missing.is_empty() {
        return Ok(format!("it lists {count} models"));
    }
    Ok(format!("it lists {count} models, but not {}", missing.join(", ")))
}

/// The ids in a list of models, which is under `data`.
fn model_ids(text: &str) -> Option<Vec<String>> {
    let mut ids = Vec::new();
    let mut reader = Reader::new(text);
    let mut members = reader.object().ok()?;
    let mut has_list = false;
    while let Some(key) = members.next(&mut reader).ok()? {
        if key != "data" {
            reader.skip().ok()?;
            continue;
        }
        has_list = true;
        for model in Vec::<Raw<'_>>::read(&mut reader).ok()? {
            let mut model = model.reader();
            let mut members = model.object().ok()?;
            while let Some(key) = members.next(&mut model).ok()? {
                if key == "id" {
                    ids.push(Str::read(&mut model).ok()?.decode().into_owned());
                } else {
                    model.skip().ok()?;
                }
            }
        }
    }
    has_list.then_some(ids)
}

fn is_denied(status: StatusCode) -> bool {
    status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN
}

/// What is wrong with the key.
fn denied(config: &UpstreamConfig, status: StatusCode) -> Result<String, String> {
    let status = status.as_u16();
    let key = match &config.credential {
        Credential::Client => {
            return Ok(
                "it is there, and asks for the client's own key, which is not checked".to_owned()
            );
        }
        Credential::None => {
            return Err(format!("it needs a key (status {status}), and none is configured"));
        }
        Credential::Key(key) => key,
    };
    Err(match key.source().map(|source| &source.place) {
        Some(SecretPlace::Variable(name)) => {
            format!("it does not accept the key in the variable {name} (status {status})")
        }
        Some(SecretPlace::File(path)) => {
            format!("it does not accept the key in the file {path} (status {status})")
        }
        None => format!("it does not accept its key (status {status})"),
    })
}

/// A model whose full name is configured.
fn named_model(config: &UpstreamConfig) -> Option<&str> {
    let mut names = config.models.iter().map(|Pattern(name)| name.as_str());
    names.find(|name| !name.contains('*'))
}

/// A request for a few tokens.
fn short_request(description: &Description, model: &str) -> Vec<u8> {
    let mut body = Vec::with_capacity(128);
    let mut object = Object::new(&mut body);
    if !description.answers.names_model() {
        object.put("model", model);
    }
    if let Some(conversation) = description.conversation_members.last() {
        let turn = r#"[{"role":"user","content":"Hi"}]"#;
        object.put(conversation, &Raw::made(turn));
    }
    if let Some(limit) = description.limit_members.first() {
        object.put(limit, &SHORT_ANSWER);
    }
    drop(object);
    body
}

/// The fewest tokens that every vendor allows for an answer.
const SHORT_ANSWER: u64 = 16;

/// The longest list of models, in bytes.
const MAX_LIST: usize = 16 * 1024 * 1024;
