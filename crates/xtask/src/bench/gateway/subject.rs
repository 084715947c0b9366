//! The programs that are measured, and what the system knows of them.

use std::fmt::Write as _;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::documents::Speaks;
use crate::cmd;

/// A program between the clients and the model, or nothing between them.
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) address: SocketAddr,
    pub(super) translates: bool,
    process: Option<Child>,
}

impl Subject {
    /// The model itself.
    pub(super) fn direct(model: SocketAddr) -> Self {
        Self { name: "direct", address: model, translates: false, process: None }
    }

    /// nginx as it is usually set up in front of an API that streams.
    pub(super) fn nginx(model: SocketAddr, folder: &Path) -> Result<Self> {
        let address = free_address()?;
        let config = format!(
            "daemon off; master_process off; pid nginx.pid; error_log nginx.log warn;
             events {{ worker_connections 1024; }}
             http {{
               access_log off; keepalive_requests 1000000000; tcp_nodelay on;
               client_body_buffer_size 64k;
               client_body_temp_path temp; proxy_temp_path temp; fastcgi_temp_path temp;
               uwsgi_temp_path temp; scgi_temp_path temp;
               upstream model {{
                 server {model}; keepalive 64; keepalive_requests 1000000000;
               }}
               server {{
                 listen {address};
                 location / {{
                   proxy_pass http://model; proxy_http_version 1.1;
                   proxy_set_header Connection \"\"; proxy_buffering off;
                 }}
               }}
             }}\n"
        );
        fs::write(folder.join("nginx.conf"), config)?;
        let mut command = Runs::Pinned.command(Path::new("nginx"));
        command.arg("-p").arg(folder).args(["-c", "nginx.conf", "-e", "nginx.log"]);
        Self::start("nginx", command, address, false)
    }

    /// A proxy of hyper and nothing else.
    pub(super) fn bare(runs: Runs<'_>, program: &Path, model: SocketAddr) -> Result<Self> {
        let address = free_address()?;
        let mut command = runs.command(program);
        command.arg(address.to_string()).arg(model.to_string());
        Self::start("hyper", command, address, false)
    }

    /// toolwire as it runs by default, with its log in a file.
    pub(super) fn toolwire(
        name: &'static str,
        program: &Path,
        model: SocketAddr,
        folder: &Path,
    ) -> Result<Self> {
        Self::storing(Runs::Pinned, name, program, model, folder, "engine = \"off\"")
    }

    /// toolwire with these settings of its store.
    pub(super) fn storing(
        runs: Runs<'_>,
        name: &'static str,
        program: &Path,
        model: SocketAddr,
        folder: &Path,
        store: &str,
    ) -> Result<Self> {
        let address = free_address()?;
        let mut config = format!("listen = \"{address}\"\n\n[store]\n{store}\n");
        for protocol in Speaks::ALL.map(Speaks::name) {
            let _ = write!(
                config,
                "\n[[upstream]]\nname = \"{protocol}\"\nprotocol = \"{protocol}\"\n\
                 base_url = \"http://{model}\"\nmodels = [\"{protocol}-*\"]\nlist_models = false\n"
            );
        }
        let file = folder.join(format!("{name}.toml"));
        fs::write(&file, config)?;
        let log = fs::File::create(folder.join(format!("{name}.log")))?;
        let mut command = runs.command(program);
        command.arg("serve").arg("--config").arg(file).stdout(Stdio::null()).stderr(log);
        Self::start(name, command, address, true)
    }

    fn start(
        name: &'static str,
        mut command: Command,
        address: SocketAddr,
        translates: bool,
    ) -> Result<Self> {
        let child = command.spawn().with_context(|| format!("{name} cannot be started"))?;
        // From here on it is stopped whatever happens.
        let mut subject = Self { name, address, translates, process: Some(child) };
        for _ in 0..100 {
            if TcpStream::connect(address).is_ok() {
                return Ok(subject);
            }
            if let Some(ended) = subject.process.as_mut().and_then(|child| child.try_wait().ok()?) {
                bail!("{name} ended at once ({ended})");
            }
            thread::sleep(Duration::from_millis(50));
        }
        bail!("{name} does not listen on {address}")
    }

    /// The number of its process.
    pub(super) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// The processor time that its threads have taken so far.
    pub(super) fn processor(&self) -> Result<Duration> {
        let Some(process) = &self.process else { return Ok(Duration::ZERO) };
        let mut nanoseconds = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", process.id()))? {
            // Threads come and go; one that is gone while it is looked at did next to nothing.
            let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
            let first = text.split_whitespace().next().and_then(|first| first.parse::<u64>().ok());
            nanoseconds += first.context("schedstat cannot be read")?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// The most memory that it ever held, in kilobytes.
    pub(super) fn memory(&self) -> Result<Option<u64>> {
        let Some(process) = &self.process else { return Ok(None) };
        let status = fs::read_to_string(format!("/proc/{}/status", process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.context("the system does not tell the memory of a process").map(Some)
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// How a program is run.
#[derive(Clone, Copy)]
pub(super) enum Runs<'p> {
    /// On one core of its own. The clients and the model have the others.
    Pinned,
    /// Under callgrind, which writes its counts to this file when it is asked to.
    Counted(&'p Path),
}

impl Runs<'_> {
    fn command(self, program: &Path) -> Command {
        match self {
            Self::Pinned => {
                let mut command = Command::new("taskset");
                command.args(["--cpu-list", "0"]).arg(program);
                command
            }
            Self::Counted(counts) => {
                let mut command = Command::new("valgrind");
                command.args(["--quiet", "--tool=callgrind"]);
                command.arg(format!("--callgrind-out-file={}", counts.display())).arg(program);
                command
            }
        }
    }
}

/// Keeps this process, in which the clients and the model are threads, off the core that the gateway
/// is measured on.
pub(super) fn leave_first_core() -> Result<()> {
    let cores = thread::available_parallelism()?.get();
    if cores < 2 {
        return Ok(());
    }
    let mut command = Command::new("taskset");
    command.args(["--all-tasks", "--pid", "--cpu-list", &format!("1-{}", cores - 1)]);
    command.arg(std::process::id().to_string()).stdout(Stdio::null());
    cmd::run(&mut command)
}

fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}
