"""The answer around a field of Responses."""

from e2e.schemas.conversations.responses import PAIRS

HELLO = "hello"
USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 150,
}
BASE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1790000000,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "model": "gpt-5.5",
    "output": [],
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "usage": USAGE,
}


def whole(path, built, reference):
    answer = {**BASE, **built}
    answer["usage"] = totals(answer["usage"])
    answer["output"] = around(answer["output"], reference.get("output"))
    if "status" not in built:
        answer["status"] = "failed" if reference.get("error") else answer["status"]
        answer["status"] = "incomplete" if reference.get("incomplete_details") else answer["status"]
    return answer


def totals(usage):
    """Token counts that can be true: the total is that of the two others."""
    if not usage:
        return usage
    filled = {**USAGE, **usage}
    for details in ("input_tokens_details", "output_tokens_details"):
        filled[details] = {**USAGE[details], **(filled[details] or {})}
    return {**filled, "total_tokens": filled["input_tokens"] + filled["output_tokens"]}


def around(items, wanted):
    """The items of an answer with those that they belong to."""
    if not wanted:
        return [message()]
    item = wanted[0]
    given = [{**items[0]}] if items else []
    if item.get("type", "message") == "message":
        if given and not given[0].get("content"):
            given[0]["content"] = [part()]
        return given or [message()]
    before = [call for pair in PAIRS if pair.result["type"] == item["type"] for call in pair.around_result(item)[0]]
    calls = {pair.call["type"] for pair in PAIRS}
    identified = [{"id": f"{call['type'][:2]}_1", "status": "completed", **call} for call in before]
    if item["type"] in calls:
        return [message(), *given]
    return [*identified, *given, message()]


def message(text=HELLO):
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part(text)]}


def part(text=HELLO):
    return {"type": "output_text", "text": text, "annotations": []}


def stream(answer):
    """The answer as the stream that it would have been."""
    begun = {**answer, "status": "in_progress", "output": [], "usage": None, "error": None, "incomplete_details": None}
    events = [{"type": "response.created", "response": begun}, {"type": "response.in_progress", "response": begun}]
    if answer["status"] == "queued":
        events.append({"type": "response.queued", "response": {**begun, "status": "queued"}})
    for index, item in enumerate(answer["output"]):
        events += item_events(index, item)
    end = ENDS.get(answer["status"], "response.completed")
    return numbered([*events, {"type": end, "response": answer}])


ENDS = {"failed": "response.failed", "incomplete": "response.incomplete"}


