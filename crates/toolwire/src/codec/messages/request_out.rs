//! The settings of a request: from the model to Messages.

use std::collections::BTreeSet;

use super::content_out::Pen;
use super::request_in::CONFIG;
use super::{choice, replay, settings, tools_in, tools_out, turns_out};
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
    let mut pen = Pen::new(request.origin == Protocol::Messages, ledger);
    if pen.same {
        encode_own(request, out, &mut pen);
    } else {
        encode_foreign(request, profile, out, &mut pen);
    }
}

/// Writes a request that came from Messages as it came.
fn encode_own(request: &Request<'_>, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
    let Request {
        origin: _,
        model,
        turns,
        tools,
        tools_at,
        legacy_functions: _,
        choice,
        thinking,
        output,
        sampling,
        identity,
        cache,
        tier,
        state: _,
        context_management,
        stream,
        extra,
    } = request;
    let mut object = Object::new(out);
    object.maybe("model", model.as_ref());
    object.maybe("max_tokens", output.max_tokens.as_ref());
    if !tools.is_empty() || *tools_at != Pos::NONE {
        let mut list = object.array("tools");
        for tool in tools {
            tools_in::encode_own(tool, list.item(), pen);
        }
    }
    choice::encode_own(choice, &mut object);
    replay::encode(turns, &mut object, pen);
    settings::encode_own(thinking, output, extra, &mut object);
    if identity.end_user.is_some() || !identity.metadata_extra.is_empty() {
        let mut metadata = object.object("metadata");
        metadata.maybe("user_id", identity.end_user.as_ref());
        metadata.extra(&identity.metadata_extra);
    }
    if !output.stop.is_empty() || output.stop_at != Pos::NONE {
        object.put("stop_sequences", &output.stop);
    }
    object.maybe("temperature", sampling.temperature.as_ref());
    object.maybe("top_p", sampling.top_p.as_ref());
    object.maybe("top_k", sampling.top_k.as_ref());
    object.maybe("service_tier", tier.as_ref());
    pen.cache(&mut object, cache.as_ref());
    object.maybe("context_management", context_management.as_ref());
    object.maybe("stream", stream.on.as_ref());
    for field in extra {
        if field.name_under(CONFIG).is_none() {
            object.extra(std::slice::from_ref(field));
        }
    }
}

/// Writes a request of another protocol.
fn encode_foreign(request: &Request<'_>, profile: &Profile, out: &mut Vec<u8>, pen: &mut Pen<'_>) {
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
    settings::limit(output, profile, &mut object, pen);
    if *legacy_functions {
        pen.ledger.emulated(*tools_at, Code::LegacyFunctions);
    }
    let toolset = Toolset::new(request, profile);
    let sent = SentTools::new(&toolset, choice.subset.as_ref(), tools_out::hosted_name, pen.ledger);
    let mut wrapped = BTreeSet::new();
    if sent.is_empty() {
        choice::encode(choice, &sent, &mut object, pen);
        stubs(request, &toolset, &mut object, pen);
    } else {
        wrapped = tools_out::encode(&sent, profile, object.key("tools"), pen);
        choice::encode(choice, &sent, &mut object, pen);
    }
    turns_out::encode(request, profile, &toolset, &wrapped, &mut object, pen);
    settings::thinking(thinking, choice::is_forced(choice), output, profile, &mut object, pen);
    settings::output(output, &mut object, pen);
    settings::sampling(sampling, profile, &mut object, pen);
    settings::identity(identity, &mut object, pen);
    settings::tier(tier.as_ref(), &mut object, pen);
    pen.cache(&mut object, cache.as_ref());
    settings::state(state, pen);
    if let Some(raw) = context_management {
        pen.ledger.dropped(raw.pos(), Code::ContextManagement);
    }
    settings::stream(stream, &mut object, pen);
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
