//! A tool: what the model is told of it, and the function that runs.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolwire::calls::{Input, ToolCall};
use toolwire::registry::Definition;

use crate::arguments::ArgumentCheck;
use crate::output::{IntoOutput, Output};

/// A tool that a model can call.
#[derive(Clone)]
pub struct Tool {
    pub(crate) name: String,
    description: String,
    pub(crate) timeout: Option<Duration>,
    strict: bool,
    kind: ToolKind,
}

#[derive(Clone)]
enum ToolKind {
    Function { schema: Value, run: Function },
    Freeform { run: Freeform },
}

type Function = Arc<dyn Fn(Value, &str) -> Result<Running, String> + Send + Sync>;
type Freeform = Arc<dyn Fn(String) -> Running + Send + Sync>;
/// A tool at work. An error is what the model reads of its failure.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Output, String>> + Send>>;

/// The arguments of a tool that takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct NoArguments {}

impl Tool {
    /// A function whose arguments are a Rust type, which says what the schema is.
    /// The comments on its fields are their descriptions.
    pub fn new<A, F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Future<Output = R> + Send + 'static,
        R: IntoOutput,
    {
        let function = Arc::new(function);
        let run: Function = Arc::new(move |_, json| {
            // Read from the text and not from the value, whose numbers are rounded.
            let json = if json.trim().is_empty() { "{}" } else { json };
            let arguments = serde_json::from_str(json)
                .map_err(|error| format!("the arguments do not fit: {error}"))?;
            Ok(running(&function, arguments))
        });
        Self::of(name, description, ToolKind::Function { schema: schema_of::<A>(), run })
    }

    /// A function with a JSON Schema that is given, whose arguments are any JSON.
    pub fn with_schema<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        function: impl Fn(Value) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoOutput,
    {
        let function = Arc::new(function);
        let run: Function = Arc::new(move |arguments, _| Ok(running(&function, arguments)));
        Self::of(name, description, ToolKind::Function { schema, run })
    }

    /// A tool that takes any text. A protocol that has no such tools is offered a
    /// function with one argument, `input`.
    pub fn freeform<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(String) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoOutput,
    {
        let function = Arc::new(function);
        let run: Freeform = Arc::new(move |text| running(&function, text));
        Self::of(name, description, ToolKind::Freeform { run })
    }

    /// How long a call of this tool may take, instead of the runner's own limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Asks the model's API to make the arguments fit the schema exactly.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    fn of(name: impl Into<String>, description: impl Into<String>, kind: ToolKind) -> Self {
        let (name, description) = (name.into(), description.into());
        Self { name, description, timeout: None, strict: false, kind }
    }

    /// What the model is told of it.
    pub(crate) fn definition(&self) -> Definition {
        let definition = match &self.kind {
            ToolKind::Function { schema, run: _ } => {
                Definition::function(&self.name).schema(schema.to_string())
            }
            ToolKind::Freeform { run: _ } => Definition::freeform(&self.name),
        };
        let definition = definition.description(&self.description);
        if self.strict { definition.strict() } else { definition }
    }

    /// What its arguments are checked against. A freeform tool takes any text.
    pub(crate) fn check(&self) -> Result<Option<ArgumentCheck>, String> {
        match &self.kind {
            ToolKind::Function { schema, run: _ } => ArgumentCheck::new(schema).map(Some),
            ToolKind::Freeform { run: _ } => Ok(None),
        }
    }

    /// Begins a call. Nothing runs before what it returns is polled.
    pub(crate) fn begin(
        &self,
        call: &ToolCall,
        check: Option<&ArgumentCheck>,
    ) -> Result<Running, String> {
        match (&self.kind, &call.input) {
            (ToolKind::Function { schema: _, run }, Input::Arguments(json)) => {
                let arguments = check.map_or(Ok(Value::Null), |check| check.parse(json))?;
                run(arguments, json)
            }
            (ToolKind::Freeform { run }, Input::Freeform(text)) => Ok(run(text.clone())),
            (ToolKind::Freeform { run }, Input::Arguments(json)) => {
                let arguments: Value = serde_json::from_str(json).unwrap_or_default();
                let text = arguments.get("input").and_then(Value::as_str);
                let text = text.ok_or("the arguments must be an object with the text `input`")?;
                Ok(run(text.to_owned()))
            }
            (ToolKind::Function { schema: _, run: _ }, Input::Freeform(_)) => {
                Err("the tool takes JSON, not text".to_owned())
            }
            (_, _) => Err("the tool does not take such a call".to_owned()),
        }
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Nothing of the function runs before this is polled, so that a call which is
/// not approved leaves no trace.
fn running<A, F, R>(
    function: &Arc<impl Fn(A) -> F + Send + Sync + 'static>,
    arguments: A,
) -> Running
where
    A: Send + 'static,
    F: Future<Output = R> + Send + 'static,
    R: IntoOutput,
{
    let function = Arc::clone(function);
    Box::pin(async move { function(arguments).await.into_output() })
}

/// The schema of a type, without what says nothing to a model.
fn schema_of<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.remove("title");
    let mut schema = Value::from(schema);
    if let Some(object) = schema.as_object_mut()
        && object.get("type").is_some_and(|kind| kind == "object")
    {
        object.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}
