//! How a wire object is declared, and what every decoded field carries.

use std::collections::HashSet;

use super::{Raw, Read, ReadError, Reader, Str, What, Write};

/// Where a value starts in the input, as a byte offset.
///
/// An offset is four bytes and free to record; the JSON Pointer a user reads is
/// worked out from it only when there is something to report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pos(u32);

impl Pos {
    /// The position of a value that did not come from the input.
    pub const NONE: Self = Self(u32::MAX);

    /// The position of the whole document.
    pub const START: Self = Self(0);

    pub(crate) fn new(offset: usize) -> Self {
        Self(u32::try_from(offset).unwrap_or(u32::MAX))
    }

    /// The byte offset, if the value came from the input.
    pub fn offset(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }

    pub(crate) fn advance(self, by: usize) -> Self {
        // What is nowhere stays there, because nothing is behind it.
        Self(self.0.saturating_add(Self::new(by).0))
    }
}

impl Default for Pos {
    fn default() -> Self {
        Self::NONE
    }
}

impl std::fmt::Debug for Pos {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.offset() {
            Some(offset) => write!(f, "@{offset}"),
            None => f.write_str("@-"),
        }
    }
}

/// A value that remembers where it stood in the input.
pub(crate) trait Placed {
    /// Where it stood.
    fn pos(&self) -> Pos;
}

impl<T: Placed> Placed for &T {
    fn pos(&self) -> Pos {
        (*self).pos()
    }
}

impl Placed for Str<'_> {
    fn pos(&self) -> Pos {
        self.pos()
    }
}

impl Placed for Raw<'_> {
    fn pos(&self) -> Pos {
        self.pos()
    }
}

impl<T> Placed for At<T> {
    fn pos(&self) -> Pos {
        self.pos
    }
}

/// A small value together with where it stood in the input.
#[derive(Clone, Copy, Debug, Default)]
pub struct At<T> {
    /// Where the value stood.
    pub pos: Pos,
    /// The value.
    pub value: T,
}

impl<T> At<T> {
    /// A value of toolwire's own making.
    pub fn made(value: T) -> Self {
        Self { pos: Pos::NONE, value }
    }

    /// A value read at `pos`.
    pub fn new(pos: Pos, value: T) -> Self {
        Self { pos, value }
    }
}

/// Values are equal wherever they stood.
impl<T: PartialEq> PartialEq for At<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Write> Write for At<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.value.write(out);
    }
}

/// A field that the model has no room for, kept as it came so that its loss can
/// be reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra<'a> {
    /// The field's name.
    pub key: Str<'a>,
    /// The field's value.
    pub value: Raw<'a>,
}

impl<'a> Extra<'a> {
    /// Gives up the borrow of the input.
    pub fn into_owned(self) -> Extra<'static> {
        Extra { key: self.key.into_owned(), value: self.value.into_owned() }
    }

    /// A field of a nested object, for which the model has no list of its own:
    /// it is kept among the fields of the object around it, under its path.
    pub(crate) fn under(self, path: &str) -> Self {
        let key = Str::plain(format!("{path}.{}", self.key.decode()));
        Self { key, value: self.value }
    }

    /// The name of a field inside the nested object at `path`, if it was kept
    /// by [`Extra::under`]. A path stands nowhere in the input, and that tells
    /// it from a name with a dot in it.
    pub(crate) fn name_under(&self, path: &str) -> Option<&str> {
        let kept = (self.key.pos() == Pos::NONE).then(|| self.key.spelled())?;
        kept.strip_prefix(path)?.strip_prefix('.')
    }
}

/// Removes the fields of an answer that say nothing. That they do not cross is
/// no loss. vectors/responses/chat-ordinary-text
pub(crate) fn keep_meaningful(extra: &mut Vec<Extra<'_>>) {
    extra.retain(|field| !field.value.says_nothing());
}

/// Reads an object of which nothing is known beforehand.
pub fn read_fields<'a>(reader: &mut Reader<'a>) -> Result<Vec<Extra<'a>>, ReadError> {
    let mut fields = Vec::new();
    let mut members = reader.object()?;
    while let Some(key) = members.next(reader)? {
        fields.push(Extra { value: reader.raw()?, key });
    }
    check_duplicates(&fields)?;
    Ok(fields)
}

