//! Calls whose name comes before their arguments: `NAME {…}` with whatever a
//! dialect puts between the two, and `NAME(key=value)`.

use super::Step;
use super::arguments::Arguments;
use super::call::{Call, Ending, Output};
use super::lexer::Lexer;
use super::value::Progress;

/// Reads the arguments of a call whose name is known.
#[derive(Clone, Debug)]
pub(super) struct NamedItem {
    lexer: Lexer,
    call: Call,
    arguments: Arguments,
    is_done: bool,
}

impl NamedItem {
    /// A call with an object as arguments.
    pub(super) fn json(name: &str, out: &mut Output<'_>) -> Self {
        Self::new(name, Arguments::default(), out)
    }

    /// A call in Python's syntax, behind the parenthesis.
    pub(super) fn python(name: &str, out: &mut Output<'_>) -> Self {
        Self::new(name, Arguments::python(), out)
    }

    /// A call whose arguments turn out to be an object.
    pub(super) fn of(call: Call) -> Self {
        Self { lexer: Lexer::default(), call, arguments: Arguments::default(), is_done: false }
    }

    fn new(name: &str, arguments: Arguments, out: &mut Output<'_>) -> Self {
        let mut call = Call::default();
        call.set_name(name, out);
        Self { lexer: Lexer::default(), call, arguments, is_done: false }
    }

    pub(super) fn step(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Step) {
        let Some(schema) = self.call.schema(out.tools) else { return (0, Step::Stop) };
        let Self { lexer, call, arguments, is_done } = self;
        let (at, step) = lexer.feed(text, end, |token, _repaired| {
            let progress = arguments.token(token, schema, &mut call.pending);
            *is_done = progress == Progress::Done;
            progress
        });
        self.call.flush(out);
        (at, step)
    }

    /// How many bytes the text begins with that are arguments as they are.
    pub(super) fn strict_run(&self, text: &str) -> usize {
        match self.call.passes() && self.arguments.passes() {
            true => self.lexer.strict_run(text),
            false => 0,
        }
    }

    /// The arguments have ended, or the text has.
    pub(super) fn finish(mut self, out: &mut Output<'_>) -> bool {
        let ending = match (self.is_done, self.call.schema(out.tools)) {
            (true, _) => Ending::Closed,
            (false, _) if self.lexer.is_cut() => Ending::Cut,
            (false, Some(schema)) if self.arguments.complete(schema, &mut self.call.pending) => {
                Ending::Open
            }
            (false, _) => Ending::Cut,
        };
        self.call.repaired |= self.lexer.repaired;
        self.call.end(Some(self.arguments), ending, out)
    }
}
