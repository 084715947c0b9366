"""`openai-agents`, put through a scenario with both of its models. It runs the tools and the loop itself."""

import asyncio
import json
from functools import cache

import openai
from agents import (
    Agent,
    AgentOutputSchemaBase,
    FunctionTool,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    ToolOutputImage,
    ToolOutputText,
)
from openai.types.shared import Reasoning

from e2e.clients.vendor_sdks import EAR
from e2e.clients.recording import Heard, Step, caught
from e2e.clients.verification import DEFAULT_RESULTS
from e2e.clients.scenarios import TOOLS

LOOP = asyncio.new_event_loop()
# Traces would go to OpenAI.
QUIET = RunConfig(tracing_disabled=True)


class Talk:
    """One conversation with an agent."""

    def __init__(self, gateway, scenario, model, mode):
        self.scenario, self.ask, self.mode = scenario, scenario["ask"], mode
        self.results = scenario.get("results", DEFAULT_RESULTS)
        self.heard = Heard()
        EAR.heard = self.heard
        once = {"tool_use_behavior": "stop_on_first_tool"} if scenario.get("once") else {}
        if "format" in self.ask:
            once["output_type"] = Format(self.ask["format"])
        self.agent = Agent(
            name="agent",
            instructions=self.ask.get("system"),
            model=self.model(model=model, openai_client=client(gateway.url)),
            model_settings=self.settings(),
            tools=[self.tool(name) for name in self.ask.get("tools", ())],
            **once,
        )

    def run(self):
        with caught(self.heard):
            LOOP.run_until_complete(self.talk())
        return self.heard

    async def talk(self):
        content = self.ask["user"]
        if "image" in self.ask:
            image = {"type": "input_image", "image_url": url_of(self.ask["image"]), "detail": "auto"}
            content = [{"type": "input_text", "text": content}, image]
        asked = [{"role": "user", "content": content}]
        if self.mode == "unary":
            result = await Runner.run(self.agent, asked, run_config=QUIET)
        else:
            result = Runner.run_streamed(self.agent, asked, run_config=QUIET)
            async for event in result.stream_events():
                if self.scenario.get("abort") and is_text(event):
                    result.cancel()
                    break
            await settled()
        if not self.scenario.get("abort"):
            self.heard.steps += [heard_in(response) for response in result.raw_responses]

    def settings(self):
        ask, more = self.ask, {}
        if "choice" in ask:
            choice = ask["choice"]
            more["tool_choice"] = {"any": "required"}.get(choice, choice) if isinstance(choice, str) else choice["name"]
        if "parallel" in ask:
            more["parallel_tool_calls"] = ask["parallel"]
        if ask.get("think"):
            more["reasoning"] = Reasoning(effort="low", summary="auto")
            more["response_include"] = ["reasoning.encrypted_content"]
        return ModelSettings(include_usage=True, store=False, **more)

    def tool(self, name):
        async def invoke(_context, _arguments):
            result = self.results[name]
            if "image" in result:
                return [ToolOutputText(text=result["text"]), ToolOutputImage(image_url=url_of(result["image"]))]
            return result["text"]

        declared = TOOLS[name]
        return FunctionTool(name, declared["description"], declared["schema"], invoke)


class Chat(Talk):
    """Over Chat Completions."""

    model = OpenAIChatCompletionsModel


class Responses(Talk):
    """Over Responses."""

    model = OpenAIResponsesModel


class Format(AgentOutputSchemaBase):
    """The schema of an answer, as the agent wants to be told of it."""

    def __init__(self, schema):
        self.schema = schema

    def is_plain_text(self):
        return False

    def name(self):
        return "answer"

    def json_schema(self):
        return self.schema

    def is_strict_json_schema(self):
        return True

    def validate_json(self, json_str):
        return json.loads(json_str)


async def settled():
    """What was cancelled ends only while the loop runs."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others, timeout=1)


def is_text(event):
    return event.type == "raw_response_event" and event.data.type == "response.output_text.delta"


def heard_in(response):
    kinds = {}
    for item in response.output:
        kinds.setdefault(item.type, []).append(item)
    texts = [part.text for item in kinds.get("message", ()) for part in item.content]
    calls = [[item.name, json.loads(item.arguments)] for item in kinds.get("function_call", ())]
    thoughts = [part.text for item in kinds.get("reasoning", ()) for part in (*item.summary, *(item.content or ()))]
    usage = response.usage
    cached = usage.input_tokens_details.cached_tokens
    counts = {"input": usage.input_tokens, "cached": cached, "output": usage.output_tokens}
    return Step("".join(texts), calls, "".join(thoughts), counts)


@cache
def client(url):
    http = openai.DefaultAsyncHttpxClient(event_hooks={"response": [listen]})
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="client-key", max_retries=0, http_client=http)


async def listen(response):
    EAR(response)


def url_of(image):
    return f"data:image/png;base64,{image}"


RUN = {"openai-agents chat": Chat, "openai-agents responses": Responses}
