"""Reads the events of a stream from its bytes, and checks them against the vendors' types."""

import json
import typing

from anthropic.types import RawMessageStreamEvent
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import ValidationError

# Fields that toolwire writes and the SDKs' types lack.
UNPUBLISHED = {
    "chat": {
        "/choices/*/delta/reasoning_content": "the reasoning, as the vendors of Chat write it",
        "/choices/*/delta/reasoning_details": "the signed reasoning, as OpenRouter writes it",
        "/choices/*/delta/annotations": "the types have it in whole answers; models that search stream it too",
        "/choices/*/delta/tool_calls/*/custom": "a freeform call, which the types have in whole answers only",
    },
    "responses": {
        "/response/presence_penalty": "the API sends it",
        "/response/frequency_penalty": "the API sends it",
        "/response/store": "the API sends it",
        "/response/error/metadata": "what OpenRouter says about an error",
        "/response/error/provider": "what OpenRouter says about an error",
        "/response/output/*/status": "Open Responses requires it in every item",
        "/item/status": "Open Responses requires it in every item",
        "/name": "the name of a finished call; the API reference and the types for TypeScript have it",
        "/logprobs/*/bytes": "the types have it in whole answers, not in deltas",
        "/logprobs/*/top_logprobs/*/bytes": "the types have it in whole answers, not in deltas",
    },
    "messages": {
        "/usage/service_tier": "Chat and Responses send the tier after the start, which is where Messages has it",
    },
}

# Values that the types reject, although the APIs send them.
ACCEPTED_ERRORS = {
    ("chat", "model"): "neither the upstream nor the client named a model",
    ("messages", "message.model"): "neither the upstream nor the client named a model",
    ("chat", "choices.0.delta.tool_calls.0.type"): "a freeform call; the types of chunks have functions only",
    ("responses", "response.error.code"): "an open set: Codex acts on codes that the types do not list",
}


def event_data(stream):
    """The data of each event that toolwire wrote, up to the end marker."""
    assert stream.endswith(b"\n\n"), "the last event is not closed"
    found = []
    for event in stream.decode().removesuffix("\n\n").split("\n\n"):
        lines = [line.partition(": ") for line in event.split("\n") if not line.startswith(": toolwire-loss ")]
        assert all(name in ("event", "data") for name, _, _ in lines), event
        (data,) = [value for name, _, value in lines if name == "data"]
        if data != "[DONE]":
            found.append(json.loads(data))
    return found


def type_errors(protocol, data):
    """What the SDK's type for this event rejects."""
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
            if (protocol, place) not in ACCEPTED_ERRORS:
                yield f"{data.get('type', 'chunk')}: {place}: {fault['msg']}"
        return
    for place in unpublished(read):
        if place not in UNPUBLISHED[protocol]:
            yield f"{data.get('type', 'chunk')}: the types have no {place}"


def unpublished(model, at=""):
    """The paths of fields, at any depth, that a model's type does not declare."""
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
