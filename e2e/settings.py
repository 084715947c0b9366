"""Where the checkout and the binary under test are, and what all the tests share."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BINARY = str(Path(os.environ.get("TOOLWIRE_BIN", ROOT / "target/debug/toolwire")).resolve())
PROTOCOLS = ("chat", "responses", "messages")

# Keeps a client from reaching anything but this machine: nothing listens on port 9.
OFFLINE = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost",
    "no_proxy": "127.0.0.1,localhost",
}
