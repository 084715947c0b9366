//! The answer and the results of its calls as the next items of a
//! conversation.

use crate::calls::{AnsweredCall, Content, Continuation, Conversation, Error, item};
use crate::model::{Arguments, NativeKind};
use crate::wire::{Array, Kind, Object, Raw, ReadError, Reader};

/// Every output item, reasoning included.
pub(super) fn answer_items(response: &str) -> Result<Vec<String>, ReadError> {
    let mut reader = Reader::new(response);
    reader.enter("output")?;
    reader.list(|reader| Ok(reader.raw()?.text().to_owned()))
}

/// One item per call, of the kind that answers it.
pub(super) fn result_items(calls: &[AnsweredCall<'_>]) -> Result<Vec<String>, Error> {
    calls.iter().map(|answered| item(|out| write_result(answered, out))).collect()
}

/// `input` may be a text or missing. In a stored conversation the server has
/// the answer already, so only the results are sent.
pub(super) fn append(request: &str, next: &Continuation) -> Result<Vec<u8>, ReadError> {
    let input = Conversation::find(request, "input")?;
    let [stored] = Reader::new(request).pick(["conversation"])?;
    if stored.is_some() {
        return Ok(input.replace(&list(None, next.results())));
    }
    match input.value() {
        None => Ok(input.replace(&list(None, next.items()))),
        Some(text) if text.kind() == Kind::String => {
            Ok(input.replace(&list(Some(text), next.items())))
        }
        Some(_) => input.append(next.items()),
    }
}

fn write_result(answered: &AnsweredCall<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let AnsweredCall { id, call, output, error_prefix: _ } = answered;
    let mut item = Object::new(out);
    match &call.arguments {
        Arguments::Text(_)
        | Arguments::Json(_)
        | Arguments::Native(NativeKind::Bash | NativeKind::TextEditor | NativeKind::Memory, _) => {
            item.put("type", "function_call_output");
            item.put("call_id", id);
            answered.write_content(item.key("output"))?;
        }
        Arguments::Freeform(_) => {
            item.put("type", "custom_tool_call_output");
            item.put("call_id", id);
            answered.write_content(item.key("output"))?;
        }
        Arguments::Native(NativeKind::LocalShell, _) => {
            item.put("type", "local_shell_call_output");
            // The published schema calls the call's id `id` here.
            item.put("id", id);
            item.put("output", &answered.labeled_text());
        }
        Arguments::Native(NativeKind::Shell, _) => {
            item.put("type", "shell_call_output");
            item.put("call_id", id);
            write_shell_output(answered, item.key("output"))?;
        }
        Arguments::Native(NativeKind::ApplyPatch, _) => {
            item.put("type", "apply_patch_call_output");
            item.put("call_id", id);
            item.put("status", if output.is_error { "failed" } else { "completed" });
            item.put("output", answered.text());
        }
        Arguments::Native(NativeKind::ToolSearch, _) => {
            item.put("type", "tool_search_output");
            item.put("call_id", id);
            item.put("execution", "client");
            answered.write_json(Kind::Array, "the list of tools found", item.key("tools"))?;
        }
        Arguments::Native(NativeKind::Computer, _) => {
            item.put("type", "computer_call_output");
            item.put("call_id", id);
            answered.write_json(Kind::Object, "a screenshot", item.key("output"))?;
        }
    }
    // If a program of the model made the call, the result must name it.
    item.maybe("caller", call.caller.as_ref());
    Ok(())
}

/// The shell reports what was printed and how it ended.
fn write_shell_output(answered: &AnsweredCall<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    match &answered.output.content {
        Content::Json(_) => answered.write_json(Kind::Array, "a list of shell outputs", out),
        Content::Text(text) => {
            let failed = answered.output.is_error;
            let (stdout, stderr) = if failed { ("", text.as_str()) } else { (text.as_str(), "") };
            let mut outputs = Array::new(out);
            let mut output = outputs.object();
            output.put("stdout", stdout);
            output.put("stderr", stderr);
            let mut outcome = output.object("outcome");
            outcome.put("type", "exit");
            outcome.put("exit_code", &u64::from(failed));
            Ok(())
        }
    }
}

/// A list of items. A bare text of the user becomes the first one.
fn list<'i>(text: Option<&Raw<'_>>, items: impl Iterator<Item = &'i str>) -> Vec<u8> {
    let mut out = Vec::new();
    {
        let mut array = Array::new(&mut out);
        if let Some(text) = text {
            let mut message = array.object();
            message.put("role", "user");
            message.put("content", text);
        }
        for item in items {
            array.item().extend_from_slice(item.as_bytes());
        }
    }
    out
}
