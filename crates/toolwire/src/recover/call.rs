//! From the parts of a call to events. A call is announced when its tool is known
//! to be declared, and never before.

use super::arguments::Arguments;
use super::schema::Schema;
use super::tools::Tools;
use super::{Event, Sink};

/// What is decided about a block of text that may hold calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing yet. What was read is kept, in case it is text.
    #[default]
    Open,
    /// It holds a call of a declared tool, so its markers are not text.
    Calls,
    /// It is text to its end.
    Text,
}

/// Where a machine writes to.
pub(super) struct Output<'o> {
    pub(super) tools: &'o Tools,
    pub(super) sink: &'o mut dyn Sink,
    pub(super) verdict: &'o mut Verdict,
    /// Whether the block has no markers of its own, so that a call in it counts
    /// only when it has ended.
    pub(super) soft: bool,
    /// The dialect of the block.
    pub(super) dialect: &'static str,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// As its dialect ends a call.
    Closed,
    /// The text ended, or went on with something else.
    Open,
    /// Inside a value. It is not a call.
    Cut,
}

/// One call, being put together.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    /// The name as the model wrote it.
    written: Option<String>,
    /// The declared tool.
    tool: Option<usize>,
    announced: bool,
    /// Arguments that have not been handed on.
    pub(super) pending: String,
    pub(super) repaired: bool,
}

impl Call {
    /// Whether the tool is known and declared.
    pub(super) fn is_known(&self) -> bool {
        self.tool.is_some()
    }

    /// Whether a name was read.
    pub(super) fn has_name(&self) -> bool {
        self.written.is_some()
    }

    /// Takes the name. `false` if no such tool is declared.
    pub(super) fn set_name(&mut self, written: &str, out: &mut Output<'_>) -> bool {
        if self.written.is_some() {
            return self.tool.is_some();
        }
        self.written = Some(written.to_owned());
        self.tool = out.tools.find(written);
        if self.tool.is_none() {
            return false;
        }
        if !out.soft {
            self.announce(out);
        }
        true
    }

    /// The schema of the arguments; one that takes anything if the tool is not
    /// known.
    pub(super) fn schema<'t>(&self, tools: &'t Tools) -> Option<&'t Schema> {
        Some(&tools.at(self.tool?)?.schema)
    }

    /// Whether arguments can be handed on without being kept.
    pub(super) fn passes(&self) -> bool {
        self.announced && self.pending.is_empty()
    }

    fn name<'t>(&self, tools: &'t Tools) -> Option<&'t str> {
        Some(&tools.at(self.tool?)?.name)
    }

    /// Hands on the arguments so far.
    pub(super) fn flush(&mut self, out: &mut Output<'_>) {
        if self.announced {
            self.hand_on(out.sink);
        }
    }

    /// Hands on the arguments so far of a call that was announced.
    pub(super) fn hand_on(&mut self, sink: &mut dyn Sink) {
        if !self.pending.is_empty() {
            sink.event(Event::Arguments(&self.pending));
            self.pending.clear();
        }
    }

    /// Ends the call. Whether it was one.
    pub(super) fn end(
        mut self,
        mut arguments: Option<Arguments>,
        ending: Ending,
        out: &mut Output<'_>,
    ) -> bool {
        if *out.verdict == Verdict::Text {
            return false;
        }
        let Some(schema) = self.schema(out.tools) else {
            if *out.verdict == Verdict::Calls {
                let name = self.written.as_deref();
                out.sink.event(Event::Incomplete { name, raw: &self.pending });
            }
            return false;
        };
        let mut repaired = self.repaired || ending != Ending::Closed;
        let mut valid = schema.required.is_empty();
        if let Some(arguments) = &mut arguments {
            repaired |= arguments.repaired;
            valid = !arguments.invalid && arguments.has_required(schema);
            let definition = out.soft && arguments.is_definition(schema);
            if definition {
                return false;
            }
        }
        let complete = match ending {
            Ending::Closed => true,
            Ending::Open => {
                arguments.as_ref().is_none_or(|arguments| arguments.has_required(schema))
            }
            Ending::Cut => false,
        };
        if !complete {
            if *out.verdict == Verdict::Calls {
                self.flush(out);
                let name = self.name(out.tools);
                out.sink.event(Event::Incomplete { name, raw: &self.pending });
            }
            return false;
        }
        match &mut arguments {
            Some(arguments) => arguments.finish(&mut self.pending),
            None => self.pending.push_str("{}"),
        }
        self.announce(out);
        self.flush(out);
        out.sink.event(Event::CallEnd { repaired, valid });
        true
    }

    fn announce(&mut self, out: &mut Output<'_>) {
        if self.announced || *out.verdict == Verdict::Text {
            return;
        }
        if let Some(name) = self.name(out.tools) {
            *out.verdict = Verdict::Calls;
            self.announced = true;
            out.sink.event(Event::CallStart { name, dialect: out.dialect });
        }
    }
}
