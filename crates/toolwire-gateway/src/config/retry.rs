//! The settings of `[retry]`.

use std::ops::RangeInclusive;

use toml::de::DeTable;

use super::RetryPolicy;
use super::fields::{Fields, Value, refuse, setting};
use super::problem::Problem;
use crate::retry::SERVER_ERRORS;

/// Reads `[retry]`, with the defaults for the rest.
pub(super) fn read(table: &DeTable<'_>, problems: &mut Vec<Problem>) -> RetryPolicy {
    let mut policy = RetryPolicy::default();
    let RetryPolicy {
        statuses,
        budget_percent,
        budget_reserve,
        max_pause,
        eject_after,
        first_ejection,
        max_ejection,
        probe_timeout,
    } = &mut policy;
    let mut fields = Fields::new(table, "`retry`");
    if let Some(value) = fields.take("statuses")
        && let Some(list) = read_statuses(value, problems)
    {
        *statuses = list;
    }
    for (name, number, least) in [
        ("budget_percent", budget_percent, 0),
        ("budget_reserve", budget_reserve, 1),
        ("eject_after", eject_after, 1),
    ] {
        let value = fields.take(name);
        if let Some(value) = value.and_then(|value| setting(name, problems).whole(value, least)) {
            *number = u32::try_from(value).unwrap_or(u32::MAX);
        }
    }
    let pause = fields.take("max_pause");
    let ejection = fields.take("first_ejection");
    for (name, value, time) in [
        ("max_pause", pause, max_pause),
        ("first_ejection", ejection, &mut *first_ejection),
        ("max_ejection", fields.take("max_ejection"), &mut *max_ejection),
        ("probe_timeout", fields.take("probe_timeout"), probe_timeout),
    ] {
        if let Some(value) = value.and_then(|value| setting(name, problems).duration(value)) {
            *time = value;
        }
    }
    if let Some(value) = ejection
        && first_ejection > max_ejection
    {
        refuse::<()>(
            problems,
            value.span(),
            "`first_ejection` is longer than `max_ejection`",
            "too long",
            "make `first_ejection` shorter, or `max_ejection` longer",
        );
    }
    fields.finish(problems);
    policy
}

fn read_statuses(
    value: Value<'_, '_>,
    problems: &mut Vec<Problem>,
) -> Option<Vec<RangeInclusive<u16>>> {
    let list = setting("statuses", problems).list(value)?;
    // Every element is checked, even after an invalid one.
    let statuses: Vec<_> = list.into_iter().map(|value| read_status(value, problems)).collect();
    let statuses: Option<Vec<_>> = statuses.into_iter().collect();
    Some(statuses?.concat())
}

fn read_status(
    value: Value<'_, '_>,
    problems: &mut Vec<Problem>,
) -> Option<Vec<RangeInclusive<u16>>> {
    let number = value.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
    match (number, value.get_ref().as_str()) {
        (Some(status @ 400..=599), _) => Some(vec![status..=status]),
        (_, Some("4xx")) => Some(vec![400..=499]),
        (_, Some("5xx")) => Some(SERVER_ERRORS.to_vec()),
        (_, _) => setting("statuses", problems)
            .invalid(value, "a status from 400 to 599, \"4xx\" or \"5xx\""),
    }
}
