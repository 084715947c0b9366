"""The answer around a field of Messages."""

from e2e.schemas.conversations.messages import turn_of

HELLO = "hello"
USAGE = {"input_tokens": 100, "output_tokens": 50}
BASE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5",
    "content": [],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": USAGE,
}
TEXT = {"type": "text", "text": HELLO}


def whole(path, built, reference):
    answer = {**BASE, **built}
    answer["usage"] = {**USAGE, **present(answer["usage"])}
    answer["content"] = around(answer["content"], reference.get("content"))
    return stopped(answer, path, built)


def around(blocks, wanted):
    """The blocks of an answer with those that they belong to."""
    if not wanted:
        return [TEXT]
    block = wanted[0]
    _, content, _ = turn_of(block, "assistant", {})
    if blocks:
        return [blocks[0] if each is block else each for each in content]
    # A call or a result that is left out takes its partner along only where nothing else names it.
    return [each for each in content if each is not block]


def stopped(answer, path, built):
    if "stop_reason" in built:
        return answer
    if "stop_sequence" in path:
        return {**answer, "stop_reason": "stop_sequence"}
    if "stop_details" in path:
        return {**answer, "stop_reason": "refusal"}
    called = any(block["type"] == "tool_use" for block in answer["content"])
    return {**answer, "stop_reason": "tool_use"} if called else answer


def event(name, path, built, reference):
    """The stream around an event."""
    match name:
        case "message_start":
            return from_start(path, built, reference)
        case "content_block_start":
            return from_block(built, reference)
        case "content_block_delta":
            return from_delta(built, reference)
        case "message_delta":
            return [*start(), *text_block(0), end(built, reference), STOP]
    return [*start(), *text_block(0), end({}, {}), STOP]


def from_start(path, built, reference):
    wanted, message = reference.get("message", {}), built.get("message", {})
    if not path.startswith(("content", "stop_")):
        begun = {**BASE, **message, "content": [], "stop_reason": None}
        begun["usage"] = {**USAGE, **present(message.get("usage") or {})}
        return [{"type": "message_start", "message": begun}, *text_block(0), end({}, {}), STOP]
    # Programmatic tool calling: the answer is complete from the start.
    content = wanted if path.startswith("content") else {}
    done = whole(path, {**message, "content": message.get("content", []) if content else []}, content)
    if not path.startswith("stop_reason"):
        done["stop_reason"] = None
        done = stopped({**done, "stop_reason": "end_turn"}, path, {})
    return [{"type": "message_start", "message": done}, STOP]


def from_block(built, reference):
    wanted = reference.get("content_block")
    blocks = around([built["content_block"]] if "content_block" in built else [], [wanted] if wanted else [])
    events = []
    for index, block in enumerate(blocks):
        events += text_block(index) if block is TEXT else block_events(index, block)
    called = any(block["type"] == "tool_use" for block in blocks)
    return [*start(), *events, end({"delta": {"stop_reason": "tool_use" if called else "end_turn"}}, {}), STOP]


def from_delta(built, reference):
    wanted = reference.get("delta", {"type": "text_delta"})["type"]
    empty = BLOCKS[wanted]
    block = [{"type": "content_block_start", "index": 0, "content_block": empty}]
    if "delta" in built:
        block.append({"type": "content_block_delta", "index": 0, "delta": built["delta"]})
    if wanted == "signature_delta":
        thought = {"type": "thinking_delta", "thinking": "some-thought"}
        block.insert(1, {"type": "content_block_delta", "index": 0, "delta": thought})
    block.append({"type": "content_block_stop", "index": 0})
    called = "tool_use" if empty["type"] == "tool_use" else "end_turn"
    rest = [] if empty["type"] == "text" and wanted == "text_delta" else text_block(1)
    return [*start(), *block, *rest, end({"delta": {"stop_reason": called}}, {}), STOP]


BLOCKS = {
    "text_delta": {"type": "text", "text": ""},
    "citations_delta": {"type": "text", "text": "cited"},
    "input_json_delta": {"type": "tool_use", "id": "toolu_1", "name": "lookup", "input": {}},
    "thinking_delta": {"type": "thinking", "thinking": "", "signature": ""},
    "signature_delta": {"type": "thinking", "thinking": "", "signature": ""},
    "compaction_delta": {"type": "compaction", "content": None},
}
STOP = {"type": "message_stop"}


def start():
    return [{"type": "message_start", "message": {**BASE, "stop_reason": None}}]


def text_block(index):
    delta = {"type": "text_delta", "text": HELLO}
    return [
        {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": index, "delta": delta},
        {"type": "content_block_stop", "index": index},
    ]


def block_events(index, block):
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        {"type": "content_block_stop", "index": index},
    ]


def end(built, reference):
    delta = {"stop_reason": "end_turn", "stop_sequence": None, **present(built.get("delta") or {})}
    wanted = reference.get("delta") or {}
    if wanted.get("stop_sequence"):
        delta["stop_reason"] = "stop_sequence"
    if wanted.get("stop_details"):
        delta["stop_reason"] = "refusal"
    rest = {key: value for key, value in built.items() if key not in ("delta", "usage", "type")}
    usage = {"output_tokens": 50, **present(built.get("usage") or {})}
    return {"type": "message_delta", "delta": delta, "usage": usage, **rest}


def views(number, event):
    """The parts of an event that are parts of a message."""
    match event.get("type"):
        case "message_start":
            yield event["message"], "", f"/{number}/message"
        case "content_block_start":
            yield {"content": [event["content_block"]]}, "/content/0", f"/{number}/content_block"
        case "message_delta":
            yield event["delta"], "", f"/{number}/delta"
            yield {key: value for key, value in event.items() if key != "type"}, "", f"/{number}"


def failed_stream(error):
    """A stream that ends with an error."""
    return [*start(), *text_block(0)[:2], error]


def present(members):
    return {key: value for key, value in members.items() if value is not None}
