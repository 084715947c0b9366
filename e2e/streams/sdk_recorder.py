"""What the vendors' Python SDKs make of a stream.

`iterated` takes the events as the SDK's `create(stream=True)` gives them; `helped` lets the SDK's
`stream()` helper put the answer together. Both take the bytes from a real HTTP response.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai

ASKED = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "Go on."}]},
    "responses": {"model": "m", "input": "Go on."},
    "messages": {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Go on."}]},
}

# What an SDK raises for a stream that ends in an error.
FAILURES = {"chat": openai.APIError, "responses": openai.APIError, "messages": anthropic.APIStatusError}


@dataclass
class Heard:
    """What an SDK gave its user before it ended or raised."""

    events: list[Any] = field(default_factory=list)
    answer: Any = None
    error: Exception | None = None


class Sdks:
    """The clients of one server."""

    def __init__(self, replay):
        self.replay = replay
        self.openai = openai.OpenAI(base_url=replay.url, api_key="k", max_retries=0)
        self.anthropic = anthropic.Anthropic(base_url=replay.url, api_key="k", max_retries=0)

    def iterated(self, protocol, stream, piece):
        """Every event, as objects of the SDK's types."""
        create = {
            "chat": self.openai.chat.completions.create,
            "responses": self.openai.responses.create,
            "messages": self.anthropic.messages.create,
        }[protocol]
        heard = Heard()
        try:
            for event in create(**ASKED[protocol], stream=True, extra_headers=self.replay.headers(stream, piece)):
                heard.events.append(event)
        except Exception as error:
            heard.error = error
        return heard

    def helped(self, protocol, stream, piece):
        """The answer as the SDK's helper puts it together."""
        open_stream, finish = {
            "chat": (self.openai.chat.completions.stream, "get_final_completion"),
            "responses": (self.openai.responses.stream, "get_final_response"),
            "messages": (self.anthropic.messages.stream, "get_final_message"),
        }[protocol]
        heard = Heard()
        try:
            with open_stream(**ASKED[protocol], extra_headers=self.replay.headers(stream, piece)) as helper:
                for event in helper:
                    heard.events.append(event)
                heard.answer = getattr(helper, finish)()
        except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as short:
            # The Chat helper raises for an answer that is whole, but short.
            heard.answer = short.completion
        except Exception as error:
            heard.error = error
            last = heard.events[-1] if heard.events else None
            if getattr(last, "type", None) == "response.incomplete":
                # The Responses helper gives a short answer with its last event only.
                heard.answer, heard.error = last.response, None
        return heard


def document(protocol, heard):
    """The answer as the API would have sent it whole: without what the helper added to it."""
    answer = heard.answer.to_dict(mode="json", warnings=False)
    if protocol == "messages":
        return _with_inputs(answer, heard.events)
    for choice in answer.get("choices", ()):
        message = choice["message"]
        message.pop("parsed", None)
        # The first chunk says "" where a whole answer says nothing.
        message["content"] = message.get("content") or None
        for call in message.get("tool_calls") or ():
            call.pop("index", None)
            call.get("function", {}).pop("parsed_arguments", None)
    for item in answer.get("output", ()):
        item.pop("parsed_arguments", None)
        for part in item.get("content") or ():
            part.pop("parsed", None)
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def joined(chunks):
    """The text and the calls of a Chat stream, joined without the helper, as a whole answer has them."""
    text, calls = "", {}
    for delta in (choice.delta for chunk in chunks for choice in chunk.choices):
        text += delta.content or ""
        for part in (part.to_dict(mode="json", warnings=False) for part in delta.tool_calls or ()):
            call = calls.setdefault(part["index"], {"type": part.get("type")})
            body = call.setdefault(call["type"], {})
            for key, piece in part[call["type"]].items():
                body[key] = body.get(key, "") + piece
    return json.dumps({"choices": [{"message": {"content": text, "tool_calls": list(calls.values())}}]})


def said_in(answer):
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
    return "".join(texts), [(call["name"], _value(call.get("arguments", call.get("input")))) for call in calls]


def _value(arguments):
    value = json.loads(arguments) if isinstance(arguments, str) and _is_json(arguments) else arguments
    # A freeform call is a function of one text where there are no freeform calls.
    return value["input"] if isinstance(value, dict) and list(value) == ["input"] else value


def _with_inputs(message, events):
    """A message whose inputs are the text that came, since the helper's numbers have no more than 64 bits."""
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
    for mark, written in texts.items():
        text = text.replace(mark, written)
    return text


def _is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
