"""Rejects every request that says something of tools, wherever it says it."""

from e2e.scripted_upstream.strict_validation.rules import require

# The members that a conversation without tools consists of. Everything else in it is about tools,
# reasoning, or something else that a model for text has never heard of.
MESSAGE_MEMBERS = {"role", "content", "type", "id", "status"}
CONTENT_TYPES = {"text", "input_text", "output_text", "image", "input_image", "image_url"}
ROLES = {"system", "developer", "user", "assistant"}


def validate(body):
    """Raises RequestRejected for the first trace of tools in the body of a request."""
    for name in body:
        is_about_tools = "tool" in name or "function" in name
        require(not is_about_tools, name, f"'{name}' is not supported: this model takes no tools")
    given = body.get("messages", body.get("input"))
    for at, message in enumerate(given if isinstance(given, list) else ()):
        place = f"messages[{at}]"
        require(message.get("type", "message") == "message", place, f"{message.get('type')!r} is not supported")
        require(message.get("role") in ROLES, f"{place}.role", f"{message.get('role')!r} is not supported")
        for name in message:
            require(name in MESSAGE_MEMBERS, f"{place}.{name}", f"'{name}' is not supported")
        content = message.get("content")
        require(content not in (None, "", []), f"{place}.content", "must not be empty")
        for part in content if isinstance(content, list) else ():
            kind = part.get("type")
            require(kind in CONTENT_TYPES, f"{place}.content", f"{kind!r} is not supported")
            require("text" not in part or part["text"].strip(), f"{place}.content", "text must not be blank")
    roles = [message.get("role") for message in given] if isinstance(given, list) else []
    for at, (one, next) in enumerate(zip(roles, roles[1:], strict=False)):
        # As the chat templates of many models do: "Conversation roles must alternate".
        require(one != next or one in ("system", "developer"), f"messages[{at + 1}]", "roles must alternate")
