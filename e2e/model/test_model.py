"""A real model behind the gateway, asked with the vendors' SDKs in all three protocols.

It is small and says little that is true, but it is nobody's script: its tokens, its stops and the
server's own dialect of Chat come from the world. It takes the most likely token each time, so
every client must hear the same as one that asks it directly.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from types import SimpleNamespace

import anthropic
import openai
import pytest

from e2e.gateway import Gateway
from e2e.settings import PROTOCOLS, ROOT

pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None,
    reason="the real model is not installed: the wheels of e2e/requirements-model.txt could not be had",
)

# As docs/gateway.md advises for llama.cpp.
PROFILE = "profile = { allowed_tools = false, freeform_tools = false, strict = false, legacy_max_tokens = true }"
TEXT = "Say hello."
CALL = "Call get_weather for Paris."
CITY = {"type": "string", "minLength": 2, "maxLength": 20}
ARGUMENTS = {"type": "object", "properties": {"city": CITY}, "required": ["city"], "additionalProperties": False}
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "enum": ["get_weather"]}, "arguments": ARGUMENTS},
    "required": ["name", "arguments"],
    "additionalProperties": False,
}
# Responses takes no limit below 16.
SHORT, LONG = 16, 64


@dataclass
class Answer:
    """What a client heard."""

    text: str
    stop: str
    # Tokens in and out.
    usage: tuple[int, int]


@pytest.fixture(scope="module")
def model():
    """The model's server, without a gateway."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, "-m", "e2e.model.server"], cwd=ROOT, text=True, **pipes)
    url = process.stdout.readline().strip()
    assert url, "the model's server did not start"
    yield SimpleNamespace(url=url)
    process.stdin.close()
    process.wait(timeout=20)


@pytest.fixture(scope="module")
def front(model):
    """A gateway in front of it."""
    process = Gateway(model, upstream_settings=PROFILE)
    yield process
    process.close()


@pytest.fixture(scope="module")
def direct(model):
    """What the model says when it is asked directly."""
    asked = [(TEXT, SHORT, None), (TEXT, LONG, None), (CALL, LONG, SCHEMA)]
    return {(prompt, limit): chat(model.url, prompt, limit, schema, stream=False) for prompt, limit, schema in asked}


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
@pytest.mark.parametrize("client", PROTOCOLS)
def test_it_talks(client, stream, front, direct):
    """To its own end, and to the client's limit."""
    assert direct[TEXT, LONG].stop == "end"
    assert direct[TEXT, SHORT].stop == "limit"
    for limit in (LONG, SHORT):
        assert CLIENTS[client](front.url, TEXT, limit, None, stream) == direct[TEXT, limit]


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
@pytest.mark.parametrize("client", PROTOCOLS)
def test_it_keeps_to_a_schema(client, stream, front, direct):
    """It cannot call tools, but its answer can be made to be a call."""
    answer = CLIENTS[client](front.url, CALL, LONG, SCHEMA, stream)
    assert answer == direct[CALL, LONG]
    assert json.loads(answer.text) == {"name": "get_weather", "arguments": {"city": "Paris"}}


def chat(url, prompt, limit, schema, stream):
    format = {"type": "json_schema", "json_schema": {"name": "call", "schema": schema}}
    said = {"max_tokens": limit, "temperature": 0, **({"response_format": format} if schema else {})}
    messages = [{"role": "user", "content": prompt}]
    create = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0).chat.completions.create
    if not stream:
        answer = create(model="chat/smollm2", messages=messages, **said)
        [choice] = answer.choices
        return _chat_answer(choice.message.content, choice.finish_reason, answer.usage)
    text, stop, usage = "", None, None
    for chunk in create(model="chat/smollm2", messages=messages, stream=True, stream_options={"include_usage": True}, **said):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            stop = choice.finish_reason or stop
        usage = chunk.usage or usage
    return _chat_answer(text, stop, usage)


def _chat_answer(text, stop, usage):
    return Answer(text, {"stop": "end", "length": "limit"}[stop], (usage.prompt_tokens, usage.completion_tokens))


def responses(url, prompt, limit, schema, stream):
    format = {"type": "json_schema", "name": "call", "schema": schema}
    said = {"max_output_tokens": limit, "temperature": 0, **({"text": {"format": format}} if schema else {})}
    create = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0).responses.create
    if stream:
        events = list(create(model="chat/smollm2", input=prompt, stream=True, **said))
        answer = events[-1].response
        heard = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        assert heard == answer.output_text
    else:
        answer = create(model="chat/smollm2", input=prompt, **said)
    stop = {"completed": "end", "incomplete": "limit"}[answer.status]
    return Answer(answer.output_text, stop, (answer.usage.input_tokens, answer.usage.output_tokens))


def messages(url, prompt, limit, schema, stream):
    format = {"format": {"type": "json_schema", "schema": schema}}
    said = {"model": "chat/smollm2", "max_tokens": limit, **({"output_config": format} if schema else {})}
    said["messages"] = [{"role": "user", "content": prompt}]
    # The SDK has no parameter for the temperature any more; the protocol has.
    said["extra_body"] = {"temperature": 0}
    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    if stream:
        with client.messages.stream(**said) as events:
            heard = "".join(events.text_stream)
            answer = events.get_final_message()
    else:
        answer = client.messages.create(**said)
        heard = answer.content[0].text
    stop = {"end_turn": "end", "max_tokens": "limit"}[answer.stop_reason]
    return Answer(heard, stop, (answer.usage.input_tokens, answer.usage.output_tokens))


CLIENTS = {"chat": chat, "responses": responses, "messages": messages}
