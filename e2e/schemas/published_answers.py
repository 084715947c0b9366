"""Every field of the answers that the vendors publish, with an answer that has it and one that does not.

    python -m e2e.schemas.published_answers            counts
    python -m e2e.schemas.published_answers --paths    the paths alone, by protocol and form
    python -m e2e.schemas.published_answers --json     one JSON object per line

The fields are read from the pinned `openai` and `anthropic` packages: those of whole answers, of the
events of streams and of errors. `field_paths.py` defines how they are named. The events of a stream
hold pieces of the same answer, so a field that belongs to the answer has one name wherever it is
found. Fields that only an event has are named with it, and fields of an error's body with that:

    output[type=function_call].name             of a whole answer, and of the item that an event holds
    event(type=response.output_text.delta).delta
    error_body.error.message

A row has

    protocol   chat, responses or messages
    form       whole, stream or error
    event      the event that has the field, or none where several repeat it
    path       the name of the field
    beta       whether only the beta types of Messages have it
    values     the allowed values, if the types list all of them
    sample     the value used here
    places     the JSON Pointers of that value in `with`
    with       a small, complete answer that has the field: a list of events in the form of a stream
    without    the same answer without the field
    differs    true if an answer needs the field: `without` then has another value
"""

import argparse
import collections
import json
import re
import sys
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from anthropic.types import BetaErrorResponse, ErrorResponse, Message, RawMessageStreamEvent
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from openai.types import ErrorObject
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent

from e2e.schemas import answers, field_paths, sample_values
from e2e.schemas.sample_values import MARK, PLAIN
from e2e.schemas.sdk_types import Record, Text, alternatives, tags
from e2e.schemas.type_walk import Step, contains, path_of, value_steps, variants, walk
from e2e.settings import PROTOCOLS

# The types of whole answers. If two declare the same field, the first one counts.
WHOLE = {"chat": [ChatCompletion], "responses": [Response], "messages": [Message, BetaMessage]}

# The types of the events of streams.
EVENTS = {
    "chat": [ChatCompletionChunk],
    "responses": [ResponseStreamEvent],
    "messages": [RawMessageStreamEvent, BetaRawMessageStreamEvent],
}

# The types of the bodies of errors. OpenAI's has the published object in its one member.
ERRORS = {"chat": [ErrorObject], "responses": [ErrorObject], "messages": [ErrorResponse, BetaErrorResponse]}

# Where an event holds a part of an answer, and how that part is named there.
EMBEDDED = {
    "chat": [(r"event\.", "")],
    "responses": [
        (r"event\(type=response\.\w+\)\.response\b\.?", ""),
        (r"event\(type=response\.output_item\.\w+\)\.item\(((?:type|role)=\w+)\)", r"output[\1]"),
        (r"event\(type=response\.output_item\.\w+\)\.item\b", "output"),
        (
            r"event\(type=response\.content_part\.\w+\)\.part\(type=reasoning_text\)",
            "output[type=reasoning].content[type=reasoning_text]",
        ),
        (r"event\(type=response\.content_part\.\w+\)\.part\((type=\w+)\)", r"output[role=assistant].content[\1]"),
        (r"event\(type=response\.content_part\.\w+\)\.part\b", "output[role=assistant].content"),
        (
            r"event\(type=response\.reasoning_summary_part\.\w+\)\.part\b(\.type$)?",
            "output[type=reasoning].summary[type=summary_text]",
        ),
        (
            r"event\(type=response\.output_text\.annotation\.added\)\.annotation\((type=\w+)\)",
            r"output[role=assistant].content[type=output_text].annotations[\1]",
        ),
        (
            r"event\(type=response\.output_text\.annotation\.added\)\.annotation\b",
            "output[role=assistant].content[type=output_text].annotations",
        ),
    ],
    "messages": [
        (r"event\(type=message_start\)\.message\.?", ""),
        (r"event\(type=content_block_start\)\.content_block\((type=\w+)\)", r"content[\1]"),
        (r"event\(type=content_block_start\)\.content_block\b", "content"),
        (r"event\(type=message_delta\)\.delta\.", ""),
        (r"event\(type=message_delta\)\.(?!type$|delta$)", ""),
    ],
}

