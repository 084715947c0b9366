//! The front door: listen, take connections, and let them end when the gateway
//! stops.

mod connection;
mod connection_limiter;
mod drain;
mod timeout_stream;

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use self::connection_limiter::Places;
pub(crate) use self::drain::{Cut, Drain};
use crate::active_config::{Live, Shared, Source, StartError};
use crate::config::Config;
use crate::observe::{Log, Metrics};
use crate::retry::Budget;

/// What a gateway needs besides its configuration.
pub struct Setup {
    /// Where a reload through the admin call gets the configuration from.
    pub source: Option<Source>,
    /// Where the lines of the log go.
    pub log: Box<dyn Write + Send>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { source: None, log: Box::new(std::io::stderr()) }
    }
}

/// A gateway that is running.
pub struct Gateway {
    address: SocketAddr,
    handle: Handle,
    accepting: JoinHandle<()>,
}

/// Steers a gateway from elsewhere.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

/// Starts a gateway. It listens when this returns, and serves until its handle
/// says otherwise.
pub async fn serve(config: Config, setup: Setup) -> Result<Gateway, StartError> {
    let metrics = Metrics::default();
    let wanted = config.listen;
    let live = Live::build(config, &metrics, &[])?;
    let cannot = |source| StartError::Listen { address: wanted, source };
    let listener = TcpListener::bind(wanted).await.map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let Setup { source, log } = setup;
    let shared = Arc::new(Shared {
        live: ArcSwap::from_pointee(live),
        metrics,
        log: Log::new(log),
        drain: Drain::default(),
        budget: Budget::default(),
        source,
    });
    let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
    Ok(Gateway { address, handle: Handle { shared }, accepting })
}

impl Gateway {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Something to steer it with.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits until it has stopped and its log is written.
    pub async fn stopped(self) {
        // It ends by itself, or the runtime ends with it.
        let _ = self.accepting.await;
        let shared = self.handle.shared;
        let _ = tokio::task::spawn_blocking(move || shared.log.flush()).await;
    }
}

impl Handle {
    /// Puts another configuration in force. Requests under way keep theirs, and
    /// a configuration that cannot be served changes nothing.
    pub fn reload(&self, config: Config) -> Result<(), StartError> {
        self.shared.reload(config)
    }

    /// Stops, and lets open requests end. `/readyz` says so at once; new
    /// requests are still taken for as long as `linger`, until whoever sends
    /// them has noticed.
    pub fn drain(&self, linger: Duration) {
        let grace = self.shared.live.load().config.limits.grace;
        self.shared.drain.begin(linger, grace);
    }

    /// Stops at once. Open streams get an error in their protocol.
    pub fn stop(&self) {
        self.shared.drain.begin(Duration::ZERO, Duration::ZERO);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Places::default());
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shared.drain.closing() => break,
        };
        let Ok((stream, peer)) = accepted else {
            // Out of descriptors, mostly. They come back when others end.
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let place = places.take(peer.ip(), &shared.live.load().config.limits);
        let shared = Arc::clone(&shared);
        match place {
            Ok(place) => {
                tokio::spawn(async move {
                    connection::serve(&shared, stream, peer).await;
                    drop(place);
                });
            }
            Err(full) => {
                shared.metrics.turned_away();
                // Whoever comes while many are being told why is not told.
                let Ok(voice) = Arc::clone(&refusals).try_acquire_owned() else { continue };
                tokio::spawn(async move {
                    connection::turn_away(&shared, stream, full).await;
                    drop(voice);
                });
            }
        }
    }
    drop(listener);
    tokio::select! {
        () = places.empty() => {}
        () = shared.drain.dead() => {}
    }
}

/// How many connections may be told at a time why they are not served.
const REFUSALS: usize = 64;

/// A pause after a connection could not be taken.
const BREATH: Duration = Duration::from_millis(50);
