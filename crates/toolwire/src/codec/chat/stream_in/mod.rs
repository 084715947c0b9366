//! The stream: reading it.
//!
//! A Chat stream ends twice: with a `finish_reason`, after which a vendor may
//! still send text and token counts, and with `[DONE]`, which some leave out. So
//! the answer ends at `[DONE]` or when the bytes end.

pub(super) mod accumulator;
pub(super) mod json_balance;
pub(super) mod observer;

mod blocks;
mod call_directory;
mod call_finder;
mod call_identity;
mod call_record;
mod calls;
mod chunk;
mod failure;
mod fragment;
mod members;
mod reasoning;
mod repeated_message;
mod text_delta;

use self::blocks::BlockAssembler;
use self::chunk::{AnyCallDelta, Chunk, ChunkChoice, ChunkDelta, DeltaContent, Groq, Logprobs};
use self::failure::{is_error, reported_error, truncated, unnamed_call};
use self::fragment::CallFragment;
use self::members::{MemberReporter, is_meaningful};
use self::reasoning::ReasoningMember;
use self::text_delta::DeltaText;
use super::lenient_in::Index;
use super::reasoning_in::ReasoningMembers;
use super::stop_in::Said;
use super::wire::{MessageAudio, reread, string};
use super::{stop_in, usage_in};
use crate::codec::{EventPlace, EventSink, StreamReader, openai};
use crate::ledger::Code;
use crate::model::{
    ApiError, Event, Item, Opaque, Protocol, Reasoning, Refusal, Start, Stop, Text,
};
use crate::wire::sse::Frame;
use crate::wire::stencil::Stencil;
use crate::wire::{At, Pos, Raw, Read, ReadError, Reader, Str};

/// Reads a stream of Chat.
#[derive(Debug, Default)]
pub(super) struct ChatStreamReader {
    state: ReaderState,
    /// The bytes around the text of the last chunk, if it had nothing else.
    last: Stencil<DeltaText>,
    blocks: BlockAssembler,
    /// The last `finish_reason`.
    finish_reason: Option<String>,
    members: MemberReporter,
    reported_other_choices: bool,
    reported_audio: bool,
    /// Whether the text is the transcript of spoken output.
    is_transcribed: bool,
    /// Whether the answer began with a message where a delta belongs.
    sends_messages: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReaderState {
    #[default]
    Before,
    Begun,
    Over,
}

impl StreamReader for ChatStreamReader {
    fn read(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) -> Result<(), ReadError> {
        if self.state == ReaderState::Over {
            return Ok(());
        }
        if let Some((kind, text)) = self.last.fit(frame) {
            self.push_text(kind, text, sink);
            return Ok(());
        }
        let repeats = self.last.forget();
        match frame.data.trim() {
            "[DONE]" => {
                self.read_done(sink);
                return Ok(());
            }
            "" => return Ok(()),
            _chunk => {}
        }
        if frame.name == Some("error") {
            return self.read_error(frame.data, sink);
        }
        // A chunk is large, so it is read in place and not through `document`.
        let mut reader = Reader::new(frame.data);
        let chunk = Chunk::read(&mut reader)?;
        reader.finish()?;
        if is_error(&chunk) {
            return self.read_error(frame.data, sink);
        }
        if let Some(error) = reported_error(&chunk) {
            self.fail(error, sink);
            return Ok(());
        }
        self.read_chunk(chunk, sink)?;
        self.settle_calls(sink);
        if repeats && self.state == ReaderState::Begun {
            self.last.cut(frame, text_delta::find);
        }
        Ok(())
    }

    fn finish(&mut self, sink: &mut dyn EventSink) {
        if self.state == ReaderState::Begun && self.finish_reason.is_some() {
            self.end(sink);
        }
    }
}

impl ChatStreamReader {
    /// Takes the text of a chunk that has nothing else.
    fn push_text(&mut self, kind: DeltaText, text: Str<'_>, sink: &mut dyn EventSink) {
        match kind {
            DeltaText::Content => self.blocks.push_text(text, None, sink),
            DeltaText::Reasoning(member) => self.blocks.push_reasoning(member, text, sink),
            DeltaText::Arguments(index) => {
                self.blocks.push_call(CallFragment::arguments(index, text), sink);
                self.settle_calls(sink);
            }
        }
    }

