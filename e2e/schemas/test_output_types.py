"""The vendors' own types accept every request and answer that toolwire writes, field by field.

The binary translates every vector, and the types of the pinned SDKs read the output. Reading must
succeed, and what was read must hold everything that was written: a field that the types lack would
be missing.
"""

import json
import subprocess
from pathlib import Path

import pytest
from anthropic.types import message_create_params as messages
from openai.types.chat import completion_create_params as chat
from openai.types.responses import Response
from openai.types.responses import response_create_params as responses
from pydantic import TypeAdapter, ValidationError

from e2e.settings import BINARY, ROOT

REQUESTS = {
    "chat": TypeAdapter(chat.CompletionCreateParams),
    "responses": TypeAdapter(responses.ResponseCreateParams),
    "messages": TypeAdapter(messages.MessageCreateParams),
}

# Translations that the APIs accept and the types reject.
REJECTED_BY_TYPES = {
    ("messages-choice-hosted", "responses"): "the types only allow the preview version of web search as a choice",
}

# Fields of an answer that the API or Open Responses has and the SDK's type lacks, and what OpenRouter says about an
# error.
UNPUBLISHED = {"/presence_penalty", "/frequency_penalty", "/store", "/output/0/status", "/error/metadata"}


def vectors(kind, *names):
    """The vectors of one kind whose file has one of these names."""
    return sorted(path for name in names for path in (ROOT / "vectors" / kind).glob(f"*/{name}"))


def name(value):
    return value.parent.name if isinstance(value, Path) else value


ANSWERS = vectors("responses", "in.chat.json", "in.messages.json")
TRANSLATIONS = [
    (path, target)
    for path in vectors("requests", "in.*.json")
    for target in REQUESTS
    if path.name != f"in.{target}.json" and (name(path), target) not in REJECTED_BY_TYPES
]


@pytest.mark.parametrize("path", ANSWERS, ids=name)
def test_an_answer_is_a_complete_response(path):
    request = path.with_name("request.responses.json")
    written = translate(path, "responses", "response", *(["--request", request] if request.exists() else []))
    if written["error"] and written["error"]["code"] == "server_is_overloaded":
        # Codex tries again on this code of the API's, which the published type lacks.
        written["error"]["code"] = "server_error"
    read = parse(Response.model_validate, written)
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == written
    assert set(unpublished(read)) <= UNPUBLISHED


@pytest.mark.parametrize(("path", "target"), TRANSLATIONS, ids=name)
def test_a_request_has_the_published_type(path, target):
    written = translate(path, target, "request")
    if written is None:
        return
    for item in written["input"] if target == "responses" else []:
        add_fields_of_the_api(item)
    if target == "messages":
        # The newest types have no sampling parameters, but older models take them, within these bounds.
        for parameter, most in (("temperature", 1), ("top_p", 1), ("top_k", float("inf"))):
            assert 0 <= written.pop(parameter, 0) <= most
    assert parse(lambda body: materialized(REQUESTS[target].validate_python(body)), written) == written


@pytest.mark.parametrize("vector", REJECTED_BY_TYPES, ids="-".join)
def test_known_rejections_are_still_rejected(vector):
    (path,) = (path for path in vectors("requests", "in.*.json") if name(path) == vector[0])
    with pytest.raises(ValidationError):
        materialized(REQUESTS[vector[1]].validate_python(translate(path, vector[1], "request")))


@pytest.mark.parametrize(
    ("target", "wrong"),
    [
        ("chat", {"messages": [{"role": "tool", "content": "no call"}], "model": "m"}),
        ("responses", {"input": "hi", "model": "m", "tools": [{"type": "function", "function": {"name": "f"}}]}),
        ("messages", {"messages": [{"role": "user", "content": [{"type": "text"}]}], "max_tokens": 1, "model": "m"}),
    ],
    ids=list(REQUESTS),
)
def test_the_types_can_reject(target, wrong):
    with pytest.raises(ValidationError):
        materialized(REQUESTS[target].validate_python(wrong))


def translate(path, target, kind, *arguments):
    """The translation, or None if toolwire refuses it because the target has nothing like it."""
    source = path.name.split(".")[1]
    command = [BINARY, "translate", "--from", source, "--to", target, "--kind", kind, *arguments]
    run = subprocess.run(command, input=path.read_bytes(), capture_output=True)
    if run.returncode == 0:
        return json.loads(run.stdout)
    assert b"  refused  " in run.stderr, run.stderr.decode()
    return None


def add_fields_of_the_api(item):
    """Adds fields that only the API could have set to a message of the model.

    The types require them. The API does not, and Codex sends messages without them.
    """
    if item.get("role") == "assistant" and isinstance(item["content"], list):
        item |= {"id": "msg_1", "status": "completed"}
        for part in item["content"]:
            if part["type"] == "output_text":
                part.setdefault("annotations", [])


def parse(read, written):
    """Reads a document. A failure only lists the errors of the intended union member."""
    try:
        return read(written)
    except ValidationError as error:
        faults = error.errors()
    mismatches = [fault for fault in faults if fault["type"] == "literal_error"]
    others = [fault["loc"][:-1] for fault in mismatches if fault["loc"][-1] in ("type", "role", "stream")]
    intended = [fault for fault in faults if not any(fault["loc"][: len(place)] == place for place in others)]
    lines = [f"{'/'.join(map(str, fault['loc'][-4:]))}: {fault['msg']}" for fault in intended or faults]
    pytest.fail("\n".join(lines[:8] + [json.dumps(written)]), pytrace=False)


def materialized(value):
    """The value with every lazy list read to its end, because pydantic checks their items only then."""
    if isinstance(value, dict):
        return {key: materialized(member) for key, member in value.items()}
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return [materialized(member) for member in value]
    return value


def unpublished(model, at=""):
    """The paths of fields, at any depth, that the type of a model does not declare."""
    if isinstance(model, list):
        return [found for index, member in enumerate(model) for found in unpublished(member, f"{at}/{index}")]
    if not hasattr(model, "model_extra"):
        return []
    own = [f"{at}/{key}" for key in model.model_extra or {} if key not in type(model).model_fields]
    return own + [found for key, member in model for found in unpublished(member, f"{at}/{key}")]
