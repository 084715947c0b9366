//! What the address of a database says.

use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::tls::Encryption;
use crate::error::OpenError;

/// Reads an address.
pub(super) fn read(address: &str) -> Result<(Config, Encryption), OpenError> {
    // The driver's message repeats parts of the address, the password among them.
    let malformed = |_| OpenError::Address(EXPECTED.to_owned());
    let mut address = address.to_owned();
    let encryption = Encryption::take_from(&mut address)?;
    let config = Config::from_str(&address).map_err(malformed)?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(OpenError::Address(EXPECTED.to_owned()));
    }
    Ok((config, encryption))
}

/// The database of an address, and where it is, in words.
pub(in crate::engine) fn database(address: &str) -> Result<String, OpenError> {
    let (config, _) = read(address)?;
    let mut hosts: Vec<_> = config.get_hosts().iter().map(host_name).collect();
    if hosts.is_empty() {
        hosts = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    let ports = config.get_ports();
    let places: Vec<_> = hosts
        .into_iter()
        .enumerate()
        .map(|(index, host)| match ports.get(index).or(ports.first()) {
            None | Some(&DEFAULT_PORT) => host,
            Some(port) => format!("{host}, port {port}"),
        })
        .collect();
    // A server takes the user's name if no database is named.
    let name = config.get_dbname().or(config.get_user()).unwrap_or("of the user");
    Ok(format!("database {name} at {}", places.join(", and ")))
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(folder) => folder.display().to_string(),
    }
}

const EXPECTED: &str = "expected postgres:// with a user, a host and a database";

const DEFAULT_PORT: u16 = 5432;
