//! JSON Schema as each protocol accepts it, and the rewrites between them.
//!
//! A schema stays the bytes it was written in unless the target would refuse
//! it, and then everything around the change stays as it was: models follow
//! the order of keys, and a number may mean its spelling. Walks are bounded in
//! depth by the reader, and every byte is looked at a fixed number of times.

mod definitions;
mod edit;
mod format;
mod merge;
mod names;
mod references;
mod root;
mod slim;
mod strict;
mod walk;

pub(crate) use definitions::definitions;
pub(crate) use edit::Edits;
pub(crate) use format::{FormatChange, output_format};
pub(crate) use names::property_names;
pub(crate) use root::FREEFORM;
pub use root::{EMPTY, RootChange, root};
pub use slim::Slim;
pub(crate) use slim::slim;
pub(crate) use strict::{fits_anthropic_format, fits_anthropic_strict, fits_openai_strict};

#[cfg(test)]
mod tests;
