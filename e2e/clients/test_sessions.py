"""The vendors' SDKs in sessions: they send only the new message or only the results of their tools, and the model gets
the whole conversation. A session may change its client, and so its protocol, in the middle."""

import json

import anthropic
import httpx
import openai
import pytest

from e2e.gateway import Gateway
from e2e.settings import PROTOCOLS

CITIES = ("Paris", "Oslo", "Rome", "Bern")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
MODES = ("whole", "stream", "helper")


@pytest.fixture(scope="module")
def gateways(upstream, tmp_path_factory):
    """Two gateways that share one store."""
    path = tmp_path_factory.mktemp("store") / "toolwire.db"
    settings = f'[store]\nengine = "sqlite"\npath = "{path}"\n'
    running = [Gateway(upstream, settings=settings) for _ in range(2)]
    yield [gateway.url for gateway in running]
    for gateway in running:
        gateway.close()


class ChatClient:
    """`openai`, which names its session in a header."""

    tools = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]

    def __init__(self, url, session):
        headers = {"toolwire-session": session}
        self.sdk = openai.OpenAI(base_url=f"{url}/v1", api_key="client-key", max_retries=0, default_headers=headers)

    def ask(self, mode, model, messages):
        request = {"model": model, "messages": messages, "tools": self.tools}
        if mode == "helper":
            strict = {**SCHEMA, "additionalProperties": False}
            request["tools"] = [{"type": "function", "function": {"name": "weather", "parameters": strict, "strict": True}}]
            with self.sdk.chat.completions.stream(**request) as stream:
                for _ in stream:
                    pass
                message = stream.get_final_completion().choices[0].message
        elif mode == "stream":
            return self.join(self.sdk.chat.completions.create(**request, stream=True))
        else:
            message = self.sdk.chat.completions.create(**request).choices[0].message
        calls = [(call.id, json.loads(call.function.arguments)) for call in message.tool_calls or ()]
        return message.content, calls

    def join(self, chunks):
        """Stops at the finish reason, as many programs do, and not at the end of the stream."""
        text, calls = "", {}
        for chunk in chunks:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for call in choice.delta.tool_calls or ():
                    known = calls.setdefault(call.index, [call.id, ""])
                    known[1] += call.function.arguments or ""
            if chunk.choices and chunk.choices[0].finish_reason:
                break
        chunks.close()
        return text, [(id, json.loads(arguments)) for id, arguments in calls.values()]

    def results(self, calls):
        return [{"role": "tool", "tool_call_id": id, "content": f"Sunny in {args['city']}."} for id, args in calls]


class MessagesClient:
    """`anthropic`, which names its session in the body."""

    tools = [{"name": "weather", "input_schema": SCHEMA}]

    def __init__(self, url, session):
        self.session = session
        self.sdk = anthropic.Anthropic(base_url=url, api_key="client-key", max_retries=0)

    def ask(self, mode, model, messages):
        request = {"model": model, "messages": messages, "tools": self.tools, "max_tokens": 4096}
        request["extra_body"] = {"session_id": self.session}
        if mode == "whole":
            message = self.sdk.messages.create(**request)
        else:
            with self.sdk.messages.stream(**request) as stream:
                for _ in stream:
                    pass
                message = stream.get_final_message()
        text = "".join(block.text for block in message.content if block.type == "text")
        return text, [(block.id, block.input) for block in message.content if block.type == "tool_use"]

    def results(self, calls):
        blocks = [{"type": "tool_result", "tool_use_id": id, "content": f"Sunny in {args['city']}."} for id, args in calls]
        return [{"role": "user", "content": blocks}]