# Members of events that the stream around them decides.
COUNTED = {"item_id", "output_index", "sequence_number"}

# Members that follow from the rest of an answer. Another value would make another answer, or none.
FOLLOWING = {
    "item_id",
    "total_tokens",
    "index",
    "output_index",
    "content_index",
    "summary_index",
    "annotation_index",
    "command_index",
    "partial_image_index",
    "sequence_number",
}


@dataclass
class Row:
    """One published field of an answer. The documentation of the module explains its members."""

    protocol: str
    form: str
    path: str
    steps: tuple[Step, ...]
    complete: Any
    beta: bool
    event: str | None = None
    values: tuple[str, ...] = ()

    def as_json(self):
        """The row as it is printed."""
        built, with_field, without_field, differs = variants(self.steps, self.path, self.complete, removable)
        follows = self.steps[-1].field is not None and self.steps[-1].field.name in FOLLOWING
        if follows:
            with_field, differs = without_field, False
        places = self.places(with_field, built)
        if not places and not follows:
            raise LookupError(f"{self.protocol} {self.path} is not in its own answer: {json.dumps(with_field)}")
        return {
            "protocol": self.protocol,
            "form": self.form,
            "event": self.event,
            "path": self.path,
            "beta": self.beta,
            "values": list(self.values),
            "sample": built,
            "places": places,
            "with": with_field,
            "without": without_field,
            "differs": differs,
        }

    def places(self, document, built):
        """Where the value is in the answer."""
        if self.form == "whole":
            return [at for at, found in field_paths.find(self.path, document) if contains(found, built)]
        if self.form == "error":
            inner = self.path.removeprefix("error_body.")
            events = enumerate(document) if isinstance(document, list) else [(None, document)]
            found = [(n, at) for n, event in events for at, value in field_paths.find(inner, event) if contains(value, built)]
            return [at if n is None else f"/{n}{at}" for n, at in found]
        found = []
        views = answers.PROTOCOLS[self.protocol].views
        own = re.fullmatch(r"event\(type=([\w.]+)\)\.(.*)", self.path)
        for number, event in enumerate(document):
            if own and event["type"] == own[1]:
                found += [f"/{number}{at}" for at, value in field_paths.find(own[2], event) if contains(value, built)]
            if own and isinstance(event.get("item"), dict):
                # The item has at its end what events have added to it.
                marks = [text for _, text in texts(built) if MARK in text]
                found += [f"/{number}/item{at}" for at, text in texts(event["item"]) if text in marks]
            for view, old, new in () if own else views(number, event):
                for at, value in field_paths.find(self.path, view):
                    if contains(value, built):
                        found.append(new + at.removeprefix(old) if at.startswith(old) else new)
        return found


@cache
def rows():
    """All rows, by protocol and form, in the order of the SDKs' declarations."""
    found = {}
    for row in _rows():
        held = found.setdefault((row.protocol, row.form, row.event, row.path), row)
        held.values = tuple(dict.fromkeys(held.values + row.values))
    return tuple(found.values())


def _rows():
    for protocol in PROTOCOLS:
        yield from whole_rows(protocol)
        yield from stream_rows(protocol)
        yield from error_rows(protocol)


def whole_rows(protocol):
    for root in WHOLE[protocol]:
        for steps in walk(Record(root)):
            path = path_of(steps)
            complete = partial(answers.PROTOCOLS[protocol].whole, path)
            yield Row(protocol, "whole", path, steps, complete, is_beta(root), values=values(steps))


