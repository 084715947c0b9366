//! Keeps known secrets out of what a client gets.
//!
//! Some servers quote the key that they were sent in their errors or headers.
//! That key may be the operator's. Only errors and headers are searched: what a
//! model says costs nothing.

use std::borrow::Cow;
use std::sync::Arc;

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use memchr::memmem;
use toolwire::Protocol;
use toolwire::model::ApiError;
use toolwire::wire::Raw;

use crate::config::environment::PLACEHOLDER;
use crate::config::{Config, Credential, Secret};
use crate::guard::Credentials;

/// The secrets that must not reach one client.
#[derive(Clone, Debug)]
pub(crate) struct SecretMask {
    configured: Arc<[KnownSecret]>,
    /// The client's own credentials. They may be for an upstream, which may be
    /// someone else's.
    own: [Option<KnownSecret>; 2],
}

/// A secret, and what it is recognized by.
#[derive(Clone, Debug)]
pub(crate) struct KnownSecret {
    secret: Secret,
    /// How many bytes of its beginning are enough.
    recognized: usize,
}

impl KnownSecret {
    fn key(secret: &Secret) -> Option<Self> {
        let recognized = beginning_of_key(secret).len();
        is_recognizable(secret).then(|| Self { secret: secret.clone(), recognized })
    }

    /// The value of a header, which often begins with what is no secret: a media type, the
    /// scheme of an address.
    fn header(name: &str, value: &Secret) -> Option<Self> {
        let recognized = value.reveal().len();
        let may_be_secret = recognized >= MIN_HEADER_LENGTH && !is_feature_list(name);
        (may_be_secret && is_recognizable(value))
            .then(|| Self { secret: value.clone(), recognized })
    }

    fn bytes(&self) -> &[u8] {
        self.secret.reveal().as_bytes()
    }

    fn beginning(&self) -> &[u8] {
        self.bytes().get(..self.recognized).unwrap_or_default()
    }
}

/// The secrets of a configuration.
pub(crate) fn configured_secrets(config: &Config) -> Arc<[KnownSecret]> {
    let keys = config.keys.iter().chain(&config.admin_key).filter_map(KnownSecret::key);
    let upstreams = config.upstreams.iter().flat_map(|upstream| {
        let key = match &upstream.credential {
            Credential::Key(key) => KnownSecret::key(key),
            Credential::None | Credential::Client => None,
        };
        let headers = upstream.headers.iter();
        key.into_iter().chain(headers.filter_map(|(name, value)| KnownSecret::header(name, value)))
    });
    keys.chain(upstreams).collect()
}

impl SecretMask {
    pub(crate) fn new(configured: &Arc<[KnownSecret]>, credentials: &Credentials) -> Self {
        let Credentials { bearer, api_key, key: _ } = credentials;
        let own = [bearer, api_key].map(|secret| secret.as_ref().and_then(KnownSecret::key));
        Self { configured: Arc::clone(configured), own }
    }

    /// Masks every text of an error.
    pub(crate) fn mask_error(&self, error: &mut ApiError) {
        let texts =
            [&mut error.vendor_type, &mut error.code, &mut error.param, &mut error.request_id];
        for text in texts.into_iter().flatten().chain([&mut error.message]) {
            if let Some(masked) = self.mask(text.as_bytes()) {
                // Keys are ASCII, so the text stays UTF-8.
                *text = String::from_utf8(masked).unwrap_or_else(|_| MASK.to_owned());
            }
        }
        error.extra.retain(|member| self.find(member.key.decode().as_bytes()).is_empty());
        for member in &mut error.extra {
            if let Some(masked) = self.mask(member.value.text().as_bytes()) {
                // A key that is not in a string leaves no valid JSON behind.
                let masked = String::from_utf8(masked).ok();
                let masked = masked.filter(|masked| Raw::parse(masked).is_ok());
                member.value = Raw::made(masked.unwrap_or_else(|| format!("\"{MASK}\"")));
            }
        }
    }

    /// Masks the secrets in a text, which may be JSON with any escapes. `None`
    /// if there are none.
    pub(crate) fn mask(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut found = self.find(text);
        // An error may quote another error, so escapes may be escaped.
        let mut view = Unescaped::new(text);
        for _ in 0..MAX_NESTING {
            let Some(next) = view.unescape() else { break };
            view = next;
            let places = self.find(&view.bytes);
            found.extend(
                places.into_iter().map(|(start, end)| (view.place(start), view.place(end))),
            );
        }
        // The places of one secret are in order. A stable sort takes such runs as they are.
        found.sort();
        let mut masked = Vec::with_capacity(text.len());
        let mut written = 0;
        for (start, end) in found {
            if start >= written {
                masked.extend_from_slice(text.get(written..start)?);
                masked.extend_from_slice(MASK.as_bytes());
            }
            written = written.max(end);
        }
        if written == 0 {
            return None;
        }
        masked.extend_from_slice(text.get(written..)?);
        Some(masked)
    }

