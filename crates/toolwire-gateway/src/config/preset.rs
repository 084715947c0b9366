//! How a vendor of the table becomes upstreams, in a file and without one.

use std::net::SocketAddr;

use toolwire::wire::ids::IdRule;
use toolwire::{Profile, Protocol};

use super::vendors::VENDORS;
use super::{Credential, Environment, Origin, Pattern, Secret, UpstreamConfig, address};

/// A vendor that needs no settings.
#[derive(Debug)]
pub struct Vendor {
    /// The name of the preset, and of its upstream.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// Where it is.
    pub address: Address,
    /// The variable that holds another address.
    pub url_variable: &'static str,
    /// The variables that may hold its key. The first that is set counts. None
    /// for a server that needs no key.
    pub key_variables: &'static [&'static str],
    /// The header for the key, if it isn't the protocol's own.
    pub key_header: Option<&'static str>,
    /// What every URL has behind its path.
    pub query: &'static [(&'static str, &'static str)],
    /// Whether it lists the models that can be used.
    pub lists_models: bool,
    /// Its APIs. Each becomes an upstream.
    pub apis: &'static [Api],
    /// What it accepts.
    pub quirks: Quirks,
    /// What else is peculiar to it, for people.
    pub note: &'static str,
}

/// Where a vendor is.
#[derive(Debug)]
pub enum Address {
    /// At this URL.
    Remote(&'static str),
    /// At an address of the customer's own, with this path behind it.
    Resource(&'static str),
    /// On this machine, if it is running.
    Local {
        /// Its usual URL.
        url: &'static str,
        /// The path to ask whether it is running.
        path: &'static str,
        /// What its answer contains.
        says: &'static str,
    },
}

/// An API of a vendor.
#[derive(Debug)]
pub struct Api {
    /// What its upstream's name has behind the vendor's.
    pub suffix: &'static str,
    /// Its protocol.
    pub protocol: Protocol,
    /// The models it serves.
    pub models: &'static [&'static str],
    /// Its weight beside other upstreams of the same models.
    pub weight: u32,
}

/// What a vendor accepts, where that differs from the protocol's own vendor.
#[derive(Clone, Copy, Debug)]
pub struct Quirks {
    /// See the profile.
    pub freeform_tools: bool,
    /// See the profile.
    pub allowed_tools: bool,
    /// See the profile.
    pub strict: bool,
    /// See the profile.
    pub legacy_max_tokens: bool,
    /// See the profile.
    pub reasoning_field: Option<&'static str>,
    /// See the profile.
    pub unsigned_calls: bool,
    /// Its call ids, if they are special.
    pub ids: Option<IdRule>,
}

impl Quirks {
    /// None.
    pub const NONE: Self = Self {
        freeform_tools: true,
        allowed_tools: true,
        strict: true,
        legacy_max_tokens: false,
        reasoning_field: None,
        unsigned_calls: false,
        ids: None,
    };

    /// The profile of an API with these quirks.
    fn profile(self, protocol: Protocol) -> Profile {
        let Self { freeform_tools, allowed_tools, strict, legacy_max_tokens, .. } = self;
        let mut profile = Profile::of(protocol);
        profile.freeform_tools &= freeform_tools;
        profile.allowed_tools &= allowed_tools;
        profile.strict &= strict;
        profile.legacy_max_tokens |= legacy_max_tokens;
        profile.reasoning_field = self.reasoning_field.or(profile.reasoning_field);
        profile.unsigned_calls = self.unsigned_calls;
        profile.ids = self.ids.unwrap_or(profile.ids);
        profile
    }
}

impl Vendor {
    /// Every vendor of the table.
    pub fn all() -> &'static [Self] {
        VENDORS
    }

