"""Field paths: how a request field is named, and how a name is found in a request.

    path      = name { "." name | ".*" | selector }
    selector  = "[]"                   any element of a list
              | "[" key "=" values "]" the elements of a list whose `key` has that value
              | "(" key "=" values ")" the same choice where the union is not in a list
              | "(" kind ")"           a union member that has no discriminator
    values    = value { "|" value }
    kind      = "string" | "number" | "boolean" | "object"

    tools[type=function].strict
    messages[role=user].content[type=image_url].image_url.detail
    messages[role=assistant].content(string)
    tool_choice(type=allowed_tools).allowed_tools.mode
    system[type=text].cache_control.ttl
    prompt.variables.*(type=input_text).text

An object that is neither in a list nor in a union needs no selector. `.*` is any
key of a map with typed values; a map of free values (metadata, a JSON schema) is a leaf.

Messages are selected by `role` in every protocol. In Responses, `input[role=user]` covers the short
form without `type`, the form with `type: message` and the model's own output messages, because to
a receiver they are one kind of item. Every other Responses item is selected by its `type`.

If the vendor lets a sender leave out the discriminator, the element is selected by the default: a
Messages tool without `type` is `tools[type=custom]`, and a Responses item with only an `id` is
`input[type=item_reference]`.
"""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"\.?(?P<name>[A-Za-z_][A-Za-z0-9_]*|\*)"
    r"|(?P<open>[\[(])(?:(?P<key>\w+)=(?P<values>[^\])]+)|(?P<kind>string|number|boolean|object))?[\])]"
)

KINDS = {"string": str, "number": (int, float), "boolean": bool, "object": dict}


@dataclass(frozen=True)
class Token:
    """One piece of a path: exactly one of a name, a list selector or a union selector."""

    name: str | None = None
    in_list: bool = False
    key: str | None = None
    values: tuple[str, ...] = ()
    kind: str | None = None


def parse(path):
    """The tokens of `path`; raises ValueError if it does not follow the grammar."""
    tokens, at = [], 0
    while at < len(path):
        match = TOKEN.match(path, at)
        if not match:
            raise ValueError(f"{path!r} is not a field path from character {at} on")
        tokens.append(
            Token(
                name=match["name"],
                in_list=match["open"] == "[",
                key=match["key"],
                values=tuple((match["values"] or "").split("|")) if match["key"] else (),
                kind=match["kind"],
            )
        )
        at = match.end()
    return tokens


def find(path, request):
    """Every place in `request` that `path` names, as (JSON Pointer, value) in document order."""
    places = [("", request)]
    for token in parse(path):
        places = [found for place in places for found in _follow(token, place)]
    return places


def replace(request, pointer, value):
    """A copy of `request` with `value` at the JSON Pointer, for trying other values of a field."""
    if not pointer:
        return value
    head, _, rest = pointer[1:].partition("/")
    key = int(head) if isinstance(request, list) else head.replace("~1", "/").replace("~0", "~")
    copy = request.copy()
    copy[key] = replace(request[key], "/" + rest if rest else "", value)
    return copy


def _follow(token, place):
    pointer, value = place
    if token.name == "*":
        return _entries(pointer, value) if isinstance(value, dict) else []
    if token.name:
        entries = _entries(pointer, value) if isinstance(value, dict) else []
        return [entry for entry in entries if entry[0] == f"{pointer}/{token.name}"]
    if token.in_list:
        items = enumerate(value) if isinstance(value, list) else ()
        return [(f"{pointer}/{index}", item) for index, item in items if _selects(token, item)]
    return [place] if _selects(token, value) else []


def _entries(pointer, value):
    return [(f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", item) for key, item in value.items()]


def _selects(token, value):
    if token.kind:
        # A JSON boolean is not a number, although Python's bool is an int.
        return isinstance(value, KINDS[token.kind]) and (token.kind == "boolean") == isinstance(value, bool)
    if not token.key:
        return True
    if not isinstance(value, dict):
        return False
    if token.key == "role":
        # Other Responses items can have a role too, for example `additional_tools`.
        return value.get("role") in token.values and value.get("type", "message") == "message"
    return value.get(token.key, _implied(value)) in token.values


def _implied(item):
    if "role" in item:
        return "message"
    return "custom" if "input_schema" in item else "item_reference"
