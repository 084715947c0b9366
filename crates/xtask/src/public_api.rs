//! The public API of the library as sorted lines of text, compared with a committed file.
//!
//! rustdoc says which items are public, and the source says how they are declared. rustdoc's JSON
//! is not stable yet, so only its skeleton is read: names, members, re-exports and places.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cmd;

/// Compares the API with the committed file.
pub(crate) fn check() -> Result<()> {
    let found = describe()?;
    let expected = fs::read_to_string(cmd::root().join(SNAPSHOT)).unwrap_or_default();
    let difference = difference(&expected, &found);
    if difference.is_empty() {
        println!("The public API is that of {SNAPSHOT}.");
        return Ok(());
    }
    for line in &difference {
        println!("{line}");
    }
    bail!(
        "the public API is not that of {SNAPSHOT}; if the {} lines above are what you want, accept \
         them with `cargo xtask bless` or `cargo xtask api --bless`",
        difference.len()
    )
}

/// Accepts the API as it is.
pub(crate) fn bless() -> Result<()> {
    fs::write(cmd::root().join(SNAPSHOT), describe()?)
        .with_context(|| format!("{SNAPSHOT} cannot be written"))?;
    println!("{SNAPSHOT} is what the public API is.");
    Ok(())
}

fn describe() -> Result<String> {
    // The JSON is for nightly compilers only, unless a stable one is told to act like one. Build
    // scripts notice that, so this build is kept apart from the others.
    let target_dir = cmd::target_dir().join("api");
    let mut rustdoc = cmd::command(RUSTDOC);
    rustdoc.arg("--target-dir").arg(&target_dir);
    rustdoc.args(["--", "-Z", "unstable-options", "--document-hidden-items"]);
    cmd::run(rustdoc.env("RUSTC_BOOTSTRAP", "1"))?;
    let path = target_dir.join("doc/toolwire.json");
    let json = fs::read(&path).with_context(|| format!("{} is missing", path.display()))?;
    let api = Api { document: serde_json::from_slice(&json)?, sources: Sources::default() };
    api.describe()
}

/// What rustdoc knows about a crate.
struct Api {
    document: Value,
    sources: Sources,
}

/// The paths under which an item can be used.
#[derive(Default)]
struct Paths {
    /// Where it is defined, if that place is public.
    own: Option<String>,
    reexports: BTreeSet<String>,
}

impl Api {
    fn describe(mut self) -> Result<String> {
        let root = self.document["root"].to_string();
        let mut found = BTreeMap::new();
        let mut lines = BTreeSet::new();
        self.walk(&root, "toolwire", &mut found, &mut lines);
        for (id, Paths { own, reexports }) in found {
            let own_path = own.or_else(|| reexports.iter().min_by_key(|path| path.len()).cloned());
            let Some(path) = own_path else { continue };
            for other in reexports.iter().filter(|other| **other != path) {
                lines.insert(format!("{other} = {path}"));
            }
            self.item(&id, &path, &mut lines)?;
        }
        Ok(lines.into_iter().map(|line| line + "\n").collect())
    }

    /// Collects the items of a module and of those below it.
    fn walk(
        &self,
        module: &str,
        path: &str,
        found: &mut BTreeMap<String, Paths>,
        lines: &mut BTreeSet<String>,
    ) {
        for id in ids(&self.index(module)["inner"]["module"]["items"]) {
            let item = self.index(&id);
            if is_hidden(item) {
                continue;
            }
            let (kind, inner) = kind(item);
            match kind {
                "module" => {
                    let path = format!("{path}::{}", name(item));
                    lines.insert(format!("{path}: mod"));
                    self.walk(&id, &path, found, lines);
                }
                "use" => {
                    let path = format!("{path}::{}", name(inner));
                    let target = inner["id"].to_string();
                    if self.index(&target).is_null() {
                        lines.insert(format!("{path} = {}", text(&inner["source"])));
                    } else {
                        found.entry(target).or_default().reexports.insert(path);
                    }
                }
                _ => {
                    let path = format!("{path}::{}", name(item));
                    found.entry(id).or_default().own = Some(path);
                }
            }
        }
    }

    /// Describes an item and its members.
    fn item(&mut self, id: &str, path: &str, lines: &mut BTreeSet<String>) -> Result<()> {
        let item = self.index(id).clone();
        let (_, inner) = kind(&item);
        lines.insert(format!("{path}: {}", self.declaration(&item)?));
        let plain = &inner["kind"]["plain"]["fields"];
        for member in ids(plain).chain(ids(&inner["variants"])).chain(ids(&inner["items"])) {
            self.member(&member, path, lines)?;
        }
        let mut traits = BTreeSet::new();
        for impl_id in ids(&inner["impls"]) {
            let block = self.index(&impl_id)["inner"]["impl"].clone();
            // An impl for another type may be listed here because it mentions this one.
            if block["for"]["resolved_path"]["id"].to_string() != id {
                continue;
            }
            if block["trait"].is_null() {
                for member in ids(&block["items"]) {
                    self.member(&member, path, lines)?;
                }
            } else if block["blanket_impl"].is_null() {
                let not = if block["is_negative"] == true { "!" } else { "" };
                let full = text(&block["trait"]["path"]);
                let name = full.rsplit("::").next().unwrap_or_default();
                let is_internal = if block["is_synthetic"] == true {
                    !AUTOMATIC.contains(&name)
                } else {
                    INTERNAL.contains(&name) || self.is_hidden_trait(&block["trait"])
                };
                if !is_internal {
                    traits.insert(format!("{not}{name}"));
                }
            }
        }
        if !traits.is_empty() {
            let traits: Vec<_> = traits.into_iter().collect();
            lines.insert(format!("{path}: impl {}", traits.join(" + ")));
        }
        Ok(())
    }

