//! A configuration from a TOML file.
//!
//! All problems of a file are reported at once, each with its place.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolwire::{LossPolicy, Protocol};

use super::fields::{Fields, Value, in_order, refuse, setting};
use super::pattern::ServedModels;
use super::problem::{Problem, Problems};
use super::secrets::{Literal, secret};
use super::{
    Alias, Config, DEFAULT_LISTEN, DEFAULT_MODEL_REFRESH, Environment, Limits, LogFormat, Pattern,
    ProcessEnvironment, ReadFile, Secret, StoreConfig, Timeouts, UpstreamConfig, exposed, hints,
    origins, retry, store, upstream,
};

/// A configuration, and the files it was read from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The file itself and the files it names, keys for example.
    pub files: Vec<ReadFile>,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The file has problems.
    #[error("{0}")]
    Invalid(Problems),
}

/// Reads a file. Relative paths in it start at its folder.
pub fn load(path: &Path) -> Result<Loaded, LoadError> {
    let (config, files) = load_with_files(path);
    Ok(Loaded { config: config?, files })
}

/// The same with the files that were read even if there is no configuration.
pub(super) fn load_with_files(path: &Path) -> (Result<Config, LoadError>, Vec<ReadFile>) {
    let mut files = vec![ReadFile::before(path.to_owned())];
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            return (Err(LoadError::Unreadable { path: path.to_owned(), error }), files);
        }
    };
    let environment = ProcessEnvironment::new(path.parent().unwrap_or(Path::new("")));
    let config = parse(&path.display().to_string(), &text, &environment);
    files.extend(environment.into_files());
    (config.map_err(LoadError::Invalid), files)
}

/// Reads a configuration. `name` is the file's name in problems.
pub fn parse(name: &str, text: &str, environment: &dyn Environment) -> Result<Config, Problems> {
    let mut problems = Vec::new();
    let (table, errors) = DeTable::parse_recoverable(text);
    let other_format = if errors.is_empty() { None } else { hints::other_format(name, text) };
    if let Some(help) = other_format {
        let (message, label) = ("invalid TOML".to_owned(), "expected a setting".to_owned());
        let first = text.len() - text.trim_start().len();
        let line = first..first + text.trim_start().lines().next().unwrap_or_default().len();
        problems.push(Problem { message, span: line, label, help: help.to_owned() });
    }
    for error in errors.into_iter().filter(|_| other_format.is_none()) {
        let label = error.message().to_owned();
        // The usual reason for a malformed number is a string without quotes.
        let help = if label.starts_with("invalid") { "put strings in quotes" } else { "" };
        let (message, help) = ("invalid TOML".to_owned(), help.to_owned());
        problems.push(Problem { message, span: error.span().unwrap_or(0..0), label, help });
    }
    // After a syntax error, other problems are mostly its consequences.
    let config = if problems.is_empty() { read(&table, environment, &mut problems) } else { None };
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        Some(_) | None => Err(Problems::new(name, text, problems)),
    }
}

fn read(
    table: &Spanned<DeTable<'_>>,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<Config> {
    let mut fields = Fields::new(table.get_ref(), "the configuration");
    let listen = fields.take("listen");
    let keys = fields.take("keys");
    let admin_key = fields.take("admin_key");
    let origins = fields.take("origins");
    let on_loss = fields.take("on_loss");
    let log = fields.take("log");
    let model_refresh = fields.take("model_refresh");
    let prefer = fields.take("prefer_same_protocol");
    let upstreams = fields.take("upstream");
    let aliases = fields.take("alias");
    let timeouts = fields.take("timeouts");
    let limits = fields.take("limits");
    let retry_table = fields.take("retry");
    let store_table = fields.take("store");
    fields.finish(problems);
    let client_keys =
        keys.and_then(|value| read_keys(value, environment, problems)).unwrap_or_default();
    let admin_key = admin_key
        .and_then(|value| read_key("admin_key", value, environment, problems))
        .filter(|key| is_only_admin_key(key, &client_keys, admin_key, problems));
    let address = match listen {
        Some(value) => read_listen(value, problems),
        None => Some(DEFAULT_LISTEN),
    };
    // Invalid keys are already reported.
    if let (Some(value), Some(address), None) = (listen, address, keys)
        && exposed(address)
    {
        refuse::<()>(
            problems,
            value.span(),
            "anyone who can reach this address could use your keys",
            "reachable from other machines",
            "add keys = [{ env = \"TOOLWIRE_KEY\" }] for clients to send, or listen on 127.0.0.1",
        );
    }
    let has_keys =
        keys.is_some_and(|keys| keys.get_ref().as_array().is_none_or(|list| !list.is_empty()));
    let origins = origins.map(|value| origins::read(value, has_keys, problems)).unwrap_or_default();
    let on_loss = on_loss.and_then(|value| loss_policy(value, problems)).unwrap_or_default();
    let words = [("text", LogFormat::Text), ("json", LogFormat::Json), ("off", LogFormat::Off)];
    let log = log.and_then(|value| setting("log", problems).word(value, &words));
    let prefer = prefer.and_then(|value| setting("prefer_same_protocol", problems).boolean(value));
    let model_refresh = match model_refresh {
        Some(value) if value.get_ref().as_str() == Some("off") => None,
        Some(value) => setting("model_refresh", problems).duration(value),
        None => Some(DEFAULT_MODEL_REFRESH),
    };
    let timeouts = timeouts.and_then(|value| setting("timeouts", problems).table(value));
    let timeouts = match timeouts {
        Some(table) => upstream::read_timeouts(table, &Timeouts::default(), problems),
        None => Timeouts::default(),
    };
    let limits = limits.and_then(|value| setting("limits", problems).table(value));
    let limits = limits.map(|table| read_limits(table, problems)).unwrap_or_default();
    let retry_table = retry_table.and_then(|value| setting("retry", problems).table(value));
    let retry = retry_table.map(|table| retry::read(table, problems)).unwrap_or_default();
    let store = match store_table {
        Some(value) => store::read(value, environment, problems),
        None => Some(StoreConfig::default_in(environment)),
    };
    let upstreams = read_upstreams(upstreams, table, &timeouts, environment, problems);
    let aliases = aliases.and_then(|value| setting("alias", problems).table(value));
    let aliases = match (aliases, &upstreams) {
        (Some(table), upstreams) => read_aliases(table, upstreams.as_deref(), problems),
        (None, _) => Vec::new(),
    };
    Some(Config {
        protocols: Protocol::ALL.to_vec(),
        listen: address?,
        keys: client_keys,
        admin_key,
        origins,
        on_loss,
        upstreams: upstreams?,
        prefer_same_protocol: prefer.unwrap_or(true),
        aliases,
        limits,
        retry,
        store: store?,
        model_refresh,
        log: log.unwrap_or(LogFormat::Text),
    })
}

