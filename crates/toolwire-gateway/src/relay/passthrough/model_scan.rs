//! Finds the model in the beginning of a body, without reading the rest.

use std::ops::Range;

use memchr::{memchr2, memmem};
use toolwire::wire::{Reader, Str, write_escaped};

/// Looks for the model while a body arrives. Each byte is looked at once.
pub(super) enum ModelScan {
    /// The member `model` of an object.
    Json(JsonScan),
    /// The field `model` of a form.
    Form(FormScan),
    /// There is no place for a model.
    None,
}

/// How far the scan has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scanned {
    /// It needs more of the body.
    More,
    /// The place of the model's name.
    Found(Range<usize>),
    /// The body names no model.
    Absent,
}

/// A model that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundModel {
    pub(super) name: String,
    /// Where it is, without quotes.
    pub(super) place: Range<usize>,
}

impl ModelScan {
    /// The scan for a body of this type.
    pub(super) fn for_content_type(content_type: &str) -> Self {
        let mut parts = content_type.split(';');
        let media_type = parts.next().unwrap_or_default().trim();
        if media_type.eq_ignore_ascii_case(super::table::JSON) {
            return Self::Json(JsonScan::default());
        }
        let boundary = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let value = value.trim().trim_matches('"');
            (name.trim().eq_ignore_ascii_case("boundary") && !value.is_empty()).then_some(value)
        });
        match boundary {
            Some(boundary) => Self::Form(FormScan::new(boundary)),
            None => Self::None,
        }
    }

    /// Reads on in a body, whose beginning it has seen already.
    pub(super) fn read(&mut self, body: &[u8]) -> Scanned {
        match self {
            Self::Json(scan) => scan.read(body),
            Self::Form(scan) => scan.read(body),
            Self::None => Scanned::Absent,
        }
    }

    /// The name at a place that was found.
    pub(super) fn name(&self, body: &[u8], place: Range<usize>) -> Option<FoundModel> {
        let text = std::str::from_utf8(body.get(place.clone())?).ok()?;
        let name = match self {
            Self::Json(_) => {
                let quoted = format!("\"{text}\"");
                Reader::new(&quoted).document::<Str<'_>>().ok()?.decode().into_owned()
            }
            Self::Form(_) | Self::None => text.to_owned(),
        };
        (!name.is_empty()).then_some(FoundModel { name, place })
    }

    /// A name as the body writes it.
    pub(super) fn written(&self, name: &str) -> Vec<u8> {
        let mut text = Vec::with_capacity(name.len() + 2);
        match self {
            Self::Json(_) => write_escaped(name, &mut text),
            Self::Form(_) | Self::None => text.extend_from_slice(name.as_bytes()),
        }
        text
    }
}

/// The state of a scan through JSON.
#[derive(Default)]
pub(super) struct JsonScan {
    at: usize,
    depth: usize,
    /// Where the string began that the scan is in.
    string: Option<usize>,
    is_escaped: bool,
    /// Whether the next string of the outer object is a key.
    is_key: bool,
    /// Whether the last key was `model`.
    is_model: bool,
}

impl JsonScan {
    fn read(&mut self, body: &[u8]) -> Scanned {
        while let Some(byte) = body.get(self.at).copied() {
            let at = self.at;
            if let Some(start) = self.string {
                if self.is_escaped {
                    self.is_escaped = false;
                    self.at += 1;
                    continue;
                }
                let rest = body.get(at..).unwrap_or_default();
                let Some(found) = memchr2(b'"', b'\\', rest) else {
                    self.at = body.len();
                    return Scanned::More;
                };
                self.at = at + found + 1;
                if rest.get(found) == Some(&b'\\') {
                    self.is_escaped = true;
                    continue;
                }
                self.string = None;
                let place = start + 1..at + found;
                if self.depth == 1 && self.is_key {
                    self.is_model = body.get(place) == Some(b"model");
                } else if self.depth == 1 && self.is_model {
                    return Scanned::Found(place);
                }
                continue;
            }
            self.at += 1;
            match byte {
                b'"' => self.string = Some(at),
                b'[' if self.depth == 0 => return Scanned::Absent,
                b'{' | b'[' => {
                    self.depth += 1;
                    self.is_key = self.depth == 1;
                }
                b'}' | b']' if self.depth <= 1 => return Scanned::Absent,
                b'}' | b']' => self.depth -= 1,
                b',' if self.depth == 1 => (self.is_key, self.is_model) = (true, false),
                b':' if self.depth == 1 => self.is_key = false,
                _other if self.depth == 0 && !byte.is_ascii_whitespace() => {
                    return Scanned::Absent;
                }
                _other => {}
            }
        }
        Scanned::More
    }
}

