"""The real SDKs take every stream that toolwire writes, and make of it what the upstream had said.

The truth does not come from toolwire's streams: the upstream's own SDK puts the upstream's stream
together, and `toolwire translate --kind response` translates the answer as a whole. What the
client's SDK makes of the translated stream must be the same, but for the differences that
`excused.json` lists with their reasons. The same is done in TypeScript, in `node/streams.mjs`.
"""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from e2e.events import faults, frames
from e2e.replay import Replay
from e2e.sdks import FAILURES, Sdks, calls_in, document, joined

ROOT = Path(__file__).parent.parent
BINARY = os.environ.get("TOOLWIRE_BIN", str(ROOT / "target/debug/toolwire"))
PROTOCOLS = ["chat", "responses", "messages"]
VECTORS = sorted((ROOT / "vectors/streams").glob("*/in.*.sse"))
SMALL = [path for path in VECTORS if "unicode" in path.parent.name or "parallel" in path.parent.name]

# So small that most events come in several pieces, and prime so that they are cut anywhere.
PIECE = 61

EXCUSED = json.loads(Path(__file__).with_name("excused.json").read_text())
UNREAD = {name: said["why"] for name, said in EXCUSED["unread"].items() if "python" in said["sdks"]}
UNHELPED = {(excuse["vector"], excuse["to"]) for excuse in EXCUSED["unhelped"] if "python" in excuse["sdks"]}
REFUSED = EXCUSED["refused"]
DIFFERS = {
    (excuse["vector"], excuse["to"], excuse["at"]): excuse["client"]
    for excuse in EXCUSED["differs"]
    if "python" in excuse["sdks"]
}


@pytest.fixture(scope="module")
def sdks():
    replay = Replay()
    yield Sdks(replay)
    replay.close()


@pytest.fixture(scope="module")
def streams():
    """Every vector's stream for every client: whether it ended well, and its bytes."""
    wanted = [(path, to) for path in VECTORS for to in PROTOCOLS]
    with ThreadPoolExecutor() as threads:
        return dict(zip(wanted, threads.map(lambda one: run(*one, "stream", one[0].read_bytes()), wanted), strict=True))


def name(path):
    return path.parent.name


@pytest.mark.parametrize("path", VECTORS, ids=name)
def test_every_sdk_reads_every_stream(path, sdks, streams):
    source, came = protocol(path), path.read_bytes()
    upstream = sdks.helped(source, came, PIECE)
    wrong, calls = [], []
    for to in PROTOCOLS:
        well, written = streams[path, to]
        if to == source and written == came:
            continue
        iterated, helped = sdks.iterated(to, written, PIECE), sdks.helped(to, written, PIECE)
        problems = [] if to == source else list(read_whole(to, written, iterated))
        if not well:
            problems += [f"ends in an error, but the SDK raised {error!r}" for error in unraised(to, iterated, helped)]
            problems += unwarranted(path, source, upstream)
        elif iterated.error or (helped.error and (name(path), to) not in UNHELPED):
            problems.append(f"ends well, but the SDK raised {iterated.error or helped.error!r}")
        elif name(path) in UNREAD:
            calls.append(calls_in(document(to, helped)))
        elif upstream.error:
            problems.append(f"ends well, but the upstream's own SDK raised {upstream.error!r}")
        elif helped.error:
            truth, heard = calls_in(whole(path, to, source, upstream)), calls_in(joined(iterated.events))
            problems += [] if heard == truth else [f"the calls are {truth} as a whole and {heard} as a stream"]
        else:
            problems += differences(path, to, whole(path, to, source, upstream), document(to, helped))
        wrong += [f"{source} to {to}: {problem}" for problem in problems]
    if name(path) in UNREAD:
        wrong += [] if upstream.error else ["the upstream's SDK reads it, so it needs no excuse"]
        wrong += [] if all(one == calls[0] for one in calls) else [f"the clients see different calls: {calls}"]
    assert not wrong, "\n" + "\n".join(wrong)


def protocol(path):
    return path.name.split(".")[1]


