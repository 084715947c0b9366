//! Which tool to call.

use toolwire::model::{Choice, Mode, Request, Tool, ToolKind, ToolRef};

use super::prompt::{Words, stems};

/// What the client wants about calls.
pub(super) enum Wish<'r, 'a> {
    /// No call, or nothing to call.
    Talk,
    /// A call if it fits the conversation, of this tool.
    May(&'r Tool<'a>),
    /// A call in any case, of this tool.
    Must(&'r Tool<'a>),
}

/// Chooses a tool for the user's words, as far as the client leaves a choice.
pub(super) fn choose<'r, 'a>(
    request: &'r Request<'a>,
    words: &Words,
) -> Result<Wish<'r, 'a>, String> {
    let Choice { mode, subset, parallel: _, extra: _ } = &request.choice;
    let callable: Vec<&Tool<'_>> = request.tools.iter().filter(|tool| is_callable(tool)).collect();
    let allowed: Vec<&Tool<'_>> = match subset {
        Some(subset) => callable
            .into_iter()
            .filter(|tool| subset.tools.iter().any(|named| names(named, tool)))
            .collect(),
        None => callable,
    };
    match mode.as_ref().map(|mode| &mode.value) {
        Some(Mode::None) => Ok(Wish::Talk),
        Some(Mode::Named(named)) => {
            let found = allowed.into_iter().find(|tool| names(named, tool));
            found.map(Wish::Must).ok_or_else(|| {
                format!(
                    "`tool_choice` names `{}`, which is not among the tools.",
                    named.name.decode()
                )
            })
        }
        Some(Mode::Any) => best(&allowed, words)
            .map(|(tool, _)| Wish::Must(tool))
            .ok_or_else(|| "`tool_choice` wants a call, but there is no tool.".to_owned()),
        // Who declares a tool or two wants to see them called. An agent brings
        // dozens, and a greeting is still a greeting.
        Some(Mode::Auto | Mode::Other(_)) | None => Ok(match best(&allowed, words) {
            Some((tool, points)) if points > 0 || allowed.len() <= FEW => Wish::May(tool),
            Some(_) | None => Wish::Talk,
        }),
    }
}

/// The tool that has most in common with the words, or the first, and how much
/// that is.
fn best<'r, 'a>(tools: &[&'r Tool<'a>], words: &Words) -> Option<(&'r Tool<'a>, usize)> {
    let said = words.small();
    let score = |tool: &Tool<'_>| {
        let name = stems(&tool.name.decode());
        let mut about =
            tool.description.as_ref().map(|text| stems(&text.decode())).unwrap_or_default();
        // A description of pages has every word somewhere; what it is about
        // comes first.
        about.truncate(OPENING);
        let common = |of: &[String]| said.iter().filter(|word| of.contains(word)).count();
        // A name is chosen with more care than a description is long.
        4 * common(&name) + common(&about).min(3)
    };
    let mut found: Option<(&Tool<'_>, usize)> = None;
    for tool in tools {
        let points = score(tool);
        if found.is_none_or(|(_, most)| points > most) {
            found = Some((tool, points));
        }
    }
    found
}

/// Chat has functions and freeform tools; everything else is run by others.
fn is_callable(tool: &Tool<'_>) -> bool {
    match tool.kind {
        ToolKind::Function { .. } | ToolKind::Freeform { .. } => true,
        ToolKind::Namespace { .. }
        | ToolKind::Native(_)
        | ToolKind::Hosted(_)
        | ToolKind::Unknown(_) => false,
    }
}

fn names(named: &ToolRef<'_>, tool: &Tool<'_>) -> bool {
    named.name == tool.name
}

const OPENING: usize = 24;
const FEW: usize = 5;