/// `chat`, `responses` or `messages`.
pub(super) fn protocol(value: Value<'_, '_>, problems: &mut Vec<Problem>) -> Option<Protocol> {
    if let Some(help) = value.get_ref().as_str().and_then(hints::protocol) {
        let expected = "expected \"chat\", \"responses\" or \"messages\"";
        return refuse(problems, value.span(), "invalid value for `protocol`", expected, help);
    }
    let words = Protocol::ALL.map(|protocol| (protocol.as_str(), protocol));
    setting("protocol", problems).word(value, &words)
}

/// `report`, `refuse` or `ignore`.
pub(super) fn loss_policy(value: Value<'_, '_>, problems: &mut Vec<Problem>) -> Option<LossPolicy> {
    let words = [
        ("report", LossPolicy::Report),
        ("refuse", LossPolicy::Refuse),
        ("ignore", LossPolicy::Ignore),
    ];
    setting("on_loss", problems).word(value, &words)
}

/// Checks that a text can be a model's name or a pattern of one.
pub(super) fn check_model_name(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("empty");
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("contains a space or a line break");
    }
    Ok(())
}

fn read_listen(value: Value<'_, '_>, problems: &mut Vec<Problem>) -> Option<SocketAddr> {
    let text = setting("listen", problems).text(value)?;
    let text = if let Some(port) = text.strip_prefix("localhost:") {
        format!("127.0.0.1:{port}")
    } else {
        text.to_owned()
    };
    text.parse().ok().or_else(|| {
        refuse(
            problems,
            value.span(),
            "invalid value for `listen`",
            "expected an address and a port",
            "for example \"127.0.0.1:8787\", or \"0.0.0.0:8787\" for all addresses",
        )
    })
}

