//! LiteLLM's `model_list`: names for clients, and the deployments behind them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::draft::{Alias, Draft, HeaderValue, Upstream};
use super::keys::Reference;
use super::litellm::reason;
use super::providers::{self, COMPATIBLE, Provider};
use super::section::Section;
use super::servers::{Servers, is_model_name};

/// A name that clients use, and the model that it stands for.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) target: String,
}

/// One entry that could be taken over.
struct Deployment {
    /// The name that clients use.
    name: String,
    server: usize,
    /// The name that the server uses.
    model: String,
    place: String,
}

/// Takes over the models.
pub(super) fn convert(
    list: Option<&Value>,
    variable: &dyn Fn(&str) -> Option<String>,
    draft: &mut Draft,
) -> Vec<Group> {
    let mut servers = Servers::default();
    let mut deployments = Vec::new();
    for (index, entry) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
        match read(entry, index, variable, &mut servers, draft) {
            Ok(deployment) => deployments.push(deployment),
            Err((name, why)) => draft.leave_out(&format!("model_list[{index}]"), &name, &why),
        }
    }
    // A name like `openai/*` works if the upstream has the name before the slash.
    for Deployment { name, server, model, place } in &deployments {
        if !name.contains('*') || (name == model && !is_prefixed(name)) {
            continue;
        }
        let prefix = name.strip_suffix("/*").filter(|_| model == "*");
        if prefix.is_some_and(|prefix| servers.claim(*server, prefix)) {
            continue;
        }
        let why = "toolwire can't put a prefix on names of models, or two entries have it";
        draft.leave_out(place, name, why);
    }
    servers.name_all();
    let groups = groups(&deployments, &mut servers, draft);
    servers.finish(draft);
    groups
}

/// What an upstream lists for a deployment. If a client names the upstream before
/// the model, the list must not take names without a prefix from other upstreams.
fn models_of<'d>(deployment: &'d Deployment, servers: &Servers) -> Vec<&'d str> {
    let Deployment { name, server, model, place: _ } = deployment;
    let protocol = servers.list.get(*server).map(|upstream| upstream.protocol);
    match protocol {
        Some("messages") if is_prefixed(name) && model == "*" => vec!["claude-*"],
        Some("responses") if is_prefixed(name) && model == "*" => {
            vec!["gpt-*", "o1*", "o3*", "o4*"]
        }
        Some(_) | None => vec![model],
    }
}

fn is_prefixed(name: &str) -> bool {
    name.ends_with("/*")
}

/// The names of models as `models` and aliases.
fn groups(deployments: &[Deployment], servers: &mut Servers, draft: &mut Draft) -> Vec<Group> {
    // Which servers know a model by the same name.
    let mut serving: HashMap<&str, BTreeSet<usize>> = HashMap::new();
    let mut by_name: BTreeMap<usize, Vec<&Deployment>> = BTreeMap::new();
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (index, deployment) in deployments.iter().enumerate() {
        serving.entry(&deployment.model).or_default().insert(deployment.server);
        let first = *first.entry(&deployment.name).or_insert(index);
        by_name.entry(first).or_default().push(deployment);
        for model in models_of(deployment, servers) {
            servers.serve(deployment.server, model);
        }
    }
    let mut groups = Vec::new();
    for members in by_name.values() {
        let Some(first) = members.first() else { continue };
        if first.name.contains('*') {
            continue;
        }
        let same = members.iter().filter(|member| member.model == first.model);
        let own: BTreeSet<usize> = same.map(|member| member.server).collect();
        for other in members.iter().filter(|member| member.model != first.model) {
            let why = "requests are balanced between upstreams that know the model by one name; \
                       this deployment has another";
            draft.leave_out(&other.place, &other.name, why);
        }
        let is_alone = serving.get(first.model.as_str()) == Some(&own);
        if own.len() > 1 && !is_alone {
            let why = "another entry has the same model, so its upstream gets requests for this \
                       name too";
            draft.leave_out(&format!("{}: only its own upstreams", first.place), &first.name, why);
        }
        let target = if is_alone || own.len() > 1 {
            first.model.clone()
        } else {
            format!("{}/{}", servers.name(first.server), first.model)
        };
        if target != first.name {
            let (name, model) = (first.name.clone(), target.clone());
            draft.aliases.push(Alias { name, model, remark: "" });
        }
        groups.push(Group { name: first.name.clone(), target });
    }
    groups
}

