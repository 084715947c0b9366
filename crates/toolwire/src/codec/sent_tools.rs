//! Which of the declared tools a target gets, and under which name.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::ledger::{Code, Ledger};
use crate::model::{HostedClass, Subset, Tool, ToolKind, ToolRef};
use crate::toolset::{Declared, ToolMapping, Toolset};
use crate::wire::names::Names;

/// The tools that are sent to a target. The ledger has those that are not.
pub struct SentTools<'t, 'r, 'a> {
    pub toolset: &'t Toolset<'r, 'a>,
    /// What the target calls a hosted tool of its own.
    hosted_name: HostedName,
    same_names: SameNames,
    /// By the index of the tool, its name toward the target, if it is sent.
    names: Vec<Option<Cow<'r, str>>>,
    /// The names under which tools are sent, if each may be sent once and there may be
    /// many.
    used: BTreeSet<Cow<'r, str>>,
}

/// Whether a target takes several tools of the same name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SameNames {
    /// It does.
    Sent,
    /// Only the first is sent, and the others are reported.
    Reported,
}

/// The target's name for a hosted tool of a class, if it has one.
pub type HostedName = fn(HostedClass) -> Option<&'static str>;

impl<'t, 'r, 'a> SentTools<'t, 'r, 'a> {
    /// The tools that `subset` allows, or all of them, for a target without
    /// namespaces that takes one tool of each name. `subset` is for a target that
    /// cannot restrict a choice to some tools: it does not get the others.
    pub fn new(
        toolset: &'t Toolset<'r, 'a>,
        subset: Option<&Subset<'_>>,
        hosted_name: HostedName,
        ledger: &mut Ledger,
    ) -> Self {
        if subset.is_none() && toolset.written.is_some() {
            let mut sent = Self::none(toolset, hosted_name, SameNames::Reported);
            sent.send_all();
            return sent;
        }
        for tool in &toolset.namespaces {
            report_namespace(tool, ledger);
        }
        let allowed = subset.map(|subset| allowed_tools(toolset, subset, ledger));
        let is_allowed = |index: usize| match &allowed {
            Some(allowed) => allowed.get(index).copied().unwrap_or_default(),
            None => true,
        };
        let names: Vec<Option<Cow<'r, str>>> = toolset
            .entries
            .iter()
            .map(|declared| wire_name(declared, toolset, hosted_name))
            .collect();
        // The client can only run a tool under its declared name, so a hosted
        // tool of the target that has the same name gives way.
        let client_names: BTreeSet<&str> = toolset
            .entries
            .iter()
            .zip(&names)
            .enumerate()
            .filter(|(index, (declared, _))| is_allowed(*index) && !is_hosted(declared))
            .filter_map(|(_, (_, name))| name.as_deref())
            .collect();
        let mut sent = Self::none(toolset, hosted_name, SameNames::Reported);
        for (index, (declared, name)) in toolset.entries.iter().zip(&names).enumerate() {
            if let Some(code) = declared.crossing.loss() {
                ledger.dropped(declared.tool.at, code.clone());
            } else if !is_allowed(index) {
                let note = ledger.dropped(declared.tool.at, Code::AllowedToolsFiltered);
                note.detail("The choice does not allow the tool, so it is not sent.").info();
            } else if let Some(name) = name {
                if is_hosted(declared) && client_names.contains(name.as_ref()) {
                    report_same_name(declared, ledger);
                } else {
                    sent.send(index, name.clone(), ledger);
                }
            }
        }
        sent
    }

    /// No tools. A codec that decides about each tool when it writes it adds them
    /// with [`SentTools::send`].
    pub fn none(
        toolset: &'t Toolset<'r, 'a>,
        hosted_name: HostedName,
        same_names: SameNames,
    ) -> Self {
        let names = vec![None; toolset.entries.len()];
        Self { toolset, hosted_name, same_names, names, used: BTreeSet::new() }
    }

    /// Sends the tool with that index. Returns `false`, and reports it, if the target
    /// takes one tool of each name and another has been sent under this one.
    pub fn send(&mut self, index: usize, name: Cow<'r, str>, ledger: &mut Ledger) -> bool {
        let takes = match self.same_names {
            SameNames::Sent => true,
            SameNames::Reported if self.names.len() <= FEW => {
                !self.names.iter().flatten().any(|sent| is_same(sent, &name))
            }
            SameNames::Reported => self.used.insert(name.clone()),
        };
        if !takes {
            if let Some(declared) = self.toolset.entries.get(index) {
                report_same_name(declared, ledger);
            }
        } else if let Some(slot) = self.names.get_mut(index) {
            *slot = Some(name);
        }
        takes
    }

