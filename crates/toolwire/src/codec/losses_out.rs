//! What is lost toward every target that lacks it.

use crate::ledger::{Code, Ledger};
use crate::model::Usage;
use crate::schema::RootChange;
use crate::wire::{At, Pos, Raw, Read, Str};

/// Reports how many answers are wanted, for a target that gives one.
pub(crate) fn report_answer_count(wanted: Option<At<u64>>, ledger: &mut Ledger) {
    match wanted {
        Some(At { pos, value: 0 | 1 }) => {
            let note = ledger.emulated(pos, Code::MultipleAnswers);
            note.detail("One answer is what the target gives anyway.");
        }
        Some(At { pos, value: _ }) => {
            ledger.refused(pos, Code::MultipleAnswers);
        }
        None => {}
    }
}

/// Reports what a vendor says about token counts beyond those that all have.
pub(crate) fn report_usage_details(usage: &Usage<'_>, ledger: &mut Ledger) {
    for field in &usage.extra {
        ledger.dropped(field.value.pos(), Code::UsageDetail).info();
    }
}

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
