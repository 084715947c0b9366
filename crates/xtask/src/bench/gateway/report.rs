//! The tables of a run.

use std::time::Duration;

use anyhow::Result;

use super::{Cell, Subject};

/// Prints what was measured, as Markdown.
pub(super) fn print(cells: &[Cell<'_>], subjects: &[Subject]) -> Result<()> {
    println!(
        "\n| answer | clients | through | processor, µs per request | × nginx | middle half |"
    );
    println!("|---|--:|---|--:|--:|--:|");
    for cell in cells.iter().filter(|cell| cell.subject.name != "direct") {
        let spent = sorted(cell.processor.iter().map(|nanoseconds| nanoseconds / 1000.0));
        let nginx = like(cells, cell, "nginx").map(|nginx| nginx.processor.as_slice());
        // Round by round, so that both had the same machine.
        let pairs = cell.processor.iter().zip(nginx.unwrap_or_default());
        let ratios = sorted(pairs.map(|(ours, theirs)| ours / theirs));
        println!(
            "| {} | {} | {} | {:.1} | {:.2} | {:.2} to {:.2} |",
            cell.kind.name(),
            cell.load.connections,
            through(cell),
            part(&spent, 0.5),
            part(&ratios, 0.5),
            part(&ratios, 0.25),
            part(&ratios, 0.75),
        );
    }
    println!("\n| answer | clients | through | first byte, ms | added | 99 % | added |");
    println!("|---|--:|---|--:|--:|--:|--:|");
    for cell in cells {
        let waits = waits(cell);
        let direct = like(cells, cell, "direct").map(self::waits).unwrap_or_default();
        println!(
            "| {} | {} | {} | {:.3} | {:.3} | {:.3} | {:.3} |",
            cell.kind.name(),
            cell.load.connections,
            through(cell),
            part(&waits, 0.5),
            part(&waits, 0.5) - part(&direct, 0.5),
            part(&waits, 0.99),
            part(&waits, 0.99) - part(&direct, 0.99),
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
    let Cell { subject, pair, .. } = cell;
    match subject.translates {
        false => subject.name.to_owned(),
        true => format!("{}, {}", subject.name, pair.name()),
    }
}

/// What another program did with the same answers.
fn like<'c, 's>(cells: &'c [Cell<'s>], cell: &Cell<'_>, name: &str) -> Option<&'c Cell<'s>> {
    cells.iter().find(|other| {
        other.subject.name == name
            && other.kind == cell.kind
            && other.load.connections == cell.load.connections
    })
}

/// Milliseconds, in order.
fn waits(cell: &Cell<'_>) -> Vec<f64> {
    sorted(cell.waits.iter().map(|wait| Duration::as_secs_f64(wait) * 1000.0))
}

pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The value that so large a part lies below.
pub(super) fn part(sorted: &[f64], part: f64) -> f64 {
    let index = (part * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(index).copied().unwrap_or(f64::NAN)
}
