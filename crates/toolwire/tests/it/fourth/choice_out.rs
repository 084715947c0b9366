//! Which tools the model may call: from the model to the protocol.

use toolwire::Code;
use toolwire::codec::context::EncodeContext;
use toolwire::codec::sent_tools::SentTools;
use toolwire::model::{Choice, Mode, Subset, ToolRef, ToolRefKind};
use toolwire::wire::{At, Object};

/// Writes `must`, `only` and `alone`.
pub(super) fn encode(
    choice: &Choice<'_>,
    sent: &SentTools<'_, '_, '_>,
    object: &mut Object<'_>,
    cx: &mut EncodeContext<'_>,
) {
    let Choice { mode, subset, parallel, extra } = choice;
    match mode {
        Some(At { pos: _, value: Mode::Auto }) => object.put("must", "free"),
        Some(At { pos: _, value: Mode::None }) => object.put("must", "never"),
        Some(At { pos, value: Mode::Any }) if sent.is_empty() => {
            let note = cx.ledger.refused(*pos, Code::ChoiceTarget);
            note.detail("A tool must be called, and none of them can cross.");
        }
        Some(At { pos: _, value: Mode::Any }) => object.put("must", "some"),
        Some(At { pos: _, value: Mode::Named(wanted) }) => {
            if let Some(name) = wire_name(wanted, sent, cx) {
                object.object("must").put("tool", &name);
            } else {
                cx.ledger.refused(wanted.at, Code::ChoiceTarget);
            }
        }
        Some(At { pos, value: Mode::Other(_) }) => {
            cx.ledger.dropped(*pos, Code::UnknownValue);
        }
        None => {}
    }
    if let Some(Subset { at: _, tools }) = subset {
        let mut only = object.array("only");
        for wanted in tools {
            match wire_name(wanted, sent, cx) {
                Some(name) => only.push(&name),
                None => {
                    cx.ledger.dropped(wanted.at, Code::ChoiceTarget);
                }
            }
        }
    }
    if let Some(parallel) = parallel {
        object.put("alone", &!parallel.value);
    }
    cx.ledger.only(extra);
}

/// The name of a tool toward the target, unless the tool is not sent.
fn wire_name(
    wanted: &ToolRef<'_>,
    sent: &SentTools<'_, '_, '_>,
    cx: &mut EncodeContext<'_>,
) -> Option<String> {
    let ToolRef { at, kind, name, namespace, extra } = wanted;
    cx.ledger.only(extra);
    let own = name.decode();
    let wire = match (sent.find(wanted), kind) {
        (Some((_, sent)), _) => sent?.into_owned(),
        // The upstream says what is wrong with a name that nobody declared.
        (None, ToolRefKind::Function | ToolRefKind::Freeform | ToolRefKind::Any) => {
            let namespace = namespace.as_ref().map(|namespace| namespace.decode());
            cx.names.wire(namespace.as_deref(), &own).into_owned()
        }
        (None, ToolRefKind::Typed | ToolRefKind::Mcp) => return None,
    };
    if namespace.is_some() {
        cx.ledger.emulated(*at, Code::NamespaceFlattened);
    } else if *wire != *own {
        cx.ledger.renamed(*at, Code::ToolName);
    }
    Some(wire)
}