/// Refuses an object that names a field twice: which of the two counts would
/// depend on the reader.
#[doc(hidden)]
pub fn check_duplicates(extra: &[Extra<'_>]) -> Result<(), ReadError> {
    if extra.len() < 2 || are_few_and_distinct(extra) {
        return Ok(());
    }
    let mut seen = HashSet::with_capacity(extra.len());
    match extra.iter().find(|field| !seen.insert(field.key.decode())) {
        Some(twice) => {
            let name = twice.key.decode().into_owned();
            Err(ReadError::new(twice.value.pos(), What::Duplicate(name)))
        }
        None => Ok(()),
    }
}

/// Whether there are so few fields that comparing each with each is cheaper
/// than sorting them, and no two are the same.
fn are_few_and_distinct(extra: &[Extra<'_>]) -> bool {
    if extra.len() > FEW {
        return false;
    }
    let mut rest = extra;
    while let [first, tail @ ..] = rest {
        let same = |field: &Extra<'_>| field.key.spelled() == first.key.spelled();
        if first.key.is_escaped() || tail.iter().any(same) {
            return false;
        }
        rest = tail;
    }
    true
}

const FEW: usize = 16;

/// Stores the value of a field that may appear once. `null` means absent: the
/// three published schemas give an explicit null no other meaning.
#[doc(hidden)]
pub fn fill<'a, T: Read<'a>>(
    slot: &mut Option<T>,
    seen: &mut bool,
    key: &'static str,
    reader: &mut Reader<'a>,
) -> Result<(), ReadError> {
    if std::mem::replace(seen, true) {
        return Err(reader.error(What::Duplicate(key.to_owned())));
    }
    reader.nullable_into(slot)
}

/// Declares a borrowed wire object: every field optional, every unknown field
/// kept, every duplicate refused.
///
/// ```ignore
/// wire! {
///     /// One entry of `tools`.
///     pub(super) struct Function<'a> {
///         name: Str<'a> = "name",
///         strict: At<bool> = "strict",
///     }
/// }
/// ```
///
/// gives a struct with `at: Pos`, `name: Option<Str<'a>>`,
/// `strict: Option<At<bool>>` and `extra: Vec<Extra<'a>>`, which implements
/// `Read`. A codec takes it apart by destructuring without `..`, so a field
/// added here does not compile until somebody has decided about it.
#[doc(hidden)]
#[macro_export]
macro_rules! wire {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$life:lifetime> {
            $( $(#[$field_meta:meta])* $field:ident : $ty:ty = $key:literal ),* $(,)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        #[allow(dead_code, reason = "not every object needs its position or its tag")]
        $vis struct $name<$life> {
            /// Where the object starts in the input.
            #[allow(dead_code, reason = "not every object is reported by its position")]
            $vis at: $crate::wire::Pos,
            $( $(#[$field_meta])* $vis $field: Option<$ty>, )*
            /// Every field not named above, in order.
            $vis extra: Vec<$crate::wire::Extra<$life>>,
        }

        impl<$life> $crate::wire::Read<$life> for $name<$life> {
            fn read(reader: &mut $crate::wire::Reader<$life>) -> Result<Self, $crate::wire::ReadError> {
                let members = reader.object()?;
                let mut this = Self::empty(members.at());
                this.read_members(members, reader)?;
                Ok(this)
            }

            fn read_into(
                place: &mut Option<Self>,
                reader: &mut $crate::wire::Reader<$life>,
            ) -> Result<(), $crate::wire::ReadError> {
                let members = reader.object()?;
                place.insert(Self::empty(members.at())).read_members(members, reader)
            }
        }

        impl<$life> $name<$life> {
            #[inline(always)]
            fn empty(at: $crate::wire::Pos) -> Self {
                Self { at, $( $field: None, )* extra: Vec::new() }
            }

            fn read_members(
                &mut self,
                mut members: $crate::wire::Members,
                reader: &mut $crate::wire::Reader<$life>,
            ) -> Result<(), $crate::wire::ReadError> {
                #[derive(Default)]
                struct SeenFields { $( $field: bool, )* }
                let mut seen = SeenFields::default();
                while let Some(key) = members.next(reader)? {
                    match key.decode().as_ref() {
                        $( $key => $crate::wire::fill(&mut self.$field, &mut seen.$field, $key, reader)?, )*
                        _ => self.extra.push($crate::wire::Extra { value: reader.raw()?, key }),
                    }
                }
                $crate::wire::check_duplicates(&self.extra)
            }
        }
    )*};
}
