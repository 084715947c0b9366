//! What is kept of an answer, written over one whose bytes pass.

use std::borrow::Cow;

use super::KeptMember;
use crate::codec::Codec;
use crate::model::KeptState;
use crate::wire::edits::Edit;
use crate::wire::{Kind, ReadError, Reader, write_str};

/// Writes over answers what is kept of them.
#[derive(Clone, Debug)]
pub(crate) struct KeptAnswer {
    members: Vec<KeptMember>,
    /// The member with the answer in an event of a stream.
    answer_member: &'static str,
}

impl KeptAnswer {
    /// For answers of a protocol whose servers remember, if somebody keeps them.
    pub(crate) fn new(codec: &Codec, kept: Option<&KeptState>) -> Option<Self> {
        let (codec, kept) = (codec.stateful?, kept?);
        Some(Self { members: (codec.kept_members)(kept), answer_member: codec.answer_member })
    }

    /// The member with the answer in an event of a stream.
    pub(crate) fn answer_member(&self) -> &'static str {
        self.answer_member
    }

    /// What to write over an event of a stream, which was read before. Nothing if it has no
    /// answer.
    pub(crate) fn event_edits(&self, event: &str) -> Result<Vec<Edit<'_>>, ReadError> {
        let mut reader = Reader::new(event);
        reader.enter(self.answer_member)?;
        self.edits(reader)
    }

    /// What to write over the answer that comes next, which was read before: the value of
    /// each member and, behind the last of them, those that are missing.
    pub(crate) fn edits(&self, mut reader: Reader<'_>) -> Result<Vec<Edit<'_>>, ReadError> {
        let mut edits = Vec::new();
        if reader.peek() != Kind::Object {
            return Ok(edits);
        }
        let mut missing: Vec<&KeptMember> = self.members.iter().collect();
        let mut members = reader.object()?;
        let (mut end, mut is_empty) = (reader.behind(), true);
        while let Some(key) = members.next(&mut reader)? {
            let start = reader.here();
            reader.skip_known()?;
            (end, is_empty) = (reader.behind(), false);
            let Some(member) = self.members.iter().find(|member| key == *member.name) else {
                continue;
            };
            missing.retain(|other| other.name != member.name);
            if let (Some(start), Some(end)) = (start.offset(), end.offset()) {
                let text = Cow::Borrowed(member.value.as_bytes());
                edits.push(Edit { place: start..end, text });
            }
        }
        let mut text = Vec::new();
        for KeptMember { name, value, is_required } in missing {
            if *is_required {
                text.extend_from_slice(if is_empty && text.is_empty() { b"" } else { b"," });
                write_str(name, &mut text);
                text.push(b':');
                text.extend_from_slice(value.as_bytes());
            }
        }
        if let Some(end) = end.offset().filter(|_| !text.is_empty()) {
            edits.push(Edit { place: end..end, text: Cow::Owned(text) });
        }
        Ok(edits)
    }
}
