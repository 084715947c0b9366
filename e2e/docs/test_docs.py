"""Every command in the documents works as it stands there."""

import contextlib
import os
import re
import shutil
import subprocess

import pytest

from e2e.settings import BINARY, ROOT

# The files that the documents' commands read, from the vectors.
FILES = {
    "request.json": "vectors/requests/chat-text-beside-calls/in.chat.json",
    "answer.json": "vectors/responses/messages-call/in.messages.json",
    "answer.sse": "vectors/streams/messages-parallel-calls/in.messages.sse",
}

# Commands that are this very test run, or take minutes.
ELSEWHERE = re.compile(r"^(cargo xtask |cargo deny|sudo )")

# A gateway, which serves the commands that follow in its block.
SERVES = re.compile(r"^toolwire( serve .*)?\s*(#.*)?$")

# The agents have tests of their own; here it counts that they are started.
AGENTS = ("claude", "codex")


def blocks():
    for document in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]):
        text = document.read_text()
        for number, block in enumerate(re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M), 1):
            yield pytest.param(block, id=f"{document.name}-{number}")


def commands(block):
    """The commands of a block: quoted text and a pipe at the line's end go on."""
    command = ""
    for line in block.splitlines():
        command += line + "\n"
        if command.count("'") % 2 == 0 and not line.rstrip().endswith(("|", "\\")):
            yield command
            command = ""
    assert not command, f"unfinished: {command}"


@contextlib.contextmanager
def serving(command, **where):
    """Runs a gateway until the end of its block."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        **where,
    )
    try:
        for line in process.stdout:
            if line.startswith("Ctrl-C stops it"):
                break
        else:
            raise AssertionError(f"{command} did not serve")
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("block", list(blocks()))
def test_commands(block, tmp_path):
    for name, source in FILES.items():
        shutil.copy(ROOT / source, tmp_path / name)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/toolwire").symlink_to(BINARY)
    for agent in AGENTS:
        (tmp_path / "bin" / agent).write_text("#!/bin/sh\necho started\n")
        (tmp_path / "bin" / agent).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    where = {"cwd": tmp_path, "env": environment}
    ran = 0
    with contextlib.ExitStack() as gateways:
        for command in commands(block):
            if ELSEWHERE.match(command):
                continue
            command = re.sub(r"cargo run --release( --quiet)?( --)?", "toolwire", command)
            # An answer that is an error is none.
            command = re.sub(r"^curl ", "curl --fail-with-body ", command)
            ran += 1
            if SERVES.match(command):
                gateways.enter_context(serving(command, **where))
                continue
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", command],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
                **where,
            )
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            assert done.stdout, f"{command} printed nothing"
    assert ran, "no command of this block was run"
