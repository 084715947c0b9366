//! The list of models, in pages.

use std::ops::Range;

use crate::model::{ApiError, ErrorKind};
use crate::protocol::{ListedModel, query_value};
use crate::wire::{Object, date};

/// Writes the page of a list that a query asks for.
pub(super) fn write_models(
    models: &[ListedModel<'_>],
    query: &str,
    out: &mut Vec<u8>,
) -> Result<(), Box<ApiError>> {
    let Page { range, has_more } = page(models, query)?;
    let models = models.get(range).unwrap_or_default();
    let mut object = Object::new(out);
    {
        let mut data = object.array("data");
        for model in models {
            write_members(*model, &mut data.object());
        }
    }
    object.put("has_more", &has_more);
    object.put("first_id", &models.first().map(|model| model.name));
    object.put("last_id", &models.last().map(|model| model.name));
    Ok(())
}

/// Writes one model.
pub(super) fn write_model(model: ListedModel<'_>, out: &mut Vec<u8>) {
    write_members(model, &mut Object::new(out));
}

fn write_members(model: ListedModel<'_>, object: &mut Object<'_>) {
    let ListedModel { name, title, owner: _, created, context_window, max_output } = model;
    object.put("type", "model");
    object.put("id", name);
    object.put("display_name", title);
    object.put("created_at", &date::format(created));
    // Nobody knows all of them, and a list of a few would deny the others.
    object.put("capabilities", &None::<u64>);
    object.put("max_input_tokens", &context_window);
    object.put("max_tokens", &max_output);
    object.put("lifecycle", "active");
    object.put("line", &None::<u64>);
    object.put("deprecated_at", &None::<u64>);
    object.put("retires_at", &None::<u64>);
}

/// A part of the list, and whether there is more in the direction of reading.
struct Page {
    range: Range<usize>,
    has_more: bool,
}

/// The page that `limit`, `after_id` and `before_id` ask for.
fn page(models: &[ListedModel<'_>], query: &str) -> Result<Page, Box<ApiError>> {
    let limit = match query_value(query, "limit") {
        None => DEFAULT_LIMIT,
        Some(limit) => limit
            .parse()
            .ok()
            .filter(|limit| (1..=MAX_LIMIT).contains(limit))
            .ok_or_else(|| invalid("limit", "It must be a number from 1 to 1000."))?,
    };
    let place = |name: &'static str| {
        let Some(id) = query_value(query, name) else { return Ok(None) };
        let found = models.iter().position(|model| model.name == id);
        found.map(Some).ok_or_else(|| invalid(name, "There is no such model in the list."))
    };
    match (place("after_id")?, place("before_id")?) {
        (Some(_), Some(_)) => {
            Err(invalid("before_id", "It cannot be used together with after_id."))
        }
        (None, Some(before)) => {
            let start = before.saturating_sub(limit);
            Ok(Page { range: start..before, has_more: start > 0 })
        }
        (after, None) => {
            let start = after.map_or(0, |after| after + 1);
            let end = models.len().min(start + limit);
            Ok(Page { range: start..end, has_more: end < models.len() })
        }
    }
}

fn invalid(name: &str, why: &str) -> Box<ApiError> {
    let message = format!("The query parameter `{name}` is invalid. {why}");
    let mut error = ApiError::new(ErrorKind::InvalidRequest, message);
    error.param = Some(name.to_owned());
    Box::new(error)
}

/// What the vendor documents.
const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 1000;
