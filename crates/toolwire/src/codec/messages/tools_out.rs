//! Tool definitions of other protocols, as Messages takes them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::content_out::{Pen, write_joined};
use super::tools_in::encode_own;
use crate::codec::sent_tools::SentTools;
use crate::ledger::Code;
use crate::model::{Grammar, HostedClass, Native, NativeKind, Tool, ToolKind};
use crate::native;
use crate::profile::Profile;
use crate::schema::{self, RootChange};
use crate::toolset::{Declared, ToolMapping};
use crate::wire::{Array, At, Extra, Kind, Object, Pos, Raw, Read, Str, read_fields};

/// Messages' hosted tools that stand for another vendor's, in the version that
/// every deployment knows.
fn hosted_type(class: HostedClass) -> Option<(&'static str, &'static str)> {
    match class {
        HostedClass::WebSearch => Some(("web_search_20250305", "web_search")),
        HostedClass::ToolSearch => {
            Some(("tool_search_tool_bm25_20251119", "tool_search_tool_bm25"))
        }
        HostedClass::WebFetch
        | HostedClass::Code
        | HostedClass::FileSearch
        | HostedClass::ImageGeneration
        | HostedClass::Mcp
        | HostedClass::Computer
        | HostedClass::Advisor
        | HostedClass::Other => None,
    }
}

/// The name of a hosted tool of Messages that stands for another vendor's.
pub(super) fn hosted_name(class: HostedClass) -> Option<&'static str> {
    hosted_type(class).map(|(_, name)| name)
}

/// Writes the tools of another protocol and gives the names of those whose
/// arguments are wrapped, since their schema is not of an object.
pub(super) fn encode(
    sent: &SentTools<'_, '_, '_>,
    profile: &Profile,
    out: &mut Vec<u8>,
    pen: &mut Pen<'_>,
) -> BTreeSet<String> {
    let searches = |(declared, _): (&Declared<'_, '_>, _)| {
        declared.crossing == ToolMapping::Hosted(HostedClass::ToolSearch)
    };
    let search = sent.iter().any(searches);
    let mut tools = Tools { array: Array::new(out), profile, search, wrapped: BTreeSet::new() };
    for (declared, name) in sent.iter() {
        tools.tool(declared, name, pen);
    }
    tools.wrapped
}

struct Tools<'x> {
    array: Array<'x>,
    profile: &'x Profile,
    /// Whether there is a tool search, without which no tool may be deferred.
    search: bool,
    wrapped: BTreeSet<String>,
}