    /// Ends a chunk that may have had pieces of calls.
    fn settle_calls(&mut self, sink: &mut dyn EventSink) {
        self.blocks.forget_positions();
        // At once, so that nobody runs a call whose arguments may be those of another.
        if self.blocks.has_unnamed_call() {
            self.fail(unnamed_call(), sink);
        }
    }

    fn read_chunk<'a>(
        &mut self,
        chunk: Chunk<'a>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let Chunk {
            at: _,
            id,
            object: _,
            created,
            model,
            choices,
            usage,
            service_tier,
            system_fingerprint,
            obfuscation: _,
            error: _,
            provider,
            x_groq,
            extra,
        } = chunk;
        if self.state == ReaderState::Before {
            let text = |raw: &Raw<'a>| string(raw).filter(|text| !text.is_empty());
            let id = id.as_ref().and_then(text);
            let empty = choices.as_ref().is_none_or(|choices| choices.is_empty());
            // Azure's first chunk has only what its filters say about the prompt.
            if empty && id.is_none() && usage.is_none() {
                sink.ledger().only(&extra);
                return Ok(());
            }
            self.state = ReaderState::Begun;
            sink.event(Event::Start(Start {
                origin: Protocol::Chat,
                id,
                model: model.as_ref().and_then(text),
                created: created.as_ref().and_then(|raw| reread(raw)?.ok()),
            }));
        }
        self.members.tier(service_tier, sink);
        self.members.member("system_fingerprint", system_fingerprint, sink);
        self.members.member("provider", provider, sink);
        self.members.members(extra, sink);
        let mut usage = usage;
        if let Some(own) = x_groq {
            if let Some(Ok(Groq { at: _, usage: counted, error, extra: _ })) = reread(&own) {
                usage = usage.or(counted);
                if let Some(error) = error {
                    return self.read_error(error.text(), sink);
                }
            }
            self.members.member("x_groq", Some(own), sink);
        }
        if let Some(choices) = choices {
            choices.try_each(|position, choice| {
                if choice.index.and_then(|Index(index)| index).unwrap_or(position as u64) == 0 {
                    return self.read_choice(choice, sink);
                }
                if !std::mem::replace(&mut self.reported_other_choices, true) {
                    sink.ledger().dropped(choice.at, Code::MultipleAnswers);
                }
                Ok(())
            })?;
        }
        if let Some(counted) = usage
            && self.state == ReaderState::Begun
        {
            sink.event(Event::Usage(usage_in::read(*counted)));
        }
        Ok(())
    }

    fn read_choice<'a>(
        &mut self,
        choice: ChunkChoice<'a>,
        sink: &mut dyn EventSink,
    ) -> Result<(), ReadError> {
        let ChunkChoice {
            at: _,
            index: _,
            delta,
            message,
            finish_reason,
            logprobs,
            usage,
            error,
            native_finish_reason,
            stop_reason,
            token_ids,
            content_filter_results,
            extra,
        } = choice;
        if let Some(error) = error.filter(is_meaningful) {
            let body = format!("{{\"error\":{}}}", error.text());
            return self.read_error(&body, sink);
        }
        match (delta, message) {
            (Some(delta), _) => self.read_delta(delta, logprobs, sink),
            (None, Some(message)) => self.read_message(*message, logprobs, sink),
            (None, None) => {}
        }
        if let Some(raw) = finish_reason {
            match string(&raw) {
                Some(word) if word.is_empty() => {}
                Some(word) => {
                    self.finish_reason = Some(word.into_decoded().into_owned());
                    // Token counts may follow, but a whole call gets nothing more. In an
                    // answer that was broken off no call is whole.
                    if !matches!(self.stop(self.blocks.is_last_cut()), Stop::Failed(_)) {
                        self.blocks.close_calls(sink);
                    }
                }
                None => self.members.member("finish_reason", Some(raw), sink),
            }
        }
        self.members.member("native_finish_reason", native_finish_reason, sink);
        self.members.member("stop_reason", stop_reason, sink);
        self.members.member("token_ids", token_ids, sink);
        self.members.member("content_filter_results", content_filter_results, sink);
        self.members.members(extra, sink);
        if let Some(counted) = usage {
            sink.event(Event::Usage(usage_in::read(*counted)));
        }
        Ok(())
    }

    /// Takes a message that came without a delta: in place of one, or again behind them.
    fn read_message<'a>(
        &mut self,
        mut message: ChunkDelta<'a>,
        mut logprobs: Option<Raw<'a>>,
        sink: &mut dyn EventSink,
    ) {
        if !self.blocks.is_empty() && !self.sends_messages {
            // The tokens are those of what is repeated.
            logprobs = logprobs.filter(|_list| !self.blocks.has_text());
            repeated_message::leave_out_sent(&mut message, &self.blocks);
            return self.read_delta(message, logprobs, sink);
        }
        self.read_delta(message, logprobs, sink);
        self.sends_messages = !self.blocks.is_empty();
    }

    fn read_delta<'a>(
        &mut self,
        delta: ChunkDelta<'a>,
        logprobs: Option<Raw<'a>>,
        sink: &mut dyn EventSink,
    ) {
        let ChunkDelta {
            at: _,
            role: _,
            content,
            refusal,
            annotations,
            audio,
            tool_calls,
            function_call,
            reasoning_content,
            reasoning,
            reasoning_details,
            thinking_blocks,
            extra,
        } = delta;
        let members =
            ReasoningMembers { reasoning_content, reasoning, reasoning_details, thinking_blocks };
        for unknown in reasoning::read(members, &mut self.blocks, sink).into_iter().flatten() {
            self.members.members(vec![unknown], sink);
        }
        let (text_logprobs, refusal_logprobs) = split_logprobs(logprobs);
        match content {
            Some(DeltaContent::Text(text)) => self.blocks.push_text(text, text_logprobs, sink),
            Some(DeltaContent::Parts(items)) => {
                for item in items {
                    self.read_part(item, sink);
                }
                sink.ledger().lost(&text_logprobs, Code::Logprobs);
            }
            // The tokens are those of a call.
            None => sink.ledger().lost(&text_logprobs, Code::Logprobs),
        }
        if let Some(list) = annotations.filter(|list| !list.is_empty()) {
            match reread::<Vec<Raw<'a>>>(&list) {
                Some(Ok(list)) => {
                    for citation in list {
                        self.blocks.push_citation(citation, sink);
                    }
                }
                Some(Err(_)) | None => self.members.member("annotations", Some(list), sink),
            }
        }
        match refusal {
            Some(text) => self.blocks.push_refusal(text, refusal_logprobs, sink),
            None => sink.ledger().lost(&refusal_logprobs, Code::Logprobs),
        }
        if let Some(audio) = audio {
            self.read_audio(audio, sink);
        }
        if let Some(list) = tool_calls {
            let several = list.len() > 1;
            for (place, call) in list.into_iter().enumerate() {
                self.read_call(call, several.then_some(place), sink);
            }
        }
        if let Some(function) = function_call {
            let mut fragment = CallFragment::from_function(*function);
            fragment.legacy = true;
            self.blocks.push_call(fragment, sink);
        }
        self.members.members(extra, sink);
    }

    /// Takes a piece of spoken output. The text of a model that speaks is its
    /// transcript, unless it has text of its own.
    fn read_audio(&mut self, audio: Raw<'_>, sink: &mut dyn EventSink) {
        if !std::mem::replace(&mut self.reported_audio, true) {
            sink.ledger().dropped(audio.pos(), Code::Audio);
        }
        let Some(Ok(MessageAudio { at: _, data: _, transcript: Some(text), extra: _ })) =
            reread(&audio)
        else {
            return;
        };
        if !text.is_empty() && (self.is_transcribed || !self.blocks.has_text()) {
            self.is_transcribed = true;
            self.blocks.push_text(text, None, sink);
        }
    }

    /// Takes one part of content that is a list.
    fn read_part(&mut self, item: Item<'_>, sink: &mut dyn EventSink) {
        if let Item::Text(text) = item {
            let Text { at: _, text, citations: _, logprobs, cache: _, extra } = text;
            self.members.members(extra, sink);
            self.blocks.push_text(text, logprobs, sink);
        } else if let Item::Refusal(Refusal { at: _, text, extra }) = item {
            self.members.members(extra, sink);
            self.blocks.push_refusal(text, None, sink);
        } else if let Item::Reasoning(reasoning) = item {
            let Reasoning { at: _, summary: _, content, sealed: _, place: _, extra } = reasoning;
            self.members.members(extra, sink);
            for text in content {
                self.blocks.push_reasoning(ReasoningMember::Content, text, sink);
            }
        } else {
            self.blocks.push_whole(Pos::START, item, sink);
        }
    }

    fn read_call(
        &mut self,
        call: AnyCallDelta<'_>,
        place: Option<usize>,
        sink: &mut dyn EventSink,
    ) {
        let call = match call {
            AnyCallDelta::Known(call) => call,
            AnyCallDelta::Unknown { kind, raw } => {
                let at = raw.pos();
                let item = Item::Opaque(Opaque { kind: Some(kind), raw });
                return self.blocks.push_whole(at, item, sink);
            }
        };
        let mut fragment = CallFragment::from_delta(call);
        fragment.place = place;
        self.blocks.push_call(fragment, sink);
    }

    fn read_done(&mut self, sink: &mut dyn EventSink) {
        let says_nothing = self.finish_reason.is_none() && self.blocks.is_empty();
        if self.state == ReaderState::Before || says_nothing {
            self.fail(truncated("The upstream ended its stream without an answer."), sink);
        } else if self.finish_reason.is_none() && self.blocks.is_cut() {
            self.fail(truncated("The upstream ended its stream in the middle of a call."), sink);
        } else if self.finish_reason.is_none() && self.reported_other_choices {
            // Foundry Local counts the index of the choice up with every chunk, so what was left
            // out as other answers may be the rest of this one.
            // vectors/streams/chat-choice-index-counts-chunks
            let message = "The upstream ended its stream without an end of its first answer.";
            self.fail(truncated(message), sink);
        } else {
            self.end(sink);
        }
    }

    fn end(&mut self, sink: &mut dyn EventSink) {
        let stop = self.stop(self.blocks.is_cut());
        if let Stop::Failed(error) = stop {
            return self.fail(*error, sink);
        }
        self.blocks.finish(sink);
        self.state = ReaderState::Over;
        sink.event(Event::Stop { stop: At::made(stop), extra: Vec::new() });
        sink.event(Event::End);
    }

    /// Why the model stopped, as far as is known.
    fn stop(&self, cut: bool) -> Stop<'static> {
        let (calls, refused) = (self.blocks.has_calls(), self.blocks.has_refusal());
        let said = Said { calls, cut, refused };
        stop_in::of_word(self.finish_reason.clone().map(Str::plain), said)
    }

    fn read_error(&mut self, body: &str, sink: &mut dyn EventSink) -> Result<(), ReadError> {
        let error = openai::error_in::decode(None, body)?;
        self.fail(error, sink);
        Ok(())
    }

    fn fail(&mut self, error: ApiError, sink: &mut dyn EventSink) {
        if self.state != ReaderState::Over {
            self.state = ReaderState::Over;
            sink.event(Event::Error(error));
        }
    }
}

