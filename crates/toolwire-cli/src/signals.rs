//! The signals that ask a program to stop.

#[cfg(unix)]
use tokio::signal::unix::{self, SignalKind};

/// What asks to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The system, or whoever runs the program.
    Terminate,
}

/// The signals, caught from the moment this is made.
pub(crate) struct Signals {
    #[cfg(unix)]
    caught: Option<(unix::Signal, unix::Signal)>,
}

impl Signals {
    /// Catches signals from here on.
    #[cfg(unix)]
    pub(crate) fn new() -> Self {
        let interrupt = unix::signal(SignalKind::interrupt());
        let terminate = unix::signal(SignalKind::terminate());
        Self { caught: interrupt.ok().zip(terminate.ok()) }
    }

    /// Waits for the next one.
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

    /// Catches signals from the first wait on.
    #[cfg(not(unix))]
    pub(crate) fn new() -> Self {
        Self {}
    }

    /// Waits for the next one.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}
