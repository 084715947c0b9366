//! The losses of a translation, as a header of the response.
//!
//! The header is a List of Strings with Parameters (RFC 9651). Entries whose
//! paths differ only in an index become one member with `*` in its place. Entries
//! beyond the length limit become a count.

use std::fmt::Write;

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use toolwire::model::{ApiError, ErrorKind};
use toolwire::{Action, Entry, Level, LossPolicy};

use super::Failure;

/// The loss policy that the client asks for, if any.
pub(super) fn requested_policy(headers: &HeaderMap) -> Result<Option<LossPolicy>, Failure> {
    match headers.get(POLICY_HEADER).map(HeaderValue::as_bytes) {
        None => Ok(None),
        Some(b"report") => Ok(Some(LossPolicy::Report)),
        Some(b"refuse") => Ok(Some(LossPolicy::Refuse)),
        Some(b"ignore") => Ok(Some(LossPolicy::Ignore)),
        Some(_) => {
            let message = "The header toolwire-on-loss must be report, refuse or ignore.";
            Err(Failure::new(ApiError::new(ErrorKind::InvalidRequest, message)))
        }
    }
}

/// Writes the losses of a request and its response into a header.
pub(super) fn write_header(
    request: &[Entry],
    response: &[Entry],
    limit: usize,
    headers: &mut HeaderMap,
) {
    let mut members = Vec::new();
    collect(request, Side::Request, &mut members);
    collect(response, Side::Response, &mut members);
    if members.is_empty() {
        return;
    }
    if let Ok(value) = HeaderValue::try_from(render(&members, limit)) {
        headers.insert(LOSS_HEADER, value);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Request,
    Response,
}

/// Entries that differ only in the indexes of their paths.
struct Member<'e> {
    entry: &'e Entry,
    side: Side,
    path: Vec<&'e str>,
    count: usize,
}

fn collect<'e>(entries: &'e [Entry], side: Side, members: &mut Vec<Member<'e>>) {
    for entry in entries.iter().filter(|entry| entry.action != Action::Emulated) {
        let path: Vec<&str> = entry.path.split('/').collect();
        let similar = members.iter_mut().find(|member| {
            member.side == side
                && member.entry.code == entry.code
                && member.entry.action == entry.action
                && member.entry.level == entry.level
                && differ_only_in_indexes(&member.path, &path)
        });
        match similar {
            Some(member) => {
                member.count += 1;
                for (step, other) in member.path.iter_mut().zip(path) {
                    if *step != other {
                        *step = "*";
                    }
                }
            }
            None => members.push(Member { entry, side, path, count: 1 }),
        }
    }
}

fn differ_only_in_indexes(one: &[&str], other: &[&str]) -> bool {
    let is_index = |step: &str| {
        step == "*" || (!step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()))
    };
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| one == other || (is_index(one) && is_index(other)))
}

fn render(members: &[Member<'_>], limit: usize) -> String {
    let total: usize = members.iter().map(|member| member.count).sum();
    let mut text = String::with_capacity(64 * members.len());
    let mut written = 0;
    for (index, member) in members.iter().enumerate() {
        let before = text.len();
        member.write(&mut text);
        let is_last = index + 1 == members.len();
        let room = if is_last { 0 } else { MORE.len() + 24 };
        if text.len() + room > limit {
            text.truncate(before);
            if !text.is_empty() {
                text.push_str(", ");
            }
            let _ = write!(text, "{MORE}{}", total - written);
            return text;
        }
        written += member.count;
    }
    text
}

impl Member<'_> {
    fn write(&self, text: &mut String) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        write_string(&self.path.join("/"), text);
        text.push_str(";code=");
        let code = self.entry.code.to_string();
        if is_token(&code) {
            text.push_str(&code)
        } else {
            write_string(&code, text)
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

/// Writes a String. It holds printable ASCII only; other bytes are
/// percent-encoded.
fn write_string(value: &str, text: &mut String) {
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

const POLICY_HEADER: &str = "toolwire-on-loss";
const LOSS_HEADER: &str = "toolwire-loss";
const MORE: &str = "\"\";code=more;count=";

#[cfg(test)]
mod tests;
