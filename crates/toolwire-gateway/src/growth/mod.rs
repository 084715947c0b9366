//! Every entry point of the gateway that takes bytes from a stranger, or a
//! configuration, is linear: ten times the input costs at most eleven times the
//! instructions, which `cargo xtask growth` counts. Run plainly, the test reads
//! the clock.
//!
//! Each room has its rows in a `growth.rs` of its own, because most entry points
//! are private to their room. `entry_points` fails for one without a row.

mod entry_points;
mod fixture;
mod rows;

use toolwire_laws::growth::{self, Growth};

pub(crate) use self::fixture::{Fixture, chunks, config, headers, pattern, run, upstream};

/// A shape of input that hurts.
pub(crate) struct Row {
    /// The functions that it measures, as `file::function`.
    pub(crate) names: &'static [&'static str],
    pub(crate) shape: &'static str,
    pub(crate) measure: fn() -> Growth,
}

fn rows() -> impl Iterator<Item = &'static Row> {
    [
        rows::ROWS,
        crate::config::growth::ROWS,
        crate::models::growth::ROWS,
        crate::observe::growth::ROWS,
        crate::relay::growth::ROWS,
        crate::relay::growth::responses::ROWS,
        crate::relay::passthrough::growth::ROWS,
        crate::server::growth::ROWS,
        crate::stored::growth::ROWS,
        crate::stored::session_growth::ROWS,
        crate::upstream::growth::ROWS,
        crate::upstream::http1_growth::ROWS,
    ]
    .into_iter()
    .flatten()
}

#[test]
fn the_cost_grows_no_faster_than_the_input() {
    let mut over = Vec::new();
    let mut most = 0.0_f64;
    for Row { names, shape, measure } in rows() {
        let name = format!("{} ({shape})", names.first().copied().unwrap_or_default());
        if !growth::is_wanted(&name) {
            continue;
        }
        let growth = measure();
        println!("{name}: {growth}");
        most = most.max(growth.measured().unwrap_or_default());
        if growth.is_over() {
            over.push(format!("{name}: {growth}"));
        }
    }
    println!("at most {most:.1} times");
    assert!(over.is_empty(), "{} cases:\n{}", over.len(), over.join("\n"));
}