/// Which call a chunk is about. Where it has several, their places in its list
/// tell them apart.
pub(super) fn event_place(data: &str) -> EventPlace {
    let call = || {
        let [choices] = Reader::new(data).pick(["choices"]).ok()?;
        let [choice, delta] = first(choices)?.source_reader()?.pick(["index", "delta"]).ok()?;
        let [calls] = delta?.source_reader()?.pick(["tool_calls"]).ok()?;
        let [call] = first(calls)?.source_reader()?.pick(["index"]).ok()?;
        Some(EventPlace::from_numbers([choice.as_ref(), call.as_ref()]))
    };
    call().unwrap_or_default()
}

/// The first element of a list.
fn first<'a>(list: Option<Raw<'a>>) -> Option<Raw<'a>> {
    let mut reader = list?.source_reader()?;
    let mut elements = reader.array().ok()?;
    if elements.more(&mut reader).ok()? { reader.raw().ok() } else { None }
}

/// The lists in `logprobs` of the text and of the refusal, if they are not empty.
fn split_logprobs<'a>(logprobs: Option<Raw<'a>>) -> (Option<Raw<'a>>, Option<Raw<'a>>) {
    let Some(Ok(Logprobs { at: _, content, refusal, extra: _ })) =
        logprobs.as_ref().and_then(reread)
    else {
        return (None, None);
    };
    let filled = |list: Option<Raw<'a>>| list.filter(|list| !list.is_empty());
    (filled(content), filled(refusal))
}
