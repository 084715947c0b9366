//! Reading the values that objects are made of.

use super::{At, Raw, Read, ReadError, Reader, Str, What};

impl<'a> Read<'a> for Str<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        reader.string()
    }
}

impl<'a> Read<'a> for Raw<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        reader.raw()
    }
}

impl<'a> Read<'a> for At<bool> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let pos = reader.here();
        Ok(Self { pos, value: reader.boolean()? })
    }
}

/// Whole numbers that toolwire computes with: limits, counts, timestamps. A
/// number that is not a whole one in range is refused rather than rounded.
impl<'a> Read<'a> for At<u64> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        let pos = reader.here();
        if let Some(value) = reader.small_number() {
            return Ok(Self { pos, value });
        }
        let number = reader.number()?;
        let value = number.text().parse().or_else(|_| whole(number.text()).ok_or(()));
        let Ok(value) = value else {
            return Err(ReadError::new(
                pos,
                What::Invalid(format!("expected a whole number, found {}", number.text())),
            ));
        };
        Ok(Self { pos, value })
    }
}

/// Reads `3.0` and `1e3` as the whole numbers they are.
fn whole(text: &str) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
}

/// A value that is large and rarely there.
impl<'a, T: Read<'a>> Read<'a> for Box<T> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        T::read(reader).map(Box::new)
    }
}

impl<'a, T: Read<'a>> Read<'a> for Vec<T> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        reader.list(T::read)
    }
}

impl<'a, T: Read<'a>> Read<'a> for At<Vec<T>> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, ReadError> {
        Ok(Self { pos: reader.here(), value: Vec::read(reader)? })
    }
}
