"""What a stream loses reaches the client through a running gateway, and no SDK notices how.

The gateway's upstream replays the vectors. A socket sees every byte that a client gets: the comment
just before the event that ends the stream, and the trailer. The SDKs get the same events and answers
as from the same stream without the comment. `../node/test_losses.mjs` reads the trailers with the
HTTP clients of Node, over HTTP/1.1 and HTTP/2.
"""

import json
import re
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlparse

import pytest

from e2e.gateway import Gateway
from e2e.settings import PROTOCOLS
from e2e.streams import sdk_recorder
from e2e.streams.replay_server import ReplayServer
from e2e.streams.sdk_recorder import REQUESTS, SdkRecorder
from e2e.streams.test_streams import VECTORS, name, protocol

PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}

# How the event begins that ends a stream.
ENDINGS = {
    "chat": ("data: [DONE]", 'data: {"error"'),
    "responses": ("event: error", *(f"event: response.{state}" for state in ("completed", "incomplete", "failed", "cancelled"))),
    "messages": ("event: message_stop", "event: error"),
}

COMMENT = re.compile(rb"^: toolwire-loss (.*)\n", re.MULTILINE)


class ReplayUpstream:
    """An upstream of every protocol that answers each request with `stream`."""

    def __init__(self):
        upstream = self
        self.stream = b""

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(upstream.stream)))
                self.end_headers()
                self.wfile.write(upstream.stream)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class GatewayAsReplay:
    """The gateway in the place of a replay server: its streams are the upstream's."""

    def __init__(self, url):
        self.url = url

    def headers(self, _stream, _chunk_size):
        return {}


@pytest.fixture(scope="module")
def replay():
    server = ReplayUpstream()
    yield server
    server.close()


@pytest.fixture(scope="module")
def gateway(replay):
    process = Gateway(replay, "[retry]\nstatuses = []\neject_after = 1000000\n")
    yield process
    process.close()


@pytest.fixture(scope="module")
def recorders(gateway):
    """The SDKs behind the gateway, and behind a server that replays bytes."""
    server = ReplayServer()
    behind_gateway = SdkRecorder(GatewayAsReplay(gateway.url))
    behind_gateway.openai = behind_gateway.openai.with_options(base_url=f"{gateway.url}/v1")
    yield behind_gateway, SdkRecorder(server)
    server.close()


# The Python helper warns about shapes that only some vendors write.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("path", VECTORS, ids=name)
def test_the_client_is_told_and_the_sdk_does_not_notice(path, replay, gateway, recorders, monkeypatch):
    source, replay.stream = protocol(path), path.read_bytes()
    requests = {to: {**request, "model": f"{source}/m"} for to, request in REQUESTS.items()}
    # A stored answer has an id and a time of the gateway's own, so that no two are alike.
    requests["responses"]["store"] = False
    monkeypatch.setattr(sdk_recorder, "REQUESTS", requests)
    for to in PROTOCOLS:
        head, body, trailers = post(gateway.url, to, {**requests[to], "stream": True})
        if not head.startswith("HTTP/1.1 200 "):
            # An error as the first event is a plain HTTP error.
            assert "error" in body.decode(), (to, head, body)
            continue
        comments = COMMENT.findall(body)
        assert len(comments) <= (to != source), (to, comments)
        assert "trailer: toolwire-loss" in head.lower(), (to, head)
        assert trailers == [f"toolwire-loss: {comment.decode()}" for comment in comments], to
        if not comments:
            continue
        before, _, behind = COMMENT.split(body)
        assert before.endswith(b"\n\n"), to
        assert behind.decode().startswith(ENDINGS[to]), (to, behind[:80])
        assert comments[0].endswith(b";side=response") or b"code=more" in comments[0], (to, comments)
        behind_gateway, replaying = recorders
        for record in (SdkRecorder.iterate, SdkRecorder.use_helper):
            given, expected = record(behind_gateway, to, b"", 0), record(replaying, to, before + behind, 61)
            assert shown(given) == shown(expected), to


def test_many_vectors_lose_something(replay, gateway):
    """The test above would also pass if nothing was ever reported."""
    lossy = 0
    for path in VECTORS:
        replay.stream = path.read_bytes()
        for to in PROTOCOLS:
            _, body, _ = post(gateway.url, to, {**REQUESTS[to], "model": f"{protocol(path)}/m", "stream": True})
            lossy += bool(COMMENT.search(body))
    assert lossy > 100


def post(url, to, request):
    """Sends a request over a socket, and returns the head, the body and the trailers of the response."""
    address, body = urlparse(url), json.dumps(request).encode()
    head = [
        f"POST {PATHS[to]} HTTP/1.1",
        f"host: {address.netloc}",
        "authorization: Bearer k",
        "content-type: application/json",
        "connection: close, te",
        "te: trailers",
        f"content-length: {len(body)}",
    ]
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode() + body)
        received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    head, _, rest = received.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return head.decode(), rest, []
    body = b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        if not int(size, 16):
            break
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    assert rest.endswith(b"\r\n")
    return head.decode(), body, [line for line in rest.decode().split("\r\n") if line]


def shown(recording):
    """What an SDK gave, in a form that can be compared: without the time at which it was made."""
    events = [event.to_dict(mode="json", warnings=False) if hasattr(event, "to_dict") else repr(event) for event in recording.events]
    answer = recording.answer and recording.answer.to_dict(mode="json", warnings=False)
    return timeless(events), timeless(answer), recording.error and (type(recording.error), recording.error.message)


def timeless(value):
    """A document whose times are all the same."""
    if isinstance(value, list):
        return [timeless(item) for item in value]
    if not isinstance(value, dict):
        return value
    times = ("created", "created_at", "completed_at")
    return {key: item is not None if key in times else timeless(item) for key, item in value.items()}
