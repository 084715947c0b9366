"""Records what the vendors' Python SDKs read from a stream.

`iterate` records the events of the SDK's `create(stream=True)`, and `use_helper` the answer that the
SDK's `stream()` helper assembles. Both read the bytes from a real HTTP response.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai

REQUESTS = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "Go on."}]},
    "responses": {"model": "m", "input": "Go on."},
    "messages": {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Go on."}]},
}

# What an SDK raises for a stream that ends in an error.
STREAM_ERRORS = {"chat": openai.APIError, "responses": openai.APIError, "messages": anthropic.APIStatusError}


@dataclass
class Recording:
    """What an SDK passed to its user before the stream ended or the SDK raised."""

    events: list[Any] = field(default_factory=list)
    answer: Any = None
    error: Exception | None = None


class SdkRecorder:
    """The SDKs' clients, connected to one replay server."""

    def __init__(self, server):
        self.server = server
        self.openai = openai.OpenAI(base_url=server.url, api_key="k", max_retries=0)
        self.anthropic = anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0)

    def iterate(self, protocol, stream, chunk_size):
        """Records every event, as an object of the SDK's types."""
        create = {
            "chat": self.openai.chat.completions.create,
            "responses": self.openai.responses.create,
            "messages": self.anthropic.messages.create,
        }[protocol]
        recording = Recording()
        try:
            headers = self.server.headers(stream, chunk_size)
            for event in create(**REQUESTS[protocol], stream=True, extra_headers=headers):
                recording.events.append(event)
        except Exception as error:
            recording.error = error
        return recording

    def use_helper(self, protocol, stream, chunk_size):
        """Records the answer that the SDK's helper assembles."""
        open_stream, finish = {
            "chat": (self.openai.chat.completions.stream, "get_final_completion"),
            "responses": (self.openai.responses.stream, "get_final_response"),
            "messages": (self.anthropic.messages.stream, "get_final_message"),
        }[protocol]
        recording = Recording()
        try:
            with open_stream(**REQUESTS[protocol], extra_headers=self.server.headers(stream, chunk_size)) as helper:
                for event in helper:
                    recording.events.append(event)
                recording.answer = getattr(helper, finish)()
        except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as short:
            # The Chat helper raises for a complete answer that the limit cut.
            recording.answer = short.completion
        except Exception as error:
            recording.error = error
            last = recording.events[-1] if recording.events else None
            if getattr(last, "type", None) == "response.incomplete":
                # For an answer that the limit cut, only the last event has the response.
                recording.answer, recording.error = last.response, None
        return recording


def document(protocol, recording):
    """The answer as the API would have sent it unary: without the fields that the helper adds."""
    answer = recording.answer.to_dict(mode="json", warnings=False)
    if protocol == "messages":
        return _with_exact_inputs(answer, recording.events)
    for choice in answer.get("choices", ()):
        message = choice["message"]
        message.pop("parsed", None)
        # The first chunk has "" where a whole answer has no content.
        message["content"] = message.get("content") or None
        for call in message.get("tool_calls") or ():
            call.pop("index", None)
            call.get("function", {}).pop("parsed_arguments", None)
    for item in answer.get("output", ()):
        item.pop("parsed_arguments", None)
        for part in item.get("content") or ():
            part.pop("parsed", None)
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def join_chunks(chunks):
    """The text and the calls of a Chat stream as a whole answer, assembled without the helper."""
    text, calls = "", {}
    for delta in (choice.delta for chunk in chunks for choice in chunk.choices):
        text += delta.content or ""
        for part in (part.to_dict(mode="json", warnings=False) for part in delta.tool_calls or ()):
            call = calls.setdefault(part["index"], {"type": part.get("type")})
            body = call.setdefault(call["type"], {})
            for key, delta_text in part[call["type"]].items():
                body[key] = body.get(key, "") + delta_text
    return json.dumps({"choices": [{"message": {"content": text, "tool_calls": list(calls.values())}}]})


def text_and_calls(answer):
    """The text, and the name and arguments of every call, in an answer of any protocol."""
    answer = json.loads(answer)
    messages = [choice["message"] for choice in answer.get("choices", ())]
    items, blocks = answer.get("output", ()), answer.get("content", ())
    texts = [message.get("content") or "" for message in messages]
    texts += [part.get("text", "") for item in items if item["type"] == "message" for part in item["content"]]
    texts += [block["text"] for block in blocks if block["type"] == "text"]
    calls = [call[call["type"]] for message in messages for call in message.get("tool_calls") or ()]
    calls += [item for item in items if item["type"] in ("function_call", "custom_tool_call")]
    calls += [block for block in blocks if block["type"] == "tool_use"]
    return "".join(texts), [(call["name"], _argument_value(call.get("arguments", call.get("input")))) for call in calls]


def _argument_value(arguments):
    value = json.loads(arguments) if isinstance(arguments, str) and _is_json(arguments) else arguments
    # A protocol without freeform calls has a function with one text argument in their place.
    return value["input"] if isinstance(value, dict) and list(value) == ["input"] else value


def _with_exact_inputs(message, events):
    """A message whose inputs are the original text, because the helper's numbers have at most 64 bits."""
    inputs = {}
    for event in events:
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            inputs[event.index] = inputs.get(event.index, "") + event.delta.partial_json
    texts = {}
    for index, block in enumerate(message["content"]):
        block.pop("parsed_output", None)
        if "input" in block and _is_json(inputs.get(index, "")):
            block["input"] = f"input of block {index}"
            texts[json.dumps(block["input"])] = inputs[index]
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    for placeholder, original in texts.items():
        text = text.replace(placeholder, original)
    return text


def _is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
