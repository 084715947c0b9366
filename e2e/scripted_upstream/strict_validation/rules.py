"""What the rules of all three protocols share."""

import re

ID = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]+")
FORBIDDEN_AT_ROOT = {"oneOf", "anyOf", "allOf", "enum", "const", "not"}


class RequestRejected(Exception):
    """The request breaks a rule at the field `param`."""

    def __init__(self, param, why):
        super().__init__(why)
        self.param = param


def require(holds, param, why):
    """Rejects the request unless `holds` is true."""
    if not holds:
        raise RequestRejected(param, why)


def validate_tools(body, tools, schema, longest):
    """The rules for tools and tool choice that the protocols share."""
    # Responses accepts an empty list with a tool choice. OpenAI's agents SDK and Codex both send that.
    if "input" not in body:
        require("tools" not in body or body["tools"], "tools", "[] is too short: expected at least one tool")
        for name in ("tool_choice", "parallel_tool_calls"):
            require(name not in body or body.get("tools"), name, f"'{name}' is only allowed when 'tools' are specified")
    names = [tool.get("name") for tool in tools]
    for at, tool in enumerate(tools):
        validate_name(tool.get("name"), longest, f"tools[{at}].name")
        require(names.count(tool["name"]) == 1, f"tools[{at}].name", "Tool names must be unique")
        root = tool.get(schema)
        if root is not None:
            require(root.get("type") == "object", f"tools[{at}].{schema}", "schema must have type 'object'")
            require(not FORBIDDEN_AT_ROOT & set(root), f"tools[{at}].{schema}", "schema must not have 'oneOf/anyOf/allOf' at the top level")
        if tool.get("strict") and root:
            whole = set(root.get("required", ())) == set(root.get("properties", {}))
            require(root.get("additionalProperties") is False, f"tools[{at}].{schema}", "'additionalProperties' must be false")
            require(whole or schema == "input_schema", f"tools[{at}].{schema}", "'required' must name every property")


def validate_id(id, longest, place):
    require(isinstance(id, str) and ID.fullmatch(id), place, f"Invalid id: {id!r}")
    require(len(id) <= longest, place, f"string too long: expected at most {longest} characters, got {len(id)}")


def validate_name(name, longest, place):
    require(isinstance(name, str) and NAME.fullmatch(name), place, f"Invalid name: {name!r} does not match '^[a-zA-Z0-9_-]+$'")
    require(len(name) <= longest, place, f"string too long: expected at most {longest} characters, got {len(name)}")
