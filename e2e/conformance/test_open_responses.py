"""Open Responses over every upstream protocol: objects, events and their order, checked with the published types.

The cases are those of the specification's compliance tests: a text, instructions, tools, images, several turns, and how an answer ends. Each
is asked for whole and as a stream, stored and not, and in the background.
"""

import json
import time
import urllib.error
import urllib.request

import pytest

from e2e.conformance.open_responses import check_response, check_stream, read_events
from e2e.settings import PROTOCOLS

TOOL = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
    "strict": True,
}
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CALL = {"name": "weather", "args": {"city": "Paris"}, "id": "call_weather_1"}
MESSAGE = {"type": "message", "role": "user", "content": "What is the weather in Paris?"}

# What is asked, and what the model answers.
CASES = {
    "text": ({"input": "Say hello."}, {"text": "Hello there, how are you?"}),
    "system prompt": ({"input": [{"type": "message", "role": "developer", "content": "Be short."}, MESSAGE]}, {"text": "Sunny."}),
    "instructions": ({"input": "Hi.", "instructions": "Be short."}, {"text": "Hello."}),
    "settings": (
        {"input": "Hi.", "temperature": 0.5, "max_output_tokens": 100, "metadata": {"a": "b"}, "parallel_tool_calls": False},
        {"text": "Hello."},
    ),
    "tool call": ({"input": [MESSAGE], "tools": [TOOL]}, {"text": "Let me look.", "calls": [CALL]}),
    "tool choice": (
        {"input": [MESSAGE], "tools": [TOOL], "tool_choice": {"type": "function", "name": "weather"}},
        {"calls": [CALL]},
    ),
    "several calls": (
        {"input": [MESSAGE], "tools": [TOOL]},
        {"calls": [CALL, {"name": "weather", "args": {"city": "Oslo"}, "id": "call_weather_2"}]},
    ),
    "image": (
        {"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": PIXEL}]}]},
        {"text": "A pixel."},
    ),
    "several turns": (
        {
            "input": [
                MESSAGE,
                {"type": "function_call", "call_id": "call_weather_1", "name": "weather", "arguments": '{"city":"Paris"}'},
                {"type": "function_call_output", "call_id": "call_weather_1", "output": "Sunny."},
            ],
            "tools": [TOOL],
        },
        {"text": "It is sunny.", "when": 1},
    ),
    "reasoning": ({"input": "Think."}, {"reasoning": {"text": "Hm, let me see."}, "text": "Done."}),
    "length": ({"input": "Go on."}, {"text": "And so", "stop": "length"}),
}


def send(gateway, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer client-key"}
    request = urllib.request.Request(f"{gateway.url}/v1{path}", data=data, headers=headers)
    with urllib.request.urlopen(request, timeout=20) as response:
        return response.read().decode()


def ask(gateway, streamed, **body):
    """A response, checked."""
    text = send(gateway, "/responses", {**body, "stream": streamed})
    if streamed:
        return check_stream(read_events(text.splitlines()))
    check_response(json.loads(text))
    return json.loads(text)


def prepare(upstream, protocol, case, how):
    """A model of the test's own, and the request for it."""
    request, turn = CASES[case]
    model = f"open-{protocol}-{case.replace(' ', '-')}-{how}"
    if protocol == "messages" and "reasoning" in turn:
        turn = {**turn, "reasoning": {**turn["reasoning"], "seal": "c2VhbA=="}}
    upstream.set_script(model, [turn])
    return {"model": f"{protocol}/{model}", **request}


def check_content(case, response, protocol):
    """The answer is what the model said."""
    _, turn = CASES[case]
    text = "".join(part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"])
    assert text == turn.get("text", "")
    calls = [(item["name"], json.loads(item["arguments"])) for item in response["output"] if item["type"] == "function_call"]
    assert calls == [(call["name"], call["args"]) for call in turn.get("calls", [])]
    assert any(item["type"] == "reasoning" for item in response["output"]) == ("reasoning" in turn)
    assert response["status"] == ("incomplete" if "stop" in turn else "completed")


@pytest.mark.parametrize("stored", (False, True), ids=("unstored", "stored"))
@pytest.mark.parametrize("streamed", (False, True), ids=("whole", "streamed"))
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_open_responses(protocol, case, streamed, stored, gateway, upstream):
    request = prepare(upstream, protocol, case, f"{streamed}-{stored}")
    response = ask(gateway, streamed, store=stored, **request)
    check_content(case, response, protocol)
    if stored and protocol != "responses":
        assert response["store"] is True
        assert json.loads(send(gateway, f"/responses/{response['id']}")) == response
    elif protocol != "responses":
        assert response["store"] is False
        with pytest.raises(urllib.error.HTTPError) as missing:
            send(gateway, f"/responses/{response['id']}")
        assert missing.value.code == 404


@pytest.mark.parametrize("streamed", (False, True), ids=("whole", "streamed"))
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("protocol", ("chat", "messages"))
def test_in_the_background(protocol, case, streamed, gateway, upstream):
    request = prepare(upstream, protocol, case, f"{streamed}-background")
    response = ask(gateway, streamed, background=True, **request)
    path = f"/responses/{response['id']}"
    if not streamed:
        assert response["status"] == "queued"
    deadline = time.monotonic() + 10
    while (response := json.loads(send(gateway, path)))["status"] in ("queued", "in_progress"):
        check_response(response)
        assert time.monotonic() < deadline
        time.sleep(0.01)
    check_response(response)
    check_content(case, response, protocol)
    if streamed:
        events = read_events(send(gateway, f"{path}?stream=true").splitlines())
        assert check_stream(events) == response
        rest = read_events(send(gateway, f"{path}?stream=true&starting_after=1").splitlines())
        assert rest == events[2:]


@pytest.mark.parametrize("streamed", (False, True), ids=("whole", "streamed"))
@pytest.mark.parametrize("protocol", ("chat", "messages"))
def test_turns_by_the_last_id(protocol, streamed, gateway, upstream):
    model = f"open-turns-{protocol}-{streamed}"
    upstream.set_script(model, [{"calls": [CALL]}, {"text": "It is sunny."}])
    request = {"model": f"{protocol}/{model}", "tools": [TOOL]}
    first = ask(gateway, streamed, input="The weather?", **request)
    (call,) = first["output"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "Sunny."}
    second = ask(gateway, streamed, input=[result], previous_response_id=first["id"], **request)
    assert second["previous_response_id"] == first["id"]
    assert second["output"][-1]["content"][0]["text"] == "It is sunny."


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_that_fails(protocol, gateway, upstream):
    model = f"open-failed-{protocol}"
    upstream.set_script(model, [{"text": "This is not the end of it.", "error": "overloaded", "after": 5}])
    text = send(gateway, "/responses", {"model": f"{protocol}/{model}", "input": "Hi.", "stream": True})
    events = read_events(text.splitlines())
    assert events[-1]["type"] in ("response.failed", "error")
    if protocol != "responses":
        for event in events[:-1]:
            assert event["type"] != "response.completed"
        check_response(events[-1]["response"])
        assert events[-1]["response"]["status"] == "failed"
