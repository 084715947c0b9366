"""The disposition table is complete and true.

Every field of a request that the vendors publish is set, translated toward both other protocols,
and looked for in what comes out. The table must have a row for it, and the row must say what was
seen; where the output does not show the field and the ledger does not speak of it, it was lost
in silence, whatever the table says.
"""

import json
import re
import subprocess
from collections import Counter
from functools import cache

import pytest

from e2e.schemas.observed_dispositions import cases, fields
from e2e.settings import BINARY

# Where a field may make no difference at all: it says what is meant anyway.
SAID_ANYWAY = (
    # A search that has a call id was run by the client.
    ("responses", r"input\[type=tool_search_(call|output)\]\.execution", "client"),
    # The target's own search runs on the server as well.
    ("responses", r".*tools\[type=tool_search\]\.execution", "server"),
    # There is no other kind of location.
    ("responses", r".*tools\[type=web_search.*\]\.user_location\.type", "approximate"),
    # Responses needs the member, and this is its default as well as Chat's.
    ("chat", r".*\.image_url\.detail", "auto"),
    # Responses shows summaries whenever a Messages client lets the model think.
    ("messages", r"thinking\(type=\w+\)\.display", "summarized"),
)


def test_every_field_has_a_row():
    names = [(field["protocol"], field["path"]) for field in fields()]
    missing = [f"{protocol} {path}" for protocol, path in names if not row_of(protocol, path)]
    assert not missing, report(missing)


def test_every_row_decides_about_a_field():
    used = {index_of(field["protocol"], field["path"]) for field in fields()}
    idle = [f"{row['protocol']} {row['field']}" for index, row in enumerate(table()) if index not in used]
    assert not idle, report(idle)


def test_no_field_is_lost_in_silence():
    silent = [str(case) for case in cases() if "silent" in case.fates and not said_anyway(case)]
    assert not silent, report(silent)


def test_no_field_breaks_the_reading():
    broken = [f"{case}: {case.answer['error']}" for case in cases() if "unreadable" in case.fates]
    assert not broken, report(broken)


def test_the_table_is_true():
    wrong = {}
    for case in cases():
        if not agrees(case):
            key = f"{said(case)}, but toward {case.target} it is {', '.join(sorted(case.fates))}"
            wrong.setdefault(key, []).append(str(case))
    assert not wrong, report([f"{key}: {len(found)} times, first {found[0]}" for key, found in wrong.items()])


def test_a_text_that_is_carried_can_be_read():
    marked = [(case, MARKED.search(case.row["sample"])) for case in cases() if is_carried_text(case)]
    missing = [str(case) for case, mark in marked if mark and mark[0] not in json.dumps(case.answer["body"])]
    assert not missing, report(missing)
    assert sum(bool(mark) for _, mark in marked) > 500


def test_every_fate_in_the_table_was_seen():
    seen = set()
    for case in cases():
        index = index_of(case.row["protocol"], case.row["path"])
        seen |= {(index, case.target, fate) for fate in case.fates}
    unseen = [
        f"{row['protocol']} {row['field']} → {target}: {fate}"
        for index, row in enumerate(table())
        for target in row["toward"]
        for fate in sorted(allowed(row, target))
        if (index, target, fate) not in seen
    ]
    assert not unseen, report(unseen)


def test_counts(capsys):
    silent = sum("silent" in case.fates and not said_anyway(case) for case in cases())
    undecided = sum(not row_of(field["protocol"], field["path"]) for field in fields())
    kinds = Counter(fate.split()[0] for case in cases() for fate in case.fates)
    with capsys.disabled():
        print(f"\n{len(fields())} fields, {len(table())} rows, {undecided} undecided, {silent} silent")
        print(f"{len(cases())} translations: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    assert (undecided, silent) == (0, 0)


@pytest.mark.parametrize("protocol, path, fate", [("chat", "seed", "carried"), ("chat", "model", "lost sampling")])
def test_a_wrong_row_is_noticed(protocol, path, fate, monkeypatch):
    monkeypatch.setattr("e2e.schemas.test_dispositions.allowed", lambda row, target: {fate})
    mine = [case for case in cases() if (case.row["protocol"], case.row["path"]) == (protocol, path)]
    assert mine and not any(agrees(case) for case in mine)


def is_carried_text(case):
    return case.fates == {"carried"} and case.value is None and isinstance(case.row["sample"], str)


def agrees(case):
    """Whether what was seen is what the table says."""
    if case.fates & {"silent", "unreadable", "within"} or said_anyway(case):
        return True
    row = row_of(case.row["protocol"], case.row["path"])
    expected = allowed(row, case.target) if row else set()
    losses = {fate for fate in case.fates if not fate.startswith("emulated")}
    return losses <= expected and bool(case.fates & expected)


def allowed(row, target):
    """The fates that a row allows toward a protocol, in the words of `e2e.schemas.observed_dispositions`."""
    fate = row["toward"][target]
    return {" ".join([each["disposition"], *each["codes"]]) for each in fate.get("any_of", [fate])}


def said(case):
    row = row_of(case.row["protocol"], case.row["path"])
    return f"{row['protocol']} {row['field']} is {' or '.join(sorted(allowed(row, case.target)))}" if row else "no row"


def said_anyway(case):
    value = case.row["sample"] if case.value is None else case.value
    return any(
        case.row["protocol"] == protocol and re.fullmatch(pattern, case.row["path"]) and value == same
        for protocol, pattern, same in SAID_ANYWAY
    )


def row_of(protocol, path):
    index = index_of(protocol, path)
    return None if index is None else table()[index]


@cache
def index_of(protocol, path):
    """Where the row is that decides about a field: the first that fits."""
    for index, row in enumerate(table()):
        if row["protocol"] == protocol and pattern_of(row["field"]).fullmatch(path):
            return index
    return None


@cache
def pattern_of(field):
    return re.compile(".*".join(map(re.escape, field.split("*"))))


@cache
def table():
    return json.loads(subprocess.run([BINARY, "dispositions", "--json"], capture_output=True, check=True).stdout)


def report(lines):
    shown = "\n".join(lines[:SHOWN])
    return f"{len(lines)}:\n{shown}" + (f"\nand {len(lines) - SHOWN} more" if len(lines) > SHOWN else "")


# How `e2e.schemas.sample_values` marks a text under test.
MARKED = re.compile(r"tw[-_][0-9a-f]{10}")

SHOWN = 100
