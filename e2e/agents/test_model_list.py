"""Claude Code with nothing but a key of OpenRouter: it answers, and its list of models holds the gateway's."""

import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from e2e.agents.agent_process import NO_TELEMETRY, PROGRAMS, TIMEOUT_SECONDS, claude_arguments, claude_result, work_folder
from e2e.settings import BINARY, OFFLINE

KEY = "or-key-0123456789"
MODELS = [
    {"id": "openai/gpt-5", "name": "OpenAI: GPT-5", "created": 1_754_587_413},
    {"id": "anthropic/claude-sonnet-4.5", "name": "Anthropic: Claude Sonnet 4.5", "created": 1_759_161_676},
]


class _OpenRouter(BaseHTTPRequestHandler):
    """Lists two models and says hello to everything else."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        is_list = self.path == "/api/v1/models" and self.headers["authorization"] == f"Bearer {KEY}"
        self.send(json.dumps({"data": MODELS} if is_list else {"error": {"message": "No."}}), 200 if is_list else 404)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(asked["model"])
        head = {"id": "gen-1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"]}
        deltas = [{"role": "assistant", "content": "Hello from OpenRouter."}, {}]
        ends = [None, "stop"]
        chunks = [{**head, "choices": [{"index": 0, "delta": d, "finish_reason": e}]} for d, e in zip(deltas, ends)]
        if asked.get("stream"):
            self.send("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n", 200, "text/event-stream")
        else:
            message = {"role": "assistant", "content": "Hello from OpenRouter."}
            answer = {**head, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            self.send(json.dumps(answer), 200)

    def send(self, body, status, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def openrouter():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _OpenRouter)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def test_claude_code_sees_the_models_of_openrouter(openrouter, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    # The list of models counts as traffic that Claude Code can do without.
    quiet = {name: value for name, value in NO_TELEMETRY.items() if name != "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"}
    environment = {
        "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "OPENROUTER_API_KEY": KEY,
        "OPENROUTER_BASE_URL": f"http://127.0.0.1:{openrouter.server_port}/api/v1",
        **{name: "http://127.0.0.1:9" for name in ("OLLAMA_HOST", "VLLM_BASE_URL", "LLAMACPP_BASE_URL", "LMSTUDIO_BASE_URL")},
        **OFFLINE,
        **quiet,
    }
    command = [BINARY, "run", "claude", "--", *claude_arguments("Say hello.")]
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_SECONDS}
    ran = claude_result(subprocess.run(command, cwd=work_folder(tmp_path), env=environment, check=False, **options))
    assert (ran.exit_code, ran.last_message) == (0, "Hello from OpenRouter."), ran.output
    assert set(openrouter.asked) == {"anthropic/claude-sonnet-4.5"}
    cached = json.loads((home / ".claude/cache/gateway-models.json").read_text())
    assert cached["models"] == [{"id": "anthropic/claude-sonnet-4.5", "display_name": "Anthropic: Claude Sonnet 4.5"}]
