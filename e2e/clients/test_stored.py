"""The OpenAI SDK with a server that remembers, over upstreams that do not: threads by `previous_response_id`, stored
responses, conversations, answers in the background. Two gateway processes share a file or a database."""

import os
import time

import openai
import pytest

from e2e.gateway import Gateway
from e2e.postgres import Postgres

UPSTREAMS = ("chat", "messages")
TOOL = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
    "strict": True,
}
CITIES = ("Paris", "Oslo", "Rome", "Bern")


@pytest.fixture(scope="module", params=("sqlite", "postgres"))
def gateways(request, upstream, tmp_path_factory):
    """Two gateways that share one store."""
    database = None
    if request.param == "sqlite":
        where = f'path = "{tmp_path_factory.mktemp("store") / "toolwire.db"}"'
    elif os.environ.get("TOOLWIRE_WITHOUT_POSTGRES"):
        pytest.skip("there is no Postgres on this machine")
    else:
        database = Postgres()
        where = f'url = "{database.url}"'
    settings = f'[store]\nengine = "{request.param}"\n{where}\n'
    running = [Gateway(upstream, settings=settings) for _ in range(2)]
    yield [openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="client-key", max_retries=0) for gateway in running]
    for gateway in running:
        gateway.close()
    if database:
        database.close()


def model_name(gateways, *parts):
    """A model of the test's own: the tests run once for each store."""
    return "-".join(map(str, ("stored", gateways[0].base_url.port, *parts)))


def respond(client, streamed, **request):
    if not streamed:
        return client.responses.create(**request)
    with client.responses.stream(**request) as stream:
        for _ in stream:
            pass
        return stream.get_final_response()


@pytest.mark.parametrize("streamed", (False, True), ids=("whole", "streamed"))
@pytest.mark.parametrize("protocol", UPSTREAMS)
def test_five_turns_by_the_last_id_alone(protocol, streamed, gateways, upstream):
    name = model_name(gateways, "turns", protocol, streamed)
    reasoning = {"text": "Hm.", "seal": "c2VhbA=="} if protocol == "messages" else {"text": "Hm."}
    turns = [{"reasoning": reasoning, "calls": [{"name": "weather", "args": {"city": city}}]} for city in CITIES]
    upstream.set_script(name, [*turns, {"text": "Done."}])
    request = {"model": f"{protocol}/{name}", "tools": [TOOL]}
    response = respond(gateways[0], streamed, input="What is the weather in four cities?", **request)
    for number, city in enumerate(CITIES, 1):
        (call,) = [item for item in response.output if item.type == "function_call"]
        assert call.arguments.replace(" ", "") == f'{{"city":"{city}"}}'
        result = {"type": "function_call_output", "call_id": call.call_id, "output": f"Sunny in {city}."}
        previous = response.id
        client = gateways[number % 2]
        response = respond(client, streamed, input=[result], previous_response_id=previous, **request)
        assert response.previous_response_id == previous
        assert client.responses.retrieve(response.id) == response if not streamed else client.responses.retrieve(response.id).id == response.id
    assert response.output_text == "Done."
    assert [seen.rejection for seen in upstream.requests(name)] == [None] * 5


