"""Sample values for request fields: valid, deterministic and recognisable.

A field under test gets a *marked* value, which cannot be mistaken for anything else in the request.
Its neighbours get *plain* values, the most neutral ones that are valid, so that they have as little
effect on a translation as possible.
"""

import base64
import hashlib
from dataclasses import dataclass

from e2e.schemas.sdk_types import Flag, Free, Items, Number, Record, Text, alternatives, fields, tags

# Fields that the types leave optional although a request is useless without them. Each tuple is a
# choice: the first field is used unless another one is under test.
ESSENTIAL = {
    "ResponseCreateParamsNonStreaming": [("model",), ("input",)],
    "ResponseInputImage": [("image_url", "file_id")],
    "ResponseInputImageContent": [("image_url", "file_id")],
    "ResponseInputFile": [("file_data", "file_id", "file_url")],
    "ResponseInputFileContent": [("file_data", "file_id", "file_url")],
    "ResponseComputerToolCall": [("actions", "action")],
    "ResponseComputerToolCallOutputScreenshot": [("image_url", "file_id")],
    "ImageGenerationInputImageMask": [("image_url", "file_id")],
    "ToolImageGenerationInputImageMask": [("image_url", "file_id")],
    "FileFile": [("file_data", "file_id")],
    "FunctionCallOutput": [("call_id",)],
    "ResponseFunctionToolCallOutputItem": [("call_id",)],
    "ResponseToolSearchCall": [("call_id",)],
    "ToolSearchCall": [("call_id",)],
    "ResponseToolSearchOutputItem": [("call_id",)],
    "ResponseConfigurationUpdateItem": [("reasoning", "text")],
    "Mcp": [("server_url", "connector_id", "tunnel_id")],
    "ToolMcp": [("server_url", "connector_id", "tunnel_id")],
    "SystemMessage": [("content",)],
    "CompactionBlock": [("content", "encrypted_content")],
    "CompactionContentBlockDelta": [("content", "encrypted_content")],
    "ChatCompletionMessage": [("content", "refusal", "function_call", "tool_calls", "audio")],
    # In a stream, the pieces of a call are optional; its first chunk has them all.
    "ChoiceDelta": [("content", "refusal", "function_call", "tool_calls", "audio", "role")],
    "ChoiceDeltaToolCall": [("id",), ("type",), ("function",)],
    "ChoiceDeltaToolCallFunction": [("name",), ("arguments",)],
    "ChoiceDeltaFunctionCall": [("name",), ("arguments",)],
}

# Values that mean the same as leaving the field out, or that change little. They suit the neighbours
# of the field under test; on the field itself, their loss would be hard to tell from their effect.
NEUTRAL_VALUES = (
    "completed",
    "auto",
    "none",
    "default",
    "standard",
    "implicit",
    "in_progress",
    "in_memory",
    "text",
    "direct",
    "disabled",
    "server",
    "full",
    "downsize",
    "error",
    "always",
    "5m",
    "30m",
    "1g",
)

# Fields for which a neutral value is the one that shows.
MARKED_VALUES = {"truncation": "auto"}

# Lists that may be empty, and then mean nothing.
EMPTY_ALLOWED = {
    "annotations",
    "summary",
    "outputs",
    "top_logprobs",
    "pending_safety_checks",
    "tool_references",
}

# Booleans that are true when left out.
TRUE_BY_DEFAULT = {
    "parallel_tool_calls",
    "include_obfuscation",
    "external_web_access",
    "enabled",
    "use_cache",
    ("ResponseCreateParamsNonStreaming", "store"),
}

NUMBERS = {
    "n": (2, 3),
    "temperature": (0.5, 0.25),
    "top_p": (0.5, 0.25),
    "top_logprobs": (2, 3),
    "partial_images": (2, 3),
    "max_tokens": (4096, 4097),
    "max_output_tokens": (4096, 4097),
    "max_completion_tokens": (4096, 4097),
    "budget_tokens": (2048, 2049),
    # Totals, of which the other counts are parts.
    "prompt_tokens": (70, 80),
    "completion_tokens": (70, 80),
    "input_tokens": (70, 80),
    "output_tokens": (70, 80),
    "total_tokens": (140, 160),
    "compact_threshold": (50000, 50001),
}

# Values of maps whose values are not texts.
MAPS = {"categories": True, "category_scores": 0.5, "category_applied_input_types": ["text"]}

