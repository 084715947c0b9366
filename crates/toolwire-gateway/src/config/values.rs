//! Times, sizes and misspelled words.

use std::time::Duration;

use strsim::osa_distance;

/// A time above zero: `300ms`, `10s`, `5m`, `1h`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" | "min" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        _ => return None,
    };
    number.checked_mul(milliseconds).filter(|time| *time > 0).map(Duration::from_millis)
}

/// How long something is kept: days as `30d`, or any shorter time.
pub(super) fn retention(text: &str) -> Option<Duration> {
    match split(text)? {
        (days, "d") => {
            days.checked_mul(24 * 60 * 60).filter(|time| *time > 0).map(Duration::from_secs)
        }
        (_, _) => duration(text),
    }
}

/// A number of bytes above zero: `512B`, `64KiB`, `32MiB`, and thousands as
/// `64kB`.
pub(super) fn size(text: &str) -> Option<usize> {
    let (number, unit) = split(text)?;
    let bytes: u64 = match unit {
        "B" => 1,
        "kB" | "KB" => 1000,
        "MB" => 1000 * 1000,
        "GB" => 1000 * 1000 * 1000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    let total = number.checked_mul(bytes).filter(|size| *size > 0)?;
    usize::try_from(total).ok()
}

fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = text.split_at(end);
    Some((digits.parse().ok()?, unit.trim_start()))
}

/// The word that was probably meant, if one is similar enough.
pub(super) fn nearest<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let distance_to = |known: &&str| osa_distance(&word.to_lowercase(), known);
    // If more than about a quarter of the letters differ, it is another word.
    let max_distance = 1 + word.chars().count() / 4;
    words.min_by_key(distance_to).filter(|known| distance_to(known) <= max_distance)
}

/// A list in a sentence: "a, b or c".
pub(super) fn either(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// A TOML type in a sentence.
pub(super) fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} {kind}")
}
