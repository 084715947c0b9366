//! Where things are kept and for how long, in words.

use std::time::Duration;

use toolwire_store::EngineOptions;

/// Where an engine keeps things.
pub(crate) fn place(engine: &EngineOptions) -> String {
    match engine {
        EngineOptions::Memory => "memory until the gateway stops".to_owned(),
        EngineOptions::Sqlite(sqlite) => sqlite.path.display().to_string(),
        EngineOptions::Postgres(postgres) => match postgres.database() {
            Ok(database) => format!("Postgres, {database}"),
            Err(_) => "Postgres".to_owned(),
        },
    }
}

/// A time in the largest unit that says all of it: 36 hours are not one day.
pub(crate) fn duration(time: Duration) -> String {
    let milliseconds = time.as_millis();
    let units = [(DAY, "day"), (HOUR, "hour"), (60_000, "minute"), (1_000, "second")];
    let whole = units.into_iter().find(|(unit, _)| milliseconds.is_multiple_of(*unit));
    let (length, unit) = whole.unwrap_or((1, "millisecond"));
    counted(milliseconds / length, unit)
}

/// How long ago something was, in the largest unit that has passed.
pub(super) fn age(seconds: i64) -> String {
    let milliseconds = u128::try_from(seconds).unwrap_or(0) * 1_000;
    let units = [(DAY, "day"), (HOUR, "hour"), (60_000, "minute"), (1_000, "second")];
    match units.into_iter().find(|(length, _)| milliseconds >= *length) {
        None => "now".to_owned(),
        Some((length, unit)) => format!("{} ago", counted(milliseconds / length, unit)),
    }
}

/// A number of bytes in the largest unit of which there is one.
pub(super) fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(power, _)| bytes >> power > 0) {
        Some((power, unit)) => {
            let tenths = (u128::from(bytes) * 10) >> power;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

fn counted(count: u128, unit: &str) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

/// Milliseconds.
const DAY: u128 = 24 * HOUR;

/// Milliseconds.
const HOUR: u128 = 60 * 60 * 1_000;

#[cfg(test)]
mod tests;
