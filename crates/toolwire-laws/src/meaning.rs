//! What a request says, as a flat list.
//!
//! Every struct of the model is taken apart without `..`: a field that is added
//! to the model must be given a place here before this compiles. That makes the
//! completeness law complete.

use toolwire::model::*;
use toolwire::wire::{At, Extra, Pos, Raw, Str};

/// One thing that a request says.
#[derive(Clone, Debug, PartialEq)]
pub struct Atom {
    /// What it is about, in the model's words.
    pub class: &'static str,
    /// What it says.
    pub value: String,
    /// Where the request says it.
    pub pos: Pos,
}

/// Everything a request says.
pub fn request(request: &Request<'_>) -> Vec<Atom> {
    let mut atoms = Atoms::default();
    let Request {
        origin: _,
        model,
        turns,
        tools,
        tools_at: _,
        echoed: _,
        // The answer's shape; the request says the same either way.
        legacy_functions: _,
        choice,
        thinking,
        output,
        sampling,
        identity,
        cache,
        tier,
        state,
        context_management,
        stream,
        extra,
    } = request;
    atoms.text("model", model.as_ref());
    for turn in turns {
        atoms.turn(turn);
    }
    for tool in tools {
        atoms.tool(tool, None);
    }
    atoms.choice(choice);
    atoms.thinking(thinking);
    atoms.output(output);
    atoms.sampling(sampling);
    let Identity { end_user, user, metadata, metadata_extra, cache_key } = identity;
    atoms.text("user", end_user.as_ref());
    atoms.text("user", user.as_ref());
    atoms.raw("metadata", metadata.as_ref());
    atoms.extra(metadata_extra);
    atoms.text("cache_key", cache_key.as_ref());
    atoms.cache(cache.as_ref());
    atoms.text("tier", tier.as_ref());
    let ServerState { store, previous, conversation, background, include, truncation } = state;
    atoms.at("store", store.as_ref());
    atoms.text("previous", previous.as_ref());
    atoms.raw("conversation", conversation.as_ref());
    atoms.at("background", background.as_ref());
    for word in include {
        atoms.text("include", Some(word));
    }
    atoms.text("truncation", truncation.as_ref());
    atoms.raw("context_management", context_management.as_ref());
    let Stream { on, usage, obfuscation, extra: stream_extra } = stream;
    atoms.at("stream", on.as_ref());
    atoms.at("stream.usage", usage.as_ref());
    atoms.at("stream.obfuscation", obfuscation.as_ref());
    atoms.extra(stream_extra);
    atoms.extra(extra);
    atoms.0
}

#[derive(Default)]
struct Atoms(Vec<Atom>);

impl Atoms {
    fn add(&mut self, class: &'static str, value: impl Into<String>, pos: Pos) {
        self.0.push(Atom { class, value: value.into(), pos });
    }

    fn text(&mut self, class: &'static str, text: Option<&Str<'_>>) {
        if let Some(text) = text {
            self.add(class, text.decode(), text.pos());
        }
    }

    fn raw(&mut self, class: &'static str, raw: Option<&Raw<'_>>) {
        if let Some(raw) = raw {
            self.add(class, raw.text(), raw.pos());
        }
    }

    fn at<T: std::fmt::Debug>(&mut self, class: &'static str, value: Option<&At<T>>) {
        if let Some(value) = value {
            self.add(class, format!("{:?}", value.value), value.pos);
        }
    }

