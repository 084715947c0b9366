//! Programs that an agent leaves running when it ends: an app server, a language
//! server, a shell command in the background.
//!
//! A process group would not do. The agent must stay in the terminal's own group to
//! read from it, and its helpers start groups and sessions of their own.

#[cfg(target_os = "linux")]
pub(crate) use linux::{adopt, end_all};

/// Only Linux hands orphans to a process that asks for them.
#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt() {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn end_all() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;
    use std::fs;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait,
    };

    /// Makes this process the parent of whatever its descendants leave behind.
    pub(crate) fn adopt() {
        // Without it, leftovers belong to the system, and there is nothing to end.
        let _ = set_child_subreaper(Some(getpid()));
    }

    /// Ends every child, and the children that those leave behind. Call it when the
    /// agent has ended. They get some time to tidy up.
    pub(crate) fn end_all() {
        let start = Instant::now();
        let mut asked = HashSet::new();
        while start.elapsed() < PATIENCE * 2 {
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
            let children = children();
            if children.is_empty() {
                return;
            }
            let is_patient = start.elapsed() < PATIENCE;
            for child in children {
                // The process may have ended in the meantime. As long as nobody has
                // waited for it, no other gets its number.
                let _ = match is_patient {
                    true if asked.insert(child) => kill_process(child, Signal::TERM),
                    true => Ok(()),
                    false => kill_process(child, Signal::KILL),
                };
            }
            sleep(PAUSE);
        }
    }

    /// The children of this process.
    fn children() -> Vec<Pid> {
        let own = getpid();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            (parent(&stat)? == own).then_some(pid)
        });
        pids.collect()
    }

    /// The parent in a line of `/proc/PID/stat`. The name before it is in parentheses
    /// and may hold anything.
    fn parent(stat: &str) -> Option<Pid> {
        let (_, rest) = stat.rsplit_once(')')?;
        Pid::from_raw(rest.split_whitespace().nth(1)?.parse().ok()?)
    }

    const PATIENCE: Duration = Duration::from_secs(2);
    const PAUSE: Duration = Duration::from_millis(20);
}
