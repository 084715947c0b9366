"""The answer around a field: what else an answer has, whole or as a stream, for that field to make sense.

Each protocol's module has the same names:

    whole(path, built, reference)            the whole answer around the members `built`
    event(name, path, built, reference)      the stream around the event `built`, as a list of events
    views(number, event)                     the parts of an event that are also parts of a whole answer

`reference` is what was built for the answer with the field. The answer without it takes everything
that depends on the missing value from there, so that the two differ in the field alone.
"""

import json

from e2e.schemas.answers import chat, messages, responses

PROTOCOLS = {"chat": chat, "responses": responses, "messages": messages}


def as_sse(protocol, events):
    """The events as they are sent."""
    if protocol == "chat":
        return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
