//! The answer and the results of its calls as the next messages of a
//! conversation.

use crate::calls::{AnsweredCall, Content, Continuation, Conversation, Error, item, member};
use crate::wire::{Object, ReadError, Reader};

/// One message of the assistant with the whole content.
pub(super) fn answer_items(response: &str) -> Result<Vec<String>, ReadError> {
    let content = member(Reader::new(response), "content")?;
    let message = item(|out| {
        let mut message = Object::new(out);
        message.put("role", "assistant");
        message.put("content", &content);
        Ok(())
    });
    message.map(|message| vec![message])
}

/// One message of the user with every result.
pub(super) fn result_items(calls: &[AnsweredCall<'_>]) -> Result<Vec<String>, Error> {
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let message = item(|out| {
        let mut message = Object::new(out);
        message.put("role", "user");
        let mut blocks = message.array("content");
        for answered in calls {
            let mut block = blocks.object();
            block.put("type", "tool_result");
            block.put("tool_use_id", &answered.id);
            // Messages accepts a result without content, but no empty text.
            if !matches!(&answered.output.content, Content::Text(text) if text.is_empty()) {
                answered.write_unlabeled_content(block.key("content"))?;
            }
            if answered.output.is_error {
                block.put("is_error", &true);
            }
        }
        Ok(())
    });
    message.map(|message| vec![message])
}

pub(super) fn append(request: &str, next: &Continuation) -> Result<Vec<u8>, ReadError> {
    Conversation::find(request, "messages")?.append(next.items())
}
