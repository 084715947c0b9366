//! What a run found: a table, and one reproduction for each class of failures.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use toolwire::Protocol;

use super::case::{Case, Kind};
use super::check::{Failure, Translate, check};
use super::shrink::shrunk;

/// The results so far.
pub(super) struct Report {
    translate: Translate,
    pairs: BTreeMap<(Kind, &'static str, &'static str), Count>,
    projects: BTreeMap<String, BTreeMap<Kind, Count>>,
    classes: BTreeMap<(Kind, String), Class>,
    pub(super) files: usize,
    pub(super) unknown_files: usize,
    pub(super) repeated: usize,
    pub(super) foreign: usize,
}

#[derive(Clone, Copy, Default)]
struct Count {
    cases: usize,
    failed: usize,
}

/// Failures for the same reason.
struct Class {
    count: usize,
    pairs: BTreeMap<(&'static str, &'static str), usize>,
    smallest: Case,
    to: Protocol,
    detail: String,
}

impl Report {
    pub(super) fn new(translate: Translate) -> Self {
        Self {
            translate,
            pairs: BTreeMap::new(),
            projects: BTreeMap::new(),
            classes: BTreeMap::new(),
            files: 0,
            unknown_files: 0,
            repeated: 0,
            foreign: 0,
        }
    }

    /// Adds what is wrong with a case toward each protocol.
    pub(super) fn add(&mut self, case: &Case, results: &[(Protocol, Vec<Failure>)]) {
        let project = self.projects.entry(case.project.clone()).or_default();
        let project = project.entry(case.kind).or_default();
        project.cases += 1;
        project.failed += usize::from(results.iter().any(|(_, failures)| !failures.is_empty()));
        for (to, failures) in results {
            let pair = (case.protocol.as_str(), to.as_str());
            let count = self.pairs.entry((case.kind, pair.0, pair.1)).or_default();
            count.cases += 1;
            count.failed += usize::from(!failures.is_empty());
            for Failure { class, detail } in failures {
                let class =
                    self.classes.entry((case.kind, class.clone())).or_insert_with(|| Class {
                        count: 0,
                        pairs: BTreeMap::new(),
                        smallest: case.clone(),
                        to: *to,
                        detail: detail.clone(),
                    });
                class.count += 1;
                *class.pairs.entry(pair).or_default() += 1;
                if case.body.len() < class.smallest.body.len() {
                    class.smallest = case.clone();
                    class.to = *to;
                    class.detail.clone_from(detail);
                }
            }
        }
    }

    pub(super) fn cases(&self) -> usize {
        self.projects.values().flat_map(BTreeMap::values).map(|count| count.cases).sum()
    }

    pub(super) fn failures(&self) -> usize {
        self.pairs.values().map(|count| count.failed).sum()
    }

    /// The report for a person.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let translations: usize = self.pairs.values().map(|count| count.cases).sum();
        let _ = writeln!(
            out,
            "{} files, {} distinct documents of the three protocols, {translations} translations.",
            self.files,
            self.cases()
        );
        let _ = writeln!(
            out,
            "Left out: {} repeated, {} of other APIs, {} files in no known format.\n",
            self.repeated, self.foreign, self.unknown_files
        );
        self.write_pairs(&mut out);
        self.write_projects(&mut out);
        self.write_classes(&mut out);
        out
    }

    fn write_pairs(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "{:<9} {:<23} {:>7} {:>7} {:>7}",
            "kind", "from → to", "cases", "ok", "failed"
        );
        for ((kind, from, to), count) in &self.pairs {
            let pair = format!("{from} → {to}");
            let Count { cases, failed } = *count;
            let _ = writeln!(
                out,
                "{:<9} {pair:<23} {cases:>7} {:>7} {failed:>7}",
                kind.as_str(),
                cases - failed
            );
        }
    }

    fn write_projects(&self, out: &mut String) {
        let _ = write!(out, "\n{:<23}", "project");
        for kind in Kind::ALL {
            let _ = write!(out, " {:>8}s", kind.as_str());
        }
        let _ = writeln!(out, " {:>8} {:>8}", "cases", "failed");
        for (project, kinds) in &self.projects {
            let _ = write!(out, "{project:<23}");
            for kind in Kind::ALL {
                let _ = write!(out, " {:>9}", kinds.get(&kind).map_or(0, |count| count.cases));
            }
            let cases: usize = kinds.values().map(|count| count.cases).sum();
            let failed: usize = kinds.values().map(|count| count.failed).sum();
            let _ = writeln!(out, " {cases:>8} {failed:>8}");
        }
    }

    fn write_classes(&self, out: &mut String) {
        let mut classes: Vec<_> = self.classes.iter().collect();
        classes.sort_by_key(|(_, class)| std::cmp::Reverse(class.count));
        for ((kind, name), class) in classes {
            let Class { count, pairs, smallest, to, detail } = class;
            let pairs = pairs.iter().map(|((from, to), count)| format!("{from} → {to} {count}"));
            let pairs = pairs.collect::<Vec<_>>().join(", ");
            let _ = writeln!(out, "\n{count} × {}: {name}", kind.as_str());
            let _ = writeln!(out, "  {pairs}");
            let _ = writeln!(out, "  {} → {to}: {}", smallest.place, first_chars(detail, 300));
            let case = self.smallest(name, class);
            for line in first_chars(case.text(), 1500).lines() {
                let _ = writeln!(out, "  | {line}");
            }
        }
    }

    /// The reproduction of a class, cut down.
    fn smallest(&self, name: &str, class: &Class) -> Case {
        shrunk(&class.smallest, |case| {
            check(self.translate, case, class.to).iter().any(|failure| failure.class == name)
        })
    }

    /// The report for a program.
    pub(super) fn json(&self) -> Value {
        let pairs = self.pairs.iter().map(|((kind, from, to), count)| {
            json!({"kind": kind.as_str(), "from": from, "to": to, "cases": count.cases, "failed": count.failed})
        });
        let projects = self.projects.iter().map(|(project, kinds)| {
            let kinds = kinds.iter().map(|(kind, count)| {
                (kind.as_str().to_owned(), json!({"cases": count.cases, "failed": count.failed}))
            });
            json!({"project": project, "kinds": kinds.collect::<serde_json::Map<_, _>>()})
        });
        let classes = self.classes.iter().map(|((kind, name), class)| {
            let case = self.smallest(name, class);
            json!({
                "kind": kind.as_str(),
                "class": name,
                "count": class.count,
                "place": class.smallest.place,
                "from": class.smallest.protocol.as_str(),
                "to": class.to.as_str(),
                "detail": class.detail,
                "reproduction": case.text(),
            })
        });
        json!({
            "files": self.files,
            "cases": self.cases(),
            "failures": self.failures(),
            "pairs": pairs.collect::<Vec<_>>(),
            "projects": projects.collect::<Vec<_>>(),
            "classes": classes.collect::<Vec<_>>(),
        })
    }
}

fn first_chars(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
