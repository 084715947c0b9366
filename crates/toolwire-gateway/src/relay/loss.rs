//! What a translation could not carry, as a header of the answer.
//!
//! The header is a List of Strings with Parameters, as RFC 9651 has it. Lines
//! that differ in an index only are one member with `*` in its place, and what
//! goes beyond the limit is a count.

use std::fmt::Write;

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::{Action, Entry, Level, Policy};

use super::Failure;

/// What the client wants done about losses, if it says so.
pub(super) fn wish(headers: &HeaderMap) -> Result<Option<Policy>, Failure> {
    match headers.get(WISH).map(HeaderValue::as_bytes) {
        None => Ok(None),
        Some(b"report") => Ok(Some(Policy::Report)),
        Some(b"refuse") => Ok(Some(Policy::Refuse)),
        Some(b"ignore") => Ok(Some(Policy::Ignore)),
        Some(_) => {
            let message = "The header toolwire-on-loss must be report, refuse or ignore.";
            Err(Failure::of(ApiError::new(ErrorKind::InvalidRequest, message)))
        }
    }
}

/// Puts losses into the headers of an answer.
pub(super) fn report(request: &[Entry], response: &[Entry], limit: usize, out: &mut HeaderMap) {
    let mut members = Vec::new();
    gather(request, Side::Request, &mut members);
    gather(response, Side::Response, &mut members);
    if members.is_empty() {
        return;
    }
    if let Ok(value) = HeaderValue::try_from(render(&members, limit)) {
        out.insert(REPORT, value);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Request,
    Response,
}

/// Lines that say the same of places that differ in indexes only.
struct Member<'e> {
    entry: &'e Entry,
    side: Side,
    path: Vec<&'e str>,
    count: usize,
}

fn gather<'e>(entries: &'e [Entry], side: Side, members: &mut Vec<Member<'e>>) {
    for entry in entries.iter().filter(|entry| entry.action != Action::Emulated) {
        let path: Vec<&str> = entry.path.split('/').collect();
        let like = members.iter_mut().find(|member| {
            member.side == side
                && member.entry.code == entry.code
                && member.entry.action == entry.action
                && member.entry.level == entry.level
                && folds(&member.path, &path)
        });
        match like {
            Some(member) => {
                member.count += 1;
                for (known, other) in member.path.iter_mut().zip(path) {
                    if *known != other {
                        *known = "*";
                    }
                }
            }
            None => members.push(Member { entry, side, path, count: 1 }),
        }
    }
}

fn folds(known: &[&str], other: &[&str]) -> bool {
    let index = |step: &str| {
        step == "*" || (!step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()))
    };
    known.len() == other.len()
        && known
            .iter()
            .zip(other)
            .all(|(known, other)| known == other || (index(known) && index(other)))
}

fn render(members: &[Member<'_>], limit: usize) -> String {
    let total: usize = members.iter().map(|member| member.count).sum();
    let mut text = String::with_capacity(64 * members.len());
    let mut told = 0;
    for (index, member) in members.iter().enumerate() {
        let before = text.len();
        member.write(&mut text);
        let last = index + 1 == members.len();
        let room = if last { 0 } else { MORE.len() + 24 };
        if text.len() + room > limit {
            text.truncate(before);
            if !text.is_empty() {
                text.push_str(", ");
            }
            let _ = write!(text, "{MORE}{}", total - told);
            return text;
        }
        told += member.count;
    }
    text
}

impl Member<'_> {
    fn write(&self, text: &mut String) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        quote(&self.path.join("/"), text);
        text.push_str(";code=");
        let code = self.entry.code.to_string();
        if is_token(&code) {
            text.push_str(&code)
        } else {
            quote(&code, text)
        }
        text.push_str(";action=");
        text.push_str(self.entry.action.as_str());
        if self.entry.level == Level::Info {
            text.push_str(";level=info");
        }
        match self.side {
            Side::Request => {}
            Side::Response => text.push_str(";side=response"),
        }
    }
}

/// A String holds printable ASCII only; the rest is percent-encoded.
fn quote(value: &str, text: &mut String) {
    text.push('"');
    for byte in value.bytes() {
        match byte {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' '..=b'~' => text.push(char::from(byte)),
            _other => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text.push('"');
}

fn is_token(text: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte);
    text.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'*')
        && text.bytes().all(rest)
}

const WISH: &str = "toolwire-on-loss";
const REPORT: &str = "toolwire-loss";
const MORE: &str = "\"\";code=more;count=";

#[cfg(test)]
mod tests;
