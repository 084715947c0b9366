//! Lists of items, in pages.

use toolwire::CODECS;
use toolwire::stateful::StatefulCodec;
use toolwire::wire::{Array, Object};
use toolwire_store::{Item, ItemPage, Order, Page};

use super::failure::invalid;
use crate::relay::Failure;

/// The codec of the protocol whose items these are.
pub(super) fn item_codec() -> Option<&'static StatefulCodec> {
    CODECS.iter().find_map(|codec| codec.stateful)
}

/// The protocol whose items these are.
pub(crate) fn item_protocol() -> toolwire::Protocol {
    let [first, ..] = CODECS;
    CODECS
        .iter()
        .find(|codec| codec.stateful.is_some())
        .map_or(first.protocol, |codec| codec.protocol)
}

/// Reads which page a client wants.
pub(super) fn read_page(query: &str) -> Result<Page, Failure> {
    let mut page = Page { after: None, limit: DEFAULT_LIMIT, order: Order::NewestFirst };
    for (name, value) in parameters(query) {
        match name.as_str() {
            "limit" => {
                let limit = value.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
                page.limit = limit.ok_or_else(|| {
                    invalid("limit", format!("`limit` must be between 1 and {MAX_LIMIT}."))
                })?;
            }
            "order" => {
                page.order = match value.as_str() {
                    "asc" => Order::OldestFirst,
                    "desc" => Order::NewestFirst,
                    _other => return Err(invalid("order", "`order` must be asc or desc.")),
                };
            }
            "after" => page.after = Some(value),
            _other => {}
        }
    }
    Ok(page)
}

/// The parameters of a query.
pub(super) fn parameters(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter(|part| !part.is_empty()).map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        // Only in a query is a plus sign a space.
        let decoded = |text: &str| percent_decoded(&text.replace('+', " "));
        (decoded(name), decoded(value))
    })
}

/// Undoes what a URL does to a text.
pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let digit = |digit: Option<u8>| char::from(digit?).to_digit(16);
        match byte {
            b'%' => {
                let mut ahead = bytes.clone();
                let pair = digit(ahead.next()).zip(digit(ahead.next()));
                if let Some(value) = pair.and_then(|(a, b)| u8::try_from(a * 16 + b).ok()) {
                    out.push(value);
                    bytes = ahead;
                } else {
                    out.push(byte);
                }
            }
            other => out.push(other),
        }
    }
    String::from_utf8(out).unwrap_or_default()
}

/// A page as the API shows it.
pub(super) fn write_page(page: &ItemPage) -> Vec<u8> {
    let ItemPage { items, more } = page;
    let mut out = Vec::new();
    {
        let mut object = Object::new(&mut out);
        object.put("object", "list");
        write_items(items, &mut object.array("data"));
        object.put("first_id", &items.first().map(|item| item.id.as_str()));
        object.put("last_id", &items.last().map(|item| item.id.as_str()));
        object.put("has_more", more);
    }
    out
}

/// One item as the API shows it.
pub(super) fn write_item(item: &Item) -> Vec<u8> {
    let mut out = Vec::new();
    if let (Some(codec), Ok(text)) = (item_codec(), std::str::from_utf8(&item.body)) {
        (codec.write_item)(&item.id, text, &mut out);
    }
    out
}

fn write_items(items: &[Item], list: &mut Array<'_>) {
    for item in items {
        list.item().extend_from_slice(&write_item(item));
    }
}

const DEFAULT_LIMIT: usize = 20;

const MAX_LIMIT: usize = 100;

#[cfg(test)]
mod tests;
