//! The answer and the results of its calls as the next messages of a
//! conversation.

use crate::calls::{AnsweredCall, Continuation, Conversation, Error, item, member};
use crate::wire::{Object, Raw, ReadError, Reader, What};

/// The message of the first choice.
pub(super) fn answer_items(response: &str) -> Result<Vec<String>, ReadError> {
    let mut reader = Reader::new(response);
    reader.enter("choices")?;
    let mut choices = reader.array()?;
    if !choices.more(&mut reader)? {
        return Err(ReadError::new(choices.at(), What::Invalid("no answer in `choices`".into())));
    }
    Ok(vec![with_role(&member(reader, "message")?)])
}

/// One message per call. A function that was called in the deprecated way,
/// without an id, is answered by its name.
pub(super) fn result_items(calls: &[AnsweredCall<'_>]) -> Result<Vec<String>, Error> {
    let message = |answered: &AnsweredCall<'_>| {
        item(|out| {
            let mut message = Object::new(out);
            if answered.call.id.is_none() {
                message.put("role", "function");
                message.put("name", &answered.call.name);
            } else {
                message.put("role", "tool");
                message.put("tool_call_id", &answered.id);
            }
            answered.write_content(message.key("content"))
        })
    };
    calls.iter().map(message).collect()
}

pub(super) fn append(request: &str, next: &Continuation) -> Result<Vec<u8>, ReadError> {
    Conversation::find(request, "messages")?.append(next.items())
}

/// Some vendors leave out the role in an answer, but a conversation needs it.
fn with_role(message: &Raw<'_>) -> String {
    match message.reader().tag("role") {
        Ok(None) => {
            let members = message.text().strip_prefix('{').unwrap_or_default();
            let comma = if members.trim_start().starts_with('}') { "" } else { "," };
            format!("{{\"role\":\"assistant\"{comma}{members}")
        }
        Ok(Some(_)) | Err(_) => message.text().to_owned(),
    }
}
