//! A gateway in a process of its own, so that its memory and its files are only
//! its own.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire_gateway::config::StoreConfig;
use toolwire_store::Options;

use super::is_full;
use crate::upstream::Server;
use crate::watched_log::SEARCHED;
use crate::{at, config, ms, start};

/// A gateway that runs until this is dropped.
pub(crate) struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
}

/// What the process uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// Bytes of memory.
    pub(super) memory: usize,
    /// Open files and sockets.
    pub(super) files: usize,
    pub(super) threads: usize,
}

/// What differs from the configuration of the other tests.
#[derive(Clone, Copy, Default)]
pub(crate) struct Settings {
    /// How long a client may read nothing, in milliseconds.
    pub(super) stall: Option<u64>,
    /// What all bodies may take.
    pub(super) bodies_total: Option<usize>,
    /// How long an upstream may send nothing, in milliseconds.
    pub(super) upstream: Option<u64>,
}

impl Process {
    /// Starts this program again, for the gateway alone.
    pub(super) fn start(upstreams: &[&Server], settings: Settings) -> Self {
        Self::start_with_store(upstreams, settings, None)
    }

    /// The same with a store: the address of a database, or a file.
    pub(crate) fn start_with_store(
        upstreams: &[&Server],
        settings: Settings,
        store: Option<&str>,
    ) -> Self {
        let upstreams: Vec<_> = upstreams
            .iter()
            .map(|server| json!([server.protocol.as_str(), server.address.to_string()]))
            .collect();
        let Settings { stall, bodies_total, upstream } = settings;
        let order = json!({
            "upstreams": upstreams,
            "stall": stall,
            "bodies_total": bodies_total,
            "upstream": upstream,
            "store": store,
        });
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["soak::process::gateway", "--exact", "--nocapture"])
            .env(ORDER, order.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the gateway does not start");
            if let Some((_, address)) = line.split_once(LISTENING) {
                break address.trim().parse().unwrap();
            }
        };
        Self { child, output, address }
    }

    /// What the process uses at the moment.
    pub(super) fn usage(&self) -> Usage {
        let folder = format!("/proc/{}", self.child.id());
        let status = std::fs::read_to_string(format!("{folder}/status")).unwrap();
        let figure = |name| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<usize>().unwrap()
        };
        Usage {
            memory: figure("VmRSS:") * 1024,
            files: std::fs::read_dir(format!("{folder}/fd")).unwrap().count(),
            threads: figure("Threads:"),
        }
    }

    /// Waits until the memory hardly changes any more.
    pub(super) async fn settled(&self) -> Usage {
        let mut last = self.usage();
        for _ in 0..50 {
            tokio::time::sleep(ms(200)).await;
            let now = self.usage();
            if now.memory.abs_diff(last.memory) < 64 * 1024 {
                return now;
            }
            last = now;
        }
        last
    }

    /// Kills the gateway.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the gateway, which must have seen no secret in its log.
    pub(super) fn stop(mut self) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
        let (_, searched) = rest.split_once(LINES).expect("the end of the gateway");
        let searched = searched.split_whitespace().next().unwrap().parse().unwrap();
        SEARCHED.fetch_add(searched, Ordering::Relaxed);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The gateway itself: no test, unless another one starts it.
#[test]
#[allow(clippy::print_stdout, reason = "the other process reads it")]
fn gateway() {
    let Some(order) = std::env::var(ORDER).ok() else { return };
    let order: Value = serde_json::from_str(&order).unwrap();
    let mut upstreams = Vec::new();
    for upstream in order["upstreams"].as_array().unwrap() {
        let name = upstream[0].as_str().unwrap();
        let protocol = Protocol::ALL.into_iter().find(|known| known.as_str() == name).unwrap();
        let address = upstream[1].as_str().unwrap().parse().unwrap();
        let mut upstream = at(&Server::nowhere(protocol, address));
        if let Some(time) = order["upstream"].as_u64() {
            upstream.timeouts.headers = ms(time);
            upstream.timeouts.whole = ms(time);
            upstream.timeouts.idle = ms(time);
        }
        upstreams.push(upstream);
    }
    let mut config = config(upstreams);
    config.limits.connections = 20_000;
    config.retry.eject_after = 1_000_000;
    if let Some(time) = order["stall"].as_u64() {
        config.limits.stall = ms(time);
    }
    if let Some(bytes) = order["bodies_total"].as_u64() {
        config.limits.bodies_total = usize::try_from(bytes).unwrap();
    }
    if let Some(store) = order["store"].as_str() {
        let is_address = store.starts_with("postgresql://");
        let options = if is_address { Options::postgres(store) } else { Options::sqlite(store) };
        config.store = StoreConfig::On(options);
    }
    let threads = if is_full() { 2 } else { 1 };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(threads).enable_all().build().unwrap();
    let gateway = runtime.block_on(start(config));
    println!("{LISTENING}{}", gateway.address());
    // The input ends when the other process has finished or failed.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    println!("{LINES}{}", SEARCHED.load(Ordering::Relaxed));
}

const ORDER: &str = "TOOLWIRE_TEST_GATEWAY";
const LISTENING: &str = "listening on ";
const LINES: &str = "lines of the log: ";
