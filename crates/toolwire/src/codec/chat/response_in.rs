//! The answer: reading it.

use super::stop_in::Said;
use super::wire::{Completion, CompletionChoice};
use super::{stop_in, turns_in, usage_in};
use crate::codec::openai;
use crate::codec::openai::base_resp_in::{self, BASE_RESP};
use crate::model::{Candidate, Protocol, Response, Role, Stop, Turn};
use crate::wire::{At, Extra, Pos, Raw, ReadError, Reader, Str, What, keep_meaningful};

/// Reads an answer.
pub(super) fn decode<'a>(body: &'a str) -> Result<Response<'a>, ReadError> {
    let read: Completion<'a> = Reader::new(body).document()?;
    let Completion {
        at,
        id,
        object: _,
        created,
        model,
        choices,
        usage,
        service_tier,
        error,
        mut extra,
    } = read;
    if choices.as_ref().is_none_or(Vec::is_empty)
        && let Some(failed) = reported_failure(at, &extra)
    {
        return Ok(Response {
            origin: Protocol::Chat,
            id,
            model,
            created,
            candidates: vec![failed],
            usage: usage.map(usage_in::read),
            tier: service_tier,
            extra,
        });
    }
    let choices = choices.ok_or_else(|| ReadError::missing(at, "choices"))?;
    // The model has not even said nothing.
    if choices.is_empty() {
        return Err(ReadError::new(at, What::Invalid("`choices` is empty".to_owned())));
    }
    let mut candidates = Vec::with_capacity(choices.len());
    // The first choice that does not say why it stopped.
    let mut unexplained = None;
    for (index, choice) in choices.into_iter().enumerate() {
        if choice.finish_reason.as_ref().is_none_or(|word| word.is_empty()) {
            unexplained.get_or_insert(index);
        }
        candidates.push(candidate(choice, index as u64)?);
    }
    if let Some(error) = error {
        explain(error, &mut candidates, unexplained, &mut extra);
    }
    keep_meaningful(&mut extra);
    Ok(Response {
        origin: Protocol::Chat,
        id,
        model,
        created,
        candidates,
        usage: usage.map(usage_in::read),
        tier: service_tier,
        extra,
    })
}

/// The answer that MiniMax reports to have failed in a member of its own, and has no choices.
/// vectors/errors/chat-vendor-minimax
fn reported_failure<'a>(at: Pos, extra: &[Extra<'a>]) -> Option<Candidate<'a>> {
    let report = &extra.iter().find(|field| field.key == BASE_RESP)?.value;
    let stop = Stop::Failed(Box::new(base_resp_in::error(report)?));
    Some(Candidate {
        at,
        turns: vec![Turn::new(at, Role::Assistant, Vec::new())],
        stop: At::new(report.pos(), stop),
        logprobs: None,
        extra: Vec::new(),
    })
}

fn candidate<'a>(choice: CompletionChoice<'a>, position: u64) -> Result<Candidate<'a>, ReadError> {
    let CompletionChoice { at, index, message, finish_reason, logprobs, error, mut extra } = choice;
    let is_withheld = || {
        let stop = stop_in::of_word(finish_reason.clone(), Said::default());
        error.as_ref().is_some_and(|error| !error.says_nothing()) || !matches!(stop, Stop::EndTurn)
    };
    let turn = match message {
        Some(mut message) => {
            // Some vendors leave out the role in an answer.
            message.role.get_or_insert_with(|| Str::plain("assistant"));
            turns_in::turn(message)?
        }
        // Azure and Gemini leave out a message that their filters withheld, and others one
        // that failed. vectors/responses/chat-azure-filtered-choice,
        // vectors/responses/chat-gemini-filtered-choice
        None if is_withheld() => Turn::new(at, Role::Assistant, Vec::new()),
        None => return Err(ReadError::missing(at, "message")),
    };
    let mut stop = At::new(
        finish_reason.as_ref().map_or(at, Str::pos),
        stop_in::read(finish_reason, &turn.items),
    );
    // Whatever the word is: an answer with an error in it is not complete.
    // vectors/responses/chat-choice-error
    if let Some(error) = error {
        match openai::error_in::of_member(&error) {
            Some(explained) => stop = At::new(error.pos(), Stop::Failed(Box::new(explained))),
            None => extra.push(Extra { key: Str::plain("error"), value: error }),
        }
    }
    keep_meaningful(&mut extra);
    let index = index.and_then(|index| index.or_keep("index", &mut extra));
    if let Some(index) = index.filter(|index| index.value != position) {
        let value = Raw::made(index.value.to_string()).at(index.pos);
        extra.push(Extra { key: Str::plain("index"), value });
    }
    Ok(Candidate { at, turns: vec![turn], stop, logprobs, extra })
}

/// An error beside the answers explains the one that was broken off, or else the one that
/// does not say why it stopped. If there is neither, it is a member like any other.
/// vectors/responses/chat-error-beside-choices, vectors/responses/chat-error-beside-no-finish
fn explain<'a>(
    error: Raw<'a>,
    candidates: &mut [Candidate<'a>],
    unexplained: Option<usize>,
    extra: &mut Vec<Extra<'a>>,
) {
    let failed = candidates.iter().position(|candidate| candidate.stop.value.failure().is_some());
    let broken = failed.or(unexplained).and_then(|broken| candidates.get_mut(broken));
    match (broken, openai::error_in::of_member(&error)) {
        (Some(broken), Some(explained)) => {
            broken.stop = At::new(error.pos(), Stop::Failed(Box::new(explained)));
        }
        (_, _) => extra.push(Extra { key: Str::plain("error"), value: error }),
    }
}
