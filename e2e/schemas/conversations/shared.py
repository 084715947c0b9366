"""What the conversations of all three protocols have in common."""

from e2e.schemas.sample_values import MARK, OTHER

HELLO = "hello"
SCHEMA = {"type": "object", "properties": {}}


def add(request, key, *items):
    """Puts each of `items` in the list `key`, unless it is there."""
    held = request.setdefault(key, [])
    held.extend(item for item in items if item not in held)


def names(name):
    """The tools to declare for `name`: when it is the field under test, also for its other value.

    Both requests then declare the same tools, and only what names one of them differs.
    """
    if not name.startswith(MARK):
        return [name]
    first = name.removesuffix(OTHER)
    return [first, first + OTHER]


def having(**fields):
    """A need that is met by fixed fields."""
    return lambda request, whole: request.update({k: v for k, v in fields.items() if k not in request})


def tool_beside(tool):
    """A need that is met by one more tool."""
    return lambda request, whole: add(request, "tools", tool)
