//! What is logged and counted about one request.
//!
//! The line is written when the value is dropped, so a request whose client left
//! is logged like any other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::header::HeaderMap;
use toolwire::model::Usage;
use toolwire::wire::{Object, Write as _};
use toolwire::{Action, Code, Entry, Protocol};

use super::figures::{Precision, write_duration, write_number, write_time};
use super::notes::Notes;
use super::{Reason, line};
use crate::config::{self, SecretSource};
use crate::state::GatewayState;
use crate::upstream::Upstream;

/// The log entry of a request that is under way.
pub(crate) struct RequestLog {
    /// The request's id, which both the client and the upstream get.
    pub(crate) id: String,
    /// The record is handed from one to the next all the way, so it stays in one
    /// place.
    record: Box<LogRecord>,
}

/// What is known so far.
struct LogRecord {
    state: Arc<GatewayState>,
    format: config::LogFormat,
    client: Protocol,
    path: &'static str,
    model: Option<String>,
    upstream: Option<Arc<Upstream>>,
    status: u16,
    outcome: Outcome,
    attempts: u32,
    received: usize,
    sent: usize,
    /// The first losses, clipped, and how many there are.
    losses: Vec<Entry>,
    loss_count: usize,
    lesser_loss_count: usize,
    calls: usize,
    tokens: Option<(u64, u64)>,
    started: Instant,
    /// The time that toolwire itself has worked.
    own_time: Duration,
    /// When it began to work, unless it is waiting.
    working_since: Option<Instant>,
    /// The time until the upstream responded, without toolwire's own.
    upstream_time: Option<Duration>,
    notes: Notes,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The client got a response.
    Answered,
    /// The client got an error that it must fix.
    Refused,
    /// The client got an error of the upstream or of toolwire.
    Failed,
    /// An answer broke off: a stream ended with an error, or a response that passed says
    /// itself that it failed.
    Broken,
    /// The client left.
    Left,
}

impl Outcome {
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

impl RequestLog {
    /// Starts the entry of a request.
    pub(crate) fn start(
        state: &Arc<GatewayState>,
        format: config::LogFormat,
        id: String,
        client: Protocol,
        path: &'static str,
    ) -> Self {
        state.metrics.open_requests(1);
        let now = Instant::now();
        let record = LogRecord {
            state: Arc::clone(state),
            format,
            client,
            path,
            model: None,
            upstream: None,
            status: 499,
            outcome: Outcome::Left,
            attempts: 0,
            received: 0,
            sent: 0,
            losses: Vec::new(),
            loss_count: 0,
            lesser_loss_count: 0,
            calls: 0,
            tokens: None,
            started: now,
            own_time: Duration::ZERO,
            working_since: Some(now),
            upstream_time: None,
            notes: Notes::default(),
        };
        Self { id, record: Box::new(record) }
    }

    /// Sets who asks: the gateway's key, and the client's own id of the request.
    pub(crate) fn set_client(&mut self, key: Option<&Arc<SecretSource>>, headers: &HeaderMap) {
        self.record.notes.key = key.cloned();
        self.record.notes.client_request_id = super::client_request_id(headers).map(str::to_owned);
    }

    /// Records why the last attempt failed.
    pub(crate) fn attempt_failed(&mut self, reason: Reason) {
        self.record
            .notes
            .failed
            .extend(self.record.upstream.clone().map(|upstream| (upstream, reason)));
    }

    /// Sets why the client gets an error.
    pub(crate) fn set_reason(&mut self, reason: Reason) {
        self.record.notes.reason = Some(reason);
    }

    /// Sets the model that the client asked for, and the length of its request.
    pub(crate) fn set_request(&mut self, model: &str, received: usize) {
        self.record.model = Some(line::clip(model, MODEL_LIMIT));
        self.record.received = received;
    }

    /// Sets the upstream that the request is made for, or whose failure the client gets.
    pub(crate) fn set_upstream(&mut self, upstream: &Arc<Upstream>) {
        self.record.upstream = Some(Arc::clone(upstream));
    }

    /// Counts an attempt to send the request to an upstream.
    pub(crate) fn start_attempt(&mut self, upstream: &Arc<Upstream>) {
        if self.record.attempts > 0 {
            upstream.metrics.retried();
        }
        self.record.attempts += 1;
        self.set_upstream(upstream);
    }

    /// Adds what a translation lost. What it emulated exactly is not lost.
    pub(crate) fn add_losses(&mut self, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| entry.action != Action::Emulated) {
            let count = if let Code::More(count) = entry.code { count } else { 1 };
            let log = self.record.as_mut();
            *(if entry.is_loss() { &mut log.loss_count } else { &mut log.lesser_loss_count }) +=
                count;
            if log.losses.len() < LOSS_LIMIT {
                log.losses.push(line::clip_entry(entry));
            }
        }
    }

    /// Stops the clock of toolwire's own time while it waits for the client or
    /// the upstream.
    pub(crate) fn pause(&mut self) {
        if let Some(since) = self.record.working_since.take() {
            self.record.own_time += since.elapsed();
        }
    }

    /// Starts the clock of toolwire's own time again.
    pub(crate) fn resume(&mut self) {
        self.record.working_since = Some(Instant::now());
    }

    /// Adds to toolwire's own time while its clock is stopped.
    pub(crate) fn add_own_time(&mut self, time: Duration) {
        self.record.own_time += time;
    }

    /// Takes the time of the upstream's response.
    pub(crate) fn upstream_responded(&mut self) {
        self.record.upstream_time =
            Some(self.record.started.elapsed().saturating_sub(self.record.own_time));
    }

    /// Counts bytes that went to the client.
    pub(crate) fn add_sent(&mut self, bytes: usize) {
        self.record.sent += bytes;
    }

