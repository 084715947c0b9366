"""The rules of Messages."""

from e2e.scripted_upstream.strict_validation.rules import ID, require, validate_name, validate_tools

MID_CONVERSATION_SYSTEM = "mid-conversation-system-2026-04-07"


def validate(body, reasoning, betas):
    seals = {one["seal"]: one["text"] for one in reasoning if "seal" in one}
    limit = body.get("max_tokens")
    require(isinstance(limit, int) and limit > 0, "max_tokens", "Field required, at least 1")
    thinking = body.get("thinking") or {}
    if thinking.get("type") == "enabled":
        require(1024 <= thinking.get("budget_tokens", 0) < limit, "thinking.budget_tokens", "must be 1024 or more and less than max_tokens")
        forced = (body.get("tool_choice") or {}).get("type") in ("any", "tool")
        require(not forced, "tool_choice", "Thinking may not be enabled when tool_choice forces tool use.")
    require("temperature" not in body or "top_p" not in body, "top_p", "temperature and top_p cannot both be specified")
    validate_tools(body, body.get("tools") or [], "input_schema", 128)
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
                validate_name(block.get("name"), 128, f"{inside}.name")
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
