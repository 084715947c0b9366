"""A turn in Responses."""

from e2e.scripted_upstream.answers.errors import error_document
from e2e.scripted_upstream.answers.turn_encoder import TurnEncoder, sse_event

# The fields of an item that are still empty in `output_item.added`.
EMPTY_WHEN_ADDED = {
    "message": ["content"],
    "function_call": ["arguments"],
    "custom_tool_call": ["input"],
    "reasoning": ["summary"],
}
# Keyed by whether the tool is freeform: prefix of the item id, type, and field of the text.
CALL_ITEMS = {False: ("fc_", "function_call", "arguments"), True: ("ctc_", "custom_tool_call", "input")}


class ResponsesEncoder(TurnEncoder):
    """Writes `response` objects and their events."""

    def body(self):
        status, reason = self.final_status()
        return self.response_object(status, self.items(), reason)

    def events(self):
        events = [("response.created", {"response": self.response_object("in_progress", [])})]
        events.append(("response.in_progress", {"response": self.response_object("in_progress", [])}))
        items = self.items()
        for index, item in enumerate(items):
            empty = {**item, **{key: type(item[key])() for key in EMPTY_WHEN_ADDED[item["type"]]}}
            if "status" in item:
                empty["status"] = "in_progress"
            events.append(("response.output_item.added", {"output_index": index, "item": empty}))
            place = {"item_id": item["id"], "output_index": index}
            events += [(name, {**place, **fields}) for name, fields in self.item_events(item)]
            events.append(("response.output_item.done", {"output_index": index, "item": item}))
        status, reason = self.final_status()
        events.append((f"response.{status}", {"response": self.response_object(status, items, reason)}))
        return [sse_event({"type": name, "sequence_number": at, **fields}) for at, (name, fields) in enumerate(events)]

    def item_events(self, item):
        """The events between `output_item.added` and `output_item.done`."""
        if item["type"] == "function_call":
            for chunk in self.chunks(item["arguments"]):
                yield "response.function_call_arguments.delta", {"delta": chunk}
            whole = {"name": item["name"], "arguments": item["arguments"]}
            yield "response.function_call_arguments.done", whole
            return
        if item["type"] == "custom_tool_call":
            for chunk in self.chunks(item["input"]):
                yield "response.custom_tool_call_input.delta", {"delta": chunk}
            yield "response.custom_tool_call_input.done", {"input": item["input"]}
            return
        names = ("reasoning_summary_part", "reasoning_summary_text", "summary_index")
        parts = item.get("summary")
        if item["type"] == "message":
            names, parts = ("content_part", "output_text", "content_index"), item["content"]
        part_name, text_name, index_name = names
        for index, part in enumerate(parts):
            place = {index_name: index}
            extra = {"logprobs": []} if text_name == "output_text" else {}
            yield f"response.{part_name}.added", {**place, "part": {**part, "text": ""}}
            for chunk in self.chunks(part["text"]):
                yield f"response.{text_name}.delta", {**place, "delta": chunk, **extra}
            yield f"response.{text_name}.done", {**place, "text": part["text"], **extra}
            yield f"response.{part_name}.done", {**place, "part": part}

    def items(self):
        items = []
        if self.reasoning:
            summary = [{"type": "summary_text", "text": self.reasoning["text"]}] if self.reasoning["text"] else []
            sealed = {"encrypted_content": self.reasoning["seal"]} if "seal" in self.reasoning else {}
            items.append({"id": self.make_id("rs_", "reasoning"), "type": "reasoning", "summary": summary, **sealed})
        status = "incomplete" if self.stop == "length" else "completed"
        if self.text:
            part = {"type": "output_text", "text": self.text, "annotations": [], "logprobs": []}
            message = {"id": self.make_id("msg_", "text"), "type": "message", "role": "assistant", "status": status}
            items.append({**message, "content": [part]})
        for place, call in enumerate(self.calls):
            prefix, kind, field = CALL_ITEMS[call["freeform"]]
            item = {"id": self.make_id(prefix, place), "type": kind, "status": status, "call_id": call["id"]}
            items.append({**item, "name": call["name"], field: call["text"]})
        return items

    def final_status(self):
        return ("incomplete", "max_output_tokens") if self.stop == "length" else ("completed", None)

    def response_object(self, status, items, incomplete_reason=None):
        body, usage = self.request.body, self.usage
        done = status in ("completed", "incomplete")
        counts = {
            "input_tokens": usage["input"],
            "input_tokens_details": {"cached_tokens": usage["cached"]},
            "output_tokens": usage["output"],
            "output_tokens_details": {"reasoning_tokens": usage["reasoning"]},
            "total_tokens": usage["input"] + usage["output"],
        }
        return {
            "id": self.make_id("resp_", "answer"),
            "object": "response",
            "created_at": 1760000000,
            "completed_at": 1760000001 if status == "completed" else None,
            "status": status,
            "background": False,
            "error": None,
            "frequency_penalty": 0.0,
            "incomplete_details": {"reason": incomplete_reason} if incomplete_reason else None,
            "instructions": body.get("instructions"),
            "max_output_tokens": body.get("max_output_tokens"),
            "max_tool_calls": None,
            "model": self.model,
            "output": items,
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "presence_penalty": 0.0,
            "previous_response_id": None,
            "prompt_cache_key": body.get("prompt_cache_key"),
            "reasoning": {"effort": None, "summary": None},
            "safety_identifier": body.get("safety_identifier"),
            "service_tier": "default",
            "store": body.get("store", True),
            "temperature": 1.0,
            "text": body.get("text", {"format": {"type": "text"}}),
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools", []),
            "top_logprobs": 0,
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": counts if done else None,
            "user": None,
            "metadata": {},
        }

    def error_event(self, error):
        _, _, document = error_document("responses", error)
        failed = {"code": document["error"]["code"] or "server_error", "message": document["error"]["message"]}
        response = {**self.response_object("failed", []), "error": failed}
        failure = {"type": "error", "sequence_number": 900, **document}
        return sse_event(failure) + sse_event({"type": "response.failed", "sequence_number": 901, "response": response})
