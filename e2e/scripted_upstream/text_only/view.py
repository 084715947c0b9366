"""What a model that only reads text understands of a request, in the form of `request_view.py`."""

import json
import re

TOOLS = re.compile(r"\n?\n?# Tools\n.*?\n<tools>\n(.*?)\n</tools>\n(.*)$", re.S)
ATTACHMENT = re.compile(r"\[attachment \d+ below\]")


def text_view(view, texts, dialect):
    """The view of a request whose tools, calls and results are in its texts.

    `view` is what `request_view.py` reads in it, `texts` the roles and texts of its turns.
    """
    found = TOOLS.search(view["system"])
    definitions = [json.loads(line)["function"] for line in found[1].split("\n")] if found else []
    schemas = {tool["name"]: tool.get("parameters", {"properties": {}}) for tool in definitions}
    # A model that may not call anything still reads what it has called.
    calls = [call for role, text in texts if role == "assistant" for call in dialect.calls(text, schemas)]
    results = [result for role, text in texts if role == "user" for result in dialect.results(text)]
    said = [dialect.RESULT.sub("", text).strip() for role, text in texts if role == "user"]
    images = [len(ATTACHMENT.findall(_text(result))) for result in results]
    return {
        **view,
        "system": TOOLS.sub("", view["system"]),
        "user": next((text for text in reversed(said) if text), ""),
        "tools": sorted(schemas),
        # There are no ids in a text, so calls and results are paired by their order.
        "calls": [{"id": at, "name": call["name"], "args": call["arguments"]} for at, call in enumerate(calls)],
        "results": [
            {"id": at, "name": result["name"], "text": _text(result), "error": None, "images": count}
            for at, (result, count) in enumerate(zip(results, images, strict=True))
        ],
        "images": view["images"] - sum(images),
        "instructions": found[2] if found else "",
    }


def _text(result):
    content = result["content"]
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
