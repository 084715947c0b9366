"""A gateway process in front of the scripted upstream."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
BINARY = os.environ.get("TOOLWIRE_BIN", str(ROOT / "target/debug/toolwire"))
PROTOCOLS = ["chat", "responses", "messages"]

# The demo model stays out of it; every model of a name `protocol/model` is the scripted one.
CONFIG = """
log = "json"
{settings}
{upstreams}
"""
UPSTREAM = """
[[upstream]]
name = "{protocol}"
protocol = "{protocol}"
base_url = "{url}"
key = {{ env = "TOOLWIRE_E2E_KEY" }}
models = ["{protocol}-*"]
{more}
"""

# Keeps a client from reaching anything but this machine.
OFFLINE = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost",
    "no_proxy": "127.0.0.1,localhost",
}


class Gateway:
    """The process, from its first line to `close`.

    `settings` is TOML that goes to the top of the configuration, `more` goes to each upstream.
    """

    def __init__(self, upstream, settings="", more=""):
        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        upstreams = [UPSTREAM.format(protocol=protocol, url=upstream.url, more=more) for protocol in PROTOCOLS]
        config = folder / "toolwire.toml"
        config.write_text(CONFIG.format(settings=settings, upstreams="".join(upstreams)))
        self.log_path = folder / "log"
        line = [BINARY, "serve", "--config", str(config), "--listen", "127.0.0.1:0"]
        environment = {**os.environ, **OFFLINE, "TOOLWIRE_E2E_KEY": "upstream-key-0123456789"}
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=log, env=environment, text=True)
        first = self.process.stdout.readline()
        found = re.search(r"http://\S+", first)
        if not found:
            self.close()
            raise RuntimeError(f"the gateway did not start: {first!r}")
        self.url = found[0]

    @property
    def log(self):
        """What it has written to standard error."""
        return self.log_path.read_text()

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()
