//! The tools of one request as one target gets them.
//!
//! Which tools cross, under which name and in which shape is decided here once,
//! so that definitions, choices, calls in the history and the way back agree.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::ledger::Code;
use crate::media::blocks::{self, Change};
use crate::model::{
    HostedClass, Item, NativeKind, Protocol, Request, Tool, ToolKind, ToolRef, ToolRefKind, Turn,
};
use crate::profile::Profile;
use crate::schema::{self, RootChange};
use crate::translate::{KnownTools, WrittenTools};
use crate::wire::Raw;
use crate::wire::names::Names;

/// The tools of a request toward one target.
#[derive(Debug)]
pub struct Toolset<'r, 'a> {
    /// The tools in the order of declaration, members of namespaces one by one.
    pub entries: Vec<Declared<'r, 'a>>,
    /// The namespaces themselves, also those without members.
    pub namespaces: Vec<&'r Tool<'a>>,
    /// The names of the tools toward the target.
    pub names: Names,
    /// The tools that the conversation withdrew and did not offer again, by
    /// their own names. A target that declares tools once does not get them.
    pub withdrawn: BTreeSet<String>,
    /// All tools as the target gets them, if that is known and they cross as they are.
    pub(crate) written: Option<WrittenTools>,
}

/// A tool, where it was declared and how it crosses.
#[derive(Debug)]
pub struct Declared<'r, 'a> {
    /// The tool.
    pub tool: &'r Tool<'a>,
    /// The namespace it is a member of.
    pub namespace: Option<&'r Tool<'a>>,
    /// Whether it was declared in the middle of the conversation.
    pub inline: bool,
    /// How it crosses.
    pub crossing: ToolMapping,
    /// The root of its schema, once somebody has asked for it.
    #[doc(hidden)]
    pub root: OnceCell<SchemaRoot<'r>>,
}

/// The schema of a function with a root that every protocol accepts, if the
/// function has a schema, and what was done to it.
#[doc(hidden)]
pub type SchemaRoot<'r> = (Option<Raw<'r>>, Option<RootChange>);

/// How a tool crosses to a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolMapping {
    /// The target has such tools.
    Same,
    /// A freeform tool, as a function of one text.
    Freeform,
    /// A tool whose shape its vendor fixed, as a function.
    Native(NativeKind),
    /// A hosted tool, as the target's own of the same class.
    Hosted(HostedClass),
    /// Not at all.
    Dropped(Code),
}

impl<'r, 'a> Toolset<'r, 'a> {
    /// The tools of a request toward an upstream.
    pub fn new(request: &'r Request<'a>, profile: &Profile) -> Self {
        Self::of_known(request, profile, None)
    }

    /// The same, if the tools may be a list that came before.
    pub(crate) fn of_known(
        request: &'r Request<'a>,
        profile: &Profile,
        known: Option<&KnownTools>,
    ) -> Self {
        let mut set = Self::with_room(request.tools.len());
        set.declare(&request.tools, request.origin, profile, false);
        if profile.protocol != request.origin {
            for tools in inline_tools(&request.turns) {
                set.declare(tools, request.origin, profile, true);
            }
            set.withdraw(&request.turns);
        }
        // Nothing was declared or withdrawn in the middle of the conversation.
        if set.entries.len() == request.tools.len() && set.withdrawn.is_empty() {
            set.written = known.and_then(|known| known.written(&request.tools, profile));
        }
        match set.written {
            Some(_) => set.names = Names::kept(profile.names),
            None => set.name(profile),
        }
        set
    }

