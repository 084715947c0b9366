//! The envelope that carries one vendor's sealed reasoning through another
//! vendor's protocol and back, byte for byte.
//!
//! `tw1.` and the base64url of a small JSON object. The client stores it where
//! its own protocol keeps a signature or encrypted content, and returns it with
//! the conversation; on the way in it is opened again. What is inside is only
//! ever sent back to the vendor that sealed it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{At, Object, Reader, Str};
use crate::model::{Issuer, Sealed};

/// What an envelope holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// Who sealed the content and can open it.
    pub issuer: Issuer,
    /// The vendor's item id, where the seal is bound to it.
    pub item_id: Option<String>,
    /// The visible text the vendor gave, where the seal covers it and the
    /// client's protocol may have stored it in another shape.
    pub text: Option<Vec<String>>,
    /// The signature, encrypted content or redacted data.
    pub blob: Option<String>,
    /// Whether the vendor withheld the text (Messages' `redacted_thinking`).
    pub redacted: bool,
    /// How many items of the turn stood before this one, for protocols that
    /// cannot keep reasoning between other items.
    pub place: Option<u64>,
}

impl Envelope {
    /// An envelope that holds a seal and nothing else.
    pub fn of(sealed: &Sealed<'_>) -> Self {
        let Sealed { issuer, item_id, blob, redacted } = sealed;
        let own = |text: &Str<'_>| text.decode().into_owned();
        Self {
            issuer: issuer.clone(),
            item_id: item_id.as_ref().map(own),
            text: None,
            blob: blob.as_ref().map(own),
            redacted: *redacted,
            place: None,
        }
    }

    /// The same with the text that the seal covers.
    #[must_use]
    pub fn with_text(mut self, text: Option<Vec<String>>) -> Self {
        self.text = text;
        self
    }

    /// The same with its place in the turn.
    #[must_use]
    pub fn with_place(mut self, place: Option<u64>) -> Self {
        self.place = place;
        self
    }

    /// The seal that it holds.
    pub fn into_sealed(self) -> Sealed<'static> {
        let Self { issuer, item_id, text: _, blob, redacted, place: _ } = self;
        let (item_id, blob) = (item_id.map(Str::plain), blob.map(Str::plain));
        Sealed { issuer, item_id, blob, redacted }
    }

    /// Whether a signature or encrypted content is one of toolwire's.
    pub fn is_sealed(blob: &str) -> bool {
        blob.starts_with(PREFIX)
    }

    /// Whether a document may hold an envelope. If not, it need not be
    /// read for one.
    pub(crate) fn may_be_in(document: &[u8]) -> bool {
        memchr::memmem::find(document, b"\"tw1.").is_some()
    }

    /// Seals the envelope into text that any protocol carries as opaque.
    pub fn seal(&self) -> String {
        let mut json = Vec::new();
        {
            let Self { issuer, item_id, text, blob, redacted, place } = self;
            let mut object = Object::new(&mut json);
            object.put("iss", issuer.as_str());
            object.maybe("id", item_id.as_ref());
            object.maybe("text", text.as_ref());
            object.maybe("blob", blob.as_ref());
            if *redacted {
                object.put("redacted", &true);
            }
            object.maybe("place", place.as_ref());
        }
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(json))
    }

    /// Opens an envelope. `None` if it is not one, or was damaged on the way.
    pub fn open(sealed: &str) -> Option<Self> {
        let json = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(PREFIX)?).ok()?;
        let json = String::from_utf8(json).ok()?;
        let mut reader = Reader::new(&json);
        let Content { at: _, iss, id, text, blob, redacted, place, extra: _ } =
            super::Read::read(&mut reader).ok()?;
        reader.finish().ok()?;
        let own = |text: Str<'_>| text.into_decoded().into_owned();
        Some(Self {
            issuer: Issuer::parse(&iss?.decode()),
            item_id: id.map(own),
            text: text.map(|parts| parts.into_iter().map(own).collect()),
            blob: blob.map(own),
            redacted: redacted.is_some_and(|flag| flag.value),
            place: place.map(|place| place.value),
        })
    }
}

wire! {
    struct Content<'a> {
        iss: Str<'a> = "iss",
        id: Str<'a> = "id",
        text: Vec<Str<'a>> = "text",
        blob: Str<'a> = "blob",
        redacted: At<bool> = "redacted",
        place: At<u64> = "place",
    }
}

pub(super) const PREFIX: &str = "tw1.";
