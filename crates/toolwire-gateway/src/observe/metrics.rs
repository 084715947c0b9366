//! Counters and histograms, in the text format of Prometheus.
//!
//! The label sets are closed: protocols, kinds of endings, classes of status,
//! and the names of upstreams, which only the operator can add to.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolwire::Protocol;

use super::Ending;

/// Everything that is counted.
#[derive(Default)]
pub(crate) struct Metrics {
    upstreams: Mutex<BTreeMap<String, Arc<Meters>>>,
    /// Requests that reached no upstream.
    local: Meters,
    open: AtomicI64,
    connections: AtomicI64,
    refused: AtomicU64,
    turned_away: AtomicU64,
    reloads: [AtomicU64; 2],
    panics: AtomicU64,
}

/// What is counted of one upstream.
#[derive(Default)]
pub(crate) struct Meters {
    /// By the client's protocol, then by ending.
    requests: [[AtomicU64; Ending::ALL.len()]; Protocol::ALL.len()],
    losses: AtomicU64,
    calls: AtomicU64,
    tokens_in: AtomicU64,
    tokens_out: AtomicU64,
    retries: AtomicU64,
    repeats: AtomicU64,
    ejections: AtomicU64,
    total: Histogram<{ TOTAL.len() }>,
    own: Histogram<{ OWN.len() }>,
}

impl Metrics {
    /// The counters of an upstream. They outlive a reload.
    pub(crate) fn upstream(&self, name: &str) -> Arc<Meters> {
        let mut upstreams = self.upstreams.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(upstreams.entry(name.to_owned()).or_default())
    }

    /// The counters of requests that reached no upstream.
    pub(crate) fn local(&self) -> &Meters {
        &self.local
    }

    /// A request begins (1) or ends (-1).
    pub(crate) fn open(&self, change: i64) {
        self.open.fetch_add(change, Ordering::Relaxed);
    }

    /// A connection begins (1) or ends (-1).
    pub(crate) fn connection(&self, change: i64) {
        self.connections.fetch_add(change, Ordering::Relaxed);
    }

    /// The guard turned a request away.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// There was no place for a connection.
    pub(crate) fn turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    /// A panic was caught.
    pub(crate) fn panicked(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// A reload went through, or did not.
    pub(crate) fn reloaded(&self, well: bool) {
        let [failed, succeeded] = &self.reloads;
        let counter = if well { succeeded } else { failed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Everything, as Prometheus reads it.
    pub(crate) fn render(&self, lost_lines: u64) -> String {
        let upstreams = self.upstreams.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut all: Vec<(&str, &Meters)> = vec![("", &self.local)];
        all.extend(upstreams.iter().map(|(name, meters)| (name.as_str(), meters.as_ref())));
        let mut page = Page::default();
        page.requests(&all);
        page.counters(&all);
        page.histogram(
            "request_seconds",
            "From the request's head to the answer's last byte",
            &TOTAL,
            &all,
            |meters| &meters.total,
        );
        page.histogram("own_seconds", "Time spent in toolwire itself", &OWN, &all, |meters| {
            &meters.own
        });
        page.gauge("open_requests", "Requests under way", self.open.load(Ordering::Relaxed));
        page.gauge(
            "open_connections",
            "Connections of clients",
            self.connections.load(Ordering::Relaxed),
        );
        page.single("refused_total", "Requests turned away before they were read", &self.refused);
        page.single(
            "connections_refused_total",
            "Connections beyond the limits",
            &self.turned_away,
        );
        let [failed, succeeded] = &self.reloads;
        page.single("reloads_total", "Configurations put in force", succeeded);
        page.single("reloads_failed_total", "Configurations that were refused", failed);
        page.single("panics_total", "Requests that failed by a defect of toolwire", &self.panics);
        page.single(
            "log_lines_lost_total",
            "Lines nobody took in time",
            &AtomicU64::new(lost_lines),
        );
        page.0
    }
}

impl Meters {
    /// A request ended.
    pub(crate) fn ended(&self, client: Protocol, ending: Ending, total: Duration, own: Duration) {
        if let Some(counter) =
            self.requests.get(client as usize).and_then(|row| row.get(ending as usize))
        {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.total.record(total, &TOTAL);
        self.own.record(own, &OWN);
    }

    pub(crate) fn lost(&self, count: usize) {
        self.losses.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn called(&self, count: usize) {
        self.calls.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn used(&self, input: u64, output: u64) {
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

/// How long things took. The last bucket holds what is longer than all bounds.
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
    fn record(&self, took: Duration, bounds: &[f64; N]) {
        let seconds = took.as_secs_f64();
        let bucket = bounds.iter().zip(&self.buckets).find(|(bound, _)| seconds <= **bound);
        bucket.map_or(&self.beyond, |(_, bucket)| bucket).fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn requests(&mut self, all: &[(&str, &Meters)]) {
        self.head("requests_total", "Requests, by how they ended", "counter");
        for (upstream, meters) in all {
            for (client, row) in Protocol::ALL.iter().zip(&meters.requests) {
                for (ending, counter) in Ending::ALL.iter().zip(row) {
                    let count = counter.load(Ordering::Relaxed);
                    if count == 0 {
                        continue;
                    }
                    let _ = writeln!(
                        self.0,
                        "toolwire_requests_total{{upstream=\"{}\",client=\"{client}\",ending=\"{}\"}} {count}",
                        label(upstream),
                        ending.as_str(),
                    );
                }
            }
        }
    }

    fn counters(&mut self, all: &[(&str, &Meters)]) {
        type Pick = fn(&Meters) -> &AtomicU64;
        let counters: [(&str, &str, Pick); 7] = [
            ("losses_total", "Lines of the ledger that are losses", |meters| &meters.losses),
            ("calls_total", "Tool calls in answers", |meters| &meters.calls),
            ("input_tokens_total", "Tokens read, as reported", |meters| &meters.tokens_in),
            ("output_tokens_total", "Tokens generated, as reported", |meters| &meters.tokens_out),
            ("retries_total", "Attempts after the first", |meters| &meters.retries),
            ("repeats_total", "Requests sent again because nobody had looked at them", |meters| {
                &meters.repeats
            }),
            ("ejections_total", "Times an upstream was taken out", |meters| &meters.ejections),
        ];
        for (name, help, pick) in counters {
            self.head(name, help, "counter");
            for (upstream, meters) in all {
                let count = pick(meters).load(Ordering::Relaxed);
                let upstream = label(upstream);
                let _ = writeln!(self.0, "toolwire_{name}{{upstream=\"{upstream}\"}} {count}");
            }
        }
    }

    fn histogram<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        bounds: &[f64; N],
        all: &[(&str, &Meters)],
        pick: fn(&Meters) -> &Histogram<N>,
    ) {
        self.head(name, help, "histogram");
        for (upstream, meters) in all {
            let upstream = label(upstream);
            let Histogram { buckets, beyond, micros } = pick(meters);
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

/// A label's value as the format wants it.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Bounds for whole requests: from the demo model to long reasoning.
const TOTAL: [f64; 14] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 1200.0];

/// Bounds for toolwire's own share.
const OWN: [f64; 10] = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25];