    /// A bare list of tools toward an upstream.
    pub fn of_list(tools: &'r [Tool<'a>], origin: Protocol, profile: &Profile) -> Self {
        let mut set = Self::with_room(tools.len());
        set.declare(tools, origin, profile, false);
        set.name(profile);
        set
    }

    /// The tool's name toward the target.
    pub fn wire_name<'n>(&self, namespace: Option<&str>, name: &'n str) -> Cow<'n, str> {
        self.names.wire(namespace, name)
    }

    /// The declared tool that a choice means.
    pub fn find(&self, wanted: &ToolRef<'_>) -> Option<&Declared<'r, 'a>> {
        self.entries.iter().find(|declared| declared.is(wanted))
    }

    /// A way to find many tools without looking at every tool for each.
    pub fn finder(&self) -> Finder<'_, 'r, 'a> {
        let mut finder = Finder {
            entries: &self.entries,
            named: BTreeMap::new(),
            spaced: BTreeMap::new(),
            typed: BTreeMap::new(),
        };
        for (index, declared) in self.entries.iter().enumerate() {
            finder.add(index, declared);
        }
        finder
    }

    /// Whether any tool is left for the model to call.
    pub fn is_empty(&self) -> bool {
        !self.entries.iter().any(|declared| declared.crosses())
    }

    fn with_room(tools: usize) -> Self {
        let entries = Vec::with_capacity(tools);
        let (names, withdrawn) = (Names::default(), BTreeSet::new());
        Self { entries, namespaces: Vec::new(), names, withdrawn, written: None }
    }

    /// Takes out the tools that the conversation withdrew for good.
    fn withdraw(&mut self, turns: &[Turn<'_>]) {
        for item in turns.iter().flat_map(|turn| &turn.items) {
            if let Item::Tools(tools) = item
                && !self.withdrawn.is_empty()
            {
                for tool in tools {
                    self.withdrawn.remove(tool.name.decode().as_ref());
                }
            } else if let Item::Opaque(opaque) = item
                && opaque.code() == Code::ToolPosition
            {
                match blocks::change(&opaque.raw) {
                    Some(Change::Offered(name)) => {
                        self.withdrawn.remove(name.decode().as_ref());
                    }
                    Some(Change::Withdrawn(name)) => {
                        self.withdrawn.insert(name.into_decoded().into_owned());
                    }
                    None => {}
                }
            }
        }
        if self.withdrawn.is_empty() {
            return;
        }
        for declared in &mut self.entries {
            if self.withdrawn.contains(declared.tool.name.decode().as_ref()) {
                declared.crossing = ToolMapping::Dropped(Code::ToolPosition);
            }
        }
    }

    fn declare(
        &mut self,
        tools: &'r [Tool<'a>],
        origin: Protocol,
        profile: &Profile,
        inline: bool,
    ) {
        for tool in tools {
            if let ToolKind::Namespace { tools } = &tool.kind {
                self.namespaces.push(tool);
                for member in tools {
                    let crossing = ToolMapping::of(member, origin, profile);
                    let (namespace, root) = (Some(tool), OnceCell::new());
                    self.entries.push(Declared { tool: member, namespace, inline, crossing, root });
                }
            } else {
                let crossing = ToolMapping::of(tool, origin, profile);
                let (namespace, root) = (None, OnceCell::new());
                self.entries.push(Declared { tool, namespace, inline, crossing, root });
            }
        }
    }

    fn name(&mut self, profile: &Profile) {
        // Where the target has namespaces, members keep their names.
        let flat = !profile.namespaces;
        let named = self.entries.iter().filter(|declared| declared.crosses()).map(|declared| {
            let namespace =
                declared.namespace.filter(|_| flat).map(|namespace| namespace.name.decode());
            (namespace, declared.tool.name.decode())
        });
        self.names = Names::new(profile.names, named);
    }
}

impl<'r> Declared<'r, '_> {
    /// The root of its schema. Finding out whether it is fine takes a look at all
    /// of the schema, so that is done once.
    pub(crate) fn schema_root(&self) -> &SchemaRoot<'r> {
        self.root.get_or_init(|| match &self.tool.kind {
            ToolKind::Function { schema: Some(schema) } => {
                let (root, change) = schema::root(Some(schema));
                (Some(root), change)
            }
            ToolKind::Function { schema: None }
            | ToolKind::Freeform { grammar: _ }
            | ToolKind::Namespace { tools: _ }
            | ToolKind::Native(_)
            | ToolKind::Hosted(_)
            | ToolKind::Unknown(_) => (None, None),
        })
    }

    /// Whether the target gets the tool at all.
    pub fn crosses(&self) -> bool {
        self.crossing.loss().is_none()
    }

    fn is(&self, wanted: &ToolRef<'_>) -> bool {
        let same_space = match (&wanted.namespace, self.namespace) {
            (Some(wanted), Some(namespace)) => *wanted == namespace.name,
            (Some(_), None) => false,
            (None, _) => true,
        };
        match wanted.kind {
            ToolRefKind::Function | ToolRefKind::Freeform | ToolRefKind::Any => {
                same_space && self.tool.name == wanted.name
            }
            ToolRefKind::Typed | ToolRefKind::Mcp => match &self.tool.kind {
                ToolKind::Native(native) => native.kind_text == wanted.name,
                ToolKind::Hosted(hosted) => {
                    hosted.kind_text == wanted.name || self.tool.name == wanted.name
                }
                ToolKind::Function { .. }
                | ToolKind::Freeform { .. }
                | ToolKind::Namespace { .. }
                | ToolKind::Unknown(_) => self.tool.name == wanted.name,
            },
        }
    }
}

/// Finds what [`Toolset::find`] does, for choices that name many tools.
#[derive(Debug)]
pub struct Finder<'t, 'r, 'a> {
    entries: &'t [Declared<'r, 'a>],
    named: BTreeMap<Cow<'t, str>, usize>,
    spaced: BTreeMap<(Cow<'t, str>, Cow<'t, str>), usize>,
    typed: BTreeMap<Cow<'t, str>, usize>,
}

