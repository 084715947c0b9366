"""The published types of Open Responses, as checks of what a server says."""

import enum
import inspect
import json

import openresponses_types as published
from openresponses_types import ResponseResource

# The members of the object that the specification requires, whatever a request says.
REQUIRED = frozenset(name for name, field in ResponseResource.model_fields.items() if field.is_required())


def _kind(event_type):
    """The word in `type` that an event type stands for."""
    annotation = event_type.model_fields["type"].annotation
    assert issubclass(annotation, enum.Enum), annotation
    (member,) = annotation
    return member.value


EVENTS = {
    _kind(event_type): event_type
    for name, event_type in vars(published).items()
    if inspect.isclass(event_type) and name.endswith("StreamingEvent")
}

# OpenAI's names of two events, which its SDKs know, and those of the specification.
OTHER_NAMES = {
    "response.reasoning_text.delta": "response.reasoning.delta",
    "response.reasoning_text.done": "response.reasoning.done",
}


def check_response(document):
    """Checks a response object, which must have every required member."""
    assert REQUIRED <= document.keys(), f"missing: {sorted(REQUIRED - document.keys())}"
    ResponseResource.model_validate(document)


def read_events(lines):
    """The events of a stream, each checked, with the rules that hold between them."""
    events, name = [], None
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line == "data: [DONE]":
            assert name is None
        elif line.startswith("data: "):
            event = json.loads(line.removeprefix("data: "))
            assert event["type"] == name, "the event's name is its type"
            events.append(event)
            name = None
    return events


def check_stream(events):
    """Checks the events of a stream, and returns the response that it ends with."""
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    for event in events:
        name = OTHER_NAMES.get(event["type"], event["type"])
        assert name in EVENTS, f"{name} is not published"
        EVENTS[name].model_validate({**event, "type": name})
        if "response" in event:
            check_response(event["response"])
    assert events[0]["type"] == "response.created"
    assert len({event["response"]["id"] for event in events if "response" in event}) == 1
    _check_items(events)
    return events[-1]["response"]


def _check_items(events):
    """Each item is added once, gets its parts and deltas, and is done once, as the response has it at the end."""
    is_open, done = {}, []
    for event in events:
        index = event.get("output_index")
        match event["type"]:
            case "response.output_item.added":
                assert index not in is_open and index == len(done) + len(is_open)
                is_open[index] = event["item"]["id"]
            case "response.output_item.done":
                assert is_open.pop(index) == event["item"]["id"]
                done.append((index, event["item"]))
            case _ if index is not None:
                assert event["item_id"] == is_open[index]
    assert not is_open
    output = events[-1]["response"]["output"]
    assert [item for _, item in sorted(done, key=lambda pair: pair[0])] == output
