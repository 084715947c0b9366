//! Runs the built command as a user does.

mod command;
mod demo;
mod explain;
mod guesses;
mod losses;
mod response;
mod unreadable;
mod usage;
