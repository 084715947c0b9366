//! What a tool and its calls lose toward every target that lacks it.

use crate::ledger::{Code, Ledger};
use crate::schema::RootChange;
use crate::wire::{Pos, Raw, Read, Str};

/// Reports who may call a tool. That the model may is the default everywhere, so
/// to say only that is no loss.
pub(crate) fn report_callers(callers: Option<&Raw<'_>>, ledger: &mut Ledger) {
    let Some(callers) = callers else { return };
    let note = ledger.dropped(callers.pos(), Code::ProgrammaticCallers);
    if is_direct_only(callers) {
        note.info();
    }
}

/// Whether only the model itself may call.
pub(crate) fn is_direct_only(callers: &Raw<'_>) -> bool {
    let words = Vec::<Str<'_>>::read(&mut callers.reader());
    words.is_ok_and(|words| words.iter().all(|word| *word == "direct"))
}

/// Reports who made a call. Where nobody but the model can, that it did is no
/// loss.
pub(crate) fn report_caller(caller: Option<&Raw<'_>>, ledger: &mut Ledger) {
    let Some(caller) = caller else { return };
    let note = ledger.dropped(caller.pos(), Code::ProgrammaticCallers);
    if is_direct(caller) {
        note.info();
    }
}

/// Whether the model itself called.
pub(crate) fn is_direct(caller: &Raw<'_>) -> bool {
    matches!(caller.reader().tag("type"), Ok(Some(kind)) if kind == "direct")
}

/// Reports what became of the root of a schema. `typed` is the code and the
/// sentence for a root that got a type.
pub(crate) fn report_root(
    at: Pos,
    change: Option<RootChange>,
    typed: (Code, &'static str),
    ledger: &mut Ledger,
) {
    match change {
        Some(RootChange::Empty) => ledger.emulated(at, Code::SchemaEmpty),
        Some(RootChange::Typed) => ledger.emulated(at, typed.0).detail(typed.1),
        Some(RootChange::Union) => ledger.degraded(at, Code::SchemaRootUnion),
        Some(RootChange::Wrapped) => ledger.emulated(at, Code::SchemaRootWrapped),
        None => return,
    };
}
