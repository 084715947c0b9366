//! The endpoints whose requests and responses pass as they are: everything of a
//! vendor's API that has no counterpart in another protocol. This file is a
//! table only.

use hyper::Method;

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PassedRoute {
    /// The path. `{}` stands for one segment: an id, or the name of an action.
    pub(crate) path: &'static str,
    pub(crate) methods: &'static [Method],
    /// The vendor of the upstream, or `None` if several have this path: then it
    /// is the vendor whose protocol the client speaks.
    pub(super) vendor: Option<&'static str>,
    pub(super) body: BodyFormat,
    pub(super) scope: Scope,
}

/// What the body of a POST may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyFormat {
    Json,
    /// JSON, or a form with files.
    JsonOrForm,
}

/// What a response can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The request's own result.
    Request,
    /// The same, and what the request refers to of what was answered before.
    Thread,
    /// What the upstream's account holds, whoever put it there.
    Account,
    /// What an upstream that remembers has answered to any client of the account.
    Memory,
}

const OPENAI: Option<&str> = Some("openai");
const ANTHROPIC: Option<&str> = Some("anthropic");
const POST: &[Method] = &[Method::POST];
const GET: &[Method] = &[Method::GET];
const LIST: &[Method] = &[Method::GET, Method::POST];
const ITEM: &[Method] = &[Method::GET, Method::DELETE];

pub(crate) const ROUTES: &[PassedRoute] = &[
    row("/v1/embeddings", POST, OPENAI, BodyFormat::Json, Scope::Request),
    row("/v1/completions", POST, OPENAI, BodyFormat::Json, Scope::Request),
    row("/v1/moderations", POST, OPENAI, BodyFormat::Json, Scope::Request),
    row("/v1/rerank", POST, OPENAI, BodyFormat::Json, Scope::Request),
    row("/v1/images/{}", POST, OPENAI, BodyFormat::JsonOrForm, Scope::Request),
    row("/v1/audio/{}", POST, OPENAI, BodyFormat::JsonOrForm, Scope::Request),
    row("/v1/responses/compact", POST, OPENAI, BodyFormat::Json, Scope::Thread),
    row("/v1/files", LIST, None, BodyFormat::JsonOrForm, Scope::Account),
    row("/v1/files/{}", ITEM, None, BodyFormat::Json, Scope::Account),
    row("/v1/files/{}/content", GET, None, BodyFormat::Json, Scope::Account),
    row("/v1/batches", LIST, OPENAI, BodyFormat::Json, Scope::Account),
    row("/v1/batches/{}", GET, OPENAI, BodyFormat::Json, Scope::Account),
    row("/v1/batches/{}/cancel", POST, OPENAI, BodyFormat::Json, Scope::Account),
    row("/v1/messages/batches", LIST, ANTHROPIC, BodyFormat::Json, Scope::Account),
    row("/v1/messages/batches/{}", ITEM, ANTHROPIC, BodyFormat::Json, Scope::Account),
    row("/v1/messages/batches/{}/cancel", POST, ANTHROPIC, BodyFormat::Json, Scope::Account),
    row("/v1/messages/batches/{}/results", GET, ANTHROPIC, BodyFormat::Json, Scope::Account),
];

/// What the gateway serves itself, unless an upstream has kept it.
const KEPT_ROUTES: &[PassedRoute] = &[
    row("/v1/responses/{}", ITEM, OPENAI, BodyFormat::Json, Scope::Memory),
    row("/v1/responses/{}/cancel", POST, OPENAI, BodyFormat::Json, Scope::Memory),
    row("/v1/responses/{}/input_items", GET, OPENAI, BodyFormat::Json, Scope::Memory),
];

const fn row(
    path: &'static str,
    methods: &'static [Method],
    vendor: Option<&'static str>,
    body: BodyFormat,
    scope: Scope,
) -> PassedRoute {
    PassedRoute { path, methods, vendor, body, scope }
}

impl PassedRoute {
    /// The row of a path.
    pub(crate) fn find(path: &str) -> Option<&'static Self> {
        ROUTES.iter().find(|route| matches(route.path, path))
    }

    /// The row of a path to what an upstream may have kept.
    pub(super) fn find_kept(path: &str) -> Option<&'static Self> {
        KEPT_ROUTES.iter().find(|route| matches(route.path, path))
    }

    /// The media types that the body of a POST may have.
    pub(crate) fn media_types(&self) -> &'static [&'static str] {
        match self.body {
            BodyFormat::Json => &[JSON],
            BodyFormat::JsonOrForm => &[JSON, FORM],
        }
    }
}

/// Whether a path is one of a pattern's. A segment that the client chooses holds
/// nothing that another server may read as a part of the path.
fn matches(pattern: &str, path: &str) -> bool {
    let mut given = path.split('/');
    let fits = pattern.split('/').all(|wanted| match given.next() {
        Some(segment) if wanted == "{}" => is_plain(segment),
        Some(segment) => segment == wanted,
        None => false,
    });
    fits && given.next().is_none()
}

fn is_plain(segment: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    !segment.is_empty()
        && segment.len() <= MAX_SEGMENT
        && segment.bytes().all(is_allowed)
        && !segment.bytes().all(|byte| byte == b'.')
}

pub(super) const JSON: &str = "application/json";
pub(super) const FORM: &str = "multipart/form-data";

/// The longest id, in bytes.
const MAX_SEGMENT: usize = 256;

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
