//! A configuration without a file: the demo model, and whoever's key is in the
//! environment.

use std::net::{IpAddr, SocketAddr};

use toolwire::{Policy, Profile, Protocol};

use super::surroundings::Surroundings;
use super::{
    Config, Credential, DEFAULT_LISTEN, Limits, Log, Origin, Pattern, Secret, Timeouts, Upstream,
    address,
};

/// A configuration, and what the operator should know about how it came to be.
#[derive(Clone, Debug)]
pub struct Found {
    /// The configuration.
    pub config: Config,
    /// Variables that were looked at and not followed, in sentences.
    pub notes: Vec<String>,
}

/// What clients are told to give as a key where the gateway asks for none: most
/// do not start without one.
pub const PLACEHOLDER: &str = "toolwire";

/// Makes a configuration of what the environment offers. It listens on
/// `listen`, or where it does by default.
pub fn find(listen: Option<SocketAddr>, around: &dyn Surroundings) -> Found {
    let listen = listen.unwrap_or(DEFAULT_LISTEN);
    let mut upstreams = vec![demo()];
    let mut notes = Vec::new();
    for vendor in &VENDORS {
        let Some(key) = around.variable(vendor.key).map(|key| key.trim().to_owned()) else {
            continue;
        };
        // A shell that was set up for the gateway's clients has no key of the
        // vendor's.
        if key == PLACEHOLDER {
            continue;
        }
        if !key.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            notes.push(format!(
                "{} holds a line end or a character outside ASCII and is not used.",
                vendor.key
            ));
            continue;
        }
        let origin = match around.variable(vendor.base) {
            None => vendor.origin(),
            Some(url) => match follow(&url, listen) {
                Ok(origin) => origin,
                Err(reason) => {
                    let Vendor { base, home, .. } = vendor;
                    notes.push(format!("{base} {reason}; {home} is used."));
                    vendor.origin()
                }
            },
        };
        upstreams.extend(vendor.upstreams(&origin, &key));
    }
    let config = Config {
        listen,
        keys: Vec::new(),
        on_loss: Policy::Report,
        upstreams,
        prefer_same_protocol: true,
        aliases: Vec::new(),
        limits: Limits::default(),
        log: Log::Text,
    };
    Found { config, notes }
}

/// The upstream of the model that is built in.
pub fn demo() -> Upstream {
    let models = ["demo", "demo-*"];
    upstream("demo", toolwire_demo::PROTOCOL, Origin::Demo, Credential::None, &models, 1)
}

/// A vendor whose key may be in the environment.
struct Vendor {
    key: &'static str,
    base: &'static str,
    home: &'static str,
    models: &'static [&'static str],
    /// Name, protocol and weight of each API it has.
    apis: &'static [(&'static str, Protocol, u32)],
}

impl Vendor {
    fn origin(&self) -> Origin {
        Origin::Http { base: self.home.to_owned(), path: "/v1".to_owned() }
    }

    fn upstreams(&self, origin: &Origin, key: &str) -> impl Iterator<Item = Upstream> {
        self.apis.iter().map(|(name, protocol, weight)| {
            let credential = Credential::Key(Secret::new(key.to_owned()));
            upstream(name, *protocol, origin.clone(), credential, self.models, *weight)
        })
    }
}

const VENDORS: [Vendor; 2] = [
    Vendor {
        key: "OPENAI_API_KEY",
        base: "OPENAI_BASE_URL",
        home: "https://api.openai.com",
        models: &["gpt-*", "chatgpt-*", "codex-*", "o1*", "o3*", "o4*"],
        // The same models answer in both. A client of either gets its own;
        // of what a client of Messages sends, Responses carries more.
        apis: &[("openai", Protocol::Responses, 1), ("openai-chat", Protocol::Chat, 0)],
    },
    Vendor {
        key: "ANTHROPIC_API_KEY",
        base: "ANTHROPIC_BASE_URL",
        home: "https://api.anthropic.com",
        models: &["claude-*"],
        apis: &[("anthropic", Protocol::Messages, 1)],
    },
];

/// Where a variable points, unless that is the gateway itself: a shell that was
/// set up for the gateway's clients often starts the gateway as well.
fn follow(url: &str, listen: SocketAddr) -> Result<Origin, &'static str> {
    let origin = address::origin(url.trim(), false).map_err(|_| "is not an https address")?;
    let Origin::Http { base, .. } = &origin else { return Ok(origin) };
    if is_own(base, listen) { Err("points at this gateway") } else { Ok(origin) }
}

fn is_own(base: &str, listen: SocketAddr) -> bool {
    let Some((scheme, authority)) = base.split_once("://") else { return false };
    let Ok(authority) = authority.parse::<http::uri::Authority>() else { return false };
    let usual = if scheme == "https" { 443 } else { 80 };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let same_host = address::is_loopback(host)
        || host.parse().is_ok_and(|host: IpAddr| host == listen.ip() || host.is_unspecified());
    same_host && authority.port_u16().unwrap_or(usual) == listen.port()
}

fn upstream(
    name: &str,
    protocol: Protocol,
    origin: Origin,
    credential: Credential,
    models: &[&str],
    weight: u32,
) -> Upstream {
    Upstream {
        name: name.to_owned(),
        protocol,
        origin,
        ca: None,
        credential,
        models: models.iter().map(|model| Pattern((*model).to_owned())).collect(),
        headers: Vec::new(),
        profile: Profile::of(protocol),
        on_loss: None,
        weight,
        timeouts: Timeouts::default(),
    }
}

#[cfg(test)]
mod tests;
