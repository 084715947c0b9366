"""The endpoints that pass as they are, with the vendors' SDKs: every method of the SDK gets what the vendor sends, and
the vendor gets what the SDK sends, with the operator's key in place of the client's."""

import io
import json

import anthropic
import openai
import pytest

from e2e.gateway import Gateway
from e2e.scripted_upstream.other_endpoints import ANSWERS, AUDIO, BATCH_RESULT, OtherEndpoints

KEYS = 'keys = [{ env = "TOOLWIRE_E2E_KEY" }]'
KEY = "upstream-key-0123456789"


@pytest.fixture(scope="module")
def vendor():
    server = OtherEndpoints()
    yield server
    server.close()


@pytest.fixture(scope="module")
def passing(vendor):
    process = Gateway(vendor)
    yield process
    process.close()


@pytest.fixture(scope="module")
def openai_client(passing):
    return openai.OpenAI(base_url=f"{passing.url}/v1", api_key="client-key", max_retries=0)


@pytest.fixture(scope="module")
def anthropic_client(passing):
    return anthropic.Anthropic(base_url=passing.url, api_key="client-key", max_retries=0)


def last(vendor, method, path):
    """The last request, which went to this path with the operator's key alone."""
    request = vendor.received[-1]
    assert (request.method, request.path.split("?")[0]) == (method, path)
    keys = [request.headers.get(name, "") for name in ("authorization", "x-api-key")]
    assert [key.removeprefix("Bearer ") for key in keys if key] == [KEY]
    assert "client-key" not in str(request.headers)
    return request


def test_embeddings(openai_client, vendor):
    found = openai_client.embeddings.create(model="chat-embed", input=["a", "b"], encoding_format="float")
    assert found.data[0].embedding == [0.5, -1.0]
    assert json.loads(last(vendor, "POST", "/v1/embeddings").body)["model"] == "chat-embed"
    openai_client.embeddings.create(model="chat/embed", input="a" * 2_000_000, encoding_format="float")
    assert json.loads(last(vendor, "POST", "/v1/embeddings").body)["model"] == "embed"


def test_completions(openai_client, vendor):
    assert openai_client.completions.create(model="chat-m", prompt="Hi").choices[0].text == "Hi"
    stream = openai_client.completions.create(model="chat-m", prompt="Hi", stream=True)
    assert "".join(event.choices[0].text for event in stream) == "Hi"
    assert json.loads(last(vendor, "POST", "/v1/completions").body)["stream"]


def test_a_cut_stream_looks_cut(openai_client):
    texts = []
    with pytest.raises(openai.APIConnectionError):
        for event in openai_client.completions.create(model="chat-m", prompt="cut", stream=True):
            texts.append(event.choices[0].text)
    assert texts == ["H", "i"]


def test_images(openai_client, vendor):
    assert openai_client.images.generate(model="chat-image", prompt="a cat").data[0].b64_json == "aW1hZ2U="
    image = ("a.png", b"\x89PNG\r\n\x00\xff" * 300_000, "image/png")
    assert openai_client.images.edit(model="chat/image", image=image, prompt="a dog").data[0].b64_json == "aW1hZ2U="
    form = last(vendor, "POST", "/v1/images/edits").form()
    assert (form["model"], form["prompt"], form["image"]) == (b"image", b"a dog", image[1])


def test_audio(openai_client, vendor):
    with openai_client.audio.speech.with_streaming_response.create(model="chat-tts", voice="alloy", input="Hi") as speech:
        assert b"".join(speech.iter_bytes()) == AUDIO
    last(vendor, "POST", "/v1/audio/speech")
    sound = bytes(range(256)) * 12_000
    text = openai_client.audio.transcriptions.create(model="chat-whisper", file=("a.mp3", io.BytesIO(sound)))
    assert text.text == "Hello."
    form = last(vendor, "POST", "/v1/audio/transcriptions").form()
    assert (form["model"], form["file"]) == (b"chat-whisper", sound)


def test_moderations(openai_client, vendor):
    assert not openai_client.moderations.create(input="Hi").results[0].flagged
    last(vendor, "POST", "/v1/moderations")


