"""What the SDKs' types do not show: values that change a field's disposition, and fields they lack."""

SCHEMAS = (
    {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]},
    {"type": "array", "items": {"type": "string"}},
)

# Values that change a disposition, besides those of closed enumerations.
SPECIAL_VALUES = {
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
RECURSIVE = {"type": "object", "properties": {"next": {"$ref": "#"}}}

# Fields whose disposition depends on the rest of the request: protocol, path, JSON Pointer, and what a
# small request has beside its conversation, with the field and without it.
IN_CONTEXT = (
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
    (
        "chat",
        "response_format(type=json_schema).json_schema.strict",
        "/response_format/json_schema/strict",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": STRICT, "strict": True}}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": STRICT}}},
    ),
    (
        "chat",
        "response_format(type=json_schema).json_schema.schema",
        "/response_format/json_schema/schema",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": RECURSIVE}}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}},
    ),
    (
        "responses",
        "text.format(type=json_schema).strict",
        "/text/format/strict",
        {"text": {"format": {"type": "json_schema", "name": "n", "schema": RECURSIVE, "strict": True}}},
        {"text": {"format": {"type": "json_schema", "name": "n", "schema": RECURSIVE}}},
    ),
    (
        "responses",
        "text.format(type=json_schema).schema",
        "/text/format/schema",
        {"text": {"format": {"type": "json_schema", "name": "n", "schema": RECURSIVE}}},
        {"text": {"format": {"type": "json_schema", "name": "n"}}},
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

# Fields that requests have and the pinned SDKs lack.
UNPUBLISHED = (
    # The SDK follows version 2026-10-21 of the API; clients of 2023-06-01 send them.
    ("messages", "temperature", 0.5),
    ("messages", "top_p", 0.5),
    ("messages", "top_k", 5),
    # Codex sends it.
    ("responses", "client_metadata", {"session": "tw-1"}),
    # Reasoning, as DeepSeek, vLLM, OpenRouter and litellm call it.
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
    # A cache marker in the words of Messages, as OpenRouter and litellm take it.
    ("chat", "messages[role=assistant].cache_control", {"type": "ephemeral"}),
)


def unpublished_fields():
    """The rows of the unpublished fields, in the format of `published_fields.py`."""
    rows = []
    for protocol, path, sample in UNPUBLISHED:
        in_turn, _, name = path.rpartition(".")
        with_field = _request(protocol, **{"turn" if in_turn else "top": {name: sample}})
        at = f"/messages/1/{name}" if in_turn else f"/{name}"
        rows.append(_row(protocol, path, at, with_field, _request(protocol), sample))
    rows.append(_thinking_part())
    return tuple(rows)


def _thinking_part():
    """Reasoning among the content, as Mistral has it."""
    text = {"type": "text", "text": "ok"}
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "tw-thought"}]}
    path = "messages[role=assistant].content[type=thinking]"
    with_part = _request("chat", turn={"content": [thought, text]})
    return _row("chat", path, "/messages/1/content/0", with_part, _request("chat", turn={"content": [text]}), None)


def fields_in_context():
    """The rows of the fields whose disposition depends on the rest of the request."""
    return tuple(
        _row(protocol, path, at, _request(protocol, top=with_field), _request(protocol, top=without_field), None)
        for protocol, path, at, with_field, without_field in IN_CONTEXT
    )


def _request(protocol, top=None, turn=None):
    conversation = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "ok", **(turn or {})},
        {"role": "user", "content": "go on"},
    ]
    base = {
        "chat": {"model": "some-model", "messages": conversation},
        "responses": {"model": "some-model", "input": conversation},
        "messages": {"model": "some-model", "max_tokens": 4096, "messages": conversation},
    }[protocol]
    return {**base, **(top or {})}


def _row(protocol, path, at, with_field, without_field, sample):
    return {
        "protocol": protocol,
        "path": path,
        "values": [],
        "misplaced": False,
        "neutral": False,
        "sample": sample,
        "at": at,
        "with": with_field,
        "without": without_field,
    }
