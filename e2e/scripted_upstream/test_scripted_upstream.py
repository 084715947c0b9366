"""The scripted upstream itself: it answers through a gateway, and rejects what the vendors reject."""

import copy
import json
import urllib.error
import urllib.request

import pytest

from e2e.scripted_upstream.text_only import DIALECTS
from e2e.settings import PROTOCOLS

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
VALID = {
    "chat": {
        "model": "strict",
        "messages": [
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "fine"},
        ],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}],
    },
    "responses": {
        "model": "strict",
        "input": [
            {"role": "user", "content": "Hello."},
            {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "fine"},
        ],
        "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}],
    },
    "messages": {
        "model": "strict",
        "max_tokens": 100,
        "messages": [
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "fine"}]},
        ],
        "tools": [{"name": "weather", "input_schema": SCHEMA}],
    },
}

# A place in the valid request, the value that makes it invalid, and a part of the error message.
INVALID = [
    ("chat", ["messages", 2, "tool_call_id"], "c2", "preceding message"),
    ("chat", ["messages", 1, "tool_calls", 0, "id"], "x" * 41, "at most 40"),
    ("chat", ["messages", 1, "tool_calls", 0, "function", "arguments"], {}, "string"),
    ("chat", ["messages", 1, "tool_calls", 0, "function", "name"], "a.b", "Invalid name"),
    ("chat", ["messages", 2], {"role": "user", "content": "And?"}, "did not have response"),
    ("chat", ["messages", 1, "reasoning_content"], "Hm.", "not this model's"),
    ("chat", ["tools"], [], "too short"),
    ("chat", ["tools", 0, "function", "parameters"], {"anyOf": []}, "type 'object'"),
    ("chat", ["temperature"], "hot", "number"),
    ("chat", ["top_k"], 3, "Unknown parameter"),
    ("responses", ["input", 2, "call_id"], "c2", "No tool call found"),
    ("responses", ["input", 1, "id"], "c1", "begins with 'fc_'"),
    ("responses", ["input", 2], {"role": "user", "content": "And?"}, "No tool output"),
    ("responses", ["input", 0], {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "?"}, "verified"),
    ("responses", ["stop"], "x", "Unknown parameter"),
    ("messages", ["max_tokens"], None, "Field required"),
    ("messages", ["messages", 1, "content", 0, "id"], "c.1", "pattern"),
    ("messages", ["messages", 1, "content", 0, "input"], "{}", "dictionary"),
    ("messages", ["messages", 2, "content", 0, "tool_use_id"], "c2", "do not answer"),
    ("messages", ["messages", 2], {"role": "assistant", "content": "So."}, "alternate"),
    ("messages", ["messages", 0, "content"], " ", "non-whitespace"),
    ("messages", ["messages", 1, "content", 0], {"type": "thinking", "thinking": "Hm.", "signature": "?"}, "signature"),
]


@pytest.mark.parametrize("client", PROTOCOLS)
@pytest.mark.parametrize("upstream_protocol", PROTOCOLS)
def test_a_gateway_reaches_it(client, upstream_protocol, upstream, gateway):
    model = f"reached-{client}-{upstream_protocol}"
    upstream.set_script(model, [{"text": "Sunny.", "when": 1}])
    status, answer = post(gateway.url, client, {**VALID[client], "model": f"{upstream_protocol}/{model}"})
    assert (status, "Sunny." in answer) == (200, True), answer
    assert [request.protocol for request in upstream.requests(model)] == [upstream_protocol]


@pytest.mark.parametrize(("protocol", "place", "value", "why"), INVALID, ids=lambda value: None)
def test_it_rejects_what_the_vendor_rejects(protocol, place, value, why, upstream):
    upstream.set_script("strict", [{"text": "Fine.", "when": 1}])
    assert post(upstream.url, protocol, VALID[protocol])[0] == 200
    invalid = copy.deepcopy(VALID[protocol])
    inside = invalid
    for step in place[:-1]:
        inside = inside[step]
    inside[place[-1]] = value
    status, answer = post(upstream.url, protocol, invalid)
    assert (status, why in answer) == (400, True), answer


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_model_that_only_writes_text_rejects_every_trace_of_tools(protocol, upstream):
    upstream.set_script("text", [{"text": "Fine."}], dialect="hermes")
    conversation = "input" if protocol == "responses" else "messages"
    whole = {**VALID[protocol], "model": "text"}
    plain = {**whole, conversation: whole[conversation][:1]}
    del plain["tools"]
    assert post(upstream.url, protocol, plain)[0] == 200
    # The tools alone, the conversation alone, and both.
    for document in [{**plain, "tools": whole["tools"]}, {**plain, conversation: whole[conversation]}, whole]:
        status, answer = post(upstream.url, protocol, document)
        assert (status, "not supported" in answer) == (400, True), answer


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_are_read_as_they_are_written(name):
    dialect, schemas = DIALECTS[name], {"weather": SCHEMA, "add": {"properties": {"a": {"type": "number"}}}}
    calls = [{"name": "weather", "arguments": {"city": "a\n\"b\" <c>"}}, {"name": "add", "arguments": {"a": 1.5}}]
    assert dialect.calls(f"Well.\n{dialect.write(calls)}", schemas) == calls
    assert dialect.calls("Well.", schemas) == []


def post(url, protocol, document):
    path = {"chat": "chat/completions", "responses": "responses", "messages": "messages"}[protocol]
    headers = {"content-type": "application/json", "authorization": "Bearer k", "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(f"{url}/v1/{path}", json.dumps(document).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
