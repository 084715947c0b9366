"""A local server that answers every request with a stream from memory.

The SDKs speak real HTTP to it, so their own connection, framing and parsing run. Which stream a
request gets, and how small the pieces are in which it comes, is said in the request's headers.
"""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Replay:
    """The server, and the streams it has been given."""

    def __init__(self):
        self.streams = []
        handler = type("Handler", (_Handler,), {"streams": self.streams})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def headers(self, stream, piece):
        """The headers that ask for `stream` in pieces of so many bytes."""
        self.streams.append(stream)
        return {"x-stream": str(len(self.streams) - 1), "x-piece": str(piece)}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        stream, piece = self.streams[int(self.headers["x-stream"])], int(self.headers["x-piece"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        # One chunk of the transfer encoding for each piece: the SDKs' HTTP clients hand them over
        # one by one, however the kernel joins them.
        pieces = [stream[at : at + piece] for at in range(0, len(stream), piece)]
        self.wfile.write(b"".join(b"%x\r\n%b\r\n" % (len(bytes), bytes) for bytes in [*pieces, b""]))

    def log_message(self, *_):
        pass
