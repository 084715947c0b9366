//! The description of a tool: writing it.

use crate::codec::context::EncodeContext;
use crate::model::{Grammar, ToolKind};
use crate::toolset::{Declared, ToolMapping};
use crate::wire::{Object, Str};

/// The description of a tool as the upstream gets it.
pub(super) enum ToolDescription<'d> {
    None,
    Own(&'d Str<'d>),
    Made(String),
}

impl<'d> ToolDescription<'d> {
    pub(super) fn of(declared: &'d Declared<'_, '_>, cx: &EncodeContext<'_>) -> Self {
        let tool = declared.tool;
        let mut extra = Vec::new();
        if let Some(examples) = &tool.examples
            && cx.profile.examples_in_description
        {
            extra.push(format!("Examples: {}", examples.text()));
        }
        if let ToolKind::Freeform { grammar } = &tool.kind
            && declared.crossing == ToolMapping::Freeform
        {
            extra.push(
                "The property `input` holds the tool's whole input as plain text.".to_owned(),
            );
            if let Some(Grammar { at: _, syntax, definition: Some(definition), extra: _ }) = grammar
            {
                let syntax = syntax.as_ref().map(Str::decode).unwrap_or_default();
                extra.push(format!(
                    "The input must fit this {syntax} grammar:\n{}",
                    definition.decode()
                ));
            }
        }
        let space = declared.namespace.and_then(|namespace| namespace.description.as_ref());
        if space.is_none() && extra.is_empty() {
            return tool.description.as_ref().map_or(Self::None, Self::Own);
        }
        let mut parts: Vec<String> = Vec::new();
        parts.extend(space.map(|text| text.decode().into_owned()));
        parts.extend(tool.description.as_ref().map(|text| text.decode().into_owned()));
        parts.append(&mut extra);
        Self::Made(parts.join("\n\n"))
    }

    pub(super) fn or(self, default: &str) -> Self {
        match self {
            Self::None => Self::Made(default.to_owned()),
            Self::Own(_) | Self::Made(_) => self,
        }
    }

    pub(super) fn put(&self, object: &mut Object<'_>) {
        match self {
            Self::None => {}
            Self::Own(text) => object.put("description", *text),
            Self::Made(text) => object.put("description", text),
        }
    }
}
