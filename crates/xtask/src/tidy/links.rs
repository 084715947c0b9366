//! Links in the documents lead somewhere.

use super::{Problem, Tree};

/// Every relative link in a Markdown file points to a file or a folder of the project.
pub(super) fn links_lead_somewhere(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        for Link { line, target } in links(text) {
            let file = target.split(['#', '?']).next().unwrap_or(target);
            if !resolve(path, file).is_some_and(|file| tree.has(&file)) {
                let what = format!("the link to {target} leads nowhere");
                problems.push(Problem::on_line(path, line, what));
            }
        }
    }
    problems
}

struct Link<'a> {
    line: usize,
    target: &'a str,
}

/// The relative links of a document, outside of code.
fn links(text: &str) -> Vec<Link<'_>> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let inline = outside_code(text).flat_map(inline_targets);
        let targets = inline.chain(definition_target(text));
        let relative = targets.filter(|target| is_relative(target));
        found.extend(relative.map(|target| Link { line, target }));
    }
    found
}

/// The stretches of a line between its code spans.
fn outside_code(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').step_by(2)
}

/// The `target` of each `[text](target)`, without a title.
fn inline_targets(text: &str) -> impl Iterator<Item = &str> {
    let openings = text.split("](").skip(1);
    openings.filter_map(|rest| rest.split_once(')')?.0.split_whitespace().next())
}

/// The `target` of a line `[name]: target`.
fn definition_target(line: &str) -> Option<&str> {
    let (_, target) = line.strip_prefix('[')?.split_once("]: ")?;
    target.split_whitespace().next()
}

fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with('#') && !target.starts_with("mailto:")
}

/// The path from the root that a link in the document means, unless it leads out of the project.
fn resolve(document: &str, target: &str) -> Option<String> {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let base = if target.starts_with('/') { "" } else { folder };
    let mut parts = Vec::new();
    for part in base.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}
