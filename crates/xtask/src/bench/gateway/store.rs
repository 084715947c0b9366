//! `cargo xtask bench --store`: what a stored response costs beside one that is not stored, and what
//! a long thread costs beside the same conversation in one request.
//!
//! Both are asked of the same process in turns, and each round gives one ratio.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::documents::{self, Kind, Speaks};
use super::load::{self, Load, Pace, Wait};
use super::model;
use super::report::{part, sorted};
use super::subject::{self, Runs, Subject};
use crate::cmd;

/// Measures the gateway of this tree.
///
/// `args` are the number of rounds, `--postgres URL` for a database that takes part in them, `--only
/// WORDS` for the rows whose name has these words, as "sqlite-normal, whole answer, 64", and
/// `--program PROGRAM` for a build to measure instead of a new one.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let (mut rounds, mut database, mut only, mut built) = (ROUNDS, None, "", None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("`{arg}` lacks its value"));
        match arg.as_str() {
            "--postgres" => database = Some(value()?),
            "--only" => only = value()?,
            "--program" => built = Some(Path::new(value()?)),
            number => rounds = number.parse().context("the rounds are a number")?,
        }
    }
    let program = match built {
        Some(program) => program.to_owned(),
        None => {
            cmd::run(&mut cmd::command("cargo build --locked --release --package toolwire-cli"))?;
            cmd::target_dir().join("release/toolwire")
        }
    };
    subject::leave_first_core()?;
    let folder = cmd::target_dir().join("bench-store");
    // What earlier runs have stored would be measured too.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let model = model::serve(&program)?;
    let sqlite =
        |sync: &str| format!("engine = \"sqlite\"\npath = \"{sync}.db\"\nsync = \"{sync}\"");
    let mut stores = vec![
        // It waits for no other thread and no disk.
        ("memory", "engine = \"memory\"".to_owned()),
        ("sqlite-normal", sqlite("normal")),
        ("sqlite-full", sqlite("full")),
    ];
    if let Some(url) = database {
        stores.push(("postgres", format!("engine = \"postgres\"\nurl = \"{url}\"")));
    }
    // Words about a row begin with the name of its store.
    let is_wanted = |store: &str| store.contains(only) || only.starts_with(store);
    stores.retain(|(name, _)| is_wanted(name));
    let subjects = stores.iter();
    let subjects = subjects
        .map(|(name, store)| Subject::storing(Runs::Pinned, name, &program, model, &folder, store))
        .collect::<Result<Vec<_>>>()?;
    let mut pairs = pairs(&subjects, &program)?;
    pairs.retain(|pair| pair.name().contains(only));
    for round in 1..=rounds {
        println!("Round {round} of {rounds}.");
        for pair in &mut pairs {
            pair.measure()?;
        }
    }
    print(&pairs);
    let whole = |subject: &&Subject| subject.name.contains(only);
    print_threads(subjects.iter().filter(whole), rounds)?;
    let _ = fs::remove_dir_all(&folder);
    Ok(ExitCode::SUCCESS)
}

/// The same request through the same process, once not stored and once stored.
struct Pair<'s> {
    subject: &'s Subject,
    connections: usize,
    pace: Pace,
    kind: Kind,
    unstored: Side,
    stored: Side,
}

/// One of both, and what was measured of it.
struct Side {
    load: Load,
    /// Processor time of one request in nanoseconds, by round.
    processor: Vec<f64>,
    /// The middle of how long clients waited, in milliseconds, by round.
    waits: Vec<f64>,
}

impl Side {
    fn measure(&mut self, subject: &Subject) -> Result<()> {
        let before = subject.processor()?;
        let waits = self.load.run()?;
        let spent = subject.processor()?.saturating_sub(before);
        self.processor.push(spent.as_nanos() as f64 / self.load.requests as f64);
        self.waits.push(middle(&waits));
        Ok(())
    }
}

impl Pair<'_> {
    fn name(&self) -> String {
        let Self { subject, connections, pace, kind, .. } = self;
        let (kind, pace) = (kind.name(), pace_name(*pace));
        format!("{}, {kind}, {connections}, {pace}", subject.name)
    }

    fn measure(&mut self) -> Result<()> {
        self.unstored.measure(self.subject)?;
        self.stored.measure(self.subject)
    }
}

