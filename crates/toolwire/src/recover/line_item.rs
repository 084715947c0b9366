//! A call whose only argument is a line of text.

use super::Step;
use super::arguments::Arguments;
use super::call::{Call, Ending, Output};
use super::schema::{Schema, Type};
use super::text::upto;

/// Reads the line.
#[derive(Clone, Debug)]
pub(super) struct LineItem {
    call: Call,
    line: String,
}

impl LineItem {
    pub(super) fn new(name: &str, out: &mut Output<'_>) -> Self {
        let mut call = Call::default();
        call.set_name(name, out);
        Self { call, line: String::new() }
    }

    pub(super) fn step(&mut self, text: &str, end: bool) -> (usize, Step) {
        let stop = text.find('\n');
        let length = stop.unwrap_or(text.len());
        self.line.push_str(upto(text, length));
        (length, if stop.is_some() || end { Step::Done } else { Step::More })
    }

    /// The line is the one member that must be given, if that is a text.
    pub(super) fn finish(mut self, out: &mut Output<'_>) -> bool {
        let line = self.line.trim();
        let quoted = |quote: char| line.strip_prefix(quote)?.strip_suffix(quote);
        let line = quoted('"').or_else(|| quoted('\'')).unwrap_or(line);
        let schema = self.call.schema(out.tools);
        let Some((schema, key)) = schema.and_then(|schema| Some((schema, only_text(schema)?)))
        else {
            return self.call.end(None, Ending::Cut, out);
        };
        if line.is_empty() {
            return self.call.end(None, Ending::Cut, out);
        }
        let mut arguments = Arguments::members();
        match arguments.open_raw(key, schema, &mut self.call.pending) {
            true => {
                arguments.raw_piece(line, &mut self.call.pending);
                arguments.close_raw(&mut self.call.pending);
            }
            false => arguments.put_raw(line, None, schema, &mut self.call.pending),
        }
        self.call.end(Some(arguments), Ending::Closed, out)
    }
}

/// The one member that must be given, if that is a text.
fn only_text(schema: &Schema) -> Option<&str> {
    let key = match (&*schema.required, &*schema.properties) {
        ([key], _) => key,
        ([], [(key, _)]) => key,
        (_, _) => return None,
    };
    schema.property(key)?.takes(Type::String).then_some(key)
}
