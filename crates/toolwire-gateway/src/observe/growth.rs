//! What a client's text costs in the log.

use toolwire::{Action, Code, Entry, Protocol};
use toolwire_laws::growth::Growth;

use super::{RequestLog, line, write_event};
use crate::config::LogFormat;
use crate::growth::{Fixture, Row, headers};

pub(crate) const ROWS: &[Row] = &[
    Row {
        names: &[
            "observe/line.rs::write_escaped",
            "observe/line.rs::end_text",
            "observe/line.rs::escape_json",
            "observe/line.rs::clip",
            "observe/line.rs::write_sentence",
            "observe/event_line.rs::write_event",
        ],
        shape: "long text of what a terminal acts on",
        measure: || {
            let fixture = Fixture::new(headers::<&str, &str>([]));
            Growth::of(
                1000,
                |size| "a\u{1b}\n\u{202e}é\\".repeat(size),
                |text: &String| {
                    let mut out = String::new();
                    line::write_escaped(text, &mut out);
                    line::write_sentence(text, &mut out);
                    line::end_text(out);
                    line::escape_json(text.clone().into_bytes());
                    line::clip(text, usize::MAX);
                    for format in [LogFormat::Text, LogFormat::Json] {
                        write_event(&fixture.state.log, format, "event", text);
                    }
                },
            )
        },
    },
    Row {
        names: &[
            "observe/request_log.rs::add_losses",
            "observe/request_log.rs::set_request",
            "observe/request_log.rs::start",
            "observe/line.rs::clip_entry",
            "observe/log.rs::write_line",
        ],
        shape: "many losses, each with a long path",
        measure: || {
            let fixture = Fixture::new(headers::<&str, &str>([]));
            let make = |size| -> Vec<Entry> {
                let path = "/a\u{1b}".repeat(100);
                let code = |n| Code::Only(format!("{path}{n}"));
                (0..size).map(|n| Entry::new(path.clone(), code(n), Action::Dropped)).collect()
            };
            Growth::of(1000, make, |losses| {
                for format in [LogFormat::Text, LogFormat::Json] {
                    let id = "req_1".to_owned();
                    let mut log =
                        RequestLog::start(&fixture.state, format, id, Protocol::ALL[0], "/");
                    log.set_request("m", 1);
                    log.add_losses(losses);
                }
            })
        },
    },
    Row {
        names: &["observe/request_log.rs::set_request"],
        shape: "long model",
        measure: || {
            let fixture = Fixture::new(headers::<&str, &str>([]));
            Growth::of(
                10_000,
                |size| "\u{1b}".repeat(size),
                |model: &String| {
                    for format in [LogFormat::Text, LogFormat::Json] {
                        let id = "req_1".to_owned();
                        let mut log =
                            RequestLog::start(&fixture.state, format, id, Protocol::ALL[0], "/");
                        log.set_request(model, 1);
                    }
                },
            )
        },
    },
];
