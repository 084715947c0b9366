"""A server that plays a model in all three protocols, following a script.

It answers unary and streamed requests, validates what it receives as strictly as the vendors do
(`strict_validation/`; an invalid request gets the vendor's 400, which names the field), and
records every request.

    upstream = ScriptedUpstream()                   # listens on upstream.url until upstream.close()
    upstream.set_script("m17", [turn, turn, ...])   # what the model called m17 answers
    ... a client asks the gateway for "chat/m17", "responses/m17" or "messages/m17" ...
    upstream.requests("m17")                        # every Request to that model, in order

Each test uses a model of its own, so tests can run side by side. `e2e/conftest.py` has the
fixtures: `upstream`, and `gateway`, whose `.url` is a gateway with three upstreams called `chat`,
`responses` and `messages`. All three are this server.

A turn is a dict of plain JSON values, all of them optional:

    text        the text of the answer
    reasoning   {"text": ..., "seal": ...}: a thinking block with that signature, a reasoning item
                with that encrypted content, or `reasoning_content` in Chat, which has no seal
    calls       [{"name": ..., "args": ..., "id": ...}]: args is an object, or text that is sent
                unchanged. An id is generated if there is none. "input" in place of args is the
                text of a freeform tool. If the tool was declared as a function, the text is
                wrapped as {"input": ...}
    stop        "length" or "refusal", if it does not follow from the calls
    usage       {"input": 12, "cached": 0, "output": 7, "reasoning": 0}; input includes cached
    error       a kind of error (`answers/errors.py`): the answer is that error as the vendor writes
                it. {"kind": ..., "headers": {...}, "message": ...} sets more
    after       with `error` or `cut`: how many events of the stream are sent first
    cut         true: the connection closes after `after` events, without any end marker
    delay       seconds before the answer, and before each event of a stream
    chunk_size  characters in each delta of a stream; the default is 7
    when        how many results a request must hold to get this turn. The default is the number
                of calls in the turns before

The number of tool results in a request decides which turn answers it, so a client that sends the
same request twice gets the same answer twice. A turn can also be a function that takes the Request
and returns a turn. `set_script(..., no_tools_turn=turn)` answers every request that declares no
tools, such as an agent's request for a title. A request for which there is no turn gets a 400.

`set_script(..., dialect="hermes")` makes it a model that only writes text (`text_only/`): it rejects
every trace of tools in a request, and says its calls and its reasoning as text. Its turns may have
two more members:

    text_after  what it says behind its calls
    cut_text    how many characters are missing at the end of all that it says

Beyond the vendors' rules: reasoning that was sent with a seal must come back byte for byte if it
comes back, and the script's own reasoning is the only reasoning that is accepted.

Tests that are not in Python use HTTP: POST /control/script {"model", "turns", "no_tools_turn",
"dialect"} and GET /control/requests?model=m, which returns a list of `Request.as_json`. `controls` maps further
paths below /control/ to functions, which take the posted document and return the response.
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

from e2e.scripted_upstream import strict_validation, text_only
from e2e.scripted_upstream.answers import encoder_for
from e2e.scripted_upstream.answers.errors import HEADERS, error_document
from e2e.scripted_upstream.request_view import request_view, turn_texts

PATHS = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}


@dataclass
class Request:
    """One request, exactly as it was received."""

    protocol: str
    model: str
    headers: dict[str, str]
    raw: bytes
    body: dict[str, Any]
    # The dialect of a model that only reads and writes text.
    dialect: Any = None
    # Why the request was rejected: the message of the 400.
    rejection: str | None = None
    # Set if the peer closes the connection before the whole answer is sent.
    closed: threading.Event = field(default_factory=threading.Event)
    # Set when the answer has ended, complete or not.
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def view(self):
        """The content of the request, independent of its protocol: see `request_view.py`."""
        view = request_view(self.protocol, self.body)
        if self.dialect is None:
            return view
        return text_only.text_view(view, turn_texts(self.protocol, self.body), self.dialect)

    def as_json(self):
        received = {"protocol": self.protocol, "model": self.model, "headers": self.headers, "body": self.body}
        state = {"rejection": self.rejection, "closed": self.closed.is_set(), "done": self.done.is_set()}
        return {**received, **state, "view": self.view}


@dataclass
class Script:
    """The turns of one model, and the requests it has received."""

    turns: list[Any]
    no_tools_turn: Any = None
    dialect: Any = None
    requests: list[Request] = field(default_factory=list)

    def turn(self, request):
        """The turn for a request as the model says it, and its number."""
        turn, number = self.scripted_turn(request)
        if self.dialect is not None:
            turn = text_only.spoken_turn(turn, self.dialect, request.view["tools"])
        return turn, number

    def scripted_turn(self, request):
        if self.no_tools_turn is not None and not request.view["tools"]:
            return _resolve(self.no_tools_turn, request), len(self.turns)
        results, calls = len(request.view["results"]), 0
        for number, turn in enumerate(self.turns):
            turn = _resolve(turn, request)
            if turn.get("when", calls) == results:
                return turn, number
            calls += len(turn.get("calls", ()))
        raise strict_validation.RequestRejected("messages", f"the script has no turn after {results} results")

    @property
    def reasoning(self):
        """All the reasoning in the script's turns that may come back. What was said as text may not."""
        if self.dialect is not None:
            return []
        return [turn["reasoning"] for turn in self.turns if isinstance(turn, dict) and "reasoning" in turn]


