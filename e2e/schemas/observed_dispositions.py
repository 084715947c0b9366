"""What the translator does to every published field, as a fate: the same words as the disposition table.

A field's fate toward a protocol is found by translating a request that has the field and one
that lacks it, and looking at what differs and at what the ledger says about the field's place.

    carried            the output differs, and the ledger tells of no loss there
    emulated code      it crossed in another shape, under another name or at another place
    lost code          some of it, or all, did not cross
    refused code       the request was refused because of it
    within             the output is the same, and the ledger speaks of the fields inside
    silent             the output is the same, and the ledger says nothing
"""

import json
import subprocess
from dataclasses import dataclass
from functools import cache

from e2e.schemas import field_paths
from e2e.schemas.published_fields import rows
from e2e.schemas.special_cases import SPECIAL, surrounded, unpublished
from e2e.settings import BINARY, PROTOCOLS

# What is done to a conversation when something in it is gone.
REPAIRS = ("placeholder", "message_boundary", "missing_result", "orphan_result")

LOSSES = ("dropped", "degraded", "moved")


@dataclass(frozen=True)
class Case:
    """One field with one value, toward one protocol, and what became of it."""

    row: dict
    target: str
    value: object
    fates: frozenset
    answer: dict
    other: dict

    def __str__(self):
        value = f" = {json.dumps(self.value)}" if self.value is not None else ""
        return f"{self.row['protocol']} {self.row['path']}{value} → {self.target}"


@cache
def fields():
    """Every field there is to know: the published ones, and those that the SDKs do not have."""
    return tuple(row.as_json() for row in rows()) + unpublished()


@cache
def cases():
    """Every field that means something, toward each other protocol, with each value that makes a difference."""
    return tuple(_cases(fields(), surrounded()))


def _cases(known, more):
    parents = {(row["protocol"], above) for row in known for above in _above(row["path"])}
    for protocol in PROTOCOLS:
        mine = [row for row in known + more if row["protocol"] == protocol and not row["neutral"]]
        trials = [(row, *trial) for row in mine for trial in _trials(row)]
        for target in PROTOCOLS:
            if target == protocol:
                continue
            documents = [document for _, _, *pair in trials for document in pair]
            answers = _translate(protocol, target, documents)
            for index, (row, value, _, _) in enumerate(trials):
                answer, other = answers[2 * index], answers[2 * index + 1]
                leaf = (protocol, row["path"]) not in parents
                yield Case(row, target, value, fates(row["at"], leaf, answer, other), answer, other)


def fates(at, leaf, answer, other):
    """What became of the value at `at`, judged by the two answers; `leaf` unless it has fields of its own."""
    if answer["error"] and not answer["ledger"]:
        return frozenset(["unreadable"])
    refused = [entry for entry in answer["ledger"] if entry["action"] == "refused"]
    if refused:
        mine = [entry for entry in refused if at.startswith(entry["path"]) or entry["path"].startswith(at)]
        return frozenset(f"refused {entry['code']}" for entry in mine or refused)
    same = answer["body"] == other["body"]
    before = {_key(entry) for entry in other["ledger"]}
    inside, around, deeper = set(), {}, False
    for entry in answer["ledger"]:
        path = entry["path"]
        if path in (at, f"{at}/type") or (leaf and path.startswith(f"{at}/")):
            inside.add(_fate(entry))
        elif path.startswith(f"{at}/"):
            deeper = True
        elif path and at.startswith(f"{path}/") and _speaks(entry, same, before):
            around.setdefault(path, set()).add(_fate(entry))
    if same and deeper and not inside:
        return frozenset(["within"])
    found = inside or around.get(max(around, key=len, default=""), set())
    # What had to be done to the turns around says nothing about the field.
    found = {fate for fate in found if fate.split()[1] not in REPAIRS} or found
    return frozenset(found or (["silent"] if same else ["carried"]))


def _speaks(entry, same, before):
    """Whether an entry about something larger is about the field in it.

    It is if the whole is gone, if it is said only because of the field, or if it tells of a loss
    and nothing of the field can be seen.
    """
    return entry["action"] == "dropped" or _key(entry) not in before or (same and lossy(entry))


def _fate(entry):
    return f"{'lost' if lossy(entry) else 'emulated'} {entry['code']}"


def lossy(entry):
    """Whether an entry tells of a loss, however small."""
    moved_whole = entry["action"] == "moved" and entry.get("level") == "info"
    return entry["action"] in LOSSES and not moved_whole


def _key(entry):
    return entry["path"], entry["code"], entry["action"]


def _trials(row):
    """The requests that show what becomes of a field: value, with it, without it."""
    yield None, row["with"], row["without"]
    values = row["values"] if isinstance(row["sample"], str) else []
    for value in values:
        having = field_paths.replace(row["with"], row["at"], value)
        if value != row["sample"] and having != row["without"]:
            yield value, having, row["without"]
    for path, value in SPECIAL[row["protocol"]]:
        if path == row["path"] and row["sample"] is not None:
            yield value, _everywhere(row["with"], row["sample"], value), row["without"]


def _everywhere(request, old, new):
    """The request with another value wherever the old one is, so that calls and results stay pairs."""
    return json.loads(json.dumps(request).replace(json.dumps(old), json.dumps(new)))


def _above(path):
    """The paths of everything around a field."""
    return [path[:index] for index, character in enumerate(path) if index and character in ".[("]


def _translate(protocol, target, documents):
    """The answers of `toolwire translate --lines`, each distinct document asked for once."""
    texts = [json.dumps(document) for document in documents]
    distinct = list(dict.fromkeys(texts))
    command = [BINARY, "translate", "--lines", "--kind", "request", "--from", protocol, "--to", target]
    ran = subprocess.run(command, input="\n".join(distinct), capture_output=True, text=True, check=False)
    lines = ran.stdout.splitlines()
    assert len(lines) == len(distinct), f"{len(distinct)} documents, {len(lines)} answers: {ran.stderr}"
    answers = dict(zip(distinct, map(json.loads, lines), strict=True))
    return [answers[text] for text in texts]
