"""The rules of Responses."""

from e2e.scripted_upstream.strict_validation.rules import require, validate_id, validate_name, validate_tools

ITEM_IDS = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_", "custom_tool_call": "ctc_"}


def validate(body, reasoning):
    seals = {one["seal"]: one["text"] for one in reasoning if "seal" in one}
    items = body.get("input")
    require(isinstance(items, str) or (isinstance(items, list) and items), "input", "Field required")
    validate_tools(body, [tool for tool in body.get("tools") or () if tool.get("type") == "function"], "parameters", 128)
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
            validate_id(item["id"], 64, f"{place}.id")
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
            validate_id(item.get("call_id"), 64, f"{place}.call_id")
            validate_name(item.get("name"), 128, f"{place}.name")
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
