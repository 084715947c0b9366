"""A local server that answers every request with a stream from memory.

The SDKs use real HTTP, so their own connections, framing and parsing run. The headers of a request
say which stream it gets, and in chunks of how many bytes.
"""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ReplayServer:
    """The server and its streams."""

    def __init__(self):
        self.streams = []
        handler = type("Handler", (_Handler,), {"streams": self.streams})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def headers(self, stream, chunk_size):
        """The headers that ask for `stream` in chunks of `chunk_size` bytes."""
        self.streams.append(stream)
        return {"x-stream": str(len(self.streams) - 1), "x-chunk-size": str(chunk_size)}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        stream, chunk_size = self.streams[int(self.headers["x-stream"])], int(self.headers["x-chunk-size"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        # The SDKs' HTTP clients hand over one chunk of the transfer encoding at a time, however the
        # kernel joins them.
        chunks = [stream[at : at + chunk_size] for at in range(0, len(stream), chunk_size)]
        self.wfile.write(b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in [*chunks, b""]))

    def log_message(self, *_):
        pass
