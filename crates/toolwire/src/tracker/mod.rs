//! Which tool calls of a conversation are answered, and which are not.

pub(crate) mod pairing;
