"""The schema oracle: what toolwire writes is what the vendors' own types accept, member by member.

Every vector is translated by the `toolwire` binary (`TOOLWIRE_BIN`, by default the debug build)
and given to the types of the pinned SDKs. Reading it must succeed, and what was read must say all
that was written: a member that the types do not have would vanish there.
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

# Vectors whose translation the APIs take and the types refuse.
BEYOND = {
    ("chat-user-media", "responses"): "input_audio has a type, but the list of parts lacks it",
    ("messages-choice-hosted", "responses"): "of web searches, the types let only the preview be chosen",
}

# Members of an answer that the API, or Open Responses, has and the SDK's type lacks.
ANSWERED_TOO = {"/presence_penalty", "/frequency_penalty", "/store", "/output/0/status"}


def vectors(kind, *names):
    """The documents of one kind whose file has one of these names."""
    return sorted(path for name in names for path in (ROOT / "vectors" / kind).glob(f"*/{name}"))


def name(value):
    return value.parent.name if isinstance(value, Path) else value


ANSWERS = vectors("responses", "in.chat.json", "in.messages.json")
TRANSLATIONS = [
    (path, target)
    for path in vectors("requests", "in.*.json")
    for target in REQUESTS
    if path.name != f"in.{target}.json" and (name(path), target) not in BEYOND
]


@pytest.mark.parametrize("path", ANSWERS, ids=name)
def test_an_answer_is_a_whole_response(path):
    asked = path.with_name("request.responses.json")
    written = translate(path, "responses", "response", *(["--request", asked] if asked.exists() else []))
    read = checked(Response.model_validate, written)
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == written
    assert set(unpublished(read)) <= ANSWERED_TOO


@pytest.mark.parametrize(("path", "target"), TRANSLATIONS, ids=name)
def test_a_request_is_what_the_vendor_publishes(path, target):
    written = translate(path, target, "request")
    if written is None:
        return
    for item in written["input"] if target == "responses" else []:
        as_given_by_the_api(item)
    assert checked(lambda body: drained(REQUESTS[target].validate_python(body)), written) == written


@pytest.mark.parametrize("beyond", BEYOND, ids="-".join)
def test_what_the_types_refuse_they_still_refuse(beyond):
    (path,) = (path for path in vectors("requests", "in.*.json") if name(path) == beyond[0])
    with pytest.raises(ValidationError):
        drained(REQUESTS[beyond[1]].validate_python(translate(path, beyond[1], "request")))


@pytest.mark.parametrize(
    ("target", "wrong"),
    [
        ("chat", {"messages": [{"role": "tool", "content": "no call"}], "model": "m"}),
        ("responses", {"input": "hi", "model": "m", "tools": [{"type": "function", "function": {"name": "f"}}]}),
        ("messages", {"messages": [{"role": "user", "content": [{"type": "text"}]}], "max_tokens": 1, "model": "m"}),
    ],
    ids=list(REQUESTS),
)
def test_the_oracle_can_refuse(target, wrong):
    with pytest.raises(ValidationError):
        drained(REQUESTS[target].validate_python(wrong))


def translate(path, target, kind, *more):
    """The translation, or nothing if the request means nothing to the target and is refused."""
    source = path.name.split(".")[1]
    line = [BINARY, "translate", "--from", source, "--to", target, "--kind", kind, *more]
    run = subprocess.run(line, input=path.read_bytes(), capture_output=True)
    if run.returncode == 0:
        return json.loads(run.stdout)
    assert b"  refused  " in run.stderr, run.stderr.decode()
    return None


def as_given_by_the_api(item):
    """Completes a message of the model's with what only the API could have given.

    The types require it. The API does not, and Codex sends such messages without.
    """
    if item.get("role") == "assistant" and isinstance(item["content"], list):
        item |= {"id": "msg_1", "status": "completed"}
        for part in item["content"]:
            if part["type"] == "output_text":
                part.setdefault("annotations", [])


def checked(read, written):
    """Reads, and says of a failure only what concerns the alternative that was meant."""
    try:
        return read(written)
    except ValidationError as error:
        faults = error.errors()
    other = [fault["loc"][:-1] for fault in faults if fault["type"] == "literal_error" and fault["loc"][-1] in ("type", "role", "stream")]
    meant = [fault for fault in faults if not any(fault["loc"][: len(place)] == place for place in other)]
    said = [f"{'/'.join(map(str, fault['loc'][-4:]))}: {fault['msg']}" for fault in meant or faults]
    pytest.fail("\n".join(said[:8] + [json.dumps(written)]), pytrace=False)


def drained(value):
    """The value with every lazy list read to its end, which is when its members are checked."""
    if isinstance(value, dict):
        return {key: drained(member) for key, member in value.items()}
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return [drained(member) for member in value]
    return value


def unpublished(model, at=""):
    """The members of a model, at any depth, that its type does not declare."""
    if isinstance(model, list):
        return [found for index, member in enumerate(model) for found in unpublished(member, f"{at}/{index}")]
    if not hasattr(model, "model_extra"):
        return []
    own = [f"{at}/{key}" for key in model.model_extra or {} if key not in type(model).model_fields]
    return own + [found for key, member in model for found in unpublished(member, f"{at}/{key}")]
