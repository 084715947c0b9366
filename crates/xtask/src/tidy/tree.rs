//! The files of the project, read once, by their path from the root.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Every file that belongs to the project.
pub(super) struct Tree {
    files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// Walks the folders instead of asking git, so that an exported copy can be checked too.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self { files: BTreeMap::new() };
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// All files, in the order of their paths.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// The files that hold text.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter_map(|(path, bytes)| Some((path, str::from_utf8(bytes).ok()?)))
    }

    /// The text files in a folder and below, with their path from that folder.
    pub(super) fn texts_in(&self, folder: &str) -> impl Iterator<Item = (&str, &str, &str)> {
        self.texts().filter_map(move |(path, text)| Some((path, path.strip_prefix(folder)?, text)))
    }

    /// Whether there is such a file or folder. The root is a folder without a name.
    pub(super) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.keys().any(|file| file.starts_with(&folder))
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        let entries =
            folder.read_dir().with_context(|| format!("{} cannot be read", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().display().to_string();
            let path = format!("{prefix}{name}");
            if is_foreign(&name, &path) {
                continue;
            }
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() {
                let bytes =
                    fs::read(entry.path()).with_context(|| format!("{path} is unreadable"))?;
                self.files.insert(path, bytes);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl Tree {
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        Self::of_bytes(files.iter().map(|&(path, text)| (path, text.as_bytes())))
    }

    pub(super) fn of_bytes<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let files = files.into_iter();
        Self { files: files.map(|(path, bytes)| (path.to_owned(), bytes.to_vec())).collect() }
    }
}

/// What builds, tests and editors leave behind.
fn is_foreign(name: &str, path: &str) -> bool {
    let hidden = name.starts_with('.') && !OUR_HIDDEN.contains(&name);
    hidden || FOREIGN_NAMES.contains(&name) || FOREIGN_PATHS.contains(&path)
}

const OUR_HIDDEN: &[&str] = &[".cargo", ".ci", ".github", ".gitignore"];
const FOREIGN_NAMES: &[&str] = &["target", "node_modules", "__pycache__"];
const FOREIGN_PATHS: &[&str] = &["fuzz/artifacts", "fuzz/corpus", "fuzz/coverage"];