    /// Sends all tools under their own names.
    pub(crate) fn send_all(&mut self) {
        for (slot, declared) in self.names.iter_mut().zip(&self.toolset.entries) {
            *slot = Some(declared.tool.name.decode());
        }
    }

    /// The tools that are sent, and their names toward the target.
    pub fn iter(&self) -> impl Iterator<Item = (&'t Declared<'r, 'a>, &Cow<'r, str>)> {
        let pairs = self.toolset.entries.iter().zip(&self.names);
        pairs.filter_map(|(declared, name)| Some((declared, name.as_ref()?)))
    }

    /// Whether every tool is sent.
    pub(crate) fn sends_all(&self) -> bool {
        self.names.iter().all(Option::is_some)
    }

    /// Whether no tool is sent.
    pub fn is_empty(&self) -> bool {
        self.names.iter().all(Option::is_none)
    }

    /// The declared tool that a choice means, and its name toward the target
    /// if it is sent. If two tools have that name, it is the one that is sent.
    pub fn find(
        &self,
        wanted: &ToolRef<'_>,
    ) -> Option<(&'t Declared<'r, 'a>, Option<Cow<'r, str>>)> {
        let declared = self.toolset.find(wanted)?;
        let name = wire_name(declared, self.toolset, self.hosted_name);
        let is_sent = self.iter().any(|(other, sent)| {
            Some(sent) == name.as_ref() && is_hosted(other) == is_hosted(declared)
        });
        Some((declared, name.filter(|_| is_sent)))
    }
}

/// Whether two names are one. Names of tools often begin alike.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().next_back() == other.bytes().next_back() && one == other
}

/// How many names are compared each with each.
const FEW: usize = 32;

/// Which of the tools a choice allows, by index.
fn allowed_tools(toolset: &Toolset<'_, '_>, subset: &Subset<'_>, ledger: &mut Ledger) -> Vec<bool> {
    let Subset { at, tools } = subset;
    ledger.degraded(*at, Code::AllowedToolsFiltered).info();
    let finder = toolset.finder();
    let mut allowed = vec![false; toolset.entries.len()];
    for wanted in tools {
        match finder.index(wanted).and_then(|index| allowed.get_mut(index)) {
            Some(slot) => *slot = true,
            None => {
                ledger.dropped(wanted.at, Code::ChoiceTarget);
            }
        }
        ledger.only(&wanted.extra);
    }
    allowed
}

fn is_hosted(declared: &Declared<'_, '_>) -> bool {
    matches!(declared.crossing, ToolMapping::Hosted(_))
}

/// A declared tool's name toward the target, if the target can have the tool.
fn wire_name<'r>(
    declared: &Declared<'r, '_>,
    toolset: &Toolset<'_, '_>,
    hosted_name: HostedName,
) -> Option<Cow<'r, str>> {
    match &declared.crossing {
        ToolMapping::Hosted(class) => return hosted_name(*class).map(Cow::Borrowed),
        ToolMapping::Dropped(_) => return None,
        ToolMapping::Same | ToolMapping::Freeform | ToolMapping::Native(_) => {}
    }
    Some(client_name(declared, &toolset.names))
}

/// The name toward the target of a tool that the client declared.
pub fn client_name<'r>(declared: &Declared<'r, '_>, names: &Names) -> Cow<'r, str> {
    let namespace = declared.namespace.map(|namespace| namespace.name.decode());
    match declared.tool.name.decode() {
        Cow::Borrowed(name) => names.declared(namespace.as_deref(), name),
        Cow::Owned(name) => Cow::Owned(names.declared(namespace.as_deref(), &name).into_owned()),
    }
}

fn report_same_name(declared: &Declared<'_, '_>, ledger: &mut Ledger) {
    let note = ledger.dropped(declared.tool.at, Code::ToolName);
    note.detail("Another tool has the same name, and the target takes one of each.");
    if declared.inline {
        note.info();
    }
}

/// Reports that a namespace is sent only as part of the names and descriptions
/// of its tools.
fn report_namespace(namespace: &Tool<'_>, ledger: &mut Ledger) {
    let (at, kind, extra) = (&namespace.at, &namespace.kind, &namespace.extra);
    if matches!(kind, ToolKind::Namespace { tools } if tools.is_empty()) {
        let note = ledger.dropped(*at, Code::NamespaceFlattened);
        note.detail("The target has no namespaces, and this one has no tools.").info();
    } else {
        ledger.emulated(*at, Code::NamespaceFlattened);
    }
    ledger.only(extra);
}
