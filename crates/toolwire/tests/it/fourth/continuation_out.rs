//! The answer and the results of its calls as the next entries of a dialogue.

use toolwire::calls::{AnsweredCall, Continuation, Conversation, Error, item, member};
use toolwire::wire::{ReadError, Reader};

use super::content_out::entry;

/// One entry of the machine with the whole reply.
pub(super) fn answer_items(response: &str) -> Result<Vec<String>, ReadError> {
    let reply = member(Reader::new(response), "reply")?;
    let answer = item(|out| {
        entry(out, "machine").put("says", &reply);
        Ok(())
    });
    answer.map(|answer| vec![answer])
}

/// One entry for each result.
pub(super) fn result_items(calls: &[AnsweredCall<'_>]) -> Result<Vec<String>, Error> {
    let result = |answered: &AnsweredCall<'_>| {
        item(|out| {
            let mut entry = entry(out, "tool");
            entry.put("ref", &answered.id);
            answered.write_unlabeled_content(entry.key("gave"))?;
            if answered.output.is_error {
                entry.put("failed", &true);
            }
            Ok(())
        })
    };
    calls.iter().map(result).collect()
}

pub(super) fn append(request: &str, next: &Continuation) -> Result<Vec<u8>, ReadError> {
    Conversation::find(request, "dialogue")?.append(next.items())
}
