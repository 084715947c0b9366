//! What the library's features add.

mod json;
mod stream;
