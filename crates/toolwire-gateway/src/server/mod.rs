//! Listens, accepts connections, and lets them end when the gateway stops.

mod connection;
mod connection_limiter;
mod drain;
mod exchange;
mod framed_stream;
#[cfg(test)]
pub(crate) mod growth;
mod head_timer;
mod linger;
mod request_framing;
mod stream_task;
mod timeout_stream;
mod unsent;

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use toolwire_store::OpenError;

use self::connection_limiter::ConnectionLimiter;
pub(crate) use self::drain::{CancellationToken, Drain};
use crate::active_config::StartError;
use crate::config::Config;
use crate::identity::Identity;
use crate::models::keep_fresh;
use crate::state::{ConfigLoader, GatewayState};
use crate::stored::{ResponseStore, delete_expired, keep_leases, report_outages};

/// What a gateway needs besides its configuration.
pub struct Setup {
    /// Where `POST /admin/reload` gets the configuration from.
    pub source: Option<ConfigLoader>,
    /// Where log lines are written.
    pub log: Box<dyn Write + Send>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { source: None, log: Box::new(std::io::stderr()) }
    }
}

/// A running gateway.
pub struct Gateway {
    address: SocketAddr,
    handle: Handle,
    accept_task: JoinHandle<()>,
}

/// Controls a running gateway.
#[derive(Clone)]
pub struct Handle {
    state: Arc<GatewayState>,
}

/// Starts a gateway. It is listening when this returns, and it serves until its
/// handle stops it.
pub async fn serve(config: Config, setup: Setup) -> Result<Gateway, StartError> {
    let listen = config.listen;
    let stored = ResponseStore::open(&config.store).await?;
    let Setup { source, log } = setup;
    let state = Arc::new(GatewayState::new(config, stored, log, source)?);
    let cannot_listen = |source| StartError::Listen { address: listen, source };
    let listener = TcpListener::bind(listen).await.map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    tokio::spawn(keep_fresh(Arc::clone(&state)));
    if let Some(store) = state.stored.store() {
        let (store, state) = (store.clone(), Arc::clone(&state));
        tokio::spawn(async move {
            tokio::select! {
                () = keep_leases(store, state.stored.jobs.clone()) => {}
                () = state.drain.terminated() => {}
            }
        });
    }
    let deleting = Arc::clone(&state);
    tokio::spawn(async move {
        tokio::select! {
            () = delete_expired(&deleting) => {}
            () = deleting.drain.closing() => {}
        }
    });
    let reporting = Arc::clone(&state);
    tokio::spawn(async move {
        tokio::select! {
            () = report_outages(&reporting) => {}
            () = reporting.drain.closing() => {}
        }
    });
    let accept_task = tokio::spawn(accept(listener, Arc::clone(&state)));
    Ok(Gateway { address, handle: Handle { state }, accept_task })
}

impl Gateway {
    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Why it keeps nothing, although it would. Only the store that nobody has
    /// configured may fail to open.
    pub fn store_error(&self) -> Option<&OpenError> {
        self.handle.state.stored.open_error()
    }

    /// A handle that controls it.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits until it has stopped, its log is written and its store is on the disk.
    pub async fn stopped(self) {
        // The task can only fail if the runtime is shut down.
        let _ = self.accept_task.await;
        let state = self.handle.state;
        if let Some(store) = state.stored.store() {
            // A disk that fails has been reported when it was written to.
            let _ = tokio::time::timeout(STORE_FLUSH_TIMEOUT, store.flush()).await;
        }
        let flush = tokio::task::spawn_blocking(move || state.log.flush());
        // Whoever reads the log may have stopped.
        let _ = tokio::time::timeout(FLUSH_TIMEOUT, flush).await;
    }
}

impl Handle {
    /// Replaces the configuration. Requests under way keep the old one. If the
    /// new one cannot be used, nothing changes.
    pub fn reload(&self, config: Config) -> Result<(), StartError> {
        self.state.reload(config)
    }

    /// Gives the gateway the identity that it proves at `/readyz`. The first one
    /// stays.
    pub fn set_identity(&self, identity: Identity) {
        let _ = self.state.identity.set(identity);
    }

    /// Stops, and lets open requests finish. `/readyz` reports it at once. New
    /// requests are still accepted for as long as `linger`, so that load
    /// balancers have time to notice.
    pub fn drain(&self, linger: Duration) {
        let grace = self.state.active.load().config.limits.grace;
        self.state.drain.begin(linger, grace);
    }

    /// How long the configuration says that new requests are still accepted after
    /// a signal to stop.
    pub fn linger(&self) -> Duration {
        self.state.active.load().config.linger()
    }

    /// Stops at once. Open streams get an error in their protocol.
    pub fn stop(&self) {
        self.state.drain.begin(Duration::ZERO, Duration::ZERO);
    }
}

async fn accept(listener: TcpListener, state: Arc<GatewayState>) {
    let limiter = Arc::new(ConnectionLimiter::default());
    let rejections = Arc::new(Semaphore::new(MAX_REJECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = state.drain.closing() => break,
        };
        let Ok((stream, peer)) = accepted else {
            // The usual reason is that there are no file descriptors left. They
            // come back when other connections end.
            tokio::time::sleep(ACCEPT_BACKOFF).await;
            continue;
        };
        let permit = limiter.acquire(peer.ip(), &state.active.load().config.limits);
        let state = Arc::clone(&state);
        match permit {
            Ok(permit) => {
                tokio::spawn(async move {
                    connection::serve(&state, stream, peer).await;
                    drop(permit);
                });
            }
            Err(exceeded) => {
                state.metrics.connection_rejected();
                // If many connections are being rejected, this one is closed
                // without a response.
                let Ok(permit) = Arc::clone(&rejections).try_acquire_owned() else { continue };
                tokio::spawn(async move {
                    connection::reject(&state, stream, exceeded).await;
                    drop(permit);
                });
            }
        }
    }
    drop(listener);
    let idle = || async {
        limiter.wait_until_idle().await;
        state.stored.jobs.ended().await;
    };
    tokio::select! {
        () = idle() => {}
        () = state.drain.terminated() => {
            // The connections end at the same time, each in its own task.
            let _ = tokio::time::timeout(ACCEPT_BACKOFF, idle()).await;
        }
    }
}

/// How many connections beyond the limit get a response at the same time.
const MAX_REJECTIONS: usize = 64;

/// How long the log may take to be written when the gateway stops.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// How long to wait for the disk to confirm the store.
const STORE_FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait after a failed accept.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);
