//! Headers of one vendor that change what a request means. They go to that
//! vendor's protocols, whoever the client is, and where they cannot go the
//! client is told.

use hyper::header::{HeaderMap, HeaderValue};
use memchr::memmem;
use toolwire::{Action, Code, Entry, Level, Profile, Protocol};

use crate::config::Credential;

/// Copies what the upstream takes.
pub(super) fn carry(
    came: &HeaderMap,
    to: Protocol,
    credential: &Credential,
    headers: &mut HeaderMap,
) {
    for header in HEADERS.iter().filter(|header| header.reaches(to, credential)) {
        super::copy(came, header.name, headers);
    }
}

/// What the upstream does not get.
pub(super) fn lost(came: &HeaderMap, to: Protocol, credential: &Credential) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for header in HEADERS.iter().filter(|header| !header.reaches(to, credential)) {
        let values = came.get_all(header.name).iter();
        for entry in values.flat_map(|value| header.entries(value)) {
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
    }
    entries
}

/// Switches on what a translated request needs. `body` is as our own encoder
/// wrote it: a text with the same letters has its quotes escaped.
pub(super) fn derive(from: Protocol, profile: &Profile, body: &[u8], headers: &mut HeaderMap) {
    let writes = profile.protocol == Protocol::Messages && profile.mid_system;
    if writes && from != Protocol::Messages && memmem::find(body, SYSTEM_TURN).is_some() {
        merge(ANTHROPIC_BETA, SYSTEM_TURNS, headers);
    }
}

/// Adds to a header that is a list. Gives nothing where the header is not one.
pub(super) fn merge(name: &str, more: &str, headers: &mut HeaderMap) -> Option<()> {
    let name = HEADERS.iter().find(|header| header.is_list() && header.name == name)?.name;
    let known: Option<Vec<&str>> =
        headers.get_all(name).iter().map(|value| value.to_str().ok()).collect();
    let mut all: Vec<&str> = known?.into_iter().flat_map(split).collect();
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
    /// Whether it is Anthropic's. Else it is OpenAI's.
    anthropic: bool,
    says: Says,
}

/// What a header says.
enum Says {
    /// What to switch on: a list. Of these names it is known that they only
    /// allow something in the body, which is carried or reported by itself, or
    /// say how the answer is written down. Any other may change what the model
    /// does.
    Betas(&'static [&'static str]),
    /// For which account at the vendor the request is. It belongs to the key.
    Account,
}

impl Header {
    fn is_list(&self) -> bool {
        match self.says {
            Says::Betas(_) => true,
            Says::Account => false,
        }
    }

    fn reaches(&self, to: Protocol, credential: &Credential) -> bool {
        let vendor = self.anthropic == (to == Protocol::Messages);
        match self.says {
            Says::Betas(_) => vendor,
            Says::Account => vendor && matches!(credential, Credential::Client),
        }
    }

    /// What is said of a value that does not reach the upstream.
    fn entries(&self, value: &HeaderValue) -> Vec<Entry> {
        let entry = |path: String, level, detail: &'static str| {
            let code = Code::Only(self.name.to_owned());
            Entry::new(path, code, Action::Dropped).level(level).detail(detail)
        };
        let foreign = "The upstream is of another vendor.";
        match (&self.says, value.to_str()) {
            (Says::Account, _) => {
                let detail = "The upstream has another key, and with that another account.";
                vec![entry(self.name.to_owned(), Level::Info, detail)]
            }
            (Says::Betas(_), Err(_)) => vec![entry(self.name.to_owned(), Level::Loss, foreign)],
            (Says::Betas(harmless), Ok(list)) => split(list)
                .map(|beta| {
                    let known = harmless.contains(&undated(beta));
                    let level = if known { Level::Info } else { Level::Loss };
                    entry(format!("{}: {beta}", self.name), level, foreign)
                })
                .collect(),
        }
    }
}

fn split(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|one| !one.is_empty())
}

/// What a beta is called without its date or version: `context-1m-2025-08-07`
/// is `context-1m`, `responses=v1` is `responses`.
fn undated(beta: &str) -> &str {
    let beta = beta.split('=').next().unwrap_or(beta);
    beta.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-')
}

const HEADERS: &[Header] = &[
    Header { name: ANTHROPIC_BETA, anthropic: true, says: Says::Betas(ANTHROPIC_SWITCHES) },
    Header { name: "anthropic-user-profile-id", anthropic: true, says: Says::Account },
    Header { name: "anthropic-workspace-id", anthropic: true, says: Says::Account },
    Header { name: "openai-beta", anthropic: false, says: Says::Betas(OPENAI_SWITCHES) },
    Header { name: "openai-organization", anthropic: false, says: Says::Account },
    Header { name: "openai-project", anthropic: false, says: Says::Account },
];

const ANTHROPIC_BETA: &str = "anthropic-beta";

/// A system turn inside the conversation as our encoder writes it, and what
/// switches it on.
const SYSTEM_TURN: &[u8] = br#"{"role":"system","#;
const SYSTEM_TURNS: &str = "mid-conversation-system-2026-04-07";

const ANTHROPIC_SWITCHES: &[&str] = &[
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

const OPENAI_SWITCHES: &[&str] = &["assistants", "responses", "responses_websockets"];

#[cfg(test)]
mod tests;
