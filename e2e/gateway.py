"""A gateway process in front of the scripted upstream."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from e2e.processes import stop
from e2e.settings import BINARY, OFFLINE, PROTOCOLS

# Without the demo model. The scripted upstream serves every model `protocol/model`.
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
models = ["{protocol}-model", "{protocol}-*"]
{settings}
"""


class Gateway:
    """A gateway process on a free port, from its first line of output to `close`.

    `settings` is TOML for the top of the configuration; `upstream_settings` is added to each upstream.
    """

    def __init__(self, upstream, settings="", upstream_settings=""):
        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        upstreams = [UPSTREAM.format(protocol=protocol, url=upstream.url, settings=upstream_settings) for protocol in PROTOCOLS]
        config = folder / "toolwire.toml"
        config.write_text(CONFIG.format(settings=settings, upstreams="".join(upstreams)))
        self.log_path = folder / "log"
        command = [BINARY, "serve", "--config", str(config), "--listen", "127.0.0.1:0"]
        # What is stored without a setting is stored in the user's state folder.
        state = {"XDG_STATE_HOME": str(folder)}
        environment = {**os.environ, **OFFLINE, **state, "TOOLWIRE_E2E_KEY": "upstream-key-0123456789"}
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment, text=True)
        first = self.process.stdout.readline()
        match = re.search(r"http://\S+", first)
        if not match:
            self.close()
            raise RuntimeError(f"the gateway did not start: {first!r}")
        self.url = match[0]

    @property
    def log(self):
        """What the gateway has written to standard error."""
        return self.log_path.read_text()

    def close(self):
        stop(self.process)
        self.folder.cleanup()