@pytest.mark.parametrize("protocol", UPSTREAMS)
def test_what_was_stored(protocol, gateways, upstream):
    name = model_name(gateways, "kept", protocol)
    upstream.set_script(name, [{"text": "Hello."}])
    client = gateways[0]
    response = client.responses.create(model=f"{protocol}/{name}", input="Hi.")
    assert response.store if hasattr(response, "store") else True
    found = client.responses.retrieve(response.id)
    assert found.output_text == "Hello."
    items = list(client.responses.input_items.list(response.id, order="asc"))
    assert [(item.type, item.role, item.content[0].text) for item in items] == [("message", "user", "Hi.")]
    client.responses.delete(response.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(model=f"{protocol}/{name}", input="Hi.", previous_response_id=response.id)
    assert refused.value.code == "previous_response_not_found"
    assert refused.value.param == "previous_response_id"


@pytest.mark.parametrize("protocol", UPSTREAMS)
def test_conversations(protocol, gateways, upstream):
    name = model_name(gateways, "conversation", protocol)
    upstream.set_script(name, [{"text": "Hello."}])
    one, two = gateways
    conversation = one.conversations.create(metadata={"topic": "demo"}, items=[{"type": "message", "role": "user", "content": "I am Ann."}])
    response = two.responses.create(model=f"{protocol}/{name}", input="Hi.", conversation=conversation.id)
    assert response.conversation.id == conversation.id
    items = list(one.conversations.items.list(conversation.id, order="asc"))
    assert [(item.role, item.content[0].text) for item in items] == [("user", "I am Ann."), ("user", "Hi."), ("assistant", "Hello.")]
    one.conversations.items.delete(items[0].id, conversation_id=conversation.id)
    two.conversations.items.create(conversation.id, items=[{"type": "message", "role": "user", "content": "Bye."}])
    assert one.conversations.update(conversation.id, metadata={"topic": "other"}).metadata == {"topic": "other"}
    assert two.conversations.retrieve(conversation.id).metadata == {"topic": "other"}
    assert len(list(two.conversations.items.list(conversation.id))) == 3
    assert one.conversations.delete(conversation.id).deleted
    with pytest.raises(openai.NotFoundError):
        two.conversations.retrieve(conversation.id)


@pytest.mark.parametrize("protocol", UPSTREAMS)
def test_polling_in_the_background(protocol, gateways, upstream):
    name = model_name(gateways, "polled", protocol)
    upstream.set_script(name, [{"text": "Hello.", "delay": 0.2}])
    one, two = gateways
    response = one.responses.create(model=f"{protocol}/{name}", input="Hi.", background=True)
    assert response.status == "queued"
    deadline = time.monotonic() + 10
    while (response := two.responses.retrieve(response.id)).status in ("queued", "in_progress"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert response.output_text == "Hello."
    assert two.responses.cancel(response.id).status == "completed"


@pytest.mark.parametrize("protocol", UPSTREAMS)
def test_a_stream_goes_on_where_its_client_left(protocol, gateways, upstream):
    name = model_name(gateways, "resumed", protocol)
    upstream.set_script(name, [{"text": "One two three four five six seven.", "chunk_size": 3, "delay": 0.02}])
    one, two = gateways
    seen = []
    with one.responses.create(model=f"{protocol}/{name}", input="Hi.", background=True, stream=True) as stream:
        for event in stream:
            seen.append(event)
            if len(seen) == 6:
                break
    response_id = seen[0].response.id
    rest = list(two.responses.retrieve(response_id, stream=True, starting_after=seen[-1].sequence_number))
    assert [event.sequence_number for event in seen + rest] == list(range(len(seen) + len(rest)))
    assert rest[-1].type == "response.completed"
    assert rest[-1].response.output_text == "One two three four five six seven."
    assert one.responses.retrieve(response_id) == rest[-1].response
    (request,) = upstream.requests(name)
    assert not request.closed.is_set(), "the client left, and the work went on"


@pytest.mark.parametrize("protocol", UPSTREAMS)
def test_cancelling(protocol, gateways, upstream):
    name = model_name(gateways, "cancelled", protocol)
    upstream.set_script(name, [{"text": "Never.", "delay": 30}])
    one, two = gateways
    response = one.responses.create(model=f"{protocol}/{name}", input="Hi.", background=True)
    deadline = time.monotonic() + 5
    while not upstream.requests(name):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert two.responses.cancel(response.id).status == "cancelled"
    (request,) = upstream.requests(name)
    assert request.closed.wait(10), "the upstream is told"
    assert one.responses.retrieve(response.id).status == "cancelled"