fn pairs<'s>(subjects: &'s [Subject], program: &Path) -> Result<Vec<Pair<'s>>> {
    let mut pairs = Vec::new();
    for subject in subjects {
        for kind in [Kind::Whole, Kind::Burst, Kind::Paced] {
            let body: Value = serde_json::from_slice(&documents::request(kind, PAIR, program)?)?;
            // A model that speaks at its own pace is the client's pace too.
            let clients = CLIENTS.into_iter();
            let clients = clients.filter(|(_, pace)| match kind {
                Kind::Paced => *pace == Pace::AtOnce,
                // Nobody could answer so many streams.
                Kind::Burst => *pace != NEARLY_ALL,
                Kind::Whole | Kind::Large => true,
            });
            for (connections, pace) in clients {
                let side = |store: bool| {
                    let mut body = body.clone();
                    if let Some(body) = body.as_object_mut() {
                        body.insert("store".to_owned(), json!(store));
                    }
                    let load = Load {
                        address: subject.address,
                        request: load::request("/v1/responses", body.to_string().as_bytes()),
                        connections,
                        requests: (kind.requests(connections) / 2).max(connections),
                        ending: kind.ending(PAIR),
                        pace,
                        wait: Wait::LastByte,
                    };
                    Side { load, processor: Vec::new(), waits: Vec::new() }
                };
                let (unstored, stored) = (side(false), side(true));
                pairs.push(Pair { subject, connections, pace, kind, unstored, stored });
            }
        }
    }
    Ok(pairs)
}

fn print(pairs: &[Pair<'_>]) {
    println!(
        "\n| store | answer | clients | their pace | processor, µs, not stored | stored | × | middle half | wait, ms, \
         not stored | stored | added |"
    );
    println!("|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|");
    for Pair { subject, connections, pace, kind, unstored, stored } in pairs {
        let microseconds =
            |side: &Side| part(&sorted(side.processor.iter().map(|time| time / 1000.0)), 0.5);
        // Round by round, so that both had the same machine.
        let ratios = stored.processor.iter().zip(&unstored.processor);
        let ratios = sorted(ratios.map(|(stored, unstored)| stored / unstored));
        let added = stored.waits.iter().zip(&unstored.waits);
        let added = sorted(added.map(|(stored, unstored)| stored - unstored));
        println!(
            "| {} | {} | {connections} | {} | {:.1} | {:.1} | {:.2} | {:.2} to {:.2} | {:.3} | {:.3} | {:.3} |",
            subject.name,
            kind.name(),
            pace_name(*pace),
            microseconds(unstored),
            microseconds(stored),
            part(&ratios, 0.5),
            part(&ratios, 0.25),
            part(&ratios, 0.75),
            part(&sorted(unstored.waits.iter().copied()), 0.5),
            part(&sorted(stored.waits.iter().copied()), 0.5),
            part(&added, 0.5),
        );
    }
}

/// A thread is continued by its last id, and the same conversation is sent whole.
fn print_threads<'s>(subjects: impl Iterator<Item = &'s Subject>, rounds: usize) -> Result<()> {
    println!(
        "\n| store | turns | bytes sent whole | processor, µs, sent whole | by its last id | × | wait, ms, \
         sent whole | by its last id |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for subject in subjects {
        let mut thread = Thread::default();
        for turns in [5, 50, 500] {
            thread.grow(subject.address, turns)?;
            let side = |body: &Value| Side {
                load: Load {
                    address: subject.address,
                    request: load::request("/v1/responses", body.to_string().as_bytes()),
                    connections: 1,
                    requests: 3000 / turns,
                    ending: "}",
                    pace: Pace::AtOnce,
                    wait: Wait::LastByte,
                },
                processor: Vec::new(),
                waits: Vec::new(),
            };
            let (mut whole, mut by_id) = (side(&thread.whole()), side(&thread.by_id()));
            for _ in 0..rounds {
                whole.measure(subject)?;
                by_id.measure(subject)?;
            }
            let ratios = by_id.processor.iter().zip(&whole.processor);
            let ratios = sorted(ratios.map(|(by_id, whole)| by_id / whole));
            let middle = |values: &[f64]| part(&sorted(values.iter().copied()), 0.5);
            println!(
                "| {} | {turns} | {} | {:.0} | {:.0} | {:.2} | {:.3} | {:.3} |",
                subject.name,
                thread.whole().to_string().len(),
                middle(&whole.processor) / 1000.0,
                middle(&by_id.processor) / 1000.0,
                part(&ratios, 0.5),
                middle(&whole.waits),
                middle(&by_id.waits),
            );
        }
    }
    Ok(())
}

