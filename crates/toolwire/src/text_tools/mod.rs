//! Tools for a model that only reads and writes text.
//!
//! Toward an upstream that takes no tools, they are described to the model in its
//! instructions, earlier calls and results become text, and the calls in its
//! answer are read from its text ([`recover`](crate::recover)) and handed to the
//! client as calls of its own protocol.
//!
//! A request is rewritten in the model, before it is encoded, so every client and
//! every upstream gets the same. The same request gives the same bytes, and no
//! result can pass for a call: `escape` takes the markers out of what tools say.

mod answer;
mod dialect;
mod escape;
mod history;
mod prompt;
mod python;
mod recovery;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub(crate) use self::answer::{INTENT, changed_stop, report_call};
pub use self::dialect::Dialect;
use self::history::HistoryWriter;
use self::prompt::Demand;
pub(crate) use self::recovery::{Recovery, SegmentSink, Segmenter};
use crate::codec::{FUNCTIONS, codec};
use crate::ledger::{Code, Ledger};
use crate::model::{Choice, Item, Mode, Request, Role, Text, Tool, Turn};
use crate::profile::Profile;
use crate::recover::Tools;
use crate::restore::Restore;
use crate::thread::Thread;
use crate::toolset::Toolset;
use crate::wire::{At, Pos, Raw, Str};

/// How a model calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolCalls {
    /// As its protocol says.
    #[default]
    Native,
    /// As text, in this dialect or in any other that it falls into.
    Text(Dialect),
    /// As text, and if there is none, by announcing in plain words what it is
    /// going to do.
    Intent(Dialect),
}

impl ToolCalls {
    /// Whether the protocol's own way is used.
    pub fn is_native(self) -> bool {
        self == Self::Native
    }

    fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Native => None,
            Self::Text(dialect) | Self::Intent(dialect) => Some(dialect),
        }
    }
}

/// A request without tools that asks for the same.
pub(crate) struct TextRequest<'a> {
    pub(crate) request: Request<'a>,
    /// How the calls of the answer are found. `None` if it may have none.
    pub(crate) recovery: Option<Recovery>,
    /// How they come back.
    pub(crate) restore: Restore,
}

/// What an upstream that reads only text accepts of tools: functions.
fn functions_only(profile: &Profile) -> Profile {
    Profile {
        tool_calls: profile.tool_calls,
        freeform_tools: false,
        namespaces: false,
        web_search: false,
        tool_search: false,
        strict: false,
        ..Profile::of(FUNCTIONS)
    }
}

impl<'a> TextRequest<'a> {
    /// Rewrites a request for an upstream. `None` if the upstream takes tools, or
    /// if the request says nothing of tools or calls.
    pub(crate) fn of(
        request: &Request<'a>,
        profile: &Profile,
        ledger: &mut Ledger,
    ) -> Option<Self> {
        let dialect = profile.tool_calls.dialect()?;
        let tools = all_tools(request);
        let Choice { mode, subset, parallel, extra: _ } = &request.choice;
        let chooses = mode.is_some() || subset.is_some() || parallel.is_some();
        if tools.is_empty() && !chooses && !has_calls(&request.turns) {
            return None;
        }
        let functions = functions_only(profile);
        let toolset = Toolset::of_list(&tools, request.origin, &functions);
        let restore = Restore::of(&toolset, request.origin, &functions);
        let mut definitions = Vec::new();
        (codec(FUNCTIONS).encode_tools)(
            &tools, request.origin, &functions, &mut definitions, ledger,
        );
        let definitions = String::from_utf8(definitions).unwrap_or_default();
        let definitions = Offered::read(&definitions, &request.choice, &toolset, ledger);
        let thread = Thread::new(&request.turns, request.origin, functions.ids, ledger);
        let writer = HistoryWriter { dialect, names: &toolset.names, restore: &restore, profile };
        let mut turns = writer.rewrite(&request.turns, ledger, &thread);
        for turn in &mut turns {
            turn.items.retain(|item| !matches!(item, Item::Tools(_)));
        }
        let mut recovery = None;
        if !definitions.list.is_empty() {
            ledger.emulated(request.tools_at, Code::ToolsAsText);
            let list: Vec<&str> = definitions.list.iter().map(String::as_str).collect();
            let text =
                prompt::instructions(dialect, &list, &definitions.demand, definitions.is_parallel);
            instruct(&mut turns, text);
            recovery = Some(Recovery {
                tools: Tools::read(&format!("[{}]", list.join(","))).unwrap_or_default(),
                dialect,
                reads_intent: matches!(profile.tool_calls, ToolCalls::Intent(_)),
                calls_before: thread.calls.len(),
            });
        }
        let request =
            Request { turns, tools: Vec::new(), choice: Choice::default(), ..request.clone() };
        Some(Self { request, recovery, restore })
    }
}

