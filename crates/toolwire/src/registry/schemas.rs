//! Changes that the registry makes to schemas, in the definitions and in the text
//! that they were read from.

use crate::guess::Fields;
use crate::ledger::{Code, Ledger};
use crate::model::{Tool, ToolKind};
use crate::schema::{self, Edits, Slim};
use crate::wire::{Pos, Reader};

/// Shortens schemas, and adds the empty one where a schema is required.
pub(super) struct SchemaEditor<'e> {
    pub(super) source: &'e str,
    pub(super) slim: &'e Slim,
    /// The member for the schema, if functions must have one.
    pub(super) required: Option<&'static str>,
    pub(super) ledger: &'e mut Ledger,
    pub(super) edits: Edits,
}

impl SchemaEditor<'_> {
    /// Changes the schemas of definitions that were read from the source.
    pub(super) fn edit(&mut self, tools: &mut [Tool<'_>]) {
        for tool in tools {
            match (&mut tool.kind, self.required) {
                (ToolKind::Function { schema: Some(schema) }, _) => {
                    let slimmed = schema::slim(schema, self.slim, self.ledger).into_owned();
                    if let Some(at) = schema.pos().offset() {
                        self.edits.replace(at..at + schema.text().len(), slimmed.text());
                    }
                    *schema = slimmed;
                }
                (ToolKind::Function { schema: None }, Some(name)) => self.add(tool.at, name),
                (ToolKind::Namespace { tools }, _) => self.edit(tools),
                (
                    ToolKind::Function { schema: None }
                    | ToolKind::Freeform { grammar: _ }
                    | ToolKind::Native(_)
                    | ToolKind::Hosted(_)
                    | ToolKind::Unknown(_),
                    _,
                ) => {}
            }
        }
    }

    /// The source with the changes.
    pub(super) fn into_text(self) -> String {
        self.edits.apply(self.source)
    }

    /// Adds the empty schema to the definition at `pos`, or replaces `null` by
    /// it.
    fn add(&mut self, pos: Pos, name: &str) {
        self.ledger.emulated(pos, Code::SchemaEmpty);
        let start = pos.offset().unwrap_or_default();
        let source = self.source.get(start..).unwrap_or_default();
        let Ok(tool) = Reader::new(source).raw() else { return };
        let Some(fields) = Fields::of(&tool) else { return };
        let null = fields.iter().find(|field| field.key == *name).map(|field| &field.value);
        if let Some((null, at)) = null.and_then(|null| Some((null, null.pos().offset()?))) {
            self.edits.replace(start + at..start + at + null.text().len(), schema::EMPTY);
        } else {
            let end = start + tool.text().len() - 1;
            self.edits.replace(end..end, format!(",\"{name}\":{}", schema::EMPTY));
        }
    }
}
