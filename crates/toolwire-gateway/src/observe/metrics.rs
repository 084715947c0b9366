//! Counters and histograms in the Prometheus text format.
//!
//! The label sets are closed: protocols, outcomes, and the names of upstreams,
//! which only the operator can add to.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolwire::Protocol;

use super::Outcome;
use crate::memory::MemoryBudget;

/// The metrics of a gateway.
#[derive(Default)]
pub(crate) struct Metrics {
    upstreams: Mutex<BTreeMap<String, Arc<UpstreamMetrics>>>,
    /// Requests that reached no upstream.
    without_upstream: UpstreamMetrics,
    open_requests: AtomicI64,
    open_connections: AtomicI64,
    rejected_requests: AtomicU64,
    rejected_connections: AtomicU64,
    reloads: [AtomicU64; 2],
    model_lists: [AtomicU64; 2],
    panics: AtomicU64,
}

/// The metrics of one upstream.
#[derive(Default)]
pub(crate) struct UpstreamMetrics {
    /// By the client's protocol, then by outcome.
    requests: [[AtomicU64; Outcome::ALL.len()]; Protocol::ALL.len() + 1],
    losses: AtomicU64,
    /// Those that change nothing a caller relies on.
    lesser_losses: AtomicU64,
    calls: AtomicU64,
    tokens_in: AtomicU64,
    tokens_out: AtomicU64,
    retries: AtomicU64,
    repeats: AtomicU64,
    ejections: AtomicU64,
    total_time: Histogram<{ TOTAL_BOUNDS.len() }>,
    own_time: Histogram<{ OWN_BOUNDS.len() }>,
}

impl Metrics {
    /// The metrics of an upstream. They survive a reload.
    pub(crate) fn upstream(&self, name: &str) -> Arc<UpstreamMetrics> {
        let mut upstreams = self.upstreams.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(upstreams.entry(name.to_owned()).or_default())
    }

    /// The metrics of requests that reached no upstream.
    pub(crate) fn without_upstream(&self) -> &UpstreamMetrics {
        &self.without_upstream
    }

    /// Counts a request that begins (1) or ends (-1).
    pub(crate) fn open_requests(&self, change: i64) {
        self.open_requests.fetch_add(change, Ordering::Relaxed);
    }

    /// Counts a connection that begins (1) or ends (-1).
    pub(crate) fn open_connections(&self, change: i64) {
        self.open_connections.fetch_add(change, Ordering::Relaxed);
    }

