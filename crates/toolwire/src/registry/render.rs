//! A registry for a protocol, and the calls of an answer for the registry.

use std::collections::BTreeMap;

use super::schemas::SchemaEditor;
use super::{Registry, SchemaMember, Stored};
use crate::calls::{self, ToolCall};
use crate::codec::RICHEST_TOOLS;
use crate::ledger::{Action, Code, Entry, Ledger, Level};
use crate::model::{Protocol, Request, Tool};
use crate::profile::Profile;
use crate::restore::Restore;
use crate::schema::Edits;
use crate::translate::{Error, Options, Translated, invalid, judge, utf8};
use crate::wire::{Array, Raw, written};

impl Registry {
    /// The definitions for a protocol: a JSON list, ready to be a request's
    /// `tools`, and the ledger of what could not be carried. Paths are into the
    /// list of all definitions that were offered: `/2/strict` is the `strict` of
    /// the third.
    ///
    /// Names that the protocol refuses are replaced, and tools it has no kind
    /// for are wrapped; [`Registry::calls`] turns calls of them back.
    ///
    /// ```
    /// use toolwire::Protocol::*;
    /// use toolwire::{Options, registry::Registry};
    ///
    /// let registry = Registry::from_json(
    ///     br#"[{"type":"web_search"},{"type":"function","name":"f","strict":false}]"#,
    /// )?;
    /// let tools = registry.render(Chat, &Options::default())?;
    /// assert_eq!(tools.ledger.len(), 1);
    /// assert_eq!(tools.ledger[0].path, "/0");
    /// assert_eq!(tools.ledger[0].code.to_string(), "hosted_tool:web_search");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if something cannot be carried and the policy of the
    /// options, or the protocol, does not allow leaving it out.
    pub fn render(&self, to: Protocol, options: &Options<'_>) -> Result<Translated, Error> {
        let (codec, profile) = (to.codec(), options.profile_of(to));
        let mut body = Vec::new();
        let mut entries = Vec::new();
        {
            let mut list = Array::new(&mut body);
            for run in self.runs(to) {
                let own = run.origin == to;
                let SchemaMember { name, required } = codec.schema_member;
                let required = (own && required).then_some(name);
                let mut tools = run.decode()?;
                let mut ledger = Ledger::default();
                let mut schemas = SchemaEditor {
                    source: &run.text,
                    slim: &self.slim,
                    required,
                    ledger: &mut ledger,
                    edits: Edits::default(),
                };
                schemas.edit(&mut tools);
                let mut rendered = Vec::new();
                if own {
                    rendered = schemas.into_text().into_bytes();
                } else {
                    (codec.encode_tools)(&tools, run.origin, &profile, &mut rendered, &mut ledger);
                }
                let inside = rendered.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
                if let Some(inside) = inside.filter(|inside| !inside.is_empty()) {
                    list.item().extend_from_slice(inside);
                }
                entries.extend(run.entries(&ledger));
            }
        }
        judge(body, entries, options.loss_policy)
    }

    /// The calls in an answer to a request with this registry's tools, under
    /// the names and in the shapes in which the tools were defined.
    ///
    /// Otherwise as [`calls::parse`]. Results must have the ids of the calls and
    /// can be sent with [`calls::next_request`].
    ///
    /// ```
    /// use toolwire::registry::{Definition, Registry};
    /// use toolwire::Protocol::*;
    /// use toolwire::Options;
    ///
    /// let mut registry = Registry::default();
    /// registry.add(Definition::freeform("run_sql"))?;
    /// // Messages has no freeform tools, so the model called a function of one text.
    /// let answer = br#"{"role":"assistant","stop_reason":"tool_use","content":[
    ///     {"type":"tool_use","id":"toolu_1","name":"run_sql","input":{"input":"SELECT 1"}}]}"#;
    /// let calls = registry.calls(Messages, answer, &Options::default())?;
    /// assert_eq!(calls[0].freeform(), Some("SELECT 1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`calls::Error::Document`] if the answer cannot be read.
    pub fn calls(
        &self,
        from: Protocol,
        response: &[u8],
        options: &Options<'_>,
    ) -> Result<Vec<ToolCall>, calls::Error> {
        let source = utf8(response)?;
        let fault = |error| invalid(source, error);
        let mut response = (from.codec().decode_response)(source).map_err(fault)?;
        let profile = options.profile_of(from);
        // Where two runs have a name, the first one that declared it decides how
        // its calls are restored.
        let mut restore: Option<Restore> = None;
        for run in self.runs(from) {
            let mut request = Request::new(run.origin);
            request.tools = run.decode()?;
            let of_run = Restore::new(&request, &profile);
            match &mut restore {
                Some(restore) => restore.extend(of_run),
                None => restore = Some(of_run),
            }
        }
        if let Some(restore) = restore {
            restore.apply(&mut response);
        }
        Ok(calls::tool_calls(&response))
    }

