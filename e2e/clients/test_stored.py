"""The OpenAI SDK with a server that remembers, over upstreams that do not: threads by `previous_response_id`, stored
responses, conversations."""

import openai
import pytest

from e2e.gateway import Gateway

UPSTREAMS = ("chat", "messages")
TOOL = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
    "strict": True,
}
CITIES = ("Paris", "Oslo", "Rome", "Bern")


@pytest.fixture(scope="module")
def gateways(upstream, tmp_path_factory):
    """Two gateways that share one store."""
    path = tmp_path_factory.mktemp("store") / "toolwire.db"
    settings = f'[store]\nengine = "sqlite"\npath = "{path}"\n'
    running = [Gateway(upstream, settings=settings) for _ in range(2)]
    yield [openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="client-key", max_retries=0) for gateway in running]
    for gateway in running:
        gateway.close()


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
    name = f"stored-{protocol}-{streamed}"
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
    name = f"kept-{protocol}"
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
    name = f"conversation-{protocol}"
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
