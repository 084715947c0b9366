//! Keys of the imported configuration. One that is in the file itself becomes a
//! variable, because a toolwire.toml holds no keys.

use super::draft::Draft;

/// How a configuration refers to a variable.
#[derive(Clone, Copy)]
pub(super) enum Reference {
    /// `os.environ/NAME`.
    LiteLlm,
    /// `$NAME` or `${NAME}`.
    ClaudeCodeRouter,
}

impl Reference {
    /// The variable that a text refers to.
    pub(super) fn variable(self, text: &str) -> Option<&str> {
        let name = match self {
            Self::LiteLlm => text.strip_prefix("os.environ/"),
            Self::ClaudeCodeRouter => {
                let braced = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
                braced.or_else(|| text.strip_prefix('$'))
            }
        }?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (!name.is_empty() && name.chars().all(is_name)).then_some(name)
    }

    /// The variable that holds a key. `None` if the text says that there is no key.
    pub(super) fn key(
        self,
        text: &str,
        preferred: &str,
        of: &str,
        draft: &mut Draft,
    ) -> Option<String> {
        if let Some(name) = self.variable(text) {
            return Some(name.to_owned());
        }
        if is_placeholder(text) {
            return None;
        }
        let content = format!("the key of {of}, which is in the imported file itself");
        Some(draft.variable_for(text, preferred, &content))
    }
}

/// Whether a text only fills in for a key, as people write it for servers of their
/// own.
fn is_placeholder(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    PLACEHOLDERS.contains(&text.as_str())
}

const PLACEHOLDERS: &[&str] = &[
    "", "-", "anything", "dummy", "empty", "fake", "fake-key", "key", "lm-studio", "no-key",
    "none", "not-needed", "null", "ollama", "os.environ/", "sk-no-key-required", "test", "xxx",
];
