//! A few connections that read.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connection::Connector;
use super::failure::Failure;
use super::migrate;
use crate::error::StoreError;

pub(super) struct Readers {
    connector: Connector,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(connector: Connector) -> Self {
        let permits = Arc::new(Semaphore::new(MOST_READERS));
        Self { connector, idle: Arc::default(), permits }
    }

    /// Reads from one state of the file, whatever is written meanwhile.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|error| unavailable(&error))?;
        let (connector, idle) = (self.connector.clone(), Arc::clone(&self.idle));
        let read = tokio::task::spawn_blocking(move || {
            let result = with_connection(&connector, &idle, work);
            drop(permit);
            result
        });
        let result = read.await.map_err(|error| unavailable(&error))?;
        result.map_err(Failure::into_store_error)
    }
}

fn with_connection<T>(
    connector: &Connector,
    idle: &Mutex<Vec<Connection>>,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let known = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let connection = match known {
        Some(connection) => connection,
        None => connector.open_to_read()?,
    };
    connection.prepare_cached("BEGIN")?.execute([])?;
    let result = migrate::known_version(&connection).and_then(|_| work(&connection));
    let ended = connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]));
    // A connection that has failed is not used again.
    if ended.is_ok() && !matches!(result, Err(Failure::Sql(_))) {
        idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
    result
}

fn unavailable(error: &dyn std::error::Error) -> StoreError {
    StoreError::Unavailable { reason: error.to_string(), retry: true }
}

/// Reads are short and mostly from memory, so a few at a time are enough.
const MOST_READERS: usize = 4;
