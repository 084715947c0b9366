//! Which tool to call.

use toolwire::model::{Choice, Mode, Request, Tool, ToolKind, ToolRef};

use crate::prompt::{Prompt, stems};

/// Which tool to call, and whether the client insists on a call.
pub(crate) enum ToolChoice<'r, 'a> {
    /// No call is wanted, or no tool fits.
    NoCall,
    /// Call this tool if the conversation is at a point where a call makes
    /// sense.
    Optional(&'r Tool<'a>),
    /// Call this tool in any case.
    Required(&'r Tool<'a>),
}

/// Chooses a tool for the user's prompt, as far as `tool_choice` leaves it
/// open. An error is a sentence for the client.
pub(crate) fn choose_tool<'r, 'a>(
    request: &'r Request<'a>,
    prompt: &Prompt,
) -> Result<ToolChoice<'r, 'a>, String> {
    let Choice { mode, subset, parallel: _, extra: _ } = &request.choice;
    let callable: Vec<&Tool<'_>> = request.tools.iter().filter(|tool| is_callable(tool)).collect();
    let allowed: Vec<&Tool<'_>> = match subset {
        Some(subset) => callable
            .into_iter()
            .filter(|tool| subset.tools.iter().any(|named| refers_to(named, tool)))
            .collect(),
        None => callable,
    };
    match mode.as_ref().map(|mode| &mode.value) {
        Some(Mode::None) => Ok(ToolChoice::NoCall),
        Some(Mode::Named(named)) => {
            let found = allowed.into_iter().find(|tool| refers_to(named, tool));
            found.map(ToolChoice::Required).ok_or_else(|| {
                format!(
                    "`tool_choice` names `{}`, which is not among the tools.",
                    named.name.decode()
                )
            })
        }
        Some(Mode::Any) => best_match(&allowed, prompt)
            .map(|(tool, _)| ToolChoice::Required(tool))
            .ok_or_else(|| "`tool_choice` wants a call, but there is no tool.".to_owned()),
        // A client that declares a tool or two wants to see them called. An
        // agent brings dozens, and may want to say hello first.
        Some(Mode::Auto | Mode::Other(_)) | None => Ok(match best_match(&allowed, prompt) {
            Some((tool, score)) if score > 0 || allowed.len() <= FEW_TOOLS => {
                ToolChoice::Optional(tool)
            }
            Some(_) | None => ToolChoice::NoCall,
        }),
    }
}

/// The first tool with the highest score, and that score.
fn best_match<'r, 'a>(tools: &[&'r Tool<'a>], prompt: &Prompt) -> Option<(&'r Tool<'a>, usize)> {
    let wanted = prompt.stems();
    let mut best: Option<(&Tool<'_>, usize)> = None;
    for tool in tools {
        let score = score(tool, &wanted);
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((tool, score));
        }
    }
    best
}

/// How much a tool has in common with the stems of a prompt.
fn score(tool: &Tool<'_>, wanted: &[String]) -> usize {
    let name = stems(&tool.name.decode());
    let mut description =
        tool.description.as_ref().map(|text| stems(&text.decode())).unwrap_or_default();
    // A description that goes on for pages contains every word somewhere. It
    // says what the tool is about at its beginning.
    description.truncate(DESCRIPTION_STEMS);
    let common = |of: &[String]| wanted.iter().filter(|word| of.contains(word)).count();
    // A word in the name says more than a word in the description.
    4 * common(&name) + common(&description).min(3)
}

/// Chat has functions and freeform tools. Others cannot be called by a model
/// that speaks Chat.
fn is_callable(tool: &Tool<'_>) -> bool {
    match tool.kind {
        ToolKind::Function { .. } | ToolKind::Freeform { .. } => true,
        ToolKind::Namespace { .. }
        | ToolKind::Native(_)
        | ToolKind::Hosted(_)
        | ToolKind::Unknown(_) => false,
    }
}

fn refers_to(reference: &ToolRef<'_>, tool: &Tool<'_>) -> bool {
    reference.name == tool.name
}

const DESCRIPTION_STEMS: usize = 24;
const FEW_TOOLS: usize = 5;
