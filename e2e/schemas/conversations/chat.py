"""The conversation around a field of Chat Completions."""

from e2e.schemas.conversations.shared import HELLO, SCHEMA, add, having, names

BASE = {"model": "some-model", "messages": []}


def conversation(request, path, whole):
    built = request["messages"]
    if not built:
        request["messages"] = [user(HELLO)]
        return
    message = built[0]
    if isinstance(message.get("content"), list):
        message["content"].append({"type": "text", "text": HELLO})
    request["messages"] = TURNS[message["role"]](message, request, path)


def assistant_turn(message, request, path):
    # OpenAI rejects an assistant message that has neither text nor calls.
    if path.startswith("messages[role=assistant].content"):
        message.setdefault("tool_calls", [call_of("call_1", "lookup")])
    else:
        message.setdefault("content", "ok")
    replies = []
    for call in message.get("tool_calls", []):
        add(request, "tools", *(declared(name, call["type"]) for name in names(call[call["type"]]["name"])))
        replies.append({"role": "tool", "tool_call_id": call["id"], "content": "ok"})
    if "function_call" in message:
        name = message["function_call"]["name"]
        add(request, "functions", *declared_legacy(name))
        replies.append({"role": "function", "name": name, "content": "ok"})
    return [user(HELLO), message, *(replies or [user("go on")])]


def tool_turn(message, request, path):
    add(request, "tools", declared("lookup", "function"))
    call = {"role": "assistant", "content": None, "tool_calls": [call_of(message["tool_call_id"], "lookup")]}
    return [user(HELLO), call, message]


def function_turn(message, request, path):
    add(request, "functions", *declared_legacy(message["name"]))
    call = {"role": "assistant", "content": None, "function_call": {"name": message["name"], "arguments": "{}"}}
    return [user(HELLO), call, message]


def user(text):
    return {"role": "user", "content": text}


def call_of(call_id, name):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def declared(name, kind):
    return {"type": kind, kind: {"name": name, **({"parameters": SCHEMA} if kind == "function" else {})}}


def declared_legacy(name):
    return [{"name": each, "parameters": SCHEMA} for each in names(name)]


def from_choice(request, whole):
    match request.get("tool_choice", whole.get("tool_choice")):
        case {"type": "allowed_tools", "allowed_tools": {"tools": allowed}}:
            tools = [declared(name, "function") for tool in allowed for name in names(tool["function"]["name"])]
        case {"type": kind, **rest}:
            tools = [declared(name, kind) for name in names(rest[kind]["name"])]
        case _:
            tools = [declared("lookup", "function")]
    # A second tool, because with only one there is nothing to choose.
    add(request, "tools", *tools, declared("another", "function"))


def from_legacy_choice(request, whole):
    match request.get("function_call", whole.get("function_call")):
        case {"name": name}:
            add(request, "functions", *declared_legacy(name))
        case _:
            add(request, "functions", *declared_legacy("lookup"))


TURNS = {
    "developer": lambda message, request, path: [message, user(HELLO)],
    "system": lambda message, request, path: [message, user(HELLO)],
    "user": lambda message, request, path: [message],
    "assistant": assistant_turn,
    "tool": tool_turn,
    "function": function_turn,
}

NEEDS = [
    (r"tool_choice|parallel_tool_calls", from_choice),
    (r"function_call", from_legacy_choice),
    (r"stream_options", having(stream=True)),
    (r"top_logprobs", having(logprobs=True)),
    (r"audio", having(modalities=["text", "audio"])),
    (r"modalities", having(audio={"format": "wav", "voice": "alloy"})),
]
