"""Clients of OpenAI's protocols ask a Claude to think, by the one word that they have for it, and go through a tool loop.

The names of the models are real, because what a model takes decides how it is asked."""

import openai
import pytest

TOOL = {
    "name": "weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
REASONING = {"text": "I look it up.", "seal": "c2VhbA=="}
# Models that take a budget and models that decide themselves how long to think.
MODELS = {"enabled": "claude-sonnet-4-5", "adaptive": "claude-opus-4-6"}


def script(upstream, kind, date):
    """A model of the test's own: names carry a date, and a date changes nothing."""
    name = f"{MODELS[kind]}-{date}"
    upstream.set_script(name, [{"reasoning": REASONING, "calls": [{"name": "weather", "args": {"city": "Oslo"}}]}, {"reasoning": REASONING, "text": "Sunny."}])
    return name


def client_of(gateway):
    return openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="client-key", max_retries=0)


@pytest.mark.parametrize("streamed", (False, True), ids=("whole", "streamed"))
@pytest.mark.parametrize("kind", MODELS)
def test_a_chat_loop(kind, streamed, gateway, upstream):
    name = script(upstream, kind, "20260101" if streamed else "20260102")
    client = client_of(gateway)
    request = {"model": f"messages/{name}", "tools": [{"type": "function", "function": TOOL}], "reasoning_effort": "high"}
    messages = [{"role": "user", "content": "What is the weather in Oslo?"}]
    for _ in range(2):
        if streamed:
            with client.chat.completions.stream(messages=messages, **request) as stream:
                for _event in stream:
                    pass
                message = stream.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(messages=messages, **request).choices[0].message
        messages.append(message.to_dict())
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "Sunny."} for call in message.tool_calls or []]
    assert message.content == "Sunny."
    check(upstream.requests(name), kind)


@pytest.mark.parametrize("streamed", (False, True), ids=("whole", "streamed"))
@pytest.mark.parametrize("kind", MODELS)
def test_a_responses_loop_shows_and_returns_the_reasoning(kind, streamed, gateway, upstream):
    name = script(upstream, kind, "20260103" if streamed else "20260104")
    client = client_of(gateway)
    request = {"model": f"messages/{name}", "tools": [{"type": "function", "strict": False, **TOOL}], "store": False}
    request["reasoning"] = {"effort": "high", "summary": "auto"}
    request["include"] = ["reasoning.encrypted_content"]
    items = [{"role": "user", "content": "What is the weather in Oslo?"}]
    for _ in range(2):
        if streamed:
            with client.responses.stream(input=items, **request) as stream:
                for _event in stream:
                    pass
                response = stream.get_final_response()
        else:
            response = client.responses.create(input=items, **request)
        thoughts = [item for item in response.output if item.type == "reasoning"]
        texts = [part.text for item in thoughts for part in [*item.summary, *(item.content or [])]]
        assert REASONING["text"] in texts, response.output
        items += [item.to_dict() for item in response.output]
        items += [{"type": "function_call_output", "call_id": item.call_id, "output": "Sunny."} for item in response.output if item.type == "function_call"]
    assert response.output_text == "Sunny."
    first, second = check(upstream.requests(name), kind)
    assert [block["signature"] for message in second["messages"] for block in message["content"] if isinstance(block, dict) and block["type"] == "thinking"] == [REASONING["seal"]]
    if kind == "adaptive":
        assert first["thinking"].get("display") == "summarized", first["thinking"]


def check(requests, kind):
    assert [seen.rejection for seen in requests] == [None, None]
    first, second = [seen.body for seen in requests]
    assert first["thinking"]["type"] == kind, first.get("thinking")
    if kind == "enabled":
        assert 1024 <= first["thinking"]["budget_tokens"] < first["max_tokens"]
    else:
        assert first["output_config"]["effort"] == "high"
    return first, second
