"""What a scripted turn looks like in each protocol: the whole answer, its stream, and errors."""

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


class Speaker:
    """One turn, said in the protocol of one request."""

    def __init__(self, request, turn, number):
        self.request, self.turn = request, turn
        self.key = f"{request.model}/{number}"
        self.model = request.model
        self.text = turn.get("text", "")
        self.reasoning = turn.get("reasoning")
        self.calls = [self.call(place, call) for place, call in enumerate(turn.get("calls", ()))]
        self.usage = {**USAGE, **turn.get("usage", {})}
        self.stop = turn.get("stop") or ("calls" if self.calls else "end")

    def whole(self):
        return getattr(self, f"whole_{self.request.protocol}")()

    def frames(self):
        """The stream, one item for each event."""
        return getattr(self, f"frames_{self.request.protocol}")()

    def failure(self, error):
        """The event that ends a stream which has begun."""
        protocol = self.request.protocol
        _, _, document = error_document(protocol, error)
        if protocol == "chat":
            return _data(document)
        if protocol == "messages":
            return _event(document)
        failed = {**self.shell("failed", []), "error": {key: document["error"][key] for key in ("code", "message")}}
        failed["error"]["code"] = failed["error"]["code"] or "server_error"
        failure = {"type": "error", "sequence_number": 900, **document}
        return _event(failure) + _event({"type": "response.failed", "sequence_number": 901, "response": failed})

    def id(self, prefix, what):
        return prefix + hashlib.sha256(f"{self.key}/{what}".encode()).hexdigest()[:24]

    def call(self, place, call):
        args, freeform = call.get("args", {}), "input" in call
        if freeform and call["name"] not in self.freeform():
            # Where the tool came as a function, its text is that function's one argument.
            args, freeform = {"input": call["input"]}, False
        text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
        prefix = "toolu_" if self.request.protocol == "messages" else "call_"
        said = {"id": call.get("id") or self.id(prefix, place), "name": call["name"], "freeform": freeform}
        return {**said, "text": call["input"] if freeform else text}

    def freeform(self):
        """The names of the tools that take any text."""
        tools = [tool for tool in self.request.body.get("tools") or () if tool.get("type") == "custom"]
        return {tool.get("custom", tool).get("name") for tool in tools}

    def pieces(self, text):
        size = self.turn.get("piece", 7)
        return [text[at : at + size] for at in range(0, len(text), size)]

    def whole_chat(self):
        message = {"role": "assistant", "content": self.text or None, "refusal": None, "annotations": []}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning["text"]
        if self.calls:
            message["tool_calls"] = [_chat_call(call) for call in self.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": CHAT_STOPS[self.stop]}
        return {**self.chat("chat.completion"), "choices": [choice], "usage": self.chat_usage()}

    def frames_chat(self):
        asks = (self.request.body.get("stream_options") or {}).get("include_usage")
        deltas = [{"role": "assistant", "content": "" if self.text or not self.calls else None, "refusal": None}]
        if self.reasoning:
            deltas += [{"reasoning_content": piece} for piece in self.pieces(self.reasoning["text"])]
        deltas += [{"content": piece} for piece in self.pieces(self.text)]
        for index, call in enumerate(self.calls):
            deltas.append({"tool_calls": [{"index": index, **_chat_call({**call, "text": ""})}]})
            for piece in self.pieces(call["text"]):
                more = {"custom": {"input": piece}} if call["freeform"] else {"function": {"arguments": piece}}
                deltas.append({"tool_calls": [{"index": index, **more}]})
        choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "logprobs": None, "finish_reason": CHAT_STOPS[self.stop]})
        shell = self.chat("chat.completion.chunk")
        chunks = [{**shell, "choices": [choice]} for choice in choices]
        if asks:
            chunks = [{**chunk, "usage": None} for chunk in chunks]
            chunks.append({**shell, "choices": [], "usage": self.chat_usage()})
        return [*map(_data, chunks), b"data: [DONE]\n\n"]

    def chat(self, kind):
        shell = {"id": self.id("chatcmpl-", "answer"), "object": kind, "created": 1760000000, "model": self.model}
        return {**shell, "service_tier": "default", "system_fingerprint": None}

    def chat_usage(self):
        usage = self.usage
        return {
            "prompt_tokens": usage["input"],
            "completion_tokens": usage["output"],
            "total_tokens": usage["input"] + usage["output"],
            "prompt_tokens_details": {"cached_tokens": usage["cached"], "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": usage["reasoning"], "audio_tokens": 0},
        }

    def whole_responses(self):
        status, why = self.ended()
        return self.shell(status, self.items(), why)

    def frames_responses(self):
        events = [("response.created", {"response": self.shell("in_progress", [])})]
        events.append(("response.in_progress", {"response": self.shell("in_progress", [])}))
        items = self.items()
        for index, item in enumerate(items):
            empty = {**item, **{key: type(item[key])() for key in EMPTIED[item["type"]]}}
            if "status" in item:
                empty["status"] = "in_progress"
            events.append(("response.output_item.added", {"output_index": index, "item": empty}))
            place = {"item_id": item["id"], "output_index": index}
            events += [(name, {**place, **said}) for name, said in self.inside(item)]
            events.append(("response.output_item.done", {"output_index": index, "item": item}))
        status, why = self.ended()
        events.append((f"response.{status}", {"response": self.shell(status, items, why)}))
        return [_event({"type": name, "sequence_number": at, **said}) for at, (name, said) in enumerate(events)]

    def inside(self, item):
        """The events of one item between its first and its last."""
        if item["type"] == "function_call":
            for piece in self.pieces(item["arguments"]):
                yield "response.function_call_arguments.delta", {"delta": piece}
            whole = {"name": item["name"], "arguments": item["arguments"]}
            yield "response.function_call_arguments.done", whole
            return
        if item["type"] == "custom_tool_call":
            for piece in self.pieces(item["input"]):
                yield "response.custom_tool_call_input.delta", {"delta": piece}
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
            for piece in self.pieces(part["text"]):
                yield f"response.{text_name}.delta", {**place, "delta": piece, **extra}
            yield f"response.{text_name}.done", {**place, "text": part["text"], **extra}
            yield f"response.{part_name}.done", {**place, "part": part}

    def items(self):
        items = []
        if self.reasoning:
            summary = [{"type": "summary_text", "text": self.reasoning["text"]}] if self.reasoning["text"] else []
            sealed = {"encrypted_content": self.reasoning["seal"]} if "seal" in self.reasoning else {}
            items.append({"id": self.id("rs_", "reasoning"), "type": "reasoning", "summary": summary, **sealed})
        status = "incomplete" if self.stop == "length" else "completed"
        if self.text:
            part = {"type": "output_text", "text": self.text, "annotations": [], "logprobs": []}
            message = {"id": self.id("msg_", "text"), "type": "message", "role": "assistant", "status": status}
            items.append({**message, "content": [part]})
        for place, call in enumerate(self.calls):
            prefix, kind, field = CALL_ITEMS[call["freeform"]]
            item = {"id": self.id(prefix, place), "type": kind, "status": status, "call_id": call["id"]}
            items.append({**item, "name": call["name"], field: call["text"]})
        return items

    def ended(self):
        return ("incomplete", "max_output_tokens") if self.stop == "length" else ("completed", None)

    def shell(self, status, items, why=None):
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
            "id": self.id("resp_", "answer"),
            "object": "response",
            "created_at": 1760000000,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": why} if why else None,
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

    def whole_messages(self):
        counts = self.messages_usage()
        return self.message(self.blocks(), MESSAGES_STOPS[self.stop], counts)

    def frames_messages(self):
        first = self.message([], None, {**self.messages_usage(), "output_tokens": 1})
        events = [{"type": "message_start", "message": first}, {"type": "ping"}]
        for index, block in enumerate(self.blocks()):
            kind = block["type"]
            empty, deltas = {"type": kind}, []
            if kind == "text":
                empty["text"] = ""
                deltas = [{"type": "text_delta", "text": piece} for piece in self.pieces(block["text"])]
            elif kind == "thinking":
                empty |= {"thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": piece} for piece in self.pieces(block["thinking"])]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            else:
                empty |= {"id": block["id"], "name": block["name"], "input": {}}
                text = next(call["text"] for call in self.calls if call["id"] == block["id"])
                # Anthropic sends nothing but an empty piece for a call without arguments.
                texts = [""] if text == "{}" else ["", *self.pieces(text)]
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in texts]
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

    def message(self, content, stop, usage):
        message = {"id": self.id("msg_", "answer"), "type": "message", "role": "assistant", "model": self.model}
        return {**message, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}

    def messages_usage(self):
        usage = self.usage
        counts = {"input_tokens": usage["input"] - usage["cached"], "cache_creation_input_tokens": 0}
        counts |= {"cache_read_input_tokens": usage["cached"], "output_tokens": usage["output"]}
        if usage["reasoning"]:
            counts["output_tokens_details"] = {"thinking_tokens": usage["reasoning"]}
        return counts


def error_document(protocol, said):
    """An error in the vendor's words: status, headers and document."""
    said = {"kind": said} if isinstance(said, str) else said
    kind = said["kind"]
    status, type, code, messages_status, messages_type = ERRORS[kind]
    message = said.get("message") or MESSAGES[kind]
    headers = {**HEADERS[protocol], **said.get("headers", {})}
    if protocol != "messages":
        document = {"error": {"message": message, "type": type, "param": said.get("param"), "code": code}}
        return status, headers, document
    if kind == "context":
        message = "prompt is too long: 210000 tokens > 200000 maximum"
    elif said.get("param"):
        message = f"{said['param']}: {message}"
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
# What an item lacks when it is added.
EMPTIED = {
    "message": ["content"],
    "function_call": ["arguments"],
    "custom_tool_call": ["input"],
    "reasoning": ["summary"],
}
# By whether the call is of a tool that takes any text: how its id begins, its type, its field.
CALL_ITEMS = {False: ("fc_", "function_call", "arguments"), True: ("ctc_", "custom_tool_call", "input")}
MESSAGES = {
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
