//! Headers of one vendor that change what a request means. Every upstream of that
//! vendor gets them, whichever protocol the client speaks. If the upstream cannot
//! get them, they are reported as losses.

use std::collections::HashSet;

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use toolwire::protocol::Vendor;
use toolwire::{Action, Code, Entry, Level};

use super::vendor_names::{VendorNames, vendors};
use crate::config::Credential;

/// Whether it is a header of a vendor that its upstreams get.
pub(super) fn is_supported(name: &HeaderName, to: &VendorNames, credential: &Credential) -> bool {
    let mut headers = Header::of(to);
    headers.any(|header| header.name == name && header.reaches(to.vendor, credential))
}

/// The headers that the upstream does not get.
pub(super) fn lost(client_headers: &HeaderMap, to: &Vendor, credential: &Credential) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    // Few clients send any, and to go through a client's headers takes less than
    // to look up each of these.
    let is_listed = |name: &HeaderName| VendorNames::all().iter().any(|names| names.lists(name));
    if !client_headers.keys().any(is_listed) {
        return entries;
    }
    let mut seen = HashSet::new();
    for header in VendorNames::all().iter().flat_map(Header::of) {
        if header.reaches(to, credential) {
            continue;
        }
        let values = client_headers.get_all(header.name).iter();
        for entry in values.flat_map(|value| header.entries(value)) {
            if seen.insert(entry.path.clone()) {
                entries.push(entry);
            }
        }
    }
    if entries.len() > MOST_LISTED {
        let rest = entries.split_off(MOST_LISTED);
        let level = if rest.iter().any(Entry::is_loss) { Level::Loss } else { Level::Info };
        let more = Entry::new("", Code::More(rest.len()), Action::Dropped).level(level);
        entries.push(more.detail(format!("{} more features are not listed.", rest.len())));
    }
    entries
}

/// Appends to a header that is a list. Returns `None` if the header is not one.
pub(super) fn append_to_list(name: &str, more: &str, headers: &mut HeaderMap) -> Option<()> {
    let name = vendors().map(|vendor| vendor.feature_header).find(|known| *known == name)?;
    let existing: Option<Vec<&str>> =
        headers.get_all(name).iter().map(|value| value.to_str().ok()).collect();
    let mut all: Vec<&str> = existing?.into_iter().flat_map(split).collect();
    let before = all.len();
    let mut seen: HashSet<&str> = all.iter().copied().collect();
    all.extend(split(more).filter(|one| seen.insert(one)));
    if all.len() > before {
        let joined = HeaderValue::from_str(&all.join(",")).ok()?;
        headers.insert(name, joined);
    }
    Some(())
}

/// A header of one vendor.
struct Header<'n> {
    name: &'n HeaderName,
    vendor: &'static Vendor,
    kind: HeaderKind,
}

/// What a header is for.
enum HeaderKind {
    /// A list of features to enable.
    Features,
    /// The account at the vendor. It belongs to the key.
    Account,
}

impl<'n> Header<'n> {
    /// The headers of a vendor.
    fn of(names: &'n VendorNames) -> impl Iterator<Item = Self> {
        let VendorNames { vendor, features, accounts, .. } = names;
        let features = Self { name: features, vendor, kind: HeaderKind::Features };
        let accounts = accounts.iter();
        let accounts = accounts.map(|name| Self { name, vendor, kind: HeaderKind::Account });
        std::iter::once(features).chain(accounts)
    }

    fn reaches(&self, to: &Vendor, credential: &Credential) -> bool {
        let same_vendor = self.vendor == to;
        match self.kind {
            HeaderKind::Features => same_vendor,
            HeaderKind::Account => same_vendor && matches!(credential, Credential::Client),
        }
    }

    /// The losses for a value that does not reach the upstream.
    fn entries(&self, value: &HeaderValue) -> Vec<Entry> {
        let entry = |path: String, level, detail: &'static str| {
            let code = Code::Only(self.name.as_str().to_owned());
            Entry::new(path, code, Action::Dropped).level(level).detail(detail)
        };
        let other_vendor = "The upstream belongs to another vendor.";
        match (&self.kind, value.to_str()) {
            (HeaderKind::Account, _) => {
                let detail = "The upstream uses another key, which belongs to another account.";
                vec![entry(self.name.as_str().to_owned(), Level::Info, detail)]
            }
            (HeaderKind::Features, Err(_)) => {
                vec![entry(self.name.as_str().to_owned(), Level::Loss, other_vendor)]
            }
            (HeaderKind::Features, Ok(list)) => split(list)
                .map(|feature| {
                    let is_known = self.vendor.known_features.contains(&without_date(feature));
                    let level = if is_known { Level::Info } else { Level::Loss };
                    let feature = feature.get(..LONGEST_FEATURE).unwrap_or(feature);
                    entry(format!("{}: {feature}", self.name), level, other_vendor)
                })
                .collect(),
        }
    }
}

fn split(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|one| !one.is_empty())
}

/// The name of a feature without its date or version: `context-1m-2025-08-07` is
/// `context-1m`, `responses=v1` is `responses`.
fn without_date(feature: &str) -> &str {
    let feature = feature.split('=').next().unwrap_or(feature);
    feature.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-')
}

/// How many headers and features are listed as lost. The rest is counted.
const MOST_LISTED: usize = 100;

/// How much of a feature's name is reported. A name is a client's text.
const LONGEST_FEATURE: usize = 128;

#[cfg(test)]
mod tests;
