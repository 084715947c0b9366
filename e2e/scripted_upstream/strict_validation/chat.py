"""The rules of Chat Completions."""

from e2e.scripted_upstream.strict_validation.rules import require, validate_id, validate_name, validate_tools


def validate(body, reasoning):
    texts = [one["text"] for one in reasoning]
    messages = body.get("messages")
    require(isinstance(messages, list) and messages, "messages", "Field required, at least one message")
    validate_tools(body, [tool.get(tool.get("type"), {}) for tool in body.get("tools") or ()], "parameters", 64)
    open_calls = {}
    for at, message in enumerate(messages):
        place, role = f"messages[{at}]", message.get("role")
        require(role in ("system", "developer", "user", "assistant", "tool"), f"{place}.role", f"Invalid value: {role!r}")
        # OpenAI has no reasoning in Chat. Vendors that have it accept their own reasoning back.
        require(message.get("reasoning_content") in [None, *texts], f"{place}.reasoning_content", "is not this model's")
        for name in ("reasoning", "reasoning_details", "thinking_blocks", "is_error"):
            require(name not in message, f"{place}.{name}", f"Unknown parameter: '{name}'")
        if role == "tool":
            id = message.get("tool_call_id")
            require(id in open_calls, place, "messages with role 'tool' must be a response to a preceding message with 'tool_calls'")
            del open_calls[id]
            require("content" in message, f"{place}.content", "Field required")
            parts = message["content"] if isinstance(message["content"], list) else ()
            require(all(part.get("type") == "text" for part in parts), f"{place}.content", "only text parts are supported here")
            continue
        require(not open_calls, place, f"tool_call_ids did not have response messages: {', '.join(open_calls)}")
        if role != "assistant":
            require(message.get("content") not in (None, []), f"{place}.content", "Field required")
            continue
        calls = message.get("tool_calls")
        require(calls is None or calls, f"{place}.tool_calls", "expected at least one call")
        require(message.get("content") is not None or calls or message.get("refusal"), f"{place}.content", "Field required")
        for number, call in enumerate(calls or ()):
            inner, inside = call.get(call.get("type")), f"{place}.tool_calls[{number}]"
            require(isinstance(inner, dict), f"{inside}.type", "Invalid value")
            validate_id(call.get("id"), 40, f"{inside}.id")
            validate_name(inner.get("name"), 64, f"{inside}.function.name")
            text = inner.get("arguments", inner.get("input"))
            require(isinstance(text, str), f"{inside}.function.arguments", "expected a string")
            require(call["id"] not in open_calls, f"{inside}.id", "duplicate id")
            open_calls[call["id"]] = inside
    require(not open_calls, "messages", f"tool_call_ids did not have response messages: {', '.join(open_calls)}")
    if "stream_options" in body:
        require(body.get("stream"), "stream_options", "only allowed when 'stream' is enabled")
