//! The results of calls as each protocol writes them.

use super::{Content, Error, ToolOutput};
use crate::model::{Arguments, Call, NativeKind, Protocol};
use crate::profile::Profile;
use crate::wire::{Array, Kind, Object, Raw, Str, Write};

/// An output and the id of the call it answers.
pub(super) struct Answered<'o> {
    pub(super) id: String,
    pub(super) output: &'o ToolOutput,
}

/// One message. `legacy` is the function's name if it was called in the
/// deprecated way, without an id.
pub(super) fn chat_result(
    legacy: Option<&Str<'_>>,
    answer: &Answered<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut message = Object::new(out);
    match legacy {
        Some(name) => {
            message.put("role", "function");
            message.put("name", name);
        }
        None => {
            message.put("role", "tool");
            message.put("tool_call_id", &answer.id);
        }
    }
    content(Protocol::Chat, answer, message.key("content"))
}

/// One item of the kind that answers the call.
pub(super) fn responses_result(
    call: &Call<'_>,
    answer: &Answered<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let Answered { id, output } = answer;
    let mut item = Object::new(out);
    match &call.arguments {
        Arguments::Text(_) | Arguments::Json(_) => {
            item.put("type", "function_call_output");
            item.put("call_id", id);
            content(Protocol::Responses, answer, item.key("output"))?;
        }
        Arguments::Freeform(_) => {
            item.put("type", "custom_tool_call_output");
            item.put("call_id", id);
            content(Protocol::Responses, answer, item.key("output"))?;
        }
        Arguments::Native(NativeKind::LocalShell, _) => {
            item.put("type", "local_shell_call_output");
            // The published schema calls the call's id `id` here.
            item.put("id", id);
            item.put("output", &told(output));
        }
        Arguments::Native(NativeKind::Shell, _) => {
            item.put("type", "shell_call_output");
            item.put("call_id", id);
            shell_output(answer, item.key("output"))?;
        }
        Arguments::Native(NativeKind::ApplyPatch, _) => {
            item.put("type", "apply_patch_call_output");
            item.put("call_id", id);
            item.put("status", if output.is_error { "failed" } else { "completed" });
            item.put("output", text_of(output));
        }
        Arguments::Native(NativeKind::ToolSearch, _) => {
            item.put("type", "tool_search_output");
            item.put("call_id", id);
            item.put("execution", "client");
            structured(answer, Kind::Array, "the list of tools found", item.key("tools"))?;
        }
        Arguments::Native(NativeKind::Computer, _) => {
            item.put("type", "computer_call_output");
            item.put("call_id", id);
            structured(answer, Kind::Object, "a screenshot", item.key("output"))?;
        }
        Arguments::Native(NativeKind::Bash | NativeKind::TextEditor | NativeKind::Memory, _) => {
            item.put("type", "function_call_output");
            item.put("call_id", id);
            content(Protocol::Responses, answer, item.key("output"))?;
        }
    }
    // A result must say which program of the model's called, if one did.
    item.maybe("caller", call.caller.as_ref());
    Ok(())
}

/// One user message with every result.
pub(super) fn messages_results(answers: &[Answered<'_>], out: &mut Vec<u8>) -> Result<(), Error> {
    let mut message = Object::new(out);
    message.put("role", "user");
    let mut blocks = message.array("content");
    for answer in answers {
        let mut block = blocks.object();
        block.put("type", "tool_result");
        block.put("tool_use_id", &answer.id);
        // Messages takes a result without content, but no empty text.
        if !matches!(&answer.output.content, Content::Text(text) if text.is_empty()) {
            content(Protocol::Messages, answer, block.key("content"))?;
        }
        if answer.output.is_error {
            block.put("is_error", &true);
        }
    }
    Ok(())
}

/// Writes text, or a list of content parts as it is.
fn content(protocol: Protocol, answer: &Answered<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let flagged = protocol == Protocol::Messages;
    match &answer.output.content {
        Content::Text(text) if flagged => text.write(out),
        Content::Text(_) => told(answer.output).write(out),
        Content::Json(_) if answer.output.is_error && !flagged => {
            return Err(unfit(answer, "the protocol has no error flag: say it in a text"));
        }
        Content::Json(_) => structured(answer, Kind::Array, "a list of content parts", out)?,
    }
    Ok(())
}

/// Writes JSON of the caller's as it is, if it is of the kind wanted.
fn structured(
    answer: &Answered<'_>,
    wanted: Kind,
    what: &str,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let Content::Json(json) = &answer.output.content else {
        return Err(unfit(answer, &format!("it must be JSON: {what}")));
    };
    match Raw::parse(json) {
        Ok(value) if value.kind() == wanted => {
            value.write(out);
            Ok(())
        }
        Ok(value) => Err(unfit(answer, &format!("expected {what}, found {}", value.kind()))),
        Err(error) => Err(unfit(answer, &format!("it is not JSON: {error}"))),
    }
}

/// Responses' shell reports what was printed and how it ended.
fn shell_output(answer: &Answered<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    match &answer.output.content {
        Content::Json(_) => structured(answer, Kind::Array, "a list of shell outputs", out),
        Content::Text(text) => {
            let failed = answer.output.is_error;
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

/// The output as text that says itself whether it failed.
fn told(output: &ToolOutput) -> Str<'_> {
    let text = text_of(output);
    if output.is_error {
        let prefix = Profile::of(Protocol::Chat).error_prefix;
        return Str::plain(format!("{prefix}{text}"));
    }
    Str::plain(text.as_str())
}

fn text_of(output: &ToolOutput) -> &String {
    match &output.content {
        Content::Text(text) | Content::Json(text) => text,
    }
}

fn unfit(answer: &Answered<'_>, reason: &str) -> Error {
    Error::Content { id: answer.id.clone(), reason: reason.to_owned() }
}
