"""What SDKs ask for besides answers: models, token counts; and what becomes of a request that is given up."""

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


def test_the_models_as_openai_lists_them(openai_client):
    page = openai_client.models.list()
    assert {model.id for model in page} == MODELS
    assert {model.object for model in page} == {"model"}


def test_the_models_as_anthropic_lists_them(anthropic_client):
    page = anthropic_client.models.list()
    assert {model.id for model in page} == MODELS
    assert {model.type for model in page} == {"model"}


def test_one_model(openai_client, anthropic_client):
    assert openai_client.models.retrieve("chat-model").id == "chat-model"
    assert anthropic_client.models.retrieve("chat-model").id == "chat-model"


@pytest.mark.parametrize("behind", PROTOCOLS)
def test_anthropic_counts_tokens(behind, anthropic_client):
    asked = {"model": f"{behind}/m", "messages": [{"role": "user", "content": "word " * 100}], "tools": [TOOL]}
    counted = anthropic_client.messages.count_tokens(**asked).input_tokens
    # The upstream's own count where it can count, or else an estimate that errs high. The first tool
    # alone stands for some hundred tokens, because vendors say more to a model that has any.
    assert counted == 42 if behind == "messages" else 450 < counted < 800


@pytest.mark.parametrize("behind", PROTOCOLS)
def test_openai_counts_tokens(behind, openai_client):
    counted = openai_client.responses.input_tokens.count(model=f"{behind}/m", input="word " * 100).input_tokens
    assert counted == 43 if behind == "responses" else 100 < counted < 400


@pytest.mark.parametrize("behind", PROTOCOLS)
@pytest.mark.parametrize("client", PROTOCOLS)
def test_giving_up_on_an_answer_reaches_the_upstream(client, behind, upstream, openai_client, anthropic_client):
    model = f"given-up-{client}-{behind}"
    upstream.play(model, [{"text": "Late.", "delay": 30}])
    asked, user = f"{behind}/{model}", [{"role": "user", "content": "Hello."}]
    with pytest.raises((openai.APITimeoutError, anthropic.APITimeoutError)):
        if client == "chat":
            openai_client.chat.completions.create(model=asked, messages=user, timeout=0.3)
        elif client == "responses":
            openai_client.responses.create(model=asked, input=user, timeout=0.3)
        else:
            anthropic_client.messages.create(model=asked, messages=user, max_tokens=9, timeout=0.3)
    assert upstream.requests(model)[0].closed.wait(timeout=1)


def test_an_unknown_model_is_not_found(openai_client, anthropic_client):
    with pytest.raises(openai.NotFoundError, match="nobody-serves-this"):
        openai_client.chat.completions.create(model="nobody-serves-this", messages=[{"role": "user", "content": "Hi."}])
    with pytest.raises(openai.NotFoundError, match="nobody-serves-this"):
        openai_client.responses.create(model="nobody-serves-this", input="Hi.")
    with pytest.raises(anthropic.NotFoundError, match="nobody-serves-this"):
        asked = [{"role": "user", "content": "Hi."}]
        anthropic_client.messages.create(model="nobody-serves-this", messages=asked, max_tokens=9)