    fn extra(&mut self, fields: &[Extra<'_>]) {
        // An explicit null means the same as no field at all.
        for Extra { key, value } in fields.iter().filter(|field| field.value.text() != "null") {
            self.add("extra", format!("{}={}", key.decode(), value.text()), value.pos());
        }
    }

    fn cache(&mut self, cache: Option<&Cache<'_>>) {
        if let Some(Cache { at, ttl, extra }) = cache {
            self.add(
                "cache",
                ttl.as_ref().map(|ttl| ttl.decode().into_owned()).unwrap_or_default(),
                *at,
            );
            // The one kind of marker that Messages has; the marker says it.
            let is_kind =
                |field: &&Extra<'_>| field.key == "type" && field.value.text() == "\"ephemeral\"";
            for field in extra.iter().filter(|field| !is_kind(field)) {
                self.extra(std::slice::from_ref(field));
            }
        }
    }

    fn turn(&mut self, turn: &Turn<'_>) {
        let Turn { at: _, role, slot: _, items, id, name, status, phase, extra } = turn;
        // Who speaks is part of what is said: the class of every item says it.
        let speaker = match role {
            Role::System | Role::Developer => Speaker::System,
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
            Role::Other(word) => {
                self.text("role", Some(word));
                Speaker::User
            }
        };
        for item in items {
            self.item(item, speaker);
        }
        self.text("turn.id", id.as_ref());
        self.text("turn.name", name.as_ref());
        self.text("turn.status", status.as_ref());
        self.text("turn.phase", phase.as_ref());
        self.extra(extra);
    }

    fn item(&mut self, item: &Item<'_>, speaker: Speaker) {
        match item {
            Item::Text(Text { at: _, text, citations, logprobs, cache, extra }) => {
                // An empty text says nothing.
                self.text(speaker.text(), Some(text).filter(|text| !text.is_empty()));
                self.raw("citations", citations.as_ref().filter(|list| !list.is_empty()));
                self.raw("logprobs", logprobs.as_ref().filter(|list| !list.is_empty()));
                self.cache(cache.as_ref());
                self.extra(extra);
            }
            Item::Image(Image { at, source, detail, cache, extra }) => {
                self.source("image", source, *at);
                // What every vendor does without being told.
                self.text("image.detail", detail.as_ref().filter(|detail| **detail != "auto"));
                self.cache(cache.as_ref());
                self.extra(extra);
            }
            Item::Document(Document { at, source, name, context, citations, cache, extra }) => {
                self.source("document", source, *at);
                self.text("document.name", name.as_ref());
                self.text("document.context", context.as_ref());
                self.raw("document.citations", citations.as_ref());
                self.cache(cache.as_ref());
                self.extra(extra);
            }
            Item::Audio(Audio { at: _, data, format, cache, extra }) => {
                self.text("audio.data", data.as_ref());
                self.text("audio.format", format.as_ref());
                self.cache(cache.as_ref());
                self.extra(extra);
            }
            Item::SearchResult(SearchResult {
                at: _,
                source,
                title,
                content,
                citations,
                cache,
                extra,
            }) => {
                self.text("search.source", source.as_ref());
                self.text("search.title", title.as_ref());
                for item in content {
                    self.item(item, speaker);
                }
                self.raw("search.citations", citations.as_ref());
                self.cache(cache.as_ref());
                self.extra(extra);
            }
            Item::Refusal(Refusal { at: _, text, extra }) => {
                self.text("refusal", Some(text));
                self.extra(extra);
            }
            Item::Reasoning(reasoning) => self.reasoning(reasoning),
            Item::Call(call) => self.call(call),
            Item::Result(result) => self.result(result),
            Item::Hosted(HostedItem { class: _, raw }) => self.raw("hosted", Some(raw)),
            Item::Tools(tools) => {
                for tool in tools {
                    self.tool(tool, None);
                }
            }
            Item::ToolReference(name) => self.text("tool_reference", Some(&name.value)),
            Item::Json(raw) => self.raw("json", Some(raw)),
            Item::Opaque(Opaque { kind: _, raw }) => self.raw("opaque", Some(raw)),
        }
    }

    fn source(&mut self, class: &'static str, source: &Source<'_>, at: Pos) {
        match source {
            Source::Url(url) => self.add(class, url.decode(), at),
            Source::Base64 { media, data } => {
                self.add(class, format!("{}:{}", media.decode(), data.decode()), at)
            }
            Source::File(id) => self.add(class, id.decode(), at),
            Source::Text { media: _, data } => self.add(class, data.decode(), at),
            Source::Other(raw) => self.add(class, raw.text(), at),
        }
    }

    fn reasoning(&mut self, reasoning: &Reasoning<'_>) {
        let Reasoning { at, summary, content, sealed, place: _, extra } = reasoning;
        for text in summary {
            self.add("reasoning.summary", text.decode(), *at);
        }
        for text in content {
            self.add("reasoning.content", text.decode(), *at);
        }
        if let Some(Sealed { issuer, item_id, blob, redacted }) = sealed {
            let blob = blob.as_ref().map(|blob| blob.decode());
            let item = item_id.as_ref().map(|id| id.decode());
            self.add("reasoning.sealed", format!("{issuer:?} {item:?} {blob:?} {redacted}"), *at);
        }
        self.extra(extra);
    }

    fn call(&mut self, call: &Call<'_>) {
        let Call { at, id, name, namespace, arguments, caller, cache, extra } = call;
        self.text("call.id", id.as_ref());
        self.add("call.name", name.decode(), name.pos());
        self.text("call.namespace", namespace.as_ref());
        match arguments {
            // An object and its text say the same; nothing said is `{}`.
            Arguments::Text(text) if text.is_empty() => self.add("call.arguments", "{}", *at),
            Arguments::Text(text) => self.add("call.arguments", text.decode(), *at),
            Arguments::Json(raw) => self.add("call.arguments", raw.text(), *at),
            Arguments::Freeform(text) => self.add("call.freeform", text.decode(), *at),
            Arguments::Native(kind, raw) => {
                self.add("call.native", format!("{kind:?} {}", raw.text()), *at)
            }
        }
        self.raw("call.caller", caller.as_ref());
        self.cache(cache.as_ref());
        self.extra(extra);
    }

    fn result(&mut self, result: &ToolResult<'_>) {
        let ToolResult {
            at: _,
            call_id,
            name,
            namespace,
            kind: _,
            content,
            is_error,
            cache,
            extra,
        } = result;
        self.text("result.call", call_id.as_ref());
        self.text("result.name", name.as_ref());
        self.text("result.namespace", namespace.as_ref());
        for item in content {
            self.item(item, Speaker::Tool);
        }
        // That a tool did not fail is what every protocol assumes.
        self.at("result.error", is_error.as_ref().filter(|flag| flag.value));
        self.cache(cache.as_ref());
        self.extra(extra);
    }

    fn tool(&mut self, tool: &Tool<'_>, namespace: Option<&Str<'_>>) {
        let Tool {
            at,
            name,
            description,
            kind,
            strict,
            defer,
            callers,
            examples,
            output_schema,
            deferred_result,
            eager,
            cache,
            extra,
        } = tool;
        match kind {
            ToolKind::Function { schema } => {
                self.add("tool.name", name.decode(), *at);
                self.raw("tool.schema", schema.as_ref());
            }
            ToolKind::Freeform { grammar } => {
                self.add("tool.freeform", name.decode(), *at);
                if let Some(Grammar { at: _, syntax, definition, extra }) = grammar {
                    self.text("tool.grammar", syntax.as_ref());
                    self.text("tool.grammar", definition.as_ref());
                    self.extra(extra);
                }
            }
            ToolKind::Namespace { tools } => {
                self.add("tool.namespace", name.decode(), *at);
                for member in tools {
                    self.tool(member, Some(name));
                }
            }
            ToolKind::Native(Native { kind: _, kind_text }) => {
                self.add("tool.native", kind_text.decode(), *at)
            }
            ToolKind::Hosted(Hosted { class, kind_text: _ }) => {
                self.add("tool.hosted", class.as_str(), *at)
            }
            ToolKind::Unknown(raw) => self.raw("tool.unknown", Some(raw)),
        }
        if namespace.is_some() {
            self.text("tool.in_namespace", namespace);
        }
        self.text("tool.description.text", description.as_ref());
        self.at("tool.strict", strict.as_ref().filter(|flag| flag.value));
        self.at("tool.defer", defer.as_ref().filter(|flag| flag.value));
        self.raw("tool.callers", callers.as_ref());
        self.raw("tool.examples", examples.as_ref());
        self.raw("tool.output_schema", output_schema.as_ref());
        self.at("tool.async", deferred_result.as_ref().filter(|flag| flag.value));
        self.at("tool.eager", eager.as_ref().filter(|flag| flag.value));
        self.cache(cache.as_ref());
        self.extra(extra);
    }

    fn choice(&mut self, choice: &Choice<'_>) {
        let Choice { mode, subset, parallel, extra } = choice;
        if let Some(mode) = mode {
            match &mode.value {
                // What every protocol does without being told.
                Mode::Auto => {}
                Mode::None => self.add("choice", "none", mode.pos),
                // Any tool out of some is about those, wherever the word stands.
                Mode::Any => {
                    let at = subset.as_ref().map_or(mode.pos, |subset| subset.at);
                    self.add("choice", "any", at);
                }
                Mode::Named(named) => self.tool_ref("choice.named", named),
                Mode::Other(raw) => self.raw("choice.other", Some(raw)),
            }
        }
        if let Some(Subset { at: _, tools }) = subset {
            for tool in tools {
                self.tool_ref("choice.subset", tool);
            }
        }
        // Parallel calls are what every protocol allows without being told.
        self.at("choice.parallel", parallel.as_ref().filter(|flag| !flag.value));
        self.extra(extra);
    }

    fn tool_ref(&mut self, class: &'static str, tool: &ToolRef<'_>) {
        let ToolRef { at, kind: _, name, namespace, extra } = tool;
        self.add(class, name.decode(), *at);
        self.text("choice.namespace", namespace.as_ref());
        self.extra(extra);
    }

    fn thinking(&mut self, thinking: &Thinking<'_>) {
        let Thinking { at: _, effort, mode, budget, display, extra } = thinking;
        self.at("thinking.effort", effort.as_ref());
        self.at("thinking.mode", mode.as_ref());
        self.at("thinking.budget", budget.as_ref());
        self.at("thinking.display", display.as_ref());
        self.extra(extra);
    }

    fn output(&mut self, output: &Output<'_>) {
        let Output {
            max_tokens,
            format,
            verbosity,
            stop,
            stop_at: _,
            n,
            logprobs,
            top_logprobs,
            max_tool_calls,
        } = output;
        self.at("max_tokens", max_tokens.as_ref());
        if let Some(format) = format {
            match &format.value {
                Format::Text => {}
                Format::JsonObject => self.add("format", "json_object", format.pos),
                Format::JsonSchema(JsonSchema { name, description, schema, strict, extra }) => {
                    self.add("format", "json_schema", format.pos);
                    self.text("format.name", name.as_ref());
                    self.text("format.description", description.as_ref());
                    self.raw("format.schema", schema.as_ref());
                    self.at("format.strict", strict.as_ref());
                    self.extra(extra);
                }
                Format::Other(raw) => self.raw("format", Some(raw)),
            }
        }
        self.text("verbosity", verbosity.as_ref());
        for text in stop {
            self.text("stop", Some(text));
        }
        // One answer is what every protocol gives.
        self.at("n", n.as_ref().filter(|n| n.value != 1));
        self.at("logprobs", logprobs.as_ref().filter(|flag| flag.value));
        self.at("top_logprobs", top_logprobs.as_ref());
        self.at("max_tool_calls", max_tool_calls.as_ref());
    }

    fn sampling(&mut self, sampling: &Sampling<'_>) {
        let Sampling {
            temperature,
            top_p,
            top_k,
            frequency_penalty,
            presence_penalty,
            seed,
            logit_bias,
        } = sampling;
        self.raw("temperature", temperature.as_ref());
        self.raw("top_p", top_p.as_ref());
        self.raw("top_k", top_k.as_ref());
        self.raw("frequency_penalty", frequency_penalty.as_ref());
        self.raw("presence_penalty", presence_penalty.as_ref());
        self.raw("seed", seed.as_ref());
        self.raw("logit_bias", logit_bias.as_ref());
    }
}

#[derive(Clone, Copy)]
enum Speaker {
    System,
    User,
    Assistant,
    Tool,
}

impl Speaker {
    fn text(self) -> &'static str {
        match self {
            Self::System => "system.text",
            Self::User => "user.text",
            Self::Assistant => "assistant.text",
            Self::Tool => "tool.text",
        }
    }
}
