"""What the translator does to every published field of an answer, whole, streamed and in errors.

The outcomes are those of `observed_dispositions.py`, and one more: `fixed`, if every answer of this kind
has the same value there, so that there is nothing to compare. A stream may repeat a value in several
events; an entry of the ledger about any of these places is about the value.
"""

import json
import re
import tempfile
from functools import cache

from e2e.schemas import field_paths
from e2e.schemas.answers import as_sse
from e2e.schemas.observed_dispositions import Case, dispositions, translate
from e2e.schemas.published_answers import rows
from e2e.settings import PROTOCOLS

KINDS = {"whole": "response", "stream": "stream", "error": "error"}


class AnswerCase(Case):
    """One field of an answer with one value, translated to one protocol, and what happened to it."""

    def __str__(self):
        value = f" = {json.dumps(self.value)}" if self.value is not None else ""
        event = f" in {self.row['event']}" if self.row["event"] else ""
        return f"{self.row['protocol']} {self.row['form']} {self.row['path']}{value}{event} → {self.target}"


@cache
def fields():
    """All fields of answers."""
    return tuple(row.as_json() for row in rows())


@cache
def cases():
    """Every field of every answer, to each other protocol, with each value that makes a difference."""
    return tuple(_cases())


def _cases():
    parents = {(row["protocol"], above) for row in fields() for above in _enclosing_paths(row["path"])}
    for protocol in PROTOCOLS:
        for form, kind in KINDS.items():
            for streamed in (False, True):
                mine = [row for row in fields() if (row["protocol"], row["form"]) == (protocol, form)]
                mine = [row for row in mine if isinstance(row["with"], list) == streamed]
                pairs = [(row, *pair) for row in mine for pair in _answers(row)]
                texts = [_text(protocol, document) for _, _, *pair in pairs for document in pair]
                for target in PROTOCOLS:
                    if target == protocol or not pairs:
                        continue
                    translated = _translate(protocol, target, "stream" if streamed else kind, texts)
                    for index, (row, value, _, _) in enumerate(pairs):
                        with_field, without_field = translated[2 * index], translated[2 * index + 1]
                        leaf = (protocol, row["path"]) not in parents
                        observed = dispositions(_places(row), leaf, with_field, without_field)
                        if texts[2 * index] == texts[2 * index + 1]:
                            observed = frozenset(["fixed"])
                        if with_field["error"] and not _may_fail(row, value):
                            observed |= {"unreadable"}
                        yield AnswerCase(row, target, value, observed, with_field, without_field)


def _translate(protocol, target, kind, texts):
    if (target, kind) != ("chat", "stream"):
        return translate(protocol, target, kind, texts)
    # A stream of Chat has token counts if the client asked for them.
    with tempfile.NamedTemporaryFile("w", suffix=".json") as request:
        json.dump(STREAM_WITH_USAGE, request)
        request.flush()
        return translate(protocol, target, kind, texts, "--request", request.name)


STREAM_WITH_USAGE = {
    "model": "gpt-5.5",
    "messages": [{"role": "user", "content": "hello"}],
    "stream": True,
    "stream_options": {"include_usage": True},
}


def _may_fail(row, value):
    """Whether the answer says that the model failed, so that its translation is an error."""
    failed = {"failed", "cancelled", "queued", "in_progress"}
    value = row["sample"] if value is None else value
    is_error = "error" in (row["form"], row["event"]) or row["path"].startswith("error")
    return is_error or (isinstance(value, str) and value in failed)


def _text(protocol, document):
    return json.dumps(as_sse(protocol, document) if isinstance(document, list) else document)


def _answers(row):
    """The answers that test a field: (value, answer with it, answer without it)."""
    yield None, row["with"], row["without"]
    for value in row["values"] if isinstance(row["sample"], str) else []:
        with_value = row["with"]
        for at in row["places"]:
            with_value = field_paths.replace(with_value, at, value)
        if value != row["sample"]:
            yield value, with_value, row["without"] if with_value != row["without"] else row["with"]
    for pattern, value in SPECIAL_VALUES:
        if re.fullmatch(pattern, row["path"]):
            with_value = row["with"]
            for at in row["places"]:
                with_value = field_paths.replace(with_value, at, value)
            yield value, with_value, row["without"]


# Values that a target may not accept: names and ids of calls.
SPECIAL_VALUES = (
    (r"(choices\[\]|content\[type=tool_use|output\[type=(function|custom_tool)_call).*\.name", "srv/tool.x"),
    (r"(choices\[\]\.\w+\.tool_calls|content\[type=tool_use).*\]\.id", "functions.x:0/" + 70 * "x"),
    (r"output\[type=(function|custom_tool)_call\]\.call_id", "functions.x:0/" + 70 * "x"),
)


def _places(row):
    """Where the value is, and where it would be in the events that begin and end what it is in."""
    places = list(row["places"])
    if isinstance(row["with"], list) and row["protocol"] != "chat":
        for at in row["places"]:
            number, _, rest = at[1:].partition("/")
            places += [f"/{other}/{rest}" for other in _around(row["with"], int(number))]
    return list(dict.fromkeys(places))


def _around(events, number):
    """The events that begin and end the message, block, part or item that an event is about."""
    about = events[number]
    kind = about["type"].partition(".")[0]
    names, key = ENDS.get(kind if kind in ENDS else kind.rpartition("_")[0], ((), ""))
    same = [n for n, event in enumerate(events) if event.get(key) == about.get(key)]
    return [n for n in same if events[n]["type"].startswith(names)]


# How these events are called, and the member that says what they are about.
ENDS = {
    "response": (("response.output_item.", "response.content_part."), "output_index"),
    "content_block": (("content_block_",), "index"),
    "message": (("message_",), "index"),
}


def _enclosing_paths(path):
    """The paths of everything that encloses a field."""
    return [path[:index] for index, character in enumerate(path) if index and character in ".[("]