def numbered(events):
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def item_events(index, item):
    """The events of one item."""
    about = {"output_index": index, "item_id": item.get("id") or f"item_{index}"}
    begun, middle = begin(item, about)
    return [
        {"type": "response.output_item.added", "output_index": index, "item": begun},
        *middle,
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def begin(item, about):
    """The item as it begins, and the events between that and its end."""
    match item.get("type", "message"):
        case "message":
            return {**item, "status": "in_progress", "content": []}, message_events(item, about)
        case "reasoning":
            begun = {key: value for key, value in item.items() if key not in ("summary", "content", "encrypted_content")}
            return {**begun, "summary": []}, reasoning_events(item, about)
        case "function_call" | "custom_tool_call":
            member, kind = MEMBERS[item["type"]]
            begun = {**item, member: ""}
            if item.get("status"):
                begun["status"] = "in_progress"
            delta = {"type": f"{kind}.delta", **about, "delta": item[member]}
            return begun, [delta, {"type": f"{kind}.done", **about, member: item[member]}]
    is_open = item.get("status") and not item["type"].endswith("_output")
    return {**item, **({"status": "in_progress"} if is_open else {})}, []


MEMBERS = {
    "function_call": ("arguments", "response.function_call_arguments"),
    "custom_tool_call": ("input", "response.custom_tool_call_input"),
}


def message_events(item, about):
    events = []
    for index, content in enumerate(item["content"]):
        here = {**about, "content_index": index}
        member, kind = ("text", "output_text") if content["type"] == "output_text" else ("refusal", "refusal")
        empty = {**content, member: ""}
        if member == "text":
            empty = {"type": "output_text", "text": "", "annotations": []}
        events.append({"type": "response.content_part.added", **here, "part": empty})
        logprobs = {"logprobs": content.get("logprobs") or []} if member == "text" else {}
        events.append({"type": f"response.{kind}.delta", **here, "delta": content[member], **logprobs})
        for number, annotation in enumerate(content.get("annotations") or []):
            added = {"type": "response.output_text.annotation.added", **here, "annotation_index": number}
            events.append({**added, "annotation": annotation})
        events.append({"type": f"response.{kind}.done", **here, member: content[member], **logprobs})
        events.append({"type": "response.content_part.done", **here, "part": content})
    return events


def reasoning_events(item, about):
    events = []
    for index, summary in enumerate(item.get("summary") or []):
        here = {**about, "summary_index": index}
        part = {"type": "response.reasoning_summary_part.added", **here, "part": {**summary, "text": ""}}
        delta = {"type": "response.reasoning_summary_text.delta", **here, "delta": summary["text"]}
        done = {"type": "response.reasoning_summary_text.done", **here, "text": summary["text"]}
        events += [part, delta, done, {"type": "response.reasoning_summary_part.done", **here, "part": summary}]
    for index, content in enumerate(item.get("content") or []):
        here = {**about, "content_index": index}
        delta = {"type": "response.reasoning_text.delta", **here, "delta": content["text"]}
        events += [delta, {"type": "response.reasoning_text.done", **here, "text": content["text"]}]
    return events


def event(name, path, built, reference):
    """The stream around an event that is more than a part of the answer.

    What the event adds to its item, the item has at its end.
    """
    if name == "error":
        return failed_stream({"type": "error", "code": None, "message": "some-message", "param": None, **built})
    said = next((built[key] for key in ADDED if key in built), None)
    item = next((make(said) for prefix, make in ITEMS if name.startswith(prefix)), message())
    items = item if isinstance(item, list) else [item]
    events = stream({**BASE, "output": items})
    places = [index for index, event in enumerate(events) if event["type"] == name]
    if places:
        events[places[0]] = {**events[places[0]], **built}
        return numbered(events)
    done = max(index for index, event in enumerate(events) if event["type"] == "response.output_item.done")
    about = {"type": name, "item_id": items[-1]["id"], "output_index": len(items) - 1}
    return numbered([*events[:done], {**about, **built}, *events[done:]])


# The members of events that are pieces of an item.
ADDED = ("delta", "text", "refusal", "arguments", "input", "code", "command", "output", "part", "annotation")


def refusal(text):
    return {**message(), "content": [{"type": "refusal", "refusal": text or "No."}]}


def summary(text):
    said = text["text"] if isinstance(text, dict) else text
    return {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": said or "some-text"}]}


def thought(text):
    content = [{"type": "reasoning_text", "text": text or "some-text"}]
    return {"id": "rs_1", "type": "reasoning", "summary": [], "content": content}


def call(text):
    return {
        "id": "fc_1",
        "type": "function_call",
        "status": "completed",
        "call_id": "call_1",
        "name": "lookup",
        "arguments": text or "{}",
    }


def custom_call(text):
    custom = {"id": "ctc_1", "type": "custom_tool_call", "status": "completed", "call_id": "call_1", "name": "lookup"}
    return {**custom, "input": text or "some-input"}


def shell_call(text):
    action = {"commands": [text if isinstance(text, str) else "ls"], "timeout_ms": None, "max_output_length": None}
    call = {"id": "sh_1", "type": "shell_call", "status": "completed", "call_id": "call_1", "action": action}
    return {**call, "environment": None}


def shell_output(output):
    stdout = output.get("stdout", "ok") if isinstance(output, dict) else "ok"
    end = {"type": "exit", "exit_code": 0}
    outputs = output if isinstance(output, list) else [{"stdout": stdout, "stderr": "", "outcome": end}]
    result = {"id": "sho_1", "type": "shell_call_output", "status": "completed", "call_id": "call_1"}
    return [shell_call(None), {**result, "max_output_length": None, "output": outputs}]


def hosted(kind, **members):
    return lambda said: {"id": "ws_1", "type": kind, "status": "completed", **members}


def code_call(text):
    call = {"id": "ci_1", "type": "code_interpreter_call", "status": "completed", "container_id": "cntr_1"}
    return {**call, "code": text or "run()", "outputs": None}


def mcp_call(text):
    return {"id": "mcp_1", "type": "mcp_call", "name": "lookup", "server_label": "files", "arguments": text or "{}"}


# Which item an event is about, by the beginning of its name.
ITEMS = (
    ("response.refusal", refusal),
    ("response.reasoning_summary", summary),
    ("response.reasoning_text", thought),
    ("response.output_text", lambda text: message(text if isinstance(text, str) else HELLO)),
    ("response.function_call_arguments", call),
    ("response.custom_tool_call_input", custom_call),
    ("response.shell_call_command", shell_call),
    ("response.shell_call_output", shell_output),
    ("response.code_interpreter_call", code_call),
    ("response.mcp_call", mcp_call),
    ("response.mcp_list_tools", lambda said: {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "s", "tools": []}),
    ("response.web_search_call", hosted("web_search_call", action={"type": "search", "query": "q"})),
    ("response.file_search_call", hosted("file_search_call", queries=["q"], results=None)),
    ("response.image_generation_call", hosted("image_generation_call", result="dHc=")),
    ("response.compaction", lambda said: {"id": "cmp_1", "type": "compaction", "encrypted_content": "dHc="}),
)


def views(number, event):
    """The parts of an event that are parts of a response."""
    if isinstance(event.get("response"), dict):
        yield event["response"], "", f"/{number}/response"
    if isinstance(event.get("item"), dict):
        yield {"output": [event["item"]]}, "/output/0", f"/{number}/item"
    if isinstance(event.get("part"), dict):
        part = event["part"]
        if "summary_index" in event:
            yield {"output": [{"type": "reasoning", "summary": [part]}]}, "/output/0/summary/0", f"/{number}/part"
        else:
            item = {"type": "message", "role": "assistant", "content": [part]}
            yield {"output": [item]}, "/output/0/content/0", f"/{number}/part"
    if isinstance(event.get("annotation"), dict):
        content = [{"type": "output_text", "annotations": [event["annotation"]]}]
        item = {"type": "message", "role": "assistant", "content": content}
        yield {"output": [item]}, "/output/0/content/0/annotations/0", f"/{number}/annotation"
    if event.get("logprobs"):
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "logprobs": event["logprobs"]}]}
        yield {"output": [item]}, "/output/0/content/0/logprobs", f"/{number}/logprobs"


def failed_stream(error):
    """A stream that ends with an error."""
    events = stream({**BASE, "output": [message()]})
    said = next(index for index, event in enumerate(events) if event["type"] == "response.output_text.done")
    return numbered([*events[:said], error])
