//! `--tool-calls` and `--tool-dialect`: tools for a model that only reads and
//! writes text.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use toolwire::guess::DocumentKind;
use toolwire::text_tools::{Dialect, ToolCalls};
use toolwire::{Profile, Protocol};

use super::Args;
use crate::error::CommandError;

/// How the model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ToolCallMode {
    Native,
    Text,
    Intent,
}

/// Where a document goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    ToUpstream,
    FromUpstream,
    /// It has nothing to do with calls.
    Other(DocumentKind),
}

impl Direction {
    pub(super) fn of(document: DocumentKind) -> Self {
        match document {
            DocumentKind::Request => Self::ToUpstream,
            DocumentKind::Response => Self::FromUpstream,
            DocumentKind::Error | DocumentKind::Tools => Self::Other(document),
        }
    }
}

/// Checks that the flags fit the document and each other.
pub(super) fn check_flags(args: &Args, direction: Direction) -> Result<(), CommandError> {
    let problem = match (args.tool_calls, direction) {
        (ToolCallMode::Native, _) if args.tool_dialect.is_some() => {
            "--tool-dialect requires --tool-calls text or intent".to_owned()
        }
        (ToolCallMode::Native, _) => return Ok(()),
        (ToolCallMode::Text | ToolCallMode::Intent, Direction::ToUpstream) => return Ok(()),
        (ToolCallMode::Text | ToolCallMode::Intent, Direction::FromUpstream) => {
            if args.request.is_some() {
                return Ok(());
            }
            "--tool-calls requires --request: only the tools that it declares are called".to_owned()
        }
        (ToolCallMode::Text | ToolCallMode::Intent, Direction::Other(document)) => format!(
            "--tool-calls requires --kind request, response or stream, not {}",
            document.as_str(),
        ),
    };
    Err(CommandError::Usage(problem))
}

/// What the upstream accepts, if that is not what its protocol says.
pub(super) fn profile(args: &Args, upstream: Protocol) -> Option<Profile> {
    let dialect = args.tool_dialect.unwrap_or(Dialect::HERMES);
    let tool_calls = match args.tool_calls {
        ToolCallMode::Native => return None,
        ToolCallMode::Text => ToolCalls::Text(dialect),
        ToolCallMode::Intent => ToolCalls::Intent(dialect),
    };
    let mut profile = Profile::of(upstream);
    profile.tool_calls = tool_calls;
    Some(profile)
}

/// Reads the name of a dialect.
pub(super) fn dialect_parser() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::all().map(Dialect::name))
        .try_map(|name| Dialect::named(&name).ok_or("no such dialect"))
}
