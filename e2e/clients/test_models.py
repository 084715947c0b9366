"""The list of models through both SDKs: what upstreams list for patterns, page by page."""

import json
import os
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai
import pytest

from e2e.settings import BINARY, OFFLINE

KEY = "upstream-key-0123456789"
OPENAI_LIST = [{"id": f"vendor/m-{n}", "object": "model", "created": 1_700_000_000 + n, "owned_by": "v"} for n in range(45)]
ANTHROPIC_LIST = [
    {"type": "model", "id": f"claude-test-{n}", "display_name": f"Claude Test {n}", "created_at": "2026-01-02T03:04:05Z",
     "max_tokens": 64_000, "max_input_tokens": 200_000}
    for n in range(30)
]
CONFIG = """
[[upstream]]
name = "chat"
protocol = "chat"
base_url = "{url}/openai"
key = {{ env = "TOOLWIRE_E2E_KEY" }}
models = ["own", "vendor/*"]

[[upstream]]
name = "messages"
protocol = "messages"
base_url = "{url}/anthropic"
key = {{ env = "TOOLWIRE_E2E_KEY" }}
models = ["claude-*"]

[alias]
fast = "claude-test-7"
"""
EXPECTED = ["own", "fast", *(model["id"] for model in OPENAI_LIST), *(model["id"] for model in ANTHROPIC_LIST)]


class _Vendors(BaseHTTPRequestHandler):
    """Both vendors' lists. Anthropic's comes in pages of ten, whatever the limit."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/openai/v1/models" and self.headers["authorization"] == f"Bearer {KEY}":
            return self.send({"object": "list", "data": OPENAI_LIST})
        if path == "/anthropic/v1/models" and self.headers["x-api-key"] == KEY:
            after = re.search(r"after_id=claude-test-(\d+)", query)
            start = int(after[1]) + 1 if after else 0
            page = ANTHROPIC_LIST[start : start + 10]
            has_more = start + 10 < len(ANTHROPIC_LIST)
            return self.send({"data": page, "has_more": has_more, "first_id": page[0]["id"], "last_id": page[-1]["id"]})
        return self.send({"error": {"message": "No.", "type": "authentication_error"}}, 401)

    def send(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    vendors = ThreadingHTTPServer(("127.0.0.1", 0), _Vendors)
    threading.Thread(target=vendors.serve_forever, daemon=True).start()
    folder = tmp_path_factory.mktemp("models")
    config = folder / "toolwire.toml"
    config.write_text(CONFIG.format(url=f"http://127.0.0.1:{vendors.server_port}"))
    environment = {**os.environ, **OFFLINE, "XDG_STATE_HOME": str(folder), "TOOLWIRE_E2E_KEY": KEY}
    command = [BINARY, "serve", "--config", str(config), "--listen", "127.0.0.1:0"]
    gateway = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    yield re.search(r"http://\S+", gateway.stdout.readline())[0]
    gateway.terminate()
    gateway.wait(timeout=10)
    vendors.shutdown()


@pytest.fixture(scope="module")
def openai_client(url):
    return openai.OpenAI(base_url=f"{url}/v1", api_key="client-key", max_retries=0)


@pytest.fixture(scope="module")
def anthropic_client(url):
    return anthropic.Anthropic(base_url=url, api_key="client-key", max_retries=0)


def test_openai_gets_one_page_with_everything(openai_client):
    models = list(openai_client.models.list())
    assert [model.id for model in models] == EXPECTED
    assert all(model.created > 1_600_000_000 for model in models)
    assert {model.id: model.owned_by for model in models}["vendor/m-3"] == "chat"


def test_anthropic_pages_forward_by_itself(anthropic_client):
    first = anthropic_client.models.list()
    assert (len(first.data), first.has_more) == (20, True)
    assert [model.id for model in first] == EXPECTED
    assert [model.id for model in anthropic_client.models.list(limit=7)] == EXPECTED
    assert [model.id for model in anthropic_client.models.list(limit=1000).data] == EXPECTED


def test_anthropic_pages_backward_by_itself(anthropic_client):
    last = EXPECTED[-1]
    backward = list(anthropic_client.models.list(before_id=last, limit=10))
    assert sorted(model.id for model in backward) == sorted(EXPECTED[:-1])


def test_anthropic_gets_what_the_upstream_says(anthropic_client):
    model = anthropic_client.models.retrieve("fast")
    assert (model.id, model.display_name, model.lifecycle) == ("fast", "Claude Test 7", "active")
    assert (model.max_tokens, model.max_input_tokens) == (64_000, 200_000)
    assert model.created_at.isoformat() == "2026-01-02T03:04:05+00:00"


def test_a_model_that_nobody_has_is_not_found(openai_client, anthropic_client):
    assert openai_client.models.retrieve("vendor/m-3").id == "vendor/m-3"
    for missing in ["vendor/m-99", "claude-test-99", "nobody"]:
        with pytest.raises(openai.NotFoundError):
            openai_client.models.retrieve(missing)
        with pytest.raises(anthropic.NotFoundError):
            anthropic_client.models.retrieve(missing)
    with pytest.raises(anthropic.BadRequestError, match="limit"):
        anthropic_client.models.list(limit=2000)