impl Tools<'_> {
    fn tool(&mut self, declared: &Declared<'_, '_>, name: &str, pen: &mut Pen<'_>) {
        let Declared { tool, namespace, inline, crossing } = declared;
        if *inline {
            pen.ledger.moved(tool.at, Code::ToolPosition);
        }
        if namespace.is_some() {
            pen.ledger.emulated(tool.at, Code::NamespaceFlattened);
        } else if tool.name != *name && !matches!(crossing, ToolMapping::Hosted(_)) {
            pen.ledger.renamed(tool.name.pos(), Code::ToolName);
        }
        match crossing {
            ToolMapping::Hosted(class) => return self.hosted(tool, *class, pen),
            ToolMapping::Native(kind) => return self.native(tool, *kind, name, pen),
            ToolMapping::Same | ToolMapping::Freeform => {}
            ToolMapping::Dropped(_) => return,
        }
        match &tool.kind {
            ToolKind::Function { schema } => {
                let (schema, change) = input_schema(tool, schema.as_ref(), pen);
                if change == Some(RootChange::Wrapped) {
                    self.wrapped.insert(name.to_owned());
                }
                let words = described(tool, *namespace, Vec::new());
                self.entry(tool, name, &words, &schema, pen, &tool.extra);
            }
            ToolKind::Freeform { grammar } => {
                pen.ledger.emulated(tool.at, Code::FreeformWrapped);
                let mut suffix = vec![Cow::Borrowed(FREEFORM_SUFFIX)];
                if let Some(Grammar { at, syntax, definition, extra }) = grammar {
                    pen.ledger.degraded(*at, Code::GrammarUnenforced);
                    pen.ledger.only(extra);
                    let syntax = syntax.as_ref().map_or(Cow::Borrowed(""), Str::decode);
                    let grammar = definition.as_ref().map_or(Cow::Borrowed(""), Str::decode);
                    let told = format!("\n\nThe text must match this {syntax} grammar:\n{grammar}");
                    suffix.push(Cow::Owned(told));
                }
                let words = described(tool, *namespace, suffix);
                let schema = Raw::made(FREEFORM_SCHEMA);
                self.entry(tool, name, &words, &schema, pen, &tool.extra);
            }
            ToolKind::Namespace { tools: _ }
            | ToolKind::Native(_)
            | ToolKind::Hosted(_)
            | ToolKind::Unknown(_) => encode_own(tool, self.array.item(), pen),
        }
    }

    fn entry(
        &mut self,
        tool: &Tool<'_>,
        name: &str,
        words: &Words<'_>,
        schema: &Raw<'_>,
        pen: &mut Pen<'_>,
        extra: &[Extra<'_>],
    ) {
        let Tool {
            at: _,
            name: _,
            description: _,
            kind: _,
            strict,
            defer,
            callers,
            examples,
            output_schema,
            deferred_result,
            eager,
            cache,
            extra: _,
        } = tool;
        let mut object = self.array.object();
        object.put("name", name);
        if !words.is_empty() {
            words.write(object.key("description"));
        }
        object.put("input_schema", schema);
        match strict {
            Some(At { pos: _, value: true })
                if self.profile.strict && schema::fits_anthropic_strict(schema) =>
            {
                object.put("strict", &true);
            }
            Some(At { pos, value: true }) => {
                pen.ledger.degraded(*pos, Code::StrictDowngraded);
            }
            // The target is not strict unless asked to be.
            Some(At { pos: _, value: false }) | None => {}
        }
        match defer {
            Some(defer) if self.search || !defer.value => object.put("defer_loading", &defer.value),
            Some(defer) => {
                pen.ledger.dropped(defer.pos, Code::DeferLoading);
            }
            None => {}
        }
        if let Some(callers) = callers {
            let note = pen.ledger.dropped(callers.pos(), Code::ProgrammaticCallers);
            if is_direct_only(callers) {
                note.info();
            }
        }
        object.maybe("input_examples", examples.as_ref());
        if let Some(schema) = output_schema {
            pen.ledger.dropped(schema.pos(), Code::OutputSchema);
        }
        match deferred_result {
            Some(At { pos, value: true }) => {
                pen.ledger.dropped(*pos, Code::AsyncTool);
            }
            Some(At { pos, value: false }) => {
                let note = pen.ledger.emulated(*pos, Code::AsyncTool);
                note.detail("The target expects every result at once.");
            }
            None => {}
        }
        object.maybe("eager_input_streaming", eager.as_ref());
        pen.cache(&mut object, cache.as_ref());
        pen.ledger.only(extra);
    }

    fn native(&mut self, tool: &Tool<'_>, kind: NativeKind, name: &str, pen: &mut Pen<'_>) {
        let ToolKind::Native(Native { kind: _, kind_text }) = &tool.kind else { return };
        let Some(native::Function { description, schema }) =
            native::function(kind, &kind_text.decode())
        else {
            pen.ledger.dropped(tool.at, Code::UnknownTool);
            return;
        };
        pen.ledger.emulated(tool.at, Code::NativeToolWrapped);
        let own = tool.description.as_ref().map(Str::borrowed);
        let words = Words { text: Some(own.unwrap_or(Str::plain(description))), parts: Vec::new() };
        // A search that the client runs brings its own schema, and says by
        // `execution` that the client runs it.
        let searches = kind == NativeKind::ToolSearch;
        let of_search = |field: &&Extra<'_>| searches && field.key == *"parameters";
        let schema = match tool.extra.iter().find(of_search) {
            Some(field) => input_schema(tool, Some(&field.value), pen).0,
            None => Raw::made(schema),
        };
        let known = |field: &Extra<'_>| {
            searches && (field.key == *"parameters" || field.key == *"execution")
        };
        let rest: Vec<Extra<'_>> =
            tool.extra.iter().filter(|field| !known(field)).cloned().collect();
        self.entry(tool, name, &words, &schema, pen, &rest);
    }

    fn hosted(&mut self, tool: &Tool<'_>, class: HostedClass, pen: &mut Pen<'_>) {
        let Some((kind, name)) = hosted_type(class) else {
            pen.ledger.dropped(tool.at, Code::HostedTool(class));
            return;
        };
        let Tool {
            at,
            name: _,
            description,
            kind: _,
            strict: _,
            defer: _,
            callers: _,
            examples: _,
            output_schema: _,
            deferred_result: _,
            eager: _,
            cache,
            extra,
        } = tool;
        let note = pen.ledger.emulated(*at, Code::HostedTool(class));
        note.detail(HOSTED_STAND_IN);
        if let Some(description) = description {
            pen.ledger.dropped(description.pos(), Code::Only("description".to_owned())).info();
        }
        let mut object = self.array.object();
        object.put("type", kind);
        object.put("name", name);
        for field in extra.iter().filter(|field| field.value.kind() != Kind::Null) {
            match (class, field.key.decode().as_ref()) {
                (HostedClass::WebSearch, "filters") => filters(&field.value, &mut object, pen),
                (HostedClass::WebSearch, "user_location") => {
                    user_location(&field.value, &mut object, pen);
                }
                (HostedClass::WebSearch, _other) => {
                    pen.ledger.dropped(field.value.pos(), Code::WebSearchOption);
                }
                // The target's search runs at the vendor's, as this one does.
                (HostedClass::ToolSearch, "execution") => {}
                (_class, _other) => pen.ledger.only(std::slice::from_ref(field)),
            }
        }
        pen.cache(&mut object, cache.as_ref());
    }
}

