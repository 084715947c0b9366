"""The disposition tables as `toolwire dispositions` prints them."""

import json
import re
import subprocess
from functools import cache, cached_property

from e2e.settings import BINARY


class Table:
    """One table: that of requests, or with `--answers` that of answers."""

    def __init__(self, *arguments):
        self.arguments = arguments

    @cached_property
    def rows(self):
        command = [BINARY, "dispositions", "--json", *self.arguments]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    def row_for(self, protocol, path):
        """The row that applies to a field."""
        index = self.row_index(protocol, path)
        return None if index is None else self.rows[index]

    @cache  # noqa: B019 - the tables live as long as the tests
    def row_index(self, protocol, path):
        """The index of the row that applies to a field: the first that matches."""
        for index, row in enumerate(self.rows):
            if row["protocol"] == protocol and field_pattern(row["field"]).fullmatch(path):
                return index
        return None


@cache
def field_pattern(field):
    return re.compile(".*".join(map(re.escape, field.split("*"))))


def allowed(row, target):
    """The dispositions that a row allows toward a protocol, as `observed_dispositions.py` writes them."""
    cell = row["toward"][target]
    return {" ".join([each["disposition"], *each["codes"]]) for each in cell.get("any_of", [cell])}


def is_among(observed, expected):
    """Whether all observed losses are expected, and something that is expected was observed."""
    losses = {disposition for disposition in observed if not disposition.startswith("emulated")}
    return losses <= expected and bool(observed & expected)


def report(lines):
    shown = "\n".join(lines[:REPORT_LIMIT])
    return f"{len(lines)}:\n{shown}" + (f"\nand {len(lines) - REPORT_LIMIT} more" if len(lines) > REPORT_LIMIT else "")


REPORT_LIMIT = 100
