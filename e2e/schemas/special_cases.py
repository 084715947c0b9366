"""What the SDKs' types do not say: values that a field fares differently with, and fields they lack."""

SCHEMAS = (
    {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]},
    {"type": "array", "items": {"type": "string"}},
)

# Values on which a fate depends, beside those of the closed enumerations.
SPECIAL = {
    "chat": [
        ("messages[role=assistant].tool_calls[type=function].function.arguments", "[1]"),
        ("messages[role=assistant].tool_calls[type=function].function.name", "srv/tool.x"),
        ("messages[role=assistant].function_call.arguments", "no JSON"),
        ("messages[role=assistant].tool_calls[type=function].id", "functions.x:0"),
        ("messages[role=tool].tool_call_id", "functions.x:0"),
        ("tools[type=function].function.name", "srv/tool.x"),
        ("tools[type=custom].custom.name", "srv/tool.x"),
        *(("tools[type=function].function.parameters", schema) for schema in SCHEMAS),
        ("tool_choice(type=function).function.name", "srv/tool.x"),
        ("max_completion_tokens", 5),
        ("max_tokens", 5),
    ],
    "responses": [
        ("input[type=function_call].arguments", "[1]"),
        ("input[type=function_call].call_id", "functions.x:0"),
        ("input[type=function_call].name", "srv/tool.x"),
        ("tools[type=function].name", "srv/tool.x"),
        ("tool_choice(type=function).name", "srv/tool.x"),
        *(("tools[type=function].parameters", schema) for schema in SCHEMAS),
    ],
    "messages": [
        ("messages[role=assistant].content[type=tool_use].name", "srv/tool.x"),
        ("messages[role=assistant].content[type=tool_use].id", "toolu_" + 60 * "x"),
        ("messages[role=user].content[type=tool_result].tool_use_id", "toolu_" + 60 * "x"),
        ("tools[type=custom].name", "srv/tool.x"),
        ("tool_choice(type=tool).name", "srv/tool.x"),
        *(("tools[type=custom].input_schema", schema) for schema in SCHEMAS),
        ("max_tokens", 5),
    ],
}

LOOSE = {"type": "object", "properties": {"a": {"type": "string"}}}
STRICT = {**LOOSE, "required": ["a"], "additionalProperties": False}

# Requests in which a fate depends on what else there is: the field's path and place, and what a
# small request has beside its conversation, with the field and without.
SURROUNDED = (
    ("chat", "tool_choice", "/tool_choice", {"tool_choice": "auto"}, {}),
    ("chat", "tool_choice(string)", "/tool_choice", {"tool_choice": "auto"}, {}),
    ("chat", "parallel_tool_calls", "/parallel_tool_calls", {"parallel_tool_calls": False}, {}),
    (
        "chat",
        "tools[type=function]",
        "/tools/0",
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": LOOSE}}]},
        {},
    ),
    (
        "chat",
        "tools[type=function].function.strict",
        "/tools/0/function/strict",
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": STRICT, "strict": True}}]},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": STRICT}}]},
    ),
    (
        "chat",
        "response_format",
        "/response_format",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": STRICT}}},
        {},
    ),
    ("responses", "reasoning", "/reasoning", {"reasoning": {"effort": "high"}}, {}),
    ("responses", "tool_choice", "/tool_choice", {"tool_choice": "auto"}, {}),
    ("responses", "tool_choice(string)", "/tool_choice", {"tool_choice": "auto"}, {}),
    ("responses", "parallel_tool_calls", "/parallel_tool_calls", {"parallel_tool_calls": False}, {}),
    (
        "responses",
        "tools[type=function].defer_loading",
        "/tools/0/defer_loading",
        {"tools": [{"type": "function", "name": "f", "parameters": LOOSE, "defer_loading": True}]},
        {"tools": [{"type": "function", "name": "f", "parameters": LOOSE}]},
    ),
    ("responses", "tools[type=function]", "/tools/0", {"tools": [{"type": "function", "name": "f"}]}, {}),
    (
        "messages",
        "tools[type=custom].defer_loading",
        "/tools/0/defer_loading",
        {"tools": [{"name": "f", "input_schema": LOOSE, "defer_loading": True}]},
        {"tools": [{"name": "f", "input_schema": LOOSE}]},
    ),
    (
        "messages",
        "tools[type=custom].strict",
        "/tools/0/strict",
        {"tools": [{"name": "f", "input_schema": LOOSE, "strict": True}]},
        {"tools": [{"name": "f", "input_schema": LOOSE}]},
    ),
    ("messages", "tool_choice", "/tool_choice", {"tool_choice": {"type": "auto"}}, {}),
)

# Fields that requests have although the pinned SDKs do not.
UNPUBLISHED = (
    # The SDK follows version 2026-10-21 of the API; clients of 2023-06-01 send them.
    ("messages", "temperature", 0.5),
    ("messages", "top_p", 0.5),
    ("messages", "top_k", 5),
    # Codex sends it.
    ("responses", "client_metadata", {"session": "tw-1"}),
    # What DeepSeek, vLLM, OpenRouter and litellm call reasoning.
    ("chat", "messages[role=assistant].reasoning_content", "tw-thought"),
    ("chat", "messages[role=assistant].reasoning", "tw-thought"),
    (
        "chat",
        "messages[role=assistant].reasoning_details",
        [{"type": "reasoning.text", "text": "tw-thought", "signature": "dHc="}],
    ),
    (
        "chat",
        "messages[role=assistant].thinking_blocks",
        [{"type": "thinking", "thinking": "tw-thought", "signature": "dHc="}],
    ),
)


def unpublished():
    """The rows of the unpublished fields, as `e2e.schemas.published_fields` gives its own."""
    rows = []
    for protocol, path, sample in UNPUBLISHED:
        in_turn, _, name = path.rpartition(".")
        having = _request(protocol, **{"turn" if in_turn else "top": {name: sample}})
        at = f"/messages/1/{name}" if in_turn else f"/{name}"
        rows.append(_row(protocol, path, at, having, _request(protocol), sample))
    return tuple(rows)


def surrounded():
    """The rows of the fields in other surroundings."""
    return tuple(
        _row(protocol, path, at, _request(protocol, top=having), _request(protocol, top=lacking), None)
        for protocol, path, at, having, lacking in SURROUNDED
    )


def _request(protocol, top=None, turn=None):
    talk = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "ok", **(turn or {})},
        {"role": "user", "content": "go on"},
    ]
    base = {
        "chat": {"model": "gpt-5.5", "messages": talk},
        "responses": {"model": "gpt-5.5", "input": talk},
        "messages": {"model": "claude-opus-5", "max_tokens": 4096, "messages": talk},
    }[protocol]
    return {**base, **(top or {})}


def _row(protocol, path, at, having, lacking, sample):
    return {
        "protocol": protocol,
        "path": path,
        "values": [],
        "misplaced": False,
        "neutral": False,
        "sample": sample,
        "at": at,
        "with": having,
        "without": lacking,
    }