/// The state of a scan through a form.
pub(super) struct FormScan {
    /// A line break and the line between two parts, of which the first part has
    /// no line break.
    delimiter: Vec<u8>,
    /// Where the headers of the current part begin, or none before the first.
    part: Option<usize>,
    /// Where the content of the part begins, if it is the model.
    model: Option<usize>,
    /// Up to where the body was searched.
    at: usize,
}

impl FormScan {
    fn new(boundary: &str) -> Self {
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        Self { delimiter, part: None, model: None, at: 0 }
    }

    fn read(&mut self, body: &[u8]) -> Scanned {
        loop {
            if let Some(start) = self.part {
                // A line that only begins like a delimiter belongs to the content.
                match body.get(start..start + 2) {
                    None => return Scanned::More,
                    Some(b"--") => return Scanned::Absent,
                    Some(_) => {}
                }
                let Some(end) = self.find(body, b"\r\n\r\n") else {
                    return if body.len() - start > MAX_HEAD {
                        Scanned::Absent
                    } else {
                        Scanned::More
                    };
                };
                let head = body.get(start..end).unwrap_or_default();
                self.part = None;
                self.model = is_model(head).then_some(end + 4);
                // An empty content is followed by the delimiter at once, whose
                // line break is the end of the headers.
                self.at = end + 2;
            }
            let first = self.at == 0 && self.model.is_none();
            let dashes = self.delimiter.get(2..).unwrap_or_default().to_vec();
            if first && body.len() < dashes.len() {
                return Scanned::More;
            }
            if first && body.starts_with(&dashes) {
                self.part = Some(dashes.len());
                self.at = dashes.len();
                continue;
            }
            let delimiter = self.delimiter.clone();
            let Some(found) = self.find(body, &delimiter) else { return Scanned::More };
            if let Some(start) = self.model {
                return if found < start || found - start > MAX_NAME {
                    Scanned::Absent
                } else {
                    Scanned::Found(start..found)
                };
            }
            self.part = Some(found + delimiter.len());
            self.at = found + delimiter.len();
        }
    }

    /// Where the next such bytes are. What was searched is not searched again.
    fn find(&mut self, body: &[u8], wanted: &[u8]) -> Option<usize> {
        match memmem::find(body.get(self.at..).unwrap_or_default(), wanted) {
            Some(found) => Some(self.at + found),
            None => {
                self.at = self.at.max((body.len() + 1).saturating_sub(wanted.len()));
                None
            }
        }
    }
}

/// Whether a part is the field `model` and not a file.
fn is_model(head: &[u8]) -> bool {
    let Ok(head) = std::str::from_utf8(head) else { return false };
    head.lines().any(|line| {
        let Some((name, value)) = line.split_once(':') else { return false };
        let mut parameters = value.split(';').map(str::trim);
        name.trim().eq_ignore_ascii_case("content-disposition")
            && parameters.any(|parameter| matches!(parameter, "name=\"model\"" | "name=model"))
    })
}

/// The longest name of a model, and the longest head of a part, in bytes.
const MAX_NAME: usize = 1024;
const MAX_HEAD: usize = 16 * 1024;

#[cfg(test)]
#[path = "model_scan_tests.rs"]
mod tests;
