"""The real SDKs take every stream that toolwire writes, and make of it what the upstream had said.

The truth does not come from toolwire's streams: the upstream's own SDK puts the upstream's stream
together, and `toolwire translate --kind response` translates the answer as a whole. What the
client's SDK makes of the translated stream must be the same, but for the differences that
`known_differences.json` lists with their reasons. `../node/test_streams.mjs` does the same in TypeScript.
"""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from e2e.settings import BINARY, PROTOCOLS, ROOT
from e2e.streams.event_types import faults, frames
from e2e.streams.replay_server import Replay
from e2e.streams.sdk_recorder import FAILURES, Sdks, document, joined, said_in

VECTORS = sorted((ROOT / "vectors/streams").glob("*/in.*.sse"))
SMALL = [path for path in VECTORS if "unicode" in path.parent.name or "parallel" in path.parent.name]

# So small that most events come in several pieces, and prime so that they are cut anywhere.
PIECE = 61

EXCUSED = json.loads(Path(__file__).with_name("known_differences.json").read_text())
OURS = {kind: [excuse for excuse in EXCUSED[kind] if "python" in excuse["sdks"]] for kind in EXCUSED}
MISREAD = {excuse["vector"] for excuse in OURS["misread"]}
UNHELPED = {(excuse["vector"], excuse["to"]) for excuse in OURS["unhelped"]}
CONTENT = {excuse["vector"] for excuse in OURS["content"]}
DIFFERS = {(excuse["vector"], excuse["to"], excuse["at"]): excuse["client"] for excuse in OURS["differs"]}


def name(path):
    return path.parent.name


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


# The Python helper says so of the shapes that some vendors invent.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("path", VECTORS, ids=name)
def test_every_sdk_reads_every_stream(path, sdks, streams):
    source, came = protocol(path), path.read_bytes()
    upstream = sdks.helped(source, came, PIECE)
    wrong = [
        f"{source} to {to}: {problem}"
        for to in PROTOCOLS
        if to != source
        for problem in translated(path, source, to, upstream, sdks, *streams[path, to])
    ]
    wrong += [f"{source} to {source}: {problem}" for problem in forwarded(source, came, sdks, *streams[path, source])]
    if name(path) in MISREAD:
        said = [said_in(document(to, sdks.helped(to, streams[path, to][1], PIECE))) for to in PROTOCOLS if to != source]
        wrong += [] if said[0] == said[1] else [f"one client hears {said[0]} and the other {said[1]}"]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("path", SMALL, ids=name)
def test_every_sdk_reads_byte_by_byte(path, sdks, streams):
    for to in PROTOCOLS:
        _, written = streams[path, to]
        at_once, byte_by_byte = (sdks.iterated(to, written, piece) for piece in (len(written), 1))
        assert byte_by_byte.error is None and byte_by_byte.events == at_once.events


def protocol(path):
    return path.name.split(".")[1]


def run(path, to, kind, document):
    """Translates for the client whose request stands beside the vector, if one does."""
    asked = path.with_name(f"request.{to}.json")
    line = [BINARY, "translate", "--from", protocol(path), "--to", to, "--kind", kind]
    line += ["--request", str(asked)] if asked.exists() else []
    done = subprocess.run(line, input=document, capture_output=True)
    return done.returncode == 0, done.stdout


def translated(path, source, to, upstream, sdks, well, written):
    """What is wrong with a stream for a client of another protocol."""
    iterated, helped = sdks.iterated(to, written, PIECE), sdks.helped(to, written, PIECE)
    yield from unheard(to, written, iterated)
    if not well:
        yield from unraised(to, iterated, helped)
        if is_content(source, upstream) != (name(path) in CONTENT):
            yield "ends in an error, but the upstream's own SDK is content, or has an excuse and is not"
        return
    if iterated.error or (helped.error and (name(path), to) not in UNHELPED):
        yield f"ends well, but the SDK raised {iterated.error or helped.error!r}"
        return
    if upstream.error:
        if name(path) not in MISREAD:
            yield f"ends well, but the upstream's own SDK raised {upstream.error!r}"
        return
    _, truth = run(path, to, "response", document(source, upstream).encode())
    if helped.error:
        told, heard = said_in(truth), said_in(joined(iterated.events))
        if told != heard:
            yield f"says {told} as a whole and {heard} as a stream"
        return
    differences = list(unlike(path, to, truth, document(to, helped)))
    if name(path) not in MISREAD:
        yield from differences
    elif not differences:
        yield "is as the upstream's own SDK reads it, so that needs no excuse"


