//! `toolwire translate --config`: what a gateway would send.

use std::io::{self, Write};
use std::path::Path;

use toolwire::Protocol;
use toolwire::guess::DocumentKind;
use toolwire_gateway::OfflineGateway;
use toolwire_gateway::config::{Config, StoreConfig};

use super::input::{self, InputFormat};
use crate::config::{self, LoadedConfig};
use crate::error::CommandError;
use crate::serve::runtime;

pub(super) fn run(path: &Path, from: Option<Protocol>) -> Result<(), CommandError> {
    let LoadedConfig { config, source: _ } = config::load(Some(path), None)?;
    let body = input::read_stdin()?;
    let InputFormat { protocol, .. } =
        InputFormat::detect(from, Some(DocumentKind::Request), &body)?;
    let gateway = OfflineGateway::new(Config { store: StoreConfig::Off, ..config });
    let gateway = gateway.map_err(|error| config::start_error(&error))?;
    let text = |json: Vec<u8>| String::from_utf8(json).unwrap_or_default();
    let planned = runtime()?.block_on(gateway.plan(protocol, body));
    let plan = planned.map_err(|error| {
        CommandError::Rejected(format!("the gateway would answer: {}", text(error)))
    })?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", text(plan))?;
    out.flush()?;
    Ok(())
}
