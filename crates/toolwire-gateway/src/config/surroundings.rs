//! What a configuration refers to outside of itself: environment variables and
//! files.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

/// Where environment variables and files come from.
pub trait Surroundings {
    /// An environment variable, if it is set and not empty.
    fn variable(&self, name: &str) -> Option<String>;

    /// The text of a file.
    fn file(&self, path: &Path) -> io::Result<String>;
}

/// The process's own environment, and files beside the configuration.
#[derive(Debug, Default)]
pub struct Process {
    folder: PathBuf,
    read: RefCell<Vec<PathBuf>>,
}

impl Process {
    /// Relative paths are taken from `folder`.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), read: RefCell::default() }
    }

    /// The files that were asked for, so that a change to them can be noticed.
    pub fn into_files(self) -> Vec<PathBuf> {
        self.read.into_inner()
    }
}

impl Surroundings for Process {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn file(&self, path: &Path) -> io::Result<String> {
        let path = self.folder.join(path);
        self.read.borrow_mut().push(path.clone());
        std::fs::read_to_string(path)
    }
}
