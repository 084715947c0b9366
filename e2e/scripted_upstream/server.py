"""A scripted upstream: a server that plays a model in all three protocols.

It answers unary and streamed requests, checks what it receives as strictly as the vendors do
(`strict_validation.py`; a wrong request gets the vendor's 400, naming the field), and records everything.

    upstream = Upstream()                          # listens on upstream.url; .close() ends it
    upstream.play("m17", [turn, turn, ...])        # what the model called m17 does
    ... a client asks the gateway for "chat/m17", "responses/m17" or "messages/m17" ...
    upstream.requests("m17")                       # every Request that model got, in order

Each test plays a model of its own, so tests may run side by side. `e2e/conftest.py` has the
fixtures: `upstream`, and `gateway`, whose `.url` is a gateway with three upstreams, `chat`,
`responses` and `messages`, all of them this server.

A turn is a dict of plain JSON values, all of them optional:

    text       what the model says
    reasoning  {"text": ..., "seal": ...}: a thinking block with that signature, a reasoning item
               with that encrypted content, `reasoning_content` in Chat. "seal" is left out there
    calls      [{"name": ..., "args": ..., "id": ...}]: args is an object, or text that is sent as
               it is; the id is made up if left out. "input" instead of args is the text of a tool
               that takes any: wrapped as {"input": ...} where the tool came as a function
    stop       "length" or "refusal", if not what follows from the calls
    usage      {"input": 12, "cached": 0, "output": 7, "reasoning": 0}; input includes cached
    error      a kind of error (`answers.ERRORS`): the answer is that error in the vendor's words.
               {"kind": ..., "headers": {...}, "message": ...} says more
    after      with `error`: so many pieces of the stream are sent first. With `cut` too
    cut        true: the connection ends after `after` pieces, without an end of any kind
    delay      seconds before the answer, and before each piece of a stream
    piece      characters in each piece of a stream; 7 if left out
    when       the number of results that the conversation has when this turn is the model's. If
               left out: the number of calls in the turns before

Which turn a request gets is decided by the number of tool results in it, so a client that asks
twice hears the same twice. A turn may also be a function: it takes the Request and returns a
turn. `play(..., aside=turn)` answers requests that declare no tools, such as an agent's request
for a title, whatever else they say. A request that no turn is meant for gets a 400.

What is checked beyond the vendors' rules: reasoning that was sent with a seal and comes back must
come back byte for byte, and reasoning of anyone else must not come at all.

Over HTTP, for tests that are not in Python: POST /control/play {"model", "turns", "aside"} and
GET /control/requests?model=m, which gives a list of what `Request.as_json` says. `controls` has
further paths below /control/, each with a function from the document that is posted to the answer.
"""

import json
import select
import socket
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from e2e.scripted_upstream import answers, strict_validation
from e2e.scripted_upstream.request_view import seen

PATHS = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}


@dataclass
class Request:
    """One request as it came."""

    protocol: str
    model: str
    headers: dict[str, str]
    raw: bytes
    body: dict[str, Any]
    # What was wrong with it, in the words of the answer.
    refused: str | None = None
    # Set when the other side closes the connection before the answer has been sent.
    closed: threading.Event = field(default_factory=threading.Event)
    # Set when the answer has been sent, whole or not.
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def seen(self):
        """What it says, in the words of no protocol: see `request_view.py`."""
        return seen(self.protocol, self.body)

    def as_json(self):
        said = {"protocol": self.protocol, "model": self.model, "headers": self.headers, "body": self.body}
        ended = {"refused": self.refused, "closed": self.closed.is_set(), "done": self.done.is_set()}
        return {**said, **ended, "seen": self.seen}


@dataclass
class Script:
    """What one model does, and what it was asked."""

    turns: list[Any]
    aside: Any = None
    requests: list[Request] = field(default_factory=list)

    def turn(self, request):
        """The turn for a request, and its number."""
        if self.aside is not None and not request.seen["tools"]:
            return _made(self.aside, request), len(self.turns)
        results, calls = len(request.seen["results"]), 0
        for number, turn in enumerate(self.turns):
            turn = _made(turn, request)
            if turn.get("when", calls) == results:
                return turn, number
            calls += len(turn.get("calls", ()))
        raise strict_validation.Refused("messages", f"the script has no turn after {results} results")

    @property
    def reasoning(self):
        """All the reasoning in the script's turns."""
        return [turn["reasoning"] for turn in self.turns if isinstance(turn, dict) and "reasoning" in turn]