impl TextRequest<'_> {
    /// How the calls of the answer to a request are found and come back, if the
    /// upstream takes no tools.
    pub(crate) fn way_back(
        request: Option<&Request<'_>>,
        profile: &Profile,
    ) -> (Option<Restore>, Option<Recovery>) {
        let text =
            request.and_then(|request| TextRequest::of(request, profile, &mut Ledger::default()));
        text.map_or((None, None), |text| (Some(text.restore), text.recovery))
    }
}

/// The tools that the choice leaves to the model, and what it demands.
struct Offered {
    list: Vec<String>,
    demand: Demand,
    is_parallel: bool,
}

impl Offered {
    fn read(
        definitions: &str,
        choice: &Choice<'_>,
        toolset: &Toolset<'_, '_>,
        ledger: &mut Ledger,
    ) -> Self {
        let Choice { mode, subset, parallel, extra } = choice;
        ledger.only(extra);
        let mut demand = Demand::Free;
        let mut is_offered = true;
        match mode {
            None | Some(At { value: Mode::Auto, .. }) => {}
            Some(At { value: Mode::None, .. }) => is_offered = false,
            Some(At { value: Mode::Any, pos }) => {
                ledger.degraded(*pos, Code::ChoiceAsked);
                demand = Demand::AnyTool;
            }
            Some(At { value: Mode::Named(wanted), pos }) => match toolset.find(wanted) {
                Some(declared) if declared.crosses() => {
                    ledger.degraded(*pos, Code::ChoiceAsked);
                    let name = crate::codec::sent_tools::client_name(declared, &toolset.names);
                    demand = Demand::Tool(name.into_owned());
                }
                Some(_) | None => {
                    ledger.dropped(*pos, Code::ChoiceTarget);
                }
            },
            Some(At { value: Mode::Other(raw), .. }) => {
                ledger.dropped(raw.pos(), Code::UnknownValue);
            }
        }
        let allowed: Option<BTreeSet<String>> = subset.as_ref().map(|subset| {
            ledger.degraded(subset.at, Code::AllowedToolsFiltered).info();
            let declared = subset.tools.iter().filter_map(|wanted| toolset.find(wanted));
            let name = |declared| crate::codec::sent_tools::client_name(declared, &toolset.names);
            declared.map(|declared| name(declared).into_owned()).collect()
        });
        let is_parallel = parallel.is_none_or(|parallel| parallel.value);
        if let Some(parallel) = parallel.as_ref().filter(|parallel| !parallel.value) {
            ledger.degraded(parallel.pos, Code::ChoiceAsked);
        }
        let list = Raw::parse(definitions).ok();
        let list = list.as_ref().and_then(|list| list.elements().ok()).unwrap_or_default();
        let is_allowed = |definition: &Raw<'_>| match &allowed {
            Some(allowed) => function_name(definition).is_some_and(|name| allowed.contains(&name)),
            None => true,
        };
        let list = list.iter().filter(|definition| is_offered && is_allowed(definition));
        let list = list.map(|definition| definition.text().to_owned()).collect();
        Self { list, demand, is_parallel }
    }
}

/// The name in a definition as it is written here.
fn function_name(definition: &Raw<'_>) -> Option<String> {
    let [function] = definition.reader().pick(["function"]).ok()?;
    let function = function?;
    let [name] = function.reader().pick(["name"]).ok()?;
    Some(name?.reader().string().ok()?.decode().into_owned())
}

/// Every tool that the request declares, those inside the conversation too.
fn all_tools<'a>(request: &Request<'a>) -> Vec<Tool<'a>> {
    let mut tools = request.tools.clone();
    for item in request.turns.iter().flat_map(|turn| &turn.items) {
        if let Item::Tools(more) = item {
            tools.extend(more.iter().cloned());
        } else if let Item::Result(result) = item {
            for item in &result.content {
                if let Item::Tools(more) = item {
                    tools.extend(more.iter().cloned());
                }
            }
        }
    }
    tools
}

fn has_calls(turns: &[Turn<'_>]) -> bool {
    let mut items = turns.iter().flat_map(|turn| &turn.items);
    items.any(|item| matches!(item, Item::Call(_) | Item::Result(_)))
}

/// Adds to the instructions at the start of the conversation, if there are any.
fn instruct(turns: &mut Vec<Turn<'_>>, text: String) {
    let leads = |turn: &&mut Turn<'_>| matches!(turn.role, Role::System | Role::Developer);
    match turns.first_mut().filter(leads) {
        Some(first) => {
            // The texts are joined by one line end.
            let gap = if first.items.is_empty() { "" } else { "\n" };
            let text = Text::new(Str::plain(format!("{gap}{text}")));
            history::push(&mut first.items, Item::Text(text));
        }
        None => {
            let text = Item::Text(Text::new(Str::plain(text)));
            turns.insert(0, Turn::new(Pos::NONE, Role::System, vec![text]));
        }
    }
}
