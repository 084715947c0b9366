//! The thread that writes.

use std::sync::Arc;
use std::thread;

use super::group::GroupWriter;
use super::writer::Queue;

/// Starts the thread. It ends when the queue is closed and empty.
pub(super) fn start(queue: Arc<Queue>, mut file: GroupWriter) -> std::io::Result<()> {
    let run = move || {
        while queue.wait_for_turn() {
            loop {
                thread::sleep(queue.pause());
                let Some(group) = queue.next_group() else { break };
                let written = file.write(group);
                let is_log_long = file.is_log_long();
                queue.finish(written, is_log_long);
                if is_log_long {
                    file.write_log_back();
                }
            }
        }
    };
    thread::Builder::new().name("toolwire-store".to_owned()).spawn(run)?;
    Ok(())
}
