//! The tables of a run.

use std::time::Duration;

use anyhow::Result;

use super::documents::Speaks;
use super::{Cell, Subject};

/// Prints what was measured, as Markdown.
pub(super) fn print(cells: &[Cell<'_>], subjects: &[Subject]) -> Result<()> {
    println!(
        "\n| answer | clients | through | µs of processor per request | middle half | × nginx |"
    );
    println!("|---|--:|---|--:|--:|--:|");
    for cell in cells.iter().filter(|cell| cell.subject.name != "direct") {
        let spent = sorted(cell.processor.iter().map(|nanoseconds| nanoseconds / 1000.0));
        println!(
            "| {} | {} | {} | {:.1} | {:.1} to {:.1} | {:.2} |",
            cell.kind.name(),
            cell.load.connections,
            through(cell),
            part(&spent, 0.5),
            part(&spent, 0.25),
            part(&spent, 0.75),
            part(&ratios(cell, nginx(cells, cell)), 0.5),
        );
    }
    println!("\n| answer | clients | through | ms to the first byte, median | 99 % |");
    println!("|---|--:|---|--:|--:|");
    for cell in cells {
        let waits = sorted(cell.waits.iter().map(|wait| Duration::as_secs_f64(wait) * 1000.0));
        println!(
            "| {} | {} | {} | {:.3} | {:.3} |",
            cell.kind.name(),
            cell.load.connections,
            through(cell),
            part(&waits, 0.5),
            part(&waits, 0.99),
        );
    }
    println!("\n| program | most memory, MB |\n|---|--:|");
    for subject in subjects {
        if let Some(kilobytes) = subject.memory()? {
            println!("| {} | {:.1} |", subject.name, kilobytes as f64 / 1000.0);
        }
    }
    Ok(())
}

fn through(cell: &Cell<'_>) -> String {
    match (cell.subject.translates, cell.speaks) {
        (false, _) => cell.subject.name.to_owned(),
        (true, Speaks::Chat) => format!("{}, chat → chat", cell.subject.name),
        (true, Speaks::Messages) => format!("{}, messages → chat", cell.subject.name),
    }
}

/// What nginx took for the same answers.
fn nginx<'c>(cells: &'c [Cell<'_>], cell: &Cell<'_>) -> &'c [f64] {
    let same = cells.iter().find(|other| {
        other.subject.name == "nginx"
            && other.kind == cell.kind
            && other.load.connections == cell.load.connections
    });
    same.map(|same| same.processor.as_slice()).unwrap_or_default()
}

/// Round by round, so that both sides had the same machine.
fn ratios(cell: &Cell<'_>, nginx: &[f64]) -> Vec<f64> {
    sorted(cell.processor.iter().zip(nginx).map(|(ours, theirs)| ours / theirs))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The value that so large a part lies below.
fn part(sorted: &[f64], part: f64) -> f64 {
    let index = (part * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(index).copied().unwrap_or(f64::NAN)
}
