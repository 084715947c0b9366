//! Connections, and how long to wait for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_postgres::NoTls;
use tokio_postgres::config::SslMode;

use super::address;
use super::failure::Failure;
use super::migrate;
use super::tls::{Encryption, Tls};
use crate::error::{OpenError, StoreError};
use crate::options::PostgresOptions;

/// Connections to one database.
pub(super) struct Connections {
    pool: Pool,
    timeout: Duration,
    /// Has the server give up what nobody waits for any more.
    server_limits: String,
    is_migrated: AtomicBool,
    /// The migration that runs.
    migration: Mutex<Option<JoinHandle<Result<(), Failure>>>>,
}

impl Connections {
    pub(super) fn new(options: &PostgresOptions) -> Result<Self, OpenError> {
        let PostgresOptions { url, connections, timeout } = options;
        let (mut config, encryption) = address::read(url)?;
        config.application_name("toolwire");
        config.connect_timeout(*timeout);
        config.keepalives_idle(KEEPALIVE);
        let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match encryption {
            Encryption::Off => {
                config.ssl_mode(SslMode::Disable);
                Manager::from_config(config, NoTls, manager_config)
            }
            Encryption::On(roots) => {
                config.ssl_mode(SslMode::Require);
                Manager::from_config(config, Tls::new(roots.as_deref())?, manager_config)
            }
        };
        let pool = Pool::builder(manager)
            .max_size(*connections)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| OpenError::Failed(error.to_string()))?;
        let (is_migrated, migration) = (AtomicBool::new(false), Mutex::default());
        let server_limits = server_limits(*timeout);
        Ok(Self { pool, timeout: *timeout, server_limits, is_migrated, migration })
    }

    /// A connection to a database whose tables are up to date.
    pub(super) async fn get(&self) -> Result<Connection, Failure> {
        if !self.is_migrated.load(Ordering::Acquire) {
            self.migrate().await?;
        }
        let mut connection = Connection::new(&self.pool).await?;
        let object = connection.object()?;
        if Object::metrics(object).recycle_count == 0 {
            // The version may have to be waited for, so the limits come first.
            object.batch_execute(&self.server_limits).await?;
            migrate::hold_version(object).await?;
        }
        Ok(connection)
    }

    /// Brings the tables up to date, with a connection that is not used for anything
    /// else. That may take longer than a call, so it goes on when
    /// the call is given up, and the next one waits for the same migration.
    async fn migrate(&self) -> Result<(), Failure> {
        let mut migration = self.migration.lock().await;
        if self.is_migrated.load(Ordering::Acquire) {
            return Ok(());
        }
        if migration.is_none() {
            let mut connection = Connection::new(&self.pool).await?;
            connection.object()?.batch_execute(&self.server_limits).await?;
            if !migrate::is_due(&mut connection).await? {
                self.is_migrated.store(true, Ordering::Release);
                return Ok(());
            }
            *migration = Some(tokio::spawn(async move { migrate::run(&mut connection).await }));
        }
        let Some(running) = migration.as_mut() else { return Ok(()) };
        let result = running.await;
        *migration = None;
        result.map_err(|error| {
            Failure::Refused(StoreError::Unavailable {
                reason: format!("the tables cannot be brought up to date: {error}"),
                retry: true,
            })
        })??;
        self.is_migrated.store(true, Ordering::Release);
        Ok(())
    }

    /// Runs work for as long as a call may take.
    pub(super) async fn limited<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::time::timeout(self.timeout, work).await.unwrap_or(Err(Failure::Late))
    }

    /// How long a call may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Runs one statement that deletes, which the server may finish when nobody waits for it
    /// any more. If it gave up like any other, it would undo everything, and what takes it
    /// too long could never be deleted.
    pub(super) async fn delete<T>(
        &self,
        client: &Object,
        deletion: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failure> {
        // The driver sends all three without waiting for the answers.
        let (begun, deleted, ended) = tokio::join!(
            biased;
            client.batch_execute(DELETION_LIMIT),
            deletion,
            client.batch_execute(&self.server_limits),
        );
        Ok(begun.and(deleted).and_then(|deleted| ended.map(|()| deleted))?)
    }
}

/// A connection that goes back to the others only if its work was finished. One
/// that failed or was given up may be dead, or in the middle of something.
pub(super) struct Connection {
    object: Option<Object>,
    is_reusable: bool,
}

impl Connection {
    async fn new(pool: &Pool) -> Result<Self, Failure> {
        Ok(Self { object: Some(pool.get().await?), is_reusable: false })
    }

    /// Gives the connection back, unless the work has broken it.
    pub(super) fn finish<T>(mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        self.is_reusable = matches!(result, Ok(_) | Err(Failure::Refused(_)));
        result
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(object) = self.object.take()
            && !self.is_reusable
        {
            drop(Object::take(object));
        }
    }
}

impl Connection {
    pub(super) fn object(&mut self) -> Result<&mut Object, Failure> {
        let gone =
            || StoreError::Unavailable { reason: "the connection is gone".to_owned(), retry: true };
        self.object.as_mut().ok_or_else(|| gone().into())
    }
}

/// The statements that limit what a connection may take of the server.
///
/// A server does not notice that a gateway has lost its power, and keeps the locks of its
/// transactions for hours. And one that waits for such a lock does not notice that its
/// client has given up, so each attempt would leave a connection behind until there are no
/// more. No call takes longer than its timeout, so twice that disturbs nobody.
fn server_limits(timeout: Duration) -> String {
    let most = timeout.saturating_mul(2).as_millis().clamp(1, LONGEST_LIMIT);
    let limits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
    limits.map(|limit| format!("SET {limit} = {most};")).concat()
}

/// Lets a statement take its time, but not to wait for others.
const DELETION_LIMIT: &str = "SET statement_timeout = '1h'";

/// The most milliseconds that the server takes.
const LONGEST_LIMIT: u128 = i32::MAX as u128;

/// When to ask an idle server whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);