    /// Removes the headers that hold a secret.
    pub(crate) fn remove_headers(&self, headers: &mut HeaderMap) {
        let known = || self.configured.iter().chain(self.own.iter().flatten());
        remove_leaking(|| known().map(KnownSecret::beginning), headers);
    }

    fn find(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let own = self.own.iter().flatten();
        let mut found = Vec::new();
        for secret in self.configured.iter().chain(own) {
            let (secret, beginning) = (secret.bytes(), secret.beginning());
            if beginning.len() > text.len() {
                continue;
            }
            let finder = memmem::Finder::new(beginning);
            let mut rest = 0;
            while let Some(place) = text.get(rest..).and_then(|rest| finder.find(rest)) {
                let start = rest + place;
                let same = text.iter().skip(start).zip(secret).take_while(|(a, b)| a == b);
                rest = start + same.count();
                found.push((start, rest));
            }
        }
        found
    }
}

/// Removes the headers that hold a secret of the configuration or of the client.
pub(crate) fn remove_headers(
    configured: &[KnownSecret],
    credentials: &Credentials,
    headers: &mut HeaderMap,
) {
    let Credentials { bearer, api_key, key: _ } = credentials;
    let own = [bearer, api_key].map(|secret| secret.as_ref().filter(|one| is_recognizable(one)));
    let own = || own.into_iter().flatten().map(beginning_of_key);
    remove_leaking(|| configured.iter().map(KnownSecret::beginning).chain(own()), headers);
}

fn remove_leaking<'s, I>(secrets: impl Fn() -> I, headers: &mut HeaderMap)
where
    I: Iterator<Item = &'s [u8]>,
{
    let is_leaking = |value: &HeaderValue| {
        let value = value.as_bytes();
        // Most keys are longer than most headers.
        secrets().any(|secret| secret.len() <= value.len() && memmem::find(value, secret).is_some())
    };
    let leaking = headers.iter().filter(|(_, value)| is_leaking(value));
    let names: Vec<HeaderName> = leaking.map(|(name, _)| name.clone()).collect();
    for name in names {
        headers.remove(name);
    }
}

/// What a key is recognized by. Some servers quote only the beginning of one.
fn beginning_of_key(secret: &Secret) -> &[u8] {
    let secret = secret.reveal().as_bytes();
    secret.get(..RECOGNIZED).unwrap_or(secret)
}

/// A text without its JSON escapes, and where each byte of it came from.
struct Unescaped<'t> {
    bytes: Cow<'t, [u8]>,
    /// The place of each byte in the original, and of the end. Empty if it is
    /// the original.
    places: Vec<usize>,
}

impl<'t> Unescaped<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self { bytes: Cow::Borrowed(text), places: Vec::new() }
    }

    fn place(&self, index: usize) -> usize {
        self.places.get(index).copied().unwrap_or(index)
    }

    /// Resolves one level of escapes, if there are any.
    fn unescape(&self) -> Option<Self> {
        memchr::memchr(b'\\', &self.bytes)?;
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut places = Vec::with_capacity(self.bytes.len() + 1);
        let mut rest: &[u8] = &self.bytes;
        let mut index = 0;
        while let Some((byte, used)) = next_byte(rest) {
            bytes.push(byte);
            places.push(self.place(index));
            index += used;
            rest = rest.get(used..).unwrap_or_default();
        }
        places.push(self.place(index));
        Some(Self { bytes: Cow::Owned(bytes), places })
    }
}

/// The next byte of a JSON text, and how many bytes it was written in. What no
/// secret can contain becomes a zero.
fn next_byte(text: &[u8]) -> Option<(u8, usize)> {
    match text {
        [] => None,
        [b'\\', b'u', digits @ ..] => {
            let digits = digits.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
            match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
                Some(code) => Some((u8::try_from(code).unwrap_or(0), 6)),
                None => Some((0, 2)),
            }
        }
        [b'\\', escaped @ (b'"' | b'\\' | b'/'), ..] => Some((*escaped, 2)),
        [b'\\', _, ..] => Some((0, 2)),
        [byte, ..] => Some((*byte, 1)),
    }
}

/// Whether a text is long enough that it can only be the secret. Anything
/// shorter would also hit ordinary words.
fn is_recognizable(secret: &Secret) -> bool {
    let text = secret.reveal();
    text.len() >= MIN_LENGTH && text != PLACEHOLDER
}

/// Whether a header lists features, which errors may name.
fn is_feature_list(name: &str) -> bool {
    Protocol::ALL.iter().any(|protocol| protocol.describe().vendor.feature_header == name)
}

/// What stands for a secret.
const MASK: &str = "[secret]";

const MIN_LENGTH: usize = 8;

/// How many bytes of a longer key are enough to recognize it.
const RECOGNIZED: usize = 16;

/// A configured header is rarely a secret, and a secret is rarely short.
const MIN_HEADER_LENGTH: usize = 16;

/// How many levels of quoted errors are looked into.
const MAX_NESTING: usize = 3;

#[cfg(test)]
mod tests;
