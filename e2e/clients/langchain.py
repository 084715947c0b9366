"""LangChain: `langchain-openai` in both of its protocols, and `langchain-anthropic`."""

from functools import cache

import openai
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI

from e2e.clients.recording import RecordedAnswer, Recording, recording_error
from e2e.clients.scenarios import TOOLS
from e2e.clients.sdk_conversation import LOSS_HOOK
from e2e.clients.verification import DEFAULT_RESULTS

STOPS = {
    **{"stop": "end", "tool_calls": "calls", "length": "length", "completed": None, "incomplete": "length"},
    **{"end_turn": "end", "tool_use": "calls", "max_tokens": "length"},
}


class Conversation:
    """One conversation: LangChain sends the requests, and this class runs the tools."""

    def __init__(self, gateway, scenario, model, mode):
        self.scenario, self.ask, self.mode = scenario, scenario["ask"], mode
        self.results = scenario.get("results", DEFAULT_RESULTS)
        self.recording = Recording()
        LOSS_HOOK.recording = self.recording
        self.model = self.with_tools(self.connect(gateway.url, model))
        self.messages = [SystemMessage(self.ask["system"])] if "system" in self.ask else []
        content = self.ask["user"]
        if "image" in self.ask:
            content = [{"type": "text", "text": content}, image_block(self.ask["image"])]
        self.messages.append(HumanMessage(content))

    def run(self):
        with recording_error(self.recording):
            if self.scenario.get("abort"):
                stream = self.model.stream(self.messages)
                next(chunk for chunk in stream if chunk.text)
                stream.close()
                return self.recording
            while True:
                message = self.next_message()
                self.messages.append(message)
                self.recording.answers.append(self.recorded(message))
                if not message.tool_calls or self.scenario.get("once"):
                    break
                self.messages += [self.result(call) for call in message.tool_calls]
        return self.recording

    def next_message(self):
        if self.mode == "unary":
            return self.model.invoke(self.messages)
        chunks = list(self.model.stream(self.messages))
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        return whole

    def recorded(self, message):
        used, metadata = message.usage_metadata, message.response_metadata
        counts = used and {
            "input": used["input_tokens"],
            "cached": used.get("input_token_details", {}).get("cache_read", 0),
            "output": used["output_tokens"],
        }
        stop = STOPS[metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("status")]
        thoughts = [block["reasoning"] for block in message.content_blocks if "reasoning" in block]
        calls = [[call["name"], call["args"]] for call in message.tool_calls]
        return RecordedAnswer(message.text, calls, "".join(thoughts) or None, counts, stop)

    def result(self, call):
        result = self.results[call["name"]]
        content = result["text"]
        if "image" in result:
            content = [{"type": "text", "text": content}, image_block(result["image"])]
        status = "error" if result.get("error") else "success"
        return ToolMessage(content, tool_call_id=call["id"], status=status)

    def with_tools(self, model):
        ask = self.ask
        if "tools" in ask:
            tools = [
                {"name": name, "description": TOOLS[name]["description"], "parameters": TOOLS[name]["schema"]}
                for name in ask["tools"]
            ]
            more = {"parallel_tool_calls": ask["parallel"]} if "parallel" in ask else {}
            if "choice" in ask:
                more["tool_choice"] = self.choice(ask["choice"])
            model = model.bind_tools([{"type": "function", "function": tool} for tool in tools], **more)
        return model.bind(**self.response_format(ask["format"])) if "format" in ask else model


class OpenAI(Conversation):
    """`langchain-openai`."""

    responses = False

    def connect(self, url, model):
        ask, more = self.ask, {}
        if "limit" in ask:
            more["max_tokens"] = ask["limit"]
        if ask.get("think"):
            more |= {"reasoning": {"effort": "low", "summary": "auto"}, "include": ["reasoning.encrypted_content"]}
        if self.responses:
            more |= {"store": False, "output_version": "responses/v1"}
        return ChatOpenAI(
            model=model,
            base_url=f"{url}/v1",
            api_key="client-key",
            max_retries=0,
            http_client=http(),
            stream_usage=True,
            use_responses_api=self.responses,
            **more,
        )

    def choice(self, choice):
        if isinstance(choice, str):
            return choice
        return {"type": "function", "function": {"name": choice["name"]}}

    def response_format(self, schema):
        named = {"name": "answer", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}


class Responses(OpenAI):
    """`langchain-openai`, Responses."""

    responses = True


class Messages(Conversation):
    """`langchain-anthropic`."""

    def connect(self, url, model):
        ask, more = self.ask, {"max_tokens": self.ask.get("limit", 4096)}
        if ask.get("think"):
            more["thinking"] = {"type": "enabled", "budget_tokens": 2048}
        chat = ChatAnthropic(model=model, base_url=url, api_key="client-key", max_retries=0, stream_usage=True, **more)
        chat._client._client.event_hooks["response"] = [LOSS_HOOK]
        return chat

    def choice(self, choice):
        return {"type": choice} if isinstance(choice, str) else {"type": "tool", "name": choice["name"]}

    def response_format(self, schema):
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


@cache
def http():
    return openai.DefaultHttpxClient(event_hooks={"response": [LOSS_HOOK]})


def image_block(data):
    return {"type": "image", "base64": data, "mime_type": "image/png"}


CONVERSATIONS = {"langchain-openai chat": OpenAI, "langchain-openai responses": Responses, "langchain-anthropic": Messages}
