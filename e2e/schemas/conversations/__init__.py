"""The conversation around a field: what else a request needs for that field to make sense.

A call needs its result and its tool, a result its call, a forced choice the tool it names.
`complete` adds them, taking ids and names from the value under test, so that a pair stays a
pair whichever of its values varies. It adds no more than that: whatever else is in a request
leaves traces in its translation.

Each protocol's module has the same three names: `BASE`, the fields of every request;
`conversation`, which puts turns around the one that was built; and `NEEDS`, the fields that
are refused, or mean nothing, without another.
"""

import re

from e2e.schemas.conversations import chat, messages, responses

PROTOCOLS = {"chat": chat, "responses": responses, "messages": messages}


def complete(protocol, path, built, whole=None):
    """The request for `path` from the fields `built` for it.

    When `built` is for the request without the field, `whole` is what was built for the one
    that has it: what hangs on a value that was left out is drawn from there, so that the two
    requests differ in the field and nothing else.
    """
    context = PROTOCOLS[protocol]
    request = {**context.BASE, **built}
    context.conversation(request, path, whole or built)
    for pattern, need in context.NEEDS:
        if re.match(pattern, path):
            need(request, whole or built)
    return request
