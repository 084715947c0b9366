"""The vendors' SDKs read every stream that toolwire writes, and get the upstream's answer out of it.

The expected answer does not come from toolwire's streams: the SDK of the upstream's protocol
assembles the upstream's stream, and `toolwire translate --kind response` translates that whole
answer. The SDK of the client's protocol must assemble the same answer from the translated stream,
except for the differences in `known_differences.json`, each with its reason.

`../node/test_streams.mjs` does the same in TypeScript.
"""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from e2e.settings import BINARY, PROTOCOLS, ROOT
from e2e.streams.event_types import event_data, type_errors
from e2e.streams.replay_server import ReplayServer
from e2e.streams.sdk_recorder import STREAM_ERRORS, SdkRecorder, document, join_chunks, text_and_calls

VECTORS = sorted((ROOT / "vectors/streams").glob("*/in.*.sse"))
SMALL = [path for path in VECTORS if "unicode" in path.parent.name or "parallel" in path.parent.name]

# So small that most events arrive in several chunks, and prime so that they are cut anywhere.
CHUNK_SIZE = 61

KNOWN = json.loads(Path(__file__).with_name("known_differences.json").read_text())
KNOWN_FOR_PYTHON = {kind: [entry for entry in KNOWN[kind] if "python" in entry["languages"]] for kind in KNOWN}
UPSTREAM_MISREAD = {entry["vector"] for entry in KNOWN_FOR_PYTHON["upstream_misread"]}
HELPER_FAILS = {(entry["vector"], entry["to"]) for entry in KNOWN_FOR_PYTHON["helper_fails"]}
CUT_UNNOTICED = {entry["vector"] for entry in KNOWN_FOR_PYTHON["cut_unnoticed"]}
DIFFERENCES = {(entry["vector"], entry["to"], entry["at"]): entry["client"] for entry in KNOWN_FOR_PYTHON["differences"]}


def name(path):
    return path.parent.name


@pytest.fixture(scope="module")
def recorder():
    server = ReplayServer()
    yield SdkRecorder(server)
    server.close()


@pytest.fixture(scope="module")
def streams():
    """The stream of each vector for each client: whether the translation succeeded, and its bytes."""
    pairs = [(path, to) for path in VECTORS for to in PROTOCOLS]
    with ThreadPoolExecutor() as threads:
        results = threads.map(lambda pair: translate(*pair, "stream", pair[0].read_bytes()), pairs)
        return dict(zip(pairs, results, strict=True))


# The Python helper warns about shapes that only some vendors write.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("path", VECTORS, ids=name)
def test_every_sdk_reads_every_stream(path, recorder, streams):
    source, upstream_bytes = protocol(path), path.read_bytes()
    upstream = recorder.use_helper(source, upstream_bytes, CHUNK_SIZE)
    wrong = [
        f"{source} to {to}: {problem}"
        for to in PROTOCOLS
        if to != source
        for problem in translation_problems(path, source, to, upstream, recorder, *streams[path, to])
    ]
    passed_through = passthrough_problems(source, upstream_bytes, recorder, *streams[path, source])
    wrong += [f"{source} to {source}: {problem}" for problem in passed_through]
    if name(path) in UPSTREAM_MISREAD:
        others = [to for to in PROTOCOLS if to != source]
        recordings = [(to, recorder.use_helper(to, streams[path, to][1], CHUNK_SIZE)) for to in others]
        one, other = (text_and_calls(document(to, recording)) for to, recording in recordings)
        wrong += [] if one == other else [f"one client gets {one} and the other {other}"]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("path", SMALL, ids=name)
def test_every_sdk_reads_byte_by_byte(path, recorder, streams):
    for to in PROTOCOLS:
        _, output = streams[path, to]
        at_once, byte_by_byte = (recorder.iterate(to, output, chunk_size) for chunk_size in (len(output), 1))
        assert byte_by_byte.error is None and byte_by_byte.events == at_once.events


def protocol(path):
    return path.name.split(".")[1]


def translate(path, to, kind, document):
    """Translates for the client whose request is beside the vector, if there is one."""
    request = path.with_name(f"request.{to}.json")
    command = [BINARY, "translate", "--from", protocol(path), "--to", to, "--kind", kind]
    command += ["--request", str(request)] if request.exists() else []
    # A client must not notice the comment that the gateway writes into every stream that loses something.
    command += ["--loss-comment"] if kind == "stream" else []
    done = subprocess.run(command, input=document, capture_output=True)
    return done.returncode == 0, done.stdout


