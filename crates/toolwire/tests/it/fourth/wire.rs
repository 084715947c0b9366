//! The vendor's objects, in the vendor's words.

use toolwire::wire::{At, Pos, Raw, Read, ReadError, Reader, Str};

toolwire::wire! {
    /// A request.
    pub(super) struct Body<'a> {
        charter: Raw<'a> = "charter",
        dialogue: Vec<Entry<'a>> = "dialogue",
        instruments: List<Instrument<'a>> = "instruments",
        must: Raw<'a> = "must",
        only: Raw<'a> = "only",
        alone: At<bool> = "alone",
        limits: Limits<'a> = "limits",
        heat: Raw<'a> = "heat",
        nucleus: Raw<'a> = "nucleus",
        shape: Raw<'a> = "shape",
        ponder: Str<'a> = "ponder",
        asker: Str<'a> = "asker",
    }

    /// One entry of `dialogue`. Who speaks decides which members it has.
    pub(super) struct Entry<'a> {
        by: Str<'a> = "by",
        says: Raw<'a> = "says",
        reference: Raw<'a> = "ref",
        gave: Raw<'a> = "gave",
        failed: Raw<'a> = "failed",
    }

    /// A piece of what somebody says.
    pub(super) struct Piece<'a> {
        say: Str<'a> = "say",
        see: See<'a> = "see",
        decline: Str<'a> = "decline",
        think: Vec<Str<'a>> = "think",
        gist: Vec<Str<'a>> = "gist",
        seal: Str<'a> = "seal",
        action: Do<'a> = "do",
    }

    /// An image.
    pub(super) struct See<'a> {
        url: Str<'a> = "url",
        kind: Str<'a> = "kind",
        data: Str<'a> = "data",
    }

    /// A call. `with` is an object, or a string with arguments that are none;
    /// `write` is what goes to a freeform tool.
    pub(super) struct Do<'a> {
        reference: Str<'a> = "ref",
        tool: Str<'a> = "tool",
        with: Raw<'a> = "with",
        write: Str<'a> = "write",
    }

    /// One entry of `instruments`. It takes arguments, or writes text.
    pub(super) struct Instrument<'a> {
        tool: Str<'a> = "tool",
        about: Str<'a> = "about",
        takes: Raw<'a> = "takes",
        writes: Writes<'a> = "writes",
        exact: At<bool> = "exact",
    }

    /// The text that a freeform tool takes.
    pub(super) struct Writes<'a> {
        syntax: Str<'a> = "syntax",
        rules: Str<'a> = "rules",
    }

    pub(super) struct Must<'a> {
        tool: Str<'a> = "tool",
    }

    pub(super) struct Limits<'a> {
        tokens: At<u64> = "tokens",
        stops: List<Str<'a>> = "stops",
    }

    /// The schema of the answer.
    pub(super) struct Shape<'a> {
        name: Str<'a> = "name",
        about: Str<'a> = "about",
        schema: Raw<'a> = "schema",
        exact: At<bool> = "exact",
    }

    /// An answer.
    pub(super) struct Answer<'a> {
        reference: Str<'a> = "ref",
        by: Str<'a> = "by",
        when: At<u64> = "when",
        reply: Raw<'a> = "reply",
        because: Str<'a> = "because",
        detail: Detail<'a> = "detail",
        spent: Spent<'a> = "spent",
    }

    /// More about why the model stopped.
    pub(super) struct Detail<'a> {
        stop: Str<'a> = "stop",
        kind: Str<'a> = "kind",
        why: Str<'a> = "why",
    }

    pub(super) struct Spent<'a> {
        input: At<u64> = "in",
        output: At<u64> = "out",
        recalled: At<u64> = "recalled",
        stored: At<u64> = "stored",
        pondered: At<u64> = "pondered",
    }

    /// The event `began`, and `whole`, which has no number.
    pub(super) struct Began<'a> {
        n: At<u64> = "n",
        piece: Raw<'a> = "piece",
    }

    /// The event `grew`.
    pub(super) struct Grew<'a> {
        n: At<u64> = "n",
        part: At<u64> = "part",
        say: Str<'a> = "say",
        decline: Str<'a> = "decline",
        think: Str<'a> = "think",
        gist: Str<'a> = "gist",
        with: Str<'a> = "with",
        write: Str<'a> = "write",
    }

    /// The event `ended`.
    pub(super) struct Ended<'a> {
        n: At<u64> = "n",
        seal: Str<'a> = "seal",
    }

    /// The event `because`.
    pub(super) struct Because<'a> {
        because: Str<'a> = "because",
        detail: Detail<'a> = "detail",
    }

    /// An error.
    pub(super) struct ErrorBody<'a> {
        fault: Fault<'a> = "fault",
        reference: Str<'a> = "ref",
    }

    pub(super) struct Fault<'a> {
        kind: Str<'a> = "kind",
        words: Str<'a> = "words",
        code: Str<'a> = "code",
        field: Str<'a> = "field",
    }
}

/// A list that is reported as a whole.
#[derive(Debug)]
pub(super) struct List<T> {
    pub(super) at: Pos,
    pub(super) items: Vec<T>,
}

impl<'a, T: Read<'a>> Read<'a> for List<T> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let at = reader.here();
        Ok(Self { at, items: Vec::read(reader)? })
    }
}
