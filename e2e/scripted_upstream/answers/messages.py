"""A turn in Messages."""

import json

from e2e.scripted_upstream.answers.errors import error_document
from e2e.scripted_upstream.answers.turn_encoder import TurnEncoder, sse_event

STOPS = {"end": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}


class MessagesEncoder(TurnEncoder):
    """Writes `message` objects and their events."""

    call_id_prefix = "toolu_"

    def body(self):
        counts = self.token_counts()
        return self.message_object(self.blocks(), STOPS[self.stop], counts)

    def events(self):
        first = self.message_object([], None, {**self.token_counts(), "output_tokens": 1})
        events = [{"type": "message_start", "message": first}, {"type": "ping"}]
        for index, block in enumerate(self.blocks()):
            kind = block["type"]
            empty, deltas = {"type": kind}, []
            if kind == "text":
                empty["text"] = ""
                deltas = [{"type": "text_delta", "text": chunk} for chunk in self.chunks(block["text"])]
            elif kind == "thinking":
                empty |= {"thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": chunk} for chunk in self.chunks(block["thinking"])]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            else:
                empty |= {"id": block["id"], "name": block["name"], "input": {}}
                text = next(call["text"] for call in self.calls if call["id"] == block["id"])
                # For a call without arguments, Anthropic sends a single empty delta.
                texts = [""] if text == "{}" else ["", *self.chunks(text)]
                deltas = [{"type": "input_json_delta", "partial_json": chunk} for chunk in texts]
            events.append({"type": "content_block_start", "index": index, "content_block": empty})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        ended = {"stop_reason": STOPS[self.stop], "stop_sequence": None}
        events.append({"type": "message_delta", "delta": ended, "usage": self.token_counts()})
        events.append({"type": "message_stop"})
        return [sse_event(event) for event in events]

    def blocks(self):
        blocks = []
        if self.reasoning:
            signature = self.reasoning.get("seal", "")
            blocks.append({"type": "thinking", "thinking": self.reasoning["text"], "signature": signature})
        if self.text:
            blocks.append({"type": "text", "text": self.text})
        for call in self.calls:
            blocks.append({"type": "tool_use", "id": call["id"], "name": call["name"], "input": json.loads(call["text"])})
        return blocks

    def message_object(self, content, stop, usage):
        message = {"id": self.make_id("msg_", "answer"), "type": "message", "role": "assistant", "model": self.model}
        return {**message, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}

    def token_counts(self):
        usage = self.usage
        counts = {"input_tokens": usage["input"] - usage["cached"], "cache_creation_input_tokens": 0}
        counts |= {"cache_read_input_tokens": usage["cached"], "output_tokens": usage["output"]}
        if usage["reasoning"]:
            counts["output_tokens_details"] = {"thinking_tokens": usage["reasoning"]}
        return counts

    def error_event(self, error):
        _, _, document = error_document("messages", error)
        return sse_event(document)
