"""A scripted turn as each protocol writes it: the unary body, the events of its stream, and errors."""

import hashlib
import json

# Sent with every answer of a protocol.
HEADERS = {
    "chat": {"x-request-id": "req_upstream", "x-ratelimit-remaining-requests": "59"},
    "responses": {"x-request-id": "req_upstream", "x-ratelimit-remaining-requests": "59"},
    "messages": {"request-id": "req_upstream", "anthropic-ratelimit-requests-remaining": "59"},
}

# Kind: status, type and code for OpenAI's protocols, then status and type for Messages.
ERRORS = {
    "invalid": (400, "invalid_request_error", None, 400, "invalid_request_error"),
    "context": (400, "invalid_request_error", "context_length_exceeded", 400, "invalid_request_error"),
    "auth": (401, "invalid_request_error", "invalid_api_key", 401, "authentication_error"),
    "permission": (403, "invalid_request_error", "permission_denied", 403, "permission_error"),
    "not_found": (404, "invalid_request_error", "model_not_found", 404, "not_found_error"),
    "too_large": (413, "invalid_request_error", "request_too_large", 413, "request_too_large"),
    "rate_limit": (429, "requests", "rate_limit_exceeded", 429, "rate_limit_error"),
    "server": (500, "server_error", None, 500, "api_error"),
    "overloaded": (503, "server_error", "server_is_overloaded", 529, "overloaded_error"),
}

USAGE = {"input": 12, "cached": 0, "output": 7, "reasoning": 0}


