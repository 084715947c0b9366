"""Rejects what the vendors reject: a request that breaks a rule gets a 400 that names the field.

This file has the rules that the SDKs' types cannot express. The types are checked too, with pydantic.
"""

import json
import re
import warnings
from functools import cache
from typing import get_type_hints

import pydantic
from anthropic.types import message_create_params as messages_params
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import response_create_params as responses_params

TYPES = {
    "chat": (chat_params.CompletionCreateParamsNonStreaming, chat_params.CompletionCreateParamsStreaming),
    "responses": (responses_params.ResponseCreateParamsNonStreaming, responses_params.ResponseCreateParamsStreaming),
    "messages": (messages_params.MessageCreateParamsNonStreaming, messages_params.MessageCreateParamsStreaming),
}
# Fields that the APIs accept and the types lack.
UNPUBLISHED_FIELDS = {"responses": {"client_metadata"}, "messages": {"context_management", "mcp_servers"}}
ID = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]+")
ITEM_IDS = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_", "custom_tool_call": "ctc_"}
MID_CONVERSATION_SYSTEM = "mid-conversation-system-2026-04-07"
FORBIDDEN_AT_ROOT = {"oneOf", "anyOf", "allOf", "enum", "const", "not"}


class RequestRejected(Exception):
    """The request breaks a rule at the field `param`."""

    def __init__(self, param, why):
        super().__init__(why)
        self.param = param


def validate(request, reasoning):
    """Raises RequestRejected for the first rule that a request breaks.

    `reasoning` is all the reasoning in the model's script: [{"text", "seal"}].
    """
    protocol, body = request.protocol, request.body
    for name in body:
        require(name in _known_fields(protocol), name, f"Unknown parameter: '{name}'")
    headers = request.headers
    require(headers.get("content-type", "").startswith("application/json"), "content-type", "must be application/json")
    if protocol == "messages":
        require("x-api-key" in headers or "authorization" in headers, "x-api-key", "header is required")
        require("anthropic-version" in headers, "anthropic-version", "header is required")
    else:
        require(headers.get("authorization", "").startswith("Bearer "), "authorization", "You didn't provide an API key")
    require(isinstance(body.get("model"), str), "model", "Field required")
    if protocol == "messages":
        _validate_messages(body, reasoning, headers.get("anthropic-beta", "").split(","))
    else:
        {"chat": _validate_chat, "responses": _validate_responses}[protocol](body, reasoning)
    _check_sdk_types(protocol, body)


def require(holds, param, why):
    """Rejects the request unless `holds` is true."""
    if not holds:
        raise RequestRejected(param, why)


def _validate_chat(body, reasoning):
    texts = [one["text"] for one in reasoning]
    messages = body.get("messages")
    require(isinstance(messages, list) and messages, "messages", "Field required, at least one message")
    _validate_tools(body, [tool.get(tool.get("type"), {}) for tool in body.get("tools") or ()], "parameters", 64)
    open_calls = {}
    for at, message in enumerate(messages):
        place, role = f"messages[{at}]", message.get("role")
        require(role in ("system", "developer", "user", "assistant", "tool"), f"{place}.role", f"Invalid value: {role!r}")
        # OpenAI has no reasoning in Chat. Vendors that have it accept their own reasoning back.
        require(message.get("reasoning_content") in [None, *texts], f"{place}.reasoning_content", "is not this model's")
        for name in ("reasoning", "reasoning_details", "thinking_blocks", "is_error"):
            require(name not in message, f"{place}.{name}", f"Unknown parameter: '{name}'")
        if role == "tool":
            id = message.get("tool_call_id")
            require(id in open_calls, place, "messages with role 'tool' must be a response to a preceding message with 'tool_calls'")
            del open_calls[id]
            require("content" in message, f"{place}.content", "Field required")
            parts = message["content"] if isinstance(message["content"], list) else ()
            require(all(part.get("type") == "text" for part in parts), f"{place}.content", "only text parts are supported here")
            continue
        require(not open_calls, place, f"tool_call_ids did not have response messages: {', '.join(open_calls)}")
        if role != "assistant":
            require(message.get("content") not in (None, []), f"{place}.content", "Field required")
            continue
        calls = message.get("tool_calls")
        require(calls is None or calls, f"{place}.tool_calls", "expected at least one call")
        require(message.get("content") is not None or calls or message.get("refusal"), f"{place}.content", "Field required")
        for number, call in enumerate(calls or ()):
            inner, inside = call.get(call.get("type")), f"{place}.tool_calls[{number}]"
            require(isinstance(inner, dict), f"{inside}.type", "Invalid value")
            _validate_id(call.get("id"), 40, f"{inside}.id")
            _validate_name(inner.get("name"), 64, f"{inside}.function.name")
            text = inner.get("arguments", inner.get("input"))
            require(isinstance(text, str), f"{inside}.function.arguments", "expected a string")
            require(call["id"] not in open_calls, f"{inside}.id", "duplicate id")
            open_calls[call["id"]] = inside
    require(not open_calls, "messages", f"tool_call_ids did not have response messages: {', '.join(open_calls)}")
    if "stream_options" in body:
        require(body.get("stream"), "stream_options", "only allowed when 'stream' is enabled")


