"""A real model behind the gateway, used with the vendors' SDKs in all three protocols.

The model is small and often wrong, but nobody scripted it: its tokens, its stop reasons and its
server's dialect of Chat are real. It always takes the most likely token, so every client must get
the same answer as a client that asks the model directly.
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
    reason="the real model is not installed: the wheels of e2e/requirements-model.txt could not be installed",
)

# As docs/gateway.md recommends for llama.cpp.
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
TOOL = {"name": "get_weather", "description": "The weather of a city."}
# Responses accepts no limit below 16.
SHORT, LONG = 16, 64


@dataclass
class Answer:
    """What a client received."""

    text: str
    stop: str
    # Tokens in and out.
    usage: tuple[int, int]


@pytest.fixture(scope="module")
def model():
    """The server of the model, without a gateway."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, "-m", "e2e.model.server"], cwd=ROOT, text=True, **pipes)
    url = process.stdout.readline().strip()
    assert url, "the server of the model did not start"
    yield SimpleNamespace(url=url)
    process.stdin.close()
    process.wait(timeout=20)


@pytest.fixture(scope="module")
def model_gateway(model):
    """A gateway in front of the model."""
    process = Gateway(model, upstream_settings=PROFILE)
    yield process
    process.close()


@pytest.fixture(scope="module")
def text_gateway(model):
    """A gateway that knows that the model takes no tools."""
    # On a busy machine, the model needs long for a prompt with tools. The header must not be early.
    patience = 'limits = { early_head = "10m" }'
    process = Gateway(model, patience, upstream_settings=f'{PROFILE}\ntool_calls = "text"')
    yield process
    process.close()


@pytest.fixture(scope="module")
def direct(model):
    """The answers of the model without a gateway."""
    questions = [(TEXT, SHORT, None), (TEXT, LONG, None), (CALL, LONG, SCHEMA)]
    return {(prompt, limit): chat(model.url, prompt, limit, schema, stream=False) for prompt, limit, schema in questions}


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
@pytest.mark.parametrize("client", PROTOCOLS)
def test_text(client, stream, model_gateway, direct):
    """Up to the model's own end, and up to the client's limit."""
    assert direct[TEXT, LONG].stop == "end"
    assert direct[TEXT, SHORT].stop == "limit"
    for limit in (LONG, SHORT):
        assert CLIENTS[client](model_gateway.url, TEXT, limit, None, stream) == direct[TEXT, limit]


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
@pytest.mark.parametrize("client", PROTOCOLS)
def test_schema(client, stream, model_gateway, direct):
    """The model cannot call tools, but a schema can force its answer to look like a call."""
    answer = CLIENTS[client](model_gateway.url, CALL, LONG, SCHEMA, stream)
    assert answer == direct[CALL, LONG]
    assert json.loads(answer.text) == {"name": "get_weather", "arguments": {"city": "Paris"}}


@pytest.mark.parametrize("stream", [False, True], ids=["unary", "stream"])
@pytest.mark.parametrize("client", PROTOCOLS)
def test_call(client, stream, text_gateway):
    """What the model writes as JSON is a call of the client's own protocol."""
    header, calls, stop = CALLERS[client](text_gateway.url, stream)
    assert calls == [("get_weather", {"city": "Paris"})]
    assert stop == "calls"
    # The head of a stream may be sent before the model has written its call. Then it names the
    # dialect that the model was asked to write.
    assert header in (("json", "hermes") if stream else ("json",))


def chat(url, prompt, limit, schema, stream):
    format = {"type": "json_schema", "json_schema": {"name": "call", "schema": schema}}
    parameters = {"max_tokens": limit, "temperature": 0, **({"response_format": format} if schema else {})}
    messages = [{"role": "user", "content": prompt}]
    create = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0).chat.completions.create
    if not stream:
        answer = create(model="chat/smollm2", messages=messages, **parameters)
        [choice] = answer.choices
        return _chat_answer(choice.message.content, choice.finish_reason, answer.usage)
    text, stop, usage = "", None, None
    for chunk in create(model="chat/smollm2", messages=messages, stream=True, stream_options={"include_usage": True}, **parameters):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            stop = choice.finish_reason or stop
        usage = chunk.usage or usage
    return _chat_answer(text, stop, usage)


def _chat_answer(text, stop, usage):
    return Answer(text, {"stop": "end", "length": "limit"}[stop], (usage.prompt_tokens, usage.completion_tokens))


