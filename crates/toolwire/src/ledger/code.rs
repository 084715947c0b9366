//! Table only: the codes of the ledger, with what each means to a user.

use std::borrow::Cow;
use std::fmt;

use crate::model::HostedClass;
use crate::wire::shorten;

macro_rules! codes {
    ($( $name:ident = $text:literal, $meaning:literal; )*) => {
        /// What a line of the ledger is about.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $( #[doc = $meaning] $name, )*
            /// A hosted tool of this class cannot cross.
            HostedTool(HostedClass),
            /// This field exists in one protocol only.
            Only(String),
            /// So many more places lost something, which are not listed.
            More(usize),
        }

        impl Code {
            /// Every code without a parameter.
            pub const PLAIN: &[Self] = &[$( Self::$name, )*];

            /// What the code means, in a sentence.
            pub fn meaning(&self) -> &'static str {
                match self {
                    $( Self::$name => $meaning, )*
                    Self::HostedTool(_) => "The target cannot run this hosted tool, and it is never turned into one that the client must run.",
                    Self::Only(_) => "The target protocol has no such field.",
                    Self::More(_) => "More was lost than is listed.",
                }
            }
        }

        impl Code {
            /// The code as software gets it.
            pub(crate) fn as_text(&self) -> Cow<'static, str> {
                match self {
                    $( Self::$name => Cow::Borrowed($text), )*
                    Self::HostedTool(class) => Cow::Owned(["hosted_tool:", class.as_str()].concat()),
                    Self::Only(field) => Cow::Owned(["only:", field].concat()),
                    Self::More(_) => Cow::Borrowed("more"),
                }
            }
        }
    };
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_text())
    }
}

impl Code {
    /// The code of a field that exists in one protocol only: that of what it is
    /// about, where other places say the same by a code.
    #[doc(hidden)]
    pub fn of_field(name: &str) -> Self {
        match name {
            "async" => Self::AsyncTool,
            "caller" | "allowed_callers" => Self::ProgrammaticCallers,
            "reasoning.generate_summary" => Self::ReasoningDisplay,
            other => Self::Only(shorten(other, MOST_OF_A_NAME).into_owned()),
        }
    }
}

/// How much of a field's name is repeated. A name is a stranger's text and may
/// be as long as the document.
const MOST_OF_A_NAME: usize = 256;

