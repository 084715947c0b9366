//! Times, sizes and misspelled words.

use std::time::Duration;

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
    let distance_to = |known: &&str| distance(&word.to_lowercase(), known);
    // If more than about a quarter of the letters differ, it is another word.
    let max_distance = 1 + word.chars().count() / 4;
    words.min_by_key(distance_to).filter(|known| distance_to(known) <= max_distance)
}

/// How many letters to change, add, remove or swap to get from one word to the
/// other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let at =
                |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut cost = (at(&row, j + 1) + 1).min(at(&next, j) + 1);
            cost = cost.min(at(&row, j) + usize::from(a != b));
            let swapped = i > 0 && j > 0 && from.get(i - 1) == Some(b) && to.get(j - 1) == Some(a);
            if swapped {
                cost = cost.min(at(&before, j - 1) + 1);
            }
            next.push(cost);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or_default()
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
