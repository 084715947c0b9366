"""A turn of a script as a model says it that can only write text."""


def spoken_turn(turn, dialect, tools):
    """The turn with its calls and its reasoning as text. `tools` are the names that the model was told."""
    calls = [{"name": _told(call["name"], tools), "arguments": call["args"]} for call in turn.get("calls", ())]
    thought = turn.get("reasoning", {}).get("text")
    parts = [f"<think>\n{thought}\n</think>\n" if thought else "", turn.get("text"), dialect.write(calls), turn.get("text_after")]
    spoken = {key: value for key, value in turn.items() if key not in ("calls", "reasoning", "text_after")}
    text = "\n".join(part for part in parts if part)
    return {**spoken, "text": text[: len(text) - turn.get("cut_text", 0)]}


def _told(name, tools):
    """A tool under the name that the model was told: too long a name is cut and ends in a hash."""
    return next((told for told in tools if told == name or (len(name) > 64 and told.startswith(name[:50]))), name)
