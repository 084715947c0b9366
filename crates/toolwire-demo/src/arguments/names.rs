//! What the names of tools and properties suggest.

use crate::prompt::stems;

/// Whether a name contains one of these stems.
pub(super) fn any_stem_of(name: &str, known: &[&str]) -> bool {
    stems(name).iter().any(|stem| known.contains(&stem.as_str()))
}

/// The preposition in front of what a property wants: "from" for `origin`.
pub(super) fn preposition(property: &str) -> Option<&'static str> {
    let found = PREPOSITIONS.iter().find(|(properties, _)| properties.contains(&property));
    found.map(|(_, preposition)| *preposition)
}

/// Stems of properties that a tool runs.
pub(super) const COMMANDS: &[&str] =
    &["command", "cmd", "script", "shell", "code", "exec", "sql", "statement", "program", "argv"];

/// Stems of tools that change something.
pub(super) const CHANGING_TOOLS: &[&str] = &[
    "write", "edit", "delete", "remove", "create", "update", "patch", "replace", "move", "rename",
    "apply", "put", "save", "append", "insert", "bash", "exec", "execute", "run", "shell", "kill",
    "notebook", "str", "editor",
];

/// Stems of properties that name a file.
pub(super) const PATHS: &[&str] =
    &["path", "file", "filename", "filepath", "directory", "dir", "folder"];

/// Stems of properties that are written into a file.
pub(super) const CONTENT: &[&str] =
    &["content", "contents", "text", "string", "source", "body", "data"];

/// Stems of properties that want everything that the user said.
pub(super) const WHOLE_PROMPT: &[&str] = &[
    "query", "question", "prompt", "message", "text", "input", "content", "search", "request",
    "description", "task", "instruction", "instructions", "thought", "body", "reason",
];

const PREPOSITIONS: &[(&[&str], &str)] = &[
    (&["from", "origin", "source", "departure", "start"], "from"),
    (&["to", "destination", "target", "arrival", "recipient"], "to"),
    (&["city", "location", "place", "country", "region"], "in"),
    (&["topic", "subject"], "about"),
];