    fn member(&mut self, id: &str, path: &str, lines: &mut BTreeSet<String>) -> Result<()> {
        let item = self.index(id).clone();
        if !item.is_null() && !is_hidden(&item) {
            let declaration = self.declaration(&item)?;
            lines.insert(format!("{path}::{}: {declaration}", name(&item)));
        }
        Ok(())
    }

    /// A trait of our own that the documentation does not show.
    fn is_hidden_trait(&self, path: &Value) -> bool {
        let (index, paths) = (&self.document["index"], &self.document["paths"]);
        let id = path["id"].to_string();
        let ours = paths[&id]["crate_id"] == 0;
        let parent = paths[&id]["path"].get(1).map(text).unwrap_or_default();
        let hidden = |item: &Value| item["name"] == parent && is_hidden(item);
        ours && index.as_object().is_some_and(|items| items.values().any(hidden))
    }

    /// How the source declares an item, in one line and without its body.
    fn declaration(&mut self, item: &Value) -> Result<String> {
        let (kind, _) = kind(item);
        let span = &item["span"];
        let source = self.sources.read(text(&span["filename"]), &span["begin"], &span["end"])?;
        let declared = one_line(&source);
        let declared = match kind {
            // What a macro makes is declared nowhere.
            _ if declared.contains("! {") => format!("{kind} {}", name(item)),
            "variant" if !declared.starts_with(name(item)) => name(item).to_owned(),
            "variant" | "struct_field" | "type_alias" => declared,
            "constant" | "assoc_const" => {
                declared.split(" = ").next().unwrap_or_default().to_owned()
            }
            _ => declared.split([';', '{']).next().unwrap_or_default().trim().to_owned(),
        };
        let open = item["attrs"].to_string().contains("non_exhaustive");
        Ok(if open { format!("#[non_exhaustive] {declared}") } else { declared })
    }

    fn index(&self, id: &str) -> &Value {
        &self.document["index"][id]
    }
}

/// The files of the library, each read once.
#[derive(Default)]
struct Sources {
    files: BTreeMap<String, Vec<String>>,
}

impl Sources {
    /// What stands between two places, the second included.
    fn read(&mut self, file: &str, begin: &Value, end: &Value) -> Result<String> {
        if !self.files.contains_key(file) {
            let text = fs::read_to_string(cmd::root().join(file))
                .with_context(|| format!("{file} cannot be read"))?;
            self.files.insert(file.to_owned(), text.lines().map(str::to_owned).collect());
        }
        let lines = self.files.get(file).map(Vec::as_slice).unwrap_or_default();
        Ok(between(lines, place(begin), place(end)))
    }
}

/// A line and a column, counted from 1.
fn place(value: &Value) -> (usize, usize) {
    let number = |at: usize| value[at].as_u64().and_then(|n| usize::try_from(n).ok());
    (number(0).unwrap_or(1), number(1).unwrap_or(1))
}

fn between(lines: &[String], begin: (usize, usize), end: (usize, usize)) -> String {
    let mut text = String::new();
    for (number, line) in (1..).zip(lines).skip(begin.0 - 1).take(end.0 + 1 - begin.0) {
        let first = if number == begin.0 { begin.1 - 1 } else { 0 };
        let last = if number == end.0 { end.1 } else { usize::MAX };
        text.extend(line.chars().take(last).skip(first));
        text.push('\n');
    }
    text
}

/// Source without comments, attributes and line ends.
fn one_line(source: &str) -> String {
    let lines = source.lines().map(str::trim);
    let said = lines.filter(|line| !line.starts_with("//") && !line.starts_with("#["));
    let words = said.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    // A list that had a line for each element is spelled like one on a single line.
    let words = words.replace("( ", "(").replace(", )", ")").replace(",)", ")").replace(" )", ")");
    words.trim_end_matches(',').to_owned()
}

/// The lines that only one of two sorted texts has.
fn difference(expected: &str, found: &str) -> Vec<String> {
    let (expected, found): (BTreeSet<_>, BTreeSet<_>) =
        (expected.lines().collect(), found.lines().collect());
    let gone = expected.difference(&found).map(|line| format!("- {line}"));
    gone.chain(found.difference(&expected).map(|line| format!("+ {line}"))).collect()
}

/// The only key of `inner` says what an item is.
fn kind(item: &Value) -> (&str, &Value) {
    let inner = item["inner"].as_object().and_then(|inner| inner.iter().next());
    inner.map_or(("", &Value::Null), |(kind, inner)| (kind.as_str(), inner))
}

fn ids(list: &Value) -> impl Iterator<Item = String> {
    let ids: Vec<_> = list.as_array().into_iter().flatten().map(Value::to_string).collect();
    ids.into_iter()
}

fn name(item: &Value) -> &str {
    text(&item["name"])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn is_hidden(item: &Value) -> bool {
    item["attrs"].to_string().contains("doc(hidden)")
}

const SNAPSHOT: &str = "crates/toolwire/tests/public_api.txt";
const RUSTDOC: &str = "cargo rustdoc --quiet --package toolwire --lib --locked --features \
                       futures,serde_json -Z unstable-options --output-format json";
/// Of the traits that compilers derive from the fields, those that users ask for.
const AUTOMATIC: &[&str] = &["Send", "Sync", "Unpin"];
/// What a compiler derives beside `Clone` and `PartialEq`, for itself.
const INTERNAL: &[&str] = &["StructuralPartialEq", "TrivialClone"];

#[cfg(test)]
mod tests;
