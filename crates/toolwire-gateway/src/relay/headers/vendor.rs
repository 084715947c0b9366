//! Headers of one vendor that change what a request means. Every upstream of that
//! vendor gets them, whichever protocol the client speaks. If the upstream cannot
//! get them, they are reported as losses.

use hyper::header::{HeaderMap, HeaderValue};
use memchr::memmem;
use toolwire::{Action, Code, Entry, Level, Profile, Protocol};

use crate::config::Credential;

/// Copies the headers that the upstream supports.
pub(super) fn copy_supported(
    client_headers: &HeaderMap,
    to: Protocol,
    credential: &Credential,
    headers: &mut HeaderMap,
) {
    for header in HEADERS.iter().filter(|header| header.reaches(to, credential)) {
        super::copy(client_headers, header.name, headers);
    }
}

/// The headers that the upstream does not get.
pub(super) fn lost(
    client_headers: &HeaderMap,
    to: Protocol,
    credential: &Credential,
) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for header in HEADERS.iter().filter(|header| !header.reaches(to, credential)) {
        let values = client_headers.get_all(header.name).iter();
        for entry in values.flat_map(|value| header.entries(value)) {
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
    }
    entries
}

/// Adds the betas that a translated request needs. `body` was written by our own
/// encoder, which escapes quotes inside of strings, so the search cannot match
/// text.
pub(super) fn add_required_betas(
    from: Protocol,
    profile: &Profile,
    body: &[u8],
    headers: &mut HeaderMap,
) {
    let may_need = profile.protocol == Protocol::Messages && profile.mid_system;
    if may_need && from != Protocol::Messages && memmem::find(body, SYSTEM_TURN).is_some() {
        append_to_list(ANTHROPIC_BETA, SYSTEM_TURN_BETA, headers);
    }
}

/// Appends to a header that is a list. Returns `None` if the header is not one.
pub(super) fn append_to_list(name: &str, more: &str, headers: &mut HeaderMap) -> Option<()> {
    let name = HEADERS.iter().find(|header| header.is_list() && header.name == name)?.name;
    let existing: Option<Vec<&str>> =
        headers.get_all(name).iter().map(|value| value.to_str().ok()).collect();
    let mut all: Vec<&str> = existing?.into_iter().flat_map(split).collect();
    let before = all.len();
    for one in split(more) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.len() > before {
        let joined = HeaderValue::from_str(&all.join(",")).ok()?;
        headers.insert(name, joined);
    }
    Some(())
}

/// A header of one vendor.
struct Header {
    name: &'static str,
    /// Whether it is Anthropic's. Otherwise it is OpenAI's.
    anthropic: bool,
    kind: HeaderKind,
}

/// What a header is for.
enum HeaderKind {
    /// A list of betas to enable. The betas in this slice are harmless to lose:
    /// they only allow a field in the body, which is translated or reported by
    /// itself, or they change how the response is written. Any other may change
    /// what the model does.
    Betas(&'static [&'static str]),
    /// The account at the vendor. It belongs to the key.
    Account,
}

impl Header {
    fn is_list(&self) -> bool {
        match self.kind {
            HeaderKind::Betas(_) => true,
            HeaderKind::Account => false,
        }
    }

    fn reaches(&self, to: Protocol, credential: &Credential) -> bool {
        let same_vendor = self.anthropic == (to == Protocol::Messages);
        match self.kind {
            HeaderKind::Betas(_) => same_vendor,
            HeaderKind::Account => same_vendor && matches!(credential, Credential::Client),
        }
    }

    /// The losses for a value that does not reach the upstream.
    fn entries(&self, value: &HeaderValue) -> Vec<Entry> {
        let entry = |path: String, level, detail: &'static str| Entry {
            path,
            code: Code::Only(self.name.to_owned()),
            action: Action::Dropped,
            level,
            detail: detail.into(),
        };
        let other_vendor = "The upstream is of another vendor.";
        match (&self.kind, value.to_str()) {
            (HeaderKind::Account, _) => {
                let detail = "The upstream has another key, and with that another account.";
                vec![entry(self.name.to_owned(), Level::Info, detail)]
            }
            (HeaderKind::Betas(_), Err(_)) => {
                vec![entry(self.name.to_owned(), Level::Loss, other_vendor)]
            }
            (HeaderKind::Betas(harmless), Ok(list)) => split(list)
                .map(|beta| {
                    let is_harmless = harmless.contains(&without_date(beta));
                    let level = if is_harmless { Level::Info } else { Level::Loss };
                    entry(format!("{}: {beta}", self.name), level, other_vendor)
                })
                .collect(),
        }
    }
}

fn split(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|one| !one.is_empty())
}

/// The name of a beta without its date or version: `context-1m-2025-08-07` is
/// `context-1m`, `responses=v1` is `responses`.
fn without_date(beta: &str) -> &str {
    let beta = beta.split('=').next().unwrap_or(beta);
    beta.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-')
}

const HEADERS: &[Header] = &[
    Header {
        name: ANTHROPIC_BETA,
        anthropic: true,
        kind: HeaderKind::Betas(HARMLESS_ANTHROPIC_BETAS),
    },
    Header { name: "anthropic-user-profile-id", anthropic: true, kind: HeaderKind::Account },
    Header { name: "anthropic-workspace-id", anthropic: true, kind: HeaderKind::Account },
    Header {
        name: "openai-beta",
        anthropic: false,
        kind: HeaderKind::Betas(HARMLESS_OPENAI_BETAS),
    },
    Header { name: "openai-organization", anthropic: false, kind: HeaderKind::Account },
    Header { name: "openai-project", anthropic: false, kind: HeaderKind::Account },
];

const ANTHROPIC_BETA: &str = "anthropic-beta";

/// A system turn inside the conversation as our encoder writes it, and the beta
/// that it needs.
const SYSTEM_TURN: &[u8] = br#"{"role":"system","#;
const SYSTEM_TURN_BETA: &str = "mid-conversation-system-2026-04-07";

const HARMLESS_ANTHROPIC_BETAS: &[&str] = &[
    "advanced-tool-use",
    "advisor-tool",
    "cache-diagnosis",
    "claude-code",
    "code-execution",
    "compact",
    "computer-use",
    "context-management",
    "effort",
    "extended-cache-ttl",
    "fast-mode",
    "files-api",
    "fine-grained-tool-streaming",
    "inline-tools",
    "interleaved-thinking",
    "mcp-client",
    "message-batches",
    "message-threads",
    "mid-conversation-output-config",
    "mid-conversation-system",
    "mid-conversation-system-clear-at",
    "mid-conversation-tool-changes",
    "model-context-window-exceeded",
    "pdfs",
    "prompt-caching",
    "prompt-caching-scope",
    "server-side-fallback",
    "skills",
    "structured-outputs",
    "task-budgets",
    "thinking-binding-controls",
    "thinking-display-updates",
    "thinking-token-count",
    "token-counting",
    "token-efficient-tools",
    "tool-search-tool",
    "user-profiles",
    "web-fetch",
];

const HARMLESS_OPENAI_BETAS: &[&str] = &["assistants", "responses", "responses_websockets"];

#[cfg(test)]
mod tests;
