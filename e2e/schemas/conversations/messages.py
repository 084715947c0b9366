"""The conversation around a field of Messages."""

import re

from e2e.schemas.conversations.shared import HELLO, SCHEMA, add, having, names, tool_beside

BASE = {"model": "some-model", "max_tokens": 4096, "messages": []}


def conversation(request, path, whole):
    built = request["messages"]
    if not built:
        request["messages"] = [user(HELLO)]
        return
    message = built[0]
    before, after = [], []
    if isinstance(message["content"], list):
        block = message["content"][0] if message["content"] else {}
        before, message["content"], after = turn_of(block, message["role"], request)
    if message["role"] == "user":
        request["messages"] = [*before, message]
    elif message["role"] == "assistant":
        request["messages"] = [user(HELLO), message, *(after or [user("go on")])]
    else:
        request["messages"] = [user(HELLO), message]


def turn_of(block, role, request):
    """What comes before a turn, the blocks of the turn, and what comes after it."""
    text = {"type": "text", "text": HELLO}
    if not block:
        return [], [text], []
    match block:
        case {"type": "tool_use"}:
            add(request, "tools", *map(declared, names(block["name"])))
            result = {"type": "tool_result", "tool_use_id": block["id"], "content": "ok"}
            return [], [text, block], [{"role": "user", "content": [result]}]
        case {"type": "tool_result"} if role == "user":
            add(request, "tools", declared("lookup"))
            call = {"type": "tool_use", "id": block["tool_use_id"], "name": "lookup", "input": {}}
            return [user(HELLO), {"role": "assistant", "content": [call]}], [block, text], []
        case {"type": "server_tool_use"}:
            return [], [text, block, server_result(block)], []
        case {"type": "mcp_tool_use"}:
            result = {"type": "mcp_tool_result", "tool_use_id": block["id"], "is_error": False, "content": "ok"}
            return [], [text, block, result], []
        case {"type": "mcp_tool_result"}:
            call = {"type": "mcp_tool_use", "id": block["tool_use_id"], "name": "lookup", "server_name": "files"}
            return [], [text, {**call, "input": {}}, block], []
        case {"type": kind} if kind.endswith("_tool_result"):
            name = kind.removesuffix("_tool_result").replace("tool_search", "tool_search_tool_regex")
            call = {"type": "server_tool_use", "id": block["tool_use_id"], "name": name, "input": {}}
            return [], [text, call, block], []
    # Thinking comes first in its turn, and so do the blocks of a user turn that text may follow.
    return [], [block, text], []


def server_result(call):
    kind = re.sub(r"_(regex|bm25)$", "", call["name"]).removesuffix("_tool") + "_tool_result"
    error = {"type": f"{kind}_error", "error_code": "unavailable"}
    return {"type": kind, "tool_use_id": call["id"], "content": error}


def user(text):
    return {"role": "user", "content": text}


def declared(name):
    return {"name": name, "input_schema": SCHEMA}


def from_choice(request, whole):
    choice = request.get("tool_choice", whole.get("tool_choice", {}))
    add(request, "tools", *map(declared, names(choice.get("name", "lookup"))), declared("another"))


def from_servers(request, whole):
    for server in request.get("mcp_servers", []):
        add(request, "tools", {"type": "mcp_toolset", "mcp_server_name": server["name"]})


def from_toolsets(request, whole):
    for tool in request.get("tools", []):
        server = {"type": "url", "name": tool["mcp_server_name"], "url": "https://host.example/mcp"}
        add(request, "mcp_servers", server)


def from_references(request, whole):
    """Declares every tool that a `tool_reference` somewhere in the request names."""
    for name in referenced(request["messages"]):
        add(request, "tools", *map(declared, names(name)))


def referenced(value):
    if isinstance(value, list):
        return [name for item in value for name in referenced(item)]
    if not isinstance(value, dict):
        return []
    if value.get("type") == "tool_reference":
        return [value.get("name") or value["tool_name"]]
    return [name for item in value.values() for name in referenced(item)]


SEARCH = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}

NEEDS = [
    (r"tool_choice", from_choice),
    (r"mcp_servers", from_servers),
    (r"tools\[type=mcp_toolset\]", from_toolsets),
    (r"tools\b(?!\[type=tool_search).*\.defer_loading$", tool_beside(SEARCH)),
    (r"tools\[type=tool_search_tool", tool_beside(declared("lookup") | {"defer_loading": True})),
    (r"context_management\.edits\[type=clear_thinking", having(thinking={"type": "adaptive"})),
    (r"messages.*tool_reference", from_references),
]
