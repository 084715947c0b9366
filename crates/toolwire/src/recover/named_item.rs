//! Calls whose name comes before their arguments: `NAME {…}` with whatever a
//! dialect puts between the two, and `NAME(key=value)`.

use super::Step;
use super::arguments::Arguments;
use super::call::{Call, Ending, Output};
use super::lexer::Lexer;
use super::text::from;
use super::value::Progress;

/// Reads the arguments of a call whose name is known.
#[derive(Clone, Debug)]
pub(super) struct NamedItem {
    lexer: Lexer,
    call: Call,
    arguments: Arguments,
    is_done: bool,
    /// Whether they are written in Python's syntax.
    is_python: bool,
}

impl NamedItem {
    /// A call with an object as arguments.
    pub(super) fn json(name: &str, out: &mut Output<'_>) -> Self {
        Self::new(name, Arguments::default(), out)
    }

    /// A call in Python's syntax, behind the parenthesis.
    pub(super) fn python(name: &str, out: &mut Output<'_>) -> Self {
        Self { is_python: true, ..Self::new(name, Arguments::python(), out) }
    }

    /// A call whose arguments turn out to be an object.
    pub(super) fn of(call: Call) -> Self {
        let arguments = Arguments::default();
        Self { lexer: Lexer::default(), call, arguments, is_done: false, is_python: false }
    }

    fn new(name: &str, arguments: Arguments, out: &mut Output<'_>) -> Self {
        let mut call = Call::default();
        call.set_name(name, out);
        Self { lexer: Lexer::default(), call, arguments, is_done: false, is_python: false }
    }

    pub(super) fn step(&mut self, text: &str, end: bool, out: &mut Output<'_>) -> (usize, Step) {
        let Some(schema) = self.call.schema(out.tools) else { return (0, Step::Stop) };
        if self.is_done {
            return (0, self.behind(text, end));
        }
        let Self { lexer, call, arguments, is_done, is_python: _ } = self;
        let (at, step) = lexer.feed(text, end, |token, _repaired| {
            let progress = arguments.token(token, schema, &mut call.pending);
            *is_done = progress == Progress::Done;
            progress
        });
        self.call.flush(out);
        let step = if self.is_done { self.behind(from(text, at), end) } else { step };
        (at, step)
    }

    /// The parenthesis that closes a call in Python's syntax may be the text's, if a quote
    /// in the text was not escaped. What follows tells, and then the call is cut.
    fn behind(&mut self, text: &str, end: bool) -> Step {
        match text.chars().next() {
            None if self.is_python && !end => return Step::More,
            Some(')' | '"' | '\'') if self.is_python => self.is_done = false,
            Some(_) | None => {}
        }
        Step::Done
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
            (false, _) if self.is_python && self.arguments.is_done() => Ending::Cut,
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
