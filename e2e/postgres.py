"""A Postgres of the test's own, started from the installed package in a temporary folder."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from e2e.processes import stop


def programs():
    """The folder with the programs of the newest installed version, or None."""
    found = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    return max(found, key=lambda path: int(path.parent.name), default=None)


class Postgres:
    """A running server. `url` is the address of an empty database."""

    def __init__(self):
        # Postgres refuses to run as root.
        self.account = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
        self.folder = tempfile.TemporaryDirectory(prefix="toolwire-postgres-", ignore_cleanup_errors=True)
        os.chmod(self.folder.name, 0o777)
        data = f"{self.folder.name}/data"
        self._run("initdb", f"--pgdata={data}", "--username=toolwire", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
        command = [programs() / "postgres", "-D", data, "-k", self.folder.name, "-h", "", "-c", "fsync=off"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.account)
        deadline = time.monotonic() + 20
        while not self._is_ready():
            assert self.process.poll() is None and time.monotonic() < deadline, "Postgres does not start"
            time.sleep(0.05)
        self.url = f"postgresql://toolwire@/postgres?host={self.folder.name}"

    def _is_ready(self):
        command = [programs() / "pg_isready", "--quiet", f"--host={self.folder.name}", "--username=toolwire"]
        return subprocess.run(command, check=False).returncode == 0

    def _run(self, name, *arguments):
        subprocess.run([programs() / name, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=self.folder.name, **self.account)

    def close(self):
        stop(self.process)
        self.folder.cleanup()