codes! {
    AllowedToolsFiltered = "cache_prefix", "Only the allowed tools are sent, so a cached prompt prefix with all of them does not match.";
    ArgumentsNotObject = "args_not_object", "The arguments are not a JSON object; they are wrapped as text and unwrapped on the way back.";
    ArgumentsRepaired = "args_repaired", "What the model wrote as the arguments of a call was not quite JSON; it was repaired.";
    ArgumentsTruncated = "args_truncated", "The arguments were cut off; they are closed at the last complete member.";
    ArgumentsUnfit = "args_unfit", "The arguments that the model wrote do not fit the tool's schema.";
    AsyncTool = "async_tool", "The target cannot answer a tool call later.";
    Audio = "audio", "The target takes no audio.";
    Background = "background", "The target cannot answer later.";
    CacheBreakpoint = "cache_breakpoint", "The target has no cache marker at this place.";
    CacheTtl = "cache_ttl", "The target keeps cached prompts for other times; the nearest is used.";
    CallId = "call_id", "The id is not one the target accepts; a stable one stands for it.";
    ChoiceAsked = "choice_asked", "The upstream takes no tools, so the model is only asked for what the choice demands.";
    ChoiceTarget = "choice_target", "The tool that the choice names cannot cross.";
    ChoiceWithoutTools = "choice_without_tools", "The target refuses a tool choice without tools.";
    Citations = "citations", "The target cannot carry these citations.";
    ComputerTool = "computer_tool", "The target has no computer tool of this kind.";
    ContextManagement = "context_management", "The target cannot shorten the context this way.";
    Conversation = "conversation", "The target keeps no conversations.";
    DeferLoading = "defer_loading", "The target loads every tool at once.";
    DeveloperRole = "developer_role", "The target has one level of instructions only.";
    DuplicateResult = "duplicate_result", "The call was answered twice; the last answer counts.";
    Effort = "effort", "The target has no such effort level; the nearest is used.";
    FileId = "file_id", "A file uploaded to one vendor is unknown to another.";
    FormatName = "format_name", "The target gives output schemas no name or description.";
    FormatSchema = "format_schema", "The target's output formats are of closed objects without bounds; the schema was rewritten.";
    FreeformWrapped = "freeform", "The freeform tool crosses as a function of one text and comes back as itself.";
    GrammarUnenforced = "grammar_unenforced", "The target cannot enforce the grammar; it is told to the model in words.";
    HostedHistory = "hosted_history", "What a hosted tool did earlier cannot be replayed to another vendor.";
    ImageDetail = "image_detail", "The target has no setting for how closely to look.";
    Include = "include", "The target cannot include this in its answer.";
    InputExamples = "input_examples", "The target has no examples of arguments.";
    Interleaving = "interleaving", "The target keeps text apart from calls, so their order is lost.";
    IsError = "is_error", "The target has no error flag on results; the text says it.";
    ItemId = "item_id", "The id belongs to another vendor's item.";
    JsonMode = "json_mode", "The target has no JSON mode; only the instructions ask for JSON.";
    LegacyFunctions = "legacy_functions", "Deprecated functions cross as tools and come back as functions.";
    Logprobs = "logprobs", "The target gives no log probabilities.";
    MaxTokensBudget = "max_tokens_budget", "The request had no token limit; the operator's policy set one.";
    MaxTokensDefault = "max_tokens_default", "The target needs a token limit; its default was set.";
    MaxTokensFloor = "max_tokens_floor", "The target refuses limits below its floor; the limit was raised.";
    MaxToolCalls = "max_tool_calls", "The target cannot limit the number of tool calls.";
    MediaType = "media_type", "The target does not take media of this type.";
    MessageBoundary = "message_boundary", "The target joins neighbouring messages.";
    MessageName = "message_name", "The target has no names of speakers.";
    Metadata = "metadata", "The target has no labels.";
    MissingResult = "missing_result", "A call has no result; a result that says so was put in.";
    MultipleAnswers = "multiple_answers", "The target gives one answer per request.";
    NamespaceFlattened = "namespace", "The tool crosses with its namespace in its name and comes back as itself.";
    NativeToolTraining = "native_tool_training", "The target gets the tool as an ordinary function that its model was not trained on.";
    NativeToolWrapped = "native_tool", "The tool crosses as a function and comes back as itself.";
    OrphanResult = "orphan_result", "The result answers no call; it was kept as text.";
    OutputSchema = "output_schema", "The target has no schemas of tool results.";
    Parallel = "parallel", "Several calls at once are what the target does anyway.";
    Paused = "paused", "The model paused; the target protocol cannot say so.";
    Phase = "phase", "The target does not tell commentary from the final answer.";
    Placeholder = "placeholder", "The target refuses an empty message; a placeholder was put in.";
    Prefill = "prefill", "The target does not continue a begun answer.";
    PreviousResponse = "previous_response", "The target keeps no earlier responses.";
    ProgrammaticCallers = "programmatic_callers", "The target does not let programs of the model call tools.";
    PromptCacheKey = "prompt_cache_key", "The target has no cache keys.";
    ReasoningDisplay = "reasoning_display", "The target cannot choose what of the reasoning is shown.";
    ReasoningForeign = "reasoning_foreign", "Sealed reasoning can only go back to the vendor that sealed it.";
    ReasoningUnsigned = "reasoning_unsigned", "The target takes no reasoning without a signature.";
    ResultMoved = "result_moved", "The target wants results right behind their calls; they were moved there.";
    ResultMediaMoved = "result_media_moved", "The target takes only text in results; the media follows in a user message.";
    ResultName = "result_name", "The target does not repeat the tool's name on results.";
    Role = "role", "The target has no such role.";
    Sampling = "sampling", "The target does not take this sampling parameter.";
    SchemaDefinitions = "schema_definitions", "The target resolves references under $defs only; definitions were moved there.";
    SchemaEmpty = "schema_empty", "The target needs a schema; that of an object without properties was put in.";
    SchemaProperty = "schema_property_name", "The target refuses a property name in this schema.";
    SchemaRootUnion = "schema_root_union", "The target refuses a union at the root of a schema; its branches were merged.";
    SchemaRootWrapped = "schema_root", "The schema is not of an object; it crosses as the one property of an object and comes back unwrapped.";
    SchemaSlimmed = "schema_slimmed", "The schema was made shorter, as asked.";
    ServerState = "server_state", "The target keeps nothing between calls.";
    Status = "status", "The target has no item status.";
    Stop = "stop", "The target has no stop texts.";
    StopReason = "stop_reason", "The target has no word for why the model stopped; the nearest is used.";
    StreamOptions = "stream_options", "The target has no such stream option.";
    StrictDowngraded = "strict_downgraded", "The schema does not fit what the target accepts as strict; it is sent without.";
    SystemMerged = "system_merged", "The target has one place for instructions; they were joined.";
    SystemPosition = "system_position", "The target refuses instructions at this place of the conversation.";
    TemperatureClamped = "temperature_clamped", "The target's temperature ends at 1.";
    ThinkingBudget = "thinking_budget", "The target has effort levels, not budgets; the nearest is used.";
    ThinkingMode = "thinking_mode", "The target has no such way of thinking.";
    ThinkingOffForcedTool = "thinking_off_forced_tool", "The target refuses to think when a tool is forced; the tool was kept.";
    Tier = "tier", "The target has no such tier; the nearest is used.";
    ToolsAsText = "tools_as_text", "The upstream takes no tools; they are described to the model, and its calls are read from its text.";
    ToolName = "tool_name", "The name is not one the target accepts; a stable one stands for it.";
    ToolPosition = "tool_position", "The target declares tools at the start only.";
    ToolSearch = "tool_search", "The target has no tool search; every tool is loaded.";
    Truncation = "truncation", "The target does not shorten conversations that are too long.";
    UnknownItem = "unknown_item", "toolwire does not know this kind of item, so it cannot cross.";
    UnknownTool = "unknown_tool", "toolwire does not know this kind of tool, so it cannot cross.";
    UnknownValue = "unknown_value", "The target has no such value.";
    UsageEstimated = "usage_estimated", "The token counts are estimates.";
    UsageDetail = "usage_detail", "The target has no such token count.";
    UsageMissing = "usage_missing", "The upstream sent no token counts.";
    User = "user", "The target has no such user label.";
    Verbosity = "verbosity", "The target has no verbosity.";
    WebSearchOption = "web_search_option", "The target's web search has no such option.";
}
