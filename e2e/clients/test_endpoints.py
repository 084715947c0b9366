"""The other endpoints that SDKs use, models and token counts, and requests that a client gives up on."""

import anthropic
import openai
import pytest

from e2e.settings import PROTOCOLS

MODELS = {f"{protocol}-model" for protocol in PROTOCOLS}
TOOL = {"name": "weather", "description": "The weather of a city.", "input_schema": {"type": "object"}}


@pytest.fixture(scope="module")
def openai_client(gateway):
    return openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="client-key", max_retries=0)


@pytest.fixture(scope="module")
def anthropic_client(gateway):
    return anthropic.Anthropic(base_url=gateway.url, api_key="client-key", max_retries=0)


def test_openai_lists_the_models(openai_client):
    page = openai_client.models.list()
    assert {model.id for model in page} == MODELS
    assert {model.object for model in page} == {"model"}


def test_anthropic_lists_the_models(anthropic_client):
    page = anthropic_client.models.list()
    assert {model.id for model in page} == MODELS
    assert {model.type for model in page} == {"model"}


def test_both_retrieve_one_model(openai_client, anthropic_client):
    assert openai_client.models.retrieve("chat-model").id == "chat-model"
    assert anthropic_client.models.retrieve("chat-model").id == "chat-model"


@pytest.mark.parametrize("upstream_protocol", PROTOCOLS)
def test_anthropic_counts_tokens(upstream_protocol, anthropic_client):
    messages = [{"role": "user", "content": "word " * 100}]
    model = f"{upstream_protocol}/m"
    counted = anthropic_client.messages.count_tokens(model=model, messages=messages, tools=[TOOL]).input_tokens
    # The upstream's own count if it has such an endpoint, or an estimate that errs on the high side.
    # The first tool alone counts some hundred tokens, because vendors add a prompt about tools.
    assert counted == 42 if upstream_protocol == "messages" else 450 < counted < 800


@pytest.mark.parametrize("upstream_protocol", PROTOCOLS)
def test_openai_counts_tokens(upstream_protocol, openai_client):
    counted = openai_client.responses.input_tokens.count(model=f"{upstream_protocol}/m", input="word " * 100).input_tokens
    assert counted == 43 if upstream_protocol == "responses" else 100 < counted < 400


@pytest.mark.parametrize("upstream_protocol", PROTOCOLS)
@pytest.mark.parametrize("client", PROTOCOLS)
def test_a_client_timeout_closes_the_upstream_connection(client, upstream_protocol, upstream, openai_client, anthropic_client):
    model = f"given-up-{client}-{upstream_protocol}"
    upstream.set_script(model, [{"text": "Late.", "delay": 30}])
    name, messages = f"{upstream_protocol}/{model}", [{"role": "user", "content": "Hello."}]
    with pytest.raises((openai.APITimeoutError, anthropic.APITimeoutError)):
        if client == "chat":
            openai_client.chat.completions.create(model=name, messages=messages, timeout=0.3)
        elif client == "responses":
            openai_client.responses.create(model=name, input=messages, timeout=0.3)
        else:
            anthropic_client.messages.create(model=name, messages=messages, max_tokens=9, timeout=0.3)
    assert upstream.requests(model)[0].closed.wait(timeout=1)


def test_an_unknown_model_is_not_found(openai_client, anthropic_client):
    with pytest.raises(openai.NotFoundError, match="nobody-serves-this"):
        openai_client.chat.completions.create(model="nobody-serves-this", messages=[{"role": "user", "content": "Hi."}])
    with pytest.raises(openai.NotFoundError, match="nobody-serves-this"):
        openai_client.responses.create(model="nobody-serves-this", input="Hi.")
    with pytest.raises(anthropic.NotFoundError, match="nobody-serves-this"):
        messages = [{"role": "user", "content": "Hi."}]
        anthropic_client.messages.create(model="nobody-serves-this", messages=messages, max_tokens=9)
