//! The signals that ask a program to stop.

#[cfg(unix)]
use tokio::signal::unix::{self, SignalKind};

/// A signal that asks to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// A request from the system or a process manager.
    Terminate,
}

/// The signals that arrive from the moment this is created.
pub(crate) struct Signals {
    #[cfg(unix)]
    caught: Option<(unix::Signal, unix::Signal)>,
}

impl Signals {
    /// Starts catching signals.
    #[cfg(unix)]
    pub(crate) fn new() -> Self {
        let interrupt = unix::signal(SignalKind::interrupt());
        let terminate = unix::signal(SignalKind::terminate());
        Self { caught: interrupt.ok().zip(terminate.ok()) }
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> Signal {
        let Some((interrupt, terminate)) = &mut self.caught else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => Signal::Interrupt,
            _ = terminate.recv() => Signal::Terminate,
        }
    }

    /// Signals are caught from the first call of `next`.
    #[cfg(not(unix))]
    pub(crate) fn new() -> Self {
        Self {}
    }

    /// Waits for the next signal.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}
