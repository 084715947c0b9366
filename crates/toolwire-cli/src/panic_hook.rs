//! What is said when the program itself is at fault.

use std::io::Write;
use std::panic::{self, PanicHookInfo};

/// Lets a panic say where it happened and nothing else: its own message may
/// hold what a user sent.
pub(crate) fn tell_only_where() {
    panic::set_hook(Box::new(|info| {
        // With standard error gone, there is nobody to tell.
        let _ = std::io::stderr().lock().write_all(told(info).as_bytes());
    }));
}

fn told(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "toolwire {version} met a defect of its own at {place}.\n\
         Please report this line. It holds nothing of what was sent.\n"
    )
}

#[cfg(test)]
mod tests;
