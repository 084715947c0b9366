//! How to open a store.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::database;
use crate::error::OpenError;
use crate::model::Timestamp;

/// How to open a store.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to keep things.
    pub engine: EngineOptions,
    /// How long things are kept after they were last written to. Without it,
    /// for ever.
    pub ttl: Option<Duration>,
    /// How much may be kept.
    pub limits: Limits,
    /// What time it is.
    pub clock: Clock,
}

impl Options {
    /// A store in this process's memory, for tests.
    pub fn memory() -> Self {
        Self::new(EngineOptions::Memory)
    }

    /// A store in a file, which is made if there is none.
    pub fn sqlite(path: impl Into<PathBuf>) -> Self {
        let sqlite = SqliteOptions { path: path.into(), sync: Sync::Normal };
        Self::new(EngineOptions::Sqlite(sqlite))
    }

    /// A store in a Postgres database.
    pub fn postgres(url: impl Into<String>) -> Self {
        Self::new(EngineOptions::Postgres(PostgresOptions::new(url)))
    }

    fn new(engine: EngineOptions) -> Self {
        Self { engine, ttl: Some(DEFAULT_TTL), limits: Limits::default(), clock: Clock::System }
    }
}

/// How long OpenAI keeps responses.
const DEFAULT_TTL: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Where a store keeps things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineOptions {
    /// In this process, until it ends.
    Memory,
    /// In a file.
    Sqlite(SqliteOptions),
    /// In a database that several gateways may share.
    Postgres(PostgresOptions),
}

/// A store in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// The file. Its folder is made if there is none. Only its owner can read
    /// what the store makes.
    pub path: PathBuf,
    /// What a finished write survives.
    pub sync: Sync,
}

/// What a finished write survives. Nothing corrupts the file, whichever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// The loss of power. Each group of writes waits for the disk.
    Full,
    /// The end of the process, by whatever means. The disk is told to confirm
    /// once a second, so a loss of power may take the writes of about the last
    /// second.
    Normal,
}

/// A store in a Postgres database.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// The address, with its password: `postgres://user:password@host/database`.
    pub url: String,
    /// How many connections at most.
    pub connections: usize,
    /// How long a call may take, waiting for a connection included.
    pub timeout: Duration,
}

impl PostgresOptions {
    /// A database at an address.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), connections: 16, timeout: Duration::from_secs(5) }
    }

    /// Which database the address means, in words and without the password:
    /// `database toolwire at db.example.com`. Nobody is asked whether it is there.
    pub fn database(&self) -> Result<String, OpenError> {
        database(&self.url)
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url: _, connections, timeout } = self;
        f.debug_struct("PostgresOptions")
            .field("url", &"[secret]")
            .field("connections", connections)
            .field("timeout", timeout)
            .finish()
    }
}

/// How much may be kept, in bytes of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For one item, or one response object.
    pub value: u64,
    /// For the items of a chain or thread that are read at once.
    pub read: u64,
    /// For everything of one tenant.
    pub tenant: u64,
    /// For everything.
    pub total: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { value: 64 << 20, read: 256 << 20, tenant: 4 << 30, total: 16 << 30 }
    }
}

/// What time it is.
#[derive(Clone)]
pub enum Clock {
    /// What the machine says.
    System,
    /// What a function says.
    Custom(Arc<dyn Fn() -> Timestamp + Send + std::marker::Sync>),
}

impl Clock {
    /// The time now.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => system_time(),
            Self::Custom(clock) => clock(),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::Custom(_) => "Custom",
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "days of storage are counted across restarts")]
fn system_time() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Timestamp(since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}