SCHEMAS = {"parameters", "schema", "input_schema", "output_schema"}

# The vendors' prefixes for ids. For Responses items the prefix depends on the item.
IDS = {
    "call_id": "call",
    "tool_call_id": "call",
    "caller_id": "call",
    "file_id": "file",
    "file_ids": "file",
    "container_id": "cntr",
    "previous_response_id": "resp",
    "comparison_response_id": "resp",
    "conversation": "conv",
    "previous_message_id": "msg",
    "approval_request_id": "mcpr",
    "vector_store_ids": "vs",
    "tool_use_id": "srvtoolu",
    "tool_id": "srvtoolu",
    ("ToolResultBlock", "tool_use_id"): "toolu",
    ("RequestMCPToolResultBlock", "tool_use_id"): "mcptoolu",
    ("ToolUseBlock", "id"): "toolu",
    ("ServerToolUseBlock", "id"): "srvtoolu",
    ("MCPToolUseBlock", "id"): "mcptoolu",
    ("ChatCompletionMessageFunctionToolCall", "id"): "call",
    ("ChatCompletionMessageCustomToolCall", "id"): "call",
    ("ResponseConversation", "id"): "conv",
    ("ResponsePrompt", "id"): "pmpt",
    ("ContainerParams", "id"): "container",
    ("ResponseOutputMessage", "id"): "msg",
    ("ResponseFunctionToolCall", "id"): "fc",
    ("FunctionCallOutput", "id"): "fco",
    ("ResponseCustomToolCall", "id"): "ctc",
    ("ResponseCustomToolCallOutput", "id"): "ctco",
    ("ResponseReasoningItem", "id"): "rs",
    ("ResponseFunctionWebSearch", "id"): "ws",
    ("ResponseFileSearchToolCall", "id"): "fs",
    ("ResponseComputerToolCall", "id"): "cu",
    ("ResponseCodeInterpreterToolCall", "id"): "ci",
    ("ImageGenerationCall", "id"): "ig",
    ("LocalShellCall", "id"): "lsh",
    ("LocalShellCallOutput", "id"): "call",
    ("ShellCall", "id"): "sh",
    ("ShellCallOutput", "id"): "sho",
    ("ApplyPatchCall", "id"): "apc",
    ("ApplyPatchCallOutput", "id"): "apco",
    ("ToolSearchCall", "id"): "tsc",
    ("ResponseToolSearchOutputItem", "id"): "tso",
    ("Program", "id"): "prog",
    ("ProgramOutput", "id"): "progo",
    ("McpListTools", "id"): "mcpl",
    ("McpApprovalRequest", "id"): "mcpr",
    ("McpCall", "id"): "mcp",
    ("ResponseCompactionItem", "id"): "cmp",
    ("ItemReference", "id"): "msg",
}

# Texts that must have a certain form. `@` is replaced by the mark, `@64` by its base64.
FORMS = {
    "url": "https://@.example/page",
    "image_url": "https://@.example/image.png",
    "file_url": "https://@.example/file.pdf",
    "server_url": "https://@.example/mcp",
    "domain": "@.example",
    "allowed_domains": "@.example",
    "blocked_domains": "@.example",
    "data": "@64",
    "signature": "@64",
    "encrypted_content": "@64",
    "encrypted_stdout": "@64",
    "encrypted_index": "@64",
    "file_data": "data:application/pdf;base64,@64",
    "filename": "@",
    "arguments": '{"text":"@"}',
    "partial_json": '{"text":"@"}',
    "definition": 'start: "@"',
    "expires_at": "2027-01-01T00:00:00Z",
    "diff": "+@",
    ("PlainTextSource", "data"): "@",
    ("ContextManagement", "type"): "compaction",
}


MARK, OTHER = "tw-", "-other"


@dataclass(frozen=True)
class Mark:
    """How recognisable a value must be: `seed` is the path of the field under test, "" for neighbours."""

    seed: str = ""
    other: bool = False

    def text(self, name):
        """The recognisable part of a text in the field `name`."""
        if not self.seed:
            return f"some-{name}"
        digest = hashlib.sha256(self.seed.encode()).hexdigest()[:10]
        return f"{MARK}{digest}{OTHER}" if self.other else f"{MARK}{digest}"

    def within(self, name):
        """The mark of a value inside this one."""
        return Mark(f"{self.seed}.{name}", self.other) if self.seed else self


