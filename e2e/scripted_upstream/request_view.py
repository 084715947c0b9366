"""The content of a request, independent of its protocol, so that one expectation fits all three.

    system    the texts of the instructions, joined
    user      the text of the last user turn that has any; tool results do not count
    tools     the names of the tools that the model may call, sorted
    choice    "auto", "none", "any", or {"name": ...}
    allowed   the names that the choice is limited to, sorted, or None
    parallel  whether several calls at once are allowed
    calls     every call of the conversation: {"id", "name", "args"}; args is a value, or the text of
              a freeform call
    results   every result: {"id", "text", "error", "images"}; images is how many it holds
    images    the number of images in user turns, outside tool results
    format    the schema that the answer must follow, or None
    effort    the reasoning effort, or None
    limit     the maximum number of tokens in the answer, or None
    seals     the seal of every piece of reasoning in the conversation, in order
    stream    whether the request asks for a stream
"""

import json


def request_view(protocol, body):
    """The view of one request body."""
    view = {"chat": _chat, "responses": _responses, "messages": _messages}[protocol](body)
    return {"stream": bool(body.get("stream")), **view}


def turn_texts(protocol, body):
    """The role and the text of each turn, instructions not among them."""
    given = body.get("input" if protocol == "responses" else "messages") or []
    turns = [{"role": "user", "content": given}] if isinstance(given, str) else given
    return [(turn.get("role"), _texts(turn.get("content"))) for turn in turns]


def _chat(body):
    messages = body.get("messages") or []
    calls, results, seals = [], [], []
    for message in messages:
        for call in message.get("tool_calls") or ():
            calls.append({"id": call.get("id"), **_name_and_arguments(call.get(call.get("type")) or {})})
        if message.get("role") == "tool":
            text = _texts(message.get("content"))
            results.append({"id": message.get("tool_call_id"), "text": text, "error": None, "images": 0})
        seals += [part.get("data") for part in message.get("reasoning_details") or () if "data" in part]
    tools = [tool.get("function", tool.get("custom", {})).get("name") for tool in body.get("tools") or ()]
    choice = body.get("tool_choice")
    allowed = choice.get("allowed_tools") if isinstance(choice, dict) else None
    format = (body.get("response_format") or {}).get("json_schema") or {}
    users = [message for message in messages if message.get("role") == "user"]
    return {
        "system": "\n".join(_texts(one.get("content")) for one in messages if one.get("role") in ("system", "developer")),
        "user": _last_nonempty(_texts(one.get("content")) for one in users),
        "tools": sorted(tools),
        "choice": _openai_choice(choice, allowed),
        "allowed": allowed and sorted(tool["function"]["name"] for tool in allowed["tools"]),
        "parallel": body.get("parallel_tool_calls", True),
        "calls": calls,
        "results": results,
        "images": sum(_count(one.get("content"), "image_url") for one in users),
        "format": format.get("schema"),
        "effort": body.get("reasoning_effort"),
        "limit": body.get("max_completion_tokens", body.get("max_tokens")),
        "seals": seals,
    }


def _responses(body):
    given = body.get("input") or []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    kinds = [(item.get("type", "message"), item) for item in items]
    users = [item for kind, item in kinds if kind == "message" and item.get("role") == "user"]
    system = [item for kind, item in kinds if kind == "message" and item.get("role") in ("system", "developer")]
    calls = [item for kind, item in kinds if kind in ("function_call", "custom_tool_call")]
    outputs = [item for kind, item in kinds if kind in ("function_call_output", "custom_tool_call_output")]
    choice = body.get("tool_choice")
    allowed = choice if isinstance(choice, dict) and choice.get("type") == "allowed_tools" else None
    return {
        "system": "\n".join([body.get("instructions") or "", *(_texts(one.get("content")) for one in system)]).strip("\n"),
        "user": _last_nonempty(_texts(one.get("content")) for one in users),
        "tools": sorted(tool.get("name") or tool.get("type") for tool in body.get("tools") or ()),
        "choice": _openai_choice(choice, allowed),
        "allowed": allowed and sorted(tool["name"] for tool in allowed["tools"]),
        "parallel": body.get("parallel_tool_calls", True),
        "calls": [{"id": one.get("call_id"), **_name_and_arguments(one)} for one in calls],
        "results": [
            {
                "id": one.get("call_id"),
                "text": _texts(one.get("output")),
                "error": None,
                "images": _count(one.get("output"), "input_image"),
            }
            for one in outputs
        ],
        "images": sum(_count(one.get("content"), "input_image") for one in users),
        "format": ((body.get("text") or {}).get("format") or {}).get("schema"),
        "effort": (body.get("reasoning") or {}).get("effort"),
        "limit": body.get("max_output_tokens"),
        "seals": [item.get("encrypted_content") for kind, item in kinds if kind == "reasoning"],
    }


def _messages(body):
    turns = [(turn.get("role"), _blocks(turn.get("content"))) for turn in body.get("messages") or ()]
    blocks = [block for _, content in turns for block in content]
    users = [content for role, content in turns if role == "user"]
    system = [_texts(body.get("system")), *(_texts(content) for role, content in turns if role == "system")]
    choice = body.get("tool_choice") or {"type": "auto"}
    named = {"tool": {"name": choice.get("name")}}
    return {
        "system": "\n".join(text for text in system if text),
        "user": _last_nonempty(_texts(content) for content in users),
        "tools": sorted(tool.get("name") for tool in body.get("tools") or ()),
        "choice": named.get(choice["type"], choice["type"]),
        "allowed": None,
        "parallel": not choice.get("disable_parallel_tool_use", False),
        "calls": [
            {"id": block.get("id"), "name": block.get("name"), "args": block.get("input")}
            for block in blocks
            if block.get("type") == "tool_use"
        ],
        "results": [
            {
                "id": block.get("tool_use_id"),
                "text": _texts(block.get("content")),
                "error": block.get("is_error") or None,
                "images": _count(block.get("content"), "image"),
            }
            for block in blocks
            if block.get("type") == "tool_result"
        ],
        "images": sum(_count(content, "image") for content in users),
        "format": ((body.get("output_config") or {}).get("format") or {}).get("schema"),
        "effort": (body.get("output_config") or {}).get("effort"),
        "limit": body.get("max_tokens"),
        "seals": [block.get("signature") for block in blocks if block.get("type") == "thinking"],
    }


def _openai_choice(choice, allowed):
    if allowed:
        choice = allowed["mode"]
    if isinstance(choice, dict):
        return {"name": choice.get("name") or choice.get("function", {}).get("name")}
    return {None: "auto", "required": "any"}.get(choice, choice)


def _blocks(content):
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _texts(content):
    parts = _blocks(content)
    return "\n".join(part["text"] for part in parts if part.get("type") in ("text", "input_text", "output_text"))


def _count(content, kind):
    return sum(part.get("type") == kind for part in _blocks(content))


def _last_nonempty(texts):
    return next((text for text in reversed(list(texts)) if text), "")


def _name_and_arguments(call):
    text = call.get("input")
    return {"name": call.get("name"), "args": _value(call.get("arguments")) if text is None else text}


def _value(arguments):
    try:
        return json.loads(arguments)
    except (TypeError, ValueError):
        return arguments
