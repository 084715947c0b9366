"""What the encoders of all three protocols share."""

import hashlib
import json

USAGE = {"input": 12, "cached": 0, "output": 7, "reasoning": 0}


class TurnEncoder:
    """Writes one turn as the answer to one request.

    A subclass has `body`, the unary answer; `events`, the bytes of each event of the stream; and
    `error_event`, which reports an error in the middle of a stream.
    """

    call_id_prefix = "call_"

    def __init__(self, request, turn, number):
        self.request, self.turn = request, turn
        self.key = f"{request.model}/{number}"
        self.model = request.model
        self.text = turn.get("text", "")
        self.reasoning = turn.get("reasoning")
        self.calls = [self.encode_call(place, call) for place, call in enumerate(turn.get("calls", ()))]
        self.usage = {**USAGE, **turn.get("usage", {})}
        self.stop = turn.get("stop") or ("calls" if self.calls else "end")

    def make_id(self, prefix, what):
        return prefix + hashlib.sha256(f"{self.key}/{what}".encode()).hexdigest()[:24]

    def encode_call(self, place, call):
        args, freeform = call.get("args", {}), "input" in call
        if freeform and call["name"] not in self.freeform_tools():
            # The tool was declared as a function, so the text is its only argument.
            args, freeform = {"input": call["input"]}, False
        text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
        id = call.get("id") or self.make_id(self.call_id_prefix, place)
        return {"id": id, "name": call["name"], "freeform": freeform, "text": call["input"] if freeform else text}

    def freeform_tools(self):
        """The names of the declared freeform tools."""
        tools = [tool for tool in self.request.body.get("tools") or () if tool.get("type") == "custom"]
        return {tool.get("custom", tool).get("name") for tool in tools}

    def chunks(self, text):
        size = self.turn.get("chunk_size", 7)
        return [text[at : at + size] for at in range(0, len(text), size)]


def sse_data(document):
    return b"data: " + json.dumps(document, ensure_ascii=False).encode() + b"\n\n"


def sse_event(document):
    return b"event: " + document["type"].encode() + b"\n" + sse_data(document)
