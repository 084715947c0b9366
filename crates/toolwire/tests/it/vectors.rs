//! Golden vectors: every input under `vectors/`, to every other protocol, byte
//! for byte, ledger included. `cargo xtask bless` rewrites what is expected.

use std::fs;
use std::path::{Path, PathBuf};

use toolwire::translate::{self, Error, Options, Translated};
use toolwire::{Entry, Protocol};

use crate::json::pretty;

#[test]
fn requests() {
    check_all("requests", |from, to, body, _| {
        whole(translate::request(from, to, body, &Options::new()))
    });
}

#[test]
fn responses() {
    check_all("responses", |from, to, body, folder| {
        let request = fs::read(folder.join(format!("request.{to}.json"))).ok();
        let mut options = Options::new();
        options.request = request.as_deref();
        whole(translate::response(from, to, body, &options))
    });
}

#[test]
fn errors() {
    check_all("errors", |from, to, body, folder| {
        let status = fs::read_to_string(folder.join("status"))
            .ok()
            .and_then(|text| text.trim().parse().ok());
        let mut options = Options::new();
        options.status = status;
        let error = translate::error(from, to, body, &options)?;
        // The status is part of what is expected, so it goes before the body.
        let status = error.status;
        Ok(([format!("[{status},").as_bytes(), &error.body, b"]"].concat(), Vec::new()))
    });
}

#[test]
fn tools() {
    check_all("tools", |from, to, body, _| {
        whole(translate::tools(from, to, body, &Options::new()))
    });
}

/// Within one protocol the bytes pass, whatever they say; only the model's name
/// may be another.
#[test]
fn the_same_protocol_passes_the_bytes() {
    let renamed = Options::new().model("another \"model\"");
    for (folder, protocol, body) in inputs("requests") {
        // An envelope of another vendor's reasoning is the one thing that is
        // looked for and taken out.
        if body.windows(5).any(|bytes| bytes == b"\"tw1.") {
            continue;
        }
        let passed = translate::request(protocol, protocol, &body, &Options::default()).unwrap();
        assert_eq!(
            (passed.body.as_slice(), passed.ledger.len()),
            (body.as_slice(), 0),
            "{}",
            folder.display()
        );
        let before: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let spliced = translate::request(protocol, protocol, &body, &renamed).unwrap();
        let mut after: serde_json::Value = serde_json::from_slice(&spliced.body).unwrap();
        assert_eq!(after["model"], "another \"model\"");
        match before.get("model") {
            Some(model) => after["model"] = model.clone(),
            None => _ = after.as_object_mut().unwrap().shift_remove("model"),
        }
        assert_eq!(before, after, "{}", folder.display());
    }
}

/// The vendor's own error is the best there is, so within one protocol it passes.
#[test]
fn an_error_of_the_same_protocol_passes() {
    for (folder, protocol, body) in inputs("errors") {
        let mut options = Options::new();
        options.status = Some(418);
        let passed = translate::error(protocol, protocol, &body, &options).unwrap();
        assert_eq!((passed.body, passed.status), (body, 418), "{}", folder.display());
    }
}

/// An answer that gets another name for its model says nothing else
/// differently, whoever gave it and whoever gets it. Within one protocol it is
/// the same bytes, and one that names no model still names none.
#[test]
fn an_answer_names_the_model_as_told() {
    let renamed = Options::new().model("another \"model\"");
    for (folder, from, body) in inputs("responses") {
        for to in Protocol::ALL {
            let told = format!("{} to {to}", folder.display());
            let plain = translate::response(from, to, &body, &Options::new());
            let other = translate::response(from, to, &body, &renamed);
            let (Ok(plain), Ok(other)) = (&plain, &other) else {
                assert_eq!(plain, other, "{told}");
                continue;
            };
            assert_eq!(plain.ledger, other.ledger, "{told}");
            let before: serde_json::Value = serde_json::from_slice(&plain.body).unwrap();
            let mut after: serde_json::Value = serde_json::from_slice(&other.body).unwrap();
            if from == to && before.get("model").is_none() {
                assert_eq!(plain.body, other.body, "{told}");
                continue;
            }
            assert_eq!(after["model"], "another \"model\"", "{told}");
            match before.get("model") {
                Some(model) => after["model"] = model.clone(),
                None => _ = after.as_object_mut().unwrap().shift_remove("model"),
            }
            assert_eq!(before, after, "{told}");
            if from == to {
                let literal = before["model"].to_string();
                let text = std::str::from_utf8(&plain.body).unwrap();
                let mut places = text.match_indices(&literal).map(|(at, _)| {
                    let (head, tail) = (&text[..at], &text[at + literal.len()..]);
                    format!("{head}\"another \\\"model\\\"\"{tail}")
                });
                assert!(places.any(|text| text.as_bytes() == other.body), "{told}");
            }
        }
    }
}

