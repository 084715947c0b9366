"""`openai`: Chat Completions and Responses."""

import json
from functools import cache

import openai

from e2e.clients.recording import RecordedAnswer
from e2e.clients.sdk_conversation import LOSS_HOOK, Conversation

CHAT_STOPS = {"stop": "end", "tool_calls": "calls", "length": "length"}


@cache
def openai_client(url):
    http = openai.DefaultHttpxClient(event_hooks={"response": [LOSS_HOOK]})
    return openai.OpenAI(base_url=f"{url}/v1", api_key="client-key", max_retries=0, http_client=http)


class Chat(Conversation):
    """`openai`, Chat Completions."""

    def connect(self, url):
        self.messages = [{"role": "system", "content": self.ask["system"]}] if "system" in self.ask else []
        content = self.ask["user"]
        if "image" in self.ask:
            image_url = {"url": "data:image/png;base64," + self.ask["image"]}
            content = [{"type": "text", "text": content}, {"type": "image_url", "image_url": image_url}]
        self.messages.append({"role": "user", "content": content})
        return openai_client(url)

    def parameters(self):
        ask, parameters = self.ask, {"model": self.model, "messages": self.messages}
        # The helper accepts strict tools only.
        strict = {"strict": True} if self.mode == "helper" else {}
        tools = [
            {"name": name, "description": tool["description"], "parameters": tool["schema"], **strict}
            for name, tool in self.tools()
        ]
        if tools:
            parameters["tools"] = [{"type": "function", "function": tool} for tool in tools]
        if "choice" in ask:
            parameters["tool_choice"] = self.choice(ask["choice"])
        if "parallel" in ask:
            parameters["parallel_tool_calls"] = ask["parallel"]
        if "format" in ask:
            schema = {"name": "answer", "schema": ask["format"], "strict": True}
            parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
        if "limit" in ask:
            parameters["max_completion_tokens"] = ask["limit"]
        if ask.get("think"):
            parameters["reasoning_effort"] = "low"
        if self.mode != "unary":
            parameters["stream_options"] = {"include_usage": True}
        return parameters

    def choice(self, choice):
        if isinstance(choice, str):
            return {"any": "required"}.get(choice, choice)
        if "name" in choice:
            return {"type": "function", "function": {"name": choice["name"]}}
        tools = [{"type": "function", "function": {"name": name}} for name in choice["allowed"]]
        return {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}}

    def create(self, **more):
        return self.client.chat.completions.create(**self.parameters(), **more)

    def helper(self):
        return self.client.chat.completions.stream(**self.parameters())

    def is_text(self, event):
        if self.mode == "helper":
            return event.type == "content.delta"
        return bool(event.choices and event.choices[0].delta.content)

    def next_answer(self):
        if self.mode == "stream":
            message, stop, usage = join_chunks(self.create(stream=True))
            self.messages.append(message)
        else:
            completion = self.final_message()
            choice, usage = completion.choices[0], completion.usage
            # The object itself, as in the vendor's examples.
            self.messages.append(choice.message)
            message, stop = choice.message.to_dict(), choice.finish_reason
        calls = message.get("tool_calls") or []
        named_calls = [[call["function"]["name"], json.loads(call["function"]["arguments"])] for call in calls]
        reasoning = message.get("reasoning_content")
        counts = usage and {
            "input": usage.prompt_tokens,
            "cached": usage.prompt_tokens_details.cached_tokens,
            "output": usage.completion_tokens,
            "reasoning": getattr(usage.completion_tokens_details, "reasoning_tokens", None) or 0,
        }
        return RecordedAnswer(message.get("content") or "", named_calls, reasoning, counts, CHAT_STOPS[stop]), calls

    def final_message(self):
        if self.mode == "unary":
            return self.create()
        try:
            with self.helper() as stream:
                return stream.get_final_completion()
        except openai.LengthFinishReasonError as short:
            # The helper raises for a complete answer that the limit cut.
            return short.completion

    def add_results(self, calls):
        for call in calls:
            result = self.results[call["function"]["name"]]
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result["text"]})


