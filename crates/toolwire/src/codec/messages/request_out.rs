//! The settings of a request: from the model to Messages.

use std::collections::BTreeSet;

use super::content_out::Pen;
use super::{choice_out, settings_out, tools_out, turns_out};
use crate::codec::sent_tools::SentTools;
use crate::ledger::{Code, Ledger};
use crate::model::{Item, Protocol, Request};
use crate::profile::Profile;
use crate::schema;
use crate::toolset::Toolset;
use crate::wire::{Object, Pos, Raw};

/// Writes a request.
pub(super) fn encode(
    request: &Request<'_>,
    profile: &Profile,
    out: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    debug_assert_ne!(request.origin, Protocol::Messages, "the bytes of one protocol pass");
    let pen = &mut Pen::new(ledger);
    let Request {
        origin: _,
        model,
        turns: _,
        tools: _,
        tools_at,
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
    let mut object = Object::new(out);
    object.maybe("model", model.as_ref());
    settings_out::limit(output, profile, &mut object, pen);
    if *legacy_functions {
        pen.ledger.emulated(*tools_at, Code::LegacyFunctions);
    }
    let toolset = Toolset::new(request, profile);
    let sent = SentTools::new(&toolset, choice.subset.as_ref(), tools_out::hosted_name, pen.ledger);
    let mut wrapped = BTreeSet::new();
    if sent.is_empty() {
        choice_out::encode(choice, &sent, &mut object, pen);
        stubs(request, &toolset, &mut object, pen);
    } else {
        wrapped = tools_out::encode(&sent, profile, object.key("tools"), pen);
        choice_out::encode(choice, &sent, &mut object, pen);
    }
    turns_out::encode(request, profile, &toolset, &wrapped, &mut object, pen);
    settings_out::thinking(
        thinking,
        choice_out::is_forced(choice),
        output,
        profile,
        &mut object,
        pen,
    );
    settings_out::output(output, &mut object, pen);
    settings_out::sampling(sampling, profile, &mut object, pen);
    settings_out::identity(identity, &mut object, pen);
    settings_out::tier(tier.as_ref(), &mut object, pen);
    pen.cache(&mut object, cache.as_ref());
    settings_out::state(state, pen);
    if let Some(raw) = context_management {
        pen.ledger.dropped(raw.pos(), Code::ContextManagement);
    }
    settings_out::stream(stream, &mut object, pen);
    pen.ledger.only(extra);
}

/// Some deployments refuse calls in the conversation without definitions of the
/// tools, so stubs stand for those that are gone, and none may be called.
fn stubs(
    request: &Request<'_>,
    toolset: &Toolset<'_, '_>,
    object: &mut Object<'_>,
    pen: &mut Pen<'_>,
) {
    let calls = request
        .turns
        .iter()
        .flat_map(|turn| &turn.items)
        .filter_map(|item| if let Item::Call(call) = item { Some(call) } else { None });
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    for call in calls {
        let namespace = call.namespace.as_ref().map(|namespace| namespace.decode());
        let own = call.name.decode();
        let name = toolset.wire_name(namespace.as_deref(), &own).into_owned();
        if seen.insert(name.clone()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return;
    }
    let note = pen.ledger.emulated(Pos::START, Code::Placeholder).key("tools");
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
