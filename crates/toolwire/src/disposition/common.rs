//! Table only: dispositions that several tables share.

use super::Disposition::{self, Carried, Depends, Emulated, Lost, SaysNothing};
use crate::ledger::Code::*;

pub(crate) const NAME: Disposition = Depends(
    &[Carried, Emulated(ToolName)],
    "carried unless the target refuses the name; then a stable one stands for it",
);
pub(crate) const ID: Disposition = Depends(
    &[Carried, Emulated(CallId)],
    "carried unless the target refuses the id; then a stable one stands for it",
);
pub(crate) const ARGUMENTS: Disposition = Depends(
    &[Carried, Lost(ArgumentsNotObject)],
    "carried if they are a JSON object; other text is wrapped in one",
);
pub(crate) const SCHEMALESS: Disposition = Depends(
    &[Carried, Emulated(SchemaEmpty)],
    "a tool without parameters gets the schema of an object without properties",
);
pub(crate) const SCHEMA: Disposition = Depends(
    &[Carried, Emulated(SchemaRootWrapped), Lost(SchemaRootUnion)],
    "carried if its root is an object; a union at the root is merged, anything else wrapped in an object",
);
pub(crate) const STRICT: Disposition = Depends(
    &[Carried, Lost(StrictDowngraded)],
    "carried if the schema fits what the target takes as strict",
);
pub(crate) const OUTPUT_SCHEMA: Disposition = Depends(
    &[Carried, Lost(JsonMode)],
    "carried unless the target refuses it, as it does a recursive one",
);
pub(crate) const STRICT_OUTPUT: Disposition = Depends(
    &[Emulated(FormatName), Lost(JsonMode)],
    "the target always enforces a schema; lost with one that isn't sent",
);
pub(crate) const SUBSET: Disposition = Depends(
    &[Carried, Lost(AllowedToolsFiltered)],
    "only the allowed tools are sent; one alone that must be called is named",
);
pub(crate) const WITHOUT_TOOLS: Disposition =
    Depends(&[Carried, Lost(ChoiceWithoutTools)], "carried if there are tools to choose from");
pub(crate) const FLOOR: Disposition =
    Depends(&[Carried, Lost(MaxTokensFloor)], "raised to 16 if it is lower");
pub(crate) const MOVED: Disposition = Depends(
    &[Lost(ToolPosition), Emulated(NamespaceFlattened)],
    "declared from the start, as if it had been in `tools`",
);
pub(crate) const MOVED_WITH_SCHEMA: Disposition = Depends(
    &[Lost(ToolPosition), Emulated(NamespaceFlattened), Emulated(SchemaEmpty)],
    "declared from the start, as if it had been in `tools`",
);
pub(crate) const MOVED_FREEFORM: Disposition = Depends(
    &[Lost(ToolPosition), Emulated(FreeformWrapped), Emulated(NamespaceFlattened)],
    "declared from the start, as if it had been in `tools`, and as a function",
);
pub(crate) const MOVED_NATIVE: Disposition = Depends(
    &[Lost(ToolPosition), Emulated(NativeToolWrapped)],
    "declared from the start, as if it had been in `tools`, and as a function",
);
pub(crate) const CONSTANT: Disposition = SaysNothing("the same in every answer");
pub(crate) const POSITION: Disposition =
    SaysNothing("a number that only says where something belongs; the target counts its own");
pub(crate) const ITS_ITEM: Disposition =
    SaysNothing("names the item that the event is about, which says the rest");
pub(crate) const PADDING: Disposition = SaysNothing("random text against guessing by length");
pub(crate) const ECHO: Disposition = SaysNothing("repeats the request, which the client has");
pub(crate) const SUM: Disposition = SaysNothing("the sum of the other counts");
pub(crate) const KIND: Disposition = SaysNothing("the kind of what it is in, which is named there");
