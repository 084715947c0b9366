//! What a server that remembers writes of requests and items.

use super::stateful_in::{self, REFERENCE, STATE, STORE};
use crate::stateful::{StatefulAnswer, StatefulCodec, StatefulItems, StatefulRequest};
use crate::wire::{Kind, Object, ReadError, Reader, Str, read_fields};

/// How Responses remembers.
pub(super) struct ResponsesState;

impl StatefulCodec for ResponsesState {
    fn store_member(&self) -> &'static str {
        STORE
    }

    fn state_members(&self) -> &'static [&'static str] {
        &STATE
    }

    fn reference_word(&self) -> &'static str {
        REFERENCE
    }

    fn read_request<'a>(&self, body: &'a str) -> Result<StatefulRequest<'a>, ReadError> {
        stateful_in::request(body)
    }

    fn read_answer<'a>(&self, body: &'a str) -> Result<StatefulAnswer<'a>, ReadError> {
        stateful_in::answer(body)
    }

    fn read_items<'a>(&self, body: &'a str) -> Result<StatefulItems<'a>, ReadError> {
        stateful_in::list(body)
    }

    fn write_request(
        &self,
        request: &StatefulRequest<'_>,
        items: &mut dyn Iterator<Item = &[u8]>,
        out: &mut Vec<u8>,
    ) {
        let mut object = Object::new(out);
        object.extra(&request.others);
        object.put(STORE, &false);
        let mut list = object.array("input");
        for item in items {
            list.item().extend_from_slice(item);
        }
    }

    fn write_item(&self, id: &str, item: &str, out: &mut Vec<u8>) {
        let fields = read_fields(&mut Reader::new(item)).unwrap_or_default();
        let find =
            |key: &str| fields.iter().find(|field| field.key == key).map(|field| &field.value);
        let kind = find("type").filter(|kind| kind.kind() == Kind::String);
        let kind = kind.and_then(|kind| kind.reader().string().ok().map(Str::into_owned));
        let kind = kind.unwrap_or_else(|| Str::plain("message"));
        let is_message = kind == "message";
        let is_models = find("role").is_some_and(|role| role.text() == "\"assistant\"");
        let mut object = Object::new(out);
        object.put("id", id);
        object.put("type", &kind);
        if is_message && find("status").is_none() {
            object.put("status", "completed");
        }
        for field in &fields {
            if field.key == "id" || field.key == "type" {
                continue;
            }
            if is_message && field.key == "content" && field.value.kind() == Kind::String {
                let mut parts = object.array("content");
                let mut part = parts.object();
                part.put("type", if is_models { "output_text" } else { "input_text" });
                part.put("text", &field.value);
                if is_models {
                    part.array("annotations");
                }
                continue;
            }
            object.extra(std::slice::from_ref(field));
        }
    }
}
