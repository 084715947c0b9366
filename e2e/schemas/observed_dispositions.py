"""What the translator does to every published request field, in the words of the disposition table.

A field's disposition toward a protocol is found by translating a document that has the field and one
that lacks it, comparing the two outputs, and reading the ledger's entries about the field.

    carried        the outputs differ, and the ledger has no loss for the field
    emulated code  the field arrives in another shape, under another name or in another place
    lost code      some or all of the field does not arrive
    refused code   the document is refused because of the field
    within         the outputs are the same, and the ledger has entries about the fields inside
    silent         the outputs are the same, and the ledger has no entry
    unreadable     the document could not be read
"""

import json
import subprocess
from dataclasses import dataclass
from functools import cache

from e2e.schemas import field_paths
from e2e.schemas.published_fields import rows
from e2e.schemas.special_cases import SPECIAL_VALUES, fields_in_context, unpublished_fields
from e2e.settings import BINARY, PROTOCOLS

# Codes of repairs to a conversation after something in it was dropped.
REPAIRS = ("placeholder", "message_boundary", "missing_result", "orphan_result")

LOSSES = ("dropped", "degraded", "moved")


@dataclass(frozen=True)
class Case:
    """One field with one value, translated to one protocol, and what happened to it."""

    row: dict
    target: str
    value: object
    dispositions: frozenset
    with_field: dict
    without_field: dict

    def __str__(self):
        value = f" = {json.dumps(self.value)}" if self.value is not None else ""
        return f"{self.row['protocol']} {self.row['path']}{value} → {self.target}"


@cache
def fields():
    """All fields: the published ones, and those that the SDKs lack."""
    return tuple(row.as_json() for row in rows()) + unpublished_fields()


@cache
def cases():
    """Every field that has a meaning, to each other protocol, with each value that makes a difference."""
    return tuple(_cases(fields(), fields_in_context()))


def _cases(known, in_context):
    parents = {(row["protocol"], above) for row in known for above in _enclosing_paths(row["path"])}
    for protocol in PROTOCOLS:
        mine = [row for row in known + in_context if row["protocol"] == protocol and not row["neutral"]]
        requests = [(row, *request) for row in mine for request in _requests(row)]
        for target in PROTOCOLS:
            if target == protocol:
                continue
            documents = [document for _, _, *pair in requests for document in pair]
            answers = translate(protocol, target, "request", [json.dumps(document) for document in documents])
            for index, (row, value, _, _) in enumerate(requests):
                with_field, without_field = answers[2 * index], answers[2 * index + 1]
                leaf = (protocol, row["path"]) not in parents
                observed = dispositions([row["at"]], leaf, with_field, without_field)
                yield Case(row, target, value, observed, with_field, without_field)


def dispositions(places, leaf, with_field, without_field):
    """What happened to the value at `places`, according to the two translations.

    `leaf` is true unless the value has fields of its own.
    """
    if with_field["error"] and not with_field["ledger"] and with_field["body"] is None:
        return frozenset(["unreadable"])
    refused = [entry for entry in with_field["ledger"] if entry["action"] == "refused"]
    if refused:
        mine = [entry for entry in refused if any(_is_near(entry["path"], at) for at in places)]
        return frozenset(f"refused {entry['code']}" for entry in mine or refused)
    same = with_field["body"] == without_field["body"]
    before = {_key(entry) for entry in without_field["ledger"]}
    inside, around, deeper = set(), {}, False
    for entry in with_field["ledger"]:
        path = entry["path"]
        for at in places:
            if path in (at, f"{at}/type") or (leaf and path.startswith(f"{at}/")):
                inside.add(_disposition(entry))
            elif path.startswith(f"{at}/"):
                deeper = True
            elif path and at.startswith(f"{path}/") and _concerns_field(entry, same, before):
                around.setdefault(path, {})[_disposition(entry)] = _key(entry) in before
    if same and deeper and not inside:
        return frozenset(["within"])
    found = inside or _newest(around.get(max(around, key=len, default=""), {}))
    # Repairs to the turns around the field say nothing about the field.
    found = {disposition for disposition in found if disposition.split()[1] not in REPAIRS} or found
    return frozenset(found or (["silent"] if same else ["carried"]))


def _newest(around):
    """Of what is said about an enclosing value, that which only the document with the field has, if any."""
    return {disposition for disposition, known in around.items() if not known} or set(around)


def _is_near(path, at):
    return at.startswith(path) or path.startswith(at)


def _concerns_field(entry, same, before):
    """Whether an entry about an enclosing value is about the field in it.

    It is if the enclosing value was dropped, if only the request with the field has the entry, or if
    the entry is a loss and the field does not show in the output.
    """
    return entry["action"] == "dropped" or _key(entry) not in before or (same and is_loss(entry))


def _disposition(entry):
    return f"{'lost' if is_loss(entry) else 'emulated'} {entry['code']}"


def is_loss(entry):
    """Whether an entry reports a loss, however small."""
    moved_whole = entry["action"] == "moved" and entry.get("level") == "info"
    return entry["action"] in LOSSES and not moved_whole


def _key(entry):
    return entry["path"], entry["code"], entry["action"]


def _requests(row):
    """The requests that test a field: (value, request with it, request without it)."""
    yield None, row["with"], row["without"]
    values = row["values"] if isinstance(row["sample"], str) else []
    for value in values:
        with_value = field_paths.replace(row["with"], row["at"], value)
        if value != row["sample"] and with_value != row["without"]:
            yield value, with_value, row["without"]
    for path, value in SPECIAL_VALUES[row["protocol"]]:
        if path == row["path"] and row["sample"] is not None:
            yield value, _everywhere(row["with"], row["sample"], value), row["without"]


def _everywhere(request, old, new):
    """The request with every occurrence of a value replaced, so that calls and results stay pairs."""
    return json.loads(json.dumps(request).replace(json.dumps(old), json.dumps(new)))


def _enclosing_paths(path):
    """The paths of everything that encloses a field."""
    return [path[:index] for index, character in enumerate(path) if index and character in ".[("]


def translate(protocol, target, kind, documents, *arguments):
    """The output of `toolwire translate --lines` for JSON texts, each distinct one translated once."""
    distinct = list(dict.fromkeys(documents))
    command = [BINARY, "translate", "--lines", "--kind", kind, "--from", protocol, "--to", target, *arguments]
    ran = subprocess.run(command, input="\n".join(distinct), capture_output=True, text=True, check=False)
    lines = ran.stdout.splitlines()
    assert len(lines) == len(distinct), f"{len(distinct)} documents, {len(lines)} answers: {ran.stderr}"
    answers = dict(zip(distinct, map(json.loads, lines), strict=True))
    return [answers[document] for document in documents]
