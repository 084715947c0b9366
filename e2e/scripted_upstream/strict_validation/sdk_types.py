"""Whether the types of the vendors' SDKs allow a request."""

import json
import warnings
from functools import cache
from typing import get_type_hints

import pydantic
from anthropic.types import message_create_params as messages_params
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import response_create_params as responses_params

from e2e.scripted_upstream.strict_validation.rules import RequestRejected

TYPES = {
    "chat": (chat_params.CompletionCreateParamsNonStreaming, chat_params.CompletionCreateParamsStreaming),
    "responses": (responses_params.ResponseCreateParamsNonStreaming, responses_params.ResponseCreateParamsStreaming),
    "messages": (messages_params.MessageCreateParamsNonStreaming, messages_params.MessageCreateParamsStreaming),
}
# Fields that the APIs accept and the types lack.
UNPUBLISHED_FIELDS = {"responses": {"client_metadata"}, "messages": {"context_management", "mcp_servers"}}


def validate(protocol, body):
    """Rejects a request that the types of the vendor's SDK do not allow."""
    kind = TYPES[protocol][1 if body.get("stream") else 0]
    if protocol == "responses":
        body = _with_required_fields(_without_null_content(body))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _adapter(kind).validate_python(body)
    except pydantic.ValidationError as error:
        first = min(error.errors(), key=lambda fault: len(fault["loc"]))
        place = ".".join(str(part) for part in first["loc"])
        raise RequestRejected(place, f"{first['msg']}: {json.dumps(first['input'], default=str)[:200]}") from None


def _without_null_content(body):
    """The body without `content: null`, which Codex sends in reasoning items and OpenAI accepts."""
    if not isinstance(body.get("input"), list):
        return body
    empty = {"type": "reasoning", "content": None}
    items = [
        {key: one for key, one in item.items() if key != "content"} if empty.items() <= item.items() else item
        for item in body["input"]
    ]
    return {**body, "input": items}


def _with_required_fields(value):
    """The value with fields that the types of Responses require and its API does not."""
    if isinstance(value, list):
        return [_with_required_fields(one) for one in value]
    if not isinstance(value, dict):
        return value
    more = {"detail": "auto"} if value.get("type") == "input_image" else {}
    if value.get("role") == "assistant" and isinstance(value.get("content"), list):
        more = {"type": "message", "id": "msg_0", "status": "completed"}
    return {**more, **{key: _with_required_fields(one) for key, one in value.items()}}


@cache
def _adapter(kind):
    return pydantic.TypeAdapter(kind)


@cache
def known_fields(protocol):
    return set(get_type_hints(TYPES[protocol][1])) | UNPUBLISHED_FIELDS.get(protocol, set())
