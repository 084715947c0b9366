"""`anthropic`: Messages."""

import json
from functools import cache

import anthropic

from e2e.clients.recording import RecordedAnswer
from e2e.clients.sdk_conversation import LOSS_HOOK, Conversation

STOPS = {"end_turn": "end", "tool_use": "calls", "max_tokens": "length"}


@cache
def anthropic_client(url):
    http = anthropic.DefaultHttpxClient(event_hooks={"response": [LOSS_HOOK]})
    return anthropic.Anthropic(base_url=url, api_key="client-key", max_retries=0, http_client=http)


class Messages(Conversation):
    """`anthropic`, Messages."""

    def connect(self, url):
        content = self.ask["user"]
        if "image" in self.ask:
            content = [{"type": "text", "text": content}, image_block(self.ask["image"])]
        self.messages = [{"role": "user", "content": content}]
        return anthropic_client(url)

    def parameters(self):
        ask = self.ask
        parameters = {"model": self.model, "messages": self.messages, "max_tokens": ask.get("limit", 4096)}
        tools = [
            {"name": name, "description": tool["description"], "input_schema": tool["schema"]}
            for name, tool in self.tools()
        ]
        if "system" in ask:
            parameters["system"] = ask["system"]
        if tools:
            parameters["tools"] = tools
        if "choice" in ask:
            choice = ask["choice"]
            parameters["tool_choice"] = {"type": choice} if isinstance(choice, str) else {"type": "tool", **choice}
        if "parallel" in ask:
            parameters["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": not ask["parallel"]}
        if "format" in ask:
            parameters["output_config"] = {"format": {"type": "json_schema", "schema": ask["format"]}}
        if ask.get("think"):
            parameters["thinking"] = {"type": "enabled", "budget_tokens": 2048}
        return parameters

    def create(self, **more):
        return self.client.messages.create(**self.parameters(), **more)

    def helper(self):
        return self.client.messages.stream(**self.parameters())

    def is_text(self, event):
        return event.type == "content_block_delta" and event.delta.type == "text_delta"

    def next_answer(self):
        if self.mode == "stream":
            message = join_events(self.create(stream=True))
            self.messages.append({"role": "assistant", "content": message["content"]})
        else:
            final = self.final_message()
            # The objects themselves, as in the vendor's examples.
            self.messages.append({"role": "assistant", "content": final.content})
            message = final.to_dict()
        blocks, usage = message["content"], message["usage"]
        calls = [block for block in blocks if block["type"] == "tool_use"]
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        thoughts = [block["thinking"] for block in blocks if block["type"] == "thinking"]
        cached, written = (usage.get(f"cache_{way}_input_tokens") or 0 for way in ("read", "creation"))
        counts = {
            "input": usage["input_tokens"] + cached + written,
            "cached": cached,
            "output": usage["output_tokens"],
            "reasoning": (usage.get("output_tokens_details") or {}).get("thinking_tokens", 0),
        }
        named_calls = [[call["name"], call["input"]] for call in calls]
        return RecordedAnswer("".join(texts), named_calls, "".join(thoughts), counts, STOPS[message["stop_reason"]]), calls

    def final_message(self):
        if self.mode == "unary":
            return self.create()
        with self.helper() as stream:
            return stream.get_final_message()

    def add_results(self, calls):
        results = []
        for call in calls:
            result = self.results[call["name"]]
            content = result["text"]
            if "image" in result:
                content = [{"type": "text", "text": content}, image_block(result["image"])]
            flag = {"is_error": True} if result.get("error") else {}
            results.append({"type": "tool_result", "tool_use_id": call["id"], "content": content, **flag})
        self.messages.append({"role": "user", "content": results})


def join_events(events):
    """A message assembled from its events, without the helper."""
    message, texts = {}, {}
    for event in (event.to_dict() for event in events):
        match event["type"]:
            case "message_start":
                message = event["message"]
            case "content_block_start":
                message["content"].append(event["content_block"])
            case "content_block_delta":
                block, delta = message["content"][event["index"]], event["delta"]
                if delta["type"] == "input_json_delta":
                    texts[event["index"]] = texts.get(event["index"], "") + delta["partial_json"]
                    continue
                key = delta["type"].removesuffix("_delta")
                block[key] = block.get(key, "") + delta[key]
            case "content_block_stop":
                if text := texts.get(event["index"]):
                    message["content"][event["index"]]["input"] = json.loads(text)
            case "message_delta":
                message |= event["delta"]
                message["usage"] |= event["usage"]
    return message


def image_block(data):
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


CONVERSATIONS = {"anthropic": Messages}
