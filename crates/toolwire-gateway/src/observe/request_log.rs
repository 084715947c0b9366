//! One request, as the log and the counters know it.
//!
//! The record is settled when it goes away, so a request whose client left is
//! recorded like any other.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolwire::model::Usage;
use toolwire::wire::Object;
use toolwire::{Entry, Protocol};

use crate::active_config::Shared;
use crate::config;
use crate::upstream::Upstream;

/// One request under way.
pub(crate) struct Access {
    shared: Arc<Shared>,
    style: config::Log,
    /// The id that the client gets and that the upstream is sent.
    pub(crate) id: String,
    client: Protocol,
    path: &'static str,
    model: Option<String>,
    upstream: Option<Arc<Upstream>>,
    status: u16,
    ending: Ending,
    attempts: u32,
    received: usize,
    sent: usize,
    losses: Vec<Entry>,
    calls: usize,
    tokens: Option<(u64, u64)>,
    started: Instant,
    own: Duration,
    /// Since when toolwire itself is at work.
    busy: Option<Instant>,
    /// From the first attempt until the upstream's first byte that counts.
    upstream_time: Option<Duration>,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With an answer.
    Answered,
    /// With an error that is the client's to mend.
    Refused,
    /// With an error of the upstream or of toolwire.
    Failed,
    /// With an error in the middle of a stream.
    Broken,
    /// The client went away.
    Left,
}

impl Ending {
    pub(crate) const ALL: [Self; 5] =
        [Self::Answered, Self::Refused, Self::Failed, Self::Broken, Self::Left];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Broken => "broken",
            Self::Left => "left",
        }
    }
}

impl Access {
    /// A request came in.
    pub(crate) fn open(
        shared: &Arc<Shared>,
        style: config::Log,
        id: String,
        client: Protocol,
        path: &'static str,
    ) -> Self {
        shared.metrics.open(1);
        let now = Instant::now();
        Self {
            shared: Arc::clone(shared),
            style,
            id,
            client,
            path,
            model: None,
            upstream: None,
            status: 499,
            ending: Ending::Left,
            attempts: 0,
            received: 0,
            sent: 0,
            losses: Vec::new(),
            calls: 0,
            tokens: None,
            started: now,
            own: Duration::ZERO,
            busy: Some(now),
            upstream_time: None,
        }
    }

    /// The model that the client asked for, and how long its request is.
    pub(crate) fn asked(&mut self, model: &str, received: usize) {
        self.model = Some(model.to_owned());
        self.received = received;
    }

    /// The upstream that gets the request next.
    pub(crate) fn tries(&mut self, upstream: &Arc<Upstream>) {
        if self.attempts > 0 {
            upstream.meters.retried();
        }
        self.attempts += 1;
        self.upstream = Some(Arc::clone(upstream));
    }

    /// What the translation could not carry.
    pub(crate) fn lost(&mut self, entries: &[Entry]) {
        self.losses.extend(entries.iter().filter(|entry| entry.is_loss()).cloned());
    }

    /// Toolwire waits for somebody else.
    pub(crate) fn pause(&mut self) {
        if let Some(since) = self.busy.take() {
            self.own += since.elapsed();
        }
    }

    /// Toolwire is at work again.
    pub(crate) fn resume(&mut self) {
        self.busy = Some(Instant::now());
    }

    /// Toolwire was at work for so long while it waited otherwise.
    pub(crate) fn worked(&mut self, time: Duration) {
        self.own += time;
    }

    /// The upstream's answer is there.
    pub(crate) fn heard(&mut self) {
        self.upstream_time = Some(self.started.elapsed().saturating_sub(self.own));
    }

    /// Bytes went to the client.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.sent += bytes;
    }

    /// What the answer cost and called.
    pub(crate) fn used(&mut self, usage: Option<&Usage<'_>>, calls: usize) {
        self.tokens = usage.map(|usage| (usage.input, usage.output));
        self.calls = calls;
    }

    /// The status that the client sees.
    pub(crate) fn status(&mut self, status: u16) {
        self.status = status;
    }

    /// How it ended.
    pub(crate) fn end(&mut self, ending: Ending) {
        self.ending = ending;
    }

    fn text(&self, total: Duration) -> Vec<u8> {
        let mut line = String::with_capacity(160);
        let model = self.model.as_deref().unwrap_or("-");
        let model: String = model.chars().take(MODEL_LIMIT).collect();
        let _ = write!(line, "{} {} {}", self.id, self.status, self.ending.as_str());
        let _ = write!(line, " {} {}", self.path, model.escape_debug());
        if let Some(upstream) = &self.upstream {
            let _ = write!(
                line,
                " {}→{} via {}",
                self.client, upstream.config.protocol, upstream.config.name
            );
        }
        let _ = write!(line, " {}B→{}B", self.received, self.sent);
        let _ = write!(line, " {:.1?} (own {:.0?})", total, self.own);
        if self.attempts > 1 {
            let _ = write!(line, " attempts={}", self.attempts);
        }
        if let Some((input, output)) = self.tokens {
            let _ = write!(line, " tokens={input}+{output}");
        }
        if self.calls > 0 {
            let _ = write!(line, " calls={}", self.calls);
        }
        for entry in self.losses.iter().take(LOSS_LIMIT) {
            let _ = write!(line, " lost={}({})", entry.path.escape_debug(), entry.code);
        }
        line.push('\n');
        line.into_bytes()
    }

    fn json(&self, total: Duration) -> Vec<u8> {
        let mut line = Vec::with_capacity(384);
        let mut object = Object::new(&mut line);
        object.put("time", &seconds_now());
        object.put("id", &self.id);
        object.put("path", self.path);
        object.put("status", &u64::from(self.status));
        object.put("ending", self.ending.as_str());
        object.maybe("model", self.model.as_ref());
        object.put("client", self.client.as_str());
        if let Some(upstream) = &self.upstream {
            object.put("upstream", &upstream.config.name);
            object.put("upstream_protocol", upstream.config.protocol.as_str());
        }
        object.put("attempts", &u64::from(self.attempts));
        object.put("bytes_in", &(self.received as u64));
        object.put("bytes_out", &(self.sent as u64));
        object.put("total_us", &micros(total));
        object.put("own_us", &micros(self.own));
        if let Some(upstream) = self.upstream_time {
            object.put("upstream_us", &micros(upstream));
        }
        if let Some((input, output)) = self.tokens {
            object.put("input_tokens", &input);
            object.put("output_tokens", &output);
        }
        object.put("calls", &(self.calls as u64));
        if !self.losses.is_empty() {
            object.put("losses", &self.losses);
        }
        drop(object);
        line.push(b'\n');
        line
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        self.pause();
        let total = self.started.elapsed();
        let metrics = &self.shared.metrics;
        metrics.open(-1);
        let meters = self.upstream.as_ref().map_or(metrics.local(), |upstream| &upstream.meters);
        meters.ended(self.client, self.ending, total, self.own);
        meters.lost(self.losses.len());
        meters.called(self.calls);
        if let Some((input, output)) = self.tokens {
            meters.used(input, output);
        }
        match self.style {
            config::Log::Text => self.shared.log.line(self.text(total)),
            config::Log::Json => self.shared.log.line(self.json(total)),
            config::Log::Off => {}
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Seconds since 1970.
fn seconds_now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

/// How much of a model's name a line for people shows.
const MODEL_LIMIT: usize = 100;

/// How many losses a line for people names.
const LOSS_LIMIT: usize = 8;