/// Reads one entry. An error is the name of the model and why it is left out.
fn read(
    entry: &Value,
    index: usize,
    variable: &dyn Fn(&str) -> Option<String>,
    servers: &mut Servers,
    draft: &mut Draft,
) -> Result<Deployment, (String, String)> {
    let nobody = |why: &str| (String::new(), why.to_owned());
    let members = entry.as_object().ok_or_else(|| nobody("it is not an object"))?;
    let name = members.get("model_name").and_then(Value::as_str);
    let name = name.ok_or_else(|| nobody("it has no model_name"))?;
    let refuse = |why: &str| (name.to_owned(), why.to_owned());
    if !is_model_name(name) {
        return Err(refuse("the name of a model can't have spaces"));
    }
    let mut section = Section::new(members, "model_list[]", name);
    section.take("model_name");
    let params = section.take_section("litellm_params", draft);
    let mut params = params.ok_or_else(|| refuse("it has no litellm_params"))?;
    section.leave_out("model_info", "toolwire has its own facts about models", draft);
    section.finish(reason, draft);
    let full = params.take_text("model", draft).ok_or_else(|| refuse("it has no model"))?;
    let base = params.take_text("api_base", draft).or(params.take_text("base_url", draft));
    let named = params.take_text("custom_llm_provider", draft);
    let (provider, provider_name, model) = provider_of(full, named, base.is_some())
        .ok_or_else(|| refuse(&format!("toolwire doesn't know the provider of {full}")))?;
    let (protocol, model) = match model.strip_prefix("responses/") {
        Some(model) => ("responses", model),
        None => (provider.protocol, model),
    };
    if !is_model_name(model) {
        return Err(refuse("the name of a model can't have spaces"));
    }
    let mut upstream = Upstream { protocol, ..Upstream::default() };
    match base {
        None if provider.preset == "azure"
            || provider.preset.is_empty() && provider.base_url.is_empty() =>
        {
            return Err(refuse("it has no api_base"));
        }
        None => {
            upstream.preset = provider.preset;
            provider.base_url.clone_into(&mut upstream.base_url);
            provider.profile.clone_into(&mut upstream.profile);
        }
        Some(base) => {
            address(base, provider, variable, &mut upstream).map_err(|why| refuse(&why))?
        }
    }
    if provider.preset == "azure" {
        params.leave_out("api_version", "the preset azure uses api-version=preview", draft);
    }
    let preferred = format!("{}_API_KEY", provider_name.to_ascii_uppercase());
    upstream.key = match params.take_text("api_key", draft) {
        Some(key) => Reference::LiteLlm.key(key, &preferred, provider_name, draft),
        None => Some(provider.key_variable.to_owned()).filter(|name| !name.is_empty()),
    };
    if let Some(organization) = params.take_text("organization", draft) {
        let value = header(organization, "OPENAI_ORGANIZATION", draft);
        upstream.headers.push(("openai-organization".to_owned(), value));
    }
    if let Some(headers) = params.take_section("extra_headers", draft) {
        read_headers(headers, &mut upstream, draft);
    }
    upstream.timeout = params.take("timeout").and_then(Value::as_f64).filter(|time| *time > 0.0);
    upstream.weight = params.take("weight").and_then(Value::as_u64);
    params.finish(reason, draft);
    let server = servers.add(upstream, provider_name).map_err(|why| refuse(&why))?;
    let place = format!("model_list[{index}]");
    Ok(Deployment { name: name.to_owned(), server, model: model.to_owned(), place })
}

/// The provider of a model, the name it has in the file, and the model's own name.
fn provider_of<'m>(
    full: &'m str,
    named: Option<&'m str>,
    has_base: bool,
) -> Option<(&'static Provider, &'m str, &'m str)> {
    let found = |name: &'m str, model: &'m str| {
        providers::find(name).map(|provider| (provider, name, model))
    };
    if let Some(name) = named {
        return found(
            name,
            full.strip_prefix(name).and_then(|m| m.strip_prefix('/')).unwrap_or(full),
        );
    }
    if let Some((name, model)) = full.split_once('/') {
        return found(name, model);
    }
    if let Some(provider) = providers::of_model(full) {
        return Some((provider, provider.names.first().copied().unwrap_or_default(), full));
    }
    has_base
        .then(|| providers::find("openai_like").map(|provider| (provider, "openai_like", full)))?
}

/// An address of the user's own.
fn address(
    base: &str,
    provider: &Provider,
    variable: &dyn Fn(&str) -> Option<String>,
    upstream: &mut Upstream,
) -> Result<(), String> {
    let from_env;
    let base = match Reference::LiteLlm.variable(base) {
        None => base,
        Some(name) => {
            from_env = variable(name).ok_or_else(|| {
                format!("its api_base is in {name}, which is not set here; set it and import again")
            })?;
            upstream.remark = format!("base_url was in the variable {name}.");
            from_env.as_str()
        }
    };
    let base = base.trim_end_matches('/');
    base.clone_into(&mut upstream.base_url);
    match provider.preset {
        // Servers that speak like OpenAI mostly have Chat only, which is what LiteLLM
        // sends them.
        "openai" => {
            upstream.protocol = "chat";
            COMPATIBLE.clone_into(&mut upstream.profile);
        }
        // A preset for this machine takes no address of another.
        "ollama" | "lmstudio" => COMPATIBLE.clone_into(&mut upstream.profile),
        "" => provider.profile.clone_into(&mut upstream.profile),
        preset => upstream.preset = preset,
    }
    Ok(())
}

fn read_headers(mut section: Section<'_>, upstream: &mut Upstream, draft: &mut Draft) {
    for name in section.keys() {
        let Some(value) = section.take_text(name, draft) else { continue };
        let value = header(value, name, draft);
        let mut alone = Upstream { headers: Vec::new(), ..upstream.clone() };
        alone.headers.push((name.to_owned(), value.clone()));
        match alone.problem().filter(|_| upstream.problem().is_none()) {
            Some(problem) => section.leave_out(name, &problem, draft),
            None => upstream.headers.push((name.to_owned(), value)),
        }
    }
}

/// A header's value. One that may be a secret becomes a variable.
fn header(value: &str, name: &str, draft: &mut Draft) -> HeaderValue {
    if let Some(variable) = Reference::LiteLlm.variable(value) {
        return HeaderValue::Variable(variable.to_owned());
    }
    let lower = name.to_ascii_lowercase();
    let is_secret = ["auth", "key", "token", "secret", "cookie", "password"];
    if is_secret.iter().any(|part| lower.contains(part)) {
        let content = format!("the header {name}, whose value is in the imported file itself");
        return HeaderValue::Variable(draft.variable_for(value, name, &content));
    }
    HeaderValue::Text(value.to_owned())
}
