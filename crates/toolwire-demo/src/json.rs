//! A small JSON tree, for schemas to be looked at and arguments to be built.

use toolwire::wire::{Kind, Raw, ReadError, Reader, Write, write_str};

/// A JSON value. Numbers keep their spelling, objects their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    /// Reads a value that the library has checked. What cannot be read is no
    /// schema, and says nothing.
    pub(super) fn of(raw: &Raw<'_>) -> Self {
        read(&mut raw.reader()).unwrap_or(Self::Null)
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A member of an object.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// The members of an object, or none.
    pub(super) fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => &[],
        }
    }

    /// The elements of a list, or none.
    pub(super) fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::Object(_) => &[],
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    pub(super) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(text) => text.parse().ok(),
            Self::Null | Self::Bool(_) | Self::Text(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// The value as a document.
    pub(super) fn print(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        // What is written is made of strings.
        String::from_utf8(out).unwrap_or_default()
    }
}

fn read(reader: &mut Reader<'_>) -> Result<Json, ReadError> {
    Ok(match reader.peek() {
        Kind::Bool => Json::Bool(reader.boolean()?),
        Kind::Number => Json::Number(reader.number()?.text().to_owned()),
        Kind::String => Json::Text(reader.string()?.decode().into_owned()),
        Kind::Array => {
            let mut list = Vec::new();
            let mut members = reader.array()?;
            while members.more(reader)? {
                list.push(read(reader)?);
            }
            Json::List(list)
        }
        Kind::Object => {
            let mut object = Vec::new();
            let mut members = reader.object()?;
            while let Some(key) = members.next(reader)? {
                object.push((key.decode().into_owned(), read(reader)?));
            }
            Json::Object(object)
        }
        Kind::Null | Kind::Invalid | Kind::End => {
            reader.skip()?;
            Json::Null
        }
    })
}

impl Write for Json {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => ().write(out),
            Self::Bool(value) => value.write(out),
            Self::Number(text) => out.extend_from_slice(text.as_bytes()),
            Self::Text(text) => write_str(text, out),
            Self::List(list) => list.write(out),
            Self::Object(members) => {
                out.push(b'{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    write_str(key, out);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }
}
