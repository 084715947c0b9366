"""Starts the real agents without a terminal and without the internet.

Each run has a home folder of its own, so that the user's settings have no effect, and a work folder.
The lock file in this folder pins those that are written in JavaScript.
"""

import json
import os
import subprocess
from dataclasses import dataclass

from e2e.settings import BINARY, OFFLINE, ROOT

PROGRAMS = ROOT / "e2e/agents/node_modules/.bin"
# aider has a Python environment of its own.
AIDER = ROOT / ".e2e/aider/bin"
# A run takes about three seconds. An agent that keeps retrying must not hold up the other tests.
TIMEOUT_SECONDS = 120

NO_TELEMETRY = {
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
class AgentResult:
    """How a run of an agent ended."""

    exit_code: int
    # The last message of the agent.
    last_message: str
    # Everything it printed, for the message of a failed assertion.
    output: str


def run_claude(gateway, model, prompt, tmp):
    """Runs Claude Code with one prompt."""
    environment = {"ANTHROPIC_BASE_URL": gateway.url, "ANTHROPIC_API_KEY": "client-key", "MAX_THINKING_TOKENS": "2048"}
    for name in ("MODEL", "SMALL_FAST_MODEL", "DEFAULT_HAIKU_MODEL", "DEFAULT_SONNET_MODEL", "DEFAULT_OPUS_MODEL"):
        environment[f"ANTHROPIC_{name}"] = model
    command = ["claude", *claude_arguments(prompt), "--model", model]
    return claude_result(start(command, tmp, environment))


def claude_arguments(prompt):
    allowed = ["--permission-mode", "acceptEdits", "--allowedTools", "Read,Edit,Write,Bash"]
    return ["-p", prompt, "--output-format", "json", *allowed]


def claude_result(process):
    lines = [line for line in process.stdout.splitlines() if line.startswith("{")]
    last_message = json.loads(lines[-1]).get("result", "") if lines else ""
    return AgentResult(process.returncode, last_message, process.stdout + process.stderr)


def run_codex(gateway, model, prompt, tmp):
    """Runs Codex with one prompt."""
    settings = tmp / "codex"
    settings.mkdir(parents=True)
    (settings / "config.toml").write_text(CODEX_CONFIG.format(model=model, url=gateway.url))
    command = ["codex", *codex_arguments(prompt, tmp)]
    return codex_result(start(command, tmp, {"CODEX_HOME": str(settings), "GATEWAY_KEY": "client-key"}), tmp)


def codex_arguments(prompt, tmp):
    unattended = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    return ["exec", *unattended, "-C", str(work_folder(tmp)), "--output-last-message", str(tmp / "last.txt"), prompt]


def codex_result(process, tmp):
    last = tmp / "last.txt"
    last_message = last.read_text() if last.exists() else ""
    return AgentResult(process.returncode, last_message, process.stdout + process.stderr)


def run_through_toolwire(agent, model, arguments, config, tmp):
    """Runs an agent with `toolwire run`, which starts a gateway for it."""
    return start(toolwire_command(agent, model, arguments, config), tmp, {})


def toolwire_command(agent, model, arguments, config):
    return [BINARY, "run", agent, "--model", model, "--config", str(config), "--", *arguments]


def start(command, tmp, variables):
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_SECONDS}
    variables = {**environment(tmp), **variables}
    return subprocess.run(command, cwd=work_folder(tmp), env=variables, check=False, **options)


def environment(tmp):
    """What an agent finds in its environment: the agents' programs, a home of its own, no internet."""
    home = tmp / "home"
    home.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([str(PROGRAMS), os.environ["PATH"], str(AIDER)])
    return {"PATH": path, "HOME": str(home), **OFFLINE, **NO_TELEMETRY}


def work_folder(tmp):
    """The folder that the agent works in."""
    folder = tmp / "work"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
