"""The events of a stream as they stand in its bytes, and what the vendors' types say of them."""

import json
import typing

from anthropic.types import RawMessageStreamEvent
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import ValidationError

# Members that toolwire writes and the SDKs' types lack.
BEYOND = {
    "chat": {
        "/choices/*/delta/reasoning_content": "the reasoning, as the vendors of Chat write it",
        "/choices/*/delta/reasoning_details": "the signed reasoning, as OpenRouter writes it",
        "/choices/*/delta/annotations": "of a whole answer's message; searching models stream it too",
        "/choices/*/delta/tool_calls/*/custom": "a freeform call, which the types know in whole answers only",
    },
    "responses": {
        "/response/presence_penalty": "the API answers with it",
        "/response/frequency_penalty": "the API answers with it",
        "/response/store": "the API answers with it",
        "/response/output/*/status": "Open Responses wants every item to have one",
        "/item/status": "Open Responses wants every item to have one",
        "/name": "of a call whose arguments are done; the reference has it, and so have the types for TypeScript",
        "/logprobs/*/bytes": "of a whole answer's text; the types of its deltas have none",
        "/logprobs/*/top_logprobs/*/bytes": "of a whole answer's text; the types of its deltas have none",
    },
    "messages": {
        "/usage/service_tier": "Chat and Responses tell the tier after the start, where Messages has it",
    },
}

# What the types refuse and the APIs send all the same.
REFUSED = {
    ("chat", "model"): "an upstream that names no model, and a client that asked for none",
    ("messages", "message.model"): "an upstream that names no model, and a client that asked for none",
    ("chat", "choices.0.delta.tool_calls.0.type"): "a freeform call; the types of chunks know functions only",
    ("responses", "response.error.code"): "an open set: Codex acts on codes that the types do not list",
}


def frames(stream):
    """The data of each event that toolwire wrote, up to the end marker."""
    assert stream.endswith(b"\n\n"), "the last event is not closed"
    found = []
    for event in stream.decode().removesuffix("\n\n").split("\n\n"):
        lines = [line.partition(": ") for line in event.split("\n")]
        assert all(name in ("event", "data") for name, _, _ in lines), event
        (data,) = [value for name, _, value in lines if name == "data"]
        if data != "[DONE]":
            found.append(json.loads(data))
    return found


def faults(protocol, data):
    """What the SDK's type for this event finds wrong with it."""
    if "error" in data:
        return
    model = ChatCompletionChunk if protocol == "chat" else MODELS[protocol].get(data["type"])
    if model is None:
        yield f"the types have no event {data['type']}"
        return
    try:
        read = model.model_validate(data)
    except ValidationError as error:
        for fault in error.errors():
            place = ".".join(str(step) for step in fault["loc"])
            if (protocol, place) not in REFUSED:
                yield f"{data.get('type', 'chunk')}: {place}: {fault['msg']}"
        return
    for place in unpublished(read):
        if place not in BEYOND[protocol]:
            yield f"{data.get('type', 'chunk')}: the types have no {place}"


def unpublished(model, at=""):
    """The places of members, at any depth, that a model's type does not declare."""
    if isinstance(model, list):
        for member in model:
            yield from unpublished(member, f"{at}/*")
    elif hasattr(model, "model_extra"):
        yield from (f"{at}/{key}" for key in model.model_extra or {})
        for key in type(model).model_fields:
            yield from unpublished(getattr(model, key), f"{at}/{key}")


def _by_type(union):
    models = typing.get_args(typing.get_args(union)[0])
    return {kind: model for model in models for kind in typing.get_args(model.model_fields["type"].annotation)}


MODELS = {"responses": _by_type(ResponseStreamEvent), "messages": _by_type(RawMessageStreamEvent)}
