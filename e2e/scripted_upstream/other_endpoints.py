"""A server that plays the endpoints of OpenAI and Anthropic that the gateway passes on without translating them:
embeddings, images, audio, files, batches and the like. It records every request and reads bodies with and without a
length."""

import json
import threading
from dataclasses import dataclass
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

AUDIO = bytes(range(256)) * 4096
FILE = {"id": "file-1", "object": "file", "bytes": 3, "created_at": 1, "filename": "a.txt", "purpose": "batch", "status": "processed"}
BATCH = {
    "id": "batch_1", "object": "batch", "endpoint": "/v1/embeddings", "input_file_id": "file-1", "completion_window": "24h",
    "status": "in_progress", "created_at": 1,
}
ANTHROPIC_FILE = {
    "id": "file_1", "type": "file", "filename": "a.txt", "mime_type": "text/plain", "size_bytes": 3,
    "created_at": "2026-11-16T00:00:00Z", "downloadable": True,
}
ANTHROPIC_BATCH = {
    "id": "msgbatch_1", "type": "message_batch", "processing_status": "ended", "archived_at": None, "cancel_initiated_at": None,
    "created_at": "2026-11-16T00:00:00Z", "ended_at": "2026-11-16T00:00:00Z", "expires_at": "2026-11-17T00:00:00Z",
    "results_url": None,
    "request_counts": {"canceled": 0, "errored": 1, "expired": 0, "processing": 0, "succeeded": 0},
}
BATCH_RESULT = {"custom_id": "a", "result": {"type": "canceled"}}
COMPLETION = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [{"index": 0, "text": "Hi", "finish_reason": "stop", "logprobs": None}]}
IMAGES = {"created": 1, "data": [{"b64_json": "aW1hZ2U="}]}

# What is answered at a method and a path: JSON, bytes, or the events of a stream.
ANSWERS = {
    "POST /v1/embeddings": {"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -1.0]}], "usage": {"prompt_tokens": 1, "total_tokens": 1}},
    "POST /v1/completions": COMPLETION,
    "POST /v1/moderations": {"id": "modr-1", "model": "m", "results": [{"flagged": False, "categories": {}, "category_scores": {}, "category_applied_input_types": {}}]},
    "POST /v1/rerank": {"results": [{"index": 1, "relevance_score": 0.9}]},
    "POST /v1/images/generations": IMAGES,
    "POST /v1/images/edits": IMAGES,
    "POST /v1/audio/speech": AUDIO,
    "POST /v1/audio/transcriptions": {"text": "Hello."},
    "POST /v1/responses/compact": {"id": "resp_1", "object": "response.compaction", "created_at": 1, "output": [], "usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}},
    "POST /v1/files": FILE,
    "GET /v1/files": {"object": "list", "data": [FILE], "has_more": False, "first_id": "file-1", "last_id": "file-1"},
    "GET /v1/files/file-1": FILE,
    "GET /v1/files/file-1/content": b"abc",
    "DELETE /v1/files/file-1": {"id": "file-1", "object": "file", "deleted": True},
    "POST /v1/batches": BATCH,
    "GET /v1/batches": {"object": "list", "data": [BATCH], "has_more": False},
    "GET /v1/batches/batch_1": BATCH,
    "POST /v1/batches/batch_1/cancel": BATCH,
    "POST /v1/messages/batches": ANTHROPIC_BATCH,
    "GET /v1/messages/batches": {"data": [ANTHROPIC_BATCH], "has_more": False, "first_id": "msgbatch_1", "last_id": "msgbatch_1"},
    "GET /v1/messages/batches/msgbatch_1": ANTHROPIC_BATCH,
    "POST /v1/messages/batches/msgbatch_1/cancel": ANTHROPIC_BATCH,
    "DELETE /v1/messages/batches/msgbatch_1": {"id": "msgbatch_1", "type": "message_batch_deleted"},
    "GET /v1/messages/batches/msgbatch_1/results": json.dumps(BATCH_RESULT).encode() + b"\n",
}
ANTHROPIC_ANSWERS = {
    "POST /v1/files": ANTHROPIC_FILE,
    "GET /v1/files": {"data": [ANTHROPIC_FILE], "has_more": False, "first_id": "file_1", "last_id": "file_1"},
    "GET /v1/files/file_1/content": b"abc",
    "DELETE /v1/files/file_1": {"id": "file_1", "type": "file_deleted"},
}
STREAM = [f"data: {json.dumps({**COMPLETION, 'choices': [{**COMPLETION['choices'][0], 'text': text}]})}\n\n".encode() for text in ("H", "i")]


@dataclass
class Received:
    """One request, as it was received."""

    method: str
    path: str
    headers: dict
    body: bytes

    def form(self):
        """The fields of a form, files included, as bytes by name."""
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        parts = message_from_bytes(head + self.body).get_payload()
        return {part.get_param("name", header="content-disposition"): part.get_payload(decode=True) for part in parts}


class OtherEndpoints:
    """The server, on a free port until `close`."""

    def __init__(self):
        self.received = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self):
                server.received.append(Received(self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, self.read()))
                request = server.received[-1]
                key = f"{self.command} {self.path.split('?')[0]}"
                answers = {**ANSWERS, **ANTHROPIC_ANSWERS} if "anthropic-version" in request.headers else ANSWERS
                document = answers.get(key)
                if key == "POST /v1/completions" and json.loads(request.body).get("stream"):
                    return self.stream(json.loads(request.body)["prompt"] != "cut")
                if document is None:
                    return self.send(404, "application/json", json.dumps({"error": {"message": f"no {key}", "type": "invalid_request_error"}}).encode())
                if isinstance(document, bytes):
                    return self.send(200, "application/octet-stream", document)
                return self.send(200, "application/json", json.dumps(document).encode())

            do_GET = do_POST = do_DELETE = answer

            def read(self):
                if "chunked" not in self.headers.get("transfer-encoding", ""):
                    return self.rfile.read(int(self.headers.get("content-length", 0)))
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def send(self, status, content_type, body):
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def stream(self, is_whole):
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for event in [*STREAM, *([b"data: [DONE]\n\n"] if is_whole else [])]:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                if is_whole:
                    self.wfile.write(b"0\r\n\r\n")
                self.close_connection = not is_whole

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