PLAIN = Mark()


def value(shape, name, owner, mark):
    """A value of `shape` for the field `name` of the record `owner`."""
    match shape:
        case Text():
            return _text(shape, name, owner, mark)
        case Number():
            return _number(name, mark)
        case Flag():
            neighbour = name in TRUE_BY_DEFAULT or (owner.name, name) in TRUE_BY_DEFAULT
            return neighbour if not mark.seed or mark.other else not neighbour
        case Free():
            return _free(name, mark)
        case Items() if name in EMPTY_ALLOWED and not mark.seed:
            return []
        case Items(of=of, keyed=keyed):
            item = _allowed_tool(owner, mark) if name == "tools" and alternatives(of) == (Free(),) else None
            item = item or value(choose(alternatives(of), mark), name, owner, mark)
            return {mark.text("key"): item} if keyed else [item]
        case Record():
            return record(shape, mark)


def record(shape, mark, tag=None, under_test=None):
    """An object with the fields that it needs, except the field `under_test`."""
    content = {}
    for field in fields(shape):
        if tag and field.name == tag.key and field.required:
            content[field.name] = tag.values[0]
        elif field.required and field.name != under_test:
            is_empty = field.nullable and field.name not in essential(shape, under_test)
            content[field.name] = None if is_empty else _inner(field, mark)
    for name in essential(shape, under_test):
        if name not in content and name != under_test:
            field = next(field for field in fields(shape) if field.name == name)
            content[name] = _inner(field, mark)
    if not content and not under_test:
        # A translator may treat an empty object as absent.
        field = fields(shape)[0]
        content[field.name] = _inner(field, mark)
    return dict(sorted(content.items(), key=lambda entry: entry[0] not in ("role", "type")))


def choose(shapes, mark):
    """The most visible shape for a value under test, and the first shape for others."""
    for shape in shapes if mark.seed else ():
        if not (isinstance(shape, Record) and any(tag.values[0] in NEUTRAL_VALUES for tag in tags(shape))):
            return shape
    return shapes[0]


def essential(shape, under_test):
    """The optional fields that `record` adds if `under_test` is the field under test."""
    names = [under_test if under_test in choice else choice[0] for choice in ESSENTIAL.get(shape.name, ())]
    # OpenAI only accepts the bytes of a file together with its name.
    return names + (["filename"] if "file_data" in names else [])


def _inner(field, mark):
    inner = mark.within(field.name)
    return value(choose(alternatives(field.type), inner), field.name, field.owner, inner)


def _text(shape, name, owner, mark):
    if shape.values:
        neutral = [value for value in NEUTRAL_VALUES if value in shape.values]
        marked = [value for value in shape.values if value not in NEUTRAL_VALUES]
        if not mark.seed:
            return (neutral or marked)[0]
        ranked = sorted(marked + neutral, key=lambda value: value != MARKED_VALUES.get(name))
        return ranked[1] if mark.other and len(ranked) > 1 else ranked[0]
    if not mark.seed and name == "model":
        return "claude-opus-5" if "Fallback" in owner.name or "Advisor" in owner.name else "some-model"
    text = mark.text(name)
    prefix = IDS.get((owner.name, name)) or IDS.get(name)
    if prefix:
        return f"{prefix}_{text.replace('-', '_')}"
    form = FORMS.get((owner.name, name)) or FORMS.get(name)
    if not form:
        return text
    return form.replace("@64", base64.b64encode(text.encode()).decode()).replace("@", text)


def _number(name, mark):
    marked, other = NUMBERS.get(name, (7, 8))
    return 1 if not mark.seed and name not in NUMBERS else other if mark.other else marked


def _free(name, mark):
    if name in SCHEMAS:
        return {
            "type": "object",
            "properties": {mark.text("property"): {"type": "string"}},
            "required": [mark.text("property")],
            "additionalProperties": False,
        }
    if name in MAPS:
        return {mark.text("key"): MAPS[name]}
    if name == "logit_bias":
        return {"1234": 5}
    return {"text": mark.text(name)}


def _allowed_tool(owner, mark):
    if owner.name == "ChatCompletionAllowedTools":
        return {"type": "function", "function": {"name": mark.text("name")}}
    return {"type": "function", "name": mark.text("name")} if owner.name == "ToolChoiceAllowed" else None