def test_files(openai_client, vendor):
    content = b"\x00\r\n--" * 800_000
    assert openai_client.files.create(file=("a.bin", content), purpose="batch").id == "file-1"
    assert last(vendor, "POST", "/v1/files").form()["file"] == content
    assert [file.id for file in openai_client.files.list(limit=7)] == ["file-1"]
    assert last(vendor, "GET", "/v1/files").path == "/v1/files?limit=7"
    assert openai_client.files.retrieve("file-1").filename == "a.txt"
    assert openai_client.files.content("file-1").read() == b"abc"
    assert openai_client.files.delete("file-1").deleted


def test_batches(openai_client, vendor):
    batch = openai_client.batches.create(input_file_id="file-1", endpoint="/v1/embeddings", completion_window="24h")
    assert batch.id == "batch_1"
    assert [batch.id for batch in openai_client.batches.list()] == ["batch_1"]
    assert openai_client.batches.retrieve("batch_1").status == "in_progress"
    assert openai_client.batches.cancel("batch_1").id == "batch_1"
    last(vendor, "POST", "/v1/batches/batch_1/cancel")


def test_compacted_responses(openai_client, vendor):
    assert openai_client.responses.compact(model="responses-m", input="Hi").object == "response.compaction"
    last(vendor, "POST", "/v1/responses/compact")


def test_rerank(openai_client, vendor):
    """No SDK of the vendor has it, but servers such as vLLM do."""
    body = {"model": "chat-rerank", "query": "a", "documents": ["b", "c"]}
    assert openai_client.post("/rerank", cast_to=object, body=body) == ANSWERS["POST /v1/rerank"]
    last(vendor, "POST", "/v1/rerank")


def test_message_batches(anthropic_client, vendor):
    batches = anthropic_client.messages.batches
    params = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    assert batches.create(requests=[{"custom_id": "a", "params": params}]).id == "msgbatch_1"
    assert last(vendor, "POST", "/v1/messages/batches").headers["anthropic-version"]
    assert [batch.id for batch in batches.list()] == ["msgbatch_1"]
    assert batches.retrieve("msgbatch_1").processing_status == "ended"
    assert batches.cancel("msgbatch_1").id == "msgbatch_1"
    assert batches.delete("msgbatch_1").id == "msgbatch_1"


def test_results_of_a_message_batch(anthropic_client):
    response = anthropic_client.get("/v1/messages/batches/msgbatch_1/results", cast_to=bytes, options={"headers": {"accept": "application/binary"}})
    assert json.loads(response) == BATCH_RESULT


def test_anthropic_files(anthropic_client, vendor):
    uploaded = anthropic_client.beta.files.upload(file=("a.txt", b"abc", "text/plain"), betas=["files-api-2025-04-14"])
    assert uploaded.id == "file_1"
    request = last(vendor, "POST", "/v1/files")
    assert request.form()["file"] == b"abc" and "files-api" in request.headers["anthropic-beta"]
    assert [file.id for file in anthropic_client.beta.files.list()] == ["file_1"]
    assert anthropic_client.beta.files.download("file_1").read() == b"abc"
    assert anthropic_client.beta.files.delete("file_1").id == "file_1"


def test_an_error_is_the_vendors_own(openai_client):
    with pytest.raises(openai.NotFoundError, match="no GET /v1/files/file-2"):
        openai_client.files.retrieve("file-2")


def test_the_gateways_own_key_stays_with_the_gateway(vendor):
    gateway = Gateway(vendor, settings=KEYS)
    try:
        with pytest.raises(openai.AuthenticationError):
            openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="wrong", max_retries=0).files.list()
        client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=KEY, max_retries=0)
        assert [file.id for file in client.files.list()] == ["file-1"]
    finally:
        gateway.close()


def test_the_log_has_the_path_and_no_id(passing, openai_client):
    openai_client.files.retrieve("file-1")
    lines = [json.loads(line) for line in passing.log.splitlines() if line.startswith("{")]
    assert {"/v1/files/{}", "/v1/audio/{}", "/v1/embeddings"} <= {line["path"] for line in lines}
    assert "file-1" not in passing.log and KEY not in passing.log