class TurnEncoder:
    """Writes one turn in the protocol of one request."""

    def __init__(self, request, turn, number):
        self.request, self.turn = request, turn
        self.key = f"{request.model}/{number}"
        self.model = request.model
        self.text = turn.get("text", "")
        self.reasoning = turn.get("reasoning")
        self.calls = [self.encode_call(place, call) for place, call in enumerate(turn.get("calls", ()))]
        self.usage = {**USAGE, **turn.get("usage", {})}
        self.stop = turn.get("stop") or ("calls" if self.calls else "end")

    def body(self):
        """The unary answer."""
        return getattr(self, f"body_{self.request.protocol}")()

    def events(self):
        """The stream: the bytes of each event."""
        return getattr(self, f"events_{self.request.protocol}")()

    def error_event(self, error):
        """The event that reports an error in the middle of a stream."""
        protocol = self.request.protocol
        _, _, document = error_document(protocol, error)
        if protocol == "chat":
            return _data(document)
        if protocol == "messages":
            return _event(document)
        failed = {**self.response_object("failed", []), "error": {key: document["error"][key] for key in ("code", "message")}}
        failed["error"]["code"] = failed["error"]["code"] or "server_error"
        failure = {"type": "error", "sequence_number": 900, **document}
        return _event(failure) + _event({"type": "response.failed", "sequence_number": 901, "response": failed})

    def make_id(self, prefix, what):
        return prefix + hashlib.sha256(f"{self.key}/{what}".encode()).hexdigest()[:24]

    def encode_call(self, place, call):
        args, freeform = call.get("args", {}), "input" in call
        if freeform and call["name"] not in self.freeform_tools():
            # The tool was declared as a function, so the text is its only argument.
            args, freeform = {"input": call["input"]}, False
        text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
        prefix = "toolu_" if self.request.protocol == "messages" else "call_"
        fields = {"id": call.get("id") or self.make_id(prefix, place), "name": call["name"], "freeform": freeform}
        return {**fields, "text": call["input"] if freeform else text}

    def freeform_tools(self):
        """The names of the declared freeform tools."""
        tools = [tool for tool in self.request.body.get("tools") or () if tool.get("type") == "custom"]
        return {tool.get("custom", tool).get("name") for tool in tools}

    def chunks(self, text):
        size = self.turn.get("chunk_size", 7)
        return [text[at : at + size] for at in range(0, len(text), size)]

    def body_chat(self):
        message = {"role": "assistant", "content": self.text or None, "refusal": None, "annotations": []}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning["text"]
        if self.calls:
            message["tool_calls"] = [_chat_call(call) for call in self.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": CHAT_STOPS[self.stop]}
        return {**self.chat_object("chat.completion"), "choices": [choice], "usage": self.chat_usage()}

    def events_chat(self):
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
        choices.append({"index": 0, "delta": {}, "logprobs": None, "finish_reason": CHAT_STOPS[self.stop]})
        common = self.chat_object("chat.completion.chunk")
        chunks = [{**common, "choices": [choice]} for choice in choices]
        if include_usage:
            chunks = [{**chunk, "usage": None} for chunk in chunks]
            chunks.append({**common, "choices": [], "usage": self.chat_usage()})
        return [*map(_data, chunks), b"data: [DONE]\n\n"]

    def chat_object(self, kind):
        common = {"id": self.make_id("chatcmpl-", "answer"), "object": kind, "created": 1760000000, "model": self.model}
        return {**common, "service_tier": "default", "system_fingerprint": None}

    def chat_usage(self):
        usage = self.usage
        return {
            "prompt_tokens": usage["input"],
            "completion_tokens": usage["output"],
            "total_tokens": usage["input"] + usage["output"],
            "prompt_tokens_details": {"cached_tokens": usage["cached"], "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": usage["reasoning"], "audio_tokens": 0},
        }

    def body_responses(self):
        status, reason = self.final_status()
        return self.response_object(status, self.items(), reason)

    def events_responses(self):
        events = [("response.created", {"response": self.response_object("in_progress", [])})]
        events.append(("response.in_progress", {"response": self.response_object("in_progress", [])}))
        items = self.items()
        for index, item in enumerate(items):
            empty = {**item, **{key: type(item[key])() for key in EMPTY_WHEN_ADDED[item["type"]]}}
            if "status" in item:
                empty["status"] = "in_progress"
            events.append(("response.output_item.added", {"output_index": index, "item": empty}))
            place = {"item_id": item["id"], "output_index": index}
            events += [(name, {**place, **fields}) for name, fields in self.item_events(item)]
            events.append(("response.output_item.done", {"output_index": index, "item": item}))
        status, reason = self.final_status()
        events.append((f"response.{status}", {"response": self.response_object(status, items, reason)}))
        return [_event({"type": name, "sequence_number": at, **fields}) for at, (name, fields) in enumerate(events)]

    def item_events(self, item):
        """The events between `output_item.added` and `output_item.done`."""
        if item["type"] == "function_call":
            for chunk in self.chunks(item["arguments"]):
                yield "response.function_call_arguments.delta", {"delta": chunk}
            whole = {"name": item["name"], "arguments": item["arguments"]}
            yield "response.function_call_arguments.done", whole
            return
        if item["type"] == "custom_tool_call":
            for chunk in self.chunks(item["input"]):
                yield "response.custom_tool_call_input.delta", {"delta": chunk}
            yield "response.custom_tool_call_input.done", {"input": item["input"]}
            return
        names = ("reasoning_summary_part", "reasoning_summary_text", "summary_index")
        parts = item.get("summary")
        if item["type"] == "message":
            names, parts = ("content_part", "output_text", "content_index"), item["content"]
        part_name, text_name, index_name = names
        for index, part in enumerate(parts):
            place = {index_name: index}
            extra = {"logprobs": []} if text_name == "output_text" else {}
            yield f"response.{part_name}.added", {**place, "part": {**part, "text": ""}}
            for chunk in self.chunks(part["text"]):
                yield f"response.{text_name}.delta", {**place, "delta": chunk, **extra}
            yield f"response.{text_name}.done", {**place, "text": part["text"], **extra}
            yield f"response.{part_name}.done", {**place, "part": part}

    def items(self):
        items = []
        if self.reasoning:
            summary = [{"type": "summary_text", "text": self.reasoning["text"]}] if self.reasoning["text"] else []
            sealed = {"encrypted_content": self.reasoning["seal"]} if "seal" in self.reasoning else {}
            items.append({"id": self.make_id("rs_", "reasoning"), "type": "reasoning", "summary": summary, **sealed})
        status = "incomplete" if self.stop == "length" else "completed"
        if self.text:
            part = {"type": "output_text", "text": self.text, "annotations": [], "logprobs": []}
            message = {"id": self.make_id("msg_", "text"), "type": "message", "role": "assistant", "status": status}
            items.append({**message, "content": [part]})
        for place, call in enumerate(self.calls):
            prefix, kind, field = CALL_ITEMS[call["freeform"]]
            item = {"id": self.make_id(prefix, place), "type": kind, "status": status, "call_id": call["id"]}
            items.append({**item, "name": call["name"], field: call["text"]})
        return items

    def final_status(self):
        return ("incomplete", "max_output_tokens") if self.stop == "length" else ("completed", None)

    def response_object(self, status, items, incomplete_reason=None):
        body, usage = self.request.body, self.usage
        done = status in ("completed", "incomplete")
        counts = {
            "input_tokens": usage["input"],
            "input_tokens_details": {"cached_tokens": usage["cached"]},
            "output_tokens": usage["output"],
            "output_tokens_details": {"reasoning_tokens": usage["reasoning"]},
            "total_tokens": usage["input"] + usage["output"],
        }
        return {
            "id": self.make_id("resp_", "answer"),
            "object": "response",
            "created_at": 1760000000,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": incomplete_reason} if incomplete_reason else None,
            "instructions": body.get("instructions"),
            "max_output_tokens": body.get("max_output_tokens"),
            "model": self.model,
            "output": items,
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": body.get("store", True),
            "temperature": 1.0,
            "text": body.get("text", {"format": {"type": "text"}}),
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools", []),
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": counts if done else None,
            "user": None,
            "metadata": {},
        }

    def body_messages(self):
        counts = self.messages_usage()
        return self.message_object(self.blocks(), MESSAGES_STOPS[self.stop], counts)

    def events_messages(self):
        first = self.message_object([], None, {**self.messages_usage(), "output_tokens": 1})
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
        ended = {"stop_reason": MESSAGES_STOPS[self.stop], "stop_sequence": None}
        events.append({"type": "message_delta", "delta": ended, "usage": self.messages_usage()})
        events.append({"type": "message_stop"})
        return [_event(event) for event in events]

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

    def messages_usage(self):
        usage = self.usage
        counts = {"input_tokens": usage["input"] - usage["cached"], "cache_creation_input_tokens": 0}
        counts |= {"cache_read_input_tokens": usage["cached"], "output_tokens": usage["output"]}
        if usage["reasoning"]:
            counts["output_tokens_details"] = {"thinking_tokens": usage["reasoning"]}
        return counts


def error_document(protocol, error):
    """An error as the vendor writes it: status, headers and document."""
    error = {"kind": error} if isinstance(error, str) else error
    kind = error["kind"]
    status, type, code, messages_status, messages_type = ERRORS[kind]
    message = error.get("message") or ERROR_MESSAGES[kind]
    headers = {**HEADERS[protocol], **error.get("headers", {})}
    if protocol != "messages":
        document = {"error": {"message": message, "type": type, "param": error.get("param"), "code": code}}
        return status, headers, document
    if kind == "context":
        message = "prompt is too long: 210000 tokens > 200000 maximum"
    elif error.get("param"):
        message = f"{error['param']}: {message}"
    document = {"type": "error", "error": {"type": messages_type, "message": message}, "request_id": "req_upstream"}
    return messages_status, headers, document


def _chat_call(call):
    if call["freeform"]:
        return {"id": call["id"], "type": "custom", "custom": {"name": call["name"], "input": call["text"]}}
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["text"]}}


def _data(document):
    return b"data: " + json.dumps(document, ensure_ascii=False).encode() + b"\n\n"


def _event(document):
    return b"event: " + document["type"].encode() + b"\n" + _data(document)


CHAT_STOPS = {"end": "stop", "calls": "tool_calls", "length": "length", "refusal": "content_filter"}
MESSAGES_STOPS = {"end": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}
# The fields of an item that are still empty in `output_item.added`.
EMPTY_WHEN_ADDED = {
    "message": ["content"],
    "function_call": ["arguments"],
    "custom_tool_call": ["input"],
    "reasoning": ["summary"],
}
# Keyed by whether the tool is freeform: prefix of the item id, type, and field of the text.
CALL_ITEMS = {False: ("fc_", "function_call", "arguments"), True: ("ctc_", "custom_tool_call", "input")}
ERROR_MESSAGES = {
    "invalid": "The request is not valid.",
    "context": "This model's maximum context length is 128000 tokens.",
    "auth": "The key is not valid.",
    "permission": "The key may not use this model.",
    "not_found": "The model does not exist.",
    "too_large": "The request is too large.",
    "rate_limit": "Too many requests.",
    "server": "The server had an error.",
    "overloaded": "The server is overloaded.",
}
