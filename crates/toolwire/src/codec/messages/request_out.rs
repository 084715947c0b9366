//! A request: from the model to Messages.

use std::collections::BTreeSet;

use super::content_out::write_cache;
use super::thinking_out::ThinkingPlan;
use super::{choice_out, hosted_tools_out, settings_out, tools_out, turns_out};
use crate::codec::context::EncodeContext;
use crate::codec::sampling_out::{SamplingRules, write_sampling};
use crate::codec::sent_tools::SentTools;
use crate::ledger::{Code, Ledger};
use crate::model::{Item, Request, Turn};
use crate::profile::Profile;
use crate::schema;
use crate::toolset::Toolset;
use crate::wire::{Object, Pos, Raw, Str};

/// Writes a request.
pub(super) fn encode(
    request: &Request<'_>,
    toolset: &Toolset<'_, '_>,
    profile: &Profile,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    let Request {
        origin,
        model,
        turns,
        tools: _,
        tools_at,
        echoed: _,
        legacy_functions,
        choice,
        thinking,
        output,
        sampling,
        identity,
        cache,
        tier,
        state,
        context_management,
        stream,
        extra,
    } = request;
    let cx = &mut EncodeContext::new(*origin, profile, &toolset.names, ledger);
    let mut object = Object::new(out);
    object.maybe("model", model.as_ref());
    settings_out::write_limit(output, &mut object, cx);
    if *legacy_functions {
        cx.ledger.emulated(*tools_at, Code::LegacyFunctions);
    }
    let subset = choice.subset.as_ref();
    let sent = SentTools::new(toolset, subset, hosted_tools_out::hosted_name, cx.ledger);
    let mut wrapped = BTreeSet::new();
    if sent.is_empty() {
        choice_out::write_choice(choice, &sent, &mut object, cx.ledger);
        write_stubs(turns, &mut object, cx);
    } else {
        wrapped = tools_out::write_tools(&sent, object.key("tools"), cx);
        choice_out::write_choice(choice, &sent, &mut object, cx.ledger);
    }
    let forced = choice_out::is_forced(choice);
    let plan = ThinkingPlan::of(thinking, forced, turns, output, cx);
    cx.thinks = plan.thinks();
    turns_out::encode(turns, &wrapped, &mut object, cx);
    plan.write(thinking, output, &mut object, cx);
    settings_out::write_output(output, &mut object, cx.ledger);
    let rules = SamplingRules { top_k: true, penalties: false, max_temperature: Some(1) };
    write_sampling(sampling, &rules, &mut object, cx);
    settings_out::write_identity(identity, &mut object, cx.ledger);
    settings_out::write_tier(tier.as_ref(), &mut object, cx.ledger);
    write_cache(cache.as_ref(), &mut object, cx);
    settings_out::report_state(state, cx.ledger);
    cx.ledger.lost(context_management, Code::ContextManagement);
    settings_out::write_stream(stream, &mut object, cx.ledger);
    cx.ledger.only(extra);
}

/// Writes stubs for the tools that the conversation called, if no tool is sent.
/// Some deployments refuse calls to tools without a definition. None of the
/// stubs may be called.
fn write_stubs(turns: &[Turn<'_>], object: &mut Object<'_>, cx: &mut EncodeContext<'_>) {
    let items = turns.iter().flat_map(|turn| &turn.items);
    let calls =
        items.filter_map(|item| if let Item::Call(call) = item { Some(call) } else { None });
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    for call in calls {
        let namespace = call.namespace.as_ref().map(Str::decode);
        let name = cx.names.wire(namespace.as_deref(), &call.name.decode()).into_owned();
        if seen.insert(name.clone()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return;
    }
    let note = cx.ledger.emulated(Pos::START, Code::Placeholder).key("tools");
    note.detail("The target wants the tools that the conversation used; stubs stand for them and none may be called.");
    {
        let mut list = object.array("tools");
        for name in &names {
            let mut tool = list.object();
            tool.put("name", name);
            tool.put("input_schema", &Raw::made(schema::EMPTY));
        }
    }
    object.object("tool_choice").put("type", "none");
}
