"""The SDKs' types, reduced to six shapes.

The SDKs publish their requests as TypedDicts and their answers as pydantic models, built from Union,
Optional, Literal, List, Iterable, Dict, Annotated and Required. `alternatives` flattens any such
annotation into the JSON shapes that a sender may choose from, and `fields` lists the fields of an
object.
"""

import collections.abc
import datetime
import typing
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union

import typing_extensions
from typing_extensions import NotRequired, Required, is_typeddict

# The operators of a filter are values, not kinds of filter: eight union members with the same fields
# would show nothing more than one.
MERGED_UNIONS = {"ComparisonFilter", "CompoundFilter"}


@dataclass(frozen=True)
class Text:
    """A string; `values` if only these are allowed."""

    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Number:
    """A number; `whole` if it must be an integer."""

    whole: bool


@dataclass(frozen=True)
class Flag:
    """A boolean."""


@dataclass(frozen=True)
class Free:
    """Any JSON object: a schema, metadata, the input of a call."""


@dataclass(frozen=True)
class Items:
    """A list (a map if `keyed`) whose values have one annotation."""

    of: Any
    keyed: bool = False


@dataclass(frozen=True)
class Record:
    """An object with named fields."""

    type: type

    @property
    def name(self):
        """The type's name without the SDK's affixes, which a type and its beta version share."""
        return self.type.__name__.removeprefix("Beta").removesuffix("Param").removesuffix("Param")


@dataclass(frozen=True)
class Field:
    """One named field of a Record."""

    owner: Record
    name: str
    type: Any
    required: bool
    nullable: bool = False


@dataclass(frozen=True)
class Tag:
    """The discriminator that tells a Record from the others in its union or list."""

    key: str
    values: tuple[str, ...]

    def __str__(self):
        return f"{self.key}={'|'.join(self.values)}"


@cache
def alternatives(annotation):
    """The shapes that a value of `annotation` may take, in the SDK's order, without null."""
    shapes = list(dict.fromkeys(_flatten(annotation)))
    if any(isinstance(shape, Record) and is_typeddict(shape.type) for shape in shapes):
        # The Messages SDK also accepts the models of its own answers. Before it sends them, it
        # converts them to the form that the TypedDicts describe.
        shapes = [shape for shape in shapes if not isinstance(shape, Record) or is_typeddict(shape.type)]
    texts = [shape for shape in shapes if isinstance(shape, Text)]
    if len(texts) > 1:
        closed = all(text.values for text in texts)
        merged = Text(tuple(dict.fromkeys(value for text in texts for value in text.values)) if closed else ())
        first = shapes.index(texts[0])
        shapes = [shape for shape in shapes if shape not in texts]
        shapes.insert(first, merged)
    if Number(whole=True) in shapes and Number(whole=False) in shapes:
        shapes.remove(Number(whole=True))
    records = [shape for shape in shapes if isinstance(shape, Record)]
    if Free() in shapes and records:
        # `Union[InputSchemaTyped, Dict[str, object]]` is a JSON schema, whose fields do not
        # concern us. `Union[ComparisonFilter, object]` is a filter inside a filter.
        schema = any("Schema" in record.name for record in records)
        shapes = [shape for shape in shapes if not (shape in records if schema else shape == Free())]
    return tuple(shapes)


@cache
def fields(record):
    """The fields of `record` in the SDK's order."""
    if _is_model(record.type):
        return tuple(_model_fields(record))
    hints = typing_extensions.get_type_hints(record.type, include_extras=True)
    return tuple(Field(record, name, hint, required=_is_required(record.type, hint)) for name, hint in hints.items())


def _model_fields(record):
    for name, field in record.type.model_fields.items():
        nullable = type(None) in typing.get_args(field.annotation)
        yield Field(record, field.alias or name, field.annotation, field.is_required(), nullable)


def tags(record):
    """The discriminators of `record`, one for each value; none if it has no literal field."""
    literals = {
        field.name: _flatten(field.type)[0].values
        for field in fields(record)
        if field.name in ("type", "role") and all(isinstance(shape, Text) for shape in _flatten(field.type))
    }
    key = "type" if literals.get("type") else "role"
    if literals.get("type") == ("message",) and literals.get("role"):
        key = "role"
    values = literals.get(key, ())
    if record.name in MERGED_UNIONS:
        return (Tag(key, values),)
    return tuple(Tag(key, (value,)) for value in values)


def _flatten(annotation):
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if is_typeddict(annotation) or _is_model(annotation):
        return [Record(annotation)]
    if origin in (Required, NotRequired, Annotated):
        return _flatten(arguments[0])
    if origin is Union:
        return [shape for argument in arguments for shape in _flatten(argument)]
    if origin in (Literal, typing_extensions.Literal):
        flags = [value for value in arguments if isinstance(value, bool)]
        return [Flag()] if flags else [Text(arguments)]
    if origin in (list, collections.abc.Iterable, collections.abc.Sequence):
        return [Items(arguments[0])]
    if origin is dict:
        holds_records = any(isinstance(shape, Record) for shape in alternatives(arguments[1]))
        return [Items(arguments[1], keyed=True)] if holds_records else [Free()]
    simple = {
        str: Text(),
        datetime.datetime: Text(),
        int: Number(whole=True),
        float: Number(whole=False),
        bool: Flag(),
        object: Free(),
        Any: Free(),
    }
    if annotation in simple:
        return [simple[annotation]]
    if _is_python_only(annotation) or _is_python_only(origin):
        return []
    raise TypeError(f"no JSON shape is known for {annotation!r}")


def _is_model(annotation):
    return isinstance(annotation, type) and hasattr(annotation, "model_fields")


def _is_python_only(annotation):
    # The SDKs also accept open files.
    if annotation in (type(None), bytes, typing.IO):
        return True
    return isinstance(annotation, type) and hasattr(annotation, "__fspath__")


def _is_required(owner, hint):
    origin = typing.get_origin(hint)
    return origin is Required or (origin is not NotRequired and owner.__total__)