CLIENTS = {"openai": (ChatClient,), "anthropic": (MessagesClient,), "both": (ChatClient, MessagesClient), "both-reversed": (MessagesClient, ChatClient)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("clients", CLIENTS)
def test_five_turns_without_the_conversation(clients, protocol, mode, gateways, upstream):
    name = f"session-{clients}-{protocol}-{mode}"
    reasoning = {"text": "Hm."} if protocol == "chat" else {"text": "Hm.", "seal": "c2VhbA=="}
    turns = [{"reasoning": reasoning, "calls": [{"name": "weather", "args": {"city": city}}]} for city in CITIES]
    upstream.set_script(name, [*turns, {"text": "Done."}])
    # Every turn goes through another gateway than the one before.
    drivers = [[client(url, name) for url in gateways] for client in CLIENTS[clients]]
    messages = [{"role": "user", "content": "What is the weather in four cities?"}]
    for turn, city in enumerate((*CITIES, None)):
        driver = drivers[turn % len(drivers)][turn % 2]
        text, calls = driver.ask(mode, f"{protocol}/{name}", messages)
        assert [args for _, args in calls] == ([{"city": city}] if city else [])
        following = drivers[(turn + 1) % len(drivers)][0]
        messages = following.results(calls)
    assert text == "Done."
    seen = upstream.requests(name)
    assert [request.rejection for request in seen] == [None] * 5
    assert not any({"session", "session_id"} & request.body.keys() for request in seen)
    session = httpx.get(f"{gateways[0]}/v1/sessions/{name}").json()
    assert session["stats"]["turns"] == 5
    expected = {"pending": 0, "completed": 4, "failed": 0, "missing": 0, "orphaned": 0, "duplicated": 0}
    assert session["stats"]["calls"] == expected


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("client", (ChatClient, MessagesClient))
def test_results_one_by_one(client, protocol, gateways, upstream):
    """Results may come when they are ready. A vendor's strict API never sees a call without one."""
    name = f"session-parallel-{client.__name__}-{protocol}"
    calls = [{"name": "weather", "args": {"city": city}} for city in CITIES]
    upstream.set_script(name, [{"calls": calls}, {"text": "Done."}])
    driver = client(gateways[0], name)
    _, calls = driver.ask("whole", f"{protocol}/{name}", [{"role": "user", "content": "Four cities?"}])
    path = f"{gateways[1]}/v1/sessions/{name}"
    spoken = "chat" if client is ChatClient else "messages"
    for number, call in enumerate(reversed(calls[1:]), 1):
        added = httpx.post(f"{path}/messages", json={"messages": driver.results([call]), "protocol": spoken}).json()
        assert added["stats"]["calls"]["completed"] == number
        assert added["stats"]["calls"]["pending"] == 4 - number
    text, _ = driver.ask("whole", f"{protocol}/{name}", driver.results(calls[:1]))
    assert text == "Done."
    assert [request.rejection for request in upstream.requests(name)] == [None] * 2
    assert httpx.delete(path).json()["deleted"]
    assert httpx.get(path).status_code == 404


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_missing_result_is_reported(protocol, gateways, upstream):
    """The strict upstream takes what the gateway makes of it, also in the client's own protocol."""
    name = f"session-missing-{protocol}"
    calls = [{"name": "weather", "args": {"city": city}} for city in CITIES[:2]]
    upstream.set_script(name, [{"calls": calls}, {"text": "Done.", "when": 2}])
    for client in (ChatClient, MessagesClient):
        driver = client(gateways[0], f"{name}-{client.__name__}")
        _, calls = driver.ask("whole", f"{protocol}/{name}", [{"role": "user", "content": "Two cities?"}])
        text, _ = driver.ask("whole", f"{protocol}/{name}", driver.results(calls[1:]))
        assert text == "Done."
        session = httpx.get(f"{gateways[0]}/v1/sessions/{name}-{client.__name__}").json()
        assert session["stats"]["calls"]["missing"] == 1
    assert [request.rejection for request in upstream.requests(name)] == [None] * 4


def test_two_requests_at_once(gateways, upstream):
    name = "session-busy"
    upstream.set_script(name, [{"text": "Slow.", "delay": 0.2}])
    driver = ChatClient(gateways[0], name)
    with driver.sdk.chat.completions.create(model=f"chat/{name}", messages=[{"role": "user", "content": "Hi"}], stream=True) as stream:
        with pytest.raises(openai.ConflictError) as refused:
            driver.ask("whole", f"chat/{name}", [{"role": "user", "content": "Hi"}])
        assert refused.value.code == "session_locked"
        for _ in stream:
            pass
    assert httpx.get(f"{gateways[0]}/v1/sessions/{name}").json()["stats"]["turns"] == 1
