//! What long configurations cost, right and wrong ones.

use std::io;
use std::path::Path;

use toolwire_laws::growth::Growth;

use super::file::parse;
use super::problem::{Problem, Problems, Style};
use super::{Environment, address, values};
use crate::growth::Row;
use crate::upstream::CaBundle;

pub(crate) const ROWS: &[Row] = &[
    Row {
        names: &["config/file.rs::parse", "config/file.rs::check_model_name"],
        shape: "many upstreams, models and aliases",
        measure: || {
            configuration(50, |size| {
                let aliases = each(size, |n| format!("alias{n} = \"model-{n}\"\n"));
                let upstreams = each(size, |n| {
                    format!(
                        "[[upstream]]\nname = \"u{n}\"\ndemo = true\nmodels = [\"model-{n}\", \"p{n}-*\"]\n"
                    )
                });
                format!("{upstreams}[alias]\n{aliases}")
            })
        },
    },
    Row {
        names: &[
            "config/file.rs::parse",
            "config/pattern.rs::serves",
            "config/pattern.rs::new",
            "config/pattern.rs::contains",
        ],
        shape: "many models of an upstream, an alias for each",
        measure: || {
            configuration(100, |size| {
                let aliases = each(size, |n| format!("alias{n} = \"model-{n}\"\n"));
                let models = each(size, |n| format!("\"model-{n}\", "));
                format!(
                    "[[upstream]]\nname = \"u\"\ndemo = true\nmodels = [{models}]\n[alias]\n{aliases}"
                )
            })
        },
    },
    Row {
        names: &[
            "config/file.rs::parse",
            "config/problem.rs::new",
            "config/problem.rs::render",
            "config/fields.rs::refuse",
            "config/fields.rs::invalid",
            "config/source_mask.rs::mask_message",
            "config/values.rs::nearest",
            "config/values.rs::either",
            "config/values.rs::with_article",
        ],
        shape: "many unknown settings, one in a line",
        measure: || configuration(200, |size| each(size, |n| format!("unknown{n} = 1\n"))),
    },
    Row {
        names: &[
            "config/file.rs::parse",
            "config/problem.rs::render",
            "config/source_mask.rs::mask_message",
        ],
        shape: "many upstreams with problems and keys",
        measure: || {
            configuration(100, |size| {
                each(size, |n| {
                    format!(
                        "[[upstream]]\nname = \"u\"\nkey = \"sk-{n}0123456789abcdef\"\nprotokol = \"chat\"\n"
                    )
                })
            })
        },
    },
    Row {
        names: &["config/file.rs::parse", "config/problem.rs::render"],
        shape: "many aliases of models that no upstream serves",
        measure: || {
            configuration(100, |size| {
                let aliases = each(size, |n| format!("alias{n} = \"nobody-{n}\"\n"));
                let upstreams = each(size, |n| {
                    format!(
                        "[[upstream]]\nname = \"u{n}\"\ndemo = true\nmodels = [\"p{n}-*\", \"*-s{n}\", \"a*{n}\"]\n"
                    )
                });
                format!("{upstreams}[alias]\n{aliases}")
            })
        },
    },
    Row {
        names: &[
            "config/problem.rs::new",
            "config/problem.rs::render",
            "config/source_mask.rs::mask_message",
        ],
        // Each problem is shown with its line, which costs as much as the line is long:
        // up to fifty problems the cost grows with their square, beyond that with the
        // line. Sizes beyond fifty would take a minute to count.
        shape: "many problems in one long line, with many keys",
        measure: || {
            configuration(60, |size| {
                let keys = each(size, |n| format!("{{ unknown = \"sk-{n}0123456789abcdef\" }}, "));
                format!("keys = [{keys}]\n")
            })
        },
    },
    Row {
        names: &["config/problem.rs::new", "config/problem.rs::render"],
        shape: "many places of a file",
        measure: || {
            let make = |size| {
                let source = each(size, |n| format!("a{n} = 1\n"));
                let place = |n| Problem {
                    message: "m".to_owned(),
                    span: n..n + 1,
                    label: "l".to_owned(),
                    help: "h".to_owned(),
                };
                (source, (0..size).map(place).collect::<Vec<_>>())
            };
            Growth::of(200, make, |(source, list)| {
                Problems::new("f", source, list.clone()).render(Style::Coloured);
            })
        },
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "many syntax errors",
        measure: || configuration(200, |size| "a = = 1\n".repeat(size)),
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "comments in a comment",
        measure: || configuration(2000, |size| format!("x = 1 {}\n", "#".repeat(size))),
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "many commented-out lines",
        measure: || {
            configuration(300, |size| {
                format!("x = 1\n{}", "# key = \"sk-0123456789\"\n".repeat(size))
            })
        },
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "open brackets",
        measure: || configuration(500, |size| format!("key = {}\"x\"", "[".repeat(size))),
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "open brackets with a word in each",
        measure: || configuration(200, |size| format!("key = {}", "[ word, ".repeat(size))),
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "open quotes",
        measure: || configuration(1000, |size| "a = \"x\n".repeat(size)),
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "open long quotes",
        measure: || configuration(1000, |size| "a = \"\"\" x\n'''".repeat(size)),
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "long dotted keys",
        measure: || configuration(100, |size| format!("{}b = 1", "a.".repeat(size))),
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "long values",
        measure: || {
            configuration(1000, |size| {
                format!(
                    "listen = \"{0}\"\nlog = \"{0}\"\n{0} = 1\n",
                    "http://a@b/".replace(['/', ':', '@'], "").repeat(size / 10)
                )
            })
        },
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "long addresses",
        measure: || {
            configuration(2000, |size| {
                format!(
                    "[[upstream]]\nname = \"u\"\nprotocol = \"chat\"\nmodels = [\"*\"]\nbase_url = \"https://h/{}?q\"\n",
                    "a/@".repeat(size)
                )
            })
        },
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "spaces before what is no key",
        measure: || configuration(1000, |size| "a ".repeat(size)),
    },
    Row {
        names: &["config/file.rs::parse"],
        shape: "many spaces after a word",
        measure: || configuration(2000, |size| format!("a = [b{}]", " ".repeat(size))),
    },
    Row {
        names: &[
            "config/address.rs::origin",
            "config/address.rs::is_loopback",
            "config/values.rs::duration",
            "config/values.rs::retention",
            "config/values.rs::size",
            "config/mod.rs::new",
            "identity.rs::from_text",
            "upstream/tls.rs::read",
        ],
        shape: "long texts",
        measure: || {
            Growth::of(
                3000,
                |size| "1a/".repeat(size),
                |text: &String| {
                    for _ in 0..5 {
                        let _ = address::origin(&format!("https://h/{text}"), false);
                        let _ = address::is_loopback(text);
                        let _ = (values::duration(text), values::retention(text));
                        let _ = values::size(text);
                        let _ = crate::identity::Identity::from_text(text);
                        let _ = CaBundle::read(text);
                    }
                },
            )
        },
    },
];

struct NoEnvironment;

impl Environment for NoEnvironment {
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn read_file(&self, _path: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Reads a configuration and shows what is wrong with it.
fn configuration(size: usize, make: fn(usize) -> String) -> Growth {
    Growth::of(size, make, |text: &String| {
        if let Err(problems) = parse("toolwire.toml", text, &NoEnvironment) {
            problems.render(Style::Plain);
        }
    })
}

fn each(size: usize, write: impl Fn(usize) -> String) -> String {
    (0..size).map(write).collect()
}
