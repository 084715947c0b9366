"""Codex in a terminal, as a person uses it: nothing of it stays behind when it ends."""

import contextlib
import os
import pathlib
import pty
import select
import signal
import subprocess
import termios
import time

from e2e.agents import agent_process
from e2e.agents.test_agents import demo_config

PROMPT = b"Ask Codex"
CTRL_C = b"\x03"
RETURN = b"\r"
# What a terminal answers to the question where its cursor is, and the question.
CURSOR, CURSOR_QUESTION = b"\x1b[1;1R", b"\x1b[6n"


def test_codex_in_a_terminal_copies_nothing_and_leaves_nothing_running(tmp_path):
    terminal, side = pty.openpty()
    termios.tcsetwinsize(side, (40, 120))
    options = {"stdin": side, "stdout": side, "stderr": side, "start_new_session": True}
    command = agent_process.toolwire_command("codex", "demo", [], demo_config(tmp_path))
    environment = {**agent_process.environment(tmp_path), "TERM": "xterm-256color"}
    process = subprocess.Popen(command, cwd=agent_process.work_folder(tmp_path), env=environment, **options)
    os.close(side)
    try:
        # It asks whether the folder can be trusted, and then for something to do.
        screen = read(terminal, seconds=4)
        os.write(terminal, RETURN)
        screen += read(terminal, seconds=6)
        assert PROMPT in screen, screen[-2000:]
        size = sum(file.stat().st_size for file in (tmp_path / "home").rglob("*") if file.is_file())
        for _ in range(3):
            os.write(terminal, CTRL_C)
            read(terminal, seconds=1)
        # What has to be killed gets two seconds to end before.
        assert process.wait(timeout=30) == 0
        assert left_running(tmp_path) == []
        assert size < 20_000_000
    finally:
        # The agent too, if toolwire did not end it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(terminal)


def read(terminal, seconds):
    """What is shown within a time. Questions of the program are answered."""
    shown, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if not select.select([terminal], [], [], left)[0]:
            break
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            # Nobody has the terminal open any more.
            break
        if CURSOR_QUESTION in piece:
            os.write(terminal, CURSOR)
        shown += piece
    return shown


def left_running(tmp):
    """The programs that were started with the home folder of this test."""
    home, found = f"HOME={tmp}/home".encode(), []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if home in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_text())
        except OSError:
            continue
    return found
