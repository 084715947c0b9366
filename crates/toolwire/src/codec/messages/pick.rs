//! Which of the declared tools are sent, and under which name.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::content_out::Pen;
use super::tools_out::hosted_type;
use crate::ledger::Code;
use crate::model::{Subset, Tool, ToolKind, ToolRef};
use crate::toolset::{Declared, ToolMapping, Toolset};

/// The tools that are sent. What is left out is in the ledger.
pub(super) struct Pick<'t, 'r, 'a> {
    pub(super) toolset: &'t Toolset<'r, 'a>,
    /// By the index of the tool, its name toward the target, if it is sent.
    names: Vec<Option<Cow<'r, str>>>,
}

impl<'t, 'r, 'a> Pick<'t, 'r, 'a> {
    /// The tools that a choice allows, or all of them. Messages has no choice
    /// among some tools, so the others are not sent at all.
    pub(super) fn new(
        toolset: &'t Toolset<'r, 'a>,
        subset: Option<&Subset<'_>>,
        pen: &mut Pen<'_>,
    ) -> Self {
        for tool in &toolset.namespaces {
            namespace(tool, pen);
        }
        let allowed = subset.map(|subset| allowed(toolset, subset, pen));
        let takes = |index: usize| match &allowed {
            Some(allowed) => allowed.get(index).copied().unwrap_or_default(),
            None => true,
        };
        let mut names: Vec<Option<Cow<'r, str>>> =
            toolset.entries.iter().map(|declared| wire_name(declared, toolset)).collect();
        // The client can be called under no other name than its tool's, so a
        // tool of the vendor's that has the same name gives way.
        let own: BTreeSet<&str> = toolset
            .entries
            .iter()
            .zip(&names)
            .enumerate()
            .filter(|(index, (declared, _))| takes(*index) && !is_hosted(declared))
            .filter_map(|(_, (_, name))| name.as_deref())
            .collect();
        let mut seen = BTreeSet::new();
        let mut gone = Vec::new();
        for (index, (declared, name)) in toolset.entries.iter().zip(&names).enumerate() {
            let Declared { tool, namespace: _, inline, crossing } = declared;
            if let ToolMapping::Dropped(code) = crossing {
                pen.ledger.dropped(tool.at, code.clone());
            } else if !takes(index) {
                let note = pen.ledger.dropped(tool.at, Code::AllowedToolsFiltered);
                note.detail("The choice does not allow the tool, so it is not sent.").info();
            } else if let Some(name) = name.as_deref()
                && ((is_hosted(declared) && own.contains(name)) || !seen.insert(name))
            {
                let note = pen.ledger.dropped(tool.at, Code::ToolName);
                note.detail("Another tool has the same name, and the target takes one of each.");
                if *inline {
                    note.info();
                }
            } else {
                continue;
            }
            gone.push(index);
        }
        drop((own, seen));
        for index in gone {
            if let Some(name) = names.get_mut(index) {
                *name = None;
            }
        }
        Self { toolset, names }
    }

    /// The tools that are sent, and their names toward the target.
    pub(super) fn sent(&self) -> impl Iterator<Item = (&'t Declared<'r, 'a>, &Cow<'r, str>)> {
        let pairs = self.toolset.entries.iter().zip(&self.names);
        pairs.filter_map(|(declared, name)| Some((declared, name.as_ref()?)))
    }

    /// Whether no tool is sent.
    pub(super) fn is_empty(&self) -> bool {
        self.sent().next().is_none()
    }

    /// The declared tool that a choice means, and its name toward the target
    /// if it is sent. Of two tools of one name it is the one that is sent.
    pub(super) fn find(
        &self,
        wanted: &ToolRef<'_>,
    ) -> Option<(&'t Declared<'r, 'a>, Option<Cow<'r, str>>)> {
        let declared = self.toolset.find(wanted)?;
        let name = wire_name(declared, self.toolset);
        let sent = self.sent().any(|(other, sent)| {
            Some(sent) == name.as_ref() && is_hosted(other) == is_hosted(declared)
        });
        Some((declared, name.filter(|_| sent)))
    }
}

/// Which of the tools a choice allows, by index.
fn allowed(toolset: &Toolset<'_, '_>, subset: &Subset<'_>, pen: &mut Pen<'_>) -> Vec<bool> {
    let Subset { at, tools } = subset;
    pen.ledger.degraded(*at, Code::AllowedToolsFiltered).info();
    let finder = toolset.finder();
    let mut allowed = vec![false; toolset.entries.len()];
    for wanted in tools {
        match finder.index(wanted).and_then(|index| allowed.get_mut(index)) {
            Some(slot) => *slot = true,
            None => {
                pen.ledger.dropped(wanted.at, Code::ChoiceTarget);
            }
        }
        pen.ledger.only(&wanted.extra);
    }
    allowed
}

fn is_hosted(declared: &Declared<'_, '_>) -> bool {
    matches!(declared.crossing, ToolMapping::Hosted(_))
}

/// The name under which Messages knows a declared tool, if it crosses.
fn wire_name<'r>(declared: &Declared<'r, '_>, toolset: &Toolset<'_, '_>) -> Option<Cow<'r, str>> {
    match &declared.crossing {
        ToolMapping::Hosted(class) => return Some(Cow::Borrowed(hosted_type(*class)?.1)),
        ToolMapping::Dropped(_) => return None,
        ToolMapping::Same | ToolMapping::Freeform | ToolMapping::Native(_) => {}
    }
    let namespace = declared.namespace.map(|namespace| namespace.name.decode());
    Some(match declared.tool.name.decode() {
        Cow::Borrowed(name) => toolset.wire_name(namespace.as_deref(), name),
        Cow::Owned(name) => Cow::Owned(toolset.wire_name(namespace.as_deref(), &name).into_owned()),
    })
}

/// A namespace lives on in the names and descriptions of its members.
fn namespace(space: &Tool<'_>, pen: &mut Pen<'_>) {
    let Tool {
        at,
        name: _,
        description: _,
        kind,
        strict: _,
        defer: _,
        callers: _,
        examples: _,
        output_schema: _,
        deferred_result: _,
        eager: _,
        cache: _,
        extra,
    } = space;
    match kind {
        ToolKind::Namespace { tools } if tools.is_empty() => {
            let note = pen.ledger.dropped(*at, Code::NamespaceFlattened);
            note.detail("The target has no namespaces, and this one has no tools.").info();
        }
        ToolKind::Namespace { tools: _ }
        | ToolKind::Function { schema: _ }
        | ToolKind::Freeform { grammar: _ }
        | ToolKind::Native(_)
        | ToolKind::Hosted(_)
        | ToolKind::Unknown(_) => {
            pen.ledger.emulated(*at, Code::NamespaceFlattened);
        }
    }
    pen.ledger.only(extra);
}
