"""The real SDKs take every stream that toolwire writes, and make of it what the upstream said."""

import json
import os
import subprocess
from pathlib import Path

import anthropic
import openai
import pytest

from e2e.replay import Replay
from e2e.sdks import Sdks

ROOT = Path(os.environ.get("TOOLWIRE_ROOT", Path(__file__).parent.parent))
BINARY = os.environ.get("TOOLWIRE_BIN", str(ROOT / "target/debug/toolwire"))
PROTOCOLS = ["chat", "responses", "messages"]
PIECE = 61


@pytest.fixture(scope="module")
def sdks():
    replay = Replay()
    yield Sdks(replay, strict=False)
    replay.close()


@pytest.mark.parametrize("path", sorted((ROOT / "vectors/streams").glob("*/in.*.sse")), ids=lambda p: p.parent.name)
def test_vector(path, sdks):
    source = path.name.split(".")[1]
    stream = path.read_bytes()
    upstream = Answer(source, sdks, stream)
    wrong = []
    for to in PROTOCOLS:
        if to == source:
            continue
        written = path.with_name(f"out.{to}.sse").read_bytes()
        client = Answer(to, sdks, written)
        say = lambda *w: wrong.append(f"{path.parent.name} {source}->{to}: " + " ".join(map(str, w)))
        if client.raw_count != count(to, written):
            say("events", client.raw_count, count(to, written))
        if client.broken:
            if client.error is None: say("QUIET")
            else: say("error", type(client.error).__name__, str(client.error)[:300])
            if not upstream.broken: say("ERROR BUT UPSTREAM FINE")
            continue
        if client.error:
            say("HELPER", type(client.error).__name__, str(client.error)[:500])
            continue
        if upstream.answer is None:
            say("NO TRUTH", repr(upstream.error)[:300])
            continue
        unary = translated(path, source, to, upstream.answer)
        if unary is None:
            say("unary refused"); continue
        a, b = usual(unary), usual(json.loads(client.answer))
        for line in diff(a, b): say("DIFF", line)
    assert not wrong, "\n".join(wrong)


class Answer:
    def __init__(self, protocol, sdks, stream):
        raw = sdks.raw(protocol, stream, PIECE)
        helped = sdks.helped(protocol, stream, PIECE)
        self.raw_count = len(raw.events)
        self.error = helped.error or raw.error
        self.answer = None
        self.broken = ends_in_error(protocol, raw, stream)
        answer = helped.answer
        if protocol == "responses" and answer is None and raw.events and raw.events[-1].type in ("response.incomplete", "response.failed"):
            answer = raw.events[-1].response.to_dict(mode="json")
            if raw.events[-1].type == "response.incomplete": self.error = raw.error
        if answer is not None:
            self.answer = cleaned(protocol, answer, raw.events)


def ends_in_error(protocol, raw, stream):
    if raw.error: return True
    last = raw.events[-1]
    if protocol == "chat":
        return not any(c.finish_reason for e in raw.events for c in e.choices)
    if protocol == "responses":
        return last.type not in ("response.completed", "response.incomplete")
    return last.type != "message_stop"

def count(protocol, stream):
    n = 0
    for line in stream.decode().split("\n"):
        if line.startswith("data: ") and line != "data: [DONE]" and not line.startswith('data: {"error"') and not line.startswith('data: {"type":"error"') and line != 'data: {"type":"ping"}':
            n += 1
        if protocol == "responses" and line.startswith('data: {"type":"error"'): n += 1
    return n


def cleaned(protocol, answer, events):
    if protocol == "chat":
        for choice in answer["choices"]:
            choice["message"].pop("parsed", None)
            for call in choice["message"].get("tool_calls") or []:
                call.pop("index", None)
                call.get("function", {}).pop("parsed_arguments", None)
    if protocol == "responses":
        for item in answer["output"]:
            item.pop("parsed_arguments", None)
            for part in item.get("content") or []:
                part.pop("parsed", None)
    text = json.dumps
    if protocol == "messages":
        inputs = {}
        for event in events:
            if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                inputs[event.index] = inputs.get(event.index, "") + event.delta.partial_json
        raws = {}
        for index, block in enumerate(answer["content"]):
            block.pop("parsed_output", None)
            if inputs.get(index, "").strip():
                try: json.loads(inputs[index])
                except ValueError: continue
                block["input"] = f"raw-{index}"
                raws[f'"raw-{index}"'] = inputs[index]
        out = json.dumps(answer)
        for k, v in raws.items():
            out = out.replace(k, v)
        return out
    return json.dumps(answer)


def translated(path, source, to, answer):
    line = [BINARY, "translate", "--kind", "response", "--from", source, "--to", to]
    asked = path.with_name(f"request.{to}.json")
    if asked.exists():
        line += ["--request", str(asked)]
    run = subprocess.run(line, input=answer.encode(), capture_output=True)
    if run.returncode:
        return None
    return json.loads(run.stdout)


def usual(value):
    if isinstance(value, dict):
        return {k: usual(v) for k, v in value.items() if v is not None and k not in ("created", "created_at", "completed_at")}
    if isinstance(value, list):
        return [usual(v) for v in value]
    return value

def diff(a, b, at=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for k in dict.fromkeys([*a, *b]):
            yield from diff(a.get(k, "<absent>"), b.get(k, "<absent>"), f"{at}/{k}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from diff(x, y, f"{at}/{i}")
    elif a != b:
        yield f"{at} unary {json.dumps(a)[:300]} stream {json.dumps(b)[:300]}"
