//! JSON laid out for people. Numbers and escapes keep their spelling.

use toolwire::wire::{Kind, Raw, ReadError, Reader, Write};

/// Lays out a document in lines of at most `width` columns. A value that fits
/// stays on its line. A string that is too long for a line is cut short with `…`,
/// so the result is for reading only.
pub(crate) fn pretty_print(json: &str, width: usize) -> Result<String, ReadError> {
    let mut printer = Printer { text: String::new(), width };
    printer.value(&Raw::parse(json)?, 0, 0)?;
    Ok(printer.text)
}

struct Printer {
    text: String,
    width: usize,
}

impl Printer {
    /// Writes a value into a line of which `used` columns are taken.
    fn value(&mut self, value: &Raw<'_>, indent: usize, used: usize) -> Result<(), ReadError> {
        // Leave room for a comma.
        let room = self.width.saturating_sub(used + 1);
        let line = one_line(value)?;
        if line.chars().count() <= room {
            self.text.push_str(&line);
        } else if value.kind() == Kind::Object {
            self.object(&mut value.reader(), indent)?;
        } else if value.kind() == Kind::Array {
            self.array(&mut value.reader(), indent)?;
        } else {
            self.text.extend(line.chars().take(room.saturating_sub(2)));
            self.text.push_str("…\"");
        }
        Ok(())
    }

    fn object(&mut self, reader: &mut Reader<'_>, indent: usize) -> Result<(), ReadError> {
        self.text.push('{');
        let mut members = reader.object()?;
        let mut first = true;
        while let Some(key) = members.next(reader)? {
            self.new_line(&mut first, indent + 2);
            let key = literal(&key);
            self.text.push_str(&key);
            self.text.push_str(": ");
            let used = indent + 2 + key.chars().count() + 2;
            self.value(&reader.raw()?, indent + 2, used)?;
        }
        self.close('}', indent);
        Ok(())
    }

    fn array(&mut self, reader: &mut Reader<'_>, indent: usize) -> Result<(), ReadError> {
        self.text.push('[');
        let mut members = reader.array()?;
        let mut first = true;
        while members.more(reader)? {
            self.new_line(&mut first, indent + 2);
            self.value(&reader.raw()?, indent + 2, indent + 2)?;
        }
        self.close(']', indent);
        Ok(())
    }

    fn new_line(&mut self, first: &mut bool, indent: usize) {
        if !std::mem::replace(first, false) {
            self.text.push(',');
        }
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    fn close(&mut self, bracket: char, indent: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push(bracket);
    }
}

/// A value on one line, with a space after each comma and colon.
fn one_line(value: &Raw<'_>) -> Result<String, ReadError> {
    let mut reader = value.reader();
    let mut parts = Vec::new();
    if value.kind() == Kind::Object {
        let mut members = reader.object()?;
        while let Some(key) = members.next(&mut reader)? {
            parts.push(format!("{}: {}", literal(&key), one_line(&reader.raw()?)?));
        }
        return Ok(format!("{{{}}}", parts.join(", ")));
    }
    if value.kind() == Kind::Array {
        let mut members = reader.array()?;
        while members.more(&mut reader)? {
            parts.push(one_line(&reader.raw()?)?);
        }
        return Ok(format!("[{}]", parts.join(", ")));
    }
    Ok(value.text().to_owned())
}

/// A key as it was spelled.
fn literal(key: &impl Write) -> String {
    let mut bytes = Vec::new();
    key.write(&mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests;
