"""What the conversations of the three protocols share."""

from e2e.schemas.sample_values import MARK, OTHER

HELLO = "hello"
SCHEMA = {"type": "object", "properties": {}}


def add(request, key, *items):
    """Adds each of `items` to the list `key`, unless it is already there."""
    held = request.setdefault(key, [])
    held.extend(item for item in items if item not in held)


def names(name):
    """The names of the tools to declare for `name`. If it is under test, its other value is one too.

    Both requests then declare the same tools, and differ only in the field that names one of them.
    """
    if not name.startswith(MARK):
        return [name]
    first = name.removesuffix(OTHER)
    return [first, first + OTHER]


def having(**fields):
    """A need for fixed fields."""
    return lambda request, whole: request.update({k: v for k, v in fields.items() if k not in request})


def tool_beside(tool):
    """A need for one more tool."""
    return lambda request, whole: add(request, "tools", tool)
