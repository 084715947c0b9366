//! What is printed when toolwire itself has a bug.

use std::io::Write;
use std::panic::{self, PanicHookInfo};

/// Makes a panic print its location only. Its message may contain what a user
/// sent.
pub(crate) fn install() {
    panic::set_hook(Box::new(|info| {
        // If standard error is closed, there is nowhere to report to.
        let _ = std::io::stderr().lock().write_all(message(info).as_bytes());
    }));
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let location =
        info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "toolwire {version} hit a bug in its own code at {location}.\n\
         Please report this line. It contains nothing that was sent.\n"
    )
}

#[cfg(test)]
mod tests;
