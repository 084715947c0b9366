"""The disposition table of answers is complete and correct.

Every field of the answers that the vendors publish, of the events of their streams and of their errors
is set, translated to both other protocols, and looked for in the output. The table must have a row for
the field, and the row must say what was observed. If neither the output nor the ledger shows the field,
it was lost silently, unless the table says that it says nothing.
"""

import json
import re
from collections import Counter

import pytest

from e2e.schemas.disposition_table import Table, allowed, is_among, report
from e2e.schemas.observed_answers import cases, fields
from e2e.schemas.published_answers import canonical, event_fields, rows
from e2e.settings import PROTOCOLS


def test_every_field_has_a_row():
    missing = [f"{field['protocol']} {field['path']}" for field in fields() if not row_for(field)]
    assert not missing, report(missing)


def test_every_field_of_every_event_has_a_name_in_the_table():
    known = {(row.protocol, row.path) for row in rows()}
    names = {
        (protocol, canonical(protocol, path)) for protocol in PROTOCOLS for _, _, path, _ in event_fields(protocol)
    }
    missing = sorted(f"{protocol} {path}" for protocol, path in names - known if path and path != "content")
    assert not missing, report(missing)


def test_every_row_applies_to_a_field():
    used = {TABLE.row_index(field["protocol"], field["path"]) for field in fields()}
    idle = [f"{row['protocol']} {row['field']}" for index, row in enumerate(TABLE.rows) if index not in used]
    assert not idle, report(idle)


@pytest.mark.parametrize("form", ["whole", "stream", "error"])
def test_no_field_is_lost_silently(form):
    silent = [str(case) for case in cases() if case.row["form"] == form and is_silent(case)]
    assert not silent, report(silent)


def test_every_answer_is_readable():
    broken = [f"{case}: {case.with_field['error']}" for case in cases() if "unreadable" in case.dispositions]
    assert not broken, report(broken)


@pytest.mark.parametrize("form", ["whole", "stream", "error"])
def test_the_table_matches_the_translations(form):
    wrong = {}
    for case in cases():
        if case.row["form"] == form and not agrees(case):
            key = f"{described(case)}, but toward {case.target} it is {', '.join(sorted(case.dispositions))}"
            wrong.setdefault(key, []).append(str(case))
    assert not wrong, report([f"{key}: {len(found)} times, first {found[0]}" for key, found in wrong.items()])


def test_a_carried_text_is_in_the_output():
    marked = [(case, MARK.search(case.row["sample"])) for case in cases() if is_carried_text(case)]
    missing = [str(case) for case, mark in marked if mark and not is_in_output(case, mark[0])]
    # The id of an answer becomes one of the target's form, a function of it.
    missing = [name for name in missing if not re.match(r"\w+ (whole|stream) id ", name)]
    assert not missing, report(missing)
    assert sum(bool(mark) for _, mark in marked) > 200


def test_what_says_nothing_is_not_in_the_ledger():
    told = [str(case) for case in cases() if expected(case) == {"says nothing"} and case.dispositions & LEDGER]
    assert not told, report(told)


def test_every_disposition_in_the_table_was_observed():
    observed = set()
    for case in cases():
        index = TABLE.row_index(case.row["protocol"], case.row["path"])
        observed |= {(index, case.target, disposition) for disposition in case.dispositions}
    unseen = [
        f"{row['protocol']} {row['field']} → {target}: {disposition}"
        for index, row in enumerate(TABLE.rows)
        for target in row["toward"]
        for disposition in sorted(allowed(row, target) - {"says nothing"})
        if (index, target, disposition) not in observed and not is_container(index)
    ]
    assert not unseen, report(unseen)


def test_counts(capsys):
    silent = sum(is_silent(case) for case in cases())
    undecided = sum(not row_for(field) for field in fields())
    kinds = Counter(disposition.split()[0] for case in cases() for disposition in case.dispositions)
    forms = Counter(field["form"] for field in fields())
    with capsys.disabled():
        print(f"\n{len(fields())} fields ({dict(forms)}), {len(TABLE.rows)} rows, {undecided} undecided, {silent} silent")
        print(f"{len(cases())} translations: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    assert (undecided, silent) == (0, 0)


@pytest.mark.parametrize("protocol, path, wrong", [("chat", "moderation", "carried"), ("chat", "model", "lost sampling")])
def test_a_wrong_row_is_noticed(protocol, path, wrong, monkeypatch):
    monkeypatch.setattr("e2e.schemas.test_answer_dispositions.expected", lambda case: {wrong})
    mine = [case for case in cases() if (case.row["protocol"], case.row["path"]) == (protocol, path)]
    assert mine and not any(agrees(case) for case in mine)


def is_silent(case):
    return "silent" in case.dispositions and "says nothing" not in expected(case)


def is_carried_text(case):
    return case.dispositions == {"carried"} and case.value is None and isinstance(case.row["sample"], str)


def is_in_output(case, mark):
    body = case.with_field["body"]
    return mark in (body if isinstance(body, str) else json.dumps(body))


def is_container(index):
    """Whether a row is about a value whose fields have rows of their own."""
    return all("within" in case.dispositions for case in cases() if TABLE.row_index(*key(case)) == index)


def key(case):
    return case.row["protocol"], case.row["path"]


def agrees(case):
    """Whether the observed dispositions are those in the table."""
    observed = case.dispositions
    if observed & {"silent", "unreadable", "within", "fixed"}:
        return True
    if expected(case) == {"says nothing"}:
        return not observed & LEDGER
    return is_among(observed, expected(case))


def expected(case):
    row = row_for(case.row)
    return allowed(row, case.target) if row else set()


def described(case):
    row = row_for(case.row)
    return f"{row['protocol']} {row['field']} is {' or '.join(sorted(expected(case)))}" if row else "no row"


def row_for(field):
    return TABLE.row_for(field["protocol"], field["path"])


class _Ledger:
    """The dispositions that the ledger shows."""

    def __rand__(self, observed):
        return {disposition for disposition in observed if disposition.split()[0] in ("lost", "emulated", "refused")}


LEDGER = _Ledger()
TABLE = Table("--answers")

# How `sample_values.py` marks a text under test.
MARK = re.compile(r"tw[-_][0-9a-f]{10}")