def stream_rows(protocol):
    if protocol == "responses":
        # Its events repeat each other, so what they hold of the answer is set in all of them.
        for row in whole_rows(protocol):
            complete = partial(_streamed, row.complete)
            yield Row(protocol, "stream", row.path, row.steps, complete, beta=False, values=row.values)
    for event, name, path, steps in event_fields(protocol):
        path = canonical(protocol, path)
        if protocol == "responses" and not path.startswith("event("):
            continue
        if path in ("", "choices", "content"):
            # The stream itself is the answer, and its chunks and blocks are the list.
            continue
        complete = partial(_around_event, protocol, event, name, path)
        yield Row(protocol, "stream", path, steps, complete, is_beta(event.type), name, values(steps))


def event_fields(protocol):
    """Every field of every event: (type, name of the event, path, steps)."""
    for root in EVENTS[protocol]:
        for event in alternatives(root):
            tag = tags(event)[0] if protocol != "chat" else None
            prefix = f"event({tag})." if tag else "event."
            for steps in walk(event, tag=tag):
                yield event, tag.values[0] if tag else "", prefix + path_of(steps), steps


def canonical(protocol, path):
    """The name of an event's field: the answer's own name where it is part of the answer."""
    for pattern, name in EMBEDDED[protocol]:
        if match := re.match(pattern, path):
            return match.expand(name) + path[match.end() :]
    return path


def error_rows(protocol):
    for root in ERRORS[protocol]:
        for steps in walk(Record(root)):
            path = path_of(steps) if protocol == "messages" else f"error.{path_of(steps)}"
            row = partial(Row, protocol, "error", f"error_body.{path}", steps)
            complete = partial(_error, protocol, root)
            yield row(complete, is_beta(root), values=values(steps))
            if protocol != "responses":
                yield row(partial(_failed_stream, protocol, complete), is_beta(root), "error", values(steps))


def _streamed(whole, built, reference):
    return answers.responses.stream(whole(built, reference))


def _around_event(protocol, event, name, path, built, reference):
    chosen = tags(event)[0] if name else None
    members = sample_values.record(event, PLAIN, chosen) if protocol == "responses" else {}
    members = {key: 0 if key in FOLLOWING else value for key, value in members.items() if key not in COUNTED}
    return answers.PROTOCOLS[protocol].event(name, path, {**members, **built}, {**members, **reference})


def _error(protocol, root, built, reference):
    body = {**sample_values.record(Record(root), PLAIN), **built}
    return body if protocol == "messages" else {"error": {"type": "server_error", "param": None, "code": None, **body}}


def _failed_stream(protocol, complete, built, reference):
    return answers.PROTOCOLS[protocol].failed_stream(complete(built, reference))


def texts(value, at=""):
    """Every text in a JSON value: (JSON Pointer, text)."""
    if isinstance(value, str):
        yield at, value
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from texts(inner, f"{at}/{key}")


def values(steps):
    return steps[-1].shape.values if isinstance(steps[-1].shape, Text) else ()


def is_beta(root):
    return "beta" in root.__module__


def removable(steps):
    """Whether an answer stays valid without the value that the last step leads to."""
    last, declared = steps[-1], value_steps(steps)[-1].field
    if last.field:
        if isinstance(last.shape, Text) and len(last.shape.values) == 1:
            # A constant can be missing without a doubt about what is meant.
            return True
        needed = declared.required and not declared.nullable
        return not needed and declared.name not in sample_values.essential(declared.owner, declared.name)
    return last.in_list


def main(arguments):
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m e2e.schemas.published_answers", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print every row as a line of JSON")
    parser.add_argument("--paths", action="store_true", help="print the paths, by protocol and form")
    options = parser.parse_args(arguments)
    for row in rows():
        if options.json:
            print(json.dumps(row.as_json(), ensure_ascii=False))
        elif options.paths:
            print(row.protocol, row.form, row.path, row.event or "", "beta" if row.beta else "")
    counts = collections.Counter((row.protocol, row.form, row.beta) for row in rows())
    for (protocol, form, beta), count in counts.items():
        print(f"{protocol} {form}{' (beta)' if beta else ''}: {count} fields", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