fn filters(filters: &Raw<'_>, object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let Ok(fields) = read_fields(&mut filters.reader()) else {
        pen.ledger.dropped(filters.pos(), Code::WebSearchOption);
        return;
    };
    for field in &fields {
        match field.key.decode().as_ref() {
            // The API refuses both lists at once, so only the first is sent.
            "allowed_domains" if field.value.kind() == Kind::Array => {
                if !field.value.is_empty() {
                    object.put("allowed_domains", &field.value);
                }
            }
            "allowed_domains" if field.value.kind() == Kind::Null => {}
            _other => {
                pen.ledger.dropped(field.value.pos(), Code::WebSearchOption);
            }
        }
    }
}

/// OpenAI's location is Messages' in Responses, and one level deeper in Chat.
fn user_location(location: &Raw<'_>, object: &mut Object<'_>, pen: &mut Pen<'_>) {
    let Ok(fields) = read_fields(&mut location.reader()) else {
        pen.ledger.dropped(location.pos(), Code::WebSearchOption);
        return;
    };
    let inner = fields.iter().find(|field| field.key == *"approximate");
    let mut target = object.object("user_location");
    target.put("type", "approximate");
    let nested = inner.map(|field| read_fields(&mut field.value.reader()));
    let members = match &nested {
        Some(Ok(members)) => members,
        Some(Err(_)) | None => &fields,
    };
    for field in members {
        match field.key.decode().as_ref() {
            "type" => {}
            "city" | "country" | "region" | "timezone" => {
                if field.value.kind() != Kind::Null {
                    target.extra(std::slice::from_ref(field));
                }
            }
            _other => {
                pen.ledger.dropped(field.value.pos(), Code::WebSearchOption);
            }
        }
    }
}

/// The schema of a tool's arguments as Messages accepts it.
fn input_schema<'s>(
    tool: &Tool<'_>,
    own: Option<&'s Raw<'_>>,
    pen: &mut Pen<'_>,
) -> (Raw<'s>, Option<RootChange>) {
    // One such name makes the vendor refuse all tools, with a message that
    // names neither the tool nor the property in the client's words.
    if let Some(property) = own.and_then(schema::property_names) {
        let note = pen.ledger.refused(property.pos(), Code::SchemaProperty);
        let (property, tool) = (property.decode(), tool.name.decode());
        note.detail(format!(
            "The target refuses the property name {property:?} of the tool {tool:?}: it takes 1 to 64 letters, digits, `_`, `.` and `-`."
        ));
    }
    let (schema, change) = schema::root(own);
    note_root(own.map_or(tool.at, Raw::pos), change, pen);
    match schema::definitions(&schema) {
        Some(moved) => {
            pen.ledger.emulated(schema.pos(), Code::SchemaDefinitions);
            (moved, change)
        }
        None => (schema, change),
    }
}

fn note_root(at: Pos, change: Option<RootChange>, pen: &mut Pen<'_>) {
    match change {
        Some(RootChange::Empty) => {
            pen.ledger.emulated(at, Code::SchemaEmpty);
        }
        Some(RootChange::Typed) => {
            let note = pen.ledger.emulated(at, Code::SchemaEmpty);
            note.detail("The target wants the schema to say that arguments are an object.");
        }
        Some(RootChange::Union) => {
            pen.ledger.degraded(at, Code::SchemaRootUnion);
        }
        Some(RootChange::Wrapped) => {
            pen.ledger.emulated(at, Code::SchemaRootWrapped);
        }
        None => {}
    }
}

fn is_direct_only(callers: &Raw<'_>) -> bool {
    let list = Vec::<Str<'_>>::read(&mut callers.reader());
    list.is_ok_and(|list| list.iter().all(|caller| *caller == *"direct"))
}

/// A description that is put together.
struct Words<'w> {
    text: Option<Str<'w>>,
    parts: Vec<Cow<'w, str>>,
}

impl Words<'_> {
    fn is_empty(&self) -> bool {
        self.text.is_none() && self.parts.is_empty()
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_joined(&self.parts, self.text.as_ref(), out);
    }
}

/// A tool's description, behind that of its namespace and before what toolwire
/// has to tell.
fn described<'w>(
    tool: &'w Tool<'_>,
    namespace: Option<&'w Tool<'_>>,
    mut parts: Vec<Cow<'w, str>>,
) -> Words<'w> {
    let group = namespace.and_then(|namespace| namespace.description.as_ref());
    let own = tool.description.as_ref();
    if let (Some(_), Some(own)) = (group, own) {
        parts.insert(0, Cow::Borrowed("\n\n"));
        parts.insert(1, own.decode());
    }
    let text = group.or(own).map(Str::borrowed);
    if text.is_none()
        && let Some(first) = parts.first_mut()
    {
        *first = Cow::Owned(first.trim_start().to_owned());
    }
    Words { text, parts }
}

pub(super) const HOSTED_STAND_IN: &str = "The target's own tool of the same kind stands for it.";

const FREEFORM_SUFFIX: &str = "\n\nGive the whole text as the one argument `input`.";

const FREEFORM_SCHEMA: &str =
    r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;