def translation_problems(path, source, to, upstream, recorder, succeeded, output):
    """What is wrong with a stream that was translated for a client of another protocol."""
    from_events = recorder.iterate(to, output, CHUNK_SIZE)
    from_helper = recorder.use_helper(to, output, CHUNK_SIZE)
    yield from event_problems(to, output, from_events)
    if not succeeded:
        yield from missing_errors(to, from_events, from_helper)
        if looks_complete(source, upstream) != (name(path) in CUT_UNNOTICED):
            yield "ends in an error, but the upstream's own SDK gets a complete answer (or the known difference is gone)"
        return
    if from_events.error or (from_helper.error and (name(path), to) not in HELPER_FAILS):
        yield f"ends without an error, but the SDK raised {from_events.error or from_helper.error!r}"
        return
    if upstream.error:
        if name(path) not in UPSTREAM_MISREAD:
            yield f"ends without an error, but the upstream's own SDK raised {upstream.error!r}"
        return
    is_answer, expected = translate(path, to, "response", document(source, upstream).encode())
    if not is_answer and name(path) in UPSTREAM_MISREAD:
        # What the SDK has put together, such as a call without a name, is no answer.
        return
    if from_helper.error:
        whole, streamed = text_and_calls(expected), text_and_calls(join_chunks(from_events.events))
        if whole != streamed:
            yield f"is {whole} as a whole and {streamed} as a stream"
        return
    differences = list(unexpected_differences(path, to, expected, document(to, from_helper)))
    if name(path) not in UPSTREAM_MISREAD:
        yield from differences
    elif not differences:
        yield "is as the upstream's own SDK reads it, so it is not a known difference"


def passthrough_problems(protocol, upstream_bytes, recorder, succeeded, output):
    """What is wrong with a stream for a client of the same protocol, which gets the upstream's bytes."""
    if output == upstream_bytes:
        return
    from_events = recorder.iterate(protocol, output, CHUNK_SIZE)
    from_helper = recorder.use_helper(protocol, output, CHUNK_SIZE)
    if not succeeded:
        yield from missing_errors(protocol, from_events, from_helper)
        return
    upstream = recorder.use_helper(protocol, upstream_bytes, CHUNK_SIZE)
    same = (
        repr(from_helper.error) == repr(upstream.error)
        if upstream.error
        else from_helper.answer is not None and document(protocol, from_helper) == document(protocol, upstream)
    )
    if not same:
        yield "the SDK gets another answer than from the upstream"


def event_problems(to, output, from_events):
    """Events that the SDK did not pass to its user, and events that its types do not describe."""
    wrote = event_data(output)
    for data in wrote:
        yield from type_errors(to, data)
    if from_events.error:
        wrote = wrote[: next((at for at, data in enumerate(wrote) if "error" in data), None)]
    given = [event.to_dict(mode="json", warnings=False) for event in from_events.events]
    if given != [data for data in wrote if data.get("type") != "ping"]:
        yield f"the SDK gave {len(given)} of {len(wrote)} events, or gave others"


def missing_errors(to, *recordings):
    for recording in recordings:
        if not isinstance(recording.error, STREAM_ERRORS[to]):
            yield f"ends in an error, but the SDK raised {recording.error!r}"


def looks_complete(protocol, upstream):
    """Whether the upstream's own SDK sees a complete answer."""
    if upstream.error:
        return False
    answer = json.loads(document(protocol, upstream))
    stops = [choice.get("finish_reason") for choice in answer.get("choices", ())] or [answer.get("stop_reason")]
    return protocol == "responses" or all(stops)


def unexpected_differences(path, to, expected, answer):
    """Differences that are not known, and known differences that are gone."""
    left = {at for vector, client, at in DIFFERENCES if (vector, client) == (name(path), to)}
    for at, whole, streamed in diff(normalized(to, path, expected), normalized(to, path, answer)):
        left.discard(at)
        if (name(path), to, at) not in DIFFERENCES or DIFFERENCES[name(path), to, at] != streamed:
            yield f"{at or '/'} is {short(whole)} as a whole and {short(streamed)} as a stream"
    for at in left:
        yield f"{at} is a known difference and does not differ"


def normalized(to, path, document):
    """The answer without the fields that may differ between a whole answer and a stream."""
    answer = without_times_and_nulls(json.loads(document, parse_int=number_text, parse_float=number_text))
    if to == "chat":
        if not asks_for_usage(path):
            answer.pop("usage", None)
        # The helper keeps the value of the first chunk; the tier arrives later.
        answer.pop("service_tier", None)
        for choice in answer["choices"]:
            # The first chunk has "" where a whole answer has no content.
            choice["message"]["content"] = choice["message"].get("content", "")
    if to == "messages":
        # From the last event, which has the tier, the helper only takes the counts.
        answer["usage"].pop("service_tier", None)
    for item in answer.get("output", ()):
        # Ids are derived from an item's position, and an empty item only counts in a whole answer.
        item.pop("id", None)
    return answer


def asks_for_usage(path):
    request = path.with_name("request.chat.json")
    options = json.loads(request.read_text()).get("stream_options") if request.exists() else None
    return bool(options and options.get("include_usage"))


def number_text(text):
    """A number as text, because parsing could round it. SDKs write whole numbers without ".0"."""
    return text.removesuffix(".0")


def without_times_and_nulls(value):
    if isinstance(value, dict):
        times = ("created", "created_at", "completed_at")
        kept = {key: member for key, member in value.items() if member is not None and key not in times}
        return {key: without_times_and_nulls(member) for key, member in kept.items()}
    return [without_times_and_nulls(member) for member in value] if isinstance(value, list) else value


def diff(one, other, at=""):
    """Where two values differ: the JSON Pointer, and the value on each side."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one | other:
            yield from diff(one.get(key), other.get(key), f"{at}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other, strict=True)):
            yield from diff(*pair, f"{at}/{index}")
    elif one != other:
        yield at, one, other


def short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 400 else text[:400] + "…"