def run(path, to, kind, document):
    """Translates for the client whose request stands beside the vector, if one does."""
    asked = path.with_name(f"request.{to}.json")
    line = [BINARY, "translate", "--from", protocol(path), "--to", to, "--kind", kind]
    line += ["--request", str(asked)] if asked.exists() else []
    done = subprocess.run(line, input=document, capture_output=True)
    return done.returncode == 0, done.stdout


def read_whole(to, written, iterated):
    """What the SDK did not give its user, and what its types do not describe."""
    wrote = frames(written)
    for data in wrote:
        yield from faults(to, data)
    given = [event.to_dict(mode="json", warnings=False) for event in iterated.events]
    told = [data for data in wrote if data.get("type") != "ping"]
    if iterated.error:
        told = told[: next((at for at, data in enumerate(told) if "error" in data), None)]
    if given != told:
        yield f"the SDK gave {len(given)} events of {len(told)}, or gave others"


def unraised(to, *heard):
    """What the SDK raised instead of its own error for a failure, or that it raised nothing."""
    return [one.error for one in heard if not isinstance(one.error, FAILURES[to])]


def unwarranted(path, source, upstream):
    """An error for an answer that the upstream's own SDK takes for whole."""
    if upstream.error or name(path) in REFUSED:
        return []
    answer = json.loads(document(source, upstream))
    ended = [choice.get("finish_reason") for choice in answer["choices"]] if source == "chat" else [answer.get("stop_reason")]
    return ["ends in an error, but the upstream's own SDK is content"] if all(ended) or source == "responses" else []


def whole(path, to, source, upstream):
    """The upstream's answer, put together by its own SDK and then translated as a whole."""
    well, answer = run(path, to, "response", document(source, upstream).encode())
    assert well, f"{source} to {to}: the whole answer is refused"
    return answer


def differences(path, to, truth, answer):
    left = {at for vector, target, at in DIFFERS if (vector, target) == (name(path), to)}
    for at, told, heard in compared(usual(to, path, truth), usual(to, path, answer)):
        expected = DIFFERS.get((name(path), to, at))
        left.discard(at)
        if heard != expected:
            yield f"{at or '/'} is {short(told)} as a whole and {short(heard)} as a stream"
    for at in left:
        yield f"{at} is excused and does not differ"


def usual(to, path, document):
    """The answer without what may differ between a whole answer and a stream."""
    answer = told(json.loads(document, parse_int=Number, parse_float=Number))
    if to == "chat":
        if not asked_for_usage(path):
            answer.pop("usage", None)
        # The helper keeps what stood in the first chunk; the tier comes later.
        answer.pop("service_tier", None)
    if to == "messages":
        # The helper takes only the counts from the end; the tier comes there.
        answer["usage"].pop("service_tier", None)
    for item in answer.get("output", ()):
        # Made from the item's place, and empty items have one in a whole answer only.
        item.pop("id", None)
    return answer


def asked_for_usage(path):
    asked = path.with_name("request.chat.json")
    options = json.loads(asked.read_text()).get("stream_options") if asked.exists() else None
    return bool((options or {}).get("include_usage"))


class Number(str):
    """A number as it is written."""


def told(value):
    """The value without times, and without members that say nothing."""
    if isinstance(value, dict):
        times = ("created", "created_at", "completed_at")
        return {key: told(member) for key, member in value.items() if member is not None and key not in times}
    return [told(member) for member in value] if isinstance(value, list) else value


def compared(one, other, at=""):
    """Where two values differ: the place, and what stands there in each."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one | other:
            yield from compared(one.get(key), other.get(key), f"{at}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other, strict=True)):
            yield from compared(*pair, f"{at}/{index}")
    elif one != other:
        yield at, one, other


def short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 400 else text[:400] + "…"


@pytest.mark.parametrize("path", SMALL, ids=name)
def test_byte_by_byte(path, sdks, streams):
    for to in PROTOCOLS:
        _, written = streams[path, to]
        at_once, bit_by_bit = (sdks.iterated(to, written, piece) for piece in (len(written), 1))
        assert bit_by_bit.events == at_once.events and bit_by_bit.error is None
