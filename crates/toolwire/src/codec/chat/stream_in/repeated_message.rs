//! A whole message behind the deltas that it is made of.

use super::blocks::BlockAssembler;
use super::chunk::ChunkDelta;

/// Leaves out of a message what has been sent. MiniMax ends a stream with the whole answer,
/// and what its deltas had is in it again. What no delta had is news.
/// vectors/streams/chat-message-repeated-behind-deltas
pub(super) fn leave_out_sent(message: &mut ChunkDelta<'_>, sent: &BlockAssembler) {
    if sent.has_text() {
        message.content = None;
        // The transcript of what was spoken is text too.
        message.audio = None;
    }
    if sent.has_refusal() {
        message.refusal = None;
    }
    if sent.has_citations() {
        message.annotations = None;
    }
    if sent.has_calls() {
        message.tool_calls = None;
        message.function_call = None;
    }
    if sent.has_reasoning() {
        message.reasoning_content = None;
        message.reasoning = None;
        message.reasoning_details = None;
        message.thinking_blocks = None;
    }
}