    /// The vendor with a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        VENDORS.iter().find(|vendor| vendor.name == name)
    }

    /// Its usual address, if it is the same for everybody.
    pub fn url(&self) -> Option<&'static str> {
        match self.address {
            Address::Remote(url) | Address::Local { url, .. } => Some(url),
            Address::Resource(_) => None,
        }
    }

    /// The key variable that is set, or the first one.
    pub fn key_variable(&self, environment: &dyn Environment) -> Option<&'static str> {
        let is_set = |name: &&&str| environment.variable(name).is_some();
        self.key_variables.iter().find(is_set).or(self.key_variables.first()).copied()
    }

    /// The origin of a URL of the customer's.
    pub(super) fn origin(&self, url: &str) -> Result<Origin, address::InvalidUrl> {
        match self.address {
            Address::Remote(_) => address::origin(url, false),
            Address::Resource(path) => {
                let url = url.trim_end_matches('/');
                let has_path = url.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
                let path = if has_path { "" } else { path };
                address::origin(&format!("{url}{path}"), false)
            }
            // Ollama's variable holds `host:port`, and maybe the address to listen on.
            Address::Local { .. } => {
                let url =
                    if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
                address::origin(&url.replace("://0.0.0.0", "://127.0.0.1"), false)
            }
        }
    }

    /// Its APIs as upstreams, or only the one with a protocol. `None` if it has no
    /// such API.
    pub(super) fn upstreams(
        &self,
        name: &str,
        protocol: Option<Protocol>,
        origin: &Origin,
        credential: &Credential,
    ) -> Option<Vec<UpstreamConfig>> {
        let Some(protocol) = protocol else {
            let apis = self.apis.iter();
            let all = apis.map(|api| self.upstream(name, api, origin.clone(), credential.clone()));
            return Some(all.collect());
        };
        let api = self.apis.iter().find(|api| api.protocol == protocol)?;
        let mut upstream = self.upstream(name, api, origin.clone(), credential.clone());
        (upstream.name, upstream.weight) = (name.to_owned(), upstream.weight.max(1));
        Some(vec![upstream])
    }

    /// One of its APIs as an upstream.
    fn upstream(
        &self,
        name: &str,
        api: &Api,
        origin: Origin,
        credential: Credential,
    ) -> UpstreamConfig {
        let name = format!("{name}{}", api.suffix);
        UpstreamConfig {
            key_header: self.key_header.map(str::to_owned),
            query: self.query.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            models: api.models.iter().map(|model| Pattern((*model).to_owned())).collect(),
            list_models: self.lists_models,
            profile: self.quirks.profile(api.protocol),
            weight: api.weight,
            ..UpstreamConfig::new(name, api.protocol, origin, credential)
        }
    }
}

/// A vendor that can be used in this environment.
#[derive(Debug)]
pub struct FoundVendor {
    /// The vendor.
    pub vendor: &'static Vendor,
    /// The variable with its key, if it needs one.
    pub key_variable: Option<&'static str>,
    /// The address, if it isn't the usual one.
    pub url: Option<String>,
    /// Its upstreams.
    pub upstreams: Vec<UpstreamConfig>,
}

/// The vendors whose keys are set, and the servers that run on this machine. Adds
/// a note for each variable that is set and not used.
pub fn find_vendors(
    listen: SocketAddr,
    environment: &dyn Environment,
    notes: &mut Vec<String>,
) -> Vec<FoundVendor> {
    let is_there = running(environment);
    let found = VENDORS.iter().filter_map(|vendor| match vendor.address {
        Address::Remote(_) | Address::Resource(_) => with_key(vendor, listen, environment, notes),
        Address::Local { .. } => {
            let place = is_there.iter().find(|(other, _)| other.name == vendor.name);
            place.and_then(|(_, url)| local(vendor, url, listen))
        }
    });
    found.collect()
}