    /// The definitions in order, split where the protocol changes, so that each
    /// run is read and written by one pair of codecs.
    fn runs(&self, to: Protocol) -> Vec<Run<'_>> {
        let mut runs: Vec<Run<'_>> = Vec::new();
        for unit in units(&self.stored) {
            let origin = unit.origin();
            match runs.last_mut() {
                Some(run) if run.origin == origin => run.units.push(unit),
                Some(_) | None => runs.push(Run { origin, units: vec![unit], text: String::new() }),
            }
        }
        for run in &mut runs {
            run.write(to);
        }
        runs
    }
}

/// Neighbouring definitions that are stored in one protocol's spelling.
struct Run<'r> {
    origin: Protocol,
    units: Vec<Unit<'r>>,
    /// All of them as one JSON list.
    text: String,
}

/// What becomes one element of a list: a definition, or the definitions that
/// were put into one namespace.
struct Unit<'r> {
    namespace: Option<&'r str>,
    members: Vec<&'r Stored>,
}

impl Unit<'_> {
    fn origin(&self) -> Protocol {
        self.members.first().map_or(RICHEST_TOOLS, |stored| stored.shape.protocol())
    }
}

/// A namespace takes the place of its first member.
fn units(stored: &[Stored]) -> Vec<Unit<'_>> {
    let mut units: Vec<Unit<'_>> = Vec::new();
    let mut spaces: BTreeMap<&str, usize> = BTreeMap::new();
    for stored in stored {
        let namespace = stored.namespace.as_deref();
        let known = namespace.and_then(|namespace| spaces.get(namespace));
        if let Some(unit) = known.and_then(|&place| units.get_mut(place)) {
            unit.members.push(stored);
            continue;
        }
        if let Some(namespace) = namespace {
            spaces.insert(namespace, units.len());
        }
        units.push(Unit { namespace, members: vec![stored] });
    }
    units
}

impl Run<'_> {
    fn write(&mut self, to: Protocol) {
        self.text = written(|out| {
            let mut list = Array::new(out);
            for unit in &self.units {
                unit.write(to, &mut list);
            }
        });
    }

    fn decode(&self) -> Result<Vec<Tool<'_>>, Error> {
        (self.origin.codec().decode_tools)(&self.text).map_err(|error| invalid(&self.text, error))
    }

    /// The lines of a ledger with paths into what was offered, and those about
    /// members that were never sent.
    fn entries(&self, ledger: &Ledger) -> Vec<Entry> {
        let mut entries: Vec<Entry> =
            if ledger.is_empty() { Vec::new() } else { ledger.entries(&self.text) };
        for entry in &mut entries {
            entry.path = self.offered(&entry.path);
        }
        for field in self.units.iter().flat_map(|unit| &unit.members).flat_map(|stored| {
            stored.extra.iter().map(|field| (stored.index, field.key.decode().into_owned()))
        }) {
            let (index, key) = field;
            let path = format!("/{index}/{}", key.replace('~', "~0").replace('/', "~1"));
            let code = Code::Only(key);
            let detail = "Only MCP has this member; it is for the client, not for the model.";
            entries.push(Entry {
                path,
                code,
                action: Action::Dropped,
                level: Level::Info,
                detail: detail.into(),
            });
        }
        entries
    }

    /// A path into the definitions as they were offered, from one into this
    /// list.
    fn offered(&self, path: &str) -> String {
        let (place, rest) = element(path);
        let Some(unit) = self.units.get(place) else { return path.to_owned() };
        let (member, rest) = match (unit.namespace, rest.strip_prefix("/tools")) {
            (Some(_), Some(rest)) => element(rest),
            (Some(_) | None, _) => (0, rest),
        };
        match unit.members.get(member) {
            Some(stored) => format!("/{}{}", stored.index, stored.shape.offered(rest)),
            None => path.to_owned(),
        }
    }
}

impl Unit<'_> {
    fn write(&self, to: Protocol, list: &mut Array<'_>) {
        let Some(namespace) = self.namespace else {
            for stored in &self.members {
                list.push(&Raw::made(stored.text.as_str()));
            }
            return;
        };
        let mut tool = list.object();
        tool.put("type", "namespace");
        tool.put("name", namespace);
        // A protocol that has namespaces wants a description of each. For others,
        // the codec would put it in front of the description of every member.
        if Profile::of(to).namespaces {
            tool.put("description", &format!("Tools of {namespace}."));
        }
        let mut tools = tool.array("tools");
        for stored in &self.members {
            tools.push(&Raw::made(stored.text.as_str()));
        }
    }
}

/// The index at the start of a path, and the rest of it.
fn element(path: &str) -> (usize, &str) {
    let path = path.strip_prefix('/').unwrap_or(path);
    let (index, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    (index.parse().unwrap_or(usize::MAX), rest)
}
