//! The labels of a conversation, within the limits that OpenAI documents.

use toolwire::wire::{Kind, Reader, read_fields};

use super::failure::invalid;
use crate::relay::Failure;

/// Checks labels, given as JSON. Nothing else would tell a client that they are not kept as
/// it sent them.
pub(super) fn check(metadata: &str) -> Result<(), Failure> {
    let wrong = |what: String| Err(invalid("metadata", what));
    let mut reader = Reader::new(metadata);
    if reader.peek() != Kind::Object {
        return wrong("`metadata` must be an object of texts.".to_owned());
    }
    let fields = read_fields(&mut reader);
    let fields = fields.map_err(|_| invalid("metadata", "`metadata` has a key twice."))?;
    if fields.len() > MOST_PAIRS {
        return wrong(format!("`metadata` can have {MOST_PAIRS} pairs, not {}.", fields.len()));
    }
    for field in &fields {
        if field.key.decode().chars().count() > LONGEST_KEY {
            return wrong(format!("A key of `metadata` is longer than {LONGEST_KEY} characters."));
        }
        let Ok(value) = field.value.reader().string() else {
            return wrong("A value of `metadata` is not a text.".to_owned());
        };
        if value.decode().chars().count() > LONGEST_VALUE {
            return wrong(format!(
                "A value of `metadata` is longer than {LONGEST_VALUE} characters."
            ));
        }
    }
    Ok(())
}

const MOST_PAIRS: usize = 16;

const LONGEST_KEY: usize = 64;

const LONGEST_VALUE: usize = 512;