def _validate_responses(body, reasoning):
    seals = {one["seal"]: one["text"] for one in reasoning if "seal" in one}
    items = body.get("input")
    require(isinstance(items, str) or (isinstance(items, list) and items), "input", "Field required")
    _validate_tools(body, [tool for tool in body.get("tools") or () if tool.get("type") == "function"], "parameters", 128)
    for at, tool in enumerate(body.get("tools") or ()):
        require("function" not in tool, f"tools[{at}].function", "Unknown parameter")
        require(tool.get("type") != "function" or "parameters" in tool, f"tools[{at}].parameters", "Missing required parameter")
    if isinstance(items, str):
        return
    calls, answered, reasoned = {}, set(), False
    for at, item in enumerate(items):
        place, kind = f"input[{at}]", item.get("type", "message")
        if kind in ITEM_IDS and item.get("id") is not None:
            require(item["id"].startswith(ITEM_IDS[kind]), f"{place}.id", f"expected an ID that begins with '{ITEM_IDS[kind]}'")
            _validate_id(item["id"], 64, f"{place}.id")
            # OpenAI couples the items of one response: an item with an id needs its reasoning item.
            given = kind == "message" and item.get("role") != "assistant"
            coupled = given or kind == "reasoning" or reasoned or not seals
            require(coupled, place, f"Item '{item['id']}' was provided without its required 'reasoning' item")
        if kind == "reasoning":
            reasoned = True
            sealed = item.get("encrypted_content")
            require(sealed or body.get("store") is not False, place, "items are not persisted when `store` is set to false")
            require(sealed is None or sealed in seals, f"{place}.encrypted_content", "could not be verified")
            summary = "".join(part["text"] for part in item.get("summary", ()))
            require(sealed is None or seals[sealed] == summary, f"{place}.summary", "does not match the encrypted content")
        elif kind in ("function_call", "custom_tool_call"):
            _validate_id(item.get("call_id"), 64, f"{place}.call_id")
            _validate_name(item.get("name"), 128, f"{place}.name")
            text = item.get("arguments", item.get("input"))
            require(isinstance(text, str), f"{place}.arguments", "expected a string")
            require(item["call_id"] not in calls, f"{place}.call_id", "duplicate call_id")
            calls[item["call_id"]] = place
        elif kind in ("function_call_output", "custom_tool_call_output"):
            id = item.get("call_id")
            require(id in calls, place, f"No tool call found for function call output with call_id {id}.")
            require(item.get("output") not in (None, []), f"{place}.output", "Field required")
            require("is_error" not in item, f"{place}.is_error", "Unknown parameter: 'is_error'")
            answered.add(id)
        elif kind == "message":
            role = item.get("role")
            require(role in ("system", "developer", "user", "assistant"), f"{place}.role", f"Invalid value: {role!r}")
            require(item.get("content") not in (None, []), f"{place}.content", "Field required")
            wanted = "output_" if role == "assistant" else "input_"
            for part in item["content"] if isinstance(item["content"], list) else ():
                fits = part.get("type", "").startswith(wanted) or part.get("type") == "refusal"
                require(fits, f"{place}.content", f"Invalid value: '{part.get('type')}'")
    missing = [id for id in calls if id not in answered]
    require(not missing, "input", f"No tool output found for function call {', '.join(missing)}.")


