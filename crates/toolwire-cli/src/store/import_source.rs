//! What an import is read from.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use toolwire_store::{Imported, Store, TransferError};

use crate::error::CommandError;

/// A file or standard input, by its name.
pub(super) struct ImportSource {
    name: String,
    input: Box<dyn BufRead>,
}

impl ImportSource {
    /// Opens it and reads a little, so that what cannot be read is known before
    /// a store is made for it.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, CommandError> {
        let Some(path) = path else {
            let input = Box::new(io::stdin().lock());
            return Ok(Self { name: "standard input".to_owned(), input });
        };
        let name = path.display().to_string();
        let opened = File::open(path).and_then(|file| {
            let mut input = BufReader::new(file);
            input.fill_buf()?;
            Ok(input)
        });
        match opened {
            Ok(input) => Ok(Self { name, input: Box::new(input) }),
            Err(error) => Err(CommandError::Input { name, error }),
        }
    }

    pub(super) async fn import(self, store: &Store) -> Result<Imported, CommandError> {
        let Self { name, input } = self;
        store.import(input).await.map_err(|error| match error {
            TransferError::Io(error) => CommandError::Input { name, error },
            TransferError::Store(error) => CommandError::Store(error.to_string()),
            malformed @ TransferError::Malformed { .. } => {
                CommandError::Store(format!("cannot import {name}: {malformed}"))
            }
        })
    }
}
