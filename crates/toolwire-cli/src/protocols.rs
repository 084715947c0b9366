//! Protocols in flags and headings.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use toolwire::Protocol;

/// Reads the name of a protocol.
pub(crate) fn value_parser() -> impl TypedValueParser<Value = Protocol> {
    PossibleValuesParser::new(Protocol::ALL.map(Protocol::as_str))
        .try_map(|name| Protocol::parse(&name).ok_or("no such protocol"))
}

/// A protocol's name in a heading: "Chat".
pub(crate) fn title(protocol: Protocol) -> String {
    let mut characters = protocol.as_str().chars();
    let initial = characters.next().map(|first| first.to_uppercase().to_string());
    initial.unwrap_or_default() + characters.as_str()
}
