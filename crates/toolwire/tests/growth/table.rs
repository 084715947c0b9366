//! The shapes that hurt, by name.
