//! The calls of an answer that is written as a stream.

use super::chunk::ChunkWriter;
use crate::codec::chat::calls_out::{Wrapping, put_arguments};
use crate::codec::chat::response_losses_out::{
    report_call_losses, report_head_losses, report_surplus_call,
};
use crate::codec::chat::stop_out;
use crate::ledger::{Code, Ledger};
use crate::model::{Arguments, Call, CallForm, CallHead, Protocol, ResponseContext, Start, Stop};
use crate::wire::{Object, Pos, Raw, Str, ids};

/// Writes calls, each under its number.
#[derive(Debug)]
pub(super) struct CallWriter {
    /// The upstream's id of the answer, from which missing call ids are made.
    answer_id: String,
    /// Whether the client uses the deprecated functions.
    legacy: bool,
    /// How many calls the upstream has made.
    count: usize,
}

impl CallWriter {
    pub(super) fn new(start: &Start<'_>, context: &ResponseContext) -> Self {
        let id = start.id.as_ref().map(|id| id.decode().into_owned());
        let answer_id = id.unwrap_or_default();
        Self { answer_id, legacy: context.legacy_functions, count: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Chat's word for why the answer stopped.
    pub(super) fn finish_reason(&self, stop: &Stop<'_>, origin: Protocol) -> &'static str {
        stop_out::finish_reason(stop, origin, !self.is_empty(), self.legacy)
    }

    /// Begins a call and returns its number, or `None` if the client has no room
    /// for it.
    pub(super) fn open(
        &mut self,
        head: &CallHead<'_>,
        chunks: &mut ChunkWriter,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) -> Option<usize> {
        let CallHead { id: _, name: _, namespace, form: _, caller, extra } = head;
        let number = self.begin(head, Pos::START, chunks, out, ledger)?;
        report_head_losses(namespace.as_ref(), caller.as_ref(), extra, ledger);
        Some(number)
    }

    /// Writes a piece of the arguments of a call.
    pub(super) fn write_arguments(
        &self,
        number: usize,
        form: CallForm,
        text: &Str<'_>,
        chunks: &mut ChunkWriter,
        out: &mut Vec<u8>,
    ) {
        match (self.legacy, form) {
            (false, CallForm::Json) => chunks.arguments(number, text, out),
            (false, CallForm::Freeform) => chunks.delta(out, |out| {
                let mut members = Object::members_only(out);
                let mut array = members.array("tool_calls");
                let mut call = array.object();
                call.put("index", &(number as u64));
                call.object("custom").put("input", text);
            }),
            (true, CallForm::Json | CallForm::Freeform) => chunks.delta(out, |out| {
                let mut members = Object::members_only(out);
                members.object("function_call").put("arguments", text);
            }),
        }
    }

    /// Writes a call that comes in one piece, such as one whose shape its vendor
    /// fixed.
    pub(super) fn write_whole(
        &mut self,
        call: &Call<'_>,
        chunks: &mut ChunkWriter,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) {
        let mut head = CallHead::of(call);
        if self.legacy {
            head.form = CallForm::Json;
        }
        let form = head.form;
        let Some(number) = self.begin(&head, call.at, chunks, out, ledger) else { return };
        report_call_losses(call, ledger);
        if let (Arguments::Freeform(text), CallForm::Freeform) = (&call.arguments, form) {
            return self.write_arguments(number, form, text, chunks, out);
        }
        let mut written = Vec::new();
        put_arguments(&mut Object::members_only(&mut written), &call.arguments, Wrapping::None);
        // What was written is `"arguments":"…"`.
        let written = String::from_utf8(written).unwrap_or_default();
        let literal = Raw::made(written.strip_prefix(r#""arguments":"#).unwrap_or_default());
        if let Ok(text) = literal.reader().string() {
            self.write_arguments(number, form, &text, chunks, out);
        }
    }

    fn begin(
        &mut self,
        call: &CallHead<'_>,
        at: Pos,
        chunks: &mut ChunkWriter,
        out: &mut Vec<u8>,
        ledger: &mut Ledger,
    ) -> Option<usize> {
        let CallHead { id, name, namespace: _, form, caller: _, extra: _ } = call;
        let number = self.count;
        self.count += 1;
        if self.legacy && number > 0 {
            report_surplus_call(at, ledger);
            return None;
        }
        if self.legacy {
            ledger.lost_info(id, Code::CallId);
            chunks.delta(out, |out| {
                let mut members = Object::members_only(out);
                let mut function = members.object("function_call");
                function.put("name", name);
                function.put("arguments", "");
            });
            return Some(number);
        }
        chunks.delta(out, |out| {
            let mut members = Object::members_only(out);
            let mut array = members.array("tool_calls");
            let mut object = array.object();
            object.put("index", &(number as u64));
            match id {
                Some(id) if !id.is_empty() => object.put("id", id),
                Some(_) | None => object.put("id", &ids::mint(&self.answer_id, number)),
            }
            let (kind, text) = match form {
                CallForm::Json => ("function", "arguments"),
                CallForm::Freeform => ("custom", "input"),
            };
            object.put("type", kind);
            let mut inner = object.object(kind);
            inner.put("name", name);
            inner.put(text, "");
        });
        Some(number)
    }
}