    /// Sets the tokens and the number of tool calls of the response.
    pub(crate) fn set_usage(&mut self, usage: Option<&Usage<'_>>, calls: usize) {
        self.record.tokens = usage.map(|usage| (usage.input, usage.output));
        self.record.calls = calls;
    }

    /// Sets the HTTP status that the client gets.
    pub(crate) fn set_status(&mut self, status: u16) {
        self.record.status = status;
    }

    /// Sets how the request ended.
    pub(crate) fn finish(&mut self, outcome: Outcome) {
        self.record.outcome = outcome;
    }
}

impl LogRecord {
    fn text_line(&self, id: &str, total: Duration) -> Vec<u8> {
        let mut line = String::with_capacity(192);
        write_time(seconds_now(), &mut line);
        line.push(' ');
        line.push_str(id);
        line.push(' ');
        write_number(u64::from(self.status), &mut line);
        for word in [self.outcome.as_str(), self.path] {
            line.push(' ');
            line.push_str(word);
        }
        line.push(' ');
        line::write_escaped(self.model.as_deref().unwrap_or("-"), &mut line);
        if let Some(upstream) = &self.upstream {
            line.push(' ');
            line.push_str(self.client.as_str());
            line.push('→');
            line.push_str(upstream.config.protocol.as_str());
            line.push_str(" via ");
            line.push_str(&upstream.config.name);
        }
        line.push(' ');
        write_number(self.received as u64, &mut line);
        line.push_str("B→");
        write_number(self.sent as u64, &mut line);
        line.push_str("B ");
        write_duration(total, Precision::Tenths, &mut line);
        line.push_str(" (own ");
        write_duration(self.own_time, Precision::Whole, &mut line);
        line.push(')');
        if self.attempts > 1 {
            line.push_str(" attempts=");
            write_number(u64::from(self.attempts), &mut line);
        }
        if let Some((input, output)) = self.tokens {
            line.push_str(" tokens=");
            write_number(input, &mut line);
            line.push('+');
            write_number(output, &mut line);
        }
        if self.calls > 0 {
            line.push_str(" calls=");
            write_number(self.calls as u64, &mut line);
        }
        self.notes.write_text(&mut line);
        for entry in self.losses.iter().filter(|entry| entry.is_loss()).take(TEXT_LOSS_LIMIT) {
            line.push_str(" lost=");
            line::write_escaped(&entry.path, &mut line);
            line.push('(');
            line::write_escaped(&entry.code.to_string(), &mut line);
            line.push(')');
        }
        if self.loss_count > TEXT_LOSS_LIMIT {
            line.push_str(" losses=");
            write_number(self.loss_count as u64, &mut line);
        }
        line::end_text(line)
    }

    fn json_line(&self, id: &str, total: Duration) -> Vec<u8> {
        let mut line = Vec::with_capacity(384);
        let mut object = Object::new(&mut line);
        object.put("time", &seconds_now());
        object.put("id", id);
        object.put("path", self.path);
        object.put("status", &u64::from(self.status));
        object.put("ending", self.outcome.as_str());
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
        object.put("own_us", &micros(self.own_time));
        if let Some(upstream) = self.upstream_time {
            object.put("upstream_us", &micros(upstream));
        }
        if let Some((input, output)) = self.tokens {
            object.put("input_tokens", &input);
            object.put("output_tokens", &output);
        }
        self.notes.write_json(&mut object);
        object.put("calls", &(self.calls as u64));
        object.put("loss_count", &(self.loss_count as u64));
        drop(object);
        let mut line = line::escape_json(line);
        self.add_json_losses(&mut line);
        line.push('\n');
        line.into_bytes()
    }

    /// Adds as many losses to a JSON object as fit into a line.
    fn add_json_losses(&self, line: &mut String) {
        let mut list = String::new();
        for entry in &self.losses {
            let mut json = Vec::new();
            entry.write(&mut json);
            let entry = line::escape_json(json);
            if line.len() + LOSSES.len() + list.len() + entry.len() + 8 > line::LINE_LIMIT {
                break;
            }
            if !list.is_empty() {
                list.push(',');
            }
            list.push_str(&entry);
        }
        if !list.is_empty() {
            line.pop();
            line.push_str(LOSSES);
            line.push_str(&list);
            line.push_str("]}");
        }
    }
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        let Self { id, record } = self;
        let now = Instant::now();
        if let Some(since) = record.working_since.take() {
            record.own_time += now - since;
        }
        let total = now - record.started;
        let metrics = &record.state.metrics;
        metrics.open_requests(-1);
        let upstream = record.upstream.as_ref();
        let metrics = upstream.map_or(metrics.without_upstream(), |upstream| &upstream.metrics);
        metrics.finished(record.client, record.outcome, total, record.own_time);
        metrics.add_losses(record.loss_count, record.lesser_loss_count);
        metrics.add_calls(record.calls);
        if let Some((input, output)) = record.tokens {
            metrics.add_tokens(input, output);
        }
        match record.format {
            format @ config::LogFormat::Text => {
                record.state.log.write_line(&record.text_line(id, total), format);
            }
            format @ config::LogFormat::Json => {
                record.state.log.write_line(&record.json_line(id, total), format);
            }
            config::LogFormat::Off => {}
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Seconds since 1970.
#[allow(clippy::disallowed_methods, reason = "a line of the log says the time of day")]
pub(super) fn seconds_now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

/// The longest model name in a line, in characters.
const MODEL_LIMIT: usize = 100;

/// The most losses in a line of text, and in any line.
const TEXT_LOSS_LIMIT: usize = 8;
const LOSS_LIMIT: usize = 32;

const LOSSES: &str = ",\"losses\":[";