/// A conversation in which every turn is the result of a call.
#[derive(Default)]
struct Thread {
    items: Vec<Value>,
    turns: usize,
    last: Value,
    next: Value,
}

impl Thread {
    /// Adds turns until there are so many.
    fn grow(&mut self, address: SocketAddr, turns: usize) -> Result<()> {
        while self.turns < turns {
            if self.turns == 0 {
                self.next =
                    json!({"type": "message", "role": "user", "content": "Read all files."});
            }
            let body = json!({"model": Kind::Whole.model(PAIR.upstream), "input": [self.next],
                "previous_response_id": self.last});
            let response = ask(address, &body)?;
            let output = response.get("output").and_then(Value::as_array);
            let output = output.context("a response has output")?;
            self.items.push(self.next.take());
            self.items.extend(output.iter().cloned());
            let call = output.iter().find_map(|item| item.get("call_id"));
            let call = call.context("every answer calls a tool")?;
            let text = "A line of the file that was read.\n".repeat(30);
            self.next = json!({"type": "function_call_output", "call_id": call,
                "output": text});
            self.last = response.get("id").cloned().unwrap_or_default();
            self.turns += 1;
        }
        Ok(())
    }

    fn whole(&self) -> Value {
        let mut input = self.items.clone();
        input.push(self.next.clone());
        json!({"model": Kind::Whole.model(PAIR.upstream), "store": false, "input": input})
    }

    fn by_id(&self) -> Value {
        json!({"model": Kind::Whole.model(PAIR.upstream), "store": false, "input": [self.next],
            "previous_response_id": self.last})
    }
}

/// Sends one request and reads its whole answer.
fn ask(address: SocketAddr, body: &Value) -> Result<Value> {
    let mut stream = TcpStream::connect(address).context("nobody listens")?;
    let body = body.to_string();
    let head = "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: close";
    let length = body.len();
    let kind = "content-type: application/json";
    write!(stream, "{head}\r\n{kind}\r\ncontent-length: {length}\r\n\r\n{body}")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, answer) = answer.split_once("\r\n\r\n").context("an answer has a head")?;
    serde_json::from_str(answer).with_context(|| format!("the answer is no JSON: {answer}"))
}

/// The middle one, in milliseconds.
fn middle(waits: &[Duration]) -> f64 {
    part(&sorted(waits.iter().map(|wait| wait.as_secs_f64() * 1000.0)), 0.5)
}

fn pace_name(pace: Pace) -> String {
    match pace {
        Pace::AtOnce => "at once".to_owned(),
        Pace::Think(pause) => format!("after {} ms", pause.as_millis()),
        Pace::Rate(rate) => format!("{rate}/s"),
    }
}

/// How many clients there are, and when they ask.
///
/// Clients that never pause get as many answers as there can be, which are fewer if they are stored. A
/// request takes less processor time the more come at a time, so that pace compares two loads as well. At
/// a rate, both sides have the same: with one the gateway has little to spare, another keeps it busy without
/// filling it, and at the third it is idle for most of the time, so that clients wait for the store alone.
/// Those that think keep the core of the clients nearly busy, so that they wait for each other too.
const CLIENTS: [(usize, Pace); 6] = [
    (1, Pace::AtOnce),
    (64, Pace::AtOnce),
    (64, Pace::Think(Duration::from_millis(50))),
    (64, Pace::Rate(400)),
    (64, Pace::Rate(2000)),
    (64, NEARLY_ALL),
];

/// Two thirds of the whole answers that there can be if they are stored with SQLite. It is more than
/// Postgres stores that shares a core with the clients.
const NEARLY_ALL: Pace = Pace::Rate(10_000);

/// Who remembers nothing, and whose clients expect that somebody does.
const PAIR: documents::Pair = documents::Pair { client: Speaks::Responses, upstream: Speaks::Chat };

/// An odd number has a middle.
const ROUNDS: usize = 11;
