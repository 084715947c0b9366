"""What the SDKs' types do not say: values that a field fares differently with, and fields they lack."""

SCHEMAS = (
    {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]},
    {"type": "array", "items": {"type": "string"}},
)

LOOSE_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}

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
        ("max_completion_tokens", 5),
        ("max_tokens", 5),
    ],
    "responses": [
        ("input[type=function_call].arguments", "[1]"),
        ("input[type=function_call].call_id", "functions.x:0"),
        ("input[type=function_call].name", "srv/tool.x"),
        ("tools[type=function].name", "srv/tool.x"),
        *(("tools[type=function].parameters", schema) for schema in SCHEMAS),
    ],
    "messages": [
        ("messages[role=assistant].content[type=tool_use].name", "srv/tool.x"),
        ("messages[role=assistant].content[type=tool_use].id", "toolu_" + 60 * "x"),
        ("tools[type=custom].name", "srv/tool.x"),
        *(("tools[type=custom].input_schema", schema) for schema in SCHEMAS),
        ("max_tokens", 5),
    ],
}

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
    """The rows of those fields, as `e2e.published` gives its own."""
    return tuple(_row(*field) for field in UNPUBLISHED)


def _row(protocol, path, sample):
    def request(fields):
        turn = fields if "messages[" in path else {}
        talk = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "ok", **turn}]
        talk += [{"role": "user", "content": "go on"}]
        own = {} if turn else fields
        return {
            "chat": {"model": "gpt-5.5", "messages": talk, **own},
            "responses": {"model": "gpt-5.5", "input": talk, **own},
            "messages": {"model": "claude-opus-5", "max_tokens": 4096, "messages": talk, **own},
        }[protocol]

    name = path.rpartition(".")[2]
    return {
        "protocol": protocol,
        "path": path,
        "required": False,
        "beta": False,
        "values": [],
        "misplaced": False,
        "neutral": False,
        "sample": sample,
        "at": f"/messages/1/{name}" if "messages[" in path else f"/{name}",
        "with": request({name: sample}),
        "without": request({}),
        "differs": False,
    }
