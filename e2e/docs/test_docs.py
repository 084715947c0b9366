"""Every command in the documents works as it is written.

The documents use the default address, 127.0.0.1:8787. Whoever runs the tests may already serve
something there, so each block gets a port of its own: a gateway listens on a free one, and the
commands after it in the block have that address in place of the default.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys

import pytest

from e2e.settings import BINARY, ROOT

# The files that the documents' commands read, from the vectors and tests.
FILES = {
    "request.json": "vectors/requests/chat-text-beside-calls/in.chat.json",
    "answer.json": "vectors/responses/messages-call/in.messages.json",
    "answer.sse": "vectors/streams/messages-parallel-calls/in.messages.sse",
    "config.yaml": "e2e/docs/litellm.yaml",
    "backup.jsonl": "crates/toolwire-store/tests/backup.jsonl",
}

# Commands that would run these tests again, or take minutes.
NOT_RUN_HERE = re.compile(r"^(cargo xtask |cargo deny|sudo )")

# What puts the command on the reader's PATH. It builds what the tests have built already.
INSTALL = re.compile(r"^cargo install ")

# A gateway, which serves the commands after it in its block.
SERVE = re.compile(r"^toolwire( serve .*)?\s*(#.*)?$")

# `toolwire run` takes its address from a configuration alone.
RUN = re.compile(r"^toolwire run (?P<agent>\w+)")
RUN_CONFIG = 'listen = "{address}"\n[[upstream]]\nname = "demo"\ndemo = true\n'

DEFAULT_ADDRESS = re.compile(r"(127\.0\.0\.1|localhost):8787")
# Nothing listens on port 1, so until a block has started a gateway, none is found.
NO_GATEWAY = "127.0.0.1:1"

# The agents have tests of their own; these tests only check that they are started.
AGENTS = ("claude", "codex", "opencode", "qwen", "aider")


def blocks():
    for document in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]):
        text = document.read_text()
        for number, block in enumerate(re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M), 1):
            yield pytest.param(block, id=f"{document.name}-{number}")


def commands(block):
    """The commands of a block. One continues past an open quote, a pipe or a backslash."""
    command = ""
    for line in block.splitlines():
        command += line + "\n"
        if command.count("'") % 2 == 0 and not line.rstrip().endswith(("|", "\\")):
            yield command
            command = ""
    assert not command, f"unfinished: {command}"


@contextlib.contextmanager
def serving(command, **process_options):
    """Runs a gateway until the end of its block, and gives its address."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        **process_options,
    )
    try:
        address = None
        for line in process.stdout:
            match = re.search(r"listening on http://(\S+)", line)
            address = match[1] if match else address
            if line.startswith("Ctrl-C stops it"):
                break
        else:
            raise AssertionError(f"{command} did not serve")
        assert address, f"{command} did not say where it listens"
        yield address
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("block", list(blocks()))
def test_commands(block, tmp_path):
    process_options = {"cwd": tmp_path, "env": prepare(tmp_path)}
    address = NO_GATEWAY
    ran = 0
    with contextlib.ExitStack() as gateways:
        for command in commands(block):
            if NOT_RUN_HERE.match(command):
                continue
            ran += 1
            if INSTALL.match(command):
                install(command, tmp_path / "installed")
                continue
            command = re.sub(r"cargo run --release( --quiet)?( --)?", "toolwire", command)
            if SERVE.match(command):
                command = re.sub(r"^toolwire( serve)?", "toolwire serve --listen 127.0.0.1:0", command)
                address = gateways.enter_context(serving(command, **process_options))
                continue
            if RUN.match(command):
                (tmp_path / "run.toml").write_text(RUN_CONFIG.format(address=address))
                command = RUN.sub(r"\g<0> --config run.toml", command)
            command = DEFAULT_ADDRESS.sub(address, command)
            # Without the flag, curl calls an error response a success.
            command = re.sub(r"^curl ", "curl --fail-with-body ", command)
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", command],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
                **process_options,
            )
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            assert done.stdout, f"{command} printed nothing"
    assert ran, "no command of this block was run"


def install(command, folder):
    """Installs the command into a folder, as it was built for the tests.

    Its packages are here, and the tests reach no network: without `--offline`, cargo would try
    for an hour to ask for each of them whether it was withdrawn.
    """
    command = command.partition("#")[0].strip()
    command = f"{command} --offline --debug --no-track --root {folder}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    installed = subprocess.run([folder / "bin/toolwire", "--version"], capture_output=True, text=True)
    assert installed.stdout.startswith("toolwire "), installed


def programs():
    for document in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]):
        text = document.read_text()
        found = re.findall(r"^```(python|ts)\n(.*?)^```", text, re.S | re.M)
        for number, (language, program) in enumerate(found, 1):
            yield pytest.param(language, program, id=f"{document.name}-{language}-{number}")


@pytest.mark.parametrize("language, program", list(programs()))
def test_programs(language, program, tmp_path):
    """A whole program works against a gateway of its own and prints the model's answer."""
    process_options = {"cwd": tmp_path, "env": prepare(tmp_path)}
    with serving("toolwire serve --listen 127.0.0.1:0", **process_options) as address:
        program = DEFAULT_ADDRESS.sub(address, program)
        if language == "python":
            command = [sys.executable, "-c", program]
        else:
            # The programs use no types, so they are JavaScript too. Modules are found from here.
            command = ["node", "--input-type=module", "-e", program]
            process_options["cwd"] = ROOT / "e2e/node"
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            **process_options,
        )
    assert done.returncode == 0, done.stderr
    assert "Sunny in Paris" in done.stdout, done.stdout


def prepare(folder):
    """Fills a folder with what the commands read and start. Returns their environment."""
    for name, source in FILES.items():
        shutil.copy(ROOT / source, folder / name)
    programs = folder / "bin"
    programs.mkdir()
    (programs / "toolwire").symlink_to(BINARY)
    for agent in AGENTS:
        (programs / agent).write_text("#!/bin/sh\necho started\n")
        (programs / agent).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    private = {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state")}
    return {**os.environ, **private, "PATH": path}