def forwarded(protocol, came, sdks, well, written):
    """What is wrong with a stream for a client of the same protocol, which is the upstream's bytes."""
    if written == came:
        return
    iterated, helped = sdks.iterated(protocol, written, PIECE), sdks.helped(protocol, written, PIECE)
    if not well:
        yield from unraised(protocol, iterated, helped)
        return
    upstream = sdks.helped(protocol, came, PIECE)
    same = (
        repr(helped.error) == repr(upstream.error)
        if upstream.error
        else helped.answer is not None and document(protocol, helped) == document(protocol, upstream)
    )
    if not same:
        yield "the SDK hears another answer than from the upstream"


def unheard(to, written, iterated):
    """What the SDK did not give its user, and what its types do not describe."""
    wrote = frames(written)
    for data in wrote:
        yield from faults(to, data)
    if iterated.error:
        wrote = wrote[: next((at for at, data in enumerate(wrote) if "error" in data), None)]
    given = [event.to_dict(mode="json", warnings=False) for event in iterated.events]
    if given != [data for data in wrote if data.get("type") != "ping"]:
        yield f"the SDK gave {len(given)} of {len(wrote)} events, or gave others"


def unraised(to, *heard):
    for one in heard:
        if not isinstance(one.error, FAILURES[to]):
            yield f"ends in an error, but the SDK raised {one.error!r}"


def is_content(protocol, upstream):
    """Whether the SDK takes the upstream's answer for one that ended."""
    if upstream.error:
        return False
    answer = json.loads(document(protocol, upstream))
    stops = [choice.get("finish_reason") for choice in answer.get("choices", ())] or [answer.get("stop_reason")]
    return protocol == "responses" or all(stops)


def unlike(path, to, truth, answer):
    """Where the answer differs from the truth and has no excuse, or has one and does not differ."""
    left = {at for vector, client, at in DIFFERS if (vector, client) == (name(path), to)}
    for at, told, heard in compared(usual(to, path, truth), usual(to, path, answer)):
        left.discard(at)
        if (name(path), to, at) not in DIFFERS or DIFFERS[name(path), to, at] != heard:
            yield f"{at or '/'} is {short(told)} as a whole and {short(heard)} as a stream"
    for at in left:
        yield f"{at} is excused and does not differ"


def usual(to, path, document):
    """The answer without what may differ between a whole answer and a stream."""
    answer = said(json.loads(document, parse_int=written_number, parse_float=written_number))
    if to == "chat":
        if not asks_for_usage(path):
            answer.pop("usage", None)
        # The helper keeps what stood in the first chunk; the tier comes later.
        answer.pop("service_tier", None)
        for choice in answer["choices"]:
            # The first chunk says "" where a whole answer says nothing.
            choice["message"]["content"] = choice["message"].get("content", "")
    if to == "messages":
        # The helper takes only the counts from the last event; the tier comes there.
        answer["usage"].pop("service_tier", None)
    for item in answer.get("output", ()):
        # Made from the item's place, and an empty item has one in a whole answer only.
        item.pop("id", None)
    return answer


def asks_for_usage(path):
    asked = path.with_name("request.chat.json")
    options = json.loads(asked.read_text()).get("stream_options") if asked.exists() else None
    return bool(options and options.get("include_usage"))


def written_number(text):
    """A number as it is written, since reading could round it. SDKs write a whole one without ".0"."""
    return text.removesuffix(".0")


def said(value):
    """The value without times, and without members that say nothing."""
    if isinstance(value, dict):
        times = ("created", "created_at", "completed_at")
        return {key: said(member) for key, member in value.items() if member is not None and key not in times}
    return [said(member) for member in value] if isinstance(value, list) else value


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
