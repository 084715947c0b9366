//! Numbers and what they count.

use super::candidates::Candidate;
use super::parameters::Parameter;

/// How well a number suits a numeric parameter, and the number in its unit.
pub(super) fn fit(parameter: &Parameter<'_>, candidate: &Candidate<'_>) -> Option<(f32, String)> {
    let mut value = candidate.value.clone();
    let mut score = 1.0;
    let units: Vec<&String> = std::iter::once(&candidate.unit)
        .chain(&candidate.after)
        .filter(|unit| !unit.is_empty())
        .collect();
    let wanted =
        parameter.stems.iter().chain(&parameter.described_stems).find_map(|stem| seconds(stem));
    let given = units.first().and_then(|unit| seconds(unit));
    match (given, wanted) {
        (Some(given), Some(wanted)) => {
            value = scale(&value, given, wanted)?;
            score += 4.0;
        }
        // "10 minutes" counts nothing but minutes.
        (Some(_), None)
            if !parameter.named(&["duration", "timeout", "interval", "ttl", "length", "time"]) =>
        {
            score -= 2.5
        }
        _ => {}
    }
    if units.iter().any(|unit| parameter.stems.contains(unit)) {
        score += if given.is_some() { 1.0 } else { 4.0 };
    } else if units.iter().any(|unit| parameter.described_stems.contains(unit)) {
        score += if given.is_some() { 0.5 } else { 2.5 };
    }
    // "40 lines" counts them, "line 40" is one of them.
    let description = parameter.schema.description.to_lowercase();
    let counts = ["number of", "how many", "maximum", "count of"]
        .iter()
        .any(|words| description.contains(words));
    let is_described =
        |stems: &[&String]| stems.iter().any(|stem| parameter.described_stems.contains(stem));
    let nearest: Vec<&String> = candidate.before.first().into_iter().collect();
    if (counts && is_described(&units)) || (!counts && is_described(&nearest)) {
        score += 1.0;
    }
    if units.iter().any(|unit| *unit == "percent")
        && parameter.about(&[
            "percent", "percentage", "brightness", "volume", "level", "opacity", "discount", "rate",
        ])
    {
        score += 3.0;
    }
    if candidate.unit == "#" && parameter.named(&["number", "id"]) {
        score += 2.0;
    }
    if matches!(candidate.unit.as_str(), "usd" | "eur" | "gbp")
        && parameter.about(&["amount", "price", "budget", "money", "cost", "total"])
    {
        score += 3.0;
    }
    if candidate.before.iter().any(|stem| parameter.stems.contains(stem)) {
        score += 4.0;
    } else if candidate.before.iter().any(|stem| parameter.described_stems.contains(stem)) {
        score += 1.5;
    }
    if candidate
        .before
        .iter()
        .any(|stem| matches!(stem.as_str(), "top" | "limit" | "maximum" | "most" | "last" | "up"))
        && parameter.named(&["limit", "max", "maximum", "count", "results", "top", "tail", "n"])
    {
        score += 2.0;
    }
    if parameter.named(&["year"])
        && value.len() == 4
        && (value.starts_with("19") || value.starts_with("20"))
    {
        score += 2.5;
    }
    // "add 3 of them"
    if candidate.preposition.is_empty()
        && candidate.before.is_empty()
        && parameter.named(&["quantity", "count", "copies", "number"])
        && given.is_none()
    {
        score += 2.0;
    }
    if parameter.takes_preposition(candidate.preposition) {
        score += 2.0;
    }
    if parameter.is_integer() && value.contains('.') {
        return None;
    }
    Some((score, value))
}

/// Whether a number counts minutes, days or the like.
pub(super) fn is_time(candidate: &Candidate<'_>) -> bool {
    seconds(&candidate.unit).is_some()
        || candidate.after.first().is_some_and(|unit| {
            seconds(unit).is_some() || matches!(unit.as_str(), "month" | "year")
        })
}

/// The length of a unit of time, by its stem.
fn seconds(stem: &str) -> Option<u32> {
    Some(match stem {
        "second" | "sec" => 1,
        "minut" | "min" => 60,
        "hour" | "h" | "hr" => 3600,
        "day" => 86_400,
        "week" => 604_800,
        _ => return None,
    })
}

/// A whole number of one unit in another, if it is whole there, too.
fn scale(value: &str, given: u32, wanted: u32) -> Option<String> {
    if given == wanted {
        return Some(value.to_owned());
    }
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let tenths = match fraction {
        "" => 0,
        one if one.len() == 1 => one.parse::<u64>().ok()?,
        _ => return None,
    };
    let total =
        (whole.parse::<u64>().ok()?.checked_mul(10)? + tenths).checked_mul(u64::from(given))?;
    let unit = u64::from(wanted) * 10;
    total.is_multiple_of(unit).then(|| (total / unit).to_string())
}