class Upstream:
    """The server."""

    def __init__(self):
        self.scripts = {}
        self.controls = {"play": self.play_said}
        handler = type("Handler", (_Handler,), {"upstream": self})
        self.server = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def play(self, model, turns, aside=None):
        """Has a model follow a script from here on; what it was asked before is forgotten."""
        self.scripts[model] = Script(list(turns), aside)

    def play_said(self, said):
        self.play(said["model"], said["turns"], said.get("aside"))
        return {}

    def requests(self, model):
        """What the model was asked, in order."""
        return self.scripts[model].requests

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        # Clients that go away are part of the tests.
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 0
    disable_nagle_algorithm = True

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/control/requests":
            model = parse_qs(url.query)["model"][0]
            return self.send(200, [request.as_json() for request in self.upstream.requests(model)])
        return self.send(404, {"error": {"message": f"nothing at {self.path}", "type": "not_found_error"}})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        path = urlsplit(self.path).path
        if path.startswith("/control/"):
            return self.send(200, self.upstream.controls[path.removeprefix("/control/")](json.loads(raw)))
        if path == "/v1/messages/count_tokens":
            return self.send(200, {"input_tokens": 42})
        if path == "/v1/responses/input_tokens":
            return self.send(200, {"object": "response.input_tokens", "input_tokens": 43})
        if path not in PATHS:
            return self.send(404, {"error": {"message": f"nothing at {path}", "type": "not_found_error"}})
        return self.answer(PATHS[path], raw)

    def answer(self, protocol, raw):
        body = json.loads(raw)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(protocol, body.get("model"), headers, raw, body)
        script = self.upstream.scripts.get(request.model)
        if script is None:
            return self.send_error_of(protocol, {"kind": "not_found", "message": f"no script for {request.model!r}"})
        script.requests.append(request)
        try:
            strict_validation.check(request, script.reasoning)
            turn, number = script.turn(request)
        except strict_validation.Refused as refused:
            request.refused = str(refused)
            request.done.set()
            return self.send_error_of(protocol, {"kind": "invalid", "message": str(refused), "param": refused.param})
        try:
            self.perform(request, turn, answers.Speaker(request, turn, number))
        except OSError:
            request.closed.set()
            raise
        finally:
            request.done.set()

    def perform(self, request, turn, speaker):
        self.pause(request, turn.get("delay", 0))
        failing = "error" in turn or turn.get("cut")
        if "error" in turn and "after" not in turn:
            return self.send_error_of(request.protocol, turn["error"])
        if not request.body.get("stream"):
            if failing:
                # There is no half of a unary answer: the connection ends before it.
                self.close_connection = True
                return None
            return self.send(200, speaker.whole(), answers.HEADERS[request.protocol])
        self.begin_stream(request.protocol)
        frames = speaker.frames()
        for frame in frames[: turn.get("after", 0)] if failing else frames:
            self.pause(request, turn.get("delay", 0))
            self.chunk(frame)
        if turn.get("cut"):
            self.close_connection = True
            return None
        if "error" in turn:
            self.chunk(speaker.failure(turn["error"]))
        self.wfile.write(b"0\r\n\r\n")
        return None

    def pause(self, request, seconds):
        """Waits, unless the other side goes away."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            readable, _, _ = select.select([self.connection], [], [], left)
            if readable and self.connection.recv(1, socket.MSG_PEEK) == b"":
                raise ConnectionResetError("the other side closed the connection")

    def begin_stream(self, protocol):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        for name, value in answers.HEADERS[protocol].items():
            self.send_header(name, value)
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def send_error_of(self, protocol, error):
        status, headers, document = answers.error_document(protocol, error)
        self.send(status, document, headers)

    def send(self, status, document, headers=None):
        data = json.dumps(document, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def _made(turn, request):
    return turn(request) if callable(turn) else turn
