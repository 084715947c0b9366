"""The answer around a field of Chat Completions."""

HELLO = "hello"
USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
BASE = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1790000000,
    "model": "gpt-5.5",
    "choices": [],
    "usage": USAGE,
}


def whole(path, built, reference):
    answer = {**BASE, **built}
    answer["usage"] = with_totals(answer["usage"])
    wanted = reference.get("choices") or [{}]
    choice = (answer["choices"] or [{}])[0]
    message = {"role": "assistant", "content": HELLO, "refusal": None, **present(choice.get("message", {}))}
    if path.startswith(("choices[].message.refusal", "choices[].logprobs.refusal")):
        message = {**message, "content": None, "refusal": message["refusal"] or "I can't help with that."}
    end = {"index": 0, "logprobs": None, "finish_reason": finish(wanted[0].get("message", {}))}
    asked = path.startswith("choices[].finish_reason")
    kept = {key: value for key, value in choice.items() if key != "finish_reason" or asked}
    answer["choices"] = [{**end, **kept, "message": message}]
    return answer


def event(name, path, built, reference):
    """The stream around a chunk. All of its chunks have the same name."""
    common = {**BASE, "object": "chat.completion.chunk"}
    del common["choices"], common["usage"]
    common |= {key: value for key, value in built.items() if key not in ("choices", "usage", "moderation", "obfuscation")}
    wanted = (reference.get("choices") or [{}])[0]
    choice = (built.get("choices") or [{}])[0]
    refused = "refusal" in wanted.get("delta", {}) or "refusal" in (wanted.get("logprobs") or {})
    first = {"role": "assistant", **({"refusal": ""} if refused else {"content": ""})}
    said = {} if refused or wanted.get("delta", {}).get("content") else {"content": HELLO}
    delta = {**said, **choice.get("delta", {})} if not refused else {"refusal": "No.", **choice.get("delta", {})}
    middle = {"index": 0, "delta": delta, "finish_reason": None, "logprobs": choice.get("logprobs")}
    last = {"index": 0, "delta": {}, "finish_reason": choice.get("finish_reason") or finish(wanted.get("delta", {}))}
    beside = {key: built[key] for key in ("obfuscation",) if key in built}
    end = {key: built[key] for key in ("moderation",) if key in built}
    return [
        {**common, "choices": [{"index": 0, "delta": first, "finish_reason": None}]},
        {**common, **beside, "choices": [middle]},
        {**common, "choices": [last]},
        {**common, **end, "choices": [], "usage": with_totals({**USAGE, **(built.get("usage") or {})})},
    ]


def views(number, event):
    """A chunk is not part of anything else."""
    yield event, "", f"/{number}"


def failed_stream(error):
    """A stream that ends with an error."""
    started = event("", "", {}, {})[:2]
    return [*started, error]


def with_totals(usage):
    """Token counts that can be true: the total is that of the two others."""
    if not usage:
        return usage
    filled = {**USAGE, **usage}
    return {**filled, "total_tokens": filled["prompt_tokens"] + filled["completion_tokens"]}


def finish(message):
    if message.get("tool_calls"):
        return "tool_calls"
    return "function_call" if message.get("function_call") else "stop"


def present(members):
    return {key: value for key, value in members.items() if value is not None}
