"""The walk through the SDKs' types: the steps to every field of an object, and the value built along them."""

from dataclasses import dataclass
from typing import Any

from e2e.schemas import sample_values
from e2e.schemas.sample_values import PLAIN, Mark
from e2e.schemas.sdk_types import Field, Flag, Free, Items, Number, Record, Tag, Text, alternatives, fields, tags


@dataclass(frozen=True)
class Step:
    """One step from a request down to a field, and the shape it leads to."""

    text: str
    shape: Any
    field: Field | None = None
    tag: Tag | None = None
    in_list: bool = False


def path_of(steps):
    """The path that steps spell."""
    return "".join(step.text for step in steps).lstrip(".")


def walk(shape, steps=(), inside=(), tag=None):
    """The steps to every field below `shape`, an object."""
    if shape in inside:
        # A type inside itself has no new fields.
        return
    for member in fields(shape):
        if tag and member.name == tag.key and member.required and len(tag.values) == 1:
            # The selector already has the value.
            continue
        yield from descend(member, steps, (*inside, shape))


def descend(member, steps, inside):
    shapes = alternatives(member.type)
    here = (*steps, Step(f".{member.name}", sample_values.choose(shapes, MARKED), field=member))
    yield here
    yield from inner(shapes, here, inside)


def inner(shapes, steps, inside):
    """The steps below a value that has one of `shapes`."""
    alone = len(shapes) == 1
    records = [shape for shape in shapes if isinstance(shape, Record)]
    for shape in shapes:
        match shape:
            case Items(of=of, keyed=True):
                below = (*steps, Step(".*", alternatives(of)[0]))
                yield from inner(alternatives(of), below, inside)
            case Items(of=of):
                yield from elements(of, steps, inside, alone)
            case Record() if alone:
                yield from walk(shape, steps, inside)
            case Record():
                chosen = tags(shape) if len(records) > 1 or len(tags(shape)) == 1 else ()
                for tag in chosen or (None,):
                    below = (*steps, Step(f"({tag or 'object'})", shape, tag=tag))
                    yield below
                    yield from walk(shape, below, inside, tag)
            case _ if not alone:
                yield (*steps, Step(f"({kind(shape)})", shape))


def elements(of, steps, inside, alone):
    """The steps below a list of `of`. `alone` is true if the value can only be a list."""
    shapes = alternatives(of)
    records = [shape for shape in shapes if isinstance(shape, Record)]
    for shape in records:
        chosen = tags(shape) if len(records) > 1 or len(tags(shape)) == 1 else ()
        for tag in chosen or (None,):
            below = (*steps, Step(f"[{tag or ''}]", shape, tag=tag, in_list=True))
            if tag or not alone:
                yield below
            yield from walk(shape, below, inside, tag)
    if not records and not alone:
        yield (*steps, Step("[]", shapes[0], in_list=True))


def kind(shape):
    return {Text: "string", Number: "number", Flag: "boolean", Free: "object"}[type(shape)]


def value_steps(steps):
    """The steps without the selectors at their end: down to the field that the selectors apply to."""
    return steps[: max(index for index, step in enumerate(steps) if step.field) + 1]


def implied(steps):
    """Whether the last step is a discriminator that a sender may leave out."""
    field, above = steps[-1].field, steps[-2] if len(steps) > 1 else None
    return bool(field and above and above.tag and field.name == "type" and not field.required)


OMITTED = object()
MARKED = Mark("any")


def sample_for(steps, mark):
    """The value under test."""
    last, declared = steps[-1], value_steps(steps)[-1].field
    if isinstance(last.shape, Record):
        return sample_values.record(last.shape, mark, last.tag)
    return sample_values.value(last.shape, declared.name, declared.owner, mark)


def build(steps, end, above=None):
    """The smallest value in which `steps` lead to `end`."""
    if not steps:
        return end
    step = steps[0]
    inner = build(steps[1:], end, step)
    if step.field:
        whole = sample_values.record(step.field.owner, PLAIN, above.tag, under_test=step.field.name) if above else {}
        return whole if inner is OMITTED else {**whole, step.field.name: inner}
    if step.in_list:
        return [] if inner is OMITTED else [inner]
    return {"key": inner} if step.text == ".*" else inner


def variants(steps, seed, complete, removable):
    """A document with the field that `steps` lead to and one without it: (value, with, without, differs).

    `complete` makes a document from the members on the way to the field, and from those of the document
    with the field. `removable` tells whether a document stays valid without a value. If the field cannot
    be left out, it has another value in the second document, and `differs` is true.
    """
    built = sample_for(steps, Mark(seed))
    whole = build(steps, built)
    with_field, last = complete(whole, whole), steps[-1]
    if (last.field or not isinstance(last.shape, Record)) and not removable(value_steps(steps)):
        other = sample_for(steps, Mark(seed, other=True))
        if other != built:
            return built, with_field, complete(build(steps, other), whole), True
    while len(steps) > 1 and not removable(steps):
        steps = steps[:-1]
    return built, with_field, complete(build(steps, OMITTED), whole), False


def contains(found, built):
    """Whether `found` is `built`, apart from what the conversation around it added."""
    if isinstance(found, dict) and isinstance(built, dict):
        return all(key in found and contains(found[key], value) for key, value in built.items())
    if isinstance(found, list) and isinstance(built, list):
        return all(any(contains(item, value) for item in found) for value in built)
    return found == built and type(found) is type(built)
