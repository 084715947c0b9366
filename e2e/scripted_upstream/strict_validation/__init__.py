"""Rejects what the vendors reject: a request that breaks a rule gets a 400 that names the field.

Each protocol has a file with the rules that the SDKs' types cannot express. `sdk_types.py` checks the
types, with pydantic.
"""

from e2e.scripted_upstream.strict_validation import chat, messages, responses, sdk_types
from e2e.scripted_upstream.strict_validation.rules import RequestRejected, require
from e2e.scripted_upstream.strict_validation.sdk_types import known_fields

__all__ = ["RequestRejected", "validate"]


def validate(request, reasoning):
    """Raises RequestRejected for the first rule that a request breaks.

    `reasoning` is all the reasoning in the model's script: [{"text", "seal"}].
    """
    protocol, body = request.protocol, request.body
    for name in body:
        require(name in known_fields(protocol), name, f"Unknown parameter: '{name}'")
    headers = request.headers
    require(headers.get("content-type", "").startswith("application/json"), "content-type", "must be application/json")
    if protocol == "messages":
        require("x-api-key" in headers or "authorization" in headers, "x-api-key", "header is required")
        require("anthropic-version" in headers, "anthropic-version", "header is required")
    else:
        require(headers.get("authorization", "").startswith("Bearer "), "authorization", "You didn't provide an API key")
    require(isinstance(body.get("model"), str), "model", "Field required")
    if protocol == "messages":
        messages.validate(body, reasoning, headers.get("anthropic-beta", "").split(","))
    else:
        {"chat": chat, "responses": responses}[protocol].validate(body, reasoning)
    sdk_types.validate(protocol, body)
