"""Every command in the documents works as it stands there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BINARY = Path(os.environ.get("TOOLWIRE_BIN", ROOT / "target/debug/toolwire")).resolve()

# The files that the documents' commands read, from the vectors.
FILES = {
    "request.json": "vectors/requests/chat-text-beside-calls/in.chat.json",
    "answer.json": "vectors/responses/messages-call/in.messages.json",
}

# Commands that are this very test run, or take minutes.
ELSEWHERE = re.compile(r"^(cargo xtask |cargo deny|sudo )")


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


@pytest.mark.parametrize("block", list(blocks()))
def test_commands(block, tmp_path):
    for name, source in FILES.items():
        shutil.copy(ROOT / source, tmp_path / name)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/toolwire").symlink_to(BINARY)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    ran = 0
    for command in commands(block):
        if ELSEWHERE.match(command):
            continue
        command = re.sub(r"cargo run --release( --quiet)?( --)?", "toolwire", command)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout, f"{command} printed nothing"
        ran += 1
    assert ran, "no command of this block was run"
