//! The losses of a translation as one line: the value of a header, a trailer or
//! a comment of a stream.
//!
//! The line is a List of Strings with Parameters (RFC 9651). Entries whose paths
//! differ only in an index become one member with `*` in its place. Entries
//! beyond the length limit become a count.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::fmt::Write;

use super::{Action, Code, Entry, Level};

/// What a request and its response lost, as a List of RFC 9651 of up to `limit`
/// bytes, or nothing if nothing was lost. Each member is the place in quotes,
/// with the code and the action as parameters, `level=info` if no caller relies
/// on what was lost, and `side=response` if it was the response that lost it.
/// What was emulated exactly is no loss.
///
/// ```
/// use toolwire::ledger::loss_list;
/// use toolwire::{Action, Code, Entry};
///
/// let lost = |path: &str| Entry::new(path, Code::Sampling, Action::Dropped);
/// assert_eq!(
///     loss_list(&[lost("/seed")], &[lost("/output/0/x"), lost("/output/1/x")], 2048).unwrap(),
///     "\"/seed\";code=sampling;action=dropped, \
///      \"/output/*/x\";code=sampling;action=dropped;side=response",
/// );
/// ```
pub fn loss_list(request: &[Entry], response: &[Entry], limit: usize) -> Option<String> {
    let mut list = LossList::default();
    list.add(request, Side::Request);
    list.add(response, Side::Response);
    (!list.members.is_empty() || list.unlisted > 0).then(|| list.render(limit))
}

#[derive(Default)]
struct LossList<'e> {
    members: Vec<Member<'e>>,
    /// Where the member of each kind is.
    places: BTreeMap<MemberKey<'e>, usize>,
    /// How many losses have no entry of their own.
    unlisted: usize,
}

/// What the entries of one member have in common.
type MemberKey<'e> = (Side, &'e Code, Action, Level, AnyIndex<'e>);

/// A path in which every index is as good as another.
struct AnyIndex<'e>(&'e str);

impl AnyIndex<'_> {
    fn steps(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').map(|step| if is_index(step) { "*" } else { step })
    }
}

impl Ord for AnyIndex<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.steps().cmp(other.steps())
    }
}

impl PartialOrd for AnyIndex<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for AnyIndex<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for AnyIndex<'_> {}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Request,
    Response,
}

/// Entries that differ only in the indexes of their paths.
struct Member<'e> {
    entry: &'e Entry,
    side: Side,
    /// The path of all of them, with `*` where they differ.
    path: Cow<'e, str>,
    count: usize,
}

impl<'e> LossList<'e> {
    fn add(&mut self, entries: &'e [Entry], side: Side) {
        for entry in entries {
            if entry.action == Action::Emulated {
                continue;
            }
            if let Code::More(count) = entry.code {
                self.unlisted += count;
            } else {
                self.add_entry(entry, side);
            }
        }
    }

    fn add_entry(&mut self, entry: &'e Entry, side: Side) {
        let key = (side, &entry.code, entry.action, entry.level, AnyIndex(&entry.path));
        match self.places.entry(key) {
            Slot::Vacant(slot) => {
                slot.insert(self.members.len());
                let path = Cow::Borrowed(entry.path.as_str());
                self.members.push(Member { entry, side, path, count: 1 });
            }
            Slot::Occupied(slot) => {
                let Some(member) = self.members.get_mut(*slot.get()) else { return };
                member.count += 1;
                member.widen(&entry.path);
            }
        }
    }

    fn render(&self, limit: usize) -> String {
        let mut left =
            self.unlisted + self.members.iter().map(|member| member.count).sum::<usize>();
        let mut text = String::with_capacity(limit.min(64 * self.members.len()));
        for member in &self.members {
            let before = text.len();
            member.write(&mut text);
            let room = if member.count == left { 0 } else { MORE.len() + 24 };
            if text.len() + room > limit {
                text.truncate(before);
                break;
            }
            left -= member.count;
        }
        if left > 0 {
            if !text.is_empty() {
                text.push_str(", ");
            }
            let _ = write!(text, "{MORE}{left}");
        }
        text
    }
}

impl Member<'_> {
    /// Makes the path one of this path, too.
    fn widen(&mut self, path: &str) {
        let steps = || self.path.split('/').zip(path.split('/'));
        if steps().any(|(step, other)| step != "*" && step != other) {
            let step = |(step, other)| if step == other { step } else { "*" };
            self.path = Cow::Owned(steps().map(step).collect::<Vec<_>>().join("/"));
        }
    }

    fn write(&self, text: &mut String) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        write_string(&self.path, text);
        text.push_str(";code=");
        let code = self.entry.code.as_text();
        if is_token(&code) {
            text.push_str(&code);
        } else {
            write_string(&code, text);
        }
        text.push_str(";action=");
        text.push_str(self.entry.action.as_str());
        match self.entry.level {
            Level::Loss => {}
            Level::Info => text.push_str(";level=info"),
        }
        match self.side {
            Side::Request => {}
            Side::Response => text.push_str(";side=response"),
        }
    }
}

fn is_index(step: &str) -> bool {
    step == "*" || (!step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Writes a String. It holds printable ASCII only; other bytes are
/// percent-encoded.
fn write_string(value: &str, text: &mut String) {
    text.push('"');
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if value.bytes().all(is_plain) {
        text.push_str(value);
        text.push('"');
        return;
    }
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

/// The member that counts what is left out.
const MORE: &str = "\"\";code=more;count=";

#[cfg(test)]
mod tests;
