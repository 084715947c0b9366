//! Stores that can be configured, and those that cannot.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolwire_store::{EngineOptions, Limits, Sync};

use super::super::file::parse;
use super::{Environment, StoreConfig};

struct TestEnvironment(&'static [(&'static str, &'static str)]);

impl Environment for TestEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }

    fn read_file(&self, _path: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        Path::new("/etc/toolwire").join(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        path == Path::new("data")
    }
}

const HOME: TestEnvironment = TestEnvironment(&[
    ("HOME", "/users/me"),
    ("DATABASE_URL", "postgres://me:password@db/toolwire"),
    ("OTHER_URL", "mysql://me:hunter2@db/toolwire"),
    ("NO_HOST", "postgres://"),
    ("NO_MODE", "postgres://me:hunter2@db/toolwire?sslmode=perhaps"),
]);

const UPSTREAM: &str = "[[upstream]]\nname = \"demo\"\ndemo = true\n";

fn store(text: &str) -> StoreConfig {
    match parse("toolwire.toml", &format!("{UPSTREAM}{text}"), &HOME) {
        Ok(config) => config.store,
        Err(problems) => panic!("{problems}"),
    }
}

/// Checks the only problem of a `[store]`.
fn check(text: &str, message: &str, label: &str, help: &str) {
    let text = format!("{UPSTREAM}[store]\n{text}\n");
    let problems = parse("toolwire.toml", &text, &HOME).expect_err(&text);
    let [problem] = problems.list() else { panic!("{problems}") };
    let said = [&problem.message, &problem.label, &problem.help].map(String::as_str);
    assert_eq!(said, [message, label, help], "{text}");
    assert!(!problems.to_string().contains("hunter2"), "{problems}");
}

fn path(config: &StoreConfig) -> &Path {
    match &config.options().unwrap().engine {
        EngineOptions::Sqlite(options) => &options.path,
        other @ (EngineOptions::Memory | EngineOptions::Postgres(_)) => panic!("{other:?}"),
    }
}

#[test]
fn without_a_setting_it_is_a_file_in_the_state_folder() {
    let config = store("");
    assert!(matches!(config, StoreConfig::Default(_)));
    assert_eq!(path(&config), Path::new("/users/me/.local/state/toolwire/toolwire.db"));
    let xdg = TestEnvironment(&[("HOME", "/users/me"), ("XDG_STATE_HOME", "/state")]);
    let config = StoreConfig::default_in(&xdg);
    assert_eq!(path(&config), Path::new("/state/toolwire/toolwire.db"));
    let relative = TestEnvironment(&[("HOME", "/users/me"), ("XDG_STATE_HOME", "state")]);
    let config = StoreConfig::default_in(&relative);
    assert_eq!(path(&config), Path::new("/users/me/.local/state/toolwire/toolwire.db"));
    assert!(matches!(StoreConfig::default_in(&TestEnvironment(&[])), StoreConfig::Off));
}

#[test]
fn everything_can_be_set() {
    assert!(matches!(store("[store]\nengine = \"off\"\n"), StoreConfig::Off));
    let memory = store("[store]\nengine = \"memory\"\n");
    assert!(matches!(memory.options().unwrap().engine, EngineOptions::Memory));

    let sqlite = store(
        "[store]\npath = \"mine.db\"\nsync = \"full\"\nttl = \"7d\"\nmax_value = \"1MiB\"\n\
         max_read = \"2MiB\"\nmax_client = \"3MiB\"\nmax_total = \"4MiB\"\n",
    );
    assert_eq!(path(&sqlite), Path::new("/etc/toolwire/mine.db"));
    let options = sqlite.options().unwrap();
    assert!(matches!(&options.engine, EngineOptions::Sqlite(sqlite) if sqlite.sync == Sync::Full));
    assert_eq!(options.ttl, Some(Duration::from_secs(7 * 24 * 60 * 60)));
    let limits = Limits { value: 1 << 20, read: 2 << 20, tenant: 3 << 20, total: 4 << 20 };
    assert_eq!(options.limits, limits);

    let postgres = store(
        "[store]\nengine = \"postgres\"\nurl = { env = \"DATABASE_URL\" }\nconnections = 3\n\
         timeout = \"1s\"\nttl = \"forever\"\n",
    );
    let options = postgres.options().unwrap();
    let EngineOptions::Postgres(postgres) = &options.engine else { panic!("{options:?}") };
    assert_eq!(postgres.url, "postgres://me:password@db/toolwire");
    assert_eq!((postgres.connections, postgres.timeout), (3, Duration::from_secs(1)));
    assert_eq!(options.ttl, None);
    assert!(!format!("{options:?}").contains("password"));

    let plain = store("[store]\nengine = \"postgres\"\nurl = \"postgres://me@localhost/db\"\n");
    assert!(matches!(plain, StoreConfig::On(_)));
}

#[test]
fn mistakes_are_named() {
    check(
        "engine = \"sqlit\"",
        "invalid value for `engine`",
        "expected \"off\", \"memory\", \"sqlite\" or \"postgres\"",
        "did you mean \"sqlite\"?",
    );
    check(
        "engine = \"postgres\"",
        "engine = \"postgres\" needs the address of a database",
        "no `url`",
        "add url = { env = \"DATABASE_URL\" }",
    );
    check(
        "engine = \"postgres\"\nurl = \"postgres://me:hunter2@db/toolwire\"",
        "`url` must not be in the file itself",
        "a key in plain text",
        "use { env = \"NAME\" } or { file = \"path\" }; if the file was shared, replace the key",
    );
    check(
        "url = { env = \"DATABASE_URL\" }",
        "`url` needs engine = \"postgres\"",
        "not used by this engine",
        "remove `url`, or set engine = \"postgres\"",
    );
    check(
        "engine = \"memory\"\npath = \"mine.db\"",
        "`path` needs engine = \"sqlite\"",
        "not used by this engine",
        "remove `path`, or set engine = \"sqlite\"",
    );
    check(
        "tll = \"1d\"",
        "unknown setting `tll`",
        "not a setting of `store`",
        "did you mean `ttl`?",
    );
    check(
        "ttl = \"soon\"",
        "invalid value for `ttl`",
        "expected \"30d\", \"12h\" or \"forever\"",
        "",
    );
}

/// Whoever checks a configuration learns this before the gateway does.
#[test]
fn an_address_or_a_path_that_is_none() {
    for path in ["data", "data/", "new/", ""] {
        let label = if path.is_empty() { "empty" } else { "a folder" };
        check(
            &format!("path = \"{path}\""),
            "`path` is not the name of a file",
            label,
            "name the file of the store, such as path = \"toolwire.db\"",
        );
    }
    for (url, label) in [
        ("\"not a url\"", "expected postgres:// with a user, a host and a database"),
        ("\"mysql://db/toolwire\"", "expected postgres:// with a user, a host and a database"),
        ("{ env = \"OTHER_URL\" }", "expected postgres:// with a user, a host and a database"),
        ("{ env = \"NO_HOST\" }", "expected postgres:// with a user, a host and a database"),
        ("{ env = \"NO_MODE\" }", "`sslmode` is `disable`, `require` or `verify-full`"),
    ] {
        let text = format!("engine = \"postgres\"\nurl = {url}");
        check(&text, "`url` is not the address of a Postgres database", label, "");
    }
}