/// A conversation that went through one vendor does not bring its sealed
/// reasoning to another, also where nothing else is translated.
#[test]
fn an_envelope_does_not_reach_another_vendor() {
    let mut seen = Vec::new();
    for (folder, protocol, body) in inputs("requests") {
        if !body.windows(5).any(|bytes| bytes == b"\"tw1.") {
            continue;
        }
        let passed = translate::request(protocol, protocol, &body, &Options::default()).unwrap();
        let text = String::from_utf8(passed.body).unwrap();
        assert!(!text.contains("\"tw1."), "{}: {text}", folder.display());
        assert!(passed.ledger.iter().any(Entry::is_loss), "{}", folder.display());
        seen.push(protocol);
    }
    assert!(Protocol::ALL.iter().all(|protocol| seen.contains(protocol)), "{seen:?}");
}

/// Every vector input of a kind: its folder, its protocol and its bytes.
pub(crate) fn inputs(kind: &str) -> Vec<(PathBuf, Protocol, Vec<u8>)> {
    let mut found = Vec::new();
    let Ok(folders) = fs::read_dir(root().join(kind)) else { return found };
    for folder in folders {
        let folder = folder.unwrap().path();
        let before = found.len();
        for protocol in Protocol::ALL {
            if let Ok(body) = fs::read(folder.join(format!("in.{protocol}.json"))) {
                found.push((folder.clone(), protocol, body));
            }
        }
        // Two inputs would share their expected files.
        assert_eq!(found.len(), before + 1, "{} must hold one input", folder.display());
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// A document and its ledger, if it was translated.
type Outcome = Result<(Vec<u8>, Vec<Entry>), Error>;

type Run = fn(Protocol, Protocol, &[u8], &Path) -> Outcome;

fn whole(result: Result<Translated, Error>) -> Outcome {
    result.map(|translated| (translated.body, translated.ledger))
}

fn check_all(kind: &str, run: Run) {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (folder, from, body) in inputs(kind) {
        for to in Protocol::ALL.into_iter().filter(|to| *to != from) {
            seen += 1;
            check(&folder, to, run(from, to, &body, &folder), &mut wrong);
        }
    }
    assert!(seen > 0, "no vectors under vectors/{kind}");
    assert!(
        wrong.is_empty(),
        "{} of {seen} differ; see `cargo xtask bless`\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn check(folder: &Path, to: Protocol, result: Outcome, wrong: &mut Vec<String>) {
    let (body, entries) = match result {
        Ok((body, ledger)) => (Some(String::from_utf8(body).unwrap()), ledger),
        Err(Error::Refused { entries }) => (None, entries),
        Err(error) => {
            wrong.push(format!("{} to {to}: {error}", folder.display()));
            return;
        }
    };
    if let Some(body) = &body
        && let Err(error) = serde_json::from_str::<serde_json::Value>(body)
    {
        wrong.push(format!("{} to {to}: not JSON: {error}\n{body}", folder.display()));
        return;
    }
    expect(
        &folder.join(format!("out.{to}.json")),
        &body.map_or(String::new(), |body| pretty(&body)),
        wrong,
    );
    expect(&folder.join(format!("out.{to}.ledger.jsonl")), &lines(&entries), wrong);
}

pub(crate) fn expect(path: &Path, actual: &str, wrong: &mut Vec<String>) {
    if std::env::var_os("TOOLWIRE_BLESS").is_some() {
        if actual.is_empty() {
            _ = fs::remove_file(path);
        } else {
            fs::write(path, actual).unwrap();
        }
        return;
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected != actual {
        let differing = expected.lines().zip(actual.lines()).find(|(a, b)| a != b);
        let (expected, actual) = differing.unwrap_or((&expected, actual));
        wrong.push(format!("{}\n  expected {expected}\n  actual   {actual}", path.display()));
    }
}

pub(crate) fn lines(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let mut line = Vec::new();
        toolwire::wire::Write::write(entry, &mut line);
        text.push_str(&String::from_utf8(line).unwrap());
        text.push('\n');
    }
    text
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}