    /// Counts a request that the guard rejected.
    pub(crate) fn request_rejected(&self) {
        self.rejected_requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection beyond the limits.
    pub(crate) fn connection_rejected(&self) {
        self.rejected_connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a panic.
    pub(crate) fn panicked(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a reload.
    pub(crate) fn reloaded(&self, is_ok: bool) {
        let [failed, succeeded] = &self.reloads;
        let counter = if is_ok { succeeded } else { failed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a list of models that was asked for.
    pub(crate) fn listed(&self, is_ok: bool) {
        let [failed, succeeded] = &self.model_lists;
        let counter = if is_ok { succeeded } else { failed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// All metrics in the Prometheus text format.
    pub(crate) fn render(
        &self,
        lost_lines: u64,
        bodies: &MemoryBudget,
        streams: &MemoryBudget,
        has_store: Option<bool>,
    ) -> String {
        let upstreams = self.upstreams.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut all: Vec<(&str, &UpstreamMetrics)> = vec![("", &self.without_upstream)];
        all.extend(upstreams.iter().map(|(name, metrics)| (name.as_str(), metrics.as_ref())));
        let mut page = Page::default();
        page.requests(&all);
        page.counters(&all);
        page.histogram(
            "request_seconds",
            "Time from the head of the request to the last byte of the response",
            &TOTAL_BOUNDS,
            &all,
            |metrics| &metrics.total_time,
        );
        page.histogram(
            "own_seconds",
            "Time spent in toolwire itself",
            &OWN_BOUNDS,
            &all,
            |metrics| &metrics.own_time,
        );
        page.gauge(
            "open_requests",
            "Requests in progress",
            self.open_requests.load(Ordering::Relaxed),
        );
        page.gauge(
            "open_connections",
            "Open client connections",
            self.open_connections.load(Ordering::Relaxed),
        );
        let bytes = |budget: &MemoryBudget| i64::try_from(budget.used()).unwrap_or(i64::MAX);
        page.gauge(
            "body_bytes",
            "Bytes of request bodies and whole responses in memory",
            bytes(bodies),
        );
        page.gauge("stream_bytes", "Bytes that streams keep until they end", bytes(streams));
        if let Some(has_store) = has_store {
            let help = "Whether the store works, as far as is known";
            page.gauge("store_available", help, has_store.into());
        }
        page.single(
            "bodies_refused_total",
            "Bodies that did not fit into bodies_total",
            bodies.refusals(),
        );
        page.single(
            "streams_refused_total",
            "Streams that did not fit into streams_total",
            streams.refusals(),
        );
        page.single(
            "refused_total",
            "Requests rejected before their body was read",
            &self.rejected_requests,
        );
        page.single(
            "connections_refused_total",
            "Connections rejected because of a limit",
            &self.rejected_connections,
        );
        let [failed, succeeded] = &self.reloads;
        page.single("reloads_total", "Successful configuration reloads", succeeded);
        page.single("reloads_failed_total", "Failed configuration reloads", failed);
        let [failed, succeeded] = &self.model_lists;
        page.single("model_lists_total", "Lists of models read from upstreams", succeeded);
        page.single(
            "model_lists_failed_total",
            "Lists of models that upstreams did not give",
            failed,
        );
        page.single(
            "panics_total",
            "Requests that failed because of a bug in toolwire",
            &self.panics,
        );
        page.single(
            "log_lines_lost_total",
            "Log lines dropped because the log was blocked",
            &AtomicU64::new(lost_lines),
        );
        page.0
    }
}

impl UpstreamMetrics {
    /// Counts a request that ended.
    pub(crate) fn finished(
        &self,
        client: Protocol,
        outcome: Outcome,
        total: Duration,
        own: Duration,
    ) {
        let known = Protocol::ALL.iter().position(|known| *known == client);
        let row = self.requests.get(known.unwrap_or(Protocol::ALL.len()));
        if let Some(counter) = row.and_then(|row| row.get(outcome as usize)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.total_time.record(total, &TOTAL_BOUNDS);
        self.own_time.record(own, &OWN_BOUNDS);
    }

    pub(crate) fn add_losses(&self, losses: usize, lesser_losses: usize) {
        self.losses.fetch_add(losses as u64, Ordering::Relaxed);
        self.lesser_losses.fetch_add(lesser_losses as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_calls(&self, count: usize) {
        self.calls.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_tokens(&self, input: u64, output: u64) {
        self.tokens_in.fetch_add(input, Ordering::Relaxed);
        self.tokens_out.fetch_add(output, Ordering::Relaxed);
    }

    pub(crate) fn retried(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn repeated(&self) {
        self.repeats.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ejected(&self) {
        self.ejections.fetch_add(1, Ordering::Relaxed);
    }
}

/// Durations by bucket. The last one holds what is longer than all bounds.
struct Histogram<const N: usize> {
    buckets: [AtomicU64; N],
    beyond: AtomicU64,
    micros: AtomicU64,
}

impl<const N: usize> Default for Histogram<N> {
    fn default() -> Self {
        Self {
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            beyond: AtomicU64::new(0),
            micros: AtomicU64::new(0),
        }
    }
}

impl<const N: usize> Histogram<N> {
    fn record(&self, duration: Duration, bounds: &[f64; N]) {
        let seconds = duration.as_secs_f64();
        let bucket = bounds.iter().zip(&self.buckets).find(|(bound, _)| seconds <= **bound);
        bucket.map_or(&self.beyond, |(_, bucket)| bucket).fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn requests(&mut self, all: &[(&str, &UpstreamMetrics)]) {
        self.head("requests_total", "Requests by outcome", "counter");
        for (upstream, metrics) in all {
            let clients = Protocol::ALL.map(Protocol::as_str).into_iter().chain(["other"]);
            for (client, row) in clients.zip(&metrics.requests) {
                for (outcome, counter) in Outcome::ALL.iter().zip(row) {
                    let count = counter.load(Ordering::Relaxed);
                    if count == 0 {
                        continue;
                    }
                    let _ = writeln!(
                        self.0,
                        "toolwire_requests_total{{upstream=\"{}\",client=\"{client}\",ending=\"{}\"}} {count}",
                        escape_label(upstream),
                        outcome.as_str(),
                    );
                }
            }
        }
    }

    fn counters(&mut self, all: &[(&str, &UpstreamMetrics)]) {
        type Counter = fn(&UpstreamMetrics) -> &AtomicU64;
        let counters: [(&str, &str, Counter); 8] = [
            ("losses_total", "Losses in translation", |metrics| &metrics.losses),
            (
                "lesser_losses_total",
                "Losses in translation that change nothing a caller relies on",
                |metrics| &metrics.lesser_losses,
            ),
            ("calls_total", "Tool calls in responses", |metrics| &metrics.calls),
            ("input_tokens_total", "Input tokens, as reported by upstreams", |metrics| {
                &metrics.tokens_in
            }),
            ("output_tokens_total", "Output tokens, as reported by upstreams", |metrics| {
                &metrics.tokens_out
            }),
            ("retries_total", "Attempts after the first one", |metrics| &metrics.retries),
            (
                "repeats_total",
                "Requests sent again because the upstream had not processed them",
                |metrics| &metrics.repeats,
            ),
            ("ejections_total", "Times an upstream was ejected", |metrics| &metrics.ejections),
        ];
        for (name, help, counter) in counters {
            self.head(name, help, "counter");
            for (upstream, metrics) in all {
                let count = counter(metrics).load(Ordering::Relaxed);
                let upstream = escape_label(upstream);
                let _ = writeln!(self.0, "toolwire_{name}{{upstream=\"{upstream}\"}} {count}");
            }
        }
    }

    fn histogram<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        bounds: &[f64; N],
        all: &[(&str, &UpstreamMetrics)],
        histogram: fn(&UpstreamMetrics) -> &Histogram<N>,
    ) {
        self.head(name, help, "histogram");
        for (upstream, metrics) in all {
            let upstream = escape_label(upstream);
            let Histogram { buckets, beyond, micros } = histogram(metrics);
            let mut count = 0;
            for (bound, bucket) in bounds.iter().zip(buckets) {
                count += bucket.load(Ordering::Relaxed);
                let _ = writeln!(
                    self.0,
                    "toolwire_{name}_bucket{{upstream=\"{upstream}\",le=\"{bound}\"}} {count}"
                );
            }
            count += beyond.load(Ordering::Relaxed);
            let sum = Duration::from_micros(micros.load(Ordering::Relaxed)).as_secs_f64();
            let _ = writeln!(
                self.0,
                "toolwire_{name}_bucket{{upstream=\"{upstream}\",le=\"+Inf\"}} {count}\n\
                 toolwire_{name}_sum{{upstream=\"{upstream}\"}} {sum}\n\
                 toolwire_{name}_count{{upstream=\"{upstream}\"}} {count}"
            );
        }
    }

    fn gauge(&mut self, name: &str, help: &str, value: i64) {
        self.head(name, help, "gauge");
        let _ = writeln!(self.0, "toolwire_{name} {value}");
    }

    fn single(&mut self, name: &str, help: &str, counter: &AtomicU64) {
        self.head(name, help, "counter");
        let _ = writeln!(self.0, "toolwire_{name} {}", counter.load(Ordering::Relaxed));
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.0, "# HELP toolwire_{name} {help}.\n# TYPE toolwire_{name} {kind}");
    }
}

/// Escapes the value of a label.
fn escape_label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Bounds for whole requests: from the demo model to long reasoning.
const TOTAL_BOUNDS: [f64; 14] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 1200.0];

/// Bounds for toolwire's own share.
const OWN_BOUNDS: [f64; 10] =
    [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25];
