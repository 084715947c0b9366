//! The answer and the results of its calls as the next messages of a
//! conversation.

use crate::calls::{AnsweredCall, Continuation, Conversation, Error, item, member};
use crate::wire::{Kind, Object, Raw, Read, ReadError, Reader, What};

/// The message of the first choice.
pub(super) fn answer_items(response: &str) -> Result<Vec<String>, ReadError> {
    let choices = member(Reader::new(response), "choices")?;
    let list = Vec::<Raw<'_>>::read(&mut choices.reader())?;
    let Some(choice) = list.first() else {
        return Err(ReadError::new(choices.pos(), What::Invalid("no answer in `choices`".into())));
    };
    Ok(vec![with_role(&member(choice.reader(), "message")?)])
}

/// One message per call. A function that was called in the deprecated way,
/// without an id, is answered by its name.
pub(super) fn result_items(
    answer: &[String],
    calls: &[AnsweredCall<'_>],
) -> Result<Vec<String>, Error> {
    let legacy = answer.first().is_some_and(|message| {
        let call = member(Reader::new(message), "function_call");
        call.is_ok_and(|call| call.kind() == Kind::Object)
    });
    let message = |answered: &AnsweredCall<'_>| {
        item(|out| {
            let mut message = Object::new(out);
            if legacy {
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
