"""The real agents, run without a terminal and without the internet.

Each run has a home of its own, so nothing of the machine's settings comes in, and one folder that
it works in. Both agents come from the lock file in `e2e/agents`.
"""

import json
import os
import subprocess
from dataclasses import dataclass

from e2e.settings import BINARY, OFFLINE, ROOT

PROGRAMS = ROOT / "e2e/agents/node_modules/.bin"
# A run takes about three seconds; an agent that retries in vain must not hold up the rest.
PATIENCE = 120

QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DO_NOT_TRACK": "1",
    "API_TIMEOUT_MS": "60000",
}
CODEX_CONFIG = """
model = "{model}"
model_provider = "gw"
model_reasoning_effort = "high"
check_for_update_on_startup = false

[model_providers.gw]
name = "gw"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
"""


@dataclass
class Run:
    """How an agent ended."""

    code: int
    # Its last words.
    said: str
    # All that it printed, for the message of an assertion.
    output: str


def claude(gateway, model, prompt, scratch):
    """Claude Code, asked once."""
    environment = {"ANTHROPIC_BASE_URL": gateway.url, "ANTHROPIC_API_KEY": "client-key", "MAX_THINKING_TOKENS": "2048"}
    for name in ("MODEL", "SMALL_FAST_MODEL", "DEFAULT_HAIKU_MODEL", "DEFAULT_SONNET_MODEL", "DEFAULT_OPUS_MODEL"):
        environment[f"ANTHROPIC_{name}"] = model
    line = ["claude", *claude_arguments(prompt), "--model", model]
    return claude_run(start(line, scratch, environment))


def claude_arguments(prompt):
    allowed = ["--permission-mode", "acceptEdits", "--allowedTools", "Read,Edit,Write,Bash"]
    return ["-p", prompt, "--output-format", "json", *allowed]


def claude_run(ended):
    lines = [line for line in ended.stdout.splitlines() if line.startswith("{")]
    said = json.loads(lines[-1]).get("result", "") if lines else ""
    return Run(ended.returncode, said, ended.stdout + ended.stderr)


def codex(gateway, model, prompt, scratch):
    """Codex, asked once."""
    settings = scratch / "codex"
    settings.mkdir(parents=True)
    (settings / "config.toml").write_text(CODEX_CONFIG.format(model=model, url=gateway.url))
    line = ["codex", *codex_arguments(prompt, scratch)]
    return codex_run(start(line, scratch, {"CODEX_HOME": str(settings), "GATEWAY_KEY": "client-key"}), scratch)


def codex_arguments(prompt, scratch):
    free = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    return ["exec", *free, "-C", str(work(scratch)), "--output-last-message", str(scratch / "last.txt"), prompt]


def codex_run(ended, scratch):
    last = scratch / "last.txt"
    said = last.read_text() if last.exists() else ""
    return Run(ended.returncode, said, ended.stdout + ended.stderr)


def toolwire_run(agent, model, arguments, config, scratch):
    """An agent that `toolwire run` starts, with a gateway of its own."""
    line = [BINARY, "run", agent, "--model", model, "--config", str(config), "--", *arguments]
    return start(line, scratch, {})


def start(line, scratch, environment):
    home = scratch / "home"
    home.mkdir(parents=True, exist_ok=True)
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    every = {"PATH": path, "HOME": str(home), **OFFLINE, **QUIET, **environment}
    given = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": PATIENCE}
    return subprocess.run(line, cwd=work(scratch), env=every, check=False, **given)


def work(scratch):
    """The folder that the agent works in."""
    folder = scratch / "work"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
