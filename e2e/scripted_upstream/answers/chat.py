"""A turn in Chat Completions."""

from e2e.scripted_upstream.answers.errors import error_document
from e2e.scripted_upstream.answers.turn_encoder import TurnEncoder, sse_data

STOPS = {"end": "stop", "calls": "tool_calls", "length": "length", "refusal": "content_filter"}


class ChatEncoder(TurnEncoder):
    """Writes `chat.completion` objects and chunks."""

    def body(self):
        message = {"role": "assistant", "content": self.text or None, "refusal": None, "annotations": []}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning["text"]
        if self.calls:
            message["tool_calls"] = [_chat_call(call) for call in self.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": STOPS[self.stop]}
        return {**self.common_fields("chat.completion"), "choices": [choice], "usage": self.token_counts()}

    def events(self):
        include_usage = (self.request.body.get("stream_options") or {}).get("include_usage")
        deltas = [{"role": "assistant", "content": "" if self.text or not self.calls else None, "refusal": None}]
        if self.reasoning:
            deltas += [{"reasoning_content": chunk} for chunk in self.chunks(self.reasoning["text"])]
        deltas += [{"content": chunk} for chunk in self.chunks(self.text)]
        for index, call in enumerate(self.calls):
            deltas.append({"tool_calls": [{"index": index, **_chat_call({**call, "text": ""})}]})
            for chunk in self.chunks(call["text"]):
                more = {"custom": {"input": chunk}} if call["freeform"] else {"function": {"arguments": chunk}}
                deltas.append({"tool_calls": [{"index": index, **more}]})
        choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "logprobs": None, "finish_reason": STOPS[self.stop]})
        common = self.common_fields("chat.completion.chunk")
        chunks = [{**common, "choices": [choice]} for choice in choices]
        if include_usage:
            chunks = [{**chunk, "usage": None} for chunk in chunks]
            chunks.append({**common, "choices": [], "usage": self.token_counts()})
        return [*map(sse_data, chunks), b"data: [DONE]\n\n"]

    def common_fields(self, kind):
        common = {"id": self.make_id("chatcmpl-", "answer"), "object": kind, "created": 1760000000, "model": self.model}
        return {**common, "service_tier": "default", "system_fingerprint": None}

    def token_counts(self):
        usage = self.usage
        return {
            "prompt_tokens": usage["input"],
            "completion_tokens": usage["output"],
            "total_tokens": usage["input"] + usage["output"],
            "prompt_tokens_details": {"cached_tokens": usage["cached"], "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": usage["reasoning"], "audio_tokens": 0},
        }

    def error_event(self, error):
        _, _, document = error_document("chat", error)
        return sse_data(document)


def _chat_call(call):
    if call["freeform"]:
        return {"id": call["id"], "type": "custom", "custom": {"name": call["name"], "input": call["text"]}}
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["text"]}}