def responses(url, prompt, limit, schema, stream):
    format = {"type": "json_schema", "name": "call", "schema": schema}
    parameters = {"max_output_tokens": limit, "temperature": 0, **({"text": {"format": format}} if schema else {})}
    create = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0).responses.create
    if stream:
        events = list(create(model="chat/smollm2", input=prompt, stream=True, **parameters))
        answer = events[-1].response
        text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        assert text == answer.output_text
    else:
        answer = create(model="chat/smollm2", input=prompt, **parameters)
    stop = {"completed": "end", "incomplete": "limit"}[answer.status]
    return Answer(answer.output_text, stop, (answer.usage.input_tokens, answer.usage.output_tokens))


def messages(url, prompt, limit, schema, stream):
    format = {"format": {"type": "json_schema", "schema": schema}}
    parameters = {"model": "chat/smollm2", "max_tokens": limit, **({"output_config": format} if schema else {})}
    parameters["messages"] = [{"role": "user", "content": prompt}]
    # The SDK has no parameter for the temperature, but the protocol has the field.
    parameters["extra_body"] = {"temperature": 0}
    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    if stream:
        with client.messages.stream(**parameters) as events:
            text = "".join(events.text_stream)
            answer = events.get_final_message()
    else:
        answer = client.messages.create(**parameters)
        text = answer.content[0].text
    stop = {"end_turn": "end", "max_tokens": "limit"}[answer.stop_reason]
    return Answer(text, stop, (answer.usage.input_tokens, answer.usage.output_tokens))


CLIENTS = {"chat": chat, "responses": responses, "messages": messages}


def chat_call(url, stream):
    """The header, the calls and the stop of a client that declares a tool."""
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    parameters = {
        "model": "chat/smollm2",
        "messages": [{"role": "user", "content": CALL}],
        "max_tokens": LONG,
        "temperature": 0,
        "tools": [{"type": "function", "function": {**TOOL, "parameters": ARGUMENTS}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "call", "schema": SCHEMA}},
    }
    if not stream:
        raw = client.chat.completions.with_raw_response.create(**parameters)
        [choice] = raw.parse().choices
        calls = [(call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls]
        return raw.headers.get("toolwire-recovered"), calls, {"tool_calls": "calls"}.get(choice.finish_reason)
    raw = client.chat.completions.with_raw_response.create(stream=True, **parameters)
    names, arguments, stop = [], [], None
    for chunk in raw.parse():
        for choice in chunk.choices:
            stop = choice.finish_reason or stop
            for call in choice.delta.tool_calls or ():
                if call.function.name:
                    names.append(call.function.name)
                    arguments.append("")
                arguments[call.index] += call.function.arguments or ""
    calls = list(zip(names, map(json.loads, arguments), strict=True))
    return raw.headers.get("toolwire-recovered"), calls, {"tool_calls": "calls"}.get(stop)


def responses_call(url, stream):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    raw = client.responses.with_raw_response.create(
        model="chat/smollm2",
        input=CALL,
        max_output_tokens=LONG,
        temperature=0,
        tools=[{"type": "function", "strict": False, **TOOL, "parameters": ARGUMENTS}],
        text={"format": {"type": "json_schema", "name": "call", "schema": SCHEMA}},
        stream=stream,
    )
    answer = list(raw.parse())[-1].response if stream else raw.parse()
    calls = [(item.name, json.loads(item.arguments)) for item in answer.output if item.type == "function_call"]
    return raw.headers.get("toolwire-recovered"), calls, {"completed": "calls"}.get(answer.status)


def messages_call(url, stream):
    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    parameters = {
        "model": "chat/smollm2",
        "max_tokens": LONG,
        "messages": [{"role": "user", "content": CALL}],
        "tools": [{**TOOL, "input_schema": ARGUMENTS}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        "extra_body": {"temperature": 0},
    }
    if stream:
        with client.messages.stream(**parameters) as events:
            answer, headers = events.get_final_message(), events.response.headers
    else:
        raw = client.messages.with_raw_response.create(**parameters)
        answer, headers = raw.parse(), raw.headers
    calls = [(block.name, block.input) for block in answer.content if block.type == "tool_use"]
    return headers.get("toolwire-recovered"), calls, {"tool_use": "calls"}.get(answer.stop_reason)


CALLERS = {"chat": chat_call, "responses": responses_call, "messages": messages_call}