def _validate_messages(body, reasoning, betas=()):
    seals = {one["seal"]: one["text"] for one in reasoning if "seal" in one}
    limit = body.get("max_tokens")
    require(isinstance(limit, int) and limit > 0, "max_tokens", "Field required, at least 1")
    thinking = body.get("thinking") or {}
    if thinking.get("type") == "enabled":
        require(1024 <= thinking.get("budget_tokens", 0) < limit, "thinking.budget_tokens", "must be 1024 or more and less than max_tokens")
        forced = (body.get("tool_choice") or {}).get("type") in ("any", "tool")
        require(not forced, "tool_choice", "Thinking may not be enabled when tool_choice forces tool use.")
    require("temperature" not in body or "top_p" not in body, "top_p", "temperature and top_p cannot both be specified")
    _validate_tools(body, body.get("tools") or [], "input_schema", 128)
    for at, tool in enumerate(body.get("tools") or ()):
        require("input_schema" in tool or "type" in tool, f"tools.{at}.input_schema", "Field required")
    turns = body.get("messages")
    require(isinstance(turns, list) and turns, "messages", "at least one message is required")
    if MID_CONVERSATION_SYSTEM in betas:
        # Instructions in mid-conversation do not count as turns that must alternate.
        require(turns[0].get("role") != "system", "messages.0.role", "the first message cannot be a system message")
        turns = [turn for turn in turns if turn.get("role") != "system"]
    for at, text in enumerate(body.get("system") if isinstance(body.get("system"), list) else ()):
        require(text.get("text", "").strip(), f"system.{at}.text", "text content blocks must be non-empty")
    used, unanswered = set(), []
    for at, turn in enumerate(turns):
        place, role, content = f"messages.{at}", turn.get("role"), turn.get("content")
        require(role in ("user", "assistant"), f"{place}.role", f"role {role!r} is not supported on this model")
        require(at > 0 or role == "user", place, "first message must use the \"user\" role")
        require(at == 0 or turns[at - 1]["role"] != role, place, "roles must alternate between \"user\" and \"assistant\"")
        require(content, f"{place}.content", "all messages must have non-empty content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results, others = [], 0
        for number, block in enumerate(blocks):
            inside, kind = f"{place}.content.{number}", block.get("type")
            if kind == "text":
                require(block.get("text", "").strip(), f"{inside}.text", "text content blocks must contain non-whitespace text")
            elif kind == "tool_use":
                require(role == "assistant", inside, "tool_use blocks can only be in assistant messages")
                require(ID.fullmatch(block.get("id") or ""), f"{inside}.id", "String should match pattern '^[a-zA-Z0-9_-]+$'")
                require(block["id"] not in used, f"{inside}.id", "tool_use ids must be unique")
                used.add(block["id"])
                _validate_name(block.get("name"), 128, f"{inside}.name")
                require(isinstance(block.get("input"), dict), f"{inside}.input", "Input should be a valid dictionary")
            elif kind == "tool_result":
                require(role == "user", inside, "tool_result blocks can only be in user messages")
                require(others == 0, inside, "tool_result blocks must come first in the content")
                results.append(block.get("tool_use_id"))
                parts = block.get("content") if isinstance(block.get("content"), list) else ()
                for part in parts:
                    require(part.get("type") != "text" or part["text"], f"{inside}.content", "text content blocks must be non-empty")
            elif kind == "thinking":
                require(role == "assistant", inside, "thinking blocks can only be in assistant messages")
                require(block.get("signature") in seals, inside, "Invalid `signature` in `thinking` block")
                same = seals[block["signature"]] == block.get("thinking")
                require(same, inside, "thinking blocks in the latest assistant message cannot be modified")
                require(set(block) <= {"type", "thinking", "signature"}, inside, "Extra inputs are not permitted")
            others += kind != "tool_result"
        if role == "user":
            require(sorted(results) == sorted(unanswered), place, f"tool_result blocks {results} do not answer tool_use ids {unanswered}")
        else:
            require(not unanswered, place, f"tool_use ids were found without tool_result blocks: {unanswered}")
        unanswered = [block["id"] for block in blocks if block.get("type") == "tool_use"] if role == "assistant" else []
    require(not unanswered, "messages", f"tool_use ids were found without tool_result blocks immediately after: {unanswered}")
    final = turns[-1]
    if final["role"] == "assistant":
        text = final["content"] if isinstance(final["content"], str) else final["content"][-1].get("text", "")
        require(text == text.rstrip(), "messages", "final assistant content cannot end with trailing whitespace")


def _validate_tools(body, tools, schema, longest):
    """The rules for tools and tool choice that the protocols share."""
    # Responses accepts an empty list with a tool choice. OpenAI's agents SDK and Codex both send that.
    if "input" not in body:
        require("tools" not in body or body["tools"], "tools", "[] is too short: expected at least one tool")
        for name in ("tool_choice", "parallel_tool_calls"):
            require(name not in body or body.get("tools"), name, f"'{name}' is only allowed when 'tools' are specified")
    names = [tool.get("name") for tool in tools]
    for at, tool in enumerate(tools):
        _validate_name(tool.get("name"), longest, f"tools[{at}].name")
        require(names.count(tool["name"]) == 1, f"tools[{at}].name", "Tool names must be unique")
        root = tool.get(schema)
        if root is not None:
            require(root.get("type") == "object", f"tools[{at}].{schema}", "schema must have type 'object'")
            require(not FORBIDDEN_AT_ROOT & set(root), f"tools[{at}].{schema}", "schema must not have 'oneOf/anyOf/allOf' at the top level")
        if tool.get("strict") and root:
            whole = set(root.get("required", ())) == set(root.get("properties", {}))
            require(root.get("additionalProperties") is False, f"tools[{at}].{schema}", "'additionalProperties' must be false")
            require(whole or schema == "input_schema", f"tools[{at}].{schema}", "'required' must name every property")


def _validate_id(id, longest, place):
    require(isinstance(id, str) and ID.fullmatch(id), place, f"Invalid id: {id!r}")
    require(len(id) <= longest, place, f"string too long: expected at most {longest} characters, got {len(id)}")


def _validate_name(name, longest, place):
    require(isinstance(name, str) and NAME.fullmatch(name), place, f"Invalid name: {name!r} does not match '^[a-zA-Z0-9_-]+$'")
    require(len(name) <= longest, place, f"string too long: expected at most {longest} characters, got {len(name)}")


def _check_sdk_types(protocol, body):
    """Rejects a request that the types of the vendor's SDK do not allow."""
    kind = TYPES[protocol][1 if body.get("stream") else 0]
    if protocol == "responses":
        body = _with_required_fields(_without_null_content(body))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _adapter(kind).validate_python(body)
    except pydantic.ValidationError as error:
        first = min(error.errors(), key=lambda fault: len(fault["loc"]))
        place = ".".join(str(part) for part in first["loc"])
        raise RequestRejected(place, f"{first['msg']}: {json.dumps(first['input'], default=str)[:200]}") from None


def _without_null_content(body):
    """The body without `content: null`, which Codex sends in reasoning items and OpenAI accepts."""
    if not isinstance(body.get("input"), list):
        return body
    empty = {"type": "reasoning", "content": None}
    items = [
        {key: one for key, one in item.items() if key != "content"} if empty.items() <= item.items() else item
        for item in body["input"]
    ]
    return {**body, "input": items}


def _with_required_fields(value):
    """The value with fields that the types of Responses require and its API does not."""
    if isinstance(value, list):
        return [_with_required_fields(one) for one in value]
    if not isinstance(value, dict):
        return value
    more = {"detail": "auto"} if value.get("type") == "input_image" else {}
    if value.get("role") == "assistant" and isinstance(value.get("content"), list):
        more = {"type": "message", "id": "msg_0", "status": "completed"}
    return {**more, **{key: _with_required_fields(one) for key, one in value.items()}}


@cache
def _adapter(kind):
    return pydantic.TypeAdapter(kind)


@cache
def _known_fields(protocol):
    return set(get_type_hints(TYPES[protocol][1])) | UNPUBLISHED_FIELDS.get(protocol, set())
