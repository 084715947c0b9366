//! What an answer loses: reporting it.

use super::turns_out::report_member_losses;
use crate::codec::losses_out::report_caller;
use crate::ledger::{Code, Ledger};
use crate::model::{Arguments, Call, Item, Turn};
use crate::wire::{Extra, Pos, Raw, Str};

/// Reports an item that Chat has no place for in an answer.
pub(super) fn report_item_loss(item: &Item<'_>, turn: Pos, ledger: &mut Ledger) {
    let (pos, code) = match item {
        Item::Hosted(hosted) => (hosted.raw.pos(), Code::HostedHistory),
        Item::Opaque(opaque) => (opaque.raw.pos(), Code::UnknownItem),
        Item::Json(raw) => (raw.pos(), Code::UnknownItem),
        Item::Audio(audio) => (audio.at, Code::Audio),
        Item::Image(image) => (image.at, Code::MediaType),
        Item::Document(document) => (document.at, Code::MediaType),
        Item::SearchResult(found) => (found.at, Code::Citations),
        Item::ToolReference(name) => (name.pos, Code::ToolSearch),
        Item::Tools(_) => (turn, Code::ToolPosition),
        // What the vendor's own tool gave is not kept, not even as text.
        Item::Result(result) => (result.at, Code::HostedHistory),
        Item::Text(_) | Item::Refusal(_) | Item::Reasoning(_) | Item::Call(_) => return,
    };
    ledger.dropped(pos, code);
}

pub(super) fn report_turn_losses(turn: &Turn<'_>, has_text_before: &mut bool, ledger: &mut Ledger) {
    let Turn { at, role: _, slot: _, items, id: _, name: _, status: _, phase, extra: _ } = turn;
    report_member_losses(turn, ledger);
    ledger.lost(phase, Code::Phase);
    let has_text = items.iter().any(|item| matches!(item, Item::Text(_)));
    if has_text && *has_text_before {
        ledger.degraded(*at, Code::MessageBoundary);
    }
    *has_text_before |= has_text;
}

pub(super) fn report_call_losses(call: &Call<'_>, ledger: &mut Ledger) {
    let Call { at, id: _, name: _, namespace, arguments, caller, cache, extra } = call;
    if let Arguments::Native(_, _) = arguments {
        ledger.emulated(*at, Code::NativeToolWrapped);
    }
    report_head_losses(namespace.as_ref(), caller.as_ref(), extra, ledger);
    ledger.lost_info(cache, Code::CacheBreakpoint);
}

/// Reports the members of a call that Chat does not have.
pub(super) fn report_head_losses(
    namespace: Option<&Str<'_>>,
    caller: Option<&Raw<'_>>,
    extra: &[Extra<'_>],
    ledger: &mut Ledger,
) {
    ledger.lost(&namespace, Code::NamespaceFlattened);
    report_caller(caller, ledger);
    ledger.only(extra);
}

/// Reports a second call to a client that uses the deprecated functions.
pub(super) fn report_surplus_call(at: Pos, ledger: &mut Ledger) {
    ledger
        .dropped(at, Code::LegacyFunctions)
        .detail("The client's deprecated functions have room for one call only.");
}