def join_chunks(chunks):
    """A message assembled from its chunks, without the helper."""
    message, calls, stop, usage = {"role": "assistant", "content": None}, {}, None, None
    for chunk in chunks:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            delta = choice.delta.to_dict()
            stop = choice.finish_reason or stop
            for key in ("content", "reasoning_content"):
                if delta.get(key):
                    message[key] = (message.get(key) or "") + delta[key]
            if "reasoning_details" in delta:
                message["reasoning_details"] = message.get("reasoning_details", []) + delta["reasoning_details"]
            for part in delta.get("tool_calls") or ():
                call = calls.setdefault(part["index"], {"function": {"name": "", "arguments": ""}})
                call |= {key: part[key] for key in ("id", "type") if part.get(key)}
                for key, piece in part["function"].items():
                    call["function"][key] += piece or ""
    if calls:
        message["tool_calls"] = list(calls.values())
    return message, stop, usage


class Responses(Conversation):
    """`openai`, Responses."""

    def connect(self, url):
        content = self.ask["user"]
        if "image" in self.ask:
            image = {"type": "input_image", "image_url": "data:image/png;base64," + self.ask["image"], "detail": "auto"}
            content = [{"type": "input_text", "text": content}, image]
        self.items = [{"role": "user", "content": content}]
        return openai_client(url)

    def parameters(self):
        # There is no store behind the gateway, so the client keeps its own history.
        ask, parameters = self.ask, {"model": self.model, "input": self.items, "store": False}
        tools = [
            {"name": name, "description": tool["description"], "parameters": tool["schema"], "strict": True}
            for name, tool in self.tools()
        ]
        if "system" in ask:
            parameters["instructions"] = ask["system"]
        if tools:
            parameters["tools"] = [{"type": "function", **tool} for tool in tools]
        if "choice" in ask:
            parameters["tool_choice"] = self.choice(ask["choice"])
        if "parallel" in ask:
            parameters["parallel_tool_calls"] = ask["parallel"]
        if "format" in ask:
            parameters["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": ask["format"], "strict": True}}
        if "limit" in ask:
            parameters["max_output_tokens"] = ask["limit"]
        if ask.get("think"):
            parameters["reasoning"] = {"effort": "low", "summary": "auto"}
            parameters["include"] = ["reasoning.encrypted_content"]
        return parameters

    def choice(self, choice):
        if isinstance(choice, str):
            return {"any": "required"}.get(choice, choice)
        if "name" in choice:
            return {"type": "function", "name": choice["name"]}
        tools = [{"type": "function", "name": name} for name in choice["allowed"]]
        return {"type": "allowed_tools", "mode": "auto", "tools": tools}

    def create(self, **more):
        return self.client.responses.create(**self.parameters(), **more)

    def helper(self):
        return self.client.responses.stream(**self.parameters())

    def is_text(self, event):
        return event.type == "response.output_text.delta"

    def next_answer(self):
        response = self.final_message()
        # The objects themselves, as in the vendor's examples.
        self.items += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        reasoning = [item for item in response.output if item.type == "reasoning"]
        thoughts = [part.text for item in reasoning for part in (*item.summary, *(item.content or ()))]
        usage = {
            "input": response.usage.input_tokens,
            "cached": response.usage.input_tokens_details.cached_tokens,
            "output": response.usage.output_tokens,
            "reasoning": response.usage.output_tokens_details.reasoning_tokens,
        }
        stop = "length" if response.status == "incomplete" else "calls" if calls else "end"
        named_calls = [[call.name, json.loads(call.arguments)] for call in calls]
        return RecordedAnswer(response.output_text, named_calls, "".join(thoughts), usage, stop), calls

    def final_message(self):
        if self.mode == "unary":
            return self.create()
        if self.mode == "stream":
            *_, last = self.create(stream=True)
            return last.response
        with self.helper() as stream:
            last = None
            try:
                for last in stream:
                    pass
                return stream.get_final_response()
            except RuntimeError:
                # For an answer that the limit cut, only the last event has the response.
                return last.response

    def add_results(self, calls):
        for call in calls:
            result = self.results[call.name]
            output = result["text"]
            if "image" in result:
                image = {"type": "input_image", "image_url": "data:image/png;base64," + result["image"], "detail": "auto"}
                output = [{"type": "input_text", "text": output}, image]
            self.items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})


CONVERSATIONS = {"openai chat": Chat, "openai responses": Responses}
