"""The conversation around a field: what else a request needs for that field to make sense.

A call needs its result and its tool, a result needs its call, and a forced choice needs the tool that
it names. `complete` adds them, with the ids and names of the value under test, so that a pair stays
a pair whichever of its values varies. It adds nothing more, because everything in a request affects
its translation.

Each protocol's module has the same three names: `BASE`, the fields of every request;
`conversation`, which adds the turns around the one that was built; and `NEEDS`, the fields that are
rejected, or mean nothing, without another field.
"""

import re

from e2e.schemas.conversations import chat, messages, responses

PROTOCOLS = {"chat": chat, "responses": responses, "messages": messages}


def complete(protocol, path, built, whole=None):
    """The complete request for `path`, from the fields `built` for it.

    If `built` is for the request without the field, `whole` is what was built for the request with
    it. Everything that depends on the missing value is taken from there, so that the two requests
    differ in the field alone.
    """
    context = PROTOCOLS[protocol]
    request = {**context.BASE, **built}
    context.conversation(request, path, whole or built)
    for pattern, need in context.NEEDS:
        if re.match(pattern, path):
            need(request, whole or built)
    return request