impl<'t, 'r, 'a> Finder<'t, 'r, 'a> {
    /// The declared tool that a choice means.
    pub fn find(&self, wanted: &ToolRef<'_>) -> Option<&'t Declared<'r, 'a>> {
        self.entries.get(self.index(wanted)?)
    }

    /// Where the declared tool that a choice means stands among the tools.
    pub fn index(&self, wanted: &ToolRef<'_>) -> Option<usize> {
        let name = wanted.name.decode();
        let found = match (wanted.kind, &wanted.namespace) {
            (ToolRefKind::Typed | ToolRefKind::Mcp, _) => self.typed.get(&name),
            (ToolRefKind::Function | ToolRefKind::Freeform | ToolRefKind::Any, None) => {
                self.named.get(&name)
            }
            (ToolRefKind::Function | ToolRefKind::Freeform | ToolRefKind::Any, Some(space)) => {
                self.spaced.get(&(space.decode(), name))
            }
        };
        found.copied()
    }

    /// Of several tools that a choice could mean, the first counts.
    fn add(&mut self, index: usize, declared: &'t Declared<'r, 'a>) {
        let tool = declared.tool;
        self.named.entry(tool.name.decode()).or_insert(index);
        if let Some(namespace) = declared.namespace {
            let key = (namespace.name.decode(), tool.name.decode());
            self.spaced.entry(key).or_insert(index);
        }
        match &tool.kind {
            ToolKind::Native(native) => {
                self.typed.entry(native.kind_text.decode()).or_insert(index);
            }
            ToolKind::Hosted(hosted) => {
                self.typed.entry(hosted.kind_text.decode()).or_insert(index);
                self.typed.entry(tool.name.decode()).or_insert(index);
            }
            ToolKind::Function { .. }
            | ToolKind::Freeform { .. }
            | ToolKind::Namespace { .. }
            | ToolKind::Unknown(_) => {
                self.typed.entry(tool.name.decode()).or_insert(index);
            }
        }
    }
}

impl ToolMapping {
    /// How a tool read from `origin` crosses to an upstream.
    pub fn of(tool: &Tool<'_>, origin: Protocol, profile: &Profile) -> Self {
        let target = profile.protocol;
        match &tool.kind {
            ToolKind::Function { schema: _ } => Self::Same,
            ToolKind::Freeform { grammar: _ } if profile.freeform_tools => Self::Same,
            ToolKind::Freeform { grammar: _ } => Self::Freeform,
            ToolKind::Native(_)
            | ToolKind::Hosted(_)
            | ToolKind::Unknown(_)
            | ToolKind::Namespace { .. }
                if origin == target && profile.tool_calls.is_native() =>
            {
                Self::Same
            }
            ToolKind::Native(native) if native.kind == NativeKind::Computer => {
                Self::Dropped(Code::ComputerTool)
            }
            ToolKind::Native(native) => Self::Native(native.kind),
            ToolKind::Hosted(hosted) => Self::hosted(hosted.class, profile),
            ToolKind::Namespace { .. } | ToolKind::Unknown(_) => Self::Dropped(Code::UnknownTool),
        }
    }

    /// Why the tool does not cross, if it does not.
    pub(crate) fn loss(&self) -> Option<&Code> {
        if let Self::Dropped(code) = self { Some(code) } else { None }
    }

    fn hosted(class: HostedClass, profile: &Profile) -> Self {
        match class {
            HostedClass::WebSearch if profile.web_search => Self::Hosted(class),
            HostedClass::ToolSearch if profile.tool_search => Self::Hosted(class),
            // Without a search every tool is simply there from the start.
            HostedClass::ToolSearch => Self::Dropped(Code::ToolSearch),
            HostedClass::Computer => Self::Dropped(Code::ComputerTool),
            HostedClass::WebSearch
            | HostedClass::WebFetch
            | HostedClass::Code
            | HostedClass::FileSearch
            | HostedClass::ImageGeneration
            | HostedClass::Mcp
            | HostedClass::Advisor
            | HostedClass::Other => Self::Dropped(Code::HostedTool(class)),
        }
    }
}

/// The lists of tools that become known inside a conversation.
fn inline_tools<'r, 'a>(turns: &'r [Turn<'a>]) -> impl Iterator<Item = &'r [Tool<'a>]> {
    let results = |item: &'r Item<'a>| {
        let content = if let Item::Result(result) = item { result.content.as_slice() } else { &[] };
        std::iter::once(item).chain(content)
    };
    let items = turns.iter().flat_map(|turn| &turn.items).flat_map(results);
    items.filter_map(
        |item| if let Item::Tools(tools) = item { Some(tools.as_slice()) } else { None },
    )
}