class ScriptedUpstream:
    """The server, in a thread of this process."""

    def __init__(self):
        self.scripts = {}
        self.controls = {"script": self.set_script_from_json}
        handler = type("Handler", (_Handler,), {"upstream": self})
        self.server = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def set_script(self, model, turns, no_tools_turn=None, dialect=None):
        """Replaces the script of a model, and forgets the requests it has received."""
        self.scripts[model] = Script(list(turns), no_tools_turn, dialect and text_only.DIALECTS[dialect])

    def set_script_from_json(self, document):
        self.set_script(document["model"], document["turns"], document.get("no_tools_turn"), document.get("dialect"))
        return {}

    def requests(self, model):
        """The requests to a model, in order."""
        return self.scripts[model].requests

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        # Some tests disconnect on purpose.
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
            return self.send_vendor_error(protocol, {"kind": "not_found", "message": f"no script for {request.model!r}"})
        request.dialect = script.dialect
        script.requests.append(request)
        try:
            strict_validation.validate(request, script.reasoning)
            if script.dialect is not None:
                text_only.validate(body)
            turn, number = script.turn(request)
        except strict_validation.RequestRejected as rejected:
            request.rejection = str(rejected)
            request.done.set()
            return self.send_vendor_error(protocol, {"kind": "invalid", "message": str(rejected), "param": rejected.param})
        try:
            self.send_turn(request, turn, encoder_for(request, turn, number))
        except OSError:
            request.closed.set()
            raise
        finally:
            request.done.set()

    def send_turn(self, request, turn, encoder):
        self.pause(request, turn.get("delay", 0))
        failing = "error" in turn or turn.get("cut")
        if "error" in turn and "after" not in turn:
            return self.send_vendor_error(request.protocol, turn["error"])
        if not request.body.get("stream"):
            if failing:
                # A unary answer has no half: the connection closes before it.
                self.close_connection = True
                return None
            return self.send(200, encoder.body(), HEADERS[request.protocol])
        self.begin_stream(request.protocol)
        events = encoder.events()
        for event in events[: turn.get("after", 0)] if failing else events:
            self.pause(request, turn.get("delay", 0))
            self.send_chunk(event)
        if turn.get("cut"):
            self.close_connection = True
            return None
        if "error" in turn:
            self.send_chunk(encoder.error_event(turn["error"]))
        self.wfile.write(b"0\r\n\r\n")
        return None

    def pause(self, request, seconds):
        """Waits, and raises if the peer closes the connection."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            readable, _, _ = select.select([self.connection], [], [], left)
            if readable and self.connection.recv(1, socket.MSG_PEEK) == b"":
                raise ConnectionResetError("the peer closed the connection")

    def begin_stream(self, protocol):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        for name, value in HEADERS[protocol].items():
            self.send_header(name, value)
        self.end_headers()

    def send_chunk(self, data):
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def send_vendor_error(self, protocol, error):
        status, headers, document = error_document(protocol, error)
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


def _resolve(turn, request):
    return turn(request) if callable(turn) else turn
