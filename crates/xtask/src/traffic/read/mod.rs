//! Reading recordings: every format ends as a list of exchanges.

mod body;
mod cassette;
mod chunks;
mod har;
mod json;
mod yaml;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// Bodies that belong together, as a project recorded them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Exchange {
    /// Where it stands in its file: empty if it is the whole file.
    pub(super) entry: String,
    pub(super) url: Option<String>,
    pub(super) status: Option<u16>,
    pub(super) request: Option<Vec<u8>>,
    pub(super) answer: Option<Vec<u8>>,
    /// A body of which the file does not say whether it was sent or received.
    pub(super) document: Option<Vec<u8>>,
}

impl Exchange {
    fn document(entry: impl Into<String>, body: Vec<u8>) -> Self {
        Self { entry: entry.into(), document: Some(body), ..Self::default() }
    }

    fn is_empty(&self) -> bool {
        self.bodies() == 0
    }

    /// How many bodies it has.
    pub(super) fn bodies(&self) -> usize {
        [&self.request, &self.answer, &self.document].into_iter().flatten().count()
    }
}

/// The files below a folder, in a fixed order. Hidden ones are no recordings.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    if folder.is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("the folder {} cannot be read", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The exchanges of a file. `None` if it is in no format that recordings have.
pub(super) fn exchanges(name: &str, content: &[u8]) -> Option<Vec<Exchange>> {
    let content = body::decompressed(content);
    let text = str::from_utf8(&content).ok()?;
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let found = match extension {
        "yaml" | "yml" => cassette::exchanges(&yaml::parse(text)?),
        "har" => har::exchanges(&serde_json::from_str(text).ok()?)?,
        "json" => json::exchanges(text)?,
        "jsonl" | "ndjson" | "txt" | "sse" => chunks::exchanges(text)?,
        _ => return None,
    };
    Some(found.into_iter().filter(|exchange| !exchange.is_empty()).collect())
}

/// The member of that name, if it says something.
fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name).filter(|member| !member.is_null())
}

/// Whether an address says anything: recordings are often redacted.
fn address(url: &str) -> Option<String> {
    (url.contains("://") || url.starts_with('/')).then(|| url.to_owned())
}

/// The path of a file without the part that nobody else has.
pub(super) fn relative<'p>(path: &'p Path, folder: &Path) -> Cow<'p, str> {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy()
}
