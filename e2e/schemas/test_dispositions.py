"""The disposition table of requests is complete and correct.

Every request field that the vendors publish is set, translated to both other protocols, and looked
for in the output. The table must have a row for the field, and the row must say what was observed.
If neither the output nor the ledger shows the field, it was lost silently, whatever the table says.
"""

import json
import re
from collections import Counter

import pytest

from e2e.schemas.disposition_table import Table, allowed, is_among, report
from e2e.schemas.observed_dispositions import cases, fields

# Values that may have no effect on the output, because they state the default.
REDUNDANT = (
    # A search with a call id was run by the client in any case.
    ("responses", r"input\[type=tool_search_(call|output)\]\.execution", "client"),
    # The target's own search runs on the server too.
    ("responses", r".*tools\[type=tool_search\]\.execution", "server"),
    # There is no other kind of location.
    ("responses", r".*tools\[type=web_search.*\]\.user_location\.type", "approximate"),
    # Responses requires the field, and this is its default as well as Chat's.
    ("chat", r".*\.image_url\.detail", "auto"),
    # If a Messages client enables thinking, Responses always shows summaries.
    ("messages", r"thinking\(type=\w+\)\.display", "summarized"),
)


def test_every_field_has_a_row():
    names = [(field["protocol"], field["path"]) for field in fields()]
    missing = [f"{protocol} {path}" for protocol, path in names if not row_for(protocol, path)]
    assert not missing, report(missing)


def test_every_row_applies_to_a_field():
    used = {TABLE.row_index(field["protocol"], field["path"]) for field in fields()}
    idle = [f"{row['protocol']} {row['field']}" for index, row in enumerate(TABLE.rows) if index not in used]
    assert not idle, report(idle)


def test_no_field_is_lost_silently():
    silent = [str(case) for case in cases() if "silent" in case.dispositions and not is_redundant(case)]
    assert not silent, report(silent)


def test_every_field_is_readable():
    broken = [f"{case}: {case.with_field['error']}" for case in cases() if "unreadable" in case.dispositions]
    assert not broken, report(broken)


def test_the_table_matches_the_translations():
    wrong = {}
    for case in cases():
        if not agrees(case):
            key = f"{described(case)}, but toward {case.target} it is {', '.join(sorted(case.dispositions))}"
            wrong.setdefault(key, []).append(str(case))
    assert not wrong, report([f"{key}: {len(found)} times, first {found[0]}" for key, found in wrong.items()])


def test_a_carried_text_is_in_the_output():
    marked = [(case, MARK.search(case.row["sample"])) for case in cases() if is_carried_text(case)]
    missing = [str(case) for case, mark in marked if mark and mark[0] not in json.dumps(case.with_field["body"])]
    assert not missing, report(missing)
    assert sum(bool(mark) for _, mark in marked) > 500


def test_every_disposition_in_the_table_was_observed():
    observed = set()
    for case in cases():
        index = TABLE.row_index(case.row["protocol"], case.row["path"])
        observed |= {(index, case.target, disposition) for disposition in case.dispositions}
    unseen = [
        f"{row['protocol']} {row['field']} → {target}: {disposition}"
        for index, row in enumerate(TABLE.rows)
        for target in row["toward"]
        for disposition in sorted(allowed(row, target))
        if (index, target, disposition) not in observed
    ]
    assert not unseen, report(unseen)


def test_counts(capsys):
    silent = sum("silent" in case.dispositions and not is_redundant(case) for case in cases())
    undecided = sum(not row_for(field["protocol"], field["path"]) for field in fields())
    kinds = Counter(disposition.split()[0] for case in cases() for disposition in case.dispositions)
    with capsys.disabled():
        print(f"\n{len(fields())} fields, {len(TABLE.rows)} rows, {undecided} undecided, {silent} silent")
        print(f"{len(cases())} translations: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    assert (undecided, silent) == (0, 0)


@pytest.mark.parametrize("protocol, path, disposition", [("chat", "seed", "carried"), ("chat", "model", "lost sampling")])
def test_a_wrong_row_is_noticed(protocol, path, disposition, monkeypatch):
    monkeypatch.setattr("e2e.schemas.test_dispositions.allowed", lambda row, target: {disposition})
    mine = [case for case in cases() if (case.row["protocol"], case.row["path"]) == (protocol, path)]
    assert mine and not any(agrees(case) for case in mine)


def is_carried_text(case):
    return case.dispositions == {"carried"} and case.value is None and isinstance(case.row["sample"], str)


def agrees(case):
    """Whether the observed dispositions are those in the table."""
    if case.dispositions & {"silent", "unreadable", "within"} or is_redundant(case):
        return True
    row = row_for(case.row["protocol"], case.row["path"])
    return is_among(case.dispositions, allowed(row, case.target) if row else set())


def described(case):
    row = row_for(case.row["protocol"], case.row["path"])
    return f"{row['protocol']} {row['field']} is {' or '.join(sorted(allowed(row, case.target)))}" if row else "no row"


def is_redundant(case):
    value = case.row["sample"] if case.value is None else case.value
    return any(
        case.row["protocol"] == protocol and re.fullmatch(pattern, case.row["path"]) and value == same
        for protocol, pattern, same in REDUNDANT
    )


def row_for(protocol, path):
    return TABLE.row_for(protocol, path)


TABLE = Table()

# How `sample_values.py` marks a text under test.
MARK = re.compile(r"tw[-_][0-9a-f]{10}")