fn with_key(
    vendor: &'static Vendor,
    listen: SocketAddr,
    environment: &dyn Environment,
    notes: &mut Vec<String>,
) -> Option<FoundVendor> {
    let variable = vendor.key_variable(environment)?;
    let key = environment.variable(variable)?.trim().to_owned();
    // A shell that was set up for the gateway's clients holds the placeholder
    // instead of a key.
    if key == super::environment::PLACEHOLDER {
        return None;
    }
    if !key.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        notes.push(format!(
            "{variable} contains a line break or a non-ASCII character and is ignored."
        ));
        return None;
    }
    let Vendor { url_variable, .. } = vendor;
    let usual = || vendor.url().and_then(|url| address::origin(url, false).ok());
    let (origin, url) = match environment.variable(url_variable) {
        None => (usual(), None),
        Some(url) => match vendor.origin(url.trim()) {
            Ok(origin) if !is_this_gateway(&origin, listen) => {
                (Some(origin), Some(url.trim().to_owned()))
            }
            result => {
                let reason = if result.is_ok() {
                    "points at this gateway"
                } else {
                    "is not an https address"
                };
                notes.push(match vendor.url() {
                    Some(url) => format!("{url_variable} {reason}; {url} is used instead."),
                    None => format!("{url_variable} {reason}, so {variable} is not used."),
                });
                (usual(), None)
            }
        },
    };
    let Some(origin) = origin else {
        if environment.variable(url_variable).is_none() {
            notes.push(format!("{variable} is set, but {url_variable} is not, so it is not used."));
        }
        return None;
    };
    let credential = Credential::Key(Secret::new(key));
    let upstreams = vendor.upstreams(vendor.name, None, &origin, &credential)?;
    Some(FoundVendor { vendor, key_variable: Some(variable), url, upstreams })
}

/// A server on this machine.
fn local(vendor: &'static Vendor, url: &str, listen: SocketAddr) -> Option<FoundVendor> {
    let origin = vendor.origin(url).ok()?;
    if is_this_gateway(&origin, listen) {
        return None;
    }
    let upstreams = vendor.upstreams(vendor.name, None, &origin, &Credential::None)?;
    let is_usual =
        vendor.url().is_some_and(|usual| vendor.origin(usual).ok() == Some(origin.clone()));
    let url = (!is_usual).then(|| match origin {
        Origin::Http { base, path } => format!("{base}{path}"),
        Origin::Demo => String::new(),
    });
    Some(FoundVendor { vendor, key_variable: None, url, upstreams })
}

/// The servers that answer on this machine, with their addresses. All are asked at
/// the same time, and none for long.
fn running(environment: &dyn Environment) -> Vec<(&'static Vendor, String)> {
    let mut asked = Vec::new();
    for vendor in VENDORS {
        let Address::Local { url, path, says } = vendor.address else { continue };
        let url = environment.variable(vendor.url_variable).unwrap_or_else(|| url.to_owned());
        let Ok(Origin::Http { base, .. }) = vendor.origin(url.trim()) else { continue };
        let Some(authority) = base.strip_prefix("http://") else { continue };
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        if address::is_loopback(host) {
            asked.push((vendor, url.clone(), (authority.to_owned(), path), says));
        }
    }
    let places: Vec<(String, &str)> = asked.iter().map(|(_, _, place, _)| place.clone()).collect();
    let answers = environment.ask_local(&places);
    let told = asked.into_iter().zip(answers);
    told.filter(|((_, _, _, says), answer)| answer.as_ref().is_some_and(|text| text.contains(says)))
        .map(|((vendor, url, _, _), _)| (vendor, url.trim().to_owned()))
        .collect()
}

/// Whether an origin is the gateway itself: it is often started in a shell that
/// was set up for its clients.
fn is_this_gateway(origin: &Origin, listen: SocketAddr) -> bool {
    let Origin::Http { base, .. } = origin else { return false };
    let Some((scheme, authority)) = base.split_once("://") else { return false };
    let Ok(authority) = authority.parse::<http::uri::Authority>() else { return false };
    let default_port = if scheme == "https" { 443 } else { 80 };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let is_own = |host: std::net::IpAddr| host == listen.ip() || host.is_unspecified();
    let same_host = address::is_loopback(host) || host.parse().is_ok_and(is_own);
    same_host && authority.port_u16().unwrap_or(default_port) == listen.port()
}