fn read_keys(
    value: Value<'_, '_>,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<Vec<Secret>> {
    let list = setting("keys", problems).list(value)?;
    let keys: Vec<_> =
        list.into_iter().map(|value| read_key("keys", value, environment, problems)).collect();
    keys.into_iter().collect()
}

fn read_key(
    name: &'static str,
    value: Value<'_, '_>,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<Secret> {
    let key = secret(name, value, Literal::Refused, environment, problems)?;
    if key.reveal().len() < MIN_KEY_LENGTH {
        let help = "create one with: openssl rand -hex 32";
        let label = format!("shorter than {MIN_KEY_LENGTH} characters");
        return refuse(problems, value.span(), "this key is too short", label, help);
    }
    Some(key)
}

/// Checks that no client has the key of `/admin`.
fn is_only_admin_key(
    key: &Secret,
    client_keys: &[Secret],
    value: Option<Value<'_, '_>>,
    problems: &mut Vec<Problem>,
) -> bool {
    let is_shared = client_keys.contains(key);
    if let Some(value) = value.filter(|_| is_shared) {
        let help = "create another one with: openssl rand -hex 32";
        let message = "`admin_key` is also one of `keys`";
        refuse::<()>(problems, value.span(), message, "every client has it", help);
    }
    !is_shared
}

fn read_upstreams(
    value: Option<Value<'_, '_>>,
    file: &Spanned<DeTable<'_>>,
    timeouts: &Timeouts,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<Vec<UpstreamConfig>> {
    let list = match value {
        Some(value) if matches!(value.get_ref(), DeValue::Table(_)) => {
            return refuse(
                problems,
                value.span(),
                "`upstream` must be a list",
                "a single table",
                "use two brackets: [[upstream]]",
            );
        }
        Some(value) => setting("upstream", problems).list(value)?,
        None => Vec::new(),
    };
    if list.is_empty() {
        return refuse(
            problems,
            file.span().start..file.span().start,
            "no upstream is configured",
            "no [[upstream]] in this file",
            "add one; `toolwire init` writes a file with examples",
        );
    }
    let mut all_valid = true;
    let mut upstreams: Vec<UpstreamConfig> = Vec::new();
    let mut names = HashSet::new();
    for value in list {
        let Some(read) = upstream::read(value, timeouts, environment, problems) else {
            all_valid = false;
            continue;
        };
        for read in read {
            if !names.insert(read.name.clone()) {
                let name = value.get_ref().as_table().and_then(|table| table.get("name"));
                refuse::<()>(
                    problems,
                    name.map_or_else(|| value.span(), Spanned::span),
                    format!("two upstreams have the name `{}`", read.name),
                    "already in use",
                    "give each upstream its own name",
                );
            }
            upstreams.push(read);
        }
    }
    all_valid.then_some(upstreams)
}

fn read_aliases(
    table: &DeTable<'_>,
    upstreams: Option<&[UpstreamConfig]>,
    problems: &mut Vec<Problem>,
) -> Vec<Alias> {
    let mut aliases = Vec::new();
    let served = upstreams.map(ServedModels::new);
    for (key, value) in in_order(table) {
        let name: &str = key.get_ref();
        if let Err(label) = check_model_name(name) {
            refuse::<()>(problems, key.span(), "invalid model name", label, "");
            continue;
        }
        let Some(Pattern(model)) = upstream::pattern("alias", value, problems) else { continue };
        // An alias stands for one model, so a `*` would be part of its name.
        if model.contains('*') {
            let help =
                "write the full name of one model; only the name on the left may contain `*`";
            refuse::<()>(problems, value.span(), "an alias must name one model", "a pattern", help);
        } else if let (Some(upstreams), Some(served)) = (upstreams, &served)
            && !served.contains(&model)
        {
            let names = upstreams.iter().map(|upstream| upstream.name.as_str());
            let mut names = names.take(MOST_NAMED).collect::<Vec<_>>().join(", ");
            if upstreams.len() > MOST_NAMED {
                names.push_str(" and others");
            }
            let help = format!("the upstreams are {names}; check their `models`");
            refuse::<()>(
                problems,
                value.span(),
                format!("no upstream serves `{model}`"),
                "not served",
                help,
            );
        }
        aliases.push(Alias { name: Pattern(name.to_owned()), model });
    }
    aliases
}

fn read_limits(table: &DeTable<'_>, problems: &mut Vec<Problem>) -> Limits {
    let mut limits = Limits::default();
    let Limits {
        body,
        upload,
        head,
        head_time,
        tools,
        schemas,
        event,
        response,
        bodies_total,
        streams_total,
        stall,
        idle,
        connections,
        connections_per_address,
        linger,
        grace,
        heartbeat,
        early_head,
        loss_header,
    } = &mut limits;
    let mut fields = Fields::new(table, "`limits`");
    for (name, size) in [
        ("body", body),
        ("upload", upload),
        ("head", head),
        ("schemas", schemas),
        ("event", event),
        ("response", response),
        ("bodies_total", bodies_total),
        ("streams_total", streams_total),
        ("loss_header", loss_header),
    ] {
        let value = fields.take(name);
        if let Some(value) = value.and_then(|value| setting(name, problems).size(value)) {
            *size = value;
        }
    }
    for (name, time) in [
        ("head_time", head_time),
        ("stall", stall),
        ("idle", idle),
        ("grace", grace),
        ("heartbeat", heartbeat),
        ("early_head", early_head),
    ] {
        let value = fields.take(name);
        if let Some(value) = value.and_then(|value| setting(name, problems).duration(value)) {
            *time = value;
        }
    }
    let value = fields.take("linger");
    *linger = value.and_then(|value| setting("linger", problems).duration(value));
    let mut count = |name| {
        let most = setting(name, problems).whole(fields.take(name)?, 1)?;
        Some(usize::try_from(most).unwrap_or(usize::MAX))
    };
    for (name, number) in [("tools", tools), ("connections", connections)] {
        if let Some(most) = count(name) {
            *number = most;
        }
    }
    *connections_per_address = count("connections_per_address");
    fields.finish(problems);
    limits
}

const MIN_KEY_LENGTH: usize = 16;

/// How many upstreams are named where all are meant.
const MOST_NAMED: usize = 20;

#[cfg(test)]
mod tests;
