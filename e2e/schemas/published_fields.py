"""Every request field that the vendors publish, with a request that uses it and one that does not.

    python -m e2e.schemas.published_fields            counts
    python -m e2e.schemas.published_fields --paths    the paths alone, by protocol
    python -m e2e.schemas.published_fields --json     one JSON object per line

The fields are read from the pinned `openai` and `anthropic` packages. `field_paths.py` defines how
they are named. A row has

    protocol   chat, responses or messages
    path       the path of the field
    required   whether its object is invalid without it
    beta       whether only the beta types of Messages have it
    values     the allowed values, if the types list all of them
    type       the SDK type that declares it: rows with the same type differ only in their place
    misplaced  true if the types allow a block that the API rejects in that turn
    neutral    true if leaving the field out means the same, so that nothing can be lost
    sample     the value used here
    at         the JSON Pointer of that value in `with`
    with       a small, complete request that has the field
    without    the same request without the field
    differs    true if a request needs the field: `without` then has another value

If a value can be neither left out nor changed, such as the constant `type` of a cache marker,
`without` lacks the nearest enclosing value that can be left out.
"""

import argparse
import collections
import json
import re
import sys
from dataclasses import dataclass
from functools import cache

from anthropic.types import message_create_params as messages_params
from anthropic.types.beta import message_create_params as beta_params
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import response_create_params as responses_params

from e2e.schemas import field_paths, sample_values
from e2e.schemas.conversations import complete
from e2e.schemas.sdk_types import Record, Text, fields
from e2e.schemas.type_walk import Step, contains, implied, path_of, value_steps, variants, walk
from e2e.settings import PROTOCOLS

# The types of each protocol's request body. If two declare the same field, the first one counts.
ROOTS = {
    "chat": [chat_params.CompletionCreateParamsNonStreaming],
    "responses": [responses_params.ResponseCreateParamsNonStreaming],
    "messages": [messages_params.MessageCreateParamsNonStreaming, beta_params.MessageCreateParamsNonStreaming],
}

# Arguments of the SDK's method that are sent as headers.
HEADERS = {"betas", "user_profile_id", "workspace_id"}

# The SDKs allow the same blocks in every turn. The API accepts these in one kind of turn only.
MISPLACED = re.compile(
    r"messages\[role=user\]\.content\[type=(thinking|redacted_thinking|tool_use|server_tool_use|mcp_tool_use"
    r"|\w+_tool_result|tool_addition|tool_removal)\]"
    r"|messages\[role=assistant\]\.content\[type=(tool_result|tool_addition|tool_removal)\]"
    r"|input\[role=assistant\]\.content\[type=input_\w+\]"
    r"|input\[role=(user|system|developer)\]\.phase"
)

# Union members that mean the same as leaving the field out.
NEUTRAL = re.compile(
    r"(response_format|text\.format|.*\[type=custom\](\.custom)?\.format)\(type=text\)$"
    r"|tool_choice\(type=auto\)$"
    r"|.*\.caller\(type=direct\)$"
)


@dataclass
class Row:
    """One published field. The documentation of the module explains its members."""

    protocol: str
    steps: tuple[Step, ...]
    beta: bool
    values: tuple[str, ...] = ()

    @property
    def path(self):
        return path_of(self.steps)

    def as_json(self):
        """The row as it is printed."""
        last, here = self.steps[-1], value_steps(self.steps)[-1]
        declared = here.field
        return {
            "protocol": self.protocol,
            "path": self.path,
            "required": bool(last.field and last.field.required),
            "beta": self.beta,
            "values": list(self.values),
            "type": f"{declared.owner.name}.{declared.name}{last.text if last is not here else ''}",
            "misplaced": bool(MISPLACED.match(self.path)),
            "neutral": bool(NEUTRAL.match(self.path)) or implied(self.steps),
            **requests(self),
        }


@cache
def rows():
    """All rows, by protocol, in the order of the SDKs' declarations."""
    found = {}
    for protocol in PROTOCOLS:
        for root in ROOTS[protocol]:
            for steps in walk(Record(root)):
                if steps[0].field.name in HEADERS:
                    continue
                row = Row(protocol, steps, beta=root.__module__.startswith("anthropic.types.beta"))
                values = steps[-1].shape.values if isinstance(steps[-1].shape, Text) else ()
                held = found.setdefault((protocol, row.path), row)
                held.values = tuple(dict.fromkeys(held.values + values))
    return tuple(found.values())


def requests(row):
    """The members of a row that hold requests, and what describes them."""
    made = variants(row.steps, row.path, lambda built, whole: complete(row.protocol, row.path, built, whole), removable)
    built, with_field, without_field, differs = made
    for at, sample in field_paths.find(row.path, with_field):
        if contains(sample, built):
            return {"sample": sample, "at": at, "with": with_field, "without": without_field, "differs": differs}
    raise LookupError(f"{row.protocol} {row.path} is not in its own request: {json.dumps(with_field)}")


def removable(steps):
    """Whether a request stays valid without the value that the last step leads to."""
    last, declared = steps[-1], value_steps(steps)[-1].field
    if last.field:
        return not declared.required and declared.name not in sample_values.essential(declared.owner, declared.name)
    # `complete` fills these lists again.
    in_turn = any(member.name == "role" for member in fields(declared.owner))
    return last.in_list and (
        declared.name in sample_values.EMPTY_ALLOWED
        or declared.name in ("messages", "input")
        or (declared.name == "content" and in_turn)
    )


def main(arguments):
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m e2e.schemas.published_fields", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print every row as a line of JSON")
    parser.add_argument("--paths", action="store_true", help="print the paths, by protocol")
    options = parser.parse_args(arguments)
    for row in rows():
        if options.json:
            print(json.dumps(row.as_json(), ensure_ascii=False))
        elif options.paths:
            print(row.protocol, row.path, "beta" if row.beta else "")
    counts = collections.Counter((row.protocol, row.beta) for row in rows())
    for (protocol, beta), count in counts.items():
        print(f"{protocol}{' (beta)' if beta else ''}: {count} fields", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
