"""The conversation around a field of Responses."""

from collections.abc import Callable
from dataclasses import dataclass

from e2e.schemas.conversations.shared import HELLO, SCHEMA, add, having, names, tool_beside

BASE = {"model": "some-model", "input": []}


def conversation(request, path, whole):
    built = request["input"]
    if isinstance(built, str):
        return
    if not built:
        request["input"] = [user(HELLO)]
        return
    item = built[0]
    if item.get("type", "message") == "message" and "role" in item:
        request["input"] = around_message(item)
        return
    model = {**whole["input"][0], **item}
    before, after, tools = ITEMS.get(model.get("type", "item_reference"), around_alone)(model)
    if model.get("caller", {}).get("type") == "program":
        program = {"type": "program", "id": "prog_1", "code": "run()", "fingerprint": "f"}
        before = [{**program, "call_id": model["caller"]["caller_id"]}, *before]
    if tools:
        add(request, "tools", *tools)
    request["input"] = [user(HELLO), *before, item, *after]


def around_message(message):
    if isinstance(message["content"], list):
        # Only an output message has an id, and it has output parts.
        kind = "output_text" if "id" in message else "input_text"
        part = {"type": kind, "text": HELLO, **({"annotations": []} if kind == "output_text" else {})}
        message["content"].append(part)
    if message["role"] == "user":
        return [message]
    if message["role"] == "assistant":
        return [user(HELLO), message, user("go on")]
    return [message, user(HELLO)]


def user(text):
    return {"role": "user", "content": text}


def declared(name, kind, namespace=None):
    tool = {"type": kind, "name": name}
    if kind == "function":
        tool |= {"parameters": SCHEMA, "strict": False}
    if namespace is None:
        return tool
    return {"type": "namespace", "name": namespace, "description": "Tools.", "tools": [tool]}


def around_alone(item):
    return [], [user("go on")], []


def around_last(item):
    return [], [], []


def around_reasoning(item):
    # A reasoning item must come before the items that it led to.
    return [], [{"role": "assistant", "content": "ok"}, user("go on")], []


@dataclass(frozen=True)
class Pair:
    """A call item and the item that answers it."""

    call: dict
    result: dict
    tools: Callable[[dict], list[dict]] = lambda call: []
    call_key: str = "call_id"
    result_key: str = "call_id"

    def around_call(self, item):
        return [], [{**self.result, self.result_key: item[self.call_key]}], self.tools(item)

    def around_result(self, item):
        shared = {key: item[key] for key in ("name", "namespace", "caller") if key in item}
        call = {**self.call, self.call_key: item[self.result_key], **shared}
        return [call], [], self.tools(call)


def named(kind):
    return lambda call: [declared(name, kind, call.get("namespace")) for name in names(call["name"])]


def fixed(**tool):
    return lambda call: [tool]


PAIRS = [
    Pair(
        {"type": "function_call", "name": "lookup", "arguments": "{}"},
        {"type": "function_call_output", "output": "ok"},
        named("function"),
    ),
    Pair(
        {"type": "custom_tool_call", "name": "lookup", "input": "text"},
        {"type": "custom_tool_call_output", "output": "ok"},
        named("custom"),
    ),
    Pair(
        {"type": "shell_call", "action": {"commands": ["ls"]}},
        {
            "type": "shell_call_output",
            "output": [{"stdout": "ok", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        },
        fixed(type="shell"),
    ),
    Pair(
        {
            "type": "local_shell_call",
            "id": "lsh_1",
            "action": {"type": "exec", "command": ["ls"], "env": {}},
            "status": "completed",
        },
        {"type": "local_shell_call_output", "output": "ok"},
        fixed(type="local_shell"),
        result_key="id",
    ),
    Pair(
        {"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a"}, "status": "completed"},
        {"type": "apply_patch_call_output", "status": "completed"},
        fixed(type="apply_patch"),
    ),
    Pair(
        {
            "type": "computer_call",
            "id": "cu_1",
            "actions": [{"type": "screenshot"}],
            "pending_safety_checks": [],
            "status": "completed",
        },
        {
            "type": "computer_call_output",
            "output": {"type": "computer_screenshot", "image_url": "https://host.example/image.png"},
        },
        fixed(type="computer"),
    ),
    Pair(
        {"type": "tool_search_call", "arguments": {}, "execution": "client"},
        {"type": "tool_search_output", "tools": [], "execution": "client"},
        fixed(type="tool_search", execution="client"),
    ),
    Pair(
        {"type": "program", "id": "prog_1", "code": "run()", "fingerprint": "f"},
        {"type": "program_output", "id": "prog_2", "result": "ok", "status": "completed"},
        fixed(type="programmatic_tool_calling"),
    ),
    Pair(
        {"type": "mcp_approval_request", "name": "lookup", "server_label": "files", "arguments": "{}"},
        {"type": "mcp_approval_response", "approve": True},
        call_key="id",
        result_key="approval_request_id",
    ),
]

# By item type: what comes before an item, what comes after it, and the tools that it needs.
ITEMS = {
    **{pair.call["type"]: pair.around_call for pair in PAIRS},
    **{pair.result["type"]: pair.around_result for pair in PAIRS},
    "reasoning": around_reasoning,
    "compaction_trigger": around_last,
}


def from_choice(request, whole):
    match request.get("tool_choice", whole.get("tool_choice")):
        case {"type": "allowed_tools", "tools": allowed}:
            tools = [declared(name, "function") for tool in allowed for name in names(tool["name"])]
        case {"type": "function" | "custom" as kind, "name": name}:
            tools = [declared(each, kind) for each in names(name)]
        case {"type": "mcp", "server_label": label}:
            server = {"type": "mcp", "server_url": "https://host.example/mcp"}
            tools = [{**server, "server_label": each} for each in names(label)]
        case {"type": kind}:
            tools = [{"type": kind, **HOSTED.get(kind, {})}]
        case _:
            tools = [declared("lookup", "function")]
    add(request, "tools", *tools, declared("another", "function"))


DISPLAY = {"display_width": 800, "display_height": 600, "environment": "browser"}

HOSTED = {
    "file_search": {"vector_store_ids": ["vs_1"]},
    "computer_use_preview": DISPLAY,
    "computer_use": {"type": "computer_use_preview", **DISPLAY},
    "code_interpreter": {"container": {"type": "auto"}},
}

NEEDS = [
    (r"tool_choice|parallel_tool_calls|max_tool_calls", from_choice),
    (r"stream_options", having(stream=True)),
    (r"tools\b.*\.defer_loading$", tool_beside({"type": "tool_search"})),
    (r"tools\[type=tool_search\]", tool_beside(declared("lookup", "function") | {"defer_loading": True})),
]
