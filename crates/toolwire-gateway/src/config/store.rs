//! The settings of `[store]`.

use std::path::{Path, PathBuf};

use toolwire_store::{EngineOptions, OpenError, Options, PostgresOptions, SqliteOptions, Sync};

use super::fields::{Fields, Value, refuse, setting};
use super::problem::Problem;
use super::secrets::{Literal, secret};
use super::{Environment, values};

/// What the gateway remembers, and where.
#[derive(Clone, Debug)]
pub enum StoreConfig {
    /// Nothing.
    Off,
    /// What the operator has decided.
    On(Options),
    /// What is done if nobody has decided: a file in the user's state folder.
    /// If it cannot be opened, the gateway serves without it.
    Default(Options),
}

impl StoreConfig {
    /// What is done without a setting. Who has no state folder has no store.
    pub fn default_in(environment: &dyn Environment) -> Self {
        let path = default_path(environment);
        path.map_or(Self::Off, |path| Self::Default(Options::sqlite(path)))
    }

    /// Whether both mean the same store, kept in the same way.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.options(), other.options()) {
            (None, None) => true,
            (Some(own), Some(other)) => {
                let Options { engine, ttl, limits, clock: _ } = own;
                *engine == other.engine && *ttl == other.ttl && *limits == other.limits
            }
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    /// How to open the store, unless it is off.
    pub fn options(&self) -> Option<&Options> {
        match self {
            Self::Off => None,
            Self::On(options) | Self::Default(options) => Some(options),
        }
    }
}

/// Reads `[store]`.
pub(super) fn read(
    value: Value<'_, '_>,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<StoreConfig> {
    let table = setting("store", problems).table(value)?;
    let mut fields = Fields::new(table, "`store`");
    let words = [
        ("off", EngineName::Off),
        ("memory", EngineName::Memory),
        ("sqlite", EngineName::Sqlite),
        ("postgres", EngineName::Postgres),
    ];
    let engine = match fields.take("engine") {
        Some(engine) => setting("engine", problems).word(engine, &words)?,
        None => EngineName::Sqlite,
    };
    let is_off = engine == EngineName::Off;
    let [path, sync] = ["path", "sync"].map(|name| (name, fields.take(name)));
    let [url, connections, timeout] =
        ["url", "connections", "timeout"].map(|name| (name, fields.take(name)));
    refuse_others(engine, EngineName::Sqlite, "sqlite", &[path, sync], problems);
    refuse_others(engine, EngineName::Postgres, "postgres", &[url, connections, timeout], problems);
    let engine = match engine {
        EngineName::Off | EngineName::Memory => Some(EngineOptions::Memory),
        EngineName::Sqlite => {
            let path = match path.1 {
                Some(path) => read_path(path, environment, problems),
                None => default_path(environment).or_else(|| no_state_folder(value, problems)),
            };
            let words = [("full", Sync::Full), ("normal", Sync::Normal)];
            let sync = sync
                .1
                .map_or(Some(Sync::Normal), |sync| setting("sync", problems).word(sync, &words));
            path.zip(sync).map(|(path, sync)| EngineOptions::Sqlite(SqliteOptions { path, sync }))
        }
        EngineName::Postgres => read_url(url.1, value, environment, problems).map(|mut options| {
            if let Some(value) = connections.1
                && let Some(most) = setting("connections", problems).whole(value, 1)
            {
                options.connections = usize::try_from(most).unwrap_or(usize::MAX);
            }
            if let Some(value) = timeout.1
                && let Some(timeout) = setting("timeout", problems).duration(value)
            {
                options.timeout = timeout;
            }
            EngineOptions::Postgres(options)
        }),
    };
    let mut options = Options::memory();
    if let Some(ttl) = fields.take("ttl") {
        options.ttl = match ttl.get_ref().as_str() {
            Some("forever") => None,
            text => text.and_then(values::retention).or_else(|| {
                setting("ttl", problems).invalid(ttl, "\"30d\", \"12h\" or \"forever\"")
            }),
        };
    }
    let toolwire_store::Limits { value, read, tenant, total } = &mut options.limits;
    for (name, limit) in
        [("max_value", value), ("max_read", read), ("max_client", tenant), ("max_total", total)]
    {
        let value = fields.take(name);
        if let Some(size) = value.and_then(|value| setting(name, problems).size(value)) {
            *limit = u64::try_from(size).unwrap_or(u64::MAX);
        }
    }
    fields.finish(problems);
    options.engine = engine?;
    Some(if is_off { StoreConfig::Off } else { StoreConfig::On(options) })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EngineName {
    Off,
    Memory,
    Sqlite,
    Postgres,
}

/// Reports settings of an engine that is not in use.
fn refuse_others(
    engine: EngineName,
    owner: EngineName,
    owner_name: &str,
    settings: &[(&str, Option<Value<'_, '_>>)],
    problems: &mut Vec<Problem>,
) {
    for (name, value) in settings {
        if let Some(value) = value.filter(|_| engine != owner) {
            refuse::<()>(
                problems,
                value.span(),
                format!("`{name}` needs engine = \"{owner_name}\""),
                "not used by this engine",
                format!("remove `{name}`, or set engine = \"{owner_name}\""),
            );
        }
    }
}

/// The file of the store.
fn read_path(
    value: Value<'_, '_>,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<PathBuf> {
    let text = setting("path", problems).text(value)?;
    let path = Path::new(text);
    let label = if text.is_empty() {
        "empty"
    } else if text.ends_with('/') || environment.is_folder(path) {
        "a folder"
    } else {
        return Some(environment.resolve(path));
    };
    refuse(
        problems,
        value.span(),
        "`path` is not the name of a file",
        label,
        "name the file of the store, such as path = \"toolwire.db\"",
    )
}

/// The address of a database. It may be in the file if it has no password.
fn read_url(
    url: Option<Value<'_, '_>>,
    store: Value<'_, '_>,
    environment: &dyn Environment,
    problems: &mut Vec<Problem>,
) -> Option<PostgresOptions> {
    let Some(url) = url else {
        return refuse(
            problems,
            store.span(),
            "engine = \"postgres\" needs the address of a database",
            "no `url`",
            "add url = { env = \"DATABASE_URL\" }",
        );
    };
    let has_password = url.get_ref().as_str().is_some_and(|text| {
        let user = text.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
        user.is_some_and(|(user, _)| user.contains(':')) || text.contains("password")
    });
    let literal = if has_password { Literal::Refused } else { Literal::Allowed };
    let options =
        PostgresOptions::new(secret("url", url, literal, environment, problems)?.reveal());
    let reason = match options.database() {
        Ok(_) => return Some(options),
        Err(OpenError::Address(reason)) => reason,
        Err(error @ (OpenError::Newer { .. } | OpenError::Failed(_))) => error.to_string(),
    };
    refuse(problems, url.span(), "`url` is not the address of a Postgres database", reason, "")
}

fn no_state_folder(store: Value<'_, '_>, problems: &mut Vec<Problem>) -> Option<PathBuf> {
    refuse(
        problems,
        store.span(),
        "there is no place for the store",
        "no `path`, and neither XDG_STATE_HOME nor HOME is set",
        "add path = \"toolwire.db\"",
    )
}

/// The file in the user's state folder.
fn default_path(environment: &dyn Environment) -> Option<PathBuf> {
    // The specification says that a relative path there is to be ignored.
    let variable =
        |name| environment.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = variable("XDG_STATE_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".local/state")))
        .or_else(|| variable("LOCALAPPDATA"));
    state.map(|state| state.join("toolwire").join("toolwire.db"))
}

#[cfg(test)]
mod tests;
